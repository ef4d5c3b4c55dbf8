//! Holds what the agent does against what its guards freeze, and against how long Git has not been
//! confirmed.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use levelset::model::{Ask, Clock, Difference, Freeze, Key};
use levelset::status::{Record, Settlement};

use super::calls::Writing;
use super::{Checker, Held, Law, Object, Pass, READING, SLACK, hold};
use crate::sim::reading::in_force;
use crate::sim::world::World;

/// For how long a revert counts, in the time of day.
const PERIOD: SignedDuration = SignedDuration::from_hours(1);

/// An object that was reverted so often within three hours is a known fight, which is not counted.
const FIGHT: (usize, SignedDuration) = (3, SignedDuration::from_hours(3));

/// How long a call may be on its way that was allowed while Git was fresh: its intent is recorded
/// first.
const ON_THE_WAY: Duration = Duration::from_secs(60);

/// The fields of a database whose drift a guard may freeze, and the parameters that revert them.
const FIELDS: [(&str, &str); 8] = [
    ("sizeClass", "DBInstanceClass"),
    ("version", "EngineVersion"),
    ("backups.retentionDays", "BackupRetentionPeriod"),
    ("backups.window", "PreferredBackupWindow"),
    ("maintenanceWindow", "PreferredMaintenanceWindow"),
    ("storage.sizeGiB", "AllocatedStorage"),
    ("multiAz", "MultiAZ"),
    ("parameterGroup", "DBParameterGroupName"),
];

/// Sees that what is told of a guard has changed.
pub(in crate::sim) fn frozen(world: &World) {
    world.check(|checker| {
        checker.look_at_freezes(world);
        Ok(())
    });
}

/// Sees that a confirmation has been carried out.
pub(in crate::sim) fn settled(world: &World, settlement: &Settlement) {
    world.check(|checker| {
        checker.is_meant(settlement)?;
        checker.look_at_freezes(world);
        Ok(())
    });
}

impl Checker {
    fn look_at_freezes(&mut self, world: &World) {
        let (now, told) = (world.clock.passed(), world.freezes());
        self.hold_back(now, &told);
        self.frozen.retain(|guard, _| told.iter().any(|freeze| freeze.guard == *guard));
        for freeze in told {
            if self.shown.insert(freeze.digest.clone(), freeze.clone()).is_none() {
                self.count(format!("frozen {}", freeze.guard));
            }
            let entry = self.frozen.entry(freeze.guard.clone());
            let (since, known) = entry.or_insert_with(|| (now, freeze.clone()));
            if known.digest != freeze.digest {
                (*since, *known) = (now, freeze);
            }
        }
    }

    /// Notes which objects are worked on as they were before a commit that a guard froze.
    fn hold_back(&mut self, now: Duration, told: &[Freeze]) {
        let frozen = told.iter().find(|freeze| freeze.guard == Freeze::VANISHING);
        let is_held = |key: &Key| frozen.is_some_and(|freeze| freeze.objects.contains(key));
        for (key, object) in &mut self.objects {
            object.held = match object.held {
                Some((since, _)) if is_held(key) => Some((since, None)),
                None if is_held(key) => Some((now, None)),
                Some((since, None)) => Some((since, Some(now))),
                ended => ended,
            };
        }
    }

    /// Returns since when the versions of an object count that a pass may work on.
    pub(super) fn known_since(&self, pass: &Pass) -> Duration {
        let since = pass.began.saturating_sub(READING);
        let held = self.objects.get(&pass.key).and_then(|object| object.held);
        let held = held.filter(|(_, until)| until.is_none_or(|until| until + SLACK >= pass.began));
        held.map_or(since, |(from, _)| since.min(from.saturating_sub(READING)))
    }

    /// Returns the digest of a set that was shown and is not any more.
    pub(in crate::sim) fn digest_that_is_none_of(&self, shown: &[String]) -> Option<String> {
        self.shown.keys().rev().find(|digest| !shown.contains(digest)).cloned()
    }

    /// Notes that a person means what is shown under a digest.
    pub(in crate::sim) fn confirmed(&mut self, world: &World, digest: &str) {
        let Some(freeze) = self.shown.get(digest).cloned() else { return };
        self.confirmed.insert(digest.to_owned());
        for key in freeze.objects {
            let object = self.objects.entry(key).or_default();
            match freeze.guard.as_str() {
                Freeze::VANISHING => object.confirmed = true,
                _ => object.released = Some(world.clock.passed()),
            }
        }
    }

    /// Holds what is released against what a person confirmed.
    fn is_meant(&mut self, settlement: &Settlement) -> Held {
        let Ask::Confirm { digest } = &settlement.request.ask else { return Ok(()) };
        if settlement.released.is_none() {
            self.count("confirmed nothing");
            return Ok(());
        }
        self.count(format!("confirmed {}", settlement.released.as_deref().unwrap_or_default()));
        let released: BTreeSet<&Key> =
            settlement.removed.iter().chain(settlement.reverted.keys()).collect();
        let shown = self.shown.get(digest).filter(|_| self.confirmed.contains(digest));
        let is_meant =
            shown.is_some_and(|shown| released.iter().all(|key| shown.objects.contains(key)));
        hold(Law::FrozenMeansStill, is_meant, || {
            format!("{released:?} are released by {digest}, which nobody confirmed for them")
        })
    }

    /// Notes that the repository has been confirmed, or that the agent starts.
    pub(in crate::sim) fn confirmed_fresh(&mut self, world: &World) {
        self.fresh = world.clock.passed();
    }

    /// Notes what a pass left frozen, and what it reverted.
    pub(super) fn note_drift(&mut self, world: &World, pass: &Pass, stored: &Record) -> Held {
        let object = self.objects.entry(pass.key.clone()).or_default();
        let frozen = &stored.memory.drift.frozen;
        object.frozen.retain(|difference, _| frozen.contains(difference));
        for difference in frozen {
            object.frozen.entry(difference.clone()).or_insert(pass.began);
        }
        if !pass.reverts {
            return Ok(());
        }
        let now = world.clock.now();
        object.reverted.push(now);
        self.count("reverts");
        let counted = self.objects.iter().filter(|(_, object)| object.takes_a_place(now));
        let keys: Vec<&Key> = counted.map(|(key, _)| key).collect();
        let limit = world.profile.drift.limit(world.repository().ever.len());
        hold(Law::FrozenMeansStill, keys.len() <= limit, || {
            format!("drift of {keys:?} was reverted within an hour, of more than {limit}")
        })
    }
}

impl Object {
    /// Tells whether it was reverted lately, was not confirmed, and is no known fight.
    fn takes_a_place(&self, now: Timestamp) -> bool {
        let within = |period| {
            self.reverted.iter().filter(move |at| now.duration_since(**at) < period).count()
        };
        let (many, long) = FIGHT;
        self.released.is_none() && within(PERIOD) > 0 && within(long) < many
    }
}

impl Writing<'_> {
    /// Holds a write against what guards freeze.
    pub(super) fn is_released(&self, checker: &Checker) -> Held {
        self.is_no_frozen_removal(checker)?;
        let Some(object) = checker.objects.get(&self.pass.key) else { return Ok(()) };
        let versions = self.world.repository().versions.get(&self.pass.key).cloned();
        let changed = versions.and_then(|all| all.last().map(|(at, _)| *at)).unwrap_or_default();
        let is_held = |since: &Duration| {
            *since < self.pass.began
                && changed < *since
                && object.released.is_none_or(|released| released < *since)
        };
        let reverted = object
            .frozen
            .iter()
            .find(|(difference, since)| is_held(since) && self.reverts_it(difference));
        hold(Law::FrozenMeansStill, reverted.is_none(), || {
            format!("{} reverts {reverted:?}, which is frozen", self.text())
        })
    }

    fn is_no_frozen_removal(&self, checker: &Checker) -> Held {
        // A section that left before is tagged as retained whatever happened to the rest since.
        if !self.is_deletion() && (!self.leaves() || self.leaves_a_section()) {
            return Ok(());
        }
        let Some((since, freeze)) = checker.frozen.get(Freeze::VANISHING) else { return Ok(()) };
        let is_frozen = *since < self.pass.began
            && freeze.objects.contains(&self.pass.key)
            && !checker.confirmed.contains(&freeze.digest);
        hold(Law::FrozenMeansStill, !is_frozen, || {
            format!("{}, which vanished with {:?}", self.text(), freeze.objects)
        })
    }

    /// Tells whether the write changes just what a difference names, from the value that it names.
    fn reverts_it(&self, difference: &Difference) -> bool {
        if difference.resource.name.as_ref() != self.name() {
            return false;
        }
        if difference.field == Difference::EXISTENCE {
            return self.call.operation.starts_with("Create");
        }
        let field = FIELDS.iter().find(|(field, _)| *field == difference.field);
        let (Some((_, parameter)), Some(instance)) = (field, &self.portrait.instance) else {
            return false;
        };
        self.call.operation == "ModifyDBInstance"
            && self.call.params.contains_key(*parameter)
            && serde_json::to_string(&in_force(instance, parameter)).unwrap() == difference.actual
    }

    /// Tells whether the write reverts drift which is no danger to leave.
    pub(super) fn is_countable(&self) -> bool {
        let harmless = |name: &String| {
            let harmless = ["PubliclyAccessible", "DeletionProtection", "VpcSecurityGroupIds"];
            let about = ["DBInstanceIdentifier", "ApplyImmediately"];
            harmless.contains(&name.as_str()) || about.contains(&name.as_str())
        };
        let is_modify = self.call.operation == "ModifyDBInstance";
        is_modify && self.call.applied && !self.call.params.keys().all(harmless)
    }

    /// Holds a write against how long Git has not been confirmed.
    pub(super) fn is_fresh(&self, checker: &Checker) -> Held {
        let age = self.world.clock.passed() - checker.fresh;
        let most = self.world.profile.patience.stop_after + ON_THE_WAY;
        hold(Law::StaleMeansStill, age <= most, || {
            format!("{}, {age:?} after Git was confirmed", self.text())
        })
    }
}
