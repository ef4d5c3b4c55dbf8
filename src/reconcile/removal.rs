//! The pass of an object whose manifest is gone.
//!
//! In: what the store and the cache remember of it. Out: what it owns, step by step deleted or left
//! as Git said before, and when nothing is left to do, the wish to be forgotten.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::annals::Told;
use super::causes::{stale, vanished};
use super::engine::Engine;
use super::history::{History, as_recorded, declared};
use super::leaving::{self, Basis, Gone};
use super::next::nothing_follows;
use super::pass::{Passed, carry_out, follow, record_pass, record_without_look};
use super::sight::Needs;
use crate::desired::{Entry, Removed, Snapshot};
use crate::model::status::Memory;
use crate::model::{Asked, Holder, Holds, Key, Plan, Policy, Revision};
use crate::plan::Reverts;
use crate::status::build::Found;
use crate::status::metrics::PassResult;
use crate::status::{Record, StoreError};

/// Holds what is known of an object without a manifest.
struct Late {
    history: History,
    revision: Option<Revision>,
    policy: Policy,
    /// What the annotations of its last manifest say.
    suspended: Vec<Holder>,
    gone: Gone,
    /// The commit that took the manifest away, if the history of the branch tells.
    gone_in: Option<Revision>,
    /// When it was last declared again with no pass on record that saw it.
    renewed: Option<Timestamp>,
}

impl Late {
    fn of(
        engine: &Engine,
        entry: Option<&Entry>,
        record: &Record,
        asked: Vec<Asked>,
        (is_confirmed, said): (bool, Result<Told, String>),
    ) -> Self {
        let mut declared = entry.map_or_else(|| as_recorded(record), declared);
        let (recorded, now) = (record.memory.removed, engine.clock.now());
        let (said, unread) = match said {
            Ok(said) => (said, None),
            Err(code) => (Told::default(), Some(code)),
        };
        let known_in = &record.memory.gone_in;
        let gone_in = said.gone_in.or_else(|| known_in.clone());
        let is_another = recorded.is_some() && known_in.is_some() && gone_in != *known_in;
        let seen = engine.absences.since(&record.key).filter(|at| Some(*at) > recorded);
        let seen = seen.or(is_another.then_some(now));
        let since = recorded.map_or(now, |recorded| seen.unwrap_or(recorded));
        // The more careful word counts, and stays on record.
        declared.deletion = said.deletion.map_or(declared.deletion, |it| it.min(declared.deletion));
        let suspended = || match entry {
            Some(entry) => entry.object.holds().suspended,
            None => record.memory.suspended.clone(),
        };
        let history = History::of(declared, Some(record.clone()), asked);
        Self {
            renewed: seen.filter(|_| recorded.is_some()).or((history.unseen() > 0).then_some(now)),
            history,
            gone_in,
            revision: entry.map_or(record.status.revision.clone(), |it| Some(it.revision.clone())),
            // Of an object whose last manifest nobody has read since the start, the store knows what
            // it said about deletion; how it is paced follows the defaults.
            policy: entry.map(|entry| entry.object.policy().clone()).unwrap_or_default(),
            suspended: said.suspended.unwrap_or_else(suspended),
            gone: Gone { since, confirmed: is_confirmed, unread },
        }
    }

    fn holds(&self) -> Holds {
        let suspended = self.suspended.clone();
        Holds { suspended, ..Holds::default() }.and(&self.history.asked)
    }

    fn basis<'a>(&'a self, engine: &Engine, snapshot: &'a Snapshot) -> Basis<'a> {
        let is_exhausted = self.history.memory.failures >= self.policy.max_retries;
        Basis {
            key: &self.history.declared.key,
            snapshot,
            memory: &self.history.memory,
            declared: BTreeSet::new(),
            identities: BTreeSet::new(),
            wholes: Vec::new(),
            living: &[],
            policy: self.history.declared.deletion,
            suspended: is_exhausted || self.holds().is_suspended(),
            gone: Some(self.gone.clone()),
            renewed: self.renewed,
            now: engine.clock.now(),
        }
    }
}

/// Makes one pass for an object whose manifest is gone for certain.
pub(super) async fn remove(
    engine: &Engine,
    snapshot: &Snapshot,
    key: &Key,
    record: Option<Record>,
    removed: &Removed,
    asked: Vec<Asked>,
) -> Result<Passed, StoreError> {
    let Some(record) = record else {
        engine.departures.add(key.clone(), None);
        return Ok(untold(engine, &Memory::default()));
    };
    let entry = snapshot.get(&record.key).map(|entry| &**entry);
    let said = engine.words.told(key, snapshot.revision.as_ref()).await;
    let late = Late::of(engine, entry, &record, asked, (removed.confirmed, said));
    let basis = late.basis(engine, snapshot);
    let partings = leaving::look(engine, &basis).await?;
    let plan = Plan {
        key: record.key.clone(),
        revision: late.revision.clone(),
        holds: late.holds(),
        steps: leaving::plan(engine, &basis, &partings),
        traced: Vec::new(),
    };
    let (attempts, receipts) = carry_out(engine, snapshot, &plan).await;
    let owned = leaving::remaining(engine, key, partings, (&attempts, &receipts)).await?;
    let next = follow(engine, (&late.policy, engine.pace), &late.history.memory, &attempts);
    engine.mass_drift().hold_nothing(key);
    let is_done = owned.is_empty();
    let memory = Memory {
        failures: next.failures,
        waits: next.waits,
        not_before: Some(next.not_before),
        owned,
        suspended: late.suspended.clone(),
        removed: Some(late.gone.since),
        gone_in: late.gone_in.clone(),
        drift: engine.mass_drift().memory(key),
        ..late.history.memory.clone()
    };
    let now = engine.clock.now();
    let found = Found {
        stale: stale(engine, snapshot),
        revision: late.revision.clone(),
        holds: late.holds(),
        removed: true,
        failed: next.is_terminal(&late.policy),
        attempts,
        ..Found::new(now, late.history.declared.generation)
    };
    let next = if is_done { nothing_follows(&memory, engine.pace, now) } else { next };
    let passed =
        record_pass(engine, late.history, found, memory, Some((next, &Reverts::default()))).await?;
    if is_done {
        engine.departures.add(record.key, passed.status.clone());
    }
    Ok(passed)
}

/// Says how an object stands of which only the store knows, and that is not removed (any more): a file
/// names it that cannot be taken, or too many vanished with it, or nothing is certain yet. Should it be
/// removed after all, its grace period begins anew.
pub(super) async fn reinstate(
    engine: &Engine,
    snapshot: &Snapshot,
    key: &Key,
    record: Option<Record>,
    asked: Vec<Asked>,
) -> Result<Passed, StoreError> {
    let Some(record) = record else { return Ok(untold(engine, &Memory::default())) };
    let found = Found {
        undeclared: true,
        frozen: vanished(snapshot, key),
        stale: stale(engine, snapshot),
        revision: record.status.revision.clone(),
        ..Found::new(engine.clock.now(), record.generation)
    };
    let mut history = History::of(as_recorded(&record), Some(record), asked);
    if snapshot.synced {
        history.memory.removed = None;
    }
    record_without_look(engine, history, found).await
}

/// Reports a pass of which nothing is told.
fn untold(engine: &Engine, memory: &Memory) -> Passed {
    let next = nothing_follows(memory, engine.pace, engine.clock.now());
    let (result, needs) = (PassResult::Converged, Needs::default());
    Passed { next, result, is_news: true, before: None, status: None, needs }
}

/// Plans the removal of an object for somebody who only looks.
///
/// # Errors
///
/// When the store cannot be read.
pub async fn preview_removal(engine: &Engine, record: &Record) -> Result<Plan, StoreError> {
    preview_removal_in(engine, &engine.desired.snapshot(), None, record).await
}

/// Does what [`preview_removal`] does, for another state of Git; `entry` is what was declared last.
pub(super) async fn preview_removal_in(
    engine: &Engine,
    snapshot: &Snapshot,
    entry: Option<&Entry>,
    record: &Record,
) -> Result<Plan, StoreError> {
    let asked = engine.store.asked_of(&record.key).await?;
    // What is foreseen is in no history yet.
    let late = Late::of(engine, entry, record, asked, (false, Ok(Told::default())));
    let basis = late.basis(engine, snapshot);
    let partings = leaving::look(engine, &basis).await?;
    let steps = leaving::plan(engine, &basis, &partings);
    let (key, revision) = (record.key.clone(), snapshot.revision.clone());
    Ok(Plan { key, revision, holds: late.holds(), steps, traced: Vec::new() })
}

#[cfg(test)]
pub(super) mod tests;
