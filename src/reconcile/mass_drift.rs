//! The guard on mass drift: how many objects may be reverted within a period before a person is
//! asked.
//!
//! In: of one object at a time, the [`Reverts`] that its plan would make now. Out: what is
//! [`Frozen`] of them until a person confirms the digest that was shown; all others are made. Pure:
//! the time is an argument.
//!
//! Invariants:
//!
//! - Objects are counted, not fields, over all accounts together: whoever has the rights to change
//!   many databases at once rarely stops at one account, and a fleet of small accounts would never
//!   reach a bound of its own in any of them.
//! - Those that were let through within the period and those that are frozen count. Above the bound
//!   no further object is let through.
//! - What is frozen stays so until a person confirms it or the drift is gone; time alone thaws
//!   nothing, so that a mass does not trickle out from period to period.
//! - A confirmation releases the differences that its digest names, each with the value that it had
//!   then; they stand in the store ([`Ask::Revert`]) until they are gone. What is released takes no
//!   place.
//!
//! It knows nothing of changes from Git, of security drift and of what a policy leaves: none of it
//! is among the reverts. A mass that waits for maintenance windows is counted when they open.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};

use crate::desired::Guard;
use crate::model::status::DriftMemory;
use crate::model::{Ask, Asked, Difference, Key, ResourceId};
use crate::plan::{Frozen, Reverts};
use crate::status::Record;

/// Says how many objects' drift may be reverted within a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The number, from the number of known objects.
    pub guard: Guard,
    /// The period. Default one hour.
    pub period: SignedDuration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { guard: Guard::default(), period: SignedDuration::from_hours(1) }
    }
}

/// Says why drift is frozen, as conditions and freezes tell it.
pub(super) const MASS_DRIFT: &str = "MassDrift";

/// Decides which drift is reverted, and remembers what it let through and what it holds.
#[derive(Debug)]
pub struct MassDrift {
    bounds: Bounds,
    /// When drift of an object was last let through, within the period.
    let_through: BTreeMap<Key, Timestamp>,
    frozen: BTreeMap<Key, BTreeSet<Difference>>,
    /// Names what is frozen; empty when nothing is.
    digest: String,
}

impl MassDrift {
    /// Makes a guard that has seen nothing.
    pub fn new(bounds: Bounds) -> Self {
        let (let_through, frozen) = (BTreeMap::new(), BTreeMap::new());
        Self { bounds, let_through, frozen, digest: String::new() }
    }

    /// Takes over what the passes before the start left, and what was confirmed after them.
    pub fn restore(&mut self, records: &[Record], asked: &[Asked]) {
        for Record { key, memory, .. } in records {
            let released = released(asked.iter().filter(|asked| asked.ask.object() == Some(key)));
            put(&mut self.frozen, key, &memory.drift.frozen - &released);
            if let Some(at) = memory.drift.let_through {
                self.let_through.insert(key.clone(), at);
            }
        }
        self.digest = digest(&self.frozen);
    }

    /// Decides about the drift of one object among `known` ones, of which a person released some;
    /// returns what is frozen of it.
    pub fn rule(
        &mut self,
        key: &Key,
        reverts: &Reverts,
        released: &BTreeSet<Difference>,
        known: usize,
        now: Timestamp,
    ) -> Option<Frozen> {
        self.forget_past(now);
        let before = self.frozen.remove(key).unwrap_or_default();
        let open = &reverts.due - released;
        let hidden = before.iter().filter(|it| reverts.unseen.contains(&it.resource));
        let mut frozen: BTreeSet<Difference> =
            hidden.filter(|it| !released.contains(it)).cloned().collect();
        if open.is_empty() {
            // Nothing is reverted that a person has not released.
        } else if before.is_empty() && self.has_place(key, known) {
            self.let_through.insert(key.clone(), now);
        } else {
            frozen.extend(open);
        }
        let has_changed = frozen != before;
        put(&mut self.frozen, key, frozen);
        if has_changed {
            self.digest = digest(&self.frozen);
        }
        let differences = self.frozen.get(key)?.clone();
        Some(Frozen { differences, why: self.why() })
    }

    /// Returns what the next start has to know of an object.
    pub fn memory(&self, key: &Key) -> DriftMemory {
        DriftMemory {
            let_through: self.let_through.get(key).copied(),
            frozen: self.frozen.get(key).cloned().unwrap_or_default(),
        }
    }

    /// Holds this no longer: a person confirmed it, and the store knows.
    pub fn release(&mut self, confirmed: &BTreeMap<Key, BTreeSet<Difference>>) {
        for (key, differences) in confirmed {
            let left = self.frozen.get(key).map(|frozen| frozen - differences);
            put(&mut self.frozen, key, left.unwrap_or_default());
        }
        self.digest = digest(&self.frozen);
    }

    /// Holds nothing of an object of which no drift is reverted any more. What was let through still
    /// counts: the object may come back.
    pub fn hold_nothing(&mut self, key: &Key) {
        if self.frozen.remove(key).is_some() {
            self.digest = digest(&self.frozen);
        }
    }

    /// Returns what is frozen.
    pub fn frozen(&self) -> &BTreeMap<Key, BTreeSet<Difference>> {
        &self.frozen
    }

    /// Returns what names exactly that; empty when nothing is frozen.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// A clock that was put back must not keep a place longer than the period.
    fn forget_past(&mut self, now: Timestamp) {
        let period = self.bounds.period;
        self.let_through.values_mut().for_each(|at| *at = (*at).min(now));
        self.let_through.retain(|_, at| now.duration_since(*at) < period);
    }

    /// Tells whether one object more may be let through, or it has been already.
    fn has_place(&self, key: &Key, known: usize) -> bool {
        let held = self.frozen.keys().filter(|held| !self.let_through.contains_key(held)).count();
        self.let_through.contains_key(key)
            || self.let_through.len() + held < self.bounds.guard.limit(known)
    }

    /// Says what happened and what is held back, without a duration.
    pub fn told(&self) -> String {
        let held = match self.frozen.len() {
            1 => "1 is not reverted".to_owned(),
            count => format!("{count} are not reverted"),
        };
        format!("more objects drifted at once than the guard lets through; {held}")
    }

    fn why(&self) -> String {
        format!("{}; `levelset confirm {}` reverts exactly these", self.told(), self.digest)
    }
}

/// Returns the differences that a person released, of those who ask about one object.
pub(super) fn released<'a>(asked: impl IntoIterator<Item = &'a Asked>) -> BTreeSet<Difference> {
    let differences = asked.into_iter().filter_map(|asked| match &asked.ask {
        Ask::Revert { differences, .. } => Some(differences),
        _ => None,
    });
    differences.flatten().cloned().collect()
}

/// Keeps a set under a key, and no empty one.
fn put(
    all: &mut BTreeMap<Key, BTreeSet<Difference>>,
    key: &Key,
    differences: BTreeSet<Difference>,
) {
    if differences.is_empty() {
        all.remove(key);
    } else {
        all.insert(key.clone(), differences);
    }
}

/// Returns twelve hexadecimal digits that stand for differences of objects.
fn digest(frozen: &BTreeMap<Key, BTreeSet<Difference>>) -> String {
    if frozen.is_empty() {
        return String::new();
    }
    let mut hash = Sha256::new();
    for (key, differences) in frozen {
        for Difference { resource, field, actual } in differences {
            let ResourceId { scope, .. } = resource;
            hash.update(format!("{key}\n{scope}\n{resource}\n{field}\n{actual}\n"));
        }
    }
    let mut digits = hex::encode(hash.finalize());
    digits.truncate(12);
    digits
}

#[cfg(test)]
mod laws;
