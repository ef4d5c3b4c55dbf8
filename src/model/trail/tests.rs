//! Which event is blamed.

use proptest::prelude::*;
use serde_json::json;

use super::*;

const ALICE: &str = "arn:aws:sts::111122223333:assumed-role/Admin/alice";
const OWN: &str = "arn:aws:sts::111122223333:assumed-role/levelset/agent-1";

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn event(second: i64, name: &str, by: &str, parameters: Value) -> Value {
    let record = json!({"eventTime": at(second).to_string(), "eventName": name,
        "userIdentity": {"type": "AssumedRole", "arn": by}, "sourceIPAddress": "203.0.113.9",
        "requestParameters": parameters, "readOnly": false});
    wrapped(&record)
}

fn wrapped(record: &Value) -> Value {
    json!({"EventId": "1", "CloudTrailEvent": record.to_string()})
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn field(members: &[&str], events: &'static [&'static str]) -> Clue {
    Clue::Field { members: owned(members), events }
}

fn told(clue: &Clue, part: Option<&str>, events: &[Value]) -> Option<Changed> {
    Trace { clue, part, known: &[], seen: at(1000), own: None }.blame(events)
}

/// Blames for the retention of backups, seen at second 1000.
fn blamed(events: &[Value]) -> Option<(String, i64)> {
    let clue = field(&["BackupRetentionPeriod"], &[]);
    let known = owned(&["BackupRetentionPeriod", "AllocatedStorage", "MultiAZ"]);
    let trace = Trace { clue: &clue, part: None, known: &known, seen: at(1000), own: Some(OWN) };
    trace.blame(events).map(|it| (it.by, it.at.as_second()))
}

fn retention(second: i64, by: &str) -> Value {
    event(second, "ModifyDBInstance", by, json!({"backupRetentionPeriod": 1}))
}

fn storage(second: i64) -> Value {
    event(second, "ModifyDBInstance", "arn:aws:iam::1:user/bob", json!({"allocatedStorage": 50}))
}

#[test]
fn the_last_event_before_the_drift_was_seen_that_names_the_field_is_blamed() {
    let carol = "arn:aws:iam::111122223333:user/carol";
    let events =
        [storage(950), retention(900, ALICE), retention(500, carol), retention(1500, carol)];
    assert_eq!(blamed(&events), Some((ALICE.to_owned(), 900)));
}

#[test]
fn nobody_is_blamed_for_what_another_event_must_have_done() {
    assert_eq!(blamed(&[]), None);
    assert_eq!(blamed(&[storage(900)]), None);
    let unclear = |second| event(second, "RestoreSomething", ALICE, json!({"x": 1}));
    assert_eq!(blamed(&[unclear(900), storage(950)]), Some((ALICE.to_owned(), 900)));
    assert_eq!(blamed(&[unclear(900), unclear(800)]), None, "it may be either");
    let tags = event(900, "AddTagsToResource", ALICE, json!({"tags": []}));
    assert_eq!(blamed(&[tags]), None);
}

#[test]
fn calls_that_failed_reads_and_our_own_are_left_out() {
    let record = |more: Value| {
        let mut record = json!({"eventTime": at(900).to_string(), "eventName": "ModifyDBInstance",
            "userIdentity": {"arn": ALICE}, "requestParameters": {"backupRetentionPeriod": 1}});
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        wrapped(&record)
    };
    assert!(blamed(&[record(json!({}))]).is_some());
    assert!(blamed(&[record(json!({"errorCode": null}))]).is_some());
    assert_eq!(blamed(&[record(json!({"errorCode": "AccessDenied"}))]), None);
    assert_eq!(blamed(&[record(json!({"readOnly": true}))]), None);
    assert_eq!(blamed(&[record(json!({"readOnly": "true"}))]), None);
    assert_eq!(blamed(&[retention(900, OWN)]), None);
    let earlier_session = OWN.replace("agent-1", "agent-0");
    assert_eq!(blamed(&[retention(900, &earlier_session)]), None);
    assert!(blamed(&[retention(900, &OWN.replace("/levelset/", "/levelset-2/"))]).is_some());
    assert_eq!(blamed(&[json!({}), json!({"CloudTrailEvent": "no JSON"}), json!(3)]), None);
}

#[test]
fn a_service_that_acts_by_itself_says_so() {
    let record = json!({"eventTime": at(900).to_string(), "eventName": "ModifyDBInstance",
        "userIdentity": {"type": "AWSService", "invokedBy": "backup.amazonaws.com"},
        "requestParameters": {"backupRetentionPeriod": 1}});
    assert_eq!(blamed(&[wrapped(&record)]), Some(("backup.amazonaws.com".to_owned(), 900)));
}

#[test]
fn what_is_gone_was_deleted_by_somebody() {
    let events = [
        event(950, "ModifyDBInstance", "m", json!({})),
        event(940, "RemoveTagsFromResource", "t", json!({})),
        event(900, "DeleteDBInstance", ALICE, json!({"dBInstanceIdentifier": "a"})),
    ];
    assert_eq!(told(&Clue::Gone, None, &events).unwrap().event, "DeleteDBInstance");
    assert_eq!(told(&Clue::Gone, None, &events[..2]), None);
}

#[test]
fn a_parameter_of_a_group_is_named_by_a_value() {
    let set = json!({"parameters": [{"parameterName": "max_connections", "parameterValue": "5"}]});
    let events = [event(900, "ModifyDBParameterGroup", ALICE, set)];
    assert_eq!(told(&field(&["work_mem"], &["ModifyDBParameterGroup"]), None, &events), None);
    let found = told(&field(&["max_connections"], &[]), None, &events).unwrap();
    assert_eq!(
        found.to_string(),
        format!("ModifyDBParameterGroup by {ALICE} at 1970-01-01T00:15:00Z")
    );
    assert_eq!(found.name(), "alice");
}

#[test]
fn where_parameters_are_alike_the_name_of_the_event_tells() {
    let document = json!({"roleName": "app", "policyDocument": "{}"});
    let trust = field(&[], &["UpdateAssumeRolePolicy"]);
    let inline = event(900, "PutRolePolicy", "bob", document.clone());
    assert_eq!(told(&trust, None, std::slice::from_ref(&inline)), None);
    let events = [inline, event(800, "UpdateAssumeRolePolicy", ALICE, document)];
    assert_eq!(told(&trust, None, &events).unwrap().by, ALICE);
}

#[test]
fn what_is_in_something_else_has_to_be_named() {
    let change = |name: &str| {
        json!({"changeBatch": {"changes": [{"action": "UPSERT",
            "resourceRecordSet": {"name": name, "type": "A", "tTL": 60}}]}})
    };
    let events = [
        event(900, "ChangeResourceRecordSets", "bob", change("other.example.com.")),
        event(800, "ChangeResourceRecordSets", ALICE, change("WWW.example.com.")),
    ];
    let found = told(&field(&["TTL"], &[]), Some("www.example.com"), &events).unwrap();
    assert_eq!(found.by, ALICE);
}

#[test]
fn nothing_else_of_an_event_is_kept() {
    let clue = field(&["BackupRetentionPeriod"], &[]);
    let secret = json!({"backupRetentionPeriod": 1, "masterUserPassword": "hunter2"});
    let found = told(&clue, None, &[event(900, "ModifyDBInstance", ALICE, secret)]).unwrap();
    let text = serde_json::to_string(&found).unwrap();
    assert!(!text.contains("hunter2") && !text.contains("203.0.113.9"), "{text}");
}

proptest! {
    #[test]
    fn the_order_of_events_says_nothing(order in Just((0..6).collect::<Vec<usize>>()).prop_shuffle()) {
        let all = [retention(900, ALICE), retention(800, "b"), storage(950), retention(1200, "c"),
            retention(990, OWN), json!(null)];
        let shuffled: Vec<Value> = order.into_iter().map(|it| all[it].clone()).collect();
        prop_assert_eq!(blamed(&shuffled), Some((ALICE.to_owned(), 900)));
    }

    #[test]
    fn whoever_is_blamed_did_it_before_it_was_seen(seconds in prop::collection::vec(0..3000_i64, 0..8)) {
        let events: Vec<Value> = seconds.iter().map(|second| retention(*second, ALICE)).collect();
        let latest = seconds.iter().copied().filter(|second| *second <= 1060).max();
        prop_assert_eq!(blamed(&events).map(|(_, second)| second), latest);
    }
}
