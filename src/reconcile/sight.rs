//! Looks at what an object asks for: observe, bind, diff. It changes nothing.
//!
//! The read half of a pass; a plan that is only shown ends here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::Value;

use super::compare::{Terms, compare};
use super::usage::uses;
use crate::kinds;
use crate::model::desired::{Field, Unresolved};
use crate::model::singly::Singly;
use crate::model::status::Memory;
use crate::model::{
    Bound, Change, Compare, Diff, Doubt, Kind, Observation, Observed, Policy, Readiness, Resource,
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

    /// Returns what it is in AWS whatever it is called, of a resource that has several names.
    pub fn identity(&self) -> Option<String> {
        let State::Present(present) = &self.state else { return None };
        self.kind.identity(&present.actual)
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
    for mut resource in resources {
        let Some(kind) = kinds::find(&resource.id.kind) else { continue };
        references.extend(resource.references().into_iter().cloned());
        if let Some(single) = kind.singly() {
            seen.seek(observer, single, &resource, known.memory).await;
        }
        let is_open = !kind.only_reads(&resource) && !(known.is_settled)(&resource);
        let mut state = state(observer, kind, &resource, &seen, (policy, is_open)).await;
        if let (Some(within), State::Absent(bound)) = (kind.within(), &mut state) {
            match observer.surroundings(kind, within, &resource.id).await {
                Ok(around) => resource.refusals.extend(within.prepare(bound, &around)),
                Err(doubt) => state = State::Unknown(doubt),
            }
        }
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
    let ignore = resource.ignored(&policy.ignore);
    let terms = Terms { ignore: &ignore, is_open, interval: policy.resync_interval() };
    let needed = Needed { bound, unresolved, terms };
    match seen.observations.get(&resource.id) {
        Some(Observation::Present(_)) if !kind.is_whole_in_lists(&needed.bound) => {
            let named = observer.observe_by_name(kind, &resource.id).await;
            stand(observer, kind, &needed, &named).await
        }
        Some(listed) => {
            let state = stand(observer, kind, &needed, listed).await;
            if !kind.do_lists_lag() || !is_doubtful(kind, &state) {
                return state;
            }
            let named = observer.observe_by_name(kind, &resource.id).await;
            stand(observer, kind, &needed, &named).await
        }
        None => State::Unknown(Doubt::Failed("it was not looked at".to_owned())),
    }
}

/// Holds what a resource is compared with.
struct Needed<'a> {
    bound: Bound,
    unresolved: BTreeMap<Field, Unresolved>,
    terms: Terms<'a>,
}

/// Tells whether a list that lags shows a resource otherwise than it should be.
fn is_doubtful(kind: &dyn Kind, state: &State) -> bool {
    let State::Present(present) = state else { return false };
    let is_unsettled = || {
        let readiness = kind.readiness(&present.actual);
        matches!(readiness, Readiness::Waiting { .. } | Readiness::Broken { .. })
    };
    !present.diff.is_settled() || !present.bound.is_owned(&present.actual) || is_unsettled()
}

/// Says how a resource stands by what was observed of it.
async fn stand(
    observer: &Observer,
    kind: &'static dyn Kind,
    needed: &Needed<'_>,
    seen: &Observation,
) -> State {
    let Needed { bound, unresolved, terms } = needed;
    match seen {
        Observation::Present(actual) => {
            match compare(observer, kind, bound.clone(), actual.clone(), *terms).await {
                Ok(present) => {
                    let unresolved = compared(kind, unresolved);
                    State::Present(Box::new(Present { unresolved, ..present }))
                }
                Err(doubt) => State::Unknown(doubt),
            }
        }
        Observation::Absent => {
            let mut needed = unresolved.iter().filter(|(field, _)| !is_later(kind, field));
            match needed.next() {
                Some((_, why)) => State::Unbound(why.clone()),
                None => absent(observer, kind, bound.clone()).await,
            }
        }
        Observation::Unknown(doubt) => State::Unknown(doubt.clone()),
    }
}

/// Returns the unknown values that a resource that exists is compared with: what was needed at its
/// creation alone is waited for no longer.
fn compared(
    kind: &dyn Kind,
    unresolved: &BTreeMap<Field, Unresolved>,
) -> BTreeMap<Field, Unresolved> {
    let is_compared = |field: &str| {
        let rule = kind.rules().iter().find(|rule| rule.field == field);
        rule.is_none_or(|rule| rule.compare != Compare::WriteOnly)
    };
    let compared = unresolved.iter().filter(|(field, _)| is_compared(field));
    compared.map(|(field, why)| (field.clone(), why.clone())).collect()
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
