//! CloudTrail: the event history of an account and region, out of the log of calls.
//!
//! An event shows late ([`Settings::trail_lag`]), the newest first, for ninety days. A resource is found by
//! the name under which a call named it.
//!
//! Not modelled, on purpose: other attributes than the name of a resource, pages, Insights, the names of
//! resources that calls do not name.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use super::args::Args;
use super::log::Record;
use super::refusal::{Answer, Refusal};
use super::settings::Settings;
use super::sts::{self, Sessions};
use crate::model::{Call, Scope};

const KEPT: SignedDuration = SignedDuration::from_hours(90 * 24);

/// What an answer is made from.
pub(super) struct History<'a> {
    pub(super) records: Vec<Record>,
    pub(super) sessions: &'a Sessions,
    pub(super) settings: &'a Settings,
    pub(super) now: Timestamp,
    pub(super) scope: &'a Scope,
}

impl History<'_> {
    /// Answers `LookupEvents`.
    pub(super) fn answer(&self, call: &Call) -> Answer {
        let args = Args::new(&call.params);
        let known = ["LookupAttributes", "EndTime", "MaxResults"];
        if let Some((name, _)) = args.iter().find(|(name, _)| !known.contains(name)) {
            let text = format!("the sandbox does not model the parameter {name} of {call}");
            return Err(Refusal::new("NotModelled", text));
        }
        if call.operation != "LookupEvents" {
            return Err(Refusal::new("InvalidAction", format!("Could not find operation {call}")));
        }
        let attributes = args.objects("LookupAttributes")?;
        let [attribute] = attributes.as_slice() else {
            let text = "the sandbox takes one attribute";
            return Err(Refusal::new("InvalidLookupAttributesException", text));
        };
        if attribute.required("AttributeKey")? != "ResourceName" {
            let text = "the sandbox models the attribute ResourceName";
            return Err(Refusal::new("InvalidLookupAttributesException", text));
        }
        let name = attribute.required("AttributeValue")?;
        let most = args.integer("MaxResults")?.unwrap_or(50);
        if !(1..=50).contains(&most) {
            return Err(Refusal::new("InvalidMaxResultsException", "from 1 to 50"));
        }
        let end = args.integer("EndTime")?.unwrap_or(i64::MAX);
        let shown = self.records.iter().rev().filter(|record| {
            self.is_shown(record) && record.at.as_second() <= end && names(record, name)
        });
        let most = usize::try_from(most).unwrap_or_default();
        let events: Vec<Value> = shown.take(most).map(|it| self.event(it, name)).collect();
        Ok(json!({ "Events": events }))
    }

    fn is_shown(&self, record: &Record) -> bool {
        let lag = SignedDuration::try_from(self.settings.trail_lag).unwrap_or_default();
        let age = self.now.duration_since(record.at);
        record.scope == *self.scope && age >= lag && age <= KEPT && record.fault.is_none()
    }

    fn event(&self, record: &Record, name: &str) -> Value {
        let arn = sts::arn(self.sessions, &record.scope.account, &record.by);
        let mut inner = json!({
            "eventVersion": "1.09",
            "userIdentity": {"type": "IAMUser", "arn": arn},
            "eventTime": format!("{:.0}", record.at),
            "eventSource": format!("{}.amazonaws.com", record.service),
            "eventName": record.operation,
            "awsRegion": record.scope.region,
            "sourceIPAddress": "203.0.113.7",
            "userAgent": "sandbox",
            "requestParameters": lowered(&Value::Object(record.params.clone())),
            "readOnly": is_read(record),
        });
        if let Some(code) = record.refused.as_ref().filter(|_| !record.applied) {
            inner["errorCode"] = code.as_str().into();
        }
        json!({
            "EventId": format!("{:08}", record.number),
            "EventName": record.operation,
            "EventTime": record.at.as_second(),
            "ReadOnly": is_read(record).to_string(),
            "Resources": [{"ResourceName": name}],
            "CloudTrailEvent": inner.to_string(),
        })
    }
}

fn is_read(record: &Record) -> bool {
    ["Describe", "List", "Get", "Lookup"].iter().any(|verb| record.operation.starts_with(verb))
}

/// Tells whether a call names a resource by a parameter of its own.
fn names(record: &Record, name: &str) -> bool {
    let texts = record.params.values().filter_map(Value::as_str);
    texts.into_iter().any(|text| text.eq_ignore_ascii_case(name))
}

/// Writes parameters as CloudTrail does: with a small letter in front.
fn lowered(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let lower = |name: &String| match name.chars().next() {
                Some(first) => first.to_lowercase().chain(name.chars().skip(1)).collect(),
                None => String::new(),
            };
            let members = members.iter().map(|(name, value)| (lower(name), lowered(value)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(lowered).collect(),
        other => other.clone(),
    }
}
