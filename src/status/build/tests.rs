//! What a status says of what a pass found.

use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::model::status::Truth;
use crate::model::{
    AccountId, Action, Call, CallError, Condition, Delta, Disruption, ErrorClass, Holder, KindName,
    Origin, Position, Refusal, Region, Scope, Severity, Snooze, Step, StepOutcome, Verdict, Wait,
};

pub(in crate::status) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

pub(in crate::status) fn id(name: &str) -> ResourceId {
    let scope = Scope { account: AccountId::new("012345678901"), region: Region::new("eu-west-1") };
    ResourceId { kind: KindName::new("db_instance"), scope, name: name.into() }
}

pub(in crate::status) fn step(name: &str) -> Step {
    Step {
        resource: id(name),
        section: "database".to_owned(),
        action: Action::Nothing,
        verdict: Verdict::Go,
        deltas: Vec::new(),
        calls: Vec::new(),
        disruption: Disruption::None,
        effective: None,
        waits: Vec::new(),
        refusals: Vec::new(),
        notices: Vec::new(),
    }
}

pub(in crate::status) fn delta(field: &str, origin: Origin) -> Delta {
    Delta {
        field: field.to_owned(),
        parameter: field.to_uppercase(),
        from: json!(20),
        to: json!(50),
        why: "smaller".to_owned(),
        disruption: Disruption::None,
        security: false,
        origin,
        apply: Default::default(),
        timing: crate::model::Timing::Window,
    }
}

pub(in crate::status) fn update(name: &str, deltas: Vec<Delta>) -> Step {
    let call = deltas.iter().fold(Call::new("rds", "ModifyDBInstance"), |call, delta| {
        call.with(&delta.parameter, delta.to.clone())
    });
    Step { action: Action::Update, deltas, calls: vec![call], ..step(name) }
}

pub(in crate::status) fn found(second: i64, attempts: Vec<(Step, StepOutcome)>) -> Found {
    let attempts = attempts.into_iter().map(|(step, outcome)| Attempt { step, outcome }).collect();
    Found { attempts, ..Found::new(at(second), Generation(1)) }
}

pub(in crate::status) fn denied(message: &str) -> StepOutcome {
    let error = CallError {
        class: ErrorClass::Denied,
        operation: "ModifyDBInstance".to_owned(),
        code: "AccessDenied".to_owned(),
        message: message.to_owned(),
    };
    StepOutcome::Failed { accepted: 0, error }
}

fn refusal(code: &str) -> Refusal {
    Refusal {
        field: "storage.sizeGiB".to_owned(),
        code: code.to_owned(),
        message: "storage cannot shrink".to_owned(),
        help: "declare at least 100".to_owned(),
    }
}

/// The state and the Ready condition that one attempt leads to.
fn outcome_of(step: Step, outcome: StepOutcome) -> (String, Truth, String) {
    let status = build(&ObjectStatus::default(), &found(1, vec![(step, outcome)]));
    let ready = status.condition(Condition::READY).unwrap();
    (status.resources[0].state.clone(), ready.status, ready.message.clone())
}

#[test]
fn what_is_as_declared_is_ready() {
    let status =
        build(&ObjectStatus::default(), &found(5, vec![(step("a"), StepOutcome::Unneeded)]));
    assert!(status.is_ready());
    assert_eq!(status.last_converged_time, Some(at(5)));
    assert_eq!(status.resources[0].state, state::CONVERGED);
    let told = |kind| status.condition(kind).unwrap().status;
    assert_eq!(told(Condition::DRIFTED), Truth::False);
    assert_eq!(told(Condition::PROGRESSING), Truth::False);
    assert_eq!(told(Condition::VALID), Truth::True);
    assert_eq!(status.conditions.len(), 11);
}

#[test]
fn each_verdict_has_its_state() {
    let with = |verdict| Step { verdict, ..update("a", vec![delta("x", Origin::Git)]) };
    let until = at(1_795_910_400);
    let unknown = Verdict::Waiting { code: "Unknown".into(), on: "the read was throttled".into() };
    let cases = [
        (Verdict::Waiting { code: "Creating".into(), on: "it is being made".into() }, "Waiting"),
        (unknown, "Unknown"),
        (Verdict::Waiting { code: Wait::FROZEN.into(), on: "too many".into() }, "Frozen"),
        (Verdict::Deferred { until, why: "it restarts".into() }, "Deferred"),
        (Verdict::Reported, "Reported"),
        (Verdict::Blocked { by: id("b") }, "Blocked"),
        (Verdict::Refused, "Refused"),
    ];
    for (verdict, expected) in cases {
        let (state, ready, message) = outcome_of(with(verdict), StepOutcome::Unneeded);
        assert_eq!(state, expected, "{message}");
        let truth = if expected == "Unknown" { Truth::Unknown } else { Truth::False };
        assert_eq!(ready, truth, "{message}");
    }
}

#[test]
fn each_outcome_of_a_call_has_its_state() {
    let accepted = || StepOutcome::Accepted { calls: 1 };
    let create = Step { action: Action::Create, ..update("a", vec![]) };
    assert_eq!(outcome_of(create, accepted()).0, "Created");
    let change = || update("a", vec![delta("x", Origin::Git)]);
    let (state, _, message) = outcome_of(change(), accepted());
    assert_eq!(
        (state.as_str(), message.as_str()),
        ("Updated", "db_instance/a: AWS accepted the change of x")
    );
    assert_eq!(outcome_of(change(), denied("no")).0, "Failed");
    let StepOutcome::Failed { error, .. } = denied("no") else { unreachable!() };
    assert_eq!(outcome_of(change(), StepOutcome::Postponed { error }).0, "Waiting");
    let withheld = StepOutcome::Withheld { reason: "the lease was lost".into() };
    assert_eq!(outcome_of(change(), withheld).0, "Waiting");
}

#[test]
fn a_refusal_says_what_and_what_to_do() {
    let refused =
        Step { verdict: Verdict::Refused, refusals: vec![refusal("StorageShrink")], ..step("a") };
    let (_, _, message) = outcome_of(refused, StepOutcome::Unneeded);
    let expected = "db_instance/a: storage.sizeGiB: storage cannot shrink; declare at least 100";
    assert_eq!(message, expected);
}

#[test]
fn the_worst_resource_speaks_for_the_object() {
    let waiting = Verdict::Waiting { code: "Creating".into(), on: "it is being made".into() };
    let attempts = vec![
        (Step { verdict: waiting, ..step("a") }, StepOutcome::Unneeded),
        (update("b", vec![delta("x", Origin::Git)]), denied("no")),
        (step("c"), StepOutcome::Unneeded),
    ];
    let status = build(&ObjectStatus::default(), &found(1, attempts));
    let ready = status.condition(Condition::READY).unwrap();
    assert_eq!(ready.reason, "Failed");
    assert!(ready.message.starts_with("db_instance/b: ModifyDBInstance failed"));
    assert!(ready.message.ends_with("; 1 more not as declared"), "{}", ready.message);
}

#[test]
fn times_stay_while_what_they_belong_to_stays() {
    let drifted = || vec![(update("a", vec![delta("x", Origin::Drift)]), denied("no"))];
    let first = build(&ObjectStatus::default(), &found(1, drifted()));
    let second = build(&first, &found(2, drifted()));
    assert_eq!(second.resources[0].since, at(1));
    assert_eq!(second.drift[0].first_seen, at(1));
    assert!(second.conditions.iter().all(|condition| condition.last_transition_time == at(1)));
    assert_eq!(second.last_reconciled_time, Some(at(2)));
    let third = build(&second, &found(3, vec![(step("a"), StepOutcome::Unneeded)]));
    assert_eq!(third.resources[0].since, at(3));
    assert!(third.drift.is_empty());
    assert_eq!(third.condition(Condition::READY).unwrap().last_transition_time, at(3));
    assert_eq!(third.condition(Condition::VALID).unwrap().last_transition_time, at(1));
}

#[test]
fn what_cannot_be_read_keeps_the_drift_that_was_known() {
    let drifted = vec![(update("a", vec![delta("x", Origin::Drift)]), denied("no"))];
    let before = build(&ObjectStatus::default(), &found(1, drifted));
    let unknown = Verdict::Waiting { code: "Unknown".into(), on: "the read was denied".into() };
    let unread = vec![(Step { verdict: unknown, ..step("a") }, StepOutcome::Unneeded)];
    let after = build(&before, &found(2, unread.clone()));
    assert_eq!(after.drift, before.drift);
    assert_eq!(after.condition(Condition::DRIFTED).unwrap().status, Truth::True);
    let nothing_known = build(&ObjectStatus::default(), &found(2, unread));
    let drifted = nothing_known.condition(Condition::DRIFTED).unwrap();
    assert_eq!(drifted.status, Truth::Unknown);
}

#[test]
fn the_disposition_of_drift_follows_the_verdict() {
    let of = |step: Step| {
        let status =
            build(&ObjectStatus::default(), &found(1, vec![(step, StepOutcome::Unneeded)]));
        status.drift[0].disposition.clone()
    };
    let drift = || update("a", vec![delta("x", Origin::Drift)]);
    assert_eq!(of(drift()), "Reverting");
    assert_eq!(of(Step { verdict: Verdict::Reported, ..drift() }), "Reported");
    let frozen = Verdict::Waiting { code: Wait::FROZEN.into(), on: "too many".into() };
    assert_eq!(of(Step { verdict: frozen, ..drift() }), "Frozen");
    let mut mixed = update("a", vec![delta("y", Origin::Git)]);
    mixed.deltas.push(delta("x", Origin::Drift));
    assert_eq!(of(mixed.clone()), "Reverting");
    for (code, expected) in [
        (Wait::FROZEN, "Frozen"),
        (Wait::REPORTED, "Reported"),
        (Wait::WINDOW_UNKNOWN, "Waiting"),
        (Wait::READBACK, "Waiting"),
        ("Window", "Deferred"),
        ("Snoozed", "Deferred"),
    ] {
        let wait = |field: &str| Wait {
            field: field.to_owned(),
            code: code.to_owned(),
            reason: "it is held".to_owned(),
        };
        // The call of the other field may well carry the parameter: it is Git's value that counts.
        let held = Step { waits: vec![wait("x")], ..mixed.clone() };
        assert_eq!(of(held.clone()), expected);
        let until = at(9);
        let verdict = Verdict::Deferred { until, why: "the other one".to_owned() };
        assert_eq!(of(Step { verdict, ..held }), expected);
        assert_eq!(of(Step { waits: vec![wait("y")], ..mixed.clone() }), "Reverting");
    }
    mixed.refusals.push(Refusal { field: "x".to_owned(), ..refusal("NoEffect") });
    assert_eq!(of(mixed), "Refused");
}

#[test]
fn a_pass_that_did_not_look_leaves_the_resources_as_they_were() {
    let before =
        build(&ObjectStatus::default(), &found(1, vec![(step("a"), StepOutcome::Unneeded)]));
    let failed = build(&before, &Found { failed: true, ..found(2, vec![]) });
    assert_eq!(failed.resources, before.resources);
    assert_eq!(failed.condition(Condition::FAILED).unwrap().status, Truth::True);
    let holds = suspended_by(vec![annotation()]);
    let never = build(&ObjectStatus::default(), &Found { holds, ..found(2, vec![]) });
    assert_eq!(never.condition(Condition::READY).unwrap().status, Truth::Unknown);
    assert_eq!(never.condition(Condition::SUSPENDED).unwrap().status, Truth::True);
}

pub(in crate::status) fn annotation() -> Holder {
    Holder::Annotation { path: "a.yaml".into(), line: 6 }
}

fn alice() -> Holder {
    let reason = Some("failover test".to_owned());
    Holder::Person { name: "alice".to_owned(), since: at(1), reason }
}

pub(in crate::status) fn suspended_by(suspended: Vec<Holder>) -> Holds {
    Holds { suspended, ..Holds::default() }
}

#[test]
fn a_suspension_says_whose_it_is() {
    let by_alice = "alice since 1970-01-01T00:00:01Z (failover test)";
    for (holders, reason, who) in [
        (vec![annotation()], "Annotation", "the annotation at a.yaml:6".to_owned()),
        (vec![alice()], "Command", by_alice.to_owned()),
        (
            vec![annotation(), alice()],
            "AnnotationAndCommand",
            format!("the annotation at a.yaml:6 and by {by_alice}"),
        ),
    ] {
        let found = Found { holds: suspended_by(holders), ..found(2, vec![]) };
        let status = build(&ObjectStatus::default(), &found);
        let condition = status.condition(Condition::SUSPENDED).unwrap();
        assert_eq!((condition.status, condition.reason.as_str()), (Truth::True, reason));
        assert_eq!(condition.message, format!("suspended by {who}; nothing is changed"));
    }
}

#[test]
fn a_snooze_is_told_until_it_ends() {
    let holds = Holds { snoozed: Some(Snooze { until: at(5), by: alice() }), ..Holds::default() };
    let told = |second| {
        let found = Found { holds: holds.clone(), ..found(second, vec![]) };
        build(&ObjectStatus::default(), &found).condition(Condition::SNOOZED).cloned().unwrap()
    };
    assert_eq!((told(4).status, told(4).reason.as_str()), (Truth::True, "Command"));
    let expected = "drift is reported and not reverted until 1970-01-01T00:00:05Z, by alice since \
                    1970-01-01T00:00:01Z (failover test)";
    assert_eq!(told(4).message, expected);
    assert_eq!(told(5).status, Truth::False);
}

#[test]
fn a_guard_and_a_stale_git_are_told_beside_everything_else() {
    let cause = |reason| Some(Cause { reason, message: "why".to_owned() });
    let with = |frozen, stale| Found { frozen, stale, ..found(1, vec![]) };
    let held = build(&ObjectStatus::default(), &with(cause("MassDrift"), cause("Unconfirmed")));
    for (kind, reason) in [(Condition::FROZEN, "MassDrift"), (Condition::STALE, "Unconfirmed")] {
        let condition = held.condition(kind).unwrap();
        assert_eq!((condition.status, &*condition.reason), (Truth::True, reason));
    }
    let free = build(&held, &with(None, None));
    for kind in [Condition::FROZEN, Condition::STALE] {
        assert_eq!(free.condition(kind).unwrap().status, Truth::False);
    }
}

#[test]
fn an_object_that_nothing_declares_for_certain_is_kept_and_nobody_knows_how_it_stands() {
    let before =
        build(&ObjectStatus::default(), &found(1, vec![(step("a"), StepOutcome::Unneeded)]));
    let after = build(&before, &Found { undeclared: true, ..found(2, vec![]) });
    let ready = after.condition(Condition::READY).unwrap();
    assert_eq!((&after.resources, ready.status), (&before.resources, Truth::Unknown));
    assert_eq!(after.last_converged_time, before.last_converged_time);
}

fn farewell(name: &str, action: Action, calls: Vec<Call>) -> Step {
    Step { action, calls, ..step(name) }
}

#[test]
fn a_removed_manifest_tells_what_becomes_of_what_it_declared() {
    let delete = || farewell("a", Action::Delete, vec![Call::new("rds", "DeleteDBInstance")]);
    let told = |step: Step, outcome: StepOutcome| {
        let gone = Found { removed: true, ..found(2, vec![(step, outcome)]) };
        build(&ObjectStatus::default(), &gone)
    };
    let until = at(3600);
    let verdict = Verdict::Deferred { until, why: "it may come back".to_owned() };
    let status = told(Step { verdict, ..delete() }, StepOutcome::Unneeded);
    assert_eq!(status.resources[0].state, state::DEFERRED);
    let ready = status.condition(Condition::READY).unwrap();
    assert_eq!((&*ready.reason, ready.status), ("Removed", Truth::False));
    assert!(ready.message.contains("due at 1970-01-01T01:00:00Z"), "{}", ready.message);
    let status = told(delete(), StepOutcome::Accepted { calls: 1 });
    assert_eq!(status.resources[0].state, state::DELETING);
    assert_eq!(status.condition(Condition::PROGRESSING).unwrap().status, Truth::True);
    let status = told(farewell("a", Action::Delete, vec![]), StepOutcome::Unneeded);
    assert_eq!(status.resources[0].state, state::DELETED);
    let ready = status.condition(Condition::READY).unwrap();
    assert!(ready.message.ends_with("nothing is left to do"), "{}", ready.message);
}

#[test]
fn a_section_that_left_and_was_let_go_of_does_not_hold_up_the_object() {
    let tag = farewell("b", Action::Retain, vec![Call::new("rds", "AddTagsToResource")]);
    let steps = vec![(step("a"), StepOutcome::Unneeded), (tag, StepOutcome::Accepted { calls: 1 })];
    let status = build(&ObjectStatus::default(), &found(1, steps));
    assert_eq!(status.resources[1].state, state::RETAINED);
    assert!(status.is_ready());
    let delete = farewell("b", Action::Delete, vec![Call::new("rds", "DeleteDBInstance")]);
    let steps =
        vec![(step("a"), StepOutcome::Unneeded), (delete, StepOutcome::Accepted { calls: 1 })];
    assert!(!build(&status, &found(2, steps)).is_ready(), "what is being deleted is still there");
}

#[test]
fn an_invalid_manifest_is_told_with_its_place() {
    let problem = Problem {
        position: Position { path: Arc::from("teams/a.yaml"), line: 7, column: 5 },
        severity: Severity::Error,
        code: "UnknownField".to_owned(),
        message: "there is no field sizeGib".to_owned(),
        hint: None,
        source_line: String::new(),
        length: 7,
    };
    let notice = Problem { severity: Severity::Notice, ..problem.clone() };
    let only = vec![(step("a"), StepOutcome::Unneeded)];
    let told = |problems| {
        let found = Found { problems, ..found(1, only.clone()) };
        build(&ObjectStatus::default(), &found).condition(Condition::VALID).unwrap().clone()
    };
    let invalid = told(vec![notice.clone(), problem]);
    assert_eq!(invalid.status, Truth::False);
    let expected = "teams/a.yaml:7:5: there is no field sizeGib; generation 1 stays in force";
    assert_eq!(invalid.message, expected);
    assert_eq!(told(vec![notice]).status, Truth::True);
}

#[test]
fn a_change_without_effect_stalls_the_object() {
    let futile = Step {
        verdict: Verdict::Refused,
        refusals: vec![refusal("NoEffect")],
        ..update("a", vec![delta("x", Origin::Git)])
    };
    let status = build(&ObjectStatus::default(), &found(1, vec![(futile, StepOutcome::Unneeded)]));
    let stalled = status.condition(Condition::STALLED).unwrap();
    assert_eq!(stalled.status, Truth::True);
    assert!(stalled.message.starts_with("db_instance/a storage.sizeGiB: "));
}

#[test]
fn what_differs_at_each_attempt_is_cut_from_a_message() {
    let change = || update("a", vec![delta("x", Origin::Git)]);
    let told = |text: &str| outcome_of(change(), denied(text)).2;
    let first = told("not authorized. Encoded authorization failure message: abc");
    assert_eq!(first, told("not authorized. Encoded authorization failure message: def"));
    assert!(first.ends_with("not authorized."), "{first}");
    assert!(told(&"é".repeat(5000)).chars().count() < 700);
}

#[test]
fn outputs_are_kept_while_the_resource_cannot_be_read() {
    let outputs = BTreeMap::from([("endpoint".to_owned(), json!("db.example"))]);
    let mut seen = found(1, vec![(step("a"), StepOutcome::Unneeded)]);
    seen.outputs.insert(id("a"), Arc::new(outputs.clone()));
    let before = build(&ObjectStatus::default(), &seen);
    let after = build(&before, &found(2, vec![(step("a"), StepOutcome::Unneeded)]));
    assert_eq!(*after.resources[0].outputs, outputs);
}

#[test]
fn a_partial_wait_is_not_ready() {
    let wait = Wait { field: "x".into(), code: "Pending".into(), reason: "queued by AWS".into() };
    let waiting = Step { waits: vec![wait], ..step("a") };
    let (state, ready, message) = outcome_of(waiting, StepOutcome::Unneeded);
    assert_eq!((state.as_str(), ready), ("Waiting", Truth::False));
    assert_eq!(message, "db_instance/a: queued by AWS");
}
