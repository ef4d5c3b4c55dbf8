//! What is told of two plans that were made by hand.

use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::model::{
    AccountId, Call, Holds, Input, Key, KindName, Notice, Refusal, Region, Revision, Scope,
};

const LATER: &str = "2026-12-06T05:00:00Z";

fn id() -> ResourceId {
    let scope = Scope { account: AccountId::new("000000000012"), region: Region::new("eu-west-1") };
    ResourceId { kind: KindName::new("lamp"), scope, name: "desk".into() }
}

fn resource(fields: &[(&'static str, Value)]) -> Resource {
    let known =
        |(name, value): &(&'static str, Value)| ((*name).into(), Input::Known(value.clone()));
    Resource {
        id: id(),
        section: "lamp".into(),
        fields: fields.iter().map(known).collect(),
        initial: BTreeMap::new(),
        owner: "levelset/Workspace/desk".to_owned(),
        adopt: false,
        notices: Vec::new(),
        refusals: Vec::new(),
    }
}

fn delta(field: &str, from: Value, to: Value) -> Delta {
    Delta {
        field: field.to_owned(),
        parameter: field.to_owned(),
        from,
        to,
        why: String::new(),
        disruption: Disruption::None,
        security: false,
        apply: Apply::AtOnce,
        origin: Origin::Git,
        timing: Timing::Window,
    }
}

fn step(deltas: Vec<Delta>) -> Step {
    let is_update = !deltas.is_empty();
    let calls = if is_update { vec![Call::new("rds", "ModifyLamp")] } else { Vec::new() };
    let action = if is_update { Action::Update } else { Action::Nothing };
    Step { action, deltas, calls, ..super::super::nothing(&id(), "lamp") }
}

fn plan(step: Step) -> Plan {
    Plan {
        key: Key::workspace("desk"),
        revision: Some(Revision::new("1")),
        holds: Holds::default(),
        steps: vec![step],
        traced: Vec::new(),
    }
}

type Declares<'a> = &'a [(&'static str, Value)];

/// Compares two steps, with what is declared on each side.
fn compared(
    (old, before): (Declares<'_>, Step),
    (new, after): (Declares<'_>, Step),
) -> Vec<Effect> {
    let (old, new) = ([resource(old)], [resource(new)]);
    let (before, after) = (plan(before), plan(after));
    let windows = Windows::from([(id(), Window::weekly("sun:05:00-sun:06:00").unwrap())]);
    let before = Side { plan: &before, resources: &old };
    effects(Some(before), Side { plan: &after, resources: &new }, &windows)
}

fn colours(value: &str) -> [(&'static str, Value); 1] {
    [("colour", json!(value))]
}

/// The one field that is told when Git says `old`, then `new`, and AWS has `blue`.
fn field(old: &str, before: Vec<Delta>, new: &str, after: Vec<Delta>) -> FieldReview {
    let effects = compared((&colours(old), step(before)), (&colours(new), step(after)));
    let [effect] = &effects[..] else { panic!("{effects:?}") };
    let [field] = &effect.fields[..] else { panic!("{effect:?}") };
    assert_eq!(effect.proposed, field.is_proposed() || field.cause == FieldCause::Accepted);
    field.clone()
}

fn to(colour: &str) -> Vec<Delta> {
    vec![delta("colour", json!("blue"), json!(colour))]
}

fn values(field: &FieldReview) -> [Option<&str>; 3] {
    [&field.actual, &field.before, &field.after].map(|side| side.as_ref()?.as_str())
}

#[test]
fn what_only_the_merge_mends_is_its_change() {
    let field = field("blue", vec![], "red", to("red"));
    assert_eq!((field.cause, &field.when), (FieldCause::Changed, &When::Now));
    assert_eq!(values(&field), [Some("blue"), Some("blue"), Some("red")]);
}

#[test]
fn what_both_mend_alike_is_so_already() {
    let drift = || vec![Delta { origin: Origin::Drift, ..to("red").remove(0) }];
    let told = compared((&colours("red"), step(drift())), (&colours("red"), step(drift())));
    assert_eq!(told[0].fields[0].cause, FieldCause::Drifted);
    assert!(!told[0].proposed && told[0].has_drifted());
    let field = field("red", to("red"), "red", to("red"));
    assert_eq!(field.cause, FieldCause::Behind);
}

#[test]
fn what_the_merge_mends_otherwise_is_told_three_ways() {
    let field = field("red", to("red"), "green", to("green"));
    assert_eq!(field.cause, FieldCause::Overtaken);
    assert_eq!(values(&field), [Some("blue"), Some("red"), Some("green")]);
}

#[test]
fn what_only_the_base_would_mend_is_accepted() {
    let field = field("red", to("red"), "blue", vec![]);
    assert_eq!((field.cause, &field.when), (FieldCause::Accepted, &When::Nothing));
    assert_eq!(values(&field), [Some("blue"), Some("red"), Some("blue")]);
}

#[test]
fn what_is_said_otherwise_and_makes_no_difference_is_told_as_such() {
    let field = field("blue", vec![], "BLUE", vec![]);
    assert_eq!(field.cause, FieldCause::Same);
    assert_eq!(values(&field), [None, Some("blue"), Some("BLUE")]);
}

#[test]
fn a_resource_that_is_and_stays_as_declared_is_left_out() {
    let colours = colours("blue");
    assert_eq!(compared((&colours, step(vec![])), (&colours, step(vec![]))), []);
}

#[test]
fn a_member_of_a_group_is_told_by_itself() {
    let old = [("parameters", json!({"a": "1", "b": "1", "c": "1"}))];
    let new = [("parameters", json!({"a": "2", "b": "2", "c": "1"}))];
    let after = step(vec![delta("parameters.a", json!("1"), json!("2"))]);
    let told = compared((&old, step(vec![])), (&new, after));
    let names: Vec<_> = told[0].fields.iter().map(|it| (it.field.as_str(), it.cause)).collect();
    assert_eq!(names, [("parameters.a", FieldCause::Changed), ("parameters.b", FieldCause::Same)]);
    assert_eq!(values(&told[0].fields[0]), [Some("1"), Some("1"), Some("2")]);
}

#[test]
fn what_was_refused_before_is_no_refusal_of_the_merge() {
    let refusal = |field: &str| Refusal {
        field: field.to_owned(),
        code: "No".to_owned(),
        message: "no".to_owned(),
        help: String::new(),
    };
    let refused = |fields: &[&str]| Step {
        refusals: fields.iter().map(|field| refusal(field)).collect(),
        verdict: Verdict::Refused,
        ..step(vec![])
    };
    let told = compared(
        (&colours("blue"), refused(&["bulb"])),
        (&colours("red"), refused(&["bulb", "colour"])),
    );
    let proposed: Vec<bool> = told[0].refusals.iter().map(|told| told.proposed).collect();
    assert_eq!(proposed, [false, true]);
    let field = &told[0].fields[0];
    assert_eq!((field.cause, &field.when), (FieldCause::Changed, &When::Refused));
}

#[test]
fn a_window_is_told_by_its_weekday_and_a_grace_period_as_such() {
    let later = LATER.parse().unwrap();
    let deferred = |step: Step| {
        let verdict = Verdict::Deferred { until: later, why: "later".to_owned() };
        Step { verdict, effective: Some(later), ..step }
    };
    let wait = Wait { field: "colour".into(), code: "Window".into(), reason: "a restart".into() };
    let held = Step { waits: vec![wait], ..deferred(step(to("red"))) };
    let told = compared((&colours("blue"), step(vec![])), (&colours("red"), held));
    let window = When::Window(Some("Sun 05:00 UTC".to_owned()));
    assert_eq!((&told[0].fields[0].when, &told[0].when), (&window, &window));
    let queued = vec![Delta { apply: Apply::Queued, ..to("red").remove(0) }];
    let told = compared((&colours("blue"), step(vec![])), (&colours("red"), step(queued)));
    assert_eq!(told[0].fields[0].when, window);
    let leaves = Step { action: Action::Delete, ..deferred(step(vec![])) };
    let told = compared((&colours("blue"), step(vec![])), (&[], leaves));
    assert_eq!(told[0].when, When::Grace);
    assert!(!serde_json::to_string(&told).unwrap().contains("2026"));
}

#[test]
fn a_notice_is_told_when_the_merge_brings_it() {
    let notice = Notice { field: String::new(), code: "N".into(), message: "n".into() };
    let noticed = || Step { notices: vec![notice.clone()], ..step(vec![]) };
    let blue = colours("blue");
    assert_eq!(compared((&blue, noticed()), (&blue, noticed())), []);
    let told = compared((&blue, step(vec![])), (&blue, noticed()));
    assert!(told[0].notices[0].proposed);
}
