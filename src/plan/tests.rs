//! The planner's decisions on facts made by hand; the kind is a small one of the tests' own.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::*;
use crate::model::desired::OWNER_TAG;
use crate::model::kind::{Deletion, List, Lists};
use crate::model::outcome::{Attempt, StepOutcome};
use crate::model::policy::{DisruptionPolicy, DriftPolicy};
use crate::model::status::{AcceptedChange, ResourceMemory};
use crate::model::{
    AccountId, Call, Difference, ErrorClass, Holder, KindName, Permission, Refusal, Region,
    ResourceId, Rule, Scope, Snooze, Wait,
};

/// A kind with one field that reboots and a maintenance window.
pub(super) struct Lamp;

const RULES: &[Rule] = &[
    Rule::new("colour", "Colour", "Colour").disrupts(Disruption::Reboot).applies(Apply::Queued),
    Rule::new("bulb", "Bulb", "Bulb").disrupts(Disruption::Reboot),
];

impl Kind for Lamp {
    fn name(&self) -> KindName {
        KindName::new("lamp")
    }
    fn service(&self) -> &'static str {
        "rds"
    }
    fn lists(&self) -> &'static [List] {
        &[]
    }
    fn assemble(&self, _: Lists) -> Vec<(String, Map<String, Value>)> {
        Vec::new()
    }
    fn confirm(&self, _: &str) -> Option<Call> {
        None
    }
    fn rules(&self) -> &'static [Rule] {
        RULES
    }
    fn readiness(&self, actual: &Observed) -> Readiness {
        let (code, reason) = ("Dark".to_owned(), "it is dark".to_owned());
        match actual.text("State") {
            Some("busy") => Readiness::Waiting { code, reason },
            Some("broken") => Readiness::Broken { code, reason },
            _ => Readiness::Ready,
        }
    }
    fn window<'a>(&self, _: &'a Bound, actual: &'a Observed) -> Option<&'a str> {
        actual.text("Window")
    }
    fn part_of<'a>(&self, actual: &'a Observed) -> Option<&'a str> {
        actual.text("Of")
    }
    fn turns(&self, actual: &Observed) -> Vec<String> {
        let parts = actual.member("Parts").and_then(Value::as_array).into_iter().flatten();
        parts.filter_map(|part| part.as_str().map(str::to_owned)).collect()
    }
    fn create(&self, _: &Bound) -> Vec<Call> {
        vec![Call::new("rds", "CreateLamp")]
    }
    fn update(&self, _: &Bound, _: &Observed, deltas: &[Delta]) -> Vec<Call> {
        let modify = |call: Call, delta: &Delta| call.with(&delta.parameter, delta.to.clone());
        vec![deltas.iter().fold(Call::new("rds", "ModifyLamp"), modify)]
    }
    fn own(&self, _: &ResourceId, _: &Observed, owner: &str) -> Vec<Call> {
        vec![Call::new("rds", "AddTagsToResource").with("Owner", owner)]
    }
    fn protection(&self, actual: &Observed) -> Option<Refusal> {
        let refusal = Refusal {
            field: String::new(),
            code: "DeletionProtected".to_owned(),
            message: "it is protected".to_owned(),
            help: "take the protection away in Git".to_owned(),
        };
        actual.member("Protected").map(|_| refusal)
    }
    fn delete(&self, id: &ResourceId, _: &Observed, snapshot: Option<&str>) -> Deletion {
        let call = Call::new("rds", "DeleteLamp").with("Name", id.name.as_ref());
        let call = match snapshot {
            Some(name) => call.with("Snapshot", name),
            None => call,
        };
        Deletion { calls: vec![call], notices: Vec::new() }
    }
    fn permissions(&self) -> &'static [Permission] {
        &[]
    }

    fn classify(&self, _: &str) -> ErrorClass {
        ErrorClass::Invalid
    }
}

/// One lamp that Git wants red, and everything that surrounds it.
struct Scene {
    key: Key,
    policy: Policy,
    memory: Memory,
    resource: Resource,
    state: State,
    holds: Holds,
    frozen: Option<Frozen>,
    intent: Option<Timestamp>,
    now: Timestamp,
}

fn now() -> Timestamp {
    "2026-11-25T12:00:00Z".parse().unwrap()
}

pub(super) fn bound() -> Bound {
    let scope = Scope { account: AccountId::new("000000000012"), region: Region::new("eu-west-1") };
    Bound {
        id: ResourceId { kind: KindName::new("lamp"), scope, name: "desk".into() },
        fields: BTreeMap::from([("colour".into(), json!("red"))]),
        initial: BTreeMap::new(),
        owner: "levelset/Workspace/desk".to_owned(),
        adopt: false,
    }
}

fn red_for_blue() -> Diff {
    let delta = Delta {
        field: "colour".to_owned(),
        parameter: "Colour".to_owned(),
        from: json!("blue"),
        to: json!("red"),
        why: "differs".to_owned(),
        disruption: Disruption::Reboot,
        security: false,
        apply: Apply::Queued,
        origin: Origin::Git,
        timing: Timing::Window,
    };
    Diff { deltas: vec![delta], ..Diff::default() }
}

impl Scene {
    fn with(state: State) -> Self {
        let bound = bound();
        let known = |(field, value): (&std::borrow::Cow<'static, str>, &Value)| {
            (field.clone(), Input::Known(value.clone()))
        };
        Self {
            key: Key::workspace("desk"),
            policy: Policy::default(),
            memory: Memory::default(),
            resource: Resource {
                id: bound.id.clone(),
                section: "lamp".into(),
                fields: bound.fields.iter().map(known).collect(),
                initial: BTreeMap::new(),
                owner: bound.owner.clone(),
                adopt: false,
                notices: Vec::new(),
                refusals: Vec::new(),
            },
            state,
            holds: Holds::default(),
            frozen: None,
            intent: None,
            now: now(),
        }
    }

    fn present(diff: Diff) -> Self {
        Self::tagged(diff, Some(BTreeMap::from([(OWNER_TAG.to_owned(), bound().owner)])))
    }

    fn tagged(diff: Diff, tags: Option<BTreeMap<String, String>>) -> Self {
        let members = json!({"Window": "sun:05:00-sun:06:00"}).as_object().unwrap().clone();
        let actual = Arc::new(Observed { members, tags, at: now() });
        let (readiness, unresolved) = (Readiness::Ready, BTreeMap::new());
        let present = Present { bound: bound(), actual, readiness, diff, unresolved };
        Self::with(State::Present(Box::new(present)))
    }

    fn remembering(mut self, memory: ResourceMemory) -> Self {
        self.memory.resources.insert(self.resource.id.to_string(), memory);
        self
    }

    fn converged_before(self) -> Self {
        let converged = BTreeMap::from([("colour".to_owned(), json!("red"))]);
        self.remembering(ResourceMemory { converged, ..ResourceMemory::default() })
    }

    fn request(&self) -> Request<'_> {
        let intents = self.intent.map(|at| (self.resource.id.clone(), at));
        Request {
            key: &self.key,
            revision: None,
            policy: &self.policy,
            holds: &self.holds,
            exhausted: false,
            frozen: self.frozen.as_ref(),
            memory: &self.memory,
            intents: intents.into_iter().collect(),
            tokens: None,
            now: self.now,
            subjects: vec![Subject { kind: &Lamp, resource: &self.resource, state: &self.state }],
        }
    }

    fn step(&self) -> Step {
        plan(&self.request()).steps.remove(0)
    }

    /// Plans, pretends that AWS accepted, and returns the scene after that pass.
    fn after_acceptance(mut self) -> Self {
        let attempt = Attempt { step: self.step(), outcome: StepOutcome::Accepted { calls: 1 } };
        self.memory.resources = remember(&self.request(), &[attempt]);
        self
    }
}

#[test]
fn what_is_as_declared_needs_nothing() {
    let step = Scene::present(Diff::default()).step();
    assert!(step.is_settled() && !step.is_work());
}

#[test]
fn an_absent_resource_is_made() {
    let step = Scene::with(State::Absent(bound())).step();
    assert_eq!(step.action, Action::Create);
    assert_eq!(step.calls, [Call::new("rds", "CreateLamp")]);
}

#[test]
fn a_create_that_was_just_sent_is_not_sent_again_while_it_cannot_be_seen() {
    let mut scene = Scene::with(State::Absent(bound()));
    scene.intent = Some(now() - jiff::SignedDuration::from_secs(5));
    assert!(matches!(scene.step().verdict, Verdict::Waiting { .. }));
    assert!(!scene.step().is_work());
    scene.intent = Some(now() - jiff::SignedDuration::from_mins(10));
    assert!(scene.step().is_work());
}

#[test]
fn doubt_leads_to_waiting_and_never_to_a_call() {
    for doubt in [Doubt::Throttled, Doubt::Denied("no".into()), Doubt::Failed("no".into())] {
        let step = Scene::with(State::Unknown(doubt)).step();
        assert!(matches!(step.verdict, Verdict::Waiting { .. }));
        assert!(step.calls.is_empty());
    }
}

#[test]
fn a_difference_after_convergence_is_drift_and_one_after_a_commit_is_not() {
    let drifted = Scene::present(red_for_blue()).converged_before();
    assert_eq!(drifted.step().deltas[0].origin, Origin::Drift);
    let changed = Scene::present(red_for_blue()).remembering(ResourceMemory {
        converged: BTreeMap::from([("colour".to_owned(), json!("blue"))]),
        ..ResourceMemory::default()
    });
    assert_eq!(changed.step().deltas[0].origin, Origin::Git);
}

#[test]
fn one_of_a_group_is_told_by_its_own_value() {
    let one_of = |name: &str| {
        let mut found = red_for_blue();
        found.deltas[0].field = format!("colour.{name}");
        found
    };
    let scene = |name: &str| {
        let mut scene = Scene::present(one_of(name)).remembering(ResourceMemory {
            converged: [("colour".to_owned(), json!({"a.b": "1", "c": "2"}))].into(),
            ..ResourceMemory::default()
        });
        if let State::Present(present) = &mut scene.state {
            present.bound.fields.insert("colour".into(), json!({"a.b": "1", "c": "3"}));
        }
        scene
    };
    assert_eq!(scene("a.b").step().deltas[0].origin, Origin::Drift);
    assert_eq!(scene("c").step().deltas[0].origin, Origin::Git);
    assert_eq!(scene("added").step().deltas[0].origin, Origin::Drift);
    let after = scene("c").after_acceptance();
    let known = after.memory.resources.values().next().unwrap();
    assert_eq!(known.converged["colour"]["c"], "2", "what differs is not in force yet");
}

#[test]
fn what_another_object_owns_is_made_and_never_changed() {
    let owner = "levelset/Network/shared".to_owned();
    let tags = BTreeMap::from([(OWNER_TAG.to_owned(), owner.clone())]);
    let mut scene = Scene::tagged(red_for_blue(), Some(tags));
    if let State::Present(present) = &mut scene.state {
        present.bound.owner = owner;
    }
    let step = scene.step();
    assert!(!step.is_work() && step.deltas.is_empty());
    assert_eq!(step.notices[0].code, "LeftToOwner");
    assert!(Scene::with(State::Absent(bound())).step().is_work());
}

#[test]
fn what_exists_is_mended_in_what_is_known_while_a_reference_waits() {
    let mut scene = Scene::present(red_for_blue());
    let elsewhere = Unresolved::Unseen(bound().id);
    if let State::Present(present) = &mut scene.state {
        present.unresolved.insert("bulb".into(), elsewhere.clone());
    }
    let step = scene.step();
    assert!(step.is_work());
    assert_eq!(step.waits[0].code, "Dependency");
    let missing = Scene::with(State::Unbound(elsewhere)).step();
    assert!(matches!(missing.verdict, Verdict::Blocked { .. }) && !missing.is_work());
}

#[test]
fn what_was_not_compared_is_not_remembered_as_converged() {
    let mut scene = Scene::present(Diff::default());
    if let State::Present(present) = &mut scene.state {
        present.readiness = Readiness::Waiting { code: "Creating".into(), reason: "it".into() };
    }
    let attempt = Attempt { step: scene.step(), outcome: StepOutcome::Unneeded };
    assert!(remember(&scene.request(), &[attempt]).is_empty());
}

#[test]
fn drift_is_reported_and_left_where_the_policy_says_so() {
    let mut scene = Scene::present(red_for_blue()).converged_before();
    scene.policy.drift = DriftPolicy::Report;
    let step = scene.step();
    assert_eq!(step.verdict, Verdict::Reported);
    assert!(step.calls.is_empty() && step.deltas.len() == 1);
}

fn annotation() -> Holder {
    Holder::Annotation { path: "a.yaml".into(), line: 6 }
}

fn snoozed(until: Timestamp) -> Holds {
    Holds { snoozed: Some(Snooze { until, by: annotation() }), ..Holds::default() }
}

fn suspended() -> Holds {
    Holds { suspended: vec![annotation()], ..Holds::default() }
}

#[test]
fn a_snooze_defers_the_revert_and_not_a_change_from_git() {
    let until: Timestamp = "2026-11-26T00:00:00Z".parse().unwrap();
    let mut drifted = Scene::present(red_for_blue()).converged_before();
    drifted.holds = snoozed(until);
    let Verdict::Deferred { until: at, why } = drifted.step().verdict else {
        panic!("not deferred")
    };
    assert_eq!(at, until);
    assert_eq!(why, "the revert is snoozed by the annotation at a.yaml:6");
    let mut changed = Scene::present(red_for_blue());
    changed.holds = snoozed(until);
    assert!(changed.step().is_work());
}

/// Freezes the blue of a lamp that Git wants red.
fn frozen() -> Option<Frozen> {
    let blue = Difference::new(&bound().id, "colour", &json!("blue"));
    Some(Frozen { differences: [blue].into(), why: "too many".to_owned() })
}

#[test]
fn frozen_drift_waits_for_a_person_and_is_no_failure() {
    let mut scene = Scene::present(red_for_blue()).converged_before();
    scene.frozen = frozen();
    let step = scene.step();
    assert_eq!(step.verdict, waiting(Wait::FROZEN, "too many".to_owned()));
    assert!(step.calls.is_empty());
    assert_eq!((step.deltas.len(), &*step.waits[0].code), (1, Wait::FROZEN));
}

#[test]
fn only_the_value_that_was_shown_is_frozen_and_no_danger_and_no_change_from_git() {
    let mut changed = Scene::present(red_for_blue());
    changed.frozen = frozen();
    assert!(changed.step().is_work(), "Git changed it");
    let with = |change: fn(&mut Delta)| {
        let mut diff = red_for_blue();
        change(&mut diff.deltas[0]);
        let mut scene = Scene::present(diff).converged_before();
        scene.frozen = frozen();
        scene.step()
    };
    assert!(with(|delta| delta.security = true).is_work());
    assert!(with(|delta| delta.from = json!("green")).is_work());
}

#[test]
fn a_frozen_resource_that_is_gone_is_not_made_anew() {
    let mut scene = Scene::with(State::Absent(bound())).converged_before();
    let gone = Difference::gone(&bound().id);
    scene.frozen = Some(Frozen { differences: [gone].into(), why: "too many".to_owned() });
    assert_eq!(scene.step().verdict, waiting(Wait::FROZEN, "too many".to_owned()));
    assert!(!scene.step().is_work());
}

#[test]
fn the_guard_counts_what_is_reverted_now_and_nothing_else() {
    let reverts = |scene: &Scene| {
        let request = scene.request();
        Reverts::of(&request, &plan(&request))
    };
    let drifted = || Scene::present(red_for_blue()).converged_before();
    let blue = frozen().unwrap().differences;
    assert_eq!(reverts(&drifted()).due, blue);
    assert_eq!(reverts(&Scene::present(red_for_blue())), Reverts::default(), "Git changed it");
    let mut reported = drifted();
    reported.policy.drift = DriftPolicy::Report;
    let mut idle = drifted();
    idle.holds = suspended();
    let mut asleep = drifted();
    asleep.holds = snoozed(Timestamp::MAX);
    for scene in [reported, idle, asleep] {
        let expected = Reverts { present: blue.clone(), ..Reverts::default() };
        assert_eq!(reverts(&scene), expected);
    }
    let gone = Scene::with(State::Absent(bound())).converged_before();
    assert_eq!(reverts(&gone).due, [Difference::gone(&bound().id)].into());
    let unknown = Scene::with(State::Unknown(Doubt::Throttled));
    assert_eq!(reverts(&unknown).unseen, [bound().id].into());
}

#[test]
fn a_known_fight_takes_no_place_among_the_reverts_of_the_fleet() {
    let reverts = |memory: ResourceMemory| {
        let mut scene = Scene::present(red_for_blue()).converged_before();
        let known = scene.memory.resources.values_mut().next().unwrap();
        let converged = std::mem::take(&mut known.converged);
        *known = ResourceMemory { converged, ..memory };
        let request = scene.request();
        let plan = plan(&request);
        assert!(plan.has_work());
        Reverts::of(&request, &plan).due.len()
    };
    let ago = |minutes: [i64; 3]| {
        let times = minutes.map(|minutes| now() - SignedDuration::from_mins(minutes)).to_vec();
        let reverted = BTreeMap::from([("colour".to_owned(), times)]);
        ResourceMemory { reverted, ..ResourceMemory::default() }
    };
    assert_eq!(reverts(ago([130, 100, 70])), 0, "contested");
    assert_eq!(reverts(ago([300, 100, 70])), 1, "reverted now and then");
    let accepted = |times| ResourceMemory {
        accepted_changes: BTreeMap::from([(
            "colour".to_owned(),
            AcceptedChange {
                value: json!("red"),
                at: now() - SignedDuration::from_hours(2),
                times,
            },
        )]),
        ..ResourceMemory::default()
    };
    assert_eq!(reverts(accepted(3)), 0, "stalled");
    assert_eq!(reverts(accepted(2)), 1, "tried");
}

#[test]
fn a_suspended_object_is_reported_and_left() {
    let mut scene = Scene::present(red_for_blue());
    scene.holds = suspended();
    assert_eq!(scene.step().verdict, Verdict::Reported);
    let mut absent = Scene::with(State::Absent(bound()));
    absent.holds = suspended();
    assert!(!absent.step().is_work());
}

#[test]
fn a_reboot_is_announced_for_the_next_maintenance_window() {
    let step = Scene::present(red_for_blue()).step();
    assert!(step.is_work());
    assert_eq!(step.effective, Some("2026-11-29T05:00:00Z".parse().unwrap()));
    let mut at_once = Scene::present(red_for_blue());
    at_once.policy.disruption = DisruptionPolicy::Immediate;
    assert_eq!(at_once.step().effective, None);
    assert_eq!(at_once.step().deltas[0].timing, Timing::Immediate);
}

#[test]
fn a_reboot_that_aws_would_do_at_once_is_sent_when_the_window_is_open_and_not_before() {
    let mut diff = red_for_blue();
    diff.deltas[0].apply = Apply::AtOnce;
    let mut scene = Scene::present(diff.clone());
    let window: Timestamp = "2026-11-29T05:00:00Z".parse().unwrap();
    assert!(matches!(scene.step().verdict, Verdict::Deferred { until, .. } if until == window));
    assert!(scene.step().calls.is_empty());
    scene.now = "2026-11-29T05:30:00Z".parse().unwrap();
    assert!(scene.step().is_work());
    diff.deltas[0].security = true;
    assert!(Scene::present(diff).step().is_work());
}

#[test]
fn a_restart_without_a_known_window_waits_for_somebody_to_declare_one() {
    let mut diff = red_for_blue();
    diff.deltas[0].apply = Apply::AtOnce;
    for window in [json!({}), json!({"Window": null}), json!({"Window": "some day"})] {
        let scene = |diff: &Diff| {
            let mut scene = Scene::present(diff.clone());
            if let State::Present(present) = &mut scene.state {
                let members = window.as_object().unwrap().clone();
                present.actual = Arc::new(Observed { members, ..present.actual.as_ref().clone() });
            }
            scene
        };
        let step = scene(&diff).step();
        assert!(step.calls.is_empty());
        let Verdict::Waiting { code, on } = &step.verdict else { panic!("{:?}", step.verdict) };
        assert_eq!((&**code, &*step.waits[0].code), ("WindowUnknown", "WindowUnknown"));
        assert!(on.contains("declare one") && on.contains("disruption: immediate"), "{on}");
        let mut at_once = scene(&diff);
        at_once.policy.disruption = DisruptionPolicy::Immediate;
        assert!(at_once.step().is_work());
        let mut open = diff.clone();
        open.deltas[0].security = true;
        assert!(scene(&open).step().is_work(), "a danger waits for no window");
        assert!(scene(&red_for_blue()).step().is_work(), "AWS queues it for its own window");
    }
}

#[test]
fn a_change_that_aws_has_queued_is_deferred_to_the_window() {
    let wait = Wait { field: "colour".into(), code: "Pending".into(), reason: "queued".into() };
    let step = Scene::present(Diff { waits: vec![wait], ..Diff::default() }).step();
    let window: Timestamp = "2026-11-29T05:00:00Z".parse().unwrap();
    assert!(matches!(step.verdict, Verdict::Deferred { until, .. } if until == window));
}

#[test]
fn what_is_not_ours_is_refused_and_still_shown() {
    for tags in [BTreeMap::new(), BTreeMap::from([(OWNER_TAG.to_owned(), "other/x/y".to_owned())])]
    {
        let step = Scene::tagged(red_for_blue(), Some(tags)).step();
        assert_eq!(step.verdict, Verdict::Refused);
        assert!(step.calls.is_empty() && step.deltas.len() == 1);
    }
}

#[test]
fn unread_tags_withhold_a_change() {
    let step = Scene::tagged(red_for_blue(), None).step();
    assert!(
        matches!(step.verdict, Verdict::Waiting { ref code, .. } if code == "OwnershipUnknown")
    );
    assert!(Scene::tagged(Diff::default(), None).step().is_settled());
}

#[test]
fn an_untagged_resource_is_taken_over_where_the_manifest_says_so() {
    let mut scene = Scene::tagged(red_for_blue(), Some(BTreeMap::new()));
    if let State::Present(present) = &mut scene.state {
        present.bound.adopt = true;
    }
    let step = scene.step();
    assert_eq!(step.action, Action::Adopt);
    let call = Call::new("rds", "AddTagsToResource").with("Owner", "levelset/Workspace/desk");
    assert_eq!(step.calls, [call]);
}

#[test]
fn an_accepted_change_is_not_repeated_while_the_answer_lags() {
    let scene = Scene::present(red_for_blue()).after_acceptance();
    assert!(
        matches!(scene.step().verdict, Verdict::Waiting { ref code, .. } if code == "ReadbackLag")
    );
}

#[test]
fn a_change_without_effect_is_sent_three_times_and_then_once_an_hour() {
    let mut scene = Scene::present(red_for_blue());
    let mut sent = 0;
    for _ in 0..60 {
        if scene.step().is_work() {
            sent += 1;
            scene = scene.after_acceptance();
        }
        scene.now += jiff::SignedDuration::from_mins(3);
    }
    assert_eq!(sent, 3 + 2, "three hours");
    scene.now += jiff::SignedDuration::from_mins(3);
    assert_eq!(scene.step().refusals[0].code, "NoEffect");
}

/// A diff of a group of two fields, of which only one is as declared.
fn one_of_two(field: &str) -> Diff {
    let delta = &red_for_blue().deltas[0];
    let field = format!("lights.{field}");
    Diff { deltas: vec![Delta { field, ..delta.clone() }], ..Diff::default() }
}

#[test]
fn two_fields_that_never_hold_together_are_no_loop() {
    let mut scene = Scene::present(one_of_two("left"));
    let mut sent = 0;
    for second in 0..10_800 {
        if scene.step().is_work() {
            sent += 1;
            scene = scene.after_acceptance();
            let other = if sent % 2 == 0 { "left" } else { "right" };
            scene.state = Scene::present(one_of_two(other)).state;
        } else if second % 10 == 0 {
            let attempt = Attempt { step: scene.step(), outcome: StepOutcome::Unneeded };
            scene.memory.resources = remember(&scene.request(), &[attempt]);
        }
        scene.now += jiff::SignedDuration::from_secs(1);
    }
    assert!(sent <= 2 * (3 + 3), "{sent} within three hours");
}

#[test]
fn a_field_that_somebody_sets_again_and_again_is_reverted_once_an_hour() {
    let drifted = Scene::present(red_for_blue());
    let mut scene = Scene::present(red_for_blue()).converged_before();
    let mut reverts = 0;
    for _ in 0..60 {
        scene.state = Scene::present(red_for_blue()).state;
        if scene.step().is_work() {
            reverts += 1;
            scene = scene.after_acceptance();
            scene.state = Scene::present(Diff::default()).state;
            let attempt = Attempt { step: scene.step(), outcome: StepOutcome::Unneeded };
            scene.memory.resources = remember(&scene.request(), &[attempt]);
        }
        scene.now += jiff::SignedDuration::from_mins(3);
    }
    assert_eq!(reverts, 3 + 2, "three hours");
    scene.state = drifted.state;
    let step = scene.step();
    assert!(matches!(step.verdict, Verdict::Deferred { .. }));
    assert_eq!(step.waits[0].code, "Contested");
}

#[test]
fn a_change_that_had_effect_is_forgotten() {
    let mut scene = Scene::present(red_for_blue()).after_acceptance();
    scene.state = Scene::present(Diff::default()).state;
    let attempt = Attempt { step: scene.step(), outcome: StepOutcome::Unneeded };
    let memory = remember(&scene.request(), &[attempt]);
    let memory = memory.values().next().unwrap();
    assert!(memory.accepted_changes.is_empty());
    assert_eq!(memory.converged["colour"], json!("red"));
}

#[test]
fn what_the_same_object_left_is_taken_up_again_when_its_manifest_is_back() {
    let left = format!("retained:{}", bound().owner);
    let tags = BTreeMap::from([(OWNER_TAG.to_owned(), left)]);
    let step = Scene::tagged(Diff::default(), Some(tags)).step();
    assert_eq!((step.action, &step.verdict), (Action::Adopt, &Verdict::Go));
    assert_eq!(step.calls[0].text("Owner"), Some("levelset/Workspace/desk"));
}

#[test]
fn what_another_object_left_is_taken_over_only_where_the_manifest_says_so() {
    let tags = BTreeMap::from([(OWNER_TAG.to_owned(), "retained:levelset/Workspace/b".into())]);
    let mut scene = Scene::tagged(red_for_blue(), Some(tags));
    let step = scene.step();
    assert_eq!((step.verdict, &*step.refusals[0].code), (Verdict::Refused, "RetainedByAnother"));
    if let State::Present(present) = &mut scene.state {
        present.bound.adopt = true;
    }
    assert_eq!(scene.step().action, Action::Adopt);
}

#[test]
fn a_resource_is_owned_once_it_is_known_to_carry_our_tag() {
    let owns = |scene: &Scene, outcome: StepOutcome| {
        let attempt = Attempt { step: scene.step(), outcome };
        owned(&scene.request(), &[attempt])
            .into_iter()
            .map(|owned| owned.policy)
            .collect::<Vec<_>>()
    };
    let accepted = StepOutcome::Accepted { calls: 1 };
    let policy = crate::model::policy::DeletionPolicy::Snapshot;
    let mut ours = Scene::present(Diff::default());
    ours.policy.deletion = policy;
    assert_eq!(owns(&ours, StepOutcome::Unneeded), [policy]);
    let untagged = Scene::tagged(Diff::default(), Some(BTreeMap::new()));
    assert!(owns(&untagged, StepOutcome::Unneeded).is_empty());
    let absent = Scene::with(State::Absent(bound()));
    assert_eq!(owns(&absent, accepted).len(), 1, "what was just made is ours");
    assert!(owns(&absent, StepOutcome::Unneeded).is_empty());
    let mut unread = Scene::with(State::Unknown(Doubt::Throttled));
    assert!(owns(&unread, StepOutcome::Unneeded).is_empty());
    unread.memory.owned =
        owned(&ours.request(), &[Attempt { step: ours.step(), outcome: StepOutcome::Unneeded }]);
    assert_eq!(owns(&unread, StepOutcome::Unneeded).len(), 1, "a failed read takes nothing away");
}
