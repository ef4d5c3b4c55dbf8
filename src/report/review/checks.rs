//! The table that answers whether a merge is safe, question by question.

use std::collections::BTreeMap;

use super::verdict::effects;
use super::words::{
    count, disrupts_when, few, interrupts, is_beside, path, public, short, they, when,
};
use crate::model::review::{Edit, Effect, FieldCause, FieldReview, Look, Trouble, When};
use crate::model::{Action, Disruption, Review, Severity};
use crate::report::page::{Block, Line, Mark};

/// So many examples stand under an answer.
const MOST: usize = 3;

/// One question: how it stands, what it is about, and the answer.
struct Check(Mark, &'static str, Line);

/// Makes the table.
pub(super) fn table(review: &Review) -> Block {
    let row = |Check(mark, about, answer): Check| vec![Line::new().mark(mark).text(about), answer];
    let head = vec![Line::new(), Line::new().text("Is it safe to merge?")];
    Block::Table { head, rows: checks(review).into_iter().map(row).collect() }
}

fn checks(review: &Review) -> Vec<Check> {
    if let Some(trouble) = &review.trouble {
        return vec![Check(Mark::Bad, "Merge", troubled(trouble))];
    }
    let mut checks = vec![manifests(review)];
    if let Look::Withheld(why) = &review.look {
        let answer = Line::new().strong("It was not compared with AWS").text(format!(": {why}"));
        checks.push(Check(Mark::Look, "AWS", answer));
        return checks;
    }
    checks.extend([refused(review), removed(review), interrupted(review), protected(review)]);
    checks.push(drifted(review));
    checks.extend(unread(review));
    checks.push(timely(review));
    checks
}

fn good(about: &'static str, answer: &str) -> Check {
    Check(Mark::Good, about, Line::new().text(answer))
}

/// Puts examples under an answer that stands out.
fn told(answer: &str, examples: Vec<Line>) -> Line {
    Line::stack([Line::new().strong(answer), few(examples, MOST)])
}

fn troubled(trouble: &Trouble) -> Line {
    match trouble {
        Trouble::Conflicts(paths) => {
            let files = paths.iter().map(|path| Line::new().code(path)).collect();
            told("No: both sides changed the same places", files)
        }
        Trouble::Refused(why) => {
            Line::new().strong("No: the agent would not take it").text(format!(": {why}"))
        }
    }
}

fn manifests(review: &Review) -> Check {
    let wrong = review.problems.iter().filter(|problem| problem.severity == Severity::Error);
    let places: Vec<Line> = wrong
        .map(|problem| {
            let place = format!("{}:{}", problem.position.path, problem.position.line);
            Line::new().code(place).text(format!(" {}", problem.message))
        })
        .collect();
    if places.is_empty() {
        let touched = they(review.objects.len(), "object", "is", "are");
        return good("Manifests", &format!("Good; {touched} touched"));
    }
    let answer = count(places.len(), "mistake");
    Check(Mark::Bad, "Manifests", told(&answer, places))
}

fn refused(review: &Review) -> Check {
    let mut examples = Vec::new();
    for effect in effects(review) {
        let own = effect.refusals.iter().filter(|refusal| refusal.proposed);
        examples.extend(own.map(|refusal| {
            let place = path(&effect.section, &refusal.what.field);
            let line = Line::new().code(place).text(" of ").and(named(effect));
            line.text(format!(": {}", refusal.what.message))
        }));
    }
    for object in &review.objects {
        let key = || Line::new().code(object.key.to_string());
        examples.extend(object.obstacle.as_ref().map(|why| key().text(format!(": {why}"))));
    }
    if examples.is_empty() {
        return good("Refused", "Nothing");
    }
    let answer = they(examples.len(), "change", "is refused", "are refused");
    Check(Mark::Bad, "Refused", told(&answer, examples))
}

fn named(effect: &Effect) -> Line {
    Line::new().code(effect.resource.to_string())
}

fn removed(review: &Review) -> Check {
    let gone = |action: Action| -> Vec<Line> {
        let all = effects(review).filter(|it| it.proposed && it.action == action);
        all.filter(|it| !matches!(it.when, When::Nothing | When::Refused)).map(farewell).collect()
    };
    let (mut deleted, left) = (gone(Action::Delete), gone(Action::Retain));
    let answer = match (deleted.len(), left.len()) {
        (0, 0) => return good("Removed", "Nothing"),
        (0, number) => they(number, "resource", "is given up", "are given up"),
        (number, 0) => they(number, "resource", "is deleted", "are deleted"),
        (number, others) => {
            let deleted = they(number, "resource", "is deleted", "are deleted");
            format!("{deleted}, {others} given up")
        }
    };
    deleted.extend(left);
    Check(Mark::Look, "Removed", told(&answer, deleted))
}

fn farewell(effect: &Effect) -> Line {
    if effect.action == Action::Retain {
        return named(effect).text(" stays in AWS, managed by nobody");
    }
    let line = named(effect).text(format!(" {}", when(&effect.when)));
    match effect.notices.first() {
        Some(notice) => line.text(format!(": {}", notice.what.message)),
        None => line,
    }
}

fn interrupted(review: &Review) -> Check {
    let hit: Vec<&Effect> = effects(review).filter(|it| interrupts(it.disruption())).collect();
    let examples = hit.iter().map(|effect| named(effect).text(": ").and(interruption(effect)));
    if !hit.is_empty() {
        let answer = they(hit.len(), "resource", "is interrupted", "are interrupted");
        return Check(Mark::Look, "Interrupted", told(&answer, examples.collect()));
    }
    let is_locked = |effect: &&Effect| effect.disruption() == Disruption::StorageLock;
    let locked: Vec<Line> = effects(review).filter(is_locked).map(named).collect();
    match locked.is_empty() {
        true => good("Interrupted", "Nothing"),
        false => {
            let answer = Line::new().text("Nothing; storage takes no other change for six hours:");
            Check(Mark::Good, "Interrupted", Line::stack([answer, few(locked, MOST)]))
        }
    }
}

/// Says how a resource is interrupted, by the worst of its fields.
fn interruption(effect: &Effect) -> Line {
    let own = effect.fields.iter().filter(|field| field.is_proposed());
    match own.max_by_key(|field| field.disruption) {
        Some(field) => Line::new().text(disrupts_when(field.disruption, &field.when)),
        None => Line::new(),
    }
}

fn protected(review: &Review) -> Check {
    let examples: Vec<Line> = fields(review)
        .filter(|(_, field)| field.is_proposed() && field.security)
        .map(|(effect, field)| {
            let place = path(&effect.section, &field.field);
            let value = |side: &Option<_>| short(side.as_ref());
            let line = Line::new().code(place).text(" of ").and(named(effect)).text(": ");
            line.and(value(&field.actual)).text(" → ").and(value(&field.after))
        })
        .collect();
    if examples.is_empty() {
        return good("Protection", "Stays as it is");
    }
    let answer = they(examples.len(), "protection", "is changed", "are changed");
    Check(Mark::Look, "Protection", told(&answer, examples))
}

fn fields(review: &Review) -> impl Iterator<Item = (&Effect, &FieldReview)> {
    effects(review).flat_map(|effect| effect.fields.iter().map(move |field| (effect, field)))
}

fn drifted(review: &Review) -> Check {
    let (overtaken, examples) = differing(review, |it| it.cause == FieldCause::Overtaken);
    if overtaken > 0 {
        let meanwhile = they(overtaken, "field", "was", "were");
        let answer = format!("{meanwhile} changed in AWS meanwhile, which this merge replaces");
        return Check(Mark::Look, "Drift", told(&answer, examples));
    }
    let (mut beside, mut examples) = differing(review, is_beside);
    let is_missing = |effect: &&Effect| !effect.proposed && effect.action == Action::Create;
    let missing: Vec<Line> =
        effects(review).filter(is_missing).map(|it| named(it).text(" is missing")).collect();
    beside += missing.len();
    examples.extend(missing);
    if beside == 0 {
        return good("Drift", "None: AWS is as Git says");
    }
    let answer = they(beside, "difference", "is", "are") + " there whether or not this is merged";
    Check(Mark::Note, "Drift", told(&answer, examples))
}

/// Counts the fields that differ in a way, and names them resource by resource.
fn differing(review: &Review, test: fn(&FieldReview) -> bool) -> (usize, Vec<Line>) {
    let found: Vec<_> = fields(review).filter(|(_, field)| test(field)).collect();
    let mut places: BTreeMap<String, Vec<Line>> = BTreeMap::new();
    for (effect, field) in &found {
        let place = Line::new().code(path(&effect.section, &field.field));
        places.entry(effect.resource.to_string()).or_default().push(place);
    }
    let line = |(resource, mut fields): (String, Vec<Line>)| {
        let rest = fields.len().saturating_sub(MOST);
        fields.truncate(MOST);
        let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        Line::join(fields, ", ").text(format!("{more} of ")).code(resource)
    };
    (found.len(), places.into_iter().map(line).collect())
}

fn unread(review: &Review) -> Option<Check> {
    let examples: Vec<Line> = effects(review)
        .filter_map(|effect| match &effect.when {
            When::Unknown(why) => Some(named(effect).text(format!(": {}", public(why)))),
            _ => None,
        })
        .collect();
    let answer = format!("AWS could not be read for {}", count(examples.len(), "resource"));
    (!examples.is_empty()).then(|| Check(Mark::Look, "Unknown", told(&answer, examples)))
}

fn timely(review: &Review) -> Check {
    if let Some(frozen) = &review.frozen {
        let answer = Line::new().strong("A guard holds it back").text(format!(": {frozen}"));
        return Check(Mark::Look, "When", answer);
    }
    let mut later: Vec<String> = Vec::new();
    for effect in effects(review) {
        let own = effect.fields.iter().filter(|field| field.is_proposed());
        let times = own.map(|field| &field.when).chain(effect.proposed.then_some(&effect.when));
        later.extend(times.filter(|time| is_later(time)).map(when));
    }
    let held =
        review.objects.iter().filter(|it| it.holds.is_suspended() && it.edit != Edit::Broken);
    later.extend(held.map(|object| format!("{} is suspended", object.key)));
    later.sort();
    later.dedup();
    match later.is_empty() {
        true => good("When", "Right after the merge"),
        false => {
            let times = later.into_iter().map(|time| Line::new().text(time)).collect();
            Check(Mark::Later, "When", told("Some of it comes later", times))
        }
    }
}

fn is_later(time: &When) -> bool {
    !matches!(time, When::Now | When::Nothing | When::Refused | When::Unknown(_))
}
