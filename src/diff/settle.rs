//! What a difference has to wait for: the field it changes with, and the state of the resource.

use crate::model::{Delta, Diff, Readiness, Refusal, Rule, Wait};

/// Keeps fields together that change together: one waits while the other waits or is refused, and
/// both disrupt as much as the worse of them.
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
            deltas[index].disruption = deltas[index].disruption.max(other.disruption);
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
