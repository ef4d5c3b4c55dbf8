//! The sentence: expand, observe, diff, plan, apply, status.
//!
//! In: a key. Out: the new record of the object, and when it is due again. Everything that a pass
//! knows of earlier ones it reads from the store.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use super::causes::{drifted, join, stale, vanished};
use super::engine::Engine;
use super::gate::PassGate;
use super::heed;
use super::history::{History, as_recorded, declared};
use super::intents::open_intents;
use super::leaving::{self, Basis};
use super::mass_drift::released;
use super::neighbours::resources;
use super::next::{Next, Pace, next, nothing_follows};
use super::removal::{reinstate, remove};
use super::rest::{Ground, is_old_news, rested};
use super::sight::{Known, Needs, Sight, Sighting, look};
use super::traces;
use crate::apply::apply;
use crate::desired::{Entry, Snapshot};
use crate::kinds;
use crate::model::outcome::{Attempt, StepOutcome};
use crate::model::plan::Verdict;
use crate::model::status::{Memory, Owned, ResourceMemory};
use crate::model::{Asked, Call, Key, ObjectStatus, Plan, Policy, Resource, Step};
use crate::plan::handle::{Receipts, keep_handles, note_handles};
use crate::plan::{Request, Reverts, owned, plan, remember};
use crate::status::build::{Found, build, state};
use crate::status::metrics::PassResult;
use crate::status::{Declared, Event, Look, Record, StoreError, events};

/// Reports a pass to whoever drives it.
#[must_use]
#[derive(Debug)]
pub struct Passed {
    /// When the object is due again.
    pub next: Next,
    /// How the pass ended.
    pub result: PassResult,
    /// False when the object is as declared and its record said so already: only the times are new.
    pub is_news: bool,
    /// The status before.
    pub before: Option<ObjectStatus>,
    /// The status after; `None` when the object is not known (any more), and of an object at rest,
    /// whose status stays.
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
    let asked = engine.store.asked_of(key).await?;
    let ground = Ground::of(engine, &snapshot, key, &asked);
    if let Some(ground) = &ground
        && let Some(passed) = rested(engine, ground).await
    {
        return Ok(passed);
    }
    engine.rests.forget(key);
    whole(engine, &snapshot, key, asked, ground).await
}

/// Makes a pass the whole way; one that finds nothing new from this ground puts the object to rest.
async fn whole(
    engine: &Engine,
    snapshot: &Snapshot,
    key: &Key,
    asked: Vec<Asked>,
    ground: Option<Ground>,
) -> Result<Passed, StoreError> {
    let record = engine.store.get(key).await?;
    let known = record.as_ref().map(as_recorded).or_else(|| Some(declared(snapshot.get(key)?)));
    recall(engine, known).await?;
    if let Some(removed) = snapshot.removed(key) {
        return remove(engine, snapshot, key, record, removed, asked).await;
    }
    let Some(entry) = snapshot.get(key) else {
        return reinstate(engine, snapshot, key, record, asked).await;
    };
    let mut history = History::of(declared(entry), record, asked);
    history.memory.removed = None;
    let found = Found {
        revision: Some(entry.revision.clone()),
        problems: snapshot.problems_of(key).to_vec(),
        holds: entry.object.holds().and(&history.asked),
        frozen: vanished(snapshot, key),
        stale: stale(engine, snapshot),
        traced: traces::known(engine, key),
        failed: history.memory.failures >= entry.object.policy().max_retries,
        ..Found::new(engine.clock.now(), entry.generation)
    };
    match engine.place(&entry.object) {
        Err(unplaced) => {
            let found = Found { unplaced: Some(unplaced), ..found };
            record_without_look(engine, history, found).await
        }
        Ok(place) => {
            let resources = resources(engine, snapshot, &entry.object, &place);
            let known = Known {
                is_settled: &|resource| is_settled(key, &history.memory, resource),
                memory: &history.memory,
            };
            let Sight { sightings, needs, read } =
                look(&engine.observer, resources, entry.object.policy(), &known).await;
            let passed = act(engine, snapshot, entry, history, found, &sightings).await?;
            if let (false, Some(ground), Some(read)) = (passed.is_news, ground, read) {
                engine.rests.note(engine, ground, &read);
            }
            Ok(Passed { needs, ..passed })
        }
    }
}

/// After a pass that could not be recorded, proves that this one can be: then it may change things,
/// and need not wait for another one.
async fn recall(engine: &Engine, known: Option<Declared>) -> Result<(), StoreError> {
    if let Some(known) = known.filter(|_| engine.is_amnesic.load(Ordering::Relaxed)) {
        engine.store.declare(&[known], engine.token()?).await?;
        engine.is_amnesic.store(false, Ordering::Relaxed);
    }
    Ok(())
}

/// Tells whether it is known whose a resource is: the object's, or another's by its name.
fn is_settled(key: &Key, memory: &Memory, resource: &Resource) -> bool {
    let is_own = resource.owner.ends_with(&format!("/{key}"));
    !is_own || memory.owned.iter().any(|owned| owned.id == resource.id)
}

/// The write half: plan, apply, status.
async fn act(
    engine: &Engine,
    snapshot: &Snapshot,
    entry: &Entry,
    history: History,
    found: Found,
    sightings: &[Sighting],
) -> Result<Passed, StoreError> {
    let policy = entry.object.policy();
    let known = snapshot.objects.len();
    let (intents, tokens) = open_intents(engine, &history.declared.key, sightings).await?;
    let mut request = Request {
        key: &history.declared.key,
        revision: found.revision.as_ref(),
        policy,
        holds: &found.holds,
        exhausted: found.failed,
        frozen: None,
        memory: &history.memory,
        intents,
        tokens: Some(tokens),
        now: engine.clock.now(),
        subjects: sightings.iter().map(Sighting::subject).collect(),
    };
    let wanted = plan(&request);
    let reverts = Reverts::of(&request, &wanted);
    let released = released(&history.asked);
    let (key, now) = (request.key, request.now);
    let frozen = engine.mass_drift().rule(key, &reverts, &released, known, now);
    request.frozen = frozen.as_ref();
    let mut plan = if frozen.is_some() { plan(&request) } else { wanted };
    // One of two new generations may have declared again what the newest one does not.
    let renewed = (history.unseen() > 1).then_some(now);
    let basis = Basis { renewed, ..basis(snapshot, &request, sightings) };
    let partings = leaving::look(engine, &basis).await?;
    plan.steps.extend(leaving::plan(engine, &basis, &partings));
    let (attempts, receipts) = carry_out(engine, snapshot, &plan).await;
    let left = leaving::remaining(engine, key, partings, (&attempts, &receipts)).await?;
    // Last, because the next pass keeps its distance from the end of this one.
    let pace = engine.pace_of(&entry.object);
    let next = follow(engine, (policy, pace), &history.memory, &attempts);
    let (resources, owned) = remembered(&request, &attempts, &receipts, left);
    let memory = Memory {
        resources,
        owned,
        drift: engine.mass_drift().memory(key),
        suspended: entry.object.holds().suspended,
        ..next.memory()
    };
    let found = Found {
        now: engine.clock.now(),
        frozen: join(found.frozen, frozen.as_ref().map(drifted)),
        outputs: sightings.iter().filter_map(Sighting::outputs).collect(),
        failed: next.is_terminal(policy),
        attempts,
        ..found
    };
    record_pass(engine, history, found, memory, Some((next, &reverts))).await
}

/// Returns what is remembered of each resource, and what the object owns beside what is leaving it.
fn remembered(
    request: &Request<'_>,
    attempts: &[Attempt],
    receipts: &Receipts,
    left: Vec<Owned>,
) -> (BTreeMap<String, ResourceMemory>, Vec<Owned>) {
    let mut resources = remember(request, attempts);
    note_handles(request, receipts, &mut resources);
    let mut own = owned(request, attempts);
    keep_handles(&mut own, &resources);
    (resources, left.into_iter().chain(own).collect())
}

/// What was reverted of an object that is not looked at still counts, and what is held of it still is.
pub(super) async fn record_without_look(
    engine: &Engine,
    history: History,
    found: Found,
) -> Result<Passed, StoreError> {
    let drift = engine.mass_drift().memory(&history.declared.key);
    let memory = Memory { drift, ..history.memory.clone() };
    record_pass(engine, history, found, memory, None).await
}

/// Returns what a living object leaves behind is judged by.
pub(super) fn basis<'a>(
    snapshot: &'a Snapshot,
    request: &'a Request<'_>,
    sightings: &'a [Sighting],
) -> Basis<'a> {
    Basis {
        key: request.key,
        snapshot,
        memory: request.memory,
        declared: sightings.iter().map(|sighting| sighting.id().clone()).collect(),
        identities: sightings.iter().filter_map(Sighting::identity).collect(),
        wholes: sightings.iter().filter_map(Sighting::parts).collect(),
        living: sightings,
        policy: request.policy.deletion,
        suspended: request.holds.is_suspended() || request.exhausted,
        gone: None,
        renewed: None,
        now: request.now,
    }
}

/// Sends the calls of a plan.
pub(super) async fn carry_out(
    engine: &Engine,
    snapshot: &Snapshot,
    plan: &Plan,
) -> (Vec<Attempt>, Receipts) {
    let gate = PassGate::new(engine, &plan.key, snapshot);
    let join = |step: &Step, calls: &[&Call]| kinds::find(&step.resource.kind)?.join(calls);
    let attempts = apply(plan, &*engine.cloud, &gate, &join).await;
    (attempts, gate.receipts())
}

/// Says what follows; an object that was given up stays so until it is settled.
pub(super) fn follow(
    engine: &Engine,
    (policy, pace): (&Policy, Pace),
    memory: &Memory,
    attempts: &[Attempt],
) -> Next {
    let (now, random) = (engine.clock.now(), engine.jitter.next());
    let mut next = next(attempts, policy, memory, pace, now, random);
    let was_given_up = memory.failures >= policy.max_retries;
    if was_given_up && !attempts.iter().all(|attempt| attempt.step.is_settled()) {
        next.failures = memory.failures;
    }
    next
}

/// Writes what the pass found; the pass has happened when this is on the disk.
pub(super) async fn record_pass(
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
    let untold = ObjectStatus::default();
    let previous = history.told().unwrap_or(&untold);
    let status = build(previous, &found);
    let Declared { key, generation, digest, deletion } = history.declared.clone();
    let mut events = events(&key, found.now, previous, &status);
    events.extend(heed::events(&key, &history.asked, found.now));
    events.iter().for_each(log);
    let result = result(&found.attempts, &status);
    let answered = heed::answered(&history.asked, found.removed || found.undeclared, reverts);
    traces::ask(engine, &key, &status);
    let record = Record { key, generation, digest, deletion, status, memory };
    let is_news = !is_old_news(history.record.as_ref(), &record) || !answered.is_empty();
    match is_news {
        true => write(engine, &record, &events, &answered).await?,
        false => engine.looks.note(Look::of(&record)),
    }
    let (before, needs) = (history.into_told(), Needs::default());
    Ok(Passed { next, result, is_news, before, status: Some(record.status), needs })
}

/// The store takes a record: what is done from now on will be remembered.
async fn write(
    engine: &Engine,
    record: &Record,
    events: &[Event],
    answered: &[u64],
) -> Result<(), StoreError> {
    engine.looks.forget(&record.key);
    engine.store.put(record, events, answered, engine.token()?).await?;
    engine.is_amnesic.store(false, Ordering::Relaxed);
    Ok(())
}

/// Writes an event to the log; trouble is a warning.
fn log(event: &Event) {
    match event.reason.as_str() {
        "Declared" | "Created" | "Updated" | "Reverted" | "Converged" | "Blocked" | "Deferred"
        | "Valid" | "Resumed" | "Released" | "SnoozeEnded" | "Asked" | "DriftGone" | "Returned" => {
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
