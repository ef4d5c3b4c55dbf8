//! The one differ: what is declared against what AWS has, field by field, as a kind's rules say.
//!
//! In: the rules of a kind, the declared fields, the describe answer and whether the resource is
//! settled. Out: a [`Diff`] of what can be mended now, what waits and for what, what is never
//! mended by itself, and what a reader should know.
//!
//! Invariants: pure; only declared fields are looked at; a value that AWS has queued counts (it is
//! neither sent again nor left to overtake Git); nothing is allocated for a field that is as
//! declared. It knows no kind, decides nothing about when to act and makes no calls.

mod arn;
mod certificate;
mod dns;
mod judge;
mod lifecycle;
mod parameters;
mod permissions;
mod policy_document;
mod properties;
mod schedule;
mod set;
mod settle;
mod shape;
mod storage;
mod tags;
mod value;
mod version;
mod window;

use std::borrow::Cow;

use serde_json::Value;

use self::judge::{Judgement, Sides};
use crate::model::{
    Apply, Bound, Change, Compare, Delta, Diff, Disruption, Notice, Observed, Origin, Readiness,
    Refusal, Rule, Timing, Wait,
};

/// Compares one resource with what is declared for it.
///
/// `ignore` holds field paths relative to the resource's section; a path stands for the fields
/// under it too (`storage` for `storage.iops`).
pub fn diff(
    rules: &[Rule],
    desired: &Bound,
    actual: &Observed,
    readiness: &Readiness,
    ignore: &[String],
) -> Diff {
    let sides = Sides { desired, actual, readiness };
    let mut found = Diff::default();
    for rule in rules {
        let Some(want) = desired.declared(rule.field) else { continue };
        if is_ignored(rule.field, ignore)
            || is_ceded(rule, actual, &mut found)
            || !is_relevant(rules, rule, &sides)
        {
            continue;
        }
        if let Some(reason) = shape::objection(rule, actual) {
            found.waits.push(wait(rule, "UnreadableAnswer", reason));
        } else if rule.compare == Compare::Properties {
            properties::compare(rule, want, &sides, ignore, &mut found);
        } else if rule.compare == Compare::Parameters {
            parameters::compare(rule, want, actual, ignore, &mut found);
        } else if let Compare::Permissions(peers) = rule.compare {
            permissions::compare(rule, peers, want, &sides, &mut found);
        } else {
            field(rule, &compared(rule, want, ignore), &sides, &mut found);
        }
    }
    settle::cool_down(rules, actual, &mut found);
    settle::together(rules, &mut found);
    settle::hold(rules, readiness, &mut found);
    found
}

/// Compares one field, with the queued value of it where AWS has one.
fn field(rule: &Rule, want: &Value, sides: &Sides<'_>, found: &mut Diff) {
    let have = sides.actual.member(rule.member);
    let current = match (have, rule.unsaid) {
        (None, Some(unsaid)) => judge::judge(rule, want, Some(&unsaid.into()), sides),
        _ => judge::judge(rule, want, have, sides),
    };
    let Some(queued) = queued(rule, sides.actual) else {
        return conclude(rule, want, have, current, found);
    };
    let after = judge::queued(rule, want, queued, sides);
    match (current.is_fine(), after.is_fine()) {
        (true, true) => conclude(rule, want, have, current, found),
        (true, false) => found.deltas.push(cancel(rule, want, have, queued)),
        (false, true) if !is_cure(rule, sides) => found.waits.push(pending(rule, queued)),
        (false, true) => conclude(rule, want, have, current, found),
        (false, false) => conclude(rule, want, have, current, found),
    }
}

/// Tells whether the resource is in the state that a change of the field ends, for which the next
/// window is too late, and nothing else is queued, which a change at once would apply too.
fn is_cure(rule: &Rule, sides: &Sides<'_>) -> bool {
    let Readiness::Limited { status } = sides.readiness else { return false };
    let queue = sides.actual.member("PendingModifiedValues").and_then(Value::as_object);
    let others =
        queue.into_iter().flatten().filter(|(member, _)| Some(member.as_str()) != rule.pending);
    rule.cures == Some(status) && others.into_iter().all(|(_, value)| value.is_null())
}

/// Returns what AWS will change the field to in the next maintenance window.
fn queued<'a>(rule: &Rule, actual: &'a Observed) -> Option<&'a Value> {
    let pending = actual.members.get("PendingModifiedValues")?.get(rule.pending?)?;
    (!pending.is_null()).then_some(pending)
}

/// Puts what a comparison found where it belongs.
fn conclude(
    rule: &Rule,
    want: &Value,
    have: Option<&Value>,
    judgement: Judgement,
    found: &mut Diff,
) {
    match judgement {
        Judgement::Same => {}
        Judgement::Ahead(fact) => found.notices.push(notice(rule, "AheadOfGit", fact)),
        Judgement::Queued(reason) => found.waits.push(wait(rule, "Pending", reason)),
        Judgement::Unclear { code, reason } => found.waits.push(wait(rule, code, reason)),
        Judgement::Refused { code, message, help } => {
            found.refusals.push(refusal(rule, code, message, help));
        }
        Judgement::Differs { from, to, why } => {
            let from = from.or_else(|| have.cloned()).unwrap_or(Value::Null);
            differs(rule, want, delta(rule, from, to, why), found);
        }
    }
}

fn differs(rule: &Rule, want: &Value, delta: Delta, found: &mut Diff) {
    match rule.change {
        Change::InPlace => found.deltas.push(delta),
        Change::CreateOnly => {
            let fact = format!(
                "{} is {} since creation; {} has no effect on an existing resource",
                rule.field,
                value::show(&delta.from),
                value::show(want)
            );
            found.notices.push(notice(rule, "CreateOnlyFieldChanged", fact));
        }
        Change::Immutable(code) => {
            let message = format!(
                "AWS has {} and cannot change it to {}",
                value::show(&delta.from),
                value::show(want)
            );
            let help = "declare the actual value, or make a new resource and move the data";
            found.refusals.push(refusal(rule, code, message, help.to_owned()));
        }
    }
}

/// Takes back a queued change that Git does not declare, by sending the current value.
///
/// It disrupts nothing and must not be sent with `ApplyImmediately`, which would apply what it
/// takes back.
fn cancel(rule: &Rule, want: &Value, have: Option<&Value>, queued: &Value) -> Delta {
    let to = have.unwrap_or(want).clone();
    let why = format!("takes back {}, queued for the maintenance window", value::show(queued));
    Delta {
        disruption: Disruption::None,
        apply: Apply::Window,
        ..delta(rule, queued.clone(), to, why)
    }
}

fn delta(rule: &Rule, from: Value, to: Value, why: String) -> Delta {
    let security = rule.security
        && match rule.compare {
            Compare::Guard(protects) => value::same(&to, Some(&protects.into())),
            _ => true,
        };
    Delta {
        field: rule.field.to_owned(),
        parameter: rule.parameter.to_owned(),
        from,
        to,
        why,
        disruption: rule.disruption,
        security,
        apply: rule.apply,
        origin: Origin::default(),
        timing: Timing::default(),
    }
}

fn pending(rule: &Rule, queued: &Value) -> Wait {
    let reason = format!("{} is queued for the next maintenance window", value::show(queued));
    wait(rule, "Pending", reason)
}

fn wait(rule: &Rule, code: &str, reason: String) -> Wait {
    Wait { field: rule.field.to_owned(), code: code.to_owned(), reason }
}

fn notice(rule: &Rule, code: &str, message: String) -> Notice {
    Notice { field: rule.field.to_owned(), code: code.to_owned(), message }
}

fn refusal(rule: &Rule, code: &str, message: String, help: String) -> Refusal {
    Refusal { field: rule.field.to_owned(), code: code.to_owned(), message, help }
}

fn is_ignored(field: &str, ignore: &[String]) -> bool {
    ignore.iter().any(|path| {
        field
            .strip_prefix(path.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// Leaves out of declared tags those that a path names: `tags.CostCenter`.
fn compared<'a>(rule: &Rule, want: &'a Value, ignore: &[String]) -> Cow<'a, Value> {
    let ignored = |key: &str| is_ignored(&format!("{}.{key}", rule.field), ignore);
    match want {
        Value::Object(tags) if rule.compare == Compare::Tags && !ignore.is_empty() => {
            let left = tags.iter().filter(|(key, _)| !ignored(key));
            Cow::Owned(left.map(|(key, value)| (key.clone(), value.clone())).collect())
        }
        want => Cow::Borrowed(want),
    }
}

/// Leaves the field to its other owner, and says so.
fn is_ceded(rule: &Rule, actual: &Observed, found: &mut Diff) -> bool {
    let is_there = |member| actual.member(member).is_some_and(|value| !value::is_empty(value));
    let owner = rule.yields.iter().find(|owner| is_there(owner.member));
    if let Some(owner) = owner {
        found.notices.push(notice(rule, owner.code, owner.reason.to_owned()));
    }
    owner.is_some()
}

/// Tells whether the field has a meaning: what it depends on is on, and Git does not turn it off.
fn is_relevant(rules: &[Rule], rule: &Rule, sides: &Sides<'_>) -> bool {
    let Some(member) = rule.relevant else { return true };
    let is_on = sides.actual.member(member).is_some_and(|value| !value::is_empty(value));
    let switch = rules.iter().find(|switch| switch.member == member);
    let wanted = switch.and_then(|switch| sides.desired.declared(switch.field));
    is_on && !wanted.is_some_and(value::is_empty)
}
