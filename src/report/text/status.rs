//! The status of objects: a table of all, or everything about one.
//!
//! In: [`Told`] objects. Out: text; every time is a time in UTC.

use jiff::Timestamp;

use crate::model::{Condition, ResourceStatus, status::DriftStatus, status::Truth};
use crate::report::Told;
use crate::report::style::{Ink, Style};
use crate::report::text::{plan, value};

const HEAD: [&str; 6] = ["OBJECT", "READY", "REASON", "REVISION", "LAST PASS", "NEXT PASS"];

/// Renders one row for each object, and below it the sentence of what is not ready.
pub fn status(objects: &[Told<'_>], style: Style) -> String {
    if objects.is_empty() {
        return "no objects are known yet\n".to_owned();
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
        text.push_str(&sentence(object, style));
    }
    text
}

fn row(object: &Told<'_>) -> [String; 6] {
    let status = object.status;
    let ready = status.condition(Condition::READY);
    [
        object.key.to_string(),
        truth_word(ready.map(|condition| condition.status)).to_owned(),
        ready.map_or("NotSeenYet", |condition| condition.reason.as_str()).to_owned(),
        status.revision.as_ref().map_or("-", |revision| revision.short()).to_owned(),
        time(status.last_reconciled_time),
        time(status.next_run_time),
    ]
}

fn ready(object: &Told<'_>) -> Option<Truth> {
    object.status.condition(Condition::READY).map(|condition| condition.status)
}

/// Says why an object is not ready; nothing when it is.
fn sentence(object: &Told<'_>, style: Style) -> String {
    match object.status.condition(Condition::READY) {
        Some(condition) if condition.status != Truth::True && !condition.message.is_empty() => {
            format!("  {}\n", style.paint(Ink::Faint, &condition.message))
        }
        _ => String::new(),
    }
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
        ("next pass", time(status.next_run_time)),
    ] {
        text.push_str(&format!("  {name:<15} {value}\n"));
    }
    text.push_str(&section("conditions", status.conditions.iter().map(|c| condition(c, style))));
    text.push_str(&section("resources", status.resources.iter().map(|r| resource(r, style))));
    text.push_str(&section("drift", status.drift.iter().map(|d| drift(d, style))));
    text
}

fn section(name: &str, items: impl Iterator<Item = String>) -> String {
    let body: String = items.collect();
    if body.is_empty() { String::new() } else { format!("\n  {name}\n{body}") }
}

fn condition(condition: &Condition, style: Style) -> String {
    // A condition other than Ready and Valid is good news when it does not hold.
    let good = matches!(condition.kind.as_str(), Condition::READY | Condition::VALID);
    let ink = match condition.status {
        Truth::Unknown => Ink::Warning,
        Truth::True if good => Ink::Added,
        Truth::False if good => Ink::Bad,
        Truth::True => Ink::Warning,
        Truth::False => Ink::Faint,
    };
    let word = style.paint(ink, format!("{:<7}", truth_word(Some(condition.status))));
    let since = time(Some(condition.last_transition_time));
    let text = format!("    {:<12} {word} {} since {since}\n", condition.kind, condition.reason);
    if condition.message.is_empty() { text } else { format!("{text}      {}\n", condition.message) }
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
        text.push_str(&format!("      {}\n", resource.message));
    }
    text.push_str(&plan::deltas("", &resource.deltas, style));
    text.extend(resource.refusals.iter().map(|refusal| plan::refused("", refusal, style)));
    text.extend(resource.waits.iter().map(|wait| plan::waits("", wait, style)));
    text.extend(resource.notices.iter().map(|notice| plan::noticed("", notice, style)));
    for (name, value) in &resource.outputs {
        text.push_str(&format!("      {name} = {}\n", value::inline(value)));
    }
    text
}

fn drift(drift: &DriftStatus, style: Style) -> String {
    format!(
        "    {} {}: {} is declared, AWS has {}; {}, first seen {}\n",
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
                Told { key: &a, generation: Generation(1), status: &new },
                Told { key: &b, generation: Generation(2), status: &waiting },
            ],
            Style::Plain,
        );
        let expected = "\
OBJECT                   READY    REASON      REVISION  LAST PASS             NEXT PASS
Workspace/a              Unknown  NotSeenYet  -         -                     -
Workspace/payments-prod  False    Waiting     1a2b3c4d  2026-11-29T10:00:00Z  -
  db_instance/b is being created
";
        assert_eq!(text, expected);
        assert_eq!(status(&[], Style::Plain), "no objects are known yet\n");
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
  next pass       -

  conditions
    Ready        False   Waiting since 2026-11-29T09:59:00Z
      db_instance/b is being created
";
        assert_eq!(object(&told, Style::Plain), expected);
    }
}
