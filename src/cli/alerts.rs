//! What a person should know of the objects, told to whoever the settings name.
//!
//! In: how passes ended. Out: for each object that has something to tell, what each [`Sink`] is to have,
//! in the outbox, from where couriers carry it.
//!
//! Invariants: nothing is wanted that says the same; of an object something is wanted once a minute at
//! most, with all that was reverted meanwhile; a worker is never waited for and never waits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::Notify;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::forge::issue;
use crate::model::alert::{Alert, News};
use crate::model::listener::Listener;
use crate::model::outbox::{Outbox, OutboxError, Topic, Wanted};
use crate::model::webhook::Host;
use crate::model::{Clock, Fence, Key, ObjectStatus};
use crate::report::alert::{page, title};
use crate::report::markdown::markdown;
use crate::status::Record;

/// Between two looks at what is new.
const LOOK: Duration = Duration::from_secs(1);

/// Of one object nothing more is wanted for so long.
const APART: SignedDuration = SignedDuration::from_mins(1);

/// What was reverted so long before the start is no news to whoever has been told nothing yet.
const OLD: SignedDuration = SignedDuration::from_mins(5);

/// A pass may be heard of so long after its end.
const SETTLING: SignedDuration = SignedDuration::from_secs(10);

/// The longest that one write to the outbox may take; the right to write has to last that long.
const STORE_LIMIT: Duration = Duration::from_secs(10);

/// Remembers what stands about each object, by the passes of it.
#[derive(Default)]
pub struct Alerts {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    alerts: BTreeMap<Key, Alert>,
    /// The objects of which something may have to be told.
    changed: BTreeSet<Key>,
}

impl Alerts {
    /// Takes over what was told, and how the store remembers the objects.
    ///
    /// # Errors
    ///
    /// When the outbox cannot be read.
    pub async fn restore(
        &self,
        outbox: &dyn Outbox,
        records: &[Record],
    ) -> Result<(), OutboxError> {
        for post in outbox.posts().await? {
            let Some(object) = about(&post.wanted.topic) else { continue };
            let mut known = self.known();
            known.changed.insert(object.clone());
            if let (Topic::Hook { .. }, Some(alert)) =
                (&post.wanted.topic, Alert::from_text(&post.wanted.content))
            {
                known.alerts.insert(object.clone(), alert);
            }
        }
        records.iter().for_each(|record| self.passed(&record.key, Some(&record.status)));
        let mut known = self.known();
        known.alerts.retain(|key, _| records.iter().any(|record| record.key == *key));
        let all = known.alerts.keys().cloned().collect::<Vec<_>>();
        known.changed.extend(all);
        Ok(())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // Nothing is left half done in it.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener for Alerts {
    fn passed(&self, key: &Key, status: Option<&ObjectStatus>) {
        let mut known = self.known();
        let nothing = Alert::default();
        let before = known.alerts.get(key).unwrap_or(&nothing);
        let now = status.map(|status| Alert::of(before, status)).unwrap_or_default();
        if now == *before {
            return;
        }
        match now == nothing {
            true => known.alerts.remove(key),
            false => known.alerts.insert(key.clone(), now),
        };
        known.changed.insert(key.clone());
    }
}

/// Holds what alerts are told through.
pub struct Ports {
    /// What is found.
    pub alerts: Arc<Alerts>,
    /// What is wanted.
    pub outbox: Arc<dyn Outbox>,
    /// The right to write.
    pub fence: Arc<dyn Fence>,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// Wakes the couriers.
    pub news: Vec<Arc<Notify>>,
}

/// Names whom alerts are told.
#[derive(Debug, Clone)]
pub enum Sink {
    /// The hook of this name.
    Hook(String),
    /// An issue at a host, as long as something stands that does not end by itself.
    Issue(Host),
}

/// Wants alerts; [`Telling::run`] is its task.
pub struct Telling {
    ports: Ports,
    agent: String,
    sinks: Vec<Sink>,
    /// What was wanted last of each topic, and when.
    wanted: BTreeMap<Topic, (String, Timestamp)>,
    started: Timestamp,
}

impl Telling {
    /// Makes the task of an agent that tells these.
    pub fn new(ports: Ports, agent: String, sinks: Vec<Sink>) -> Self {
        let started = ports.clock.now();
        Self { ports, agent, sinks, wanted: BTreeMap::new(), started }
    }

    /// Tells until `stop` is set.
    pub async fn run(mut self, stop: CancellationToken) {
        let _ = stop.run_until_cancelled_owned(self.tell()).await;
    }

    async fn tell(&mut self) {
        let mut looks = tokio::time::interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_read = false;
        loop {
            looks.tick().await;
            let done = match is_read {
                true => self.want().await,
                false => self.read().await,
            };
            match done {
                Ok(()) => is_read = true,
                Err(error) => tracing::warn!(%error, "what is found of objects waits"),
            }
        }
    }

    /// Reads what was wanted before the start.
    async fn read(&mut self) -> Result<(), OutboxError> {
        for post in self.ports.outbox.posts().await? {
            if about(&post.wanted.topic).is_some() {
                self.wanted.insert(post.wanted.topic, (post.wanted.content, post.wanted.at));
            }
        }
        Ok(())
    }

    async fn want(&mut self) -> Result<(), OutboxError> {
        let now = self.ports.clock.now();
        let changed = std::mem::take(&mut self.ports.alerts.known().changed);
        let (wanted, later) = self.due(changed, now);
        let written = self.write(&wanted).await;
        let mut known = self.ports.alerts.known();
        known.changed.extend(later);
        if let Err(error) = written {
            known.changed.extend(wanted.into_iter().filter_map(|it| about(&it.topic).cloned()));
            return Err(error);
        }
        drop(known);
        for wanted in wanted {
            self.wanted.insert(wanted.topic, (wanted.content, wanted.at));
        }
        Ok(())
    }

    /// Returns what is to be wanted now, and the objects of which something is to be wanted later.
    fn due(&self, changed: BTreeSet<Key>, now: Timestamp) -> (Vec<Wanted>, BTreeSet<Key>) {
        let (mut wanted, mut later) = (Vec::new(), BTreeSet::new());
        for object in changed {
            let alert = self.ports.alerts.known().alerts.get(&object).cloned();
            let alert = alert.unwrap_or_default();
            for sink in &self.sinks {
                let topic = sink.topic(&object);
                match self.worth(sink, &topic, &alert, now) {
                    Worth::Telling(content) => wanted.push(Wanted { topic, content, at: now }),
                    Worth::Later => {
                        later.insert(object.clone());
                    }
                    Worth::Nothing => {}
                }
            }
        }
        (wanted, later)
    }

    fn worth(&self, sink: &Sink, topic: &Topic, alert: &Alert, now: Timestamp) -> Worth {
        let before = self.wanted.get(topic);
        let content = match sink {
            Sink::Hook(_) => self.told_of_late(before, alert).to_text(),
            Sink::Issue(host) => self.issue(*host, topic, alert),
        };
        let told = before.map_or("", |(told, _)| told.as_str());
        if !sink.is_news(told, &content) {
            return Worth::Nothing;
        }
        match before.is_some_and(|(_, at)| now.duration_since(*at) < APART) {
            true => Worth::Later,
            false => Worth::Telling(content),
        }
    }

    /// Leaves out what was reverted too long before a hook was told anything.
    fn told_of_late(&self, before: Option<&(String, Timestamp)>, alert: &Alert) -> Alert {
        let alert = alert.clone();
        match before {
            None => alert.since(self.started - OLD),
            Some((told, at)) => {
                let told = Alert::from_text(told).unwrap_or_default();
                alert.told_or_since(&told, *at - SETTLING)
            }
        }
    }

    /// Returns what the issue about an object is to say; nothing when there is to be none.
    fn issue(&self, host: Host, topic: &Topic, alert: &Alert) -> String {
        let Some(object) = about(topic).filter(|_| alert.is_lasting()) else {
            return String::new();
        };
        let page = page(&self.agent, object, alert);
        let body = markdown(&page, host, Some(&issue::marker(&self.agent, object)));
        issue::Content { title: title(object, alert), body }.to_text()
    }

    async fn write(&self, wanted: &[Wanted]) -> Result<(), OutboxError> {
        if wanted.is_empty() {
            return Ok(());
        }
        let token = self.ports.fence.check(STORE_LIMIT).map_err(OutboxError::new)?;
        self.ports.outbox.want(wanted, token).await?;
        self.ports.news.iter().for_each(|news| news.notify_one());
        Ok(())
    }
}

impl Sink {
    fn topic(&self, object: &Key) -> Topic {
        let object = object.clone();
        match self {
            Self::Hook(hook) => Topic::Hook { hook: hook.clone(), object },
            Self::Issue(_) => Topic::Issue { object },
        }
    }

    /// Tells whether a content says something else than the one before; nothing always does.
    fn is_news(&self, told: &str, content: &str) -> bool {
        match (self, content) {
            (_, same) if same == told => false,
            (Self::Issue(_), _) | (Self::Hook(_), "") => true,
            (Self::Hook(_), content) => {
                let read = |text| Alert::from_text(text).unwrap_or_default();
                News::of(&read(told), &read(content)).is_some()
            }
        }
    }
}

/// Says whether what stands is worth a word.
enum Worth {
    Telling(String),
    /// In a while, if it is still so.
    Later,
    Nothing,
}

fn about(topic: &Topic) -> Option<&Key> {
    match topic {
        Topic::Issue { object } | Topic::Hook { object, .. } => Some(object),
        Topic::Status { .. } | Topic::Comment { .. } => None,
    }
}
