//! What becomes of lamps that Git declares no longer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::*;
use crate::model::handle::Handle;
use crate::model::{AccountId, Doubt, KindName, Region, Scope};
use crate::plan::tests::Lamp;

const OWNER: &str = "levelset/Workspace/desk";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// One lamp, or several that may use the ones before, removed an hour ago.
struct Scene {
    policy: DeletionPolicy,
    remembered: DeletionPolicy,
    suspended: bool,
    grace: SignedDuration,
    halt: Option<Wait>,
    is_recorded: bool,
    claim: Option<Claim>,
    part: Option<Part>,
    user: Option<ResourceId>,
    used: Result<Option<ResourceId>, Doubt>,
    created: Option<Timestamp>,
    now: Timestamp,
    lamps: Vec<(&'static str, Observation)>,
}

fn lamp(tag: Option<&str>, members: Value) -> Observation {
    let Value::Object(members) = members else { panic!("no members") };
    let tags = tag.map(|tag| (OWNER_TAG.to_owned(), tag.to_owned()));
    let tags = Some(BTreeMap::from_iter(tags));
    Observation::Present(Arc::new(Observed { members, tags, at: at("2026-11-25T12:00:00Z") }))
}

fn ours() -> Observation {
    lamp(Some(OWNER), json!({}))
}

fn scene(policy: DeletionPolicy, seen: Observation) -> Scene {
    Scene {
        policy,
        remembered: policy,
        suspended: false,
        grace: SignedDuration::from_hours(1),
        halt: None,
        is_recorded: true,
        claim: None,
        part: None,
        user: None,
        used: Ok(None),
        created: None,
        now: at("2026-11-25T13:00:00Z"),
        lamps: vec![("desk", seen)],
    }
}

impl Scene {
    fn steps(&self) -> Vec<Step> {
        let scope =
            Scope { account: AccountId::new("000000000012"), region: Region::new("eu-west-1") };
        let owned = |name: &str| Owned {
            id: ResourceId { kind: KindName::new("lamp"), scope: scope.clone(), name: name.into() },
            section: "lamp".to_owned(),
            owner: OWNER.to_owned(),
            policy: self.remembered,
            left: None,
            handle: Handle::default(),
            needs: BTreeSet::new(),
        };
        let owned: Vec<Owned> = self.lamps.iter().map(|(name, _)| owned(name)).collect();
        let leaving = |(place, owned): (usize, _)| Leaving {
            kind: &Lamp,
            owned,
            since: at("2026-11-25T12:00:00Z"),
            is_recorded: self.is_recorded,
            seen: &self.lamps[place].1,
            created: self.created,
            claim: self.claim.as_ref(),
            part: self.part.as_ref(),
            user: self.user.as_ref(),
            used: self.used.as_ref().map(Option::as_ref),
        };
        steps(&Departure {
            policy: self.policy,
            suspended: self.suspended,
            grace: self.grace,
            halt: self.halt.clone(),
            now: self.now,
            leaving: owned.iter().enumerate().map(leaving).collect(),
        })
    }

    fn step(&self) -> Step {
        self.steps().remove(0)
    }
}

fn code(step: &Step) -> &str {
    match &step.verdict {
        Verdict::Waiting { code, .. } => code,
        other => panic!("{other:?} is no wait"),
    }
}

#[test]
fn what_is_retained_gets_a_tag_that_says_so_and_is_done_with_then() {
    let step = scene(DeletionPolicy::Retain, ours()).step();
    assert_eq!((step.action, step.is_work()), (Action::Retain, true));
    assert_eq!(step.calls[0].text("Owner"), Some("retained:levelset/Workspace/desk"));
    let left = lamp(Some("retained:levelset/Workspace/desk"), json!({}));
    let step = scene(DeletionPolicy::Retain, left).step();
    assert!(step.is_settled() && step.calls.is_empty());
}

#[test]
fn a_deletion_waits_until_the_grace_period_is_over_and_on_record() {
    let mut scene = scene(DeletionPolicy::Delete, ours());
    assert!(scene.step().is_work());
    scene.now = at("2026-11-25T12:59:59Z");
    let step = scene.step();
    let until = at("2026-11-25T13:00:00Z");
    assert!(matches!(step.verdict, Verdict::Deferred { until: found, .. } if found == until));
    assert_eq!(step.calls.len(), 1, "a plan shows what will be sent");
    (scene.now, scene.grace, scene.is_recorded) = (until, SignedDuration::ZERO, false);
    assert!(!scene.step().is_work(), "nothing is deleted before its removal is on record");
}

#[test]
fn the_final_snapshot_is_named_after_the_removal_so_that_a_second_call_names_the_same() {
    let mut scene = scene(DeletionPolicy::Snapshot, ours());
    let name = Some("desk-final-20261125-120000");
    assert_eq!(scene.step().calls[0].text("Snapshot"), name);
    scene.now = at("2026-11-26T12:00:00Z");
    assert_eq!(scene.step().calls[0].text("Snapshot"), name);
    scene.policy = DeletionPolicy::Delete;
    assert_eq!(scene.step().calls[0].text("Snapshot"), name, "the more careful policy counts");
}

#[test]
fn of_two_policies_the_more_careful_one_counts() {
    let mut scene = scene(DeletionPolicy::Delete, ours());
    scene.remembered = DeletionPolicy::Retain;
    assert_eq!(scene.step().action, Action::Retain);
    (scene.policy, scene.remembered) = (DeletionPolicy::Retain, DeletionPolicy::Delete);
    assert_eq!(scene.step().action, Action::Retain);
}

#[test]
fn what_is_protected_is_refused_from_the_first_moment_and_nothing_is_sent() {
    for policy in [DeletionPolicy::Snapshot, DeletionPolicy::Delete] {
        let mut scene = scene(policy, lamp(Some(OWNER), json!({"Protected": true})));
        for now in ["2026-11-25T12:00:00Z", "2026-12-25T12:00:00Z"] {
            scene.now = at(now);
            let step = scene.step();
            assert_eq!(step.verdict, Verdict::Refused);
            assert_eq!(step.refusals[0].code, "DeletionProtected");
            assert!(step.calls.is_empty());
        }
    }
    let retained = scene(DeletionPolicy::Retain, lamp(Some(OWNER), json!({"Protected": true})));
    assert!(retained.step().is_work(), "a protected resource can be left");
}

#[test]
fn what_does_not_carry_our_tag_is_left_and_said() {
    for tag in [None, Some("levelset/Workspace/b"), Some("retained:levelset/Workspace/b")] {
        for policy in [DeletionPolicy::Retain, DeletionPolicy::Delete] {
            let step = scene(policy, lamp(tag, json!({}))).step();
            assert!(step.is_settled() && step.calls.is_empty(), "{tag:?}");
            assert_eq!((step.action, &*step.notices[0].code), (Action::Retain, "NotOurs"));
        }
    }
}

#[test]
fn doubt_is_waited_for() {
    let step = scene(DeletionPolicy::Delete, Observation::Unknown(Doubt::Throttled)).step();
    assert_eq!(code(&step), "Unknown");
    let untagged = Observed { members: Map::new(), tags: None, at: at("2026-11-25T12:00:00Z") };
    let step = scene(DeletionPolicy::Delete, Observation::Present(Arc::new(untagged))).step();
    assert_eq!(code(&step), "OwnershipUnknown");
}

#[test]
fn what_is_gone_is_done_with_unless_a_create_is_still_on_its_way() {
    let mut scene = scene(DeletionPolicy::Delete, Observation::Absent);
    assert!(scene.step().is_settled());
    scene.created = Some(at("2026-11-25T12:59:00Z"));
    assert_eq!(code(&scene.step()), "CreateOutcomeUnknown");
    scene.created = Some(at("2026-11-25T12:50:00Z"));
    assert!(scene.step().is_settled());
}

#[test]
fn what_others_use_goes_last() {
    let mut scene = scene(DeletionPolicy::Delete, ours());
    scene.lamps = vec![("socket", ours()), ("desk", ours())];
    let steps = scene.steps();
    assert_eq!(&*steps[0].resource.name, "desk");
    assert!(steps[0].is_work());
    assert_eq!(code(&steps[1]), "InUse");
    scene.lamps = vec![("socket", ours()), ("desk", Observation::Absent)];
    assert!(scene.steps()[1].is_work());
}

#[test]
fn what_stays_keeps_what_it_uses() {
    let mut scene = scene(DeletionPolicy::Delete, ours());
    scene.lamps = vec![("socket", ours()), ("desk", lamp(None, json!({})))];
    let steps = scene.steps();
    assert_eq!((steps[0].action, steps[1].action), (Action::Retain, Action::Retain));
    assert!(steps[1].is_work(), "the socket of a lamp that is left is left with it");
}

#[test]
fn what_another_object_declares_is_handed_over_and_what_it_uses_is_waited_for() {
    let other = Key::workspace("other");
    let mut scene = scene(DeletionPolicy::Delete, ours());
    scene.claim = Some(Claim::Declares(other.clone()));
    assert_eq!((scene.step().action, scene.step().is_work()), (Action::Retain, true));
    scene.claim = Some(Claim::Uses(other));
    assert_eq!(code(&scene.step()), "InUse");
    scene.policy = DeletionPolicy::Retain;
    let step = scene.step();
    assert!(step.is_settled() && step.calls.is_empty());
    assert_eq!(step.notices[0].code, "StillUsed");
}

#[test]
fn a_suspended_object_loses_nothing() {
    for policy in [DeletionPolicy::Retain, DeletionPolicy::Snapshot, DeletionPolicy::Delete] {
        let mut scene = scene(policy, ours());
        scene.suspended = true;
        assert_eq!(scene.step().verdict, Verdict::Reported);
        assert!(!scene.step().is_settled(), "it is not done with either");
    }
}

#[test]
fn nothing_is_deleted_while_git_is_not_clear() {
    let mut scene = scene(DeletionPolicy::Delete, ours());
    let halt = Wait { field: String::new(), code: "Frozen".into(), reason: "a person".into() };
    scene.halt = Some(halt);
    assert_eq!(code(&scene.step()), "Frozen");
    scene.policy = DeletionPolicy::Retain;
    assert!(scene.step().is_work(), "a tag can be taken back");
}

#[test]
fn a_resource_that_changes_is_waited_for_and_a_broken_one_gives_no_snapshot() {
    let busy = lamp(Some(OWNER), json!({"State": "busy"}));
    assert_eq!(code(&scene(DeletionPolicy::Delete, busy).step()), "Dark");
    let broken = || lamp(Some(OWNER), json!({"State": "broken"}));
    assert!(scene(DeletionPolicy::Delete, broken()).step().is_work());
    assert_eq!(scene(DeletionPolicy::Snapshot, broken()).step().verdict, Verdict::Refused);
}

fn chandelier(members: Value) -> Observation {
    let mut members = members;
    members["Parts"] = json!(["a", "b"]);
    lamp(Some(OWNER), members)
}

fn part() -> Observation {
    lamp(Some(OWNER), json!({"Of": "hall"}))
}

#[test]
fn parts_go_before_the_whole_and_stay_with_a_whole_that_stays() {
    let mut scene = scene(DeletionPolicy::Delete, ours());
    scene.lamps = vec![("hall", chandelier(json!({}))), ("a", part()), ("b", part())];
    let steps = scene.steps();
    assert!(steps[0].is_work());
    assert_eq!((code(&steps[1]), code(&steps[2])), ("InUse", "InUse"), "one after the other");
    for kept in [json!({"Protected": true}), json!({"State": "broken"})] {
        scene.policy = DeletionPolicy::Snapshot;
        scene.lamps[0].1 = chandelier(kept);
        let steps = scene.steps();
        assert_eq!((code(&steps[0]), code(&steps[1])), ("PartOfAnother", "PartOfAnother"));
        assert_eq!(steps[2].verdict, Verdict::Refused);
    }
    scene.lamps[0].1 = Observation::Unknown(Doubt::Throttled);
    assert_eq!(code(&scene.steps()[0]), "Unknown");
}

#[test]
fn parts_stay_while_one_of_others_is_among_them() {
    let mut scene = scene(DeletionPolicy::Delete, ours());
    scene.lamps = vec![("hall", chandelier(json!({}))), ("a", part())];
    assert_eq!(code(&scene.steps()[0]), "PartOfAnother", "b is not ours to delete");
    scene.policy = DeletionPolicy::Retain;
    assert!(scene.steps()[0].is_work(), "a tag disturbs nobody");
}

#[test]
fn a_part_that_others_depend_on_waits_for_the_window_and_the_only_one_for_another() {
    let with_window = lamp(Some(OWNER), json!({"Of": "hall", "Window": "sun:05:00-sun:06:00"}));
    let mut scene = scene(DeletionPolicy::Delete, with_window);
    let hall = ResourceId { name: "hall".into(), ..scene.step().resource };
    scene.part = Some(Part::Last(hall.clone()));
    let opens = at("2026-11-29T05:00:00Z");
    let step = scene.step();
    assert!(matches!(step.verdict, Verdict::Deferred { until, .. } if until == opens), "{step:?}");
    scene.now = at("2026-11-29T05:30:00Z");
    assert!(scene.step().is_work());
    scene.part = Some(Part::Only(hall.clone()));
    assert_eq!(code(&scene.step()), "OnlyMember");
    scene.part = Some(Part::Unseen(hall));
    assert_eq!(code(&scene.step()), "Unknown");
}

#[test]
fn what_the_object_itself_still_uses_stays_until_that_is_gone() {
    for policy in [DeletionPolicy::Snapshot, DeletionPolicy::Delete] {
        let mut scene = scene(policy, ours());
        let user = scene.step().resource;
        scene.user = Some(user);
        let step = scene.step();
        assert_eq!((step.action, step.is_work()), (Action::Retain, false));
        assert_eq!(step.notices[0].code, STILL_USED);
    }
}

#[test]
fn what_anything_is_seen_to_use_is_waited_for_and_so_is_the_answer() {
    let mut scene = scene(DeletionPolicy::Delete, ours());
    scene.used = Ok(Some(scene.step().resource));
    assert_eq!(code(&scene.step()), "InUse");
    scene.used = Err(Doubt::Throttled);
    assert_eq!(code(&scene.step()), "Unknown");
    scene.policy = DeletionPolicy::Retain;
    assert!(scene.step().is_work(), "a tag disturbs nobody");
}
