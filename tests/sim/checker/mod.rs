//! The independent checker: holds everything that the agent does against what must always hold.
//!
//! It looks at the sandbox's log and state, at the store, and at the repository, and knows nothing
//! of the agent beyond that: a pass is what lies between a read of what is asked of an object and a
//! write of its record, if it writes one.

mod access;
mod asked;
mod calls;
mod declared;
mod deletions;
mod end;
mod futile;
mod guards;
mod law;
mod makes;
mod portrait;
mod records;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use jiff::Timestamp;
use levelset::model::{Clock, Difference, Freeze, Generation, Key, Scope};
use levelset::sandbox::log::Record as Logged;
use tokio::task::Id;

use super::profile::Profile;
use super::spec::Deletion;
use super::world::World;
use deletions::Thing;
use law::{Held, broken, hold};
use portrait::target;

pub(super) use asked::forgotten;
pub(super) use calls::called;
pub(super) use end::{is_quiet, verify};
pub(super) use guards::{frozen, settled};
pub(super) use law::{Law, Violation};
pub(super) use portrait::Portrait;
pub(super) use records::{declared, recorded, recording};

/// What may have changed this long before a pass began and still be unknown to it: lists are shared
/// for 5 seconds, and stale reads lag by up to 50.
const SLACK: Duration = Duration::from_secs(60);

/// A commit that was delivered this long before a pass began is known to it.
const READING: Duration = Duration::from_secs(30);

/// A pass, as it is seen from outside.
#[derive(Debug, Clone)]
pub(super) struct Pass {
    key: Key,
    began: Duration,
    /// Something was refused that counts as a failure.
    failed: bool,
    /// The newest version of the manifest that it may settle, if it settled one.
    settles: Option<usize>,
    /// It reverted drift that is no danger.
    reverts: bool,
    /// The last read by name of each resource, with what it was refused with.
    confirmed: BTreeMap<String, Option<String>>,
}

/// What is remembered of an object.
#[derive(Default)]
struct Object {
    /// When the last pass that left a record ended, in the time of day.
    ended: Option<Timestamp>,
    /// Failed passes in a row, the generation that they count for, and how many versions of the
    /// manifest were known at the last of them.
    failures: u32,
    counted: Generation,
    versions: usize,
    /// The generation in the store.
    generation: Generation,
    recorded_failures: u32,
    /// How many versions were known when it was found as declared.
    settled: Option<usize>,
    /// Since when a person wants it left alone, and until when its drift.
    suspended: Option<Duration>,
    snoozed: Option<(Duration, Timestamp)>,
    /// A person has confirmed that it is meant to be gone.
    confirmed: bool,
    /// What the newest recorded pass knew of the deletion of each thing that it declared.
    words: BTreeMap<Thing, Deletion>,
    /// Its drift that is frozen, and since when at most.
    frozen: BTreeMap<Difference, Duration>,
    /// When a person last confirmed the drift of a set that held it.
    released: Option<Duration>,
    /// When drift of it was reverted, in the time of day.
    reverted: Vec<Timestamp>,
    /// Since when its newest version is held back with others, until a person confirms it, and until
    /// when it was.
    held: Option<(Duration, Option<Duration>)>,
    /// When the last pass of this life began.
    looked: Option<Duration>,
    /// Since when it only waits, and how many passes have found that.
    waiting: Option<(Duration, u32)>,
}

/// Sees to one budget.
struct Bucket {
    tokens: f64,
    at: Duration,
}

pub(super) struct Checker {
    budgets: BTreeMap<String, (f64, f64)>,
    buckets: BTreeMap<(Scope, String), Bucket>,
    /// The last call of the log that was looked at.
    seen: u64,
    passes: HashMap<Id, Pass>,
    objects: BTreeMap<Key, Object>,
    /// When somebody else changed a resource.
    meddled: BTreeMap<String, Duration>,
    stale: Option<Duration>,
    /// When something last kept the agent from its work.
    disturbed: Duration,
    /// When a list was last shortened in silence.
    short: Option<Duration>,
    /// Changes that are to be started, and until when.
    awaited: BTreeMap<Key, Duration>,
    swift: bool,
    /// Every set that was ever shown as frozen, by digest, and those that people confirmed.
    shown: BTreeMap<String, Freeze>,
    confirmed: BTreeSet<String>,
    /// When each set was shown that is frozen now, by guard.
    frozen: BTreeMap<String, (Duration, Freeze)>,
    /// When the repository was confirmed last, or the agent started.
    fresh: Duration,
    /// When each value was sent that AWS took, by resource, parameter and value, in the time of day.
    sent: BTreeMap<(String, String), Vec<(String, Timestamp)>>,
    /// When the agent last had the right to write back.
    regained: Option<Duration>,
    /// Somebody has set a password, which must never be seen again.
    knows_secret: bool,
    writes: u64,
    calls: u64,
    /// How often each interesting thing happened, to show that it does.
    pub(super) tally: BTreeMap<String, u64>,
}

impl Checker {
    pub(super) fn new(profile: &Profile) -> Self {
        let budgets = profile.budgets.services.iter();
        let budgets = budgets.map(|(service, budget)| {
            (service.clone(), (f64::from(budget.burst), budget.per_second))
        });
        Self {
            budgets: budgets.collect(),
            buckets: BTreeMap::new(),
            seen: 0,
            passes: HashMap::new(),
            objects: BTreeMap::new(),
            meddled: BTreeMap::new(),
            stale: None,
            disturbed: Duration::ZERO,
            short: None,
            awaited: BTreeMap::new(),
            swift: profile.swift,
            shown: BTreeMap::new(),
            confirmed: BTreeSet::new(),
            frozen: BTreeMap::new(),
            fresh: Duration::ZERO,
            sent: BTreeMap::new(),
            regained: None,
            knows_secret: false,
            writes: 0,
            calls: 0,
            tally: BTreeMap::new(),
        }
    }

    pub(super) fn writes(&self) -> u64 {
        self.writes
    }

    pub(super) fn count(&mut self, what: impl Into<String>) {
        *self.tally.entry(what.into()).or_default() += 1;
    }

    /// Notes that something gave the agent a reason to look at objects that wait.
    pub(super) fn woken(&mut self) {
        self.objects.values_mut().for_each(|object| object.waiting = None);
    }

    /// Notes that the agent has the right to write back.
    pub(super) fn regained(&mut self, world: &World) {
        self.regained = Some(world.clock.passed());
    }

    /// Forgets what died with the agent.
    pub(super) fn restarted(&mut self) {
        self.woken();
        self.passes.clear();
        self.buckets.clear();
        self.awaited.clear();
        self.objects.values_mut().for_each(|object| object.looked = None);
    }

    /// Looks at calls of others.
    pub(super) fn meddled(&mut self, world: &World) {
        for call in self.new_calls(world) {
            self.knows_secret |= call.params.contains_key("MasterUserPassword");
            if !call.is_write() {
                continue;
            }
            self.count(format!("console {}", call.operation));
            if let Some(name) = target(&call.params) {
                self.changed_by_others(world, &name);
            }
        }
    }

    fn new_calls(&mut self, world: &World) -> Vec<Logged> {
        let calls = world.sandbox.calls_since(self.seen);
        self.seen = calls.last().map_or(self.seen, |call| call.number);
        calls
    }

    /// Notes that a change of an object has been delivered and is due.
    pub(super) fn delivered(&mut self, world: &World, key: &Key) {
        // A pass that could not be recorded is made again after a while, and nothing cuts that short.
        let passed = world.clock.passed();
        let is_troubled = self.regained.is_some_and(|at| at + SLACK >= passed);
        if !self.swift || is_troubled || !world.lease.is_safe() {
            return;
        }
        let now = world.clock.now();
        let ended = self.objects.get(key).and_then(|object| object.ended);
        let held = ended.map_or(Duration::ZERO, |ended| {
            let free = ended + jiff::SignedDuration::from_secs(1);
            Duration::try_from(free.duration_since(now)).unwrap_or_default()
        });
        let until = passed + held + Duration::from_secs(1);
        self.awaited.entry(key.clone()).or_insert(until);
    }

    /// Holds the changes that are due against the time.
    pub(super) fn look_at_time(&mut self, world: &World) -> Held {
        self.look_at_calm(world);
        let now = world.clock.passed();
        let late = self.awaited.iter().find(|(_, until)| **until < now);
        match late.filter(|_| world.lease.is_safe()) {
            Some((key, _)) => Err(broken(
                Law::ChangesStartAtOnce,
                format!("{key} changed and no pass has begun a second after it was due"),
            )),
            None => Ok(()),
        }
    }
}

/// Sees a pass begin: it is read what is asked of an object.
pub(super) fn began(world: &World, key: &Key) {
    if world.is_over() {
        return;
    }
    world.note(|| format!("a pass of {key} begins"));
    world.check(|checker| {
        checker.look_at_time(world)?;
        checker.awaited.remove(key);
        checker.is_shut(world, key)?;
        let (passed, now) = (world.clock.passed(), world.clock.now());
        let pass = Pass {
            key: key.clone(),
            began: passed,
            failed: false,
            settles: None,
            reverts: false,
            confirmed: BTreeMap::new(),
        };
        if let Some(task) = tokio::task::try_id() {
            checker.passes.insert(task, pass);
        }
        checker.count("passes");
        let ended = checker.objects.get(key).and_then(|object| object.ended);
        let distance = ended.map(|ended| now.duration_since(ended));
        hold(
            Law::PassesKeepTheirDistance,
            distance.is_none_or(|distance| distance >= jiff::SignedDuration::from_secs(1)),
            || format!("a pass of {key} began {:#} after the last one", distance.unwrap()),
        )
    });
}
