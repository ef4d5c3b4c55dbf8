//! What a difference has to wait for: the field it changes with, and the state of the resource.

use jiff::Timestamp;
use serde_json::Value;

use crate::model::{Delta, Diff, Observed, Readiness, Refusal, Rule, Wait};

/// Holds a value that AWS takes from a time on only, as of the time of its answer.
pub(super) fn cool_down(rules: &[Rule], actual: &Observed, found: &mut Diff) {
    let until = |delta: &Delta| {
        let cool_down = rule_of(rules, &delta.field)?.cool_down?;
        let is_it = delta.to.as_str()?.eq_ignore_ascii_case(cool_down.value);
        let until = actual.member(cool_down.member).filter(|_| is_it)?;
        (!is_over(until, actual.at)).then(|| (cool_down.value, until.clone()))
    };
    found.deltas.retain(|delta| {
        let Some((value, until)) = until(delta) else { return true };
        found.waits.push(Wait {
            field: delta.field.clone(),
            code: "CoolDown".to_owned(),
            reason: format!("AWS takes {value} again from {} on", super::value::show(&until)),
        });
        false
    });
}

/// A time that cannot be read is not over.
fn is_over(until: &Value, now: Timestamp) -> bool {
    until.as_str().and_then(|text| text.parse::<Timestamp>().ok()).is_some_and(|until| until <= now)
}

/// Keeps fields together that change together: one waits while the other waits or is refused, and
/// it disrupts as much as that one, and is applied when that one is, since both travel in one call.
pub(super) fn together(rules: &[Rule], found: &mut Diff) {
    if found.deltas.is_empty() {
        return;
    }
    let mut deltas = std::mem::take(&mut found.deltas);
    for index in 0..deltas.len() {
        let Some(partner) = rule_of(rules, &deltas[index].field).and_then(|rule| rule.with) else {
            continue;
        };
        if let Some(other) = deltas.iter().find(|delta| delta.field == partner) {
            let (disruption, apply) = (other.disruption, other.apply);
            deltas[index].disruption = deltas[index].disruption.max(disruption);
            deltas[index].apply = apply;
        }
    }
    let held = |delta: &Delta| {
        let partner = rule_of(rules, &delta.field).and_then(|rule| rule.with)?;
        is_held(partner, found).then(|| partner.to_owned())
    };
    let (mut going, mut waits) = (Vec::new(), Vec::new());
    for delta in deltas {
        match held(&delta) {
            Some(partner) => waits.push(Wait {
                reason: format!("it changes together with {partner}"),
                code: "WaitsForField".to_owned(),
                field: delta.field,
            }),
            None => going.push(delta),
        }
    }
    found.deltas = going;
    found.waits.extend(waits);
}

fn is_held(field: &str, found: &Diff) -> bool {
    found.waits.iter().any(|wait| wait.field == field)
        || found.refusals.iter().any(|refusal| refusal.field == field)
}

/// Turns differences into waits where the state of the resource takes no change.
pub(super) fn hold(rules: &[Rule], readiness: &Readiness, found: &mut Diff) {
    match readiness {
        Readiness::Ready => {}
        Readiness::Limited { status } => hold_some(rules, status, found),
        Readiness::Waiting { code, reason } => {
            if found.deltas.is_empty() {
                let (code, reason) = (code.clone(), reason.clone());
                found.waits.push(Wait { field: String::new(), code, reason });
            }
            hold_all(code, reason, found);
        }
        Readiness::Broken { code, reason } => {
            hold_all(code, reason, found);
            found.refusals.push(Refusal {
                field: String::new(),
                code: code.clone(),
                message: reason.clone(),
                help: "mend it in AWS; it is looked at again on the next pass".to_owned(),
            });
        }
    }
}

fn hold_all(code: &str, reason: &str, found: &mut Diff) {
    let waits = found.deltas.drain(..).map(|delta| Wait {
        field: delta.field,
        code: code.to_owned(),
        reason: reason.to_owned(),
    });
    found.waits.extend(waits);
}

fn hold_some(rules: &[Rule], status: &str, found: &mut Diff) {
    let held = |delta: &Delta| {
        let holds = rule_of(rules, &delta.field)?.holds;
        holds.iter().find(|hold| hold.status == status)
    };
    let mut going = Vec::with_capacity(found.deltas.len());
    for delta in found.deltas.drain(..) {
        match held(&delta) {
            Some(hold) => found.waits.push(Wait {
                code: pascal(status),
                reason: hold.reason.to_owned(),
                field: delta.field,
            }),
            None => going.push(delta),
        }
    }
    found.deltas = going;
}

/// Returns the rule of a field; a field of a group (`parameters.work_mem`) has the group's.
fn rule_of<'a>(rules: &'a [Rule], field: &str) -> Option<&'a Rule> {
    rules.iter().find(|rule| {
        field.strip_prefix(rule.field).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

/// Makes a code of a status: `storage-optimization` becomes `StorageOptimization`.
fn pascal(status: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str())
    };
    status.split('-').filter_map(word).collect()
}
