//! How a review says things.

use serde_json::Value;

use crate::model::review::{Edit, Effect, FieldCause, FieldReview, ObjectReview, Safety, When};
use crate::model::{Action, Disruption};
use crate::report::page::{Line, Mark};
use crate::report::text::plan::disrupts;
use crate::report::text::value;

/// Says a number of things.
pub(super) fn count(number: usize, word: &str) -> String {
    match number {
        1 => format!("1 {word}"),
        _ => format!("{number} {word}s"),
    }
}

/// Says a number of things that do something.
pub(super) fn they(number: usize, word: &str, one: &str, many: &str) -> String {
    format!("{} {}", count(number, word), if number == 1 { one } else { many })
}

/// Returns the sign of how safe something is.
pub(super) fn mark(safety: Safety) -> Mark {
    match safety {
        Safety::Safe => Mark::Good,
        Safety::Care => Mark::Look,
        Safety::Broken => Mark::Bad,
    }
}

/// Says when something is applied.
pub(super) fn when(when: &When) -> String {
    match when {
        When::Now => "at once".to_owned(),
        When::Window(Some(window)) => format!("in the window {window}"),
        When::Window(None) => "in the maintenance window".to_owned(),
        When::Grace => "after the grace period".to_owned(),
        When::Until(time) => format!("snoozed until {}", time.strftime("%Y-%m-%d %H:%M UTC")),
        When::Confirmed => "when a person confirms it".to_owned(),
        When::Settled { on, .. } => format!("waits: {on}"),
        When::Left => "left as it is".to_owned(),
        When::Refused => "refused".to_owned(),
        When::Unknown(why) => format!("not known: {}", public(why)),
        When::Nothing => "nothing to do".to_owned(),
    }
}

/// Returns what may be told of why AWS was not read: whom AWS refused is nobody's business.
pub(super) fn public(why: &str) -> &str {
    why.split_once(": ").map_or(why, |(what, _)| what)
}

/// Says what a change disrupts and when it is applied.
pub(super) fn disrupts_when(disruption: Disruption, at: &When) -> String {
    match disrupts(disruption) {
        Some(what) => format!("{what}, {}", when(at)),
        None => when(at),
    }
}

/// Tells whether somebody notices the change while it is applied; locked storage is not noticed.
pub(super) fn interrupts(disruption: Disruption) -> bool {
    !matches!(disruption, Disruption::None | Disruption::StorageLock)
}

/// Says what the merge does to an object, in few words.
pub(super) fn deed(object: &ObjectReview) -> String {
    if object.obstacle.is_some() {
        return "cannot be planned".to_owned();
    }
    let told: Vec<String> = deeds(object).into_iter().collect();
    match (told.is_empty(), object.edit) {
        (false, _) => told.join(", "),
        (true, Edit::Broken) => "has mistakes; its last good version stays in force".to_owned(),
        (true, Edit::Removed) => "is removed; it has nothing in AWS".to_owned(),
        (true, Edit::Annotated) => "changes annotations only".to_owned(),
        (true, _) => "changes nothing in AWS".to_owned(),
    }
}

fn deeds(object: &ObjectReview) -> Vec<String> {
    let actions = |action: Action| {
        let proposed = object.effects.iter().filter(|it| it.proposed && it.when != When::Refused);
        proposed.filter(|effect| effect.action == action).count()
    };
    let fields = |test: fn(&FieldReview) -> bool| {
        object.effects.iter().flat_map(|it| &it.fields).filter(|field| test(field)).count()
    };
    let refused = object.effects.iter().flat_map(|it| &it.refusals);
    let counts = [
        (refused.filter(|told| told.proposed).count(), "refused", ""),
        (actions(Action::Delete), "deletes", "resource"),
        (actions(Action::Retain), "leaves", "resource"),
        (actions(Action::Create), "creates", "resource"),
        (actions(Action::Adopt), "takes over", "resource"),
        (fields(|it| it.is_proposed() && it.when != When::Refused), "changes", "field"),
        (fields(|field| field.cause == FieldCause::Accepted), "accepts", "field"),
        (fields(is_beside), "beside it", "field"),
    ];
    counts.into_iter().filter(|(number, ..)| *number > 0).map(say).collect()
}

fn say((number, deed, word): (usize, &str, &str)) -> String {
    match deed {
        "refused" => format!("{number} refused"),
        "beside it" => format!("{} already", they(number, word, "differs", "differ")),
        _ => format!("{deed} {}", count(number, word)),
    }
}

/// Tells whether a field differs whether or not the merge is made.
pub(super) fn is_beside(field: &FieldReview) -> bool {
    matches!(field.cause, FieldCause::Drifted | FieldCause::Behind)
}

/// Says what happens to a resource.
pub(super) fn fate(effect: &Effect) -> String {
    let what = match effect.action {
        Action::Create => "is created",
        Action::Update => "is changed",
        Action::Adopt => "is taken over",
        Action::Retain => "stays in AWS and is managed no longer",
        Action::Delete => "is deleted",
        Action::Nothing | Action::Read => "",
    };
    let has_fate = !what.is_empty();
    match &effect.when {
        When::Nothing | When::Now if has_fate => what.to_owned(),
        When::Nothing | When::Now => "stays as it is".to_owned(),
        later if has_fate && effect.action != Action::Update => {
            format!("{what}, {}", when(later))
        }
        When::Window(_) if has_fate => what.to_owned(),
        later if has_fate => format!("{what}, {}", when(later)),
        later => when(later),
    }
}

/// Returns the place of a field in the manifest.
pub(super) fn path(section: &str, field: &str) -> String {
    match (section, field) {
        ("", field) => field.to_owned(),
        (section, "") => section.to_owned(),
        (section, field) => format!("{section}.{field}"),
    }
}

/// Writes a value within a line.
pub(super) fn short(value: Option<&Value>) -> Line {
    match value {
        None | Some(Value::Null) => Line::new().text("nothing"),
        Some(Value::String(text)) if is_plain(text) => Line::new().code(text),
        Some(other) => Line::new().code(value::inline(other)),
    }
}

/// Tells whether a text needs no quotes to be told from what is no text.
fn is_plain(text: &str) -> bool {
    let is_visible = |letter: char| !letter.is_whitespace() && !letter.is_control();
    let is_other = serde_json::from_str::<Value>(text).is_ok();
    !text.is_empty() && text.chars().all(is_visible) && !is_other && !text.starts_with('"')
}

/// Puts the first few lines under each other and counts the others.
pub(super) fn few(mut lines: Vec<Line>, most: usize) -> Line {
    let rest = lines.len().saturating_sub(most);
    lines.truncate(most);
    lines.extend((rest > 0).then(|| Line::new().text(format!("and {rest} more"))));
    Line::stack(lines)
}
