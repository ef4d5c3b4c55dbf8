//! What is explained about an object.

use super::*;
use crate::model::status::DriftStatus;
use crate::model::{
    Action, Ask, Delta, Disruption, Generation, ObjectStatus, Origin, Refusal, Wait,
};
use crate::report::Style;
use crate::report::text::{explain as render, sample};

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn condition(kind: &str, status: Truth, reason: &str, message: &str) -> Condition {
    Condition {
        kind: kind.to_owned(),
        status,
        reason: reason.to_owned(),
        message: message.to_owned(),
        last_transition_time: at("2026-11-29T09:59:00Z"),
    }
}

fn row(state: &str, message: &str) -> ResourceStatus {
    ResourceStatus {
        id: sample::step("db_instance", Action::Update).resource,
        action: Action::Update,
        state: state.to_owned(),
        message: message.to_owned(),
        since: at("2026-11-29T09:59:00Z"),
        disruption: Disruption::None,
        deltas: Vec::new(),
        waits: Vec::new(),
        refusals: Vec::new(),
        notices: Vec::new(),
        outputs: Default::default(),
    }
}

/// A status that a pass at ten has found, and the next one is due at five past.
fn status(conditions: Vec<Condition>, resources: Vec<ResourceStatus>) -> ObjectStatus {
    ObjectStatus {
        observed_generation: Generation(1),
        last_reconciled_time: Some(at("2026-11-29T10:00:00Z")),
        next_run_time: Some(at("2026-11-29T10:05:00Z")),
        conditions,
        resources,
        ..ObjectStatus::default()
    }
}

fn asked(ask: Ask, when: &str) -> Asked {
    Asked { number: 1, ask, by: "alice".to_owned(), at: at(when) }
}

fn explained(status: &ObjectStatus, asked: &[Asked], freezes: &[Freeze]) -> Explanation {
    let key = Key::workspace("payments");
    let told = Told { key: &key, generation: Generation(1), status };
    explain(&Known { told, asked, freezes })
}

fn commands(explanation: &Explanation) -> Vec<&str> {
    explanation.remedies.iter().filter_map(|remedy| remedy.command.as_deref()).collect()
}

#[test]
fn a_suspended_object_with_drift_is_explained_down_to_the_field_and_to_who_did_it() {
    let delta = Delta {
        field: "backups.retentionDays".to_owned(),
        from: 1.into(),
        to: 14.into(),
        origin: Origin::Drift,
        ..sample::plan().steps[2].deltas[0].clone()
    };
    let drifted = ResourceStatus {
        deltas: vec![delta],
        ..row("Reported", "backups.retentionDays differs from Git and is left")
    };
    let suspended =
        "suspended by alice since 2026-11-29T09:00:00Z (failover test); nothing is changed";
    let drift = DriftStatus {
        resource: drifted.id.clone(),
        field: "backups.retentionDays".to_owned(),
        actual: 1.into(),
        declared: 14.into(),
        first_seen: at("2026-11-29T09:30:00Z"),
        disposition: "Reported".to_owned(),
        changed_by: None,
    };
    let conditions = vec![
        condition(
            Condition::READY,
            Truth::False,
            "Reported",
            "db_instance/team-payments-prod: it differs",
        ),
        condition(Condition::SUSPENDED, Truth::True, "Command", suspended),
    ];
    let status = ObjectStatus { drift: vec![drift], ..status(conditions, vec![drifted]) };
    let reason = Some("failover test".to_owned());
    let ask = Ask::Suspend { object: Key::workspace("payments"), reason };
    let explanation = explained(&status, &[asked(ask, "2026-11-29T09:00:00Z")], &[]);
    let expected = "\
Workspace/payments is not level, seen at 2026-11-29T10:00:00Z
  db_instance/team-payments-prod: it differs

  why
    Suspended: suspended by alice since 2026-11-29T09:00:00Z (failover test); nothing is changed
    db_instance/team-payments-prod Reported: backups.retentionDays differs from Git and is left
      backups.retentionDays [Drift] 14 is declared, AWS has 1; Reported, first seen 2026-11-29T09:30:00Z

  next
    the next pass is due at 2026-11-29T10:05:00Z

  what you can do
    `levelset resume Workspace/payments`: lifts what was suspended or snoozed by command
";
    assert_eq!(render(&explanation, Style::Plain), expected);
}

#[test]
fn an_object_that_is_level_needs_nobody() {
    let conditions =
        vec![condition(Condition::READY, Truth::True, "Converged", "everything is as declared")];
    let explanation = explained(&status(conditions, vec![row("Converged", "")]), &[], &[]);
    assert_eq!(explanation.level, Some(true));
    assert!(explanation.causes.is_empty() && explanation.remedies.is_empty(), "{explanation:?}");
}

#[test]
fn what_nobody_has_looked_at_is_neither_level_nor_not() {
    let explanation = explained(&ObjectStatus::default(), &[], &[]);
    assert_eq!((explanation.level, explanation.next.at), (None, None));
    assert_eq!(explanation.causes[0].code, "NotSeenYet");
}

#[test]
fn every_cause_that_a_person_can_lift_names_its_command() {
    let refused = ResourceStatus {
        refusals: vec![Refusal {
            field: "storage.sizeGiB".to_owned(),
            code: "StorageShrink".to_owned(),
            message: "200 GiB cannot become 100 GiB".to_owned(),
            help: "declare at least 200".to_owned(),
        }],
        ..row("Refused", "it cannot shrink")
    };
    let failed = condition(Condition::FAILED, Truth::True, "RetriesExhausted", "denied");
    let stalled = condition(Condition::STALLED, Truth::True, "NoEffect", "no effect");
    let contested = condition(Condition::CONTESTED, Truth::True, "Reverted", "fought over");
    for (conditions, rows, expected) in [
        (vec![failed], vec![], vec!["levelset retry Workspace/payments"]),
        (vec![stalled], vec![], vec!["levelset retry Workspace/payments"]),
        (vec![contested], vec![], vec!["levelset retry Workspace/payments"]),
        (vec![], vec![row("Failed", "denied")], vec!["levelset retry Workspace/payments"]),
        (vec![], vec![refused], vec![]),
    ] {
        let explanation = explained(&status(conditions, rows), &[], &[]);
        assert_eq!(commands(&explanation), expected, "{explanation:?}");
        assert!(!explanation.remedies.is_empty() && !explanation.causes.is_empty());
    }
}

#[test]
fn a_wait_for_the_window_needs_nobody_and_says_how_to_be_sooner() {
    let wait = Wait {
        field: "sizeClass".to_owned(),
        code: "Window".to_owned(),
        reason: "the maintenance window".to_owned(),
    };
    let row = ResourceStatus { waits: vec![wait], ..row("Deferred", "the window") };
    let explanation = explained(&status(vec![], vec![row]), &[], &[]);
    let told: Vec<&str> = explanation.remedies.iter().map(|remedy| remedy.what.as_str()).collect();
    assert!(
        told[0].starts_with("nothing: ") && told[1].contains("disruption: immediate"),
        "{told:?}"
    );
}

#[test]
fn a_frozen_object_is_confirmed_by_its_digest_and_others_are_not() {
    let freeze = |name: &str| Freeze {
        guard: Freeze::VANISHING.to_owned(),
        digest: "0123456789ab".to_owned(),
        reason: "TooMany".to_owned(),
        message: "6 objects vanished from Git together".to_owned(),
        objects: [Key::workspace(name)].into(),
        revision: None,
        since: at("2026-11-29T09:00:00Z"),
    };
    let status = status(vec![], vec![]);
    let frozen = explained(&status, &[], &[freeze("payments")]);
    assert_eq!(commands(&frozen), ["levelset confirm 0123456789ab"]);
    assert!(explained(&status, &[], &[freeze("other")]).remedies.is_empty());
}

#[test]
fn what_was_asked_since_the_last_pass_is_told_as_not_acted_on() {
    let suspend = || Ask::Suspend { object: Key::workspace("payments"), reason: None };
    let status = status(vec![], vec![]);
    let codes = |asked: Asked| -> Vec<String> {
        let explanation = explained(&status, &[asked], &[]);
        explanation.causes.into_iter().map(|cause| cause.code).collect()
    };
    assert_eq!(codes(asked(suspend(), "2026-11-29T10:00:01Z")), ["NotActedOnYet"]);
    assert!(codes(asked(suspend(), "2026-11-29T09:59:59Z")).is_empty());
}
