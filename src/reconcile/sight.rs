//! Looks at what an object asks for: observe, bind, diff. It changes nothing.
//!
//! The read half of a pass; a plan that is only shown ends here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::future::join_all;
use jiff::SignedDuration;
use serde_json::Value;

use super::usage::uses;
use crate::diff::diff;
use crate::kinds;
use crate::model::singly::Singly;
use crate::model::status::Memory;
use crate::model::{
    Bound, Change, Diff, Doubt, Kind, Observation, Observed, Policy, Readiness, Resource,
    ResourceId, Rule, Window,
};
use crate::observe::Observer;
use crate::observe::singly::Wanted;
use crate::plan::bind::bind;
use crate::plan::{Present, State, Subject};

/// Holds one resource as it was seen.
pub struct Sighting {
    kind: &'static dyn Kind,
    resource: Resource,
    state: State,
}

impl Sighting {
    /// Returns what the planner needs of it.
    pub fn subject(&self) -> Subject<'_> {
        Subject { kind: self.kind, resource: &self.resource, state: &self.state }
    }

    /// Returns which resource it is.
    pub fn id(&self) -> &ResourceId {
        &self.resource.id
    }

    /// Tells whether the resource exists.
    pub fn is_present(&self) -> bool {
        matches!(self.state, State::Present(_))
    }

    /// Returns the names of its parts in the order of their turns, of a resource that has some.
    pub fn parts(&self) -> Option<(ResourceId, Vec<String>)> {
        let State::Present(present) = &self.state else { return None };
        let parts = self.kind.turns(&present.actual);
        (!parts.is_empty()).then(|| (self.resource.id.clone(), parts))
    }

    /// Tells whether it is seen to use another resource.
    pub fn uses(&self, used: &ResourceId, actual: &Observed) -> bool {
        let State::Present(present) = &self.state else { return false };
        uses(self.kind, &present.actual, used, actual)
    }

    /// Returns the maintenance window, of a resource that was read and has one.
    pub fn window(&self) -> Option<Window> {
        let State::Present(present) = &self.state else { return None };
        Window::weekly(self.kind.window(&present.bound, &present.actual)?)
    }

    /// Returns what others may refer to, of a resource that was read.
    pub fn outputs(&self) -> Option<(ResourceId, Arc<BTreeMap<String, Value>>)> {
        let State::Present(present) = &self.state else { return None };
        Some((self.resource.id.clone(), Arc::new(self.kind.outputs(&present.actual))))
    }
}

/// Holds what a look saw.
pub struct Sight {
    /// Every resource of the object.
    pub sightings: Vec<Sighting>,
    /// What others may rely on, and what is missing.
    pub needs: Needs,
    /// What AWS answered; `None` unless the lists alone told it, and all of it is settled.
    pub read: Option<Vec<(ResourceId, Arc<Observed>)>>,
}

/// Says what a look found settled, and what it missed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    /// The resources that others may rely on now.
    pub settled: BTreeSet<ResourceId>,
    /// The resources that are referred to and may not be relied on yet.
    pub missed: BTreeSet<ResourceId>,
}

/// Says what is known of an object's resources from before.
pub struct Known<'a> {
    /// Tells whether it is settled whose a resource is.
    pub is_settled: &'a (dyn Fn(&Resource) -> bool + Sync),
    /// What is remembered.
    pub memory: &'a Memory,
}

/// Looks at every resource of an object: reads them all at once, and compares them in the order of
/// their dependencies.
///
/// The tags of a resource are read once, to settle whose it is.
pub async fn look(
    observer: &Observer,
    resources: Vec<Resource>,
    policy: &Policy,
    known: &Known<'_>,
) -> Sight {
    let mut seen = Seen::of(observer, &resources).await;
    let mut references = BTreeSet::new();
    let mut sightings = Vec::with_capacity(resources.len());
    for resource in resources {
        let Some(kind) = kinds::find(&resource.id.kind) else { continue };
        references.extend(resource.references().into_iter().cloned());
        if let Some(single) = kind.singly() {
            seen.seek(observer, single, &resource, known.memory).await;
        }
        let is_open = !kind.rules().is_empty() && !(known.is_settled)(&resource);
        let state = state(observer, kind, &resource, &seen, (policy, is_open)).await;
        if !is_fit(kind, &state) {
            seen.unfit.insert(resource.id.clone());
        }
        sightings.push(Sighting { kind, resource, state });
    }
    let needs = seen.needs(references);
    let is_listed = sightings.iter().all(|sighting| seen.is_listed(sighting));
    let read = if is_listed { seen.read() } else { None };
    Sight { sightings, needs, read }
}

/// Tells whether others may use a resource: what exists under its name is known to be it, and is
/// as declared or ours. What is refused of one that is ours does not take away what it has.
fn is_fit(kind: &dyn Kind, state: &State) -> bool {
    let State::Present(present) = state else { return false };
    let Diff { deltas, refusals, .. } = &present.diff;
    present.unresolved.keys().all(|field| is_later(kind, field))
        && !refusals.iter().any(|refusal| is_identity(kind, &refusal.field))
        && ((deltas.is_empty() && refusals.is_empty()) || present.bound.is_owned(&present.actual))
}

/// Tells whether a resource that differs in a field is another one than the object means.
fn is_identity(kind: &dyn Kind, field: &str) -> bool {
    let is_fixed = |rule: &&Rule| rule.always && matches!(rule.change, Change::Immutable(_));
    kind.rules().iter().filter(is_fixed).any(|rule| rule.field == field)
}

/// Tells whether a field is set after the creation of its resource.
fn is_later(kind: &dyn Kind, field: &str) -> bool {
    kind.rules().iter().any(|rule| rule.field == field && rule.later)
}

/// Holds what has been observed in this pass.
#[derive(Default)]
struct Seen {
    observations: BTreeMap<ResourceId, Observation>,
    /// Resources that exist and are not what the object means: somebody else's, or elsewhere.
    unfit: BTreeSet<ResourceId>,
}

impl Seen {
    /// Observes resources and what they refer to.
    async fn of(observer: &Observer, resources: &[Resource]) -> Self {
        let mut ids = BTreeSet::new();
        for resource in resources {
            ids.extend(resource.references());
            ids.insert(&resource.id);
        }
        let mut observing = Vec::with_capacity(ids.len());
        for id in ids {
            // What no list holds is looked for later, when what it is made of is known.
            let kind = kinds::find(&id.kind).filter(|kind| kind.singly().is_none());
            observing.extend(kind.map(|kind| observe(observer, kind, id)));
        }
        let observations = join_all(observing).await.into_iter().collect();
        Self { observations, ..Self::default() }
    }

    /// Looks at a resource that no list holds.
    async fn seek(
        &mut self,
        observer: &Observer,
        kind: &dyn Singly,
        resource: &Resource,
        memory: &Memory,
    ) {
        let (bound, _) = bind(resource, |id| self.settled(id).map(|observed| &**observed));
        let known = memory.resources.get(&resource.id.to_string());
        let handle = known.map(|known| known.handle.clone()).unwrap_or_default();
        let (id, owner) = (&resource.id, resource.owner.as_str());
        let wanted = Wanted { id, declared: Some(&bound), handle: &handle, owner };
        let observation = observer.observe_singly(kind, &wanted).await;
        self.observations.insert(resource.id.clone(), observation);
    }

    fn needs(&self, references: BTreeSet<ResourceId>) -> Needs {
        let is_settled = |id: &&ResourceId| self.settled(id).is_some();
        Needs {
            settled: self.observations.keys().filter(is_settled).cloned().collect(),
            missed: references.into_iter().filter(|id| !is_settled(&id)).collect(),
        }
    }

    /// Tells whether nothing was read of a resource beyond the lists.
    fn is_listed(&self, sighting: &Sighting) -> bool {
        let State::Present(present) = &sighting.state else { return false };
        if sighting.kind.singly().is_some() {
            return false;
        }
        match self.observations.get(sighting.id()) {
            Some(Observation::Present(listed)) => Arc::ptr_eq(listed, &present.actual),
            _ => false,
        }
    }

    /// Returns everything that was read, if all of it is settled.
    fn read(&self) -> Option<Vec<(ResourceId, Arc<Observed>)>> {
        self.observations.keys().map(|id| Some((id.clone(), self.settled(id)?.clone()))).collect()
    }

    /// Returns a resource whose outputs may be relied on: it exists and is settled.
    fn settled(&self, id: &ResourceId) -> Option<&Arc<Observed>> {
        let Some(Observation::Present(observed)) = self.observations.get(id) else {
            return None;
        };
        let readiness = kinds::find(&id.kind)?.readiness(observed);
        let is_settled = matches!(readiness, Readiness::Ready | Readiness::Limited { .. });
        (is_settled && !self.unfit.contains(id)).then_some(observed)
    }
}

async fn observe(
    observer: &Observer,
    kind: &'static dyn Kind,
    id: &ResourceId,
) -> (ResourceId, Observation) {
    (id.clone(), observer.observe(kind, id).await)
}

async fn state(
    observer: &Observer,
    kind: &'static dyn Kind,
    resource: &Resource,
    seen: &Seen,
    (policy, is_open): (&Policy, bool),
) -> State {
    let (bound, unresolved) = bind(resource, |id| seen.settled(id).map(|observed| &**observed));
    match seen.observations.get(&resource.id) {
        Some(Observation::Present(actual)) => {
            let ignore = resource.ignored(&policy.ignore);
            let interval = policy.resync_interval();
            let terms = Terms { ignore: &ignore, is_open, interval };
            match compare(observer, kind, bound, actual.clone(), terms).await {
                Ok(present) => State::Present(Box::new(Present { unresolved, ..present })),
                Err(doubt) => State::Unknown(doubt),
            }
        }
        Some(Observation::Absent) => {
            let mut needed = unresolved.into_iter().filter(|(field, _)| !is_later(kind, field));
            match needed.next() {
                Some((_, why)) => State::Unbound(why),
                None => absent(observer, kind, bound).await,
            }
        }
        Some(Observation::Unknown(doubt)) => State::Unknown(doubt.clone()),
        None => State::Unknown(Doubt::Failed("it was not looked at".to_owned())),
    }
}

/// Adds to a resource that is to be made what the facts of its type tell.
async fn absent(observer: &Observer, kind: &'static dyn Kind, mut bound: Bound) -> State {
    let Some(single) = kind.singly() else { return State::Absent(bound) };
    match observer.facts(single, &bound.id).await {
        Ok(facts) => single.prepare(&mut bound, &facts),
        Err(doubt) => return State::Unknown(doubt),
    }
    State::Absent(bound)
}

/// How a resource is compared.
#[derive(Clone, Copy)]
struct Terms<'a> {
    /// The fields of AWS that are left out.
    ignore: &'a [String],
    /// True while it is not settled whose the resource is.
    is_open: bool,
    /// How often it is looked at.
    interval: SignedDuration,
}

/// Compares a resource that exists in what is known of the values it should have; with what was read of
/// it some looks ago, where that shows no difference.
async fn compare(
    observer: &Observer,
    kind: &'static dyn Kind,
    bound: Bound,
    listed: Arc<Observed>,
    terms: Terms<'_>,
) -> Result<Present, Doubt> {
    let readiness = kind.readiness(&listed);
    if matches!(readiness, Readiness::Waiting { .. } | Readiness::Broken { .. }) {
        let (diff, unresolved) = (Diff::default(), BTreeMap::new());
        return Ok(Present { bound, actual: listed, readiness, diff, unresolved });
    }
    if let Some(shared) = observer.shared(kind, &bound, &listed, terms.interval)
        && !terms.is_open
    {
        let present = examine(kind, bound.clone(), shared, terms.ignore);
        if present.diff.is_settled() {
            return Ok(present);
        }
    }
    let present = read(observer, kind, bound, listed.clone(), terms).await?;
    if present.diff.is_settled() && !Arc::ptr_eq(&listed, &present.actual) {
        observer.share(kind, &present.bound.id, &listed, &present.actual);
    }
    Ok(present)
}

/// Compares a resource in everything that AWS has to be asked for.
async fn read(
    observer: &Observer,
    kind: &'static dyn Kind,
    bound: Bound,
    listed: Arc<Observed>,
    terms: Terms<'_>,
) -> Result<Present, Doubt> {
    let mut actual = observer.details(kind, &bound, listed).await?;
    if bound.declared("tags").is_some() {
        actual = observer.tags(kind, &bound.id, actual).await?;
    }
    let mut present = examine(kind, bound, actual, terms.ignore);
    let is_level = present.diff.deltas.is_empty() && present.diff.refusals.is_empty();
    if terms.is_open || !is_level {
        let id = &present.bound.id;
        present.actual = observer.tags(kind, id, present.actual).await?;
    }
    Ok(present)
}

/// Compares a resource with what was read of it; what was read more may say more of its state.
fn examine(
    kind: &'static dyn Kind,
    bound: Bound,
    actual: Arc<Observed>,
    ignore: &[String],
) -> Present {
    let readiness = kind.readiness(&actual);
    let diff = diff(kind.rules(), &bound, &actual, &readiness, ignore);
    Present { bound, actual, readiness, diff, unresolved: BTreeMap::new() }
}
