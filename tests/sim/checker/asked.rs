//! Holds what the agent does against what people asked it to leave.

use jiff::Timestamp;
use levelset::model::{Ask, Clock, Key, ObjectStatus};

use super::calls::Writing;
use super::{Checker, Held, Law, Pass, READING, SLACK, Violation, end, hold};
use crate::sim::spec::{Annotations, Doc, Workspace};
use crate::sim::world::World;

impl Writing<'_> {
    /// Holds a write against what its object is annotated with, and against its policy for drift;
    /// tells whether it reverts drift.
    pub(super) fn is_wanted(&self, checker: &Checker) -> Result<bool, Violation> {
        let annotations = self.annotations();
        let all = |test: &dyn Fn(&Annotations) -> bool| {
            !annotations.is_empty() && annotations.iter().all(test)
        };
        hold(Law::SuspendedMeansStill, !all(&|known| known.suspended), || self.text())?;
        let now = self.world.clock.now();
        let is_snoozed = all(&|known| known.snoozed_until.is_some_and(|until| now < until));
        let docs = self.docs();
        let reports = |doc: &Doc| doc.as_workspace().is_some_and(|spec| spec.reports);
        let is_reported = !docs.is_empty() && docs.iter().all(reports);
        let is_drift = checker.is_settled(self.world, self.pass)
            && !self.leaves_or_takes_up()
            && !self.is_deletion();
        checker.is_heeded(self, now, is_drift)?;
        hold(Law::DriftIsLeftWhereAsked, !(is_drift && (is_snoozed || is_reported)), || {
            self.text()
        })?;
        Ok(is_drift)
    }
}

/// Sees that an object is forgotten, and with it what was asked of it.
pub(in crate::sim) fn forgotten(world: &World, key: &Key) {
    world.check(|checker| {
        let object = checker.objects.entry(key.clone()).or_default();
        (object.suspended, object.snoozed) = (None, None);
        checker.begin_anew(key);
        Ok(())
    });
}

impl Checker {
    /// Notes what a person asks of the agent.
    pub(in crate::sim) fn asked(&mut self, world: &World, ask: &Ask) {
        self.woken();
        let Some(key) = ask.object() else { return };
        let now = world.clock.passed();
        let object = self.objects.entry(key.clone()).or_default();
        match ask {
            Ask::Suspend { .. } => object.suspended = Some(now),
            Ask::Snooze { until, .. } => object.snoozed = Some((now, *until)),
            Ask::Resume { .. } => (object.suspended, object.snoozed) = (None, None),
            Ask::Retry { .. } => {
                object.failures = 0;
                self.begin_anew(key);
            }
            Ask::Confirm { .. } | Ask::Remove { .. } | Ask::Revert { .. } => {}
        }
    }

    /// Holds a write against what was asked before its pass began.
    fn is_heeded(&self, writing: &Writing<'_>, now: Timestamp, is_drift: bool) -> Held {
        let pass = writing.pass;
        let Some(object) = self.objects.get(&pass.key) else { return Ok(()) };
        let is_suspended = object.suspended.is_some_and(|since| since < pass.began);
        let is_snoozed =
            object.snoozed.is_some_and(|(since, until)| since < pass.began && now < until);
        let is_broken = is_suspended || (is_drift && is_snoozed);
        hold(Law::APersonsWordIsKept, !is_broken, || writing.text())
    }

    /// Tells whether an object has been as declared since its manifest changed last.
    fn is_settled(&self, world: &World, pass: &Pass) -> bool {
        let settled = self.objects.get(&pass.key).and_then(|object| object.settled);
        settled == Some(known(world, pass).1)
    }

    /// Holds what is told to be ready against what is there.
    pub(super) fn is_honest(&mut self, world: &World, pass: &Pass, status: &ObjectStatus) -> Held {
        if !status.is_ready() {
            return Ok(());
        }
        let (specs, versions) = known(world, pass);
        let differs = |spec| end::converged(world, &pass.key.name, spec).err();
        let differences: Vec<String> = specs.iter().filter_map(differs).collect();
        let is_so = specs.is_empty() || differences.len() < specs.len();
        let since = pass.began.saturating_sub(SLACK);
        let is_excused = self.is_changed_since(&pass.key, since) || self.is_stale(pass);
        hold(Law::ReadyMeansSo, is_so || is_excused, || {
            format!("{} is told to be as declared, and {}", pass.key, differences.join("; "))
        })?;
        let task = tokio::task::try_id().filter(|_| specs.len() == 1 && is_so);
        if let Some(pass) = task.and_then(|task| self.passes.get_mut(&task)) {
            pass.settles = Some(versions);
        }
        Ok(())
    }

    /// Holds the looks at an object that only waits against the time: they become rarer.
    pub(super) fn is_patient(&mut self, world: &World, pass: &Pass, state: &str) -> Held {
        let now = world.clock.passed();
        let object = self.objects.entry(pass.key.clone()).or_default();
        if pass.failed || !["Waiting", "Blocked", "Unknown"].contains(&state) {
            object.waiting = None;
            return Ok(());
        }
        let (since, looks) = object.waiting.get_or_insert((now, 0));
        *looks += 1;
        let waited = (now - *since).as_secs_f64();
        let most = 12.0 + 4.0 * (1.0 + waited / 40.0).log2() + waited / 300.0;
        hold(Law::NoLoopIsHot, f64::from(*looks) <= most, || {
            format!("{} waits and was looked at {looks} times within {waited:.0} s", pass.key)
        })
    }
}

/// Returns the versions of a workspace that a pass may know, and how many there have ever been.
fn known(world: &World, pass: &Pass) -> (Vec<Workspace>, usize) {
    let repository = world.repository();
    let docs = repository.in_force_since(&pass.key, pass.began.saturating_sub(READING));
    let specs = docs.into_iter().filter_map(Doc::as_workspace).cloned().collect();
    (specs, repository.versions.get(&pass.key).map_or(0, Vec::len))
}
