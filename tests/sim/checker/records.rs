//! Holds what is written to the store against the laws.

use std::collections::BTreeSet;

use futures_util::FutureExt;
use levelset::model::status::Truth;
use levelset::model::{Clock, Key, ObjectStatus};
use levelset::status::{Declared, Event, Record, Store};

use super::{Checker, Held, Law, Pass, READING, hold};
use crate::sim::script::SECRET;
use crate::sim::spec::Doc;
use crate::sim::world::World;

/// Sees that the record of an object is about to be written: a pass has ended.
pub(in crate::sim) fn recording(world: &World, record: &Record, events: &[Event]) {
    if world.is_over() {
        return;
    }
    world.note(|| summary(record));
    world.check(|checker| {
        let task = tokio::task::try_id();
        let Some(pass) = task.and_then(|task| checker.passes.get(&task)).cloned() else {
            return Ok(());
        };
        checker.pass_ends(world, record, &pass)?;
        checker.is_silent(record, events)
    });
}

fn summary(record: &Record) -> String {
    let ready = record.status.condition("Ready");
    let (reason, message) =
        ready.map_or(("", ""), |ready| (ready.reason.as_str(), ready.message.as_str()));
    let states: Vec<&str> =
        record.status.resources.iter().map(|resource| resource.state.as_str()).collect();
    format!(
        "record of {} at generation {}: {reason} ({message}), {} failures, {states:?}",
        record.key, record.status.observed_generation.0, record.memory.failures
    )
}

impl Checker {
    fn pass_ends(&mut self, world: &World, record: &Record, pass: &Pass) -> Held {
        let object = self.objects.entry(record.key.clone()).or_default();
        object.ended = Some(world.clock.now());
        let counted = record.memory.failures;
        hold(Law::WaitingIsNotFailing, counted <= object.recorded_failures || pass.failed, || {
            format!("{} counts {counted} failures and no call has failed", record.key)
        })?;
        honest(&record.status)?;
        let state = record.status.condition("Ready").map_or("", |ready| ready.reason.as_str());
        self.count(format!("status {state}"));
        let is_stale = record.status.condition("Stale").is_some_and(|it| it.status == Truth::True);
        if is_stale {
            self.count("stale");
        }
        self.is_honest(world, pass, &record.status)?;
        self.is_patient(world, pass, state)?;
        if state == "Removed" {
            // What is made anew, should it return, is no drift.
            self.objects.entry(record.key.clone()).or_default().settled = None;
            removed(world, &record.key, pass)?;
            self.few_are_removed(world, &record.key)?;
        }
        Ok(())
    }

    fn pass_has_ended(&mut self, world: &World, key: &Key) -> Held {
        let Some(task) = tokio::task::try_id() else { return Ok(()) };
        let Some(pass) = self.passes.remove(&task) else { return Ok(()) };
        let Some(stored) = stored(world, key) else { return Ok(()) };
        self.note_words(world, &pass);
        self.note_drift(world, &pass, &stored)?;
        let (retries, versions) = {
            let repository = world.repository();
            let doc = repository.declared.get(key);
            let versions = repository.versions.get(key).map_or(0, Vec::len);
            (doc.map_or(u32::MAX, Doc::retries), versions)
        };
        let object = self.objects.entry(key.clone()).or_default();
        object.settled = pass.settles.or(object.settled);
        object.recorded_failures = stored.memory.failures;
        let observed = stored.status.observed_generation;
        if object.counted != observed {
            object.failures = 0;
        }
        (object.counted, object.versions) = (observed, versions);
        if pass.failed {
            object.failures += 1;
        } else if object.failures < retries || stored.status.is_ready() {
            // Also past the ceiling: the last attempt may have succeeded with its answer lost.
            object.failures = 0;
        }
        Ok(())
    }

    fn few_are_removed(&self, world: &World, key: &Key) -> Held {
        let named = world.repository().named();
        let records = world.records();
        let is_confirmed = |key: &Key| self.objects.get(key).is_some_and(|object| object.confirmed);
        let is_removed = |record: &&Record| {
            let ready = record.status.condition("Ready");
            ready.is_some_and(|ready| ready.reason == "Removed") && !named.contains(&record.key)
        };
        let gone = records.iter().filter(is_removed).map(|record| &record.key);
        let removed = gone.chain([key]).filter(|key| !is_confirmed(key)).collect::<BTreeSet<_>>();
        let limit = world.profile.guard.limit(records.len());
        hold(Law::OnlyWhatIsGoneIsRemoved, removed.len() <= limit, || {
            format!("{} objects are removed at once, more than {limit}", removed.len())
        })
    }

    /// Holds everything that is told about a pass against the password that somebody has set.
    fn is_silent(&self, record: &Record, events: &[Event]) -> Held {
        if !self.knows_secret {
            return Ok(());
        }
        let all = serde_json::to_string(&(record, events)).unwrap();
        hold(Law::SecretsStayOut, !all.contains(SECRET), || all.clone())
    }

    /// Holds the generation of an object in the store against the one that was there.
    fn generation(&mut self, world: &World, key: &Key) -> Held {
        let Some(record) = stored(world, key) else { return Ok(()) };
        let object = self.objects.entry(key.clone()).or_default();
        hold(Law::GenerationsGrow, record.generation >= object.generation, || {
            let (before, after) = (object.generation.0, record.generation.0);
            format!("{key} went from generation {before} to {after}")
        })?;
        object.generation = record.generation;
        Ok(())
    }
}

/// Sees that the record of an object has been written.
pub(in crate::sim) fn recorded(world: &World, key: &Key) {
    world.check(|checker| {
        checker.pass_has_ended(world, key)?;
        checker.generation(world, key)
    });
}

/// Sees that generations have been written.
pub(in crate::sim) fn declared(world: &World, declared: &[Declared]) {
    world.check(|checker| {
        declared.iter().try_for_each(|object| checker.generation(world, &object.key))
    });
}

fn stored(world: &World, key: &Key) -> Option<Record> {
    world.store.get(key).now_or_never().unwrap().unwrap()
}

/// Holds the texts of a status against what must not be in them.
fn honest(status: &ObjectStatus) -> Held {
    let conditions = status.conditions.iter().map(|condition| condition.message.as_str());
    let resources = status.resources.iter().flat_map(|resource| {
        let waits = resource.waits.iter().map(|wait| wait.reason.as_str());
        let refusals = resource.refusals.iter().map(|refusal| refusal.message.as_str());
        let notices = resource.notices.iter().map(|notice| notice.message.as_str());
        waits.chain(refusals).chain(notices).chain([resource.message.as_str()])
    });
    for text in conditions.chain(resources) {
        hold(Law::StatusHoldsNoDuration, !holds_duration(text), || text.to_owned())?;
    }
    Ok(())
}

const UNITS: [&str; 14] = [
    "ms", "s", "sec", "secs", "second", "seconds", "m", "min", "minute", "minutes", "h", "hour",
    "hours", "days",
];

/// Tells whether a text holds a number with a unit of time.
fn holds_duration(text: &str) -> bool {
    let is_unit = |word: &str| UNITS.contains(&word.trim_end_matches(|c: char| !c.is_alphabetic()));
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_number = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_digit());
    let joined = words.iter().any(|word| {
        let unit = word.trim_start_matches(|c: char| c.is_ascii_digit());
        unit.len() < word.len() && is_unit(unit)
    });
    joined || words.windows(2).any(|pair| is_number(pair[0]) && is_unit(pair[1]))
}

fn removed(world: &World, key: &Key, pass: &Pass) -> Held {
    let since = pass.began.saturating_sub(READING);
    hold(Law::OnlyWhatIsGoneIsRemoved, world.repository().may_be_gone_since(key, since), || {
        format!("{key} is told to be removed, and its manifest may be there")
    })
}
