//! What is folded away: the mistakes in the manifests, and each object field by field.

use serde_json::Value;

use super::words::{count, deed, disrupts_when, fate, is_beside, mark, path, short, when};
use crate::model::review::{Edit, Effect, FieldCause, FieldReview, ObjectReview, When};
use crate::model::{Action, Key, Review, Severity};
use crate::report::page::{Block, Fold, Line, Mark};
use crate::report::style::Style;
use crate::report::text::{self, value};

/// So many lines of one long value are shown.
const LINES: usize = 60;

/// So many lines of mistakes are shown.
const MISTAKES: usize = 150;

/// Returns the mistakes and notices at their lines, if there are any.
pub(super) fn mistakes(review: &Review) -> Option<Fold> {
    if review.problems.is_empty() {
        return None;
    }
    let errors = review.problems.iter().filter(|it| it.severity == Severity::Error).count();
    let notices = review.problems.len() - errors;
    let (mark, told) = match (errors, notices) {
        (0, notices) => (Mark::Note, count(notices, "notice")),
        (errors, 0) => (Mark::Bad, count(errors, "mistake")),
        _ => (Mark::Bad, format!("{}, {}", count(errors, "mistake"), count(notices, "notice"))),
    };
    let summary = Line::new().mark(mark).strong(told).text(" in the manifests");
    let lines = text::problems(&review.problems, Style::Plain);
    let blocks = vec![Block::difference(&lines, MISTAKES)];
    Some(Fold { summary, open: errors > 0, blocks })
}

/// Returns a fold for each object.
pub(super) fn folds(review: &Review) -> impl Iterator<Item = Fold> {
    let is_only = review.objects.len() == 1;
    review.objects.iter().map(move |object| Fold {
        summary: summary(object),
        open: is_only && !object.effects.is_empty(),
        blocks: blocks(object, &review.onto),
    })
}

fn summary(object: &ObjectReview) -> Line {
    let what = format!(" in {}: {}", object.environment, deed(object));
    Line::new().mark(mark(object.safety())).strong(object.key.to_string()).text(what)
}

fn blocks(object: &ObjectReview, onto: &str) -> Vec<Block> {
    let mut blocks = vec![Block::Text(Line::new().faint("declared in ").code(&object.path))];
    blocks.extend(holds(object).map(Block::Text));
    if let Some(why) = &object.obstacle {
        blocks.push(Block::Text(Line::new().mark(Mark::Bad).text(why)));
    }
    for effect in &object.effects {
        blocks.extend(resource(effect, &object.key, onto));
    }
    if object.effects.is_empty() && object.obstacle.is_none() {
        blocks.push(Block::Text(Line::new().text(rest(object))));
    }
    blocks
}

/// Says what there is to say of an object with which nothing happens.
fn rest(object: &ObjectReview) -> String {
    match object.edit {
        Edit::Broken => "Its file has mistakes: its last good version stays in force.".to_owned(),
        _ => format!("The merge {}.", deed(object)),
    }
}

fn holds(object: &ObjectReview) -> impl Iterator<Item = Line> {
    let holds = &object.holds;
    let suspended = holds.is_suspended().then(|| {
        let told = format!("Suspended by {}: nothing is changed.", holds.suspenders());
        Line::new().mark(Mark::Later).text(told)
    });
    let snoozed = holds.snoozed.as_ref().map(|snooze| {
        let until = snooze.until.strftime("%Y-%m-%d %H:%M UTC");
        let told = format!("Snoozed until {until} by {}: drift is left.", snooze.by);
        Line::new().mark(Mark::Later).text(told)
    });
    suspended.into_iter().chain(snoozed)
}

fn resource(effect: &Effect, object: &Key, onto: &str) -> Vec<Block> {
    let region = format!(" in {} {}", effect.resource.scope.region, fate(effect));
    let title = Line::new().mark(sign(effect)).code(effect.resource.to_string()).text(region);
    let mut blocks = vec![Block::Text(title)];
    let (long, brief): (Vec<_>, Vec<_>) = effect.fields.iter().partition(|field| is_long(field));
    if !brief.is_empty() {
        blocks.push(table(effect, &brief, onto));
    }
    for field in long {
        blocks.extend(at_length(effect, field));
    }
    let remarks = remarks(effect, object);
    if !remarks.is_empty() {
        blocks.push(Block::Items(remarks));
    }
    blocks
}

fn sign(effect: &Effect) -> Mark {
    if effect.proposed { mark(effect.safety()) } else { Mark::Note }
}

fn table(effect: &Effect, fields: &[&FieldReview], onto: &str) -> Block {
    let row = |field: &&FieldReview| {
        let name = Line::new().code(path(&effect.section, &field.field));
        vec![name, change(field, onto), Line::new().and(consequence(field))]
    };
    let head = match effect.action {
        Action::Create => ["Field", "Value", "When"],
        _ => ["Field", "Change", "What happens"],
    };
    let head = head.map(|word| Line::new().text(word)).to_vec();
    Block::Table { head, rows: fields.iter().map(row).collect() }
}

/// Writes what a field is and becomes, three ways where the three differ.
fn change(field: &FieldReview, onto: &str) -> Line {
    let value = |side: &Option<Value>| short(side.as_ref());
    let to = |from: Line| from.text(" → ").and(value(&field.after));
    match field.cause {
        FieldCause::New => value(&field.after),
        FieldCause::Changed | FieldCause::Same => to(value(&field.before)),
        FieldCause::Drifted | FieldCause::Behind => to(value(&field.actual)),
        FieldCause::Overtaken => {
            let from = value(&field.before).text(format!(" on {onto}, "));
            to(from.and(value(&field.actual)).text(" in AWS"))
        }
        FieldCause::Accepted => {
            let from = value(&field.before).text(format!(" on {onto}, "));
            from.and(value(&field.actual)).text(" in AWS and in this merge")
        }
    }
}

/// Says what happens to a field and when.
fn consequence(field: &FieldReview) -> Line {
    let applied = Line::new().text(disrupts_when(field.disruption, &field.when));
    match field.cause {
        FieldCause::New => Line::new().text(when(&field.when)),
        FieldCause::Changed if field.security => applied.text(", a protection"),
        FieldCause::Changed => applied,
        FieldCause::Overtaken => {
            let what = Line::new().strong("replaces a change made in AWS");
            what.text(by(field)).text(", ").and(applied)
        }
        FieldCause::Drifted => {
            Line::new().strong("drift").text(by(field)).text(", ").and(mended(field))
        }
        FieldCause::Behind => Line::new().strong("differs already").text(", ").and(mended(field)),
        FieldCause::Accepted => Line::new().text("accepts what AWS has"),
        FieldCause::Same if matches!(field.when, When::Unknown(_)) => applied,
        FieldCause::Same => Line::new().text("makes no difference in AWS"),
    }
}

/// Names who made drift, by neither account nor role: whoever reads the repository may read it.
fn by(field: &FieldReview) -> String {
    field.changed_by.as_ref().map(|it| format!(" by {}", it.name())).unwrap_or_default()
}

/// Says when a difference is mended that the merge has no part in.
fn mended(field: &FieldReview) -> Line {
    let time = disrupts_when(field.disruption, &field.when);
    match field.when {
        When::Now | When::Window(_) => Line::new().text(format!("put right {time}")),
        _ => Line::new().text(time),
    }
}

/// Tells whether a field is better read line by line.
fn is_long(field: &FieldReview) -> bool {
    let (from, to) = ends(field);
    value::is_long(&from, &to)
}

/// Returns what a field is and what it becomes.
fn ends(field: &FieldReview) -> (Value, Value) {
    let from = match field.cause {
        FieldCause::Changed | FieldCause::Same => &field.before,
        _ => &field.actual,
    };
    (from.clone().unwrap_or(Value::Null), field.after.clone().unwrap_or(Value::Null))
}

fn at_length(effect: &Effect, field: &FieldReview) -> [Block; 2] {
    let place = Line::new().code(path(&effect.section, &field.field)).text(": ");
    let (from, to) = ends(field);
    let lines = value::by_line(&from, &to, "", Style::Plain);
    [Block::Text(place.and(consequence(field))), Block::difference(&lines, LINES)]
}

fn remarks(effect: &Effect, object: &Key) -> Vec<Line> {
    let place = |field: &str| Line::new().code(path(&effect.section, field)).text(": ");
    let already = |proposed: bool| if proposed { "" } else { " (so already)" };
    let mut remarks = Vec::new();
    for told in &effect.refusals {
        let refusal = &told.what;
        let line = Line::new().mark(Mark::Bad).strong("refused ").and(place(&refusal.field));
        let line = line.text(format!("{}{}", refusal.message, already(told.proposed)));
        remarks.push(match refusal.help.as_str() {
            "" => line,
            help => line.text(format!("; {help}")),
        });
    }
    for told in &effect.waits {
        let line = Line::new().mark(Mark::Later).strong("waits ").and(place(&told.what.field));
        remarks.push(line.text(format!("{}{}", told.what.reason, already(told.proposed))));
    }
    for told in &effect.notices {
        let line = Line::new().mark(Mark::Note).and(place(&told.what.field));
        remarks.push(line.text(format!("{}{}", told.what.message, already(told.proposed))));
    }
    if effect.fields.iter().any(is_beside) {
        let line = Line::new().mark(Mark::Note);
        remarks.push(line.text("What differs already is so whether or not this is merged."));
    }
    let drifted = effect.fields.iter().filter(|field| field.cause == FieldCause::Drifted);
    remarks.extend(drifted.map(|field| {
        let member = path(&effect.section, &field.field);
        let command = format!("levelset accept {} {member}", object.name);
        let line = Line::new().mark(Mark::Note).text("To keep what AWS has: ");
        line.code(command)
    }));
    remarks
}
