//! Which deliveries came before: the newest few thousand.

use std::collections::{BTreeSet, VecDeque};

use sha2::{Digest as _, Sha256};

use crate::model::webhook::Host;

/// Stands for a delivery; a host chooses its ids, and of any length.
type Trace = [u8; 16];

/// Remembers deliveries, up to a number of them.
#[derive(Debug)]
pub(super) struct Seen {
    capacity: usize,
    known: BTreeSet<Trace>,
    /// Oldest first.
    order: VecDeque<Trace>,
}

impl Seen {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, known: BTreeSet::new(), order: VecDeque::new() }
    }

    /// Remembers a delivery; tells whether it was not known.
    pub(super) fn add(&mut self, host: Host, delivery: &str) -> bool {
        let trace = trace(host, delivery);
        if !self.known.insert(trace) {
            return false;
        }
        self.order.push_back(trace);
        if self.order.len() > self.capacity
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }
}

fn trace(host: Host, delivery: &str) -> Trace {
    let mut hash = Sha256::new();
    hash.update(host.as_str());
    hash.update("\n");
    hash.update(delivery);
    let mut trace = Trace::default();
    trace.copy_from_slice(&hash.finalize()[..16]);
    trace
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_is_new_once_for_each_host() {
        let mut seen = Seen::new(10);
        assert!(seen.add(Host::GitHub, "1"));
        assert!(!seen.add(Host::GitHub, "1"));
        assert!(seen.add(Host::Gitea, "1"));
    }

    #[test]
    fn the_oldest_are_forgotten_and_the_memory_stays_bounded() {
        let mut seen = Seen::new(100);
        for number in 0..1000 {
            assert!(seen.add(Host::GitHub, &number.to_string()));
        }
        assert_eq!((seen.known.len(), seen.order.len()), (100, 100));
        assert!(!seen.add(Host::GitHub, "900"));
        assert!(seen.add(Host::GitHub, "899"));
    }
}
