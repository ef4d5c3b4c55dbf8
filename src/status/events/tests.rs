//! What is worth a line of history.

use super::*;
use crate::model::{Action, Origin, Step, StepOutcome, Verdict};
use crate::status::build::tests::{
    annotation, at, delta, denied, found, step, suspended_by, update,
};
use crate::status::build::{Found, build};

/// Runs passes one after the other and returns the reasons and messages of each.
fn told(passes: Vec<Found>) -> Vec<Vec<(String, String)>> {
    let key = Key::workspace("a");
    let mut status = ObjectStatus::default();
    let mut told = Vec::new();
    for found in passes {
        let new = build(&status, &found);
        let lines = events(&key, found.now, &status, &new);
        told.push(lines.into_iter().map(|event| (event.reason, event.message)).collect());
        status = new;
    }
    told
}

fn reasons(passes: Vec<Found>) -> Vec<Vec<String>> {
    let only = |lines: Vec<(String, String)>| lines.into_iter().map(|(reason, _)| reason).collect();
    told(passes).into_iter().map(only).collect()
}

fn settled(second: i64) -> Found {
    found(second, vec![(step("a"), StepOutcome::Unneeded)])
}

fn accepted() -> StepOutcome {
    StepOutcome::Accepted { calls: 1 }
}

#[test]
fn a_pass_without_news_has_no_line() {
    let lines = reasons(vec![settled(1), settled(2), settled(3)]);
    assert_eq!(lines, [vec!["Declared", "Converged"], vec![], vec![]]);
}

#[test]
fn a_creation_is_told_once() {
    let create = Step { action: Action::Create, ..update("a", vec![]) };
    let creating = Verdict::Waiting { code: "Creating".into(), on: "it is being made".into() };
    let waiting = || (Step { verdict: creating.clone(), ..step("a") }, StepOutcome::Unneeded);
    let lines = reasons(vec![
        found(1, vec![(create, accepted())]),
        found(2, vec![waiting()]),
        found(3, vec![waiting()]),
        settled(4),
    ]);
    assert_eq!(lines, [vec!["Declared", "Created"], vec![], vec![], vec!["Converged"]]);
}

#[test]
fn drift_is_told_when_it_is_seen_and_when_it_is_put_back() {
    let revert = || (update("a", vec![delta("x", Origin::Drift)]), accepted());
    let lines = told(vec![settled(1), found(2, vec![revert()]), settled(3)]);
    let expected = [
        ("Drifted".to_owned(), "db_instance/a x is 20, Git declares 50".to_owned()),
        ("Reverted".to_owned(), "db_instance/a: x from 20 to 50".to_owned()),
    ];
    assert_eq!(lines[1], expected);
    assert_eq!(lines[2], [("Converged".to_owned(), "everything is as declared".to_owned())]);
}

#[test]
fn drift_that_is_only_reported_is_told_once_and_when_it_ends() {
    let reported = || {
        let step = update("a", vec![delta("x", Origin::Drift)]);
        (Step { verdict: Verdict::Reported, ..step }, StepOutcome::Unneeded)
    };
    let lines = reasons(vec![
        settled(1),
        found(2, vec![reported()]),
        found(3, vec![reported()]),
        settled(4),
    ]);
    assert_eq!(lines[1..], [vec!["Drifted"], vec![], vec!["DriftGone", "Converged"]]);
}

#[test]
fn the_same_change_sent_again_is_no_news_and_another_one_is() {
    let change = |field| found(1, vec![(update("a", vec![delta(field, Origin::Git)]), accepted())]);
    let lines = reasons(vec![change("x"), change("x"), change("y")]);
    assert_eq!(lines, [vec!["Declared", "Updated"], vec![], vec!["Updated"]]);
}

#[test]
fn a_failure_is_told_once_and_its_ceiling_once() {
    let failing =
        |second| found(second, vec![(update("a", vec![delta("x", Origin::Git)]), denied("no"))]);
    let ceiling = Found { failed: true, ..failing(3) };
    let after = Found { failed: true, ..found(4, vec![]) };
    let lines = reasons(vec![failing(1), failing(2), ceiling, after]);
    assert_eq!(lines, [vec!["Declared", "Failed"], vec![], vec!["RetriesExhausted"], vec![]]);
}

#[test]
fn suspending_and_resuming_are_told() {
    let suspended = |second| Found { holds: suspended_by(vec![annotation()]), ..settled(second) };
    let lines = reasons(vec![settled(1), suspended(2), suspended(3), settled(4)]);
    assert_eq!(lines[1..], [vec!["Suspended"], vec![], vec!["Resumed"]]);
}

#[test]
fn an_event_has_the_time_of_the_pass_and_a_bounded_text() {
    let mut long = delta("x", Origin::Drift);
    long.from = serde_json::json!("y".repeat(500));
    let pass = found(7, vec![(update("a", vec![long]), denied("no"))]);
    let status = build(&ObjectStatus::default(), &pass);
    let lines = events(&Key::workspace("a"), at(7), &ObjectStatus::default(), &status);
    assert!(lines.iter().all(|event| event.at == at(7) && event.message.len() < 300), "{lines:?}");
}
