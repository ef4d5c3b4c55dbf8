//! Reads resources of which AWS has no list with the detail, one by one: the slow lane.
//!
//! In: what is declared and remembered of one resource. Out: an observation put together of the
//! resource, the request that AWS may still be carrying out, and the facts of its type. A resource
//! costs one read a pass, and one more while a request is under way; the facts are kept for a day.
//!
//! Invariants: only the error for "not found" is absence; a request in flight is presence, so that
//! nothing is made twice; a failed request holds back its repetition for a while; facts that may not
//! be read are said to be unknown, never guessed.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::{Observer, doubt, lock, target};
use crate::model::desired::ownership;
use crate::model::handle::{Handle, Ticket, digest};
use crate::model::singly::{Singly, Stage, member};
use crate::model::{Bound, Call, Cause, Doubt, ErrorClass, Observation, Observed, ResourceId};

/// How long the facts of a type are kept; AWS publishes new ones every few weeks.
const FACTS_LAST: SignedDuration = SignedDuration::from_hours(24);

/// How long it is believed that the facts may not be read.
const DENIAL_LASTS: SignedDuration = SignedDuration::from_hours(1);

/// How long a request that failed is not repeated, unless Git declares something else.
const FAILURE_HOLDS: SignedDuration = SignedDuration::from_mins(15);

/// The same where the reason may pass by itself.
const HITCH_HOLDS: SignedDuration = SignedDuration::from_mins(2);

/// How long a resource that was made may stay unseen.
const SETTLING: SignedDuration = SignedDuration::from_mins(2);

/// Says which resource is looked for.
pub struct Wanted<'a> {
    /// The resource.
    pub id: &'a ResourceId,
    /// What Git declares of it; `None` when Git declares it no longer.
    pub declared: Option<&'a Bound>,
    /// What is remembered of it.
    pub handle: &'a Handle,
    /// The value of the ownership tag.
    pub owner: &'a str,
}

impl Observer {
    /// Reads one resource.
    pub async fn observe_singly(&self, kind: &dyn Singly, wanted: &Wanted<'_>) -> Observation {
        match self.seek(kind, wanted).await {
            Ok(Some(members)) => Observation::Present(Arc::new(members)),
            Ok(None) => Observation::Absent,
            Err(doubt) => Observation::Unknown(doubt),
        }
    }

    async fn seek(
        &self,
        kind: &dyn Singly,
        wanted: &Wanted<'_>,
    ) -> Result<Option<Observed>, Doubt> {
        let facts = self.facts(kind, wanted.id).await?;
        if facts.get(member::MISSING).is_some() {
            let members = Map::from_iter([(member::TYPE.to_owned(), facts)]);
            return Ok(Some(Observed { members, tags: None, at: self.clock.now() }));
        }
        let request = self.request(kind, wanted).await?;
        let text = |value: &Value, name: &str| value.get(name)?.as_str().map(str::to_owned);
        let named = request.as_ref().and_then(|request| text(request, member::IDENTIFIER));
        let declared = || kind.identifier(wanted.declared?, &facts);
        let identifier = wanted.handle.identifier.clone().or(named).or_else(declared);
        let found = match &identifier {
            Some(identifier) => self.read(kind, wanted.id, identifier).await?,
            None => None,
        };
        let is_made = |request| kind.stage(request) == (Stage::Done, true);
        let made = request.as_ref().is_some_and(is_made);
        let now = self.clock.now();
        let ticket = wanted.handle.ticket.as_ref();
        let request = request.zip(ticket).filter(|(request, ticket)| {
            concerns(kind, request, ticket, (wanted.declared, &facts), now, found.is_some())
        });
        if found.is_none() && request.is_none() {
            return Ok(None);
        }
        let mut members = Map::new();
        let mut tags = None;
        if let Some((identifier, properties)) = found {
            let carried = kind.tags(&properties, &facts);
            let is_made = wanted.handle.identifier.is_some() || made;
            tags = Some(carried.unwrap_or_else(|| on_record(wanted, is_made)));
            members.insert(member::IDENTIFIER.to_owned(), identifier.into());
            members.insert(member::PROPERTIES.to_owned(), properties.into());
        }
        members.extend(request.map(|(request, _)| (member::REQUEST.to_owned(), request)));
        members.insert(member::TYPE.to_owned(), facts);
        Ok(Some(Observed { members, tags, at: now }))
    }

    /// Returns what is known of a resource's type.
    ///
    /// # Errors
    ///
    /// The doubt when nothing can be said now.
    pub async fn facts(&self, kind: &dyn Singly, id: &ResourceId) -> Result<Value, Doubt> {
        let call = kind.read_type(id);
        let key = (id.scope.clone(), Value::Object(call.params.clone()).to_string());
        let now = self.clock.now();
        if let Some((until, facts)) = lock(&self.types).get(&key)
            && now < *until
        {
            return Ok(facts.clone());
        }
        let (facts, lasts) = match self.cloud.call(&target(id, Cause::Detail), &call).await {
            Ok(answer) => match kind.facts(&answer) {
                Some(facts) => (facts, FACTS_LAST),
                None => (kind.without_facts("its schema cannot be read", true), DENIAL_LASTS),
            },
            Err(error) => match error.class {
                ErrorClass::NotFound => (kind.without_facts(&error.message, false), DENIAL_LASTS),
                ErrorClass::Denied | ErrorClass::Invalid => {
                    (kind.without_facts(&error.to_string(), true), DENIAL_LASTS)
                }
                _ => return Err(doubt(error)),
            },
        };
        let until = now.checked_add(lasts).unwrap_or(Timestamp::MAX);
        lock(&self.types).insert(key, (until, facts.clone()));
        Ok(facts)
    }

    /// Reads the request that was sent last; AWS forgets requests after a week.
    async fn request(
        &self,
        kind: &dyn Singly,
        wanted: &Wanted<'_>,
    ) -> Result<Option<Value>, Doubt> {
        let Some(ticket) = &wanted.handle.ticket else { return Ok(None) };
        let call = kind.read_request(&ticket.request);
        let Some(answer) = self.ask(wanted.id, &call).await? else { return Ok(None) };
        match kind.request(&answer) {
            Some(request) => Ok(Some(request)),
            None => Err(Doubt::Failed(format!("{call} answered no request"))),
        }
    }

    async fn read(
        &self,
        kind: &dyn Singly,
        id: &ResourceId,
        identifier: &str,
    ) -> Result<Option<(String, Map<String, Value>)>, Doubt> {
        let call = kind.read(id, identifier);
        let Some(answer) = self.ask(id, &call).await? else { return Ok(None) };
        match kind.resource(&answer) {
            Some(resource) => Ok(Some(resource)),
            None => Err(Doubt::Failed(format!("{call} answered no properties"))),
        }
    }

    /// Makes one read; `None` when AWS knows nothing of the name.
    async fn ask(&self, id: &ResourceId, call: &Call) -> Result<Option<Value>, Doubt> {
        match self.cloud.call(&target(id, Cause::Confirm), call).await {
            Ok(answer) => Ok(Some(answer)),
            Err(error) if error.class == ErrorClass::NotFound => Ok(None),
            Err(error) => Err(doubt(error)),
        }
    }
}

/// A resource whose type carries no tags is ours when we made it, or when Git says so.
fn on_record(wanted: &Wanted<'_>, is_made: bool) -> std::collections::BTreeMap<String, String> {
    let adopts = wanted.declared.is_some_and(|declared| declared.adopt);
    if !is_made && !adopts {
        return std::collections::BTreeMap::new();
    }
    let text = |value: Value| value.as_str().map(str::to_owned);
    ownership(wanted.owner).into_iter().filter_map(|(key, it)| Some((key, text(it)?))).collect()
}

/// Tells whether a request still says something of the resource.
fn concerns(
    kind: &dyn Singly,
    request: &Value,
    ticket: &Ticket,
    (declared, facts): (Option<&Bound>, &Value),
    now: Timestamp,
    is_there: bool,
) -> bool {
    let age = now.duration_since(ticket.at);
    let (stage, is_create) = kind.stage(request);
    let is_same = declared.is_none_or(|declared| {
        let mut declared = declared.clone();
        kind.prepare(&mut declared, facts);
        digest(&declared.fields) == ticket.declared
    });
    let is_over = is_create && is_there;
    match stage {
        Stage::InFlight => true,
        Stage::Done => is_create && !is_there && age < SETTLING,
        Stage::FailedForNow => !is_over && is_same && age < HITCH_HOLDS,
        Stage::Failed => !is_over && is_same && age < FAILURE_HOLDS,
    }
}
