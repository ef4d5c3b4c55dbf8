//! Holds how often a value is sent against the time: what AWS takes and does not show is sent ever
//! more rarely, whatever else is sent beside it.

use jiff::{SignedDuration, Timestamp};
use levelset::model::{Clock, Key};
use levelset::sandbox::log::Record as Logged;
use serde_json::Value;

use super::calls::Writing;
use super::{Checker, Held, Law, hold};
use crate::sim::reading::parameter_group;

/// How often one value of one parameter may be sent within an hour of the time of day while nobody
/// else changes anything: three times in vain, and what was read too early or lost with a life.
const MOST: usize = 6;

const HOUR: SignedDuration = SignedDuration::from_hours(1);

impl Checker {
    /// Forgets what was sent to a resource that somebody else has changed since.
    pub(super) fn forget_sent(&mut self, resource: &str) {
        self.sent.retain(|(name, _), _| name != resource);
    }

    /// Forgets what was sent for an object which somebody wants to be tried again, or to be otherwise.
    pub(in crate::sim) fn begin_anew(&mut self, key: &Key) {
        self.forget_sent(&key.name);
        self.forget_sent(&parameter_group(&key.name));
    }

    pub(super) fn is_sent_rarely(&mut self, writing: &Writing<'_>) -> Held {
        let call = writing.call;
        if !call.operation.starts_with("Modify") || call.refused.is_some() {
            return Ok(());
        }
        let now = writing.world.clock.now();
        for (parameter, value) in sent(call) {
            let times = self.note_sent(writing.name(), parameter, value, now);
            hold(Law::NothingIsSentInVain, times <= MOST, || {
                format!("{}: for the {times}th time within an hour", writing.text())
            })?;
        }
        Ok(())
    }

    fn note_sent(&mut self, name: &str, parameter: &str, value: &Value, now: Timestamp) -> usize {
        let (key, value) = ((name.to_owned(), parameter.to_owned()), value.to_string());
        let all = self.sent.entry(key).or_default();
        all.retain(|(_, at)| now.duration_since(*at) < HOUR);
        all.push((value.clone(), now));
        all.iter().filter(|(sent, _)| *sent == value).count()
    }
}

/// Lists the parameters of a call and their values.
fn sent(call: &Logged) -> Vec<(&str, &Value)> {
    let list = call.params.get("Parameters").and_then(Value::as_array);
    let listed = list.into_iter().flatten().filter_map(|parameter| {
        Some((parameter["ParameterName"].as_str()?, &parameter["ParameterValue"]))
    });
    let is_about = |name: &str| ["DBInstanceIdentifier", "ApplyImmediately"].contains(&name);
    let is_plain = call.operation == "ModifyDBInstance";
    let plain = call.params.iter().filter(|(name, _)| is_plain && !is_about(name));
    plain.map(|(name, value)| (name.as_str(), value)).chain(listed).collect()
}
