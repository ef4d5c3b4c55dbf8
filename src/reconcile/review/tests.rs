//! Reviews on the sandbox: what the agent has made, what somebody changed, and what a merge would do.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use serde_json::json;

use super::*;
use crate::desired::{Cache, Guard};
use crate::model::review::{FieldCause, Safety};
use crate::model::trail::Changed;
use crate::model::tree::{Content, Entry as File};
use crate::model::{Call, ChangeSet, ResourceStatus};
use crate::reconcile::removal::tests::{Fleet, workspace};
use crate::reconcile::tests::scope;
use crate::sandbox::faults::{Effect as Fault, Rule};

/// Files by path; an empty text takes one away.
type Edits<'a> = &'a [(&'a str, &'a str)];

fn change_set(commit: &str, files: &BTreeMap<String, String>, full: bool) -> ChangeSet {
    let entry = |text: &String| File {
        blob: text.as_str().into(),
        content: Content::Bytes(text.as_bytes().into()),
    };
    let is_there = |(_, text): &(&String, &String)| !text.is_empty();
    let is_gone = |(_, text): &(&String, &String)| text.is_empty();
    ChangeSet {
        revision: Revision::new(commit.repeat(40)),
        changed: files
            .iter()
            .filter(is_there)
            .map(|(p, t)| (p.as_str().into(), entry(t)))
            .collect(),
        removed: files.iter().filter(is_gone).map(|(path, _)| path.as_str().into()).collect(),
        full,
    }
}

/// Reviews a merge that changes these files.
async fn reviewed(fleet: &Fleet, edits: Edits<'_>, look: Look) -> Review {
    let mut cache = Cache::new(Guard::default());
    let _ = cache.apply(&change_set("a", &fleet.files, true));
    let base = cache.snapshot();
    let edits = edits.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    let changed = change_set("b", &edits, false);
    let changes = cache.apply(&changed);
    let files = changed.changed.keys().chain(&changed.removed).cloned().collect();
    let proposed = Proposed {
        onto: "main",
        head: &changed.revision,
        base: &base,
        merged: &cache.snapshot(),
        changes: &changes,
        files: &files,
        look,
    };
    review(&fleet.engine, &proposed, &|| {}).await.unwrap()
}

async fn live(fleet: &Fleet, edits: Edits<'_>) -> Review {
    reviewed(fleet, edits, Look::Live).await
}

fn with_backups(name: &str, days: u32) -> String {
    let text = workspace(name, "snapshot", false);
    text.replace(
        "      engine:",
        &format!("      backups: {{retentionDays: {days}}}\n      engine:"),
    )
}

/// Changes a database behind the agent's back.
fn console(fleet: &Fleet, name: &str, parameter: &str, value: impl Into<serde_json::Value>) {
    let call = Call::new("rds", "ModifyDBInstance")
        .with("DBInstanceIdentifier", name)
        .with(parameter, value.into())
        .with("ApplyImmediately", true);
    fleet.sandbox.door("console").ask(&scope(), &call).unwrap();
    fleet.wait(SignedDuration::from_mins(30));
}

#[tokio::test]
async fn what_the_merge_changes_is_told_from_what_drifted_and_nothing_is_written() {
    let fleet = Fleet::new(&[with_backups("a", 7), with_backups("b", 7)]).await;
    console(&fleet, "a", "DeletionProtection", true);
    let calls = fleet.sandbox.calls_since(0).len() as u64;
    let record = fleet.engine.store.get(&Key::workspace("a")).await.unwrap();
    let review = live(&fleet, &[("0.yaml", &with_backups("a", 9))]).await;
    let [object] = &review.objects[..] else { panic!("{review:#?}") };
    let [effect] = &object.effects[..] else { panic!("{object:#?}") };
    let mut told: Vec<_> = effect.fields.iter().map(|it| (it.field.as_str(), it.cause)).collect();
    told.sort_unstable();
    assert_eq!(
        told,
        [
            ("backups.retentionDays", FieldCause::Changed),
            ("deletionProtection", FieldCause::Drifted)
        ]
    );
    let days = effect.fields.iter().find(|field| field.cause == FieldCause::Changed).unwrap();
    assert_eq!((&days.actual, &days.after), (&Some(json!(7)), &Some(json!(9))));
    let sent = fleet.sandbox.calls_since(calls);
    assert!(sent.iter().all(|call| call.operation.starts_with("Describe")), "{sent:?}");
    assert_eq!(fleet.engine.store.get(&Key::workspace("a")).await.unwrap(), record);
}

#[tokio::test]
async fn drift_has_the_name_that_a_pass_found_out() {
    let fleet = Fleet::new(&[with_backups("a", 7)]).await;
    console(&fleet, "a", "DeletionProtection", true);
    let (key, store) = (Key::workspace("a"), &fleet.engine.store);
    let mut record = store.get(&key).await.unwrap().unwrap();
    let is_database = |it: &&ResourceStatus| it.id.kind.as_str() == "db_instance";
    let resource = record.status.resources.iter().find(is_database).unwrap().id.clone();
    let changed = Changed {
        by: "arn:aws:iam::111122223333:user/alice".to_owned(),
        at: fleet.engine.clock.now(),
        event: "ModifyDBInstance".to_owned(),
    };
    record.status.drift.push(DriftStatus {
        resource,
        field: "deletionProtection".to_owned(),
        actual: json!(true),
        declared: json!(false),
        first_seen: changed.at,
        disposition: "Reported".to_owned(),
        changed_by: Some(changed.clone()),
    });
    store.put(&record, &[], &[], fleet.engine.token().unwrap()).await.unwrap();
    let review = live(&fleet, &[("0.yaml", &with_backups("a", 9))]).await;
    let fields = &review.objects[0].effects[0].fields;
    let of = |cause| fields.iter().find(|field| field.cause == cause).unwrap().changed_by.clone();
    assert_eq!(of(FieldCause::Drifted), Some(changed));
    assert_eq!(of(FieldCause::Changed), None);
}

#[tokio::test]
async fn a_removal_is_foreseen_with_what_stays_and_in_the_same_words_at_any_time() {
    let fleet = Fleet::new(&[workspace("a", "snapshot", false)]).await;
    let first = live(&fleet, &[("0.yaml", "")]).await;
    let [object] = &first.objects[..] else { panic!("{first:#?}") };
    assert_eq!(object.edit, Edit::Removed);
    let told: Vec<_> =
        object.effects.iter().map(|it| (it.action, it.resource.kind.to_string())).collect();
    let groups = (Action::Delete, "db_parameter_group".to_owned());
    assert_eq!(told, [(Action::Delete, "db_instance".to_owned()), groups]);
    let database = &object.effects[0];
    assert_eq!(database.when, When::Grace);
    assert_eq!(database.notices[0].what.message, "its final snapshot is a-final-TIME");
    assert_eq!(first.safety(), Safety::Care);
    fleet.wait(SignedDuration::from_mins(7));
    assert_eq!(live(&fleet, &[("0.yaml", "")]).await, first);
}

#[tokio::test]
async fn a_protected_database_is_not_deleted_and_the_merge_is_not_ready() {
    let fleet = Fleet::new(&[workspace("a", "delete", true)]).await;
    let review = live(&fleet, &[("0.yaml", "")]).await;
    let database = &review.objects[0].effects[0];
    assert_eq!(database.refusals[0].what.code, "DeletionProtected");
    assert_eq!((review.safety(), &database.when), (Safety::Broken, &When::Refused));
}

#[tokio::test]
async fn a_section_that_leaves_is_foreseen_too() {
    let text = workspace("a", "delete", false);
    let fleet = Fleet::new(std::slice::from_ref(&text)).await;
    let (start, end) =
        (text.find("    database:").unwrap(), text.find("  reconcilePolicy").unwrap());
    let without = format!("{}{}", &text[..start], &text[end..]);
    let review = live(&fleet, &[("0.yaml", &without)]).await;
    let object = &review.objects[0];
    assert_eq!(object.edit, Edit::Changed);
    assert!(object.effects.iter().all(|it| it.proposed && it.action == Action::Delete));
    assert_eq!(object.effects.len(), 2);
}

#[tokio::test]
async fn a_file_that_moves_is_no_removal_and_no_change() {
    let text = workspace("a", "delete", false);
    let fleet = Fleet::new(std::slice::from_ref(&text)).await;
    let review = live(&fleet, &[("0.yaml", ""), ("teams/a.yaml", &text)]).await;
    assert_eq!((review.objects.len(), review.safety()), (0, Safety::Safe));
}

#[tokio::test]
async fn objects_that_vanish_together_wait_for_a_person() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let manifests = names.map(|name| workspace(name, "delete", false));
    let fleet = Fleet::new(&manifests).await;
    let paths: Vec<String> = (0..names.len()).map(|n| format!("{n}.yaml")).collect();
    let edits: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "")).collect();
    let review = live(&fleet, &edits).await;
    let frozen = review.frozen.as_ref().unwrap();
    assert!(frozen.starts_with("6 objects would vanish from Git together"), "{frozen}");
    let whens = review.objects.iter().flat_map(|object| &object.effects).map(|it| &it.when);
    assert!(whens.clone().count() == 12 && whens.into_iter().all(|it| *it == When::Confirmed));
}

#[tokio::test]
async fn a_file_with_mistakes_keeps_its_object_and_stops_the_merge() {
    let fleet = Fleet::new(&[workspace("a", "delete", false)]).await;
    let broken = workspace("a", "delete", false).replace("sizeClass", "sizeclass");
    let review = live(&fleet, &[("0.yaml", &broken)]).await;
    assert_eq!(review.objects[0].edit, Edit::Broken);
    assert_eq!(review.objects[0].effects, []);
    assert!(!review.problems.is_empty() && review.safety() == Safety::Broken);
}

#[tokio::test]
async fn an_environment_that_nobody_configured_is_an_obstacle() {
    let fleet = Fleet::new(&[]).await;
    let text = workspace("a", "delete", false).replace("production", "moon");
    let review = live(&fleet, &[("a.yaml", &text)]).await;
    let why = review.objects[0].obstacle.as_ref().unwrap();
    assert!(why.contains("\"moon\"") && review.safety() == Safety::Broken, "{why}");
}

#[tokio::test]
async fn what_may_not_be_compared_with_the_cloud_reads_nothing() {
    let fleet = Fleet::new(&[with_backups("a", 7)]).await;
    let calls = fleet.sandbox.calls_since(0).len() as u64;
    let look = Look::Withheld("it comes from a fork".to_owned());
    let review = reviewed(&fleet, &[("0.yaml", &with_backups("a", 9))], look).await;
    assert_eq!(fleet.sandbox.calls_since(calls).len(), 0);
    let effect = &review.objects[0].effects[0];
    let field = &effect.fields[0];
    assert_eq!((field.field.as_str(), &field.actual), ("backups.retentionDays", &None));
    assert_eq!((&field.before, &field.after), (&Some(json!(7)), &Some(json!(9))));
    assert_eq!(review.safety(), Safety::Care);
}

#[tokio::test]
async fn a_doubtful_cloud_is_told_and_not_called_safe() {
    let fleet = Fleet::new(&[with_backups("a", 7)]).await;
    fleet.wait(SignedDuration::from_hours(1));
    let rule = Rule::new(Fault::Deny).operation("DescribeDBInstances");
    fleet.sandbox.inject(rule);
    let review = live(&fleet, &[("0.yaml", &with_backups("a", 9))]).await;
    let unknown = |effect: &&Effect| matches!(effect.when, When::Unknown(_));
    assert!(review.objects[0].effects.iter().any(|it| unknown(&it)), "{review:#?}");
    assert_eq!(review.safety(), Safety::Care);
}
