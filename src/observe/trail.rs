//! Who made the drift that passes found: CloudTrail is asked beside the passes, and seldom.
//!
//! In: a [`Question`] for each drifted resource. Out: [`Traced`], for a later pass to tell.
//!
//! CloudTrail takes 2 lookups a second in an account and region, and shows an event up to 15 minutes late.
//! So a question is asked when the drift is seen, and again at later passes of the object, at most
//! [`MOST`] times and [`APART`] apart; passes never wait for the answer, and nothing wakes an object
//! for it. Whoever may not ask is not asked for an hour: who did it is then unknown, and no error.
//!
//! Invariants: one lookup at a time; one question for a resource and its drift; nothing of an event is
//! kept but a [`Changed`]; what is not answered is lost with the process, as it would be with time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::model::status::Traced;
use crate::model::trail::{Changed, Clue, Trace};
use crate::model::{
    Call, Cause, Clock, Cloud, ErrorClass, Key, KindName, ResourceId, Scope, Target,
};

/// How often a question is asked: over 20 minutes, if passes come every five.
const MOST: u32 = 5;
/// The time between two of them.
const APART: SignedDuration = SignedDuration::from_mins(5);
/// How long nobody is asked who refused.
const BLIND: SignedDuration = SignedDuration::from_hours(1);
/// More questions are not kept: of what drifts beyond them nobody learns who it was.
const MOST_OPEN: usize = 1_000;
/// The most events of one answer (LookupEvents, `MaxResults`).
const PAGE: u32 = 50;

/// Asks who made the drift of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The object.
    pub key: Key,
    /// The resource.
    pub resource: ResourceId,
    /// The name under which CloudTrail has it.
    pub name: String,
    /// When the drift was first seen.
    pub seen: Timestamp,
    /// What an event has to name to be of the resource, where the name is that of what it is in.
    pub part: Option<String>,
    /// The fields, with what their events are known by.
    pub fields: BTreeMap<String, Clue>,
    /// The names in the API of everything that is known of the kind.
    pub known: Vec<String>,
}

impl Question {
    fn id(&self) -> Id {
        (self.key.clone(), self.resource.clone(), self.seen)
    }
}

type Id = (Key, ResourceId, Timestamp);

#[derive(Debug)]
struct Open {
    question: Question,
    asked: u32,
    /// Not before this time is it asked again.
    next: Timestamp,
}

#[derive(Debug, Default)]
struct State {
    open: BTreeMap<Id, Open>,
    /// In the order in which they are asked.
    due: VecDeque<Id>,
    /// What is asked no more, the latest last.
    given_up: VecDeque<Id>,
    answers: BTreeMap<Key, Vec<Traced>>,
    /// Until when a scope and kind is not asked, because it refused.
    blind: BTreeMap<(Scope, KindName), Timestamp>,
    /// Who the agent is.
    own: BTreeMap<(Scope, KindName), String>,
}

/// Keeps the questions; [`Trail::run`] is the task that asks them.
pub struct Trail {
    cloud: Arc<dyn Cloud>,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    news: Notify,
}

impl Trail {
    /// Makes one without questions.
    pub fn new(cloud: Arc<dyn Cloud>, clock: Arc<dyn Clock>) -> Self {
        Self { cloud, clock, state: Mutex::default(), news: Notify::new() }
    }

    /// Hears that a pass of an object is made; returns who is known by now to have changed it.
    pub fn passed(&self, key: &Key) -> Vec<Traced> {
        let now = self.clock.now();
        let mut state = self.lock();
        let due: Vec<Id> =
            state.of(key).filter(|(_, open)| open.next <= now).map(|(id, _)| id.clone()).collect();
        for id in due {
            state.arm(&id);
        }
        let answers = state.answers.remove(key).unwrap_or_default();
        drop(state);
        self.news.notify_one();
        answers
    }

    /// Tells whether a pass of an object has something to tell, or a question to ask again.
    pub fn is_due(&self, key: &Key) -> bool {
        let now = self.clock.now();
        let state = self.lock();
        state.answers.contains_key(key) || state.of(key).any(|(_, open)| open.next <= now)
    }

    /// Takes the questions of a pass; those that are known already are not asked anew.
    pub fn ask(&self, questions: Vec<Question>) {
        if questions.is_empty() {
            return;
        }
        let now = self.clock.now();
        let mut state = self.lock();
        for question in questions {
            let id = question.id();
            let is_known = state.open.contains_key(&id) || state.given_up.contains(&id);
            if is_known || state.open.len() >= MOST_OPEN {
                continue;
            }
            state.open.insert(id.clone(), Open { question, asked: 0, next: now });
            state.arm(&id);
        }
        drop(state);
        self.news.notify_one();
    }

    /// Asks until `stop` is set.
    pub async fn run(self: Arc<Self>, stop: CancellationToken) {
        let asking = async {
            loop {
                while let Some(question) = self.next() {
                    self.look(&question).await;
                }
                self.news.notified().await;
            }
        };
        let _ = stop.run_until_cancelled(asking).await;
    }

    /// Takes the question that is due first.
    fn next(&self) -> Option<Question> {
        let now = self.clock.now();
        let mut state = self.lock();
        loop {
            let id = state.due.pop_front()?;
            let place = (id.1.scope.clone(), id.1.kind.clone());
            let blind = state.blind.get(&place).copied().filter(|until| *until > now);
            let Some(open) = state.open.get_mut(&id) else { continue };
            if let Some(until) = blind {
                open.next = until;
                continue;
            }
            open.asked += 1;
            open.next = now + APART;
            let (question, is_last) = (open.question.clone(), open.asked >= MOST);
            if is_last {
                state.give_up(id);
            }
            return Some(question);
        }
    }

    async fn look(&self, question: &Question) {
        let (scope, kind) = (question.resource.scope.clone(), question.resource.kind.clone());
        let target = Target { scope: scope.clone(), kind: kind.clone(), cause: Cause::Trace };
        let found = match self.own(&target).await {
            Ok(own) => self.events(&target, question).await.map(|events| (own, events)),
            Err(class) => Err(class),
        };
        match found {
            Ok((own, events)) => {
                let answers = judge(question, &own, &events);
                self.lock().answer(question, answers);
            }
            Err(ErrorClass::Denied) => {
                let until = self.clock.now() + BLIND;
                if self.lock().blind.insert((scope.clone(), kind), until).is_none() {
                    tracing::info!(%scope, "who makes drift is unknown: CloudTrail may not be asked \
                                            (cloudtrail:LookupEvents)");
                }
            }
            // It is asked again at a later pass.
            Err(_) => {}
        }
    }

    async fn events(&self, target: &Target, question: &Question) -> Result<Vec<Value>, ErrorClass> {
        let attribute = json!([{"AttributeKey": "ResourceName", "AttributeValue": question.name}]);
        let end = question.seen.as_second() + 60;
        let call = Call::new("cloudtrail", "LookupEvents")
            .with("LookupAttributes", attribute)
            .with("EndTime", end)
            .with("MaxResults", PAGE);
        let answer = self.cloud.call(target, &call).await.map_err(|error| {
            tracing::debug!(%error, "CloudTrail did not say who made drift");
            error.class
        })?;
        Ok(answer.get("Events").and_then(Value::as_array).cloned().unwrap_or_default())
    }

    /// Returns who the agent is, so that it does not blame itself.
    async fn own(&self, target: &Target) -> Result<String, ErrorClass> {
        let place = (target.scope.clone(), target.kind.clone());
        if let Some(own) = self.lock().own.get(&place) {
            return Ok(own.clone());
        }
        let call = Call::new("sts", "GetCallerIdentity");
        let answer = self.cloud.call(target, &call).await.map_err(|error| error.class)?;
        let own = answer.get("Arn").and_then(Value::as_str).ok_or(ErrorClass::Transient)?;
        self.lock().own.insert(place, own.to_owned());
        Ok(own.to_owned())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing is left half done in it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn of(&self, key: &Key) -> impl Iterator<Item = (&Id, &Open)> {
        self.open.iter().filter(move |((of, ..), _)| of == key)
    }

    fn arm(&mut self, id: &Id) {
        if !self.due.contains(id) {
            self.due.push_back(id.clone());
        }
    }

    fn give_up(&mut self, id: Id) {
        self.open.remove(&id);
        self.given_up.push_back(id);
        if self.given_up.len() > MOST_OPEN {
            self.given_up.pop_front();
        }
    }

    /// Takes what was found; a question whose fields are all answered is done with.
    fn answer(&mut self, question: &Question, answers: Vec<Traced>) {
        if let Some(open) = self.open.get_mut(&question.id()) {
            // What is answered is told by the next pass, and asked by none.
            let known: BTreeSet<&str> = answers.iter().map(|it| it.field.as_str()).collect();
            open.question.fields.retain(|field, _| !known.contains(field.as_str()));
            if open.question.fields.is_empty() {
                self.open.remove(&question.id());
            }
        }
        if !answers.is_empty() {
            self.answers.entry(question.key.clone()).or_default().extend(answers);
        }
    }
}

fn judge(question: &Question, own: &str, events: &[Value]) -> Vec<Traced> {
    let blamed = |clue: &Clue| -> Option<Changed> {
        let (known, part) = (&question.known, question.part.as_deref());
        Trace { clue, part, known, seen: question.seen, own: Some(own) }.blame(events)
    };
    let traced = question.fields.iter().filter_map(|(field, clue)| {
        Some(Traced {
            resource: question.resource.clone(),
            field: field.clone(),
            seen: question.seen,
            changed: blamed(clue)?,
        })
    });
    traced.collect()
}

#[cfg(test)]
mod tests;
