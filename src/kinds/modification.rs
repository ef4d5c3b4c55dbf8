//! What the calls that change a DB instance and a DB cluster have in common.
//!
//! In: the rules of either kind, what was observed, and differences to mend. Out: which of them one
//! call carries, and whether at once. It knows neither kind.
//!
//! # When `ApplyImmediately` is sent
//!
//! It applies a call's changes at once, and with them *everything* that anybody has queued for the
//! maintenance window. So it is sent only where all of these hold:
//!
//! - the call holds a change that AWS would otherwise queue, and that is wanted now;
//! - nothing else is queued than what the same call sets anew.
//!
//! Otherwise AWS queues the change, and it is seen in `PendingModifiedValues` on the next pass. What
//! may only happen in the window, and the taking back of a queued change, never go with it.

use serde_json::{Map, Value};

use crate::model::{Apply, Bound, Delta, Notice, Observed, Rule};

/// Lists the members that AWS will change in the next maintenance window.
///
/// Log exports are listed there too, while AWS is changing them, and wait for no window.
pub(super) fn queue(actual: &Observed) -> impl Iterator<Item = &str> {
    let pending = actual.member("PendingModifiedValues").and_then(Value::as_object);
    pending
        .into_iter()
        .flatten()
        .filter(|(member, value)| !value.is_null() && *member != "PendingCloudwatchLogsExports")
        .map(|(member, _)| member.as_str())
}

/// Returns what each call carries, and whether it says `ApplyImmediately`.
///
/// `is_queued` tells whether AWS queues a change unless it is told to apply it at once, and
/// `is_wanted_now` whether such a change is to happen at once.
pub(super) fn calls<'d>(
    (rules, actual): (&[Rule], &Observed),
    fields: Vec<&'d Delta>,
    is_queued: impl Fn(&Delta) -> bool,
    is_wanted_now: impl Fn(&Delta) -> bool,
) -> [(Vec<&'d Delta>, bool); 2] {
    let is_now = |delta: &Delta| is_queued(delta) && is_wanted_now(delta);
    let now: Vec<&Delta> = fields.iter().copied().filter(|delta| is_now(delta)).collect();
    if now.is_empty() || would_flush(rules, actual, &now) {
        return [(fields, false), (Vec::new(), false)];
    }
    let is_later =
        |delta: &&Delta| delta.apply == Apply::Window || (is_queued(delta) && !is_now(delta));
    let (later, sooner): (Vec<&Delta>, Vec<&Delta>) = fields.into_iter().partition(is_later);
    [(sooner, true), (later, false)]
}

/// Tells whether something is queued that these differences do not set anew.
fn would_flush(rules: &[Rule], actual: &Observed, now: &[&Delta]) -> bool {
    let sets_anew = |member: &str| {
        let rule = rules.iter().find(|rule| rule.pending == Some(member));
        rule.is_some_and(|rule| now.iter().any(|delta| delta.field == rule.field))
    };
    queue(actual).any(|member| !sets_anew(member))
}

/// What somebody queued for fields that Git does not declare is left alone, and told.
pub(super) fn undeclared_queue<'a>(
    rules: &'a [Rule],
    desired: &'a Bound,
    actual: &'a Observed,
) -> impl Iterator<Item = Notice> + 'a {
    let declared = |member: &str| {
        rules
            .iter()
            .any(|rule| rule.pending == Some(member) && desired.declared(rule.field).is_some())
    };
    queue(actual).filter(move |member| !declared(member)).map(|member| Notice {
        field: String::new(),
        code: "UndeclaredChangeQueued".to_owned(),
        message: format!(
            "{member} changes in the next maintenance window, as somebody asked; Git does not \
             declare it"
        ),
    })
}

/// Says which logs to switch, counted from what will be exported once AWS has finished.
pub(super) fn log_exports(actual: &Observed, to: &Value) -> Value {
    let list = |member: &str| -> Vec<&Value> {
        actual.member(member).and_then(Value::as_array).into_iter().flatten().collect()
    };
    let disabling = list("PendingModifiedValues.PendingCloudwatchLogsExports.LogTypesToDisable");
    let enabling = list("PendingModifiedValues.PendingCloudwatchLogsExports.LogTypesToEnable");
    let mut exported = list("EnabledCloudwatchLogsExports");
    exported.extend(enabling);
    exported.retain(|log| !disabling.contains(log));
    let wanted: Vec<&Value> = to.as_array().into_iter().flatten().collect();
    let mut change = Map::new();
    let mut put = |member: &str, logs: Vec<&Value>| {
        if !logs.is_empty() {
            change.insert(member.to_owned(), logs.into_iter().cloned().collect());
        }
    };
    put("EnableLogTypes", wanted.iter().copied().filter(|log| !exported.contains(log)).collect());
    put("DisableLogTypes", exported.iter().copied().filter(|log| !wanted.contains(log)).collect());
    Value::Object(change)
}
