//! What was called: every call with what became of it, and counters.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use super::refusal::Refusal;
use crate::model::{Call, ErrorClass, Scope};

/// Holds one call and what became of it. Passwords are masked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Record {
    /// The number of the call, counted from 1.
    pub number: u64,
    /// When it arrived.
    pub at: Timestamp,
    /// The account and region.
    pub scope: Scope,
    /// The service, for example `rds`.
    pub service: String,
    /// The operation.
    pub operation: String,
    /// The parameters.
    pub params: Map<String, Value>,
    /// Who called: the name of a door, or an access key.
    pub by: Arc<str>,
    /// The error code that the caller saw; `None` for success.
    pub refused: Option<String>,
    /// True when the model took the call, whether or not the caller learned it.
    pub applied: bool,
    /// The fault that struck the call.
    pub fault: Option<&'static str>,
}

impl Record {
    /// Tells whether the call changed something.
    pub fn is_write(&self) -> bool {
        self.applied && !is_read(&self.operation)
    }
}

fn is_read(operation: &str) -> bool {
    ["Describe", "List", "Get"].iter().any(|prefix| operation.starts_with(prefix))
}

/// Counts the calls of one operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// All calls.
    pub calls: u64,
    /// Calls that were answered with an error, throttled ones included.
    pub refused: u64,
    /// Calls that were throttled.
    pub throttled: u64,
}

/// Counts calls by `service:Operation`.
pub type Counters = BTreeMap<String, Count>;

/// Keeps the latest calls and counts all of them.
#[derive(Debug)]
pub(super) struct Log {
    limit: usize,
    number: u64,
    records: VecDeque<Record>,
    counters: Counters,
}

/// Describes the call that is written down.
pub(super) struct Entry<'a> {
    pub(super) at: Timestamp,
    pub(super) scope: &'a Scope,
    pub(super) by: &'a Arc<str>,
    pub(super) call: &'a Call,
    pub(super) refusal: Option<&'a Refusal>,
    pub(super) applied: bool,
    pub(super) fault: Option<&'static str>,
}

impl Log {
    /// Makes a log that keeps the latest `limit` calls.
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, number: 0, records: VecDeque::new(), counters: Counters::new() }
    }

    /// Writes one call down.
    pub(super) fn write(&mut self, entry: &Entry<'_>) {
        self.number += 1;
        let count = self.counters.entry(entry.call.to_string()).or_default();
        count.calls += 1;
        count.refused += u64::from(entry.refusal.is_some());
        let throttled = entry.refusal.is_some_and(|r| r.class == ErrorClass::Throttled);
        count.throttled += u64::from(throttled);
        if self.records.len() >= self.limit {
            self.records.pop_front();
        }
        self.records.push_back(Record {
            number: self.number,
            at: entry.at,
            scope: entry.scope.clone(),
            service: entry.call.service.to_string(),
            operation: entry.call.operation.to_string(),
            params: masked(&entry.call.params),
            by: Arc::clone(entry.by),
            refused: entry.refusal.map(|r| r.code.to_string()),
            applied: entry.applied,
            fault: entry.fault,
        });
    }

    /// Returns the calls after the one with this number.
    pub(super) fn since(&self, number: u64) -> Vec<Record> {
        let start = self.records.partition_point(|record| record.number <= number);
        self.records.iter().skip(start).cloned().collect()
    }

    /// Returns the counters.
    pub(super) fn counters(&self) -> Counters {
        self.counters.clone()
    }
}

fn masked(params: &Map<String, Value>) -> Map<String, Value> {
    let mut params = params.clone();
    for (name, value) in &mut params {
        if name.ends_with("Password") && value.is_string() {
            *value = Value::from("****");
        }
    }
    params
}
