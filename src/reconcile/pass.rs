//! The sentence: expand, observe, diff, plan, apply, status.
//!
//! In: a key. Out: the new record of the object, and when it is due again. Everything that a pass
//! knows of earlier ones it reads from the store.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::causes::{drifted, join, stale, vanished};
use super::engine::Engine;
use super::gate::PassGate;
use super::heed;
use super::mass_drift::released;
use super::next::{Next, next, nothing_follows};
use super::sight::{Needs, Sighting, look};
use crate::apply::apply;
use crate::desired::{Entry, Snapshot};
use crate::manifest::Object;
use crate::manifest::expand::{Place, expand};
use crate::model::outcome::{Attempt, StepOutcome};
use crate::model::plan::Verdict;
use crate::model::status::{DriftMemory, Memory};
use crate::model::{
    Asked, Generation, Key, ObjectKind, ObjectStatus, Plan, Resource, ResourceId, Step,
};
use crate::plan::{Frozen, Request, Reverts, plan, remember};
use crate::status::build::{Found, build, state};
use crate::status::metrics::PassResult;
use crate::status::{Event, Record, StoreError, events};

/// Reports a pass to whoever drives it.
#[must_use]
#[derive(Debug)]
pub struct Passed {
    /// When the object is due again.
    pub next: Next,
    /// How the pass ended.
    pub result: PassResult,
    /// The status before.
    pub before: Option<ObjectStatus>,
    /// The status after; `None` when the object is not known (any more).
    pub status: Option<ObjectStatus>,
    /// What the pass found settled, and what it missed.
    pub needs: Needs,
}

/// Makes one pass for one object.
///
/// # Errors
///
/// When the store could not be read or written: nothing is known of the pass, and it is made again.
pub async fn pass(engine: &Engine, key: &Key) -> Result<Passed, StoreError> {
    let snapshot = engine.desired.snapshot();
    let record = engine.store.get(key).await?;
    let Some(entry) = snapshot.get(key) else {
        return orphan(engine, &snapshot, key, record).await;
    };
    let asked = engine.store.asked_of(key).await?;
    let history = History::of(key, entry.generation, &entry.object.digest, record, asked);
    let found = Found {
        revision: Some(entry.revision.clone()),
        problems: snapshot.problems_of(key).to_vec(),
        holds: entry.object.holds().and(&history.asked),
        removed: entry.removed.is_some(),
        frozen: vanished(&snapshot, key),
        stale: stale(engine, &snapshot),
        failed: history.memory.failures >= entry.object.policy().max_retries,
        ..Found::new(engine.clock.now(), entry.generation)
    };
    if found.removed {
        return record_without_look(engine, history, found).await;
    }
    match engine.place(&entry.object) {
        Err(unplaced) => {
            let found = Found { unplaced: Some(unplaced), ..found };
            record_without_look(engine, history, found).await
        }
        Ok(place) => {
            let resources = resources(engine, &snapshot, &entry.object, &place);
            let (sightings, needs) = look(&engine.observer, resources, entry.object.policy()).await;
            let passed = act(engine, entry, history, found, &sightings).await?;
            Ok(Passed { needs, ..passed })
        }
    }
}

/// Expands an object; a `Network` of another account or region is none of its networks.
fn resources(
    engine: &Engine,
    snapshot: &Snapshot,
    object: &Object,
    place: &Place,
) -> Vec<Resource> {
    let is_here = |network: &Object| {
        engine.place(network).is_ok_and(|its_place| its_place.scope == place.scope)
    };
    // A network that left while no agent ran is known by name alone; its group stays its own.
    let is_leaving =
        |name: &str| snapshot.orphans.contains_key(&Key::new(ObjectKind::Network, name));
    let is_network = |name: &str| snapshot.network(name).map_or_else(|| is_leaving(name), is_here);
    expand(object, place, &is_network)
}

/// The write half: plan, apply, status.
async fn act(
    engine: &Engine,
    entry: &Entry,
    history: History,
    found: Found,
    sightings: &[Sighting],
) -> Result<Passed, StoreError> {
    let policy = entry.object.policy();
    let known = engine.desired.snapshot().objects.len();
    let mut request = Request {
        key: &history.key,
        revision: found.revision.as_ref(),
        policy,
        holds: &found.holds,
        exhausted: found.failed,
        frozen: None,
        memory: &history.memory,
        intents: open_intents(engine, &history.key, sightings).await?,
        now: engine.clock.now(),
        subjects: sightings.iter().map(Sighting::subject).collect(),
    };
    let wanted = plan(&request);
    let reverts = Reverts::of(&request, &wanted);
    let released = released(&history.asked);
    let (key, now) = (&history.key, request.now);
    let frozen = engine.mass_drift().rule(key, &reverts, &released, known, now);
    request.frozen = frozen.as_ref();
    let plan = if frozen.is_some() { plan(&request) } else { wanted };
    let attempts = apply(&plan, &*engine.cloud, &PassGate::new(engine, &history.key)).await;
    let now = engine.clock.now();
    let random = engine.jitter.next();
    let mut next = next(&attempts, policy, &history.memory, engine.pace, now, random);
    if found.failed && !plan.steps.iter().all(Step::is_settled) {
        next.failures = history.memory.failures;
    }
    let memory = Memory {
        failures: next.failures,
        waits: next.waits,
        not_before: Some(next.not_before),
        resources: remember(&request, &attempts),
        drift: engine.mass_drift().memory(&history.key),
    };
    let found = Found {
        now,
        frozen: join(found.frozen, frozen.as_ref().map(drifted)),
        outputs: sightings.iter().filter_map(Sighting::outputs).collect(),
        failed: next.is_terminal(policy),
        attempts,
        ..found
    };
    record_pass(engine, history, found, memory, Some((next, &reverts))).await
}

/// An object that is not looked at reverts no drift.
async fn record_without_look(
    engine: &Engine,
    history: History,
    found: Found,
) -> Result<Passed, StoreError> {
    engine.mass_drift().forget(&history.key);
    let memory = Memory { drift: DriftMemory::default(), ..history.memory.clone() };
    record_pass(engine, history, found, memory, None).await
}

/// Writes what the pass found; the pass has happened when this is on the disk.
async fn record_pass(
    engine: &Engine,
    history: History,
    found: Found,
    memory: Memory,
    looked: Option<(Next, &Reverts)>,
) -> Result<Passed, StoreError> {
    let none = Reverts::default();
    let (next, reverts) =
        looked.unwrap_or_else(|| (nothing_follows(&memory, engine.pace, found.now), &none));
    let found = Found { next_run: next.due.map(|(_, at)| at), ..found };
    let status = build(&history.status, &found);
    let mut events = events(&history.key, found.now, &history.status, &status);
    events.extend(heed::events(&history.key, &history.asked, found.now));
    events.iter().for_each(log);
    let result = result(&found.attempts, &status);
    let answered = heed::answered(&history.asked, found.removed || found.undeclared, reverts);
    let record = Record {
        key: history.key,
        generation: found.generation,
        digest: history.digest,
        status,
        memory,
    };
    engine.store.put(&record, &events, &answered, engine.token()?).await?;
    let needs = Needs::default();
    Ok(Passed { next, result, before: history.before, status: Some(record.status), needs })
}

/// Holds what is known of an object from before this pass.
struct History {
    key: Key,
    digest: String,
    /// The status that was told, if there was one.
    before: Option<ObjectStatus>,
    status: ObjectStatus,
    memory: Memory,
    /// What people ask of it.
    asked: Vec<Asked>,
}

impl History {
    /// Reads a record; a new generation starts with a clean slate of failures, and so does a pass
    /// that somebody asked to retry.
    fn of(
        key: &Key,
        generation: Generation,
        digest: &str,
        record: Option<Record>,
        asked: Vec<Asked>,
    ) -> Self {
        // A record that was only declared has no status that anybody was told.
        let told = record.as_ref().filter(|record| record.status.last_reconciled_time.is_some());
        let before = told.map(|record| record.status.clone());
        let mut memory = record.as_ref().map(|record| record.memory.clone()).unwrap_or_default();
        if record.is_some_and(|record| record.status.observed_generation != generation) {
            memory.failures = 0;
            memory.waits = 0;
            memory.resources.values_mut().for_each(|known| known.accepted = None);
        }
        heed::forgive(&mut memory, &asked);
        let status = before.clone().unwrap_or_default();
        Self { key: key.clone(), digest: digest.to_owned(), before, status, memory, asked }
    }
}

/// An object of which only the store knows: its manifest went away while no agent ran.
async fn orphan(
    engine: &Engine,
    snapshot: &Snapshot,
    key: &Key,
    record: Option<Record>,
) -> Result<Passed, StoreError> {
    let now = engine.clock.now();
    let Some(record) = record else {
        let memory = Memory::default();
        let next = nothing_follows(&memory, engine.pace, now);
        let (result, needs) = (PassResult::Converged, Needs::default());
        return Ok(Passed { next, result, before: None, status: None, needs });
    };
    let revision = record.status.revision.clone();
    let asked = engine.store.asked_of(key).await?;
    let (generation, digest) = (record.generation, record.digest.clone());
    let history = History::of(key, generation, &digest, Some(record), asked);
    let removed = snapshot.removed(key).is_some();
    let found = Found {
        removed,
        undeclared: !removed,
        frozen: vanished(snapshot, key),
        stale: stale(engine, snapshot),
        revision,
        ..Found::new(now, generation)
    };
    record_without_look(engine, history, found).await
}

/// Returns the creates whose outcome is not known; those whose resource is there are resolved.
async fn open_intents(
    engine: &Engine,
    key: &Key,
    sightings: &[Sighting],
) -> Result<BTreeMap<ResourceId, Timestamp>, StoreError> {
    let mut open = BTreeMap::new();
    for intent in engine.store.intents(key).await? {
        let is_there =
            sightings.iter().any(|seen| *seen.id() == intent.resource && seen.is_present());
        match is_there {
            true => engine.store.resolve(key, &intent.resource, engine.token()?).await?,
            false => {
                open.insert(intent.resource, intent.at);
            }
        }
    }
    Ok(open)
}

/// Writes an event to the log; trouble is a warning.
fn log(event: &Event) {
    match event.reason.as_str() {
        "Declared" | "Created" | "Updated" | "Reverted" | "Converged" | "Blocked" | "Deferred"
        | "Valid" | "Resumed" | "Released" | "SnoozeEnded" | "Asked" | "DriftGone" => {
            tracing::info!(reason = event.reason, "{}", event.message);
        }
        _ => tracing::warn!(reason = event.reason, "{}", event.message),
    }
}

/// Sums a pass up for the metrics; the worst of its resources counts.
fn result(attempts: &[Attempt], status: &ObjectStatus) -> PassResult {
    let any = |test: fn(&Attempt) -> bool| attempts.iter().any(test);
    if any(|attempt| matches!(attempt.outcome, StepOutcome::Failed { .. })) {
        PassResult::Failed
    } else if any(|attempt| matches!(attempt.outcome, StepOutcome::Accepted { .. })) {
        PassResult::Changed
    } else if any(|attempt| attempt.step.verdict == Verdict::Refused) {
        PassResult::Refused
    } else if status.resources.iter().any(|row| row.state == state::UNKNOWN) {
        PassResult::Unknown
    } else if status.is_ready() {
        PassResult::Converged
    } else {
        PassResult::Waiting
    }
}

/// Plans one object for somebody who only looks: nothing is written, to AWS or to the store.
///
/// # Errors
///
/// A sentence when the object has no place in AWS; a [`StoreError`]'s text when the store cannot
/// be read.
pub async fn preview(
    engine: &Engine,
    entry: &Entry,
    record: Option<Record>,
) -> Result<Plan, String> {
    let place = engine.place(&entry.object)?;
    let snapshot = engine.desired.snapshot();
    let resources = resources(engine, &snapshot, &entry.object, &place);
    let (sightings, _) = look(&engine.observer, resources, entry.object.policy()).await;
    let key = &entry.object.key;
    let asked = engine.store.asked_of(key).await.map_err(|error| error.to_string())?;
    let history = History::of(key, entry.generation, &entry.object.digest, record, asked);
    let frozen = Frozen::remembered(&history.memory.drift);
    Ok(plan(&Request {
        key,
        revision: Some(&entry.revision),
        policy: entry.object.policy(),
        holds: &entry.object.holds().and(&history.asked),
        exhausted: false,
        frozen: frozen.as_ref(),
        memory: &history.memory,
        intents: BTreeMap::new(),
        now: engine.clock.now(),
        subjects: sightings.iter().map(Sighting::subject).collect(),
    }))
}
