//! What holds of the guard on mass drift after any history.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::model::status::Memory;
use crate::model::{AccountId, Generation, KindName, ObjectStatus, Region, Scope};

const OBJECTS: u8 = 12;
const LIMIT: usize = 3;
const PERIOD: SignedDuration = SignedDuration::from_mins(60);

/// One thing that happens.
#[derive(Debug, Clone)]
enum Step {
    /// An object is looked at: its drift is these values of its two fields.
    Pass { object: u8, values: [Option<u8>; 2], unseen: bool },
    /// Time passes.
    Wait { minutes: i64 },
    /// A person confirms what is shown now, or what was shown before.
    Confirm { late: bool },
    /// The agent starts anew.
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    let values = [prop::option::of(0..2_u8), prop::option::of(0..2_u8)];
    prop_oneof![
        8 => (0..OBJECTS, values, prop::bool::weighted(0.1))
            .prop_map(|(object, values, unseen)| Step::Pass { object, values, unseen }),
        2 => (1..90_i64).prop_map(|minutes| Step::Wait { minutes }),
        1 => prop::bool::ANY.prop_map(|late| Step::Confirm { late }),
        1 => Just(Step::Restart),
    ]
}

fn key(object: u8) -> Key {
    Key::workspace(format!("w{object:02}"))
}

fn resource(object: u8) -> ResourceId {
    let scope = Scope { account: AccountId::new("111122223333"), region: Region::new("eu-west-1") };
    let name = format!("w{object:02}").into();
    ResourceId { kind: KindName::new("db_instance"), scope, name }
}

fn reverts(object: u8, values: [Option<u8>; 2], unseen: bool) -> Reverts {
    let resource = resource(object);
    if unseen {
        return Reverts { unseen: [resource].into(), ..Reverts::default() };
    }
    let fields = ["size", "version"].into_iter().zip(values);
    let due: BTreeSet<Difference> = fields
        .filter_map(|(field, value)| Some(Difference::new(&resource, field, &value?.into())))
        .collect();
    Reverts { present: due.clone(), due, unseen: BTreeSet::new() }
}

fn bounds() -> Bounds {
    Bounds { guard: Guard { max_objects: LIMIT, max_percent: 0 }, period: PERIOD }
}

/// A guard, and beside it all that happened to it.
struct History {
    guard: MassDrift,
    now: Timestamp,
    /// What the store would hold.
    memories: BTreeMap<Key, DriftMemory>,
    /// When objects were let through without a person's word.
    passed: Vec<(Timestamp, Key)>,
    /// What each digest that was ever shown stood for.
    shown: BTreeMap<String, BTreeMap<Key, BTreeSet<Difference>>>,
    /// What was confirmed and has not been seen to be gone.
    confirmed: BTreeMap<Key, BTreeSet<Difference>>,
}

impl History {
    fn new() -> Self {
        Self {
            guard: MassDrift::new(bounds()),
            now: Timestamp::UNIX_EPOCH,
            memories: BTreeMap::new(),
            passed: Vec::new(),
            shown: BTreeMap::new(),
            confirmed: BTreeMap::new(),
        }
    }

    fn run(&mut self, step: &Step) {
        match step {
            Step::Pass { object, values, unseen } => {
                self.pass(*object, &reverts(*object, *values, *unseen));
            }
            Step::Wait { minutes } => self.now += SignedDuration::from_mins(*minutes),
            Step::Confirm { late } => self.confirm(*late),
            Step::Restart => self.restart(),
        }
        self.a_digest_names_one_set();
    }

    fn pass(&mut self, object: u8, reverts: &Reverts) {
        let key = key(object);
        let before = self.guard.frozen.clone();
        if reverts.unseen.is_empty()
            && let Some(confirmed) = self.confirmed.get_mut(&key)
        {
            confirmed.retain(|difference| reverts.present.contains(difference));
        }
        let confirmed = self.confirmed.get(&key).cloned().unwrap_or_default();
        let ruling = self.guard.rule(&key, reverts, &confirmed, OBJECTS.into(), self.now);
        let frozen = ruling.map(|frozen| frozen.differences).unwrap_or_default();
        let goes = &reverts.due - &frozen;
        assert!(confirmed.is_disjoint(&frozen), "what was confirmed is not frozen again");
        if !goes.is_subset(&confirmed) {
            assert!(!before.contains_key(&key), "{key} was frozen and nobody confirmed it");
            self.one_more_is_not_too_many(&key);
            self.passed.push((self.now, key.clone()));
        }
        self.memories.insert(key.clone(), self.guard.memory(&key));
    }

    /// Who went within the period may go again; beside them, those that are frozen count too.
    fn one_more_is_not_too_many(&self, key: &Key) {
        let lately = self.passed.iter().filter(|(at, _)| self.now.duration_since(*at) < PERIOD);
        let mut objects: BTreeSet<&Key> = lately.map(|(_, key)| key).collect();
        if objects.insert(key) {
            objects.extend(self.guard.frozen.keys());
        }
        assert!(objects.len() <= LIMIT, "{objects:?}");
    }

    /// A person's word reaches the guard only if it names what is frozen.
    fn confirm(&mut self, late: bool) {
        let current = self.guard.digest().to_owned();
        let other = self.shown.keys().find(|digest| **digest != current).cloned();
        let digest = if late { other.unwrap_or_default() } else { current.clone() };
        if digest != current || digest.is_empty() {
            return;
        }
        let shown = self.shown[&digest].clone();
        self.guard.release(&shown);
        assert!(self.guard.frozen().is_empty(), "the digest named all of it");
        for (key, differences) in shown {
            self.confirmed.entry(key).or_default().extend(differences);
        }
    }

    fn restart(&mut self) {
        let records: Vec<Record> =
            self.memories.iter().map(|(key, memory)| record(key, memory)).collect();
        let confirmed = self.confirmed.iter().map(|(key, differences)| revert(key, differences));
        let asked: Vec<Asked> = confirmed.collect();
        let lived = std::mem::replace(&mut self.guard, MassDrift::new(bounds()));
        self.guard.restore(&records, &asked);
        self.guard.forget_past(self.now);
        assert_eq!((&self.guard.frozen, &self.guard.digest), (&lived.frozen, &lived.digest));
        let mut places = lived.let_through;
        places.retain(|_, at| self.now.duration_since(*at) < PERIOD);
        assert_eq!(self.guard.let_through, places);
    }

    fn a_digest_names_one_set(&mut self) {
        let frozen = &self.guard.frozen;
        assert_eq!(frozen.is_empty(), self.guard.digest.is_empty());
        if !frozen.is_empty() {
            let known = self.shown.entry(self.guard.digest.clone()).or_insert(frozen.clone());
            assert_eq!(known, frozen);
        }
    }
}

fn revert(object: &Key, differences: &BTreeSet<Difference>) -> Asked {
    let (object, differences) = (object.clone(), differences.clone());
    let ask = Ask::Revert { object, differences, digest: String::new() };
    Asked { number: 1, ask, by: "alice".to_owned(), at: Timestamp::UNIX_EPOCH }
}

fn record(key: &Key, memory: &DriftMemory) -> Record {
    Record {
        key: key.clone(),
        generation: Generation(1),
        digest: String::new(),
        deletion: crate::model::policy::DeletionPolicy::Retain,
        status: ObjectStatus::default(),
        memory: Memory { drift: memory.clone(), ..Memory::default() },
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn no_history_lets_more_through_than_the_bound_or_releases_what_was_not_shown(
        steps in prop::collection::vec(step(), 1..80),
    ) {
        let mut history = History::new();
        for step in &steps {
            history.run(step);
        }
    }

    #[test]
    fn when_all_drift_is_gone_nothing_is_left_of_it(
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut history = History::new();
        for step in &steps {
            history.run(step);
        }
        history.now += PERIOD;
        for object in 0..OBJECTS {
            history.pass(object, &Reverts::default());
        }
        prop_assert!(history.guard.frozen().is_empty() && history.guard.let_through.is_empty());
    }
}

/// Makes a pass of each object in turn, all with the same drift; returns which are reverted.
fn sweep(guard: &mut MassDrift, objects: u8, known: usize, now: Timestamp) -> Vec<u8> {
    let goes = |object: &u8| {
        let reverts = reverts(*object, [Some(1), None], false);
        guard.rule(&key(*object), &reverts, &BTreeSet::new(), known, now).is_none()
    };
    (0..objects).filter(goes).collect()
}

#[test]
fn the_larger_of_the_number_and_the_share_counts() {
    for (known, reverted) in [(3, 3), (12, 5), (40, 8), (200, 12)] {
        let objects = u8::try_from(known.min(12)).unwrap();
        let mut guard = MassDrift::new(Bounds::default());
        let went = sweep(&mut guard, objects, known, Timestamp::UNIX_EPOCH);
        assert_eq!(went.len(), reverted, "of {known}");
    }
}

#[test]
fn a_mass_does_not_trickle_out_from_period_to_period() {
    let mut guard = MassDrift::new(bounds());
    let start = Timestamp::UNIX_EPOCH;
    assert_eq!(sweep(&mut guard, 8, 8, start), [0, 1, 2]);
    for hours in 1..48 {
        let went = sweep(&mut guard, 8, 8, start + SignedDuration::from_hours(hours));
        assert!(went.len() <= LIMIT && went.iter().all(|object| *object < 3), "{went:?}");
    }
}

#[test]
fn a_clock_that_is_put_back_keeps_a_place_no_longer_than_the_period() {
    let mut guard = MassDrift::new(bounds());
    let start = Timestamp::UNIX_EPOCH;
    assert_eq!(sweep(&mut guard, 3, 12, start + SignedDuration::from_hours(50)).len(), 3);
    let none = BTreeSet::new();
    let _ = guard.rule(&key(0), &Reverts::default(), &none, 12, start);
    let reverts = reverts(7, [Some(1), None], false);
    assert_eq!(guard.rule(&key(7), &reverts, &none, 12, start + PERIOD), None);
}
