//! The read half of a pass, for somebody who only looks.
//!
//! In: an object as Git declares it, and what is remembered of it. Out: its plan, with what it rests
//! on. Nothing is written, to AWS or to the store.

use std::collections::BTreeMap;

use super::engine::Engine;
use super::history::{History, declared};
use super::leaving;
use super::neighbours::resources;
use super::pass::basis;
use super::sight::{Known, Sighting, look};
use super::traces;
use crate::desired::{Entry, Snapshot};
use crate::model::{Plan, Resource};
use crate::plan::three_way::Windows;
use crate::plan::{Frozen, Request, plan};
use crate::status::Record;

/// Holds a plan and what it rests on.
#[derive(Debug, Clone)]
pub struct Preview {
    /// The plan.
    pub plan: Plan,
    /// What the object declares.
    pub resources: Vec<Resource>,
    /// The maintenance windows of what was seen.
    pub windows: Windows,
}

/// Plans one object.
///
/// # Errors
///
/// A sentence when the object has no place in AWS; a
/// [`StoreError`](crate::status::StoreError)'s text when the store cannot be read.
pub async fn preview(
    engine: &Engine,
    entry: &Entry,
    record: Option<Record>,
) -> Result<Plan, String> {
    let snapshot = engine.desired.snapshot();
    Ok(preview_in(engine, &snapshot, entry, record).await?.plan)
}

/// Does what [`preview`] does, for another state of Git.
///
/// # Errors
///
/// Those of [`preview`].
pub(super) async fn preview_in(
    engine: &Engine,
    snapshot: &Snapshot,
    entry: &Entry,
    record: Option<Record>,
) -> Result<Preview, String> {
    let place = engine.place(&entry.object)?;
    let resources = resources(engine, snapshot, &entry.object, &place);
    let policy = entry.object.policy();
    let key = &entry.object.key;
    let asked = engine.store.asked_of(key).await.map_err(|error| error.to_string())?;
    let history = History::of(declared(entry), record, asked);
    // Who looks does not have to settle whose a resource is: that would cost a read of each.
    let known = Known { is_settled: &|_| true, memory: &history.memory };
    let sightings = look(&engine.observer, resources.clone(), policy, &known).await.sightings;
    let frozen = Frozen::remembered(&history.memory.drift);
    let request = Request {
        key,
        revision: Some(&entry.revision),
        policy,
        holds: &entry.object.holds().and(&history.asked),
        exhausted: false,
        frozen: frozen.as_ref(),
        memory: &history.memory,
        intents: BTreeMap::new(),
        tokens: None,
        now: engine.clock.now(),
        subjects: sightings.iter().map(Sighting::subject).collect(),
    };
    let basis = basis(snapshot, &request, &sightings);
    let partings = leaving::look(engine, &basis).await.map_err(|error| error.to_string())?;
    let mut plan = plan(&request);
    plan.steps.extend(leaving::plan(engine, &basis, &partings));
    plan.traced = traces::of_plan(&plan, history.told());
    Ok(Preview { plan, resources, windows: windows(&sightings) })
}

fn windows(sightings: &[Sighting]) -> Windows {
    let window = |seen: &Sighting| Some((seen.id().clone(), seen.window()?));
    sightings.iter().filter_map(window).collect()
}
