//! The one line that says whether a merge is safe.

use super::words::{count, mark, they};
use crate::model::review::{Edit, Effect, FieldCause, FieldReview, Look, Safety, Trouble, When};
use crate::model::{Action, Disruption, Review, Severity};
use crate::report::page::Line;

/// So many reasons are told in the one line.
const MOST: usize = 4;

/// Says whether a merge is safe, with the reasons, in one line of plain text.
pub fn verdict(review: &Review) -> String {
    format!("{}: {}", word(review.safety()), reasons(review))
}

pub(super) fn line(review: &Review) -> Line {
    Line::new().mark(mark(review.safety())).text(verdict(review))
}

fn word(safety: Safety) -> &'static str {
    match safety {
        Safety::Safe => "Safe to merge",
        Safety::Care => "Look before you merge",
        Safety::Broken => "Not ready to merge",
    }
}

fn reasons(review: &Review) -> String {
    let reasons = match review.safety() {
        Safety::Broken => broken(review),
        Safety::Care => careful(review),
        Safety::Safe => return harmless(review),
    };
    let rest = reasons.len().saturating_sub(MOST);
    let shown: Vec<String> = reasons.into_iter().take(MOST).collect();
    match rest {
        0 => shown.join(", "),
        _ => format!("{}, and more", shown.join(", ")),
    }
}

fn broken(review: &Review) -> Vec<String> {
    match &review.trouble {
        Some(Trouble::Conflicts(paths)) => {
            return vec![format!("conflicts in {}", count(paths.len(), "file"))];
        }
        Some(Trouble::Refused(_)) => return vec!["the agent would not take it".to_owned()],
        None => {}
    }
    let errors = review.problems.iter().filter(|it| it.severity == Severity::Error).count();
    let refused = effects(review).flat_map(|it| &it.refusals).filter(|it| it.proposed).count();
    let lost = review.objects.iter().filter(|it| it.obstacle.is_some()).count();
    some([
        (errors, format!("{} in the manifests", count(errors, "mistake"))),
        (refused, they(refused, "change", "is refused", "are refused")),
        (lost, they(lost, "object", "cannot be planned", "cannot be planned")),
    ])
}

fn careful(review: &Review) -> Vec<String> {
    let deleted = acting(review, Action::Delete);
    let left = acting(review, Action::Retain);
    let adopted = acting(review, Action::Adopt);
    let protected = proposed(review).filter(|field| field.security).count();
    let overtaken = proposed(review).filter(|it| it.cause == FieldCause::Overtaken).count();
    let unknown = effects(review).filter(|it| matches!(it.when, When::Unknown(_))).count();
    let is_withheld = matches!(review.look, Look::Withheld(_));
    let mut reasons = some([
        (deleted, format!("deletes {}", count(deleted, "resource"))),
        (left, format!("gives up {}", count(left, "resource"))),
    ]);
    reasons.extend(disruptions(review));
    reasons.extend(some([
        (protected, format!("changes {}", count(protected, "protection"))),
        (adopted, format!("takes over {}", count(adopted, "resource"))),
        (overtaken, they(overtaken, "field", "was", "were") + " changed in AWS meanwhile"),
        (usize::from(review.frozen.is_some()), "a guard holds it back".to_owned()),
        (usize::from(is_withheld), "not compared with AWS".to_owned()),
        (
            if is_withheld { 0 } else { unknown },
            format!("AWS could not be read for {}", count(unknown, "resource")),
        ),
    ]));
    reasons
}

/// Counts the resources that are interrupted, by the worst that happens to each.
fn disruptions(review: &Review) -> Vec<String> {
    let worst = |disruption| effects(review).filter(|it| it.disruption() == disruption).count();
    let told = [
        (Disruption::Replace, "replacement"),
        (Disruption::Failover, "failover"),
        (Disruption::Reboot, "reboot"),
        (Disruption::Brief, "brief interruption"),
    ];
    let counted = told.map(|(disruption, word)| (worst(disruption), word));
    counted.into_iter().filter(|(number, _)| *number > 0).map(|(n, word)| count(n, word)).collect()
}

fn harmless(review: &Review) -> String {
    let created = acting(review, Action::Create);
    let changed = proposed(review).count();
    let removed = review.objects.iter().filter(|it| it.edit == Edit::Removed).count();
    let deeds = some([
        (created, format!("creates {}", count(created, "resource"))),
        (changed, format!("changes {}", count(changed, "field"))),
        (removed, format!("removes {} that has nothing in AWS", count(removed, "object"))),
    ]);
    match deeds.is_empty() {
        true => "nothing changes in AWS".to_owned(),
        false => format!("{}; nothing is interrupted", deeds.join(", ")),
    }
}

fn some<const N: usize>(reasons: [(usize, String); N]) -> Vec<String> {
    reasons.into_iter().filter(|(number, _)| *number > 0).map(|(_, text)| text).collect()
}

/// Lists everything that happens to resources.
pub(super) fn effects(review: &Review) -> impl Iterator<Item = &Effect> {
    review.objects.iter().flat_map(|object| &object.effects)
}

/// Lists the fields that the merge changes in AWS.
fn proposed(review: &Review) -> impl Iterator<Item = &FieldReview> {
    effects(review).flat_map(|effect| &effect.fields).filter(|field| field.is_proposed())
}

/// Counts the resources to which the merge does something that is carried out some time.
fn acting(review: &Review, action: Action) -> usize {
    effects(review)
        .filter(|it| it.proposed && it.action == action)
        .filter(|it| !matches!(it.when, When::Nothing | When::Refused))
        .count()
}
