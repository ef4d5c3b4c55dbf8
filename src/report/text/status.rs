//! The status of objects: a table of all, or everything about one.
//!
//! In: [`Told`] objects. Out: text; every time is a time in UTC. The table answers whether
//! everything is as declared, why what is not is not, and when it is tried again.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::model::{
    Condition, Freeze, ResourceStatus, status::DriftStatus, status::Traced, status::Truth,
};
use crate::report::Told;
use crate::report::style::{Ink, Style};
use crate::report::text::freezes::freezes;
use crate::report::text::{plan, value};

const HEAD: [&str; 6] = ["OBJECT", "READY", "REASON", "REVISION", "LAST PASS", "NEXT PASS"];

/// How many rows of drift the table shows of one object.
const DRIFT_SHOWN: usize = 3;

/// Renders one row for each object, below it what a reader has to know of it, and a last line that
/// counts; last what guards froze.
pub fn status(objects: &[Told<'_>], frozen: &[Freeze], style: Style) -> String {
    if objects.is_empty() {
        return "no objects are known yet\n".to_owned() + &freezes(frozen, style);
    }
    let rows: Vec<[String; 6]> = objects.iter().map(row).collect();
    let widths = widths(&rows);
    let mut text =
        line(&HEAD.map(str::to_owned), &widths, |_, cell| style.paint(Ink::Strong, cell));
    for (object, cells) in objects.iter().zip(&rows) {
        text.push_str(&line(cells, &widths, |column, cell| match column {
            1 => style.paint(truth_ink(ready(object)), cell),
            _ => cell,
        }));
        text.push_str(&remarks(object, style));
    }
    text.push_str(&totals(objects));
    text.push_str(&freezes(frozen, style));
    text
}

/// Counts the objects that are as declared, of those that Git declares, and all others by their
/// reason.
fn totals(objects: &[Told<'_>]) -> String {
    let good = objects.iter().filter(|object| object.status.is_ready()).count();
    let declared = objects.iter().filter(|object| reason(object) != "Removed").count();
    let mut others: BTreeMap<&str, usize> = BTreeMap::new();
    for object in objects.iter().filter(|object| !object.status.is_ready()) {
        *others.entry(reason(object)).or_default() += 1;
    }
    let others: Vec<String> =
        others.into_iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    let others = if others.is_empty() { String::new() } else { format!("; {}", others.join(", ")) };
    format!("\n{good} of {declared} as declared{others}\n")
}

fn row(object: &Told<'_>) -> [String; 6] {
    let status = object.status;
    let ready = status.condition(Condition::READY);
    [
        object.key.to_string(),
        truth_word(ready.map(|condition| condition.status)).to_owned(),
        reason(object).to_owned(),
        status.revision.as_ref().map_or("-", |revision| revision.short()).to_owned(),
        time(status.last_reconciled_time),
        time(status.next_run_time),
    ]
}

fn ready(object: &Told<'_>) -> Option<Truth> {
    object.status.condition(Condition::READY).map(|condition| condition.status)
}

fn reason<'a>(object: &Told<'a>) -> &'a str {
    let ready = object.status.condition(Condition::READY);
    ready.map_or("NotSeenYet", |condition| condition.reason.as_str())
}

/// Says what a row has no room for: why the object is not ready, what is wrong with its manifest,
/// what keeps it from being worked on, and what has drifted.
fn remarks(object: &Told<'_>, style: Style) -> String {
    let status = object.status;
    let mut text = String::new();
    let mut remark = |what: &str, ink: Ink, message: &str| {
        let what = if what.is_empty() { String::new() } else { style.paint(ink, what) + " " };
        text.push_str(&format!("  {what}{}\n", style.paint(Ink::Faint, one_line(message))));
    };
    if let Some(ready) = status.condition(Condition::READY)
        && ready.status != Truth::True
        && !ready.message.is_empty()
    {
        remark("", Ink::Faint, &ready.message);
    }
    for (kind, trouble, what, ink) in [
        (Condition::VALID, Truth::False, "invalid:", Ink::Bad),
        (Condition::SUSPENDED, Truth::True, "suspended:", Ink::Warning),
        (Condition::SNOOZED, Truth::True, "snoozed:", Ink::Warning),
        (Condition::FAILED, Truth::True, "given up:", Ink::Bad),
        (Condition::STALLED, Truth::True, "stalled:", Ink::Bad),
        (Condition::CONTESTED, Truth::True, "contested:", Ink::Warning),
        (Condition::FROZEN, Truth::True, "frozen:", Ink::Warning),
        (Condition::STALE, Truth::True, "stale:", Ink::Warning),
    ] {
        if let Some(condition) = status.condition(kind).filter(|it| it.status == trouble) {
            remark(what, ink, &condition.message);
        }
    }
    for row in status.drift.iter().take(DRIFT_SHOWN) {
        remark("drift:", Ink::Warning, &drifted(row, Style::Plain));
    }
    if let Some(more @ 1..) = status.drift.len().checked_sub(DRIFT_SHOWN) {
        remark("drift:", Ink::Warning, &format!("{more} more fields"));
    }
    if status.observed_generation != object.generation {
        let message = format!("generation {} has not been worked on yet", object.generation.0);
        remark("new:", Ink::Warning, &message);
    }
    text
}

/// Joins the lines of a message, which may hold a text of AWS.
fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn widths(rows: &[[String; 6]]) -> [usize; 6] {
    let mut widths = HEAD.map(str::len);
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    widths
}

/// Pads the cells of a row; the colours are laid on after padding, so that they take no room.
fn line(
    cells: &[String; 6],
    widths: &[usize; 6],
    paint: impl Fn(usize, String) -> String,
) -> String {
    let padded = cells.iter().zip(widths).enumerate();
    let cells = padded.map(|(column, (cell, width))| paint(column, format!("{cell:<width$}")));
    let text = cells.collect::<Vec<_>>().join("  ");
    format!("{}\n", text.trim_end())
}

fn truth_word(truth: Option<Truth>) -> &'static str {
    match truth {
        Some(Truth::True) => "True",
        Some(Truth::False) => "False",
        Some(Truth::Unknown) | None => "Unknown",
    }
}

fn truth_ink(truth: Option<Truth>) -> Ink {
    match truth {
        Some(Truth::True) => Ink::Added,
        Some(Truth::False) => Ink::Bad,
        Some(Truth::Unknown) | None => Ink::Warning,
    }
}

fn time(time: Option<Timestamp>) -> String {
    time.map_or("-".to_owned(), |time| format!("{time:.0}"))
}

/// Renders everything that is known about one object.
pub fn object(object: &Told<'_>, style: Style) -> String {
    let status = object.status;
    let mut text = format!("{}\n", style.paint(Ink::Strong, object.key));
    let revision = status.revision.as_ref().map_or("-", |revision| revision.as_str());
    for (name, value) in [
        (
            "generation",
            format!("{}, worked on {}", object.generation.0, status.observed_generation.0),
        ),
        ("revision", revision.to_owned()),
        ("last pass", time(status.last_reconciled_time)),
        ("last converged", time(status.last_converged_time)),
        ("next pass", next(object)),
    ] {
        text.push_str(&format!("  {name:<15} {value}\n"));
    }
    text.push_str(&section("conditions", status.conditions.iter().map(|c| condition(c, style))));
    text.push_str(&section("resources", status.resources.iter().map(|r| resource(r, style))));
    text.push_str(&section("drift", status.drift.iter().map(|d| drift(d, style))));
    text.push_str(&section("changed outside Git", status.traced.iter().map(traced)));
    text
}

/// Says when the object is worked on next; an object without a time waits for a person.
fn next(object: &Told<'_>) -> String {
    match (object.status.next_run_time, object.status.last_reconciled_time) {
        (Some(at), _) => time(Some(at)),
        (None, Some(_)) => {
            "none, until its manifest or the settings change, or a person asks".to_owned()
        }
        (None, None) => time(None),
    }
}

fn section(name: &str, items: impl Iterator<Item = String>) -> String {
    let body: String = items.collect();
    if body.is_empty() { String::new() } else { format!("\n  {name}\n{body}") }
}

/// Renders a condition; what it says is left out where that is only that all is well.
fn condition(condition: &Condition, style: Style) -> String {
    let good = matches!(condition.kind.as_str(), Condition::READY | Condition::VALID);
    let usual = if good { Truth::True } else { Truth::False };
    let ink = match condition.status {
        status if status == usual && good => Ink::Added,
        status if status == usual => Ink::Faint,
        Truth::False if good => Ink::Bad,
        _ => Ink::Warning,
    };
    let word = style.paint(ink, format!("{:<7}", truth_word(Some(condition.status))));
    let since = time(Some(condition.last_transition_time));
    let text = format!("    {:<12} {word} {} since {since}\n", condition.kind, condition.reason);
    if condition.message.is_empty() || condition.status == usual {
        return text;
    }
    format!("{text}      {}\n", one_line(&condition.message))
}

fn resource(resource: &ResourceStatus, style: Style) -> String {
    let mut text = format!(
        "    {} in {}: {} since {}\n",
        style.paint(Ink::Strong, &resource.id),
        resource.id.scope,
        resource.state,
        time(Some(resource.since)),
    );
    if !resource.message.is_empty() {
        text.push_str(&format!("      {}\n", one_line(&resource.message)));
    }
    text.push_str(&plan::deltas("", &resource.deltas, style));
    text.extend(resource.refusals.iter().map(|refusal| plan::refused("", refusal, style)));
    text.extend(resource.waits.iter().map(|wait| plan::waits("", wait, style)));
    text.extend(resource.notices.iter().map(|notice| plan::noticed("", notice, style)));
    for (name, value) in &*resource.outputs {
        text.push_str(&format!("      {name} = {}\n", value::inline(value)));
    }
    text
}

fn traced(it: &Traced) -> String {
    format!("    {} {}: {}\n", it.resource, it.field, it.changed)
}

fn drift(drift: &DriftStatus, style: Style) -> String {
    format!("    {}\n", drifted(drift, style))
}

fn drifted(drift: &DriftStatus, style: Style) -> String {
    let who = drift.changed_by.as_ref().map(|it| format!(", {it}")).unwrap_or_default();
    format!(
        "{} {}: {} is declared, AWS has {}; {}, first seen {}{who}",
        drift.resource,
        drift.field,
        style.paint(Ink::Added, value::inline(&drift.declared)),
        style.paint(Ink::Removed, value::inline(&drift.actual)),
        drift.disposition,
        time(Some(drift.first_seen)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Generation, Key, ObjectStatus, Revision};

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn waiting() -> ObjectStatus {
        ObjectStatus {
            observed_generation: Generation(2),
            revision: Some(Revision::new("1a2b3c4d5e6f")),
            last_reconciled_time: Some(at("2026-11-29T10:00:00.5Z")),
            conditions: vec![Condition {
                kind: Condition::READY.to_owned(),
                status: Truth::False,
                reason: "Waiting".to_owned(),
                message: "db_instance/b is being created".to_owned(),
                last_transition_time: at("2026-11-29T09:59:00Z"),
            }],
            ..ObjectStatus::default()
        }
    }

    #[test]
    fn the_table_gives_a_row_to_each_object_and_a_reason_to_each_that_is_not_ready() {
        let (a, b) = (Key::workspace("a"), Key::workspace("payments-prod"));
        let (new, waiting) = (ObjectStatus::default(), waiting());
        let text = status(
            &[
                Told { key: &a, generation: Generation(0), status: &new },
                Told { key: &b, generation: Generation(2), status: &waiting },
            ],
            &[],
            Style::Plain,
        );
        let expected = "\
OBJECT                   READY    REASON      REVISION  LAST PASS             NEXT PASS
Workspace/a              Unknown  NotSeenYet  -         -                     -
Workspace/payments-prod  False    Waiting     1a2b3c4d  2026-11-29T10:00:00Z  -
  db_instance/b is being created

0 of 2 as declared; 1 NotSeenYet, 1 Waiting
";
        assert_eq!(text, expected);
        assert_eq!(status(&[], &[], Style::Plain), "no objects are known yet\n");
    }

    #[test]
    fn one_object_is_told_with_its_conditions() {
        let (key, waiting) = (Key::workspace("b"), waiting());
        let told = Told { key: &key, generation: Generation(3), status: &waiting };
        let expected = "\
Workspace/b
  generation      3, worked on 2
  revision        1a2b3c4d5e6f
  last pass       2026-11-29T10:00:00Z
  last converged  -
  next pass       none, until its manifest or the settings change, or a person asks

  conditions
    Ready        False   Waiting since 2026-11-29T09:59:00Z
      db_instance/b is being created
";
        assert_eq!(object(&told, Style::Plain), expected);
    }

    fn in_trouble(kind: &str, status: Truth, message: &str) -> ObjectStatus {
        let condition = Condition {
            kind: kind.to_owned(),
            status,
            reason: "Reason".to_owned(),
            message: message.to_owned(),
            last_transition_time: at("2026-11-29T09:59:00Z"),
        };
        ObjectStatus { conditions: vec![condition], ..ObjectStatus::default() }
    }

    #[test]
    fn the_table_tells_what_keeps_an_object_from_being_worked_on() {
        for (kind, truth, expected) in [
            (Condition::VALID, Truth::False, "  invalid: a.yaml:3:1: no; generation 2 stays\n"),
            (
                Condition::SUSPENDED,
                Truth::True,
                "  suspended: a.yaml:3:1: no; generation 2 stays\n",
            ),
            (Condition::FAILED, Truth::True, "  given up: a.yaml:3:1: no; generation 2 stays\n"),
            (Condition::STALLED, Truth::True, "  stalled: a.yaml:3:1: no; generation 2 stays\n"),
        ] {
            let key = Key::workspace("a");
            let render = |truth| {
                let status = in_trouble(kind, truth, "a.yaml:3:1: no;\n generation 2 stays");
                let told = Told { key: &key, generation: Generation(0), status: &status };
                super::status(&[told], &[], Style::Plain)
            };
            assert!(render(truth).contains(expected), "{}", render(truth));
            let usual = if truth == Truth::True { Truth::False } else { Truth::True };
            assert!(!render(usual).contains("stays"), "{}", render(usual));
        }
    }

    #[test]
    fn the_table_tells_of_drift_and_of_a_generation_that_waits() {
        let row = |field: &str| DriftStatus {
            resource: crate::report::text::sample::plan().steps[1].resource.clone(),
            field: field.to_owned(),
            actual: serde_json::json!(1),
            declared: serde_json::json!(7),
            first_seen: at("2026-11-29T09:59:00Z"),
            disposition: "Reported".to_owned(),
            changed_by: None,
        };
        let drift = ["a", "b", "c", "d", "e"].map(row).to_vec();
        let (key, status) = (Key::workspace("a"), ObjectStatus { drift, ..waiting() });
        let told = Told { key: &key, generation: Generation(3), status: &status };
        let text = super::status(&[told], &[], Style::Plain);
        let first = "  drift: db_parameter_group/team-payments-prod a: 7 is declared, AWS has 1; Reported, \
                     first seen 2026-11-29T09:59:00Z\n";
        assert!(text.contains(first), "{text}");
        assert!(text.contains("  drift: 2 more fields\n"), "{text}");
        assert!(text.contains("  new: generation 3 has not been worked on yet\n"), "{text}");
    }
}
