//! Judges one value against the declared one, in the way that the field's rule names.

use serde_json::Value;

use super::{
    arn, certificate, dns, lifecycle, policy_document, schedule, set, storage, tags, value,
    version, window,
};
use crate::model::{Bound, Compare, Observed, Readiness, Rule};

/// Holds both sides, for comparisons that depend on a neighbouring field or on the state.
pub(super) struct Sides<'a> {
    pub(super) desired: &'a Bound,
    pub(super) actual: &'a Observed,
    pub(super) readiness: &'a Readiness,
}

/// Says what a comparison found.
#[derive(Debug, PartialEq)]
pub(super) enum Judgement {
    /// As declared.
    Same,
    /// Further than declared, in a way that is never taken back.
    Ahead(String),
    /// Not as declared.
    Differs {
        /// What it is, where that is not the whole member.
        from: Option<Value>,
        /// What to send.
        to: Value,
        why: String,
    },
    /// Accepted by AWS and not yet in force.
    Queued(String),
    /// Cannot be compared.
    Unclear { code: &'static str, reason: String },
    /// Not as declared, and never mended by itself.
    Refused { code: &'static str, message: String, help: String },
}

impl Judgement {
    /// Makes a plain difference: the declared value is what to send.
    pub(super) fn differs(to: &Value) -> Self {
        Self::Differs {
            from: None,
            to: to.clone(),
            why: "differs from what is declared".to_owned(),
        }
    }

    pub(super) fn of(same: bool, want: &Value) -> Self {
        if same { Self::Same } else { Self::differs(want) }
    }

    /// Tells whether the value may stay as it is, or come into force if it is queued.
    pub(super) fn is_fine(&self) -> bool {
        matches!(self, Self::Same | Self::Ahead(_))
    }
}

/// Judges a value that is in force.
pub(super) fn judge(
    rule: &Rule,
    want: &Value,
    have: Option<&Value>,
    sides: &Sides<'_>,
) -> Judgement {
    match rule.compare {
        Compare::Exact | Compare::Guard(_) => Judgement::of(value::same(want, have), want),
        Compare::FoldCase => Judgement::of(value::same_folded(want, have), want),
        Compare::Window => window::judge(want, have),
        Compare::Version { engine, allow_major } => {
            version::judge(want, have, engine, allow_major, sides)
        }
        Compare::Storage { ceiling, ceiling_member } => {
            storage::judge(want, have, storage::has_ceiling(ceiling, ceiling_member, sides))
        }
        Compare::Rounded => storage::rounded(want, have),
        Compare::Ceiling { size } => storage::ceiling(want, have, sides.actual.member(size)),
        Compare::List => Judgement::of(value::same(want, have), want),
        Compare::OfItem { key, named_by, path } => {
            let name = sides.desired.declared(named_by);
            value::of_item(want, have, |item| item.get(key) == name, path)
        }
        Compare::Set | Compare::SetWithQueue { .. } => Judgement::of(set::same(want, have), want),
        Compare::SetOf(name) => Judgement::of(set::same_members(want, have, name), want),
        Compare::Membership { name, status } => set::membership(want, have, name, status),
        Compare::Tags => tags::judge(want, sides.actual.tags.as_ref()),
        Compare::CreationTag(tag) => tags::creation(want, sides.actual.tags.as_ref(), tag),
        Compare::TagValue { key, unsaid } => {
            tags::value(want, sides.actual.tags.as_ref(), key, unsaid)
        }
        Compare::Presence => value::presence(want, have),
        Compare::Schedule => schedule::judge(want, have),
        Compare::PolicyDocument => policy_document::judge(want, have, sides),
        Compare::PolicyDocuments { reserved } => {
            policy_document::judge_named(want, have, reserved, sides)
        }
        Compare::LifecycleRules => lifecycle::judge(want, have),
        Compare::ArnTail => arn::judge(want, have, rule.unsaid),
        Compare::Certificate => certificate::judge(want, have),
        Compare::DnsName => Judgement::of(dns::same_name(want, have), want),
        Compare::DnsValues { of_type } => {
            let record_type = sides.desired.declared(of_type).and_then(Value::as_str);
            dns::values(record_type.unwrap_or_default(), want, have)
        }
        Compare::Members { names } => dns::members(want, have, names),
        // These are compared one by one elsewhere; what cannot be read is never compared.
        Compare::Parameters
        | Compare::Permissions(_)
        | Compare::Properties
        | Compare::WriteOnly => Judgement::Same,
    }
}

/// Judges a value that AWS has queued.
pub(super) fn queued(rule: &Rule, want: &Value, queued: &Value, sides: &Sides<'_>) -> Judgement {
    match rule.compare {
        Compare::SetWithQueue { enable, disable } => {
            let have = sides.actual.member(rule.member);
            let same = set::same_after(want, have, queued.get(enable), queued.get(disable));
            Judgement::of(same, want)
        }
        _ => judge(rule, want, Some(queued), sides),
    }
}
