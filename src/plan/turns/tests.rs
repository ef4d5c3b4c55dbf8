//! A chandelier whose lamps take turns.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;
use crate::model::desired::OWNER_TAG;
use crate::model::policy::DisruptionPolicy;
use crate::model::status::Memory;
use crate::model::{
    AccountId, Bound, Diff, Doubt, Holds, Input, Key, Kind, KindName, Observed, Origin, Policy,
    Region, Resource, Scope, Timing,
};
use crate::plan::tests::Lamp;
use crate::plan::{Request, plan};

const OWNER: &str = "levelset/Workspace/hall";

/// A chandelier, first, and its lamps, each with how it stands and what differs.
struct Hall {
    policy: Policy,
    now: &'static str,
    resources: Vec<Resource>,
    states: Vec<State>,
}

fn id(name: &str) -> ResourceId {
    let scope = Scope { account: AccountId::new("000000000012"), region: Region::new("eu-west-1") };
    ResourceId { kind: KindName::new("lamp"), scope, name: name.into() }
}

fn delta(field: &str) -> Delta {
    let rule = Lamp.rules().iter().find(|rule| rule.field == field).unwrap();
    Delta {
        field: field.to_owned(),
        parameter: rule.parameter.to_owned(),
        from: json!("old"),
        to: json!("new"),
        why: String::new(),
        disruption: rule.disruption,
        security: false,
        apply: rule.apply,
        origin: Origin::Git,
        timing: Timing::Window,
    }
}

impl Hall {
    /// Hangs a chandelier, whose lamps take turns in the order of their names, in an open window.
    fn new(parts: &[&str]) -> Self {
        let mut hall = Self {
            policy: Policy { disruption: DisruptionPolicy::Window, ..Policy::default() },
            now: "2026-11-29T05:10:00Z",
            resources: Vec::new(),
            states: Vec::new(),
        };
        hall.add("hall", json!({"Parts": parts, "Window": "sun:05:00-sun:06:00"}), &[]);
        hall
    }

    fn add(&mut self, name: &str, members: Value, differs: &[&str]) {
        let members = members.as_object().unwrap().clone();
        let fields = match self.resources.first() {
            Some(holder) => {
                let of = Input::Output { of: holder.id.clone(), member: "Name".to_owned() };
                BTreeMap::from([("of".into(), of)])
            }
            None => BTreeMap::new(),
        };
        let tags = Some(BTreeMap::from([(OWNER_TAG.to_owned(), OWNER.to_owned())]));
        let actual = Observed { members, tags, at: Timestamp::UNIX_EPOCH };
        let bound = Bound {
            id: id(name),
            fields: BTreeMap::new(),
            initial: BTreeMap::new(),
            owner: OWNER.to_owned(),
            adopt: false,
        };
        let diff = Diff { deltas: differs.iter().map(|it| delta(it)).collect(), ..Diff::default() };
        self.states.push(State::Present(Box::new(Present {
            readiness: Lamp.readiness(&actual),
            actual: Arc::new(actual),
            bound,
            diff,
            unresolved: BTreeMap::new(),
        })));
        self.resources.push(Resource {
            id: id(name),
            section: "hall".into(),
            fields,
            initial: BTreeMap::new(),
            owner: OWNER.to_owned(),
            adopt: false,
            notices: Vec::new(),
            refusals: Vec::new(),
        });
    }

    fn lamp(&mut self, name: &str, differs: &[&str]) {
        self.add(name, json!({"Window": "sun:05:00-sun:06:00"}), differs);
    }

    fn present(&mut self, at: usize) -> &mut Present {
        match &mut self.states[at] {
            State::Present(present) => present,
            _ => panic!("{at} is not there"),
        }
    }

    fn steps(&self) -> Vec<Step> {
        let (key, memory, holds) = (Key::workspace("hall"), Memory::default(), Holds::default());
        let subjects = self.resources.iter().zip(&self.states);
        let request = Request {
            key: &key,
            revision: None,
            policy: &self.policy,
            holds: &holds,
            exhausted: false,
            frozen: None,
            memory: &memory,
            intents: BTreeMap::new(),
            tokens: None,
            now: self.now.parse().unwrap(),
            subjects: subjects
                .map(|(resource, state)| Subject { kind: &Lamp, resource, state })
                .collect(),
        };
        plan(&request).steps
    }

    /// Lists the lamps that are sent a call now.
    fn at_work(&self) -> Vec<String> {
        let steps = self.steps();
        steps.iter().filter(|it| it.is_work()).map(|it| it.resource.name.to_string()).collect()
    }
}

#[test]
fn one_restarts_at_a_time_and_the_last_in_the_order_last() {
    let mut hall = Hall::new(&["a", "b", "writer"]);
    for name in ["writer", "b", "a"] {
        hall.lamp(name, &["colour"]);
    }
    assert_eq!(hall.at_work(), ["a"]);
    let waits: Vec<(String, String)> = hall
        .steps()
        .iter()
        .flat_map(|step| {
            step.waits.iter().map(|it| (step.resource.name.to_string(), it.code.clone()))
        })
        .collect();
    let turn = |name: &str| (name.to_owned(), TURN.to_owned());
    assert_eq!(waits, [turn("writer"), turn("b")]);
    let writer = &hall.steps()[1];
    assert_eq!(writer.disruption, Disruption::Failover, "its restart makes another one take over");
    assert!(matches!(&writer.verdict, Verdict::Waiting { code, .. } if code == TURN));
}

#[test]
fn while_one_is_at_it_or_in_doubt_the_others_wait() {
    for state in ["busy", "broken"] {
        let mut hall = Hall::new(&["a", "writer"]);
        hall.add("a", json!({"State": state}), &[]);
        hall.lamp("writer", &["colour"]);
        assert!(hall.at_work().is_empty(), "{state}");
    }
    let mut hall = Hall::new(&["a", "writer"]);
    hall.lamp("a", &[]);
    hall.lamp("writer", &["colour"]);
    assert_eq!(hall.at_work(), ["writer"]);
    hall.states[1] = State::Unknown(Doubt::Throttled);
    assert!(hall.at_work().is_empty(), "nothing is known of a");
}

#[test]
fn a_restart_that_aws_has_queued_for_another_is_waited_for() {
    let mut hall = Hall::new(&["a", "writer"]);
    hall.lamp("a", &["colour"]);
    hall.lamp("writer", &[]);
    let pending = |field: &str| Wait {
        field: field.to_owned(),
        code: "Pending".to_owned(),
        reason: "queued".to_owned(),
    };
    hall.present(2).diff.waits.push(pending("colour"));
    assert!(hall.at_work().is_empty());
    hall.present(2).diff.waits = vec![pending("name")];
    assert_eq!(hall.at_work(), ["a"], "what restarts nothing holds nobody");
}

#[test]
fn a_restart_that_aws_would_queue_is_sent_when_the_window_is_open_and_not_before() {
    let mut hall = Hall::new(&["a", "writer"]);
    hall.lamp("a", &["colour"]);
    hall.lamp("writer", &["colour"]);
    let step = hall.steps().remove(1);
    assert_eq!(step.calls.len(), 1);
    hall.now = "2026-11-29T04:00:00Z";
    let steps = hall.steps();
    let opens: Timestamp = "2026-11-29T05:00:00Z".parse().unwrap();
    for step in &steps[1..] {
        assert!(step.calls.is_empty(), "{step:?}");
        assert!(matches!(step.verdict, Verdict::Deferred { until, .. } if until == opens));
    }
    hall.policy.disruption = DisruptionPolicy::Immediate;
    assert_eq!(hall.at_work(), ["a"], "at once means at once, and still one after the other");
}

#[test]
fn a_reader_that_waits_for_its_own_window_comes_before_the_writer_all_the_same() {
    let mut hall = Hall::new(&["a", "writer"]);
    hall.add("a", json!({"Window": "mon:05:00-mon:06:00"}), &["colour"]);
    hall.lamp("writer", &["colour"]);
    assert!(hall.at_work().is_empty());
}

#[test]
fn what_is_only_reported_holds_nobody() {
    let mut hall = Hall::new(&["a", "writer"]);
    hall.lamp("a", &["colour"]);
    hall.lamp("writer", &["colour"]);
    let reported = Wait { field: "colour".into(), code: "Reported".into(), reason: String::new() };
    let mut steps = hall.steps();
    steps[1].waits = vec![reported];
    assert!(!restarts(&steps[1]));
}

#[test]
fn the_restart_of_the_whole_comes_before_that_of_any_part() {
    let mut hall = Hall::new(&["a"]);
    hall.lamp("a", &["colour"]);
    hall.present(0).diff.deltas = vec![delta("bulb")];
    assert_eq!(hall.at_work(), ["hall"]);
    hall.present(0).diff.deltas.clear();
    assert_eq!(hall.at_work(), ["a"]);
}

#[test]
fn the_only_one_restarts_and_nobody_takes_over() {
    let mut hall = Hall::new(&["a"]);
    hall.lamp("a", &["colour"]);
    let step = hall.steps().remove(1);
    assert_eq!((step.is_work(), step.disruption), (true, Disruption::Reboot));
}

#[test]
fn what_restarts_nothing_goes_on_beside_what_waits_for_its_turn() {
    let mut hall = Hall::new(&["a", "writer"]);
    hall.lamp("a", &["colour"]);
    hall.lamp("writer", &["colour", "bulb"]);
    hall.present(2).diff.deltas[1].disruption = Disruption::None;
    let step = hall.steps().remove(2);
    assert!(step.is_work());
    let params: Vec<&String> = step.calls[0].params.keys().collect();
    assert_eq!(params, ["Bulb"]);
}

#[test]
fn resources_that_are_no_parts_take_no_turns() {
    let mut hall = Hall::new(&["elsewhere"]);
    hall.lamp("a", &["bulb"]);
    hall.lamp("b", &["bulb"]);
    assert_eq!(hall.at_work(), ["a", "b"]);
}
