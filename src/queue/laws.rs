//! The laws of the queue, held against an oracle that remembers every wake-up and derives the rest.

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum Op {
    Add(u8, Lane, i64),
    Hold(u8, i64),
    Forget(u8),
    Advance(i64),
    Take,
    /// Ends the n-th pass in flight.
    Done(usize, Option<(Lane, i64)>, Option<i64>),
    /// Takes a key and asks for it again at once, this many times.
    Churn(u8),
}

fn lane() -> impl Strategy<Value = Lane> {
    prop_oneof![Just(Lane::Change), Just(Lane::Resync)]
}

fn op() -> impl Strategy<Value = Op> {
    let key = || 0u8..8;
    let delay = || prop_oneof![3 => Just(0i64), 2 => -20i64..40, 1 => 0i64..400];
    prop_oneof![
        6 => (key(), lane(), delay()).prop_map(|(key, lane, delay)| Op::Add(key, lane, delay)),
        1 => (key(), delay()).prop_map(|(key, delay)| Op::Hold(key, delay)),
        1 => key().prop_map(Op::Forget),
        4 => (0i64..50).prop_map(Op::Advance),
        6 => Just(Op::Take),
        5 => (0usize..8, prop::option::of((lane(), delay())), prop::option::of(delay()))
            .prop_map(|(nth, next, not_before)| Op::Done(nth, next, not_before)),
        1 => (1u8..20).prop_map(Op::Churn),
    ]
}

/// Remembers what was asked for one key since it was last taken.
#[derive(Default)]
struct Facts {
    wakes: Vec<(Lane, Timestamp)>,
    not_befores: Vec<Timestamp>,
    running: bool,
    forgotten: bool,
}

impl Facts {
    /// Derives the lane and the due time, if the key is queued.
    fn due(&self) -> Option<(Lane, Timestamp)> {
        if self.running {
            return None;
        }
        let lane = self.wakes.iter().map(|(lane, _)| *lane).min()?;
        let at = self.wakes.iter().map(|(_, at)| *at).min()?;
        Some((lane, self.not_befores.iter().copied().fold(at, Timestamp::max)))
    }
}

struct Oracle {
    queue: Queue<u8>,
    keys: BTreeMap<u8, Facts>,
    now: Timestamp,
    passed_over: u32,
}

impl Oracle {
    fn new() -> Self {
        let now = Timestamp::from_second(1_900_000_000).unwrap();
        Self { queue: Queue::new(), keys: BTreeMap::new(), now, passed_over: 0 }
    }

    fn after(&self, seconds: i64) -> Timestamp {
        self.now + jiff::SignedDuration::from_secs(seconds)
    }

    fn facts(&mut self, key: u8) -> &mut Facts {
        self.keys.entry(key).or_default()
    }

    /// Lists the queued keys of a lane that are due, with their due times.
    fn ready(&self, lane: Lane) -> BTreeMap<u8, Timestamp> {
        let due = self.keys.iter().filter_map(|(key, facts)| Some((*key, facts.due()?)));
        due.filter(|(_, (of, due))| *of == lane && *due <= self.now)
            .map(|(key, (_, due))| (key, due))
            .collect()
    }

    fn running(&self) -> Vec<u8> {
        self.keys.iter().filter(|(_, facts)| facts.running).map(|(key, _)| *key).collect()
    }

    fn run(&mut self, op: Op) {
        match op {
            Op::Add(key, lane, delay) => self.add(key, lane, self.after(delay)),
            Op::Hold(key, delay) => {
                let until = self.after(delay);
                self.queue.hold(key, until);
                self.facts(key).not_befores.push(until);
            }
            Op::Forget(key) => {
                self.queue.forget(&key);
                let facts = self.facts(key);
                facts.wakes.clear();
                facts.forgotten = facts.running;
            }
            Op::Advance(seconds) => self.now = self.after(seconds),
            Op::Take => drop(self.take()),
            Op::Done(nth, next, not_before) => {
                let running = self.running();
                if let Some(key) = running.get(nth % running.len().max(1)) {
                    let next = next.map(|(lane, delay)| (lane, self.after(delay)));
                    self.done(*key, next, not_before.map(|delay| self.after(delay)));
                }
            }
            Op::Churn(times) => (0..times).for_each(|_| self.churn()),
        }
    }

    fn add(&mut self, key: u8, lane: Lane, at: Timestamp) {
        let now = self.now;
        self.queue.add(key, lane, at, now);
        self.facts(key).wakes.push((lane, at.max(now)));
    }

    fn done(&mut self, key: u8, next: Option<(Lane, Timestamp)>, not_before: Option<Timestamp>) {
        let now = self.now;
        assert!(self.queue.done(&key, now, next, not_before));
        let facts = self.facts(key);
        facts.not_befores.extend(not_before);
        facts.running = false;
        if !std::mem::take(&mut facts.forgotten) {
            facts.wakes.extend(next.map(|(lane, at)| (lane, at.max(now))));
        }
    }

    fn churn(&mut self) {
        if let Some(taken) = self.take() {
            self.done(taken.key, Some((taken.lane, self.now)), None);
        }
    }

    fn take(&mut self) -> Option<Taken<u8>> {
        let (changes, resyncs) = (self.ready(Lane::Change), self.ready(Lane::Resync));
        let taken = self.queue.take(self.now);
        let Some(taken) = taken else {
            assert!(changes.is_empty() && resyncs.is_empty(), "a ready key was not handed out");
            return None;
        };
        let lane = self.expected_lane(&changes, &resyncs);
        assert_eq!(taken.lane, lane, "change before resync, except by ageing");
        let candidates = if lane == Lane::Change { changes } else { resyncs };
        let due = *candidates.get(&taken.key).expect("a key that was due and not in flight");
        assert_eq!(Some(&due), candidates.values().min(), "first ready, first served");
        assert_eq!(taken.waited, elapsed(due, self.now));
        let facts = self.facts(taken.key);
        facts.running = true;
        facts.wakes.clear();
        Some(taken)
    }

    fn expected_lane(
        &mut self,
        changes: &BTreeMap<u8, Timestamp>,
        resyncs: &BTreeMap<u8, Timestamp>,
    ) -> Lane {
        let aged = resyncs.values().any(|due| elapsed(*due, self.now) >= AGEING);
        if changes.is_empty() || (aged && self.passed_over == CHANGES_PER_AGED_RESYNC) {
            self.passed_over = 0;
            return Lane::Resync;
        }
        self.passed_over += u32::from(aged);
        Lane::Change
    }

    /// Compares everything that can be seen without taking a key.
    fn check(&mut self) {
        for key in 0..8 {
            assert_eq!(self.queue.due(&key), self.keys.get(&key).and_then(Facts::due));
        }
        let due: Vec<Timestamp> =
            self.keys.values().filter_map(Facts::due).map(|(_, due)| due).collect();
        let next = due.iter().min().map(|due| (*due).max(self.now));
        assert_eq!(self.queue.next_due(self.now), next);
        assert_eq!(self.queue.depth(), due.len());
        let ready = due.iter().filter(|due| **due <= self.now);
        assert_eq!(self.queue.ready_depth(self.now), ready.clone().count());
        let oldest = ready.min().map(|due| elapsed(*due, self.now)).unwrap_or_default();
        assert_eq!(self.queue.oldest_age(self.now), oldest);
        assert_eq!(self.queue.in_flight(), self.running().len());
    }

    /// Ends everything in flight and follows `next_due` until the queue is empty.
    fn drain(&mut self) {
        for key in self.running() {
            self.done(key, None, None);
        }
        while let Some(due) = self.queue.next_due(self.now) {
            let just_before = due - jiff::SignedDuration::from_nanos(1);
            if just_before >= self.now {
                assert_eq!(self.queue.clone().take(just_before), None, "next_due came too late");
            }
            self.now = due;
            let taken = self.take().expect("next_due promised a key");
            self.done(taken.key, None, None);
        }
        assert!(self.keys.values().all(|facts| facts.wakes.is_empty()), "a wake-up was lost");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn every_answer_follows_from_what_was_asked_and_nothing_is_lost(
        ops in prop::collection::vec(op(), 1..250),
    ) {
        let mut oracle = Oracle::new();
        for op in ops {
            oracle.run(op);
            oracle.check();
        }
        oracle.drain();
        oracle.check();
    }
}
