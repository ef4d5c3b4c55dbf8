//! What of a status is found, and what of two alerts is news.

use serde_json::json;

use super::*;
use crate::model::plan::Action;
use crate::model::{AccountId, Disruption, KindName, Region, ResourceId, ResourceStatus, Scope};

fn at(minute: i64) -> Timestamp {
    Timestamp::from_second(60 * minute).unwrap()
}

fn id() -> ResourceId {
    let scope = Scope { account: AccountId::new("111122223333"), region: Region::new("eu-west-1") };
    ResourceId { kind: KindName::new("db_instance"), scope, name: "a".into() }
}

fn row(seen: i64, disposition: &str) -> DriftStatus {
    DriftStatus {
        resource: id(),
        field: "backups.retentionDays".to_owned(),
        actual: json!(1),
        declared: json!(14),
        first_seen: at(seen),
        disposition: disposition.to_owned(),
        changed_by: None,
    }
}

/// Makes the status of a pass at a minute: the state of the resource, since when, and its drift.
fn pass(minute: i64, state: &str, since: i64, drift: &[DriftStatus]) -> ObjectStatus {
    let resource = ResourceStatus {
        id: id(),
        action: Action::Nothing,
        state: state.to_owned(),
        message: String::new(),
        since: at(since),
        disruption: Disruption::None,
        deltas: Vec::new(),
        waits: Vec::new(),
        refusals: Vec::new(),
        notices: Vec::new(),
        outputs: Default::default(),
    };
    ObjectStatus {
        last_reconciled_time: Some(at(minute)),
        resources: vec![resource],
        drift: drift.to_vec(),
        ..ObjectStatus::default()
    }
}

fn condition(kind: &str, message: &str) -> Condition {
    Condition {
        kind: kind.to_owned(),
        status: Truth::True,
        reason: "Why".to_owned(),
        message: message.to_owned(),
        last_transition_time: at(1),
    }
}

/// Plays passes, and returns for each whether it was news, with how many rows and reverts.
fn told(passes: &[ObjectStatus]) -> Vec<Option<(usize, usize, bool)>> {
    let mut before = Alert::default();
    let news = |status: &ObjectStatus| {
        let now = Alert::of(&before, status);
        let news = News::of(&before, &now);
        let told = news.map(|it| (it.drift.len(), it.reverted.len(), it.is_resolved));
        before = now;
        told
    };
    passes.iter().map(news).collect()
}

#[test]
fn drift_that_is_reported_is_told_once_and_once_when_it_is_gone() {
    let reported = row(1, "Reported");
    let drifted = |minute| pass(minute, "Reported", 1, std::slice::from_ref(&reported));
    let gone = pass(4, "Converged", 4, &[]);
    let passes = [drifted(1), drifted(2), drifted(3), gone];
    assert_eq!(told(&passes), [Some((1, 0, false)), None, None, Some((0, 0, true))]);
}

#[test]
fn drift_that_waits_for_a_moment_is_no_news() {
    let seen = |minute, state: &str, word: &str| pass(minute, state, minute, &[row(1, word)]);
    let passes = [
        seen(1, "Reported", "Reported"),
        seen(2, "Waiting", "Waiting"),
        // Nothing is compared while AWS makes a backup.
        pass(3, "Waiting", 2, &[]),
        pass(4, "Reported", 4, &[row(4, "Reported")]),
        seen(5, "Refused", "Refused"),
    ];
    let news = Some((1, 0, false));
    assert_eq!(told(&passes), [news, None, None, None, news]);
}

#[test]
fn a_revert_is_told_once_however_long_aws_takes_and_again_when_it_happens_again() {
    let seen = |minute, state: &str, since, word: &str, first| {
        pass(minute, state, since, &[row(first, word)])
    };
    let passes = [
        seen(1, "Updated", 1, "Reverting", 1),
        seen(2, "Updated", 1, "Reverting", 1),
        seen(3, "Waiting", 3, "Waiting", 1),
        pass(4, "Converged", 4, &[]),
        seen(60, "Updated", 60, "Reverting", 60),
        pass(61, "Converged", 61, &[]),
    ];
    let revert = Some((0, 1, false));
    assert_eq!(told(&passes), [revert, None, None, None, revert, None]);
}

#[test]
fn a_revert_that_fails_is_drift_that_stays() {
    let passes = [
        pass(1, "Failed", 1, &[row(1, "Reverting")]),
        pass(2, "Updated", 2, &[row(1, "Reverting")]),
        pass(3, "Converged", 3, &[]),
        pass(9, "Failed", 9, &[row(9, "Reverting")]),
    ];
    let expected = [Some((1, 0, false)), Some((0, 1, true)), None, Some((1, 0, false))];
    assert_eq!(told(&passes), expected);
}

#[test]
fn only_what_a_person_has_to_end_is_trouble_and_other_words_for_it_are_no_news() {
    let mut status = pass(1, "Failed", 1, &[]);
    let kinds = [Condition::READY, Condition::SUSPENDED, Condition::SNOOZED, Condition::STALLED];
    status.conditions = kinds.map(|kind| condition(kind, "one")).to_vec();
    let before = Alert::of(&Alert::default(), &status);
    assert_eq!(before.conditions.len(), 1);
    status.conditions = vec![condition(Condition::STALLED, "two")];
    let now = Alert::of(&before, &status);
    assert_eq!((now.conditions[0].message.as_str(), News::of(&before, &now)), ("two", None));
    status.conditions.push(condition(Condition::FROZEN, "x"));
    assert!(News::of(&before, &Alert::of(&before, &status)).is_some());
}

#[test]
fn of_many_reverts_at_once_each_is_told_once_and_the_newest_are_remembered() {
    let fields = |word: &str| {
        let of = |field| DriftStatus { field: format!("f{field}"), ..row(1, word) };
        (0..50).map(of).collect::<Vec<_>>()
    };
    let passes = [
        pass(1, "Updated", 1, &fields("Reverting")),
        pass(2, "Waiting", 2, &fields("Waiting")),
        pass(3, "Converged", 3, &[]),
        pass(4, "Converged", 3, &[]),
    ];
    assert_eq!(told(&passes), [Some((0, 50, false)), None, None, None]);
    let alert = passes.iter().fold(Alert::default(), |before, pass| Alert::of(&before, pass));
    assert_eq!(alert.reverted.len(), MOST_REVERTS);
}

#[test]
fn what_was_reverted_is_forgotten_after_a_month_without_a_word() {
    let first = Alert::of(&Alert::default(), &pass(1, "Updated", 1, &[row(1, "Reverting")]));
    let month = 30 * 24 * 60;
    let kept = Alert::of(&first, &pass(month, "Converged", 2, &[]));
    assert_eq!(kept.reverted.len(), 1);
    let later = Alert::of(&kept, &pass(month + 2, "Converged", 2, &[]));
    assert_eq!((later.to_text().as_str(), News::of(&kept, &later)), ("", None));
}

#[test]
fn a_finding_is_read_as_it_is_written() {
    let mut status = pass(1, "Updated", 1, &[row(1, "Reverting"), row(1, "Refused")]);
    status.drift[1].field = "storage.sizeGiB".to_owned();
    status.conditions = vec![condition(Condition::FAILED, "x")];
    let alert = Alert::of(&Alert::default(), &status);
    assert_eq!((alert.drift.len(), alert.reverted.len()), (1, 1));
    assert_eq!(Alert::from_text(&alert.to_text()), Some(alert));
    assert_eq!(Alert::from_text(""), Some(Alert::default()));
    assert_eq!(Alert::from_text("{"), None);
}

#[test]
fn whoever_is_told_late_is_not_told_of_reverts_from_before() {
    let reverts = |minute| Reverted {
        resource: id().to_string(),
        field: "backups.retentionDays".to_owned(),
        actual: json!(1),
        declared: json!(14),
        at: at(minute),
        changed_by: None,
    };
    let all = Alert { reverted: [1, 20, 30].map(reverts).to_vec(), ..Alert::default() };
    let first = all.clone().since(at(15));
    assert_eq!(first.reverted, [20, 30].map(reverts));
    let mut next = all.clone();
    next.reverted.push(reverts(40));
    let second = next.told_or_since(&first, at(35));
    assert_eq!(second.reverted, [20, 30, 40].map(reverts));
    assert_eq!(News::of(&first, &second).unwrap().reverted, [&reverts(40)]);
}

#[test]
fn who_made_what_was_reverted_is_added_to_it_and_is_no_news() {
    let changed = Changed { by: "alice".to_owned(), at: at(1), event: "Modify".to_owned() };
    let traced = |seen| Traced {
        resource: id(),
        field: "backups.retentionDays".to_owned(),
        seen: at(seen),
        changed: changed.clone(),
    };
    let first = Alert::of(&Alert::default(), &pass(2, "Updated", 2, &[row(2, "Reverting")]));
    assert_eq!(first.reverted[0].changed_by, None);
    let settled = pass(3, "Converged", 3, &[]);
    let of_later = ObjectStatus { traced: vec![traced(9)], ..settled.clone() };
    assert_eq!(Alert::of(&first, &of_later).reverted[0].changed_by, None, "of another drift");
    let known = ObjectStatus { traced: vec![traced(2)], ..settled };
    let now = Alert::of(&first, &known);
    assert_eq!(now.reverted[0].changed_by, Some(changed));
    assert_eq!(now.reverted.len(), 1);
    let unresolved = Alert { drift: Vec::new(), ..first };
    assert_eq!(News::of(&unresolved, &now), None, "the revert was told");
}
