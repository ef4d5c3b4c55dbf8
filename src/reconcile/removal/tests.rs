//! Removals on the sandbox, in virtual time, from the commit to the forgotten record.

mod again;
mod claims;
mod used;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::desired::{Cache, Guard};
use crate::model::status::Condition;
use crate::model::tree::Content;
use crate::model::{Call, ChangeSet, Clock, Entry, Key, ObjectKind, ObjectStatus, Revision, Shard};
use crate::reconcile::annals::Words;
use crate::reconcile::engine::Engine;
use crate::reconcile::pass::pass;
use crate::reconcile::preview::preview;
use crate::reconcile::tests::{VirtualClock, engine, scope};
use crate::reconcile::triggers::Triggers;
use crate::reconcile::work_queue::WorkQueue;
use crate::sandbox::faults::{Effect, Rule};
use crate::sandbox::{Sandbox, Settings};
use crate::status::metrics::Metrics;
use crate::status::{InMemory, Store};
use words::Past;

const GRACE: SignedDuration = SignedDuration::from_hours(1);

/// Asks for nothing.
const REST: &str = "apiVersion: platform.kby.io/v1alpha1\nkind: Workspace\nmetadata: {name: rest}\n\
    spec: {environment: production, resources: {}}\n";

/// Writes a workspace with a database and a parameter group of its own.
pub(in crate::reconcile) fn workspace(name: &str, policy: &str, protected: bool) -> String {
    format!(
        "---\napiVersion: platform.kby.io/v1alpha1\nkind: Workspace\nmetadata: {{name: {name}}}\n\
         spec:\n  environment: production\n  resources:\n    network: {{vpcRef: shared}}\n    \
         database:\n      engine: postgres\n      version: \"15\"\n      sizeClass: db.r6g.large\n      \
         deletionProtection: {protected}\n      parameters: {{log_min_duration_statement: \"500\"}}\n  \
         reconcilePolicy: {{deletion: {policy}}}\n"
    )
}

fn network() -> String {
    "---\napiVersion: platform.kby.io/v1alpha1\nkind: Network\nmetadata: {name: shared}\nspec:\n  \
     environment: production\n  reconcilePolicy: {deletion: delete}\n"
        .to_owned()
}

/// A whole agent without tasks: the test makes its passes when they are due.
pub(in crate::reconcile) struct Fleet {
    clock: Arc<VirtualClock>,
    pub(in crate::reconcile) sandbox: Sandbox,
    store: Arc<InMemory>,
    pub(in crate::reconcile) engine: Arc<Engine>,
    triggers: Triggers,
    due: BTreeMap<Key, Timestamp>,
    pub(in crate::reconcile) files: BTreeMap<String, String>,
    commits: usize,
    past: Arc<Past>,
}

impl Fleet {
    pub(in crate::reconcile) async fn new(objects: &[String]) -> Self {
        let start: Timestamp = "2026-11-25T12:00:00Z".parse().unwrap();
        let clock = Arc::new(VirtualClock(Mutex::new(start)));
        let sandbox = Sandbox::new(clock.clone(), Settings::real(7));
        sandbox.seed_vpc(&scope(), "shared", "10.0.0.0/16", &["a", "b"]);
        let store = Arc::new(InMemory::new());
        let past = Arc::new(Past::default());
        let (engine, triggers) = Self::start(&clock, &sandbox, &store, &past).await;
        let files = objects.iter().enumerate();
        let files = files.map(|(n, text)| (format!("{n}.yaml"), text.clone()));
        // The last object of a repository is never taken for removed.
        let rest = ("rest.yaml".to_owned(), REST.to_owned());
        let files = files.chain([rest]).collect();
        let due = BTreeMap::new();
        let commits = 0;
        let mut fleet = Self { clock, sandbox, store, engine, triggers, due, files, commits, past };
        fleet.commit().await;
        fleet.run(SignedDuration::from_hours(1)).await;
        fleet
    }

    async fn start(
        clock: &Arc<VirtualClock>,
        sandbox: &Sandbox,
        store: &Arc<InMemory>,
        past: &Arc<Past>,
    ) -> (Arc<Engine>, Triggers) {
        let token = store.grant(Shard::default()).await.unwrap();
        let cache = Cache::new(Guard::default());
        let words = Words::of(past.clone());
        let engine = engine(clock, sandbox, (store, token), cache.reader());
        let engine = Arc::new(Engine { words, ..engine });
        let queue = Arc::new(WorkQueue::new(clock.clone()));
        let metrics = Arc::new(Metrics::new("test"));
        let triggers = Triggers::restore(cache, engine.clone(), queue, metrics).await.unwrap();
        (engine, triggers)
    }

    /// Dies, and comes back with what the store holds and the files as they are.
    async fn restart(&mut self) {
        let (clock, sandbox, store) = (&self.clock, &self.sandbox, &self.store);
        (self.engine, self.triggers) = Self::start(clock, sandbox, store, &self.past).await;
        self.due.clear();
        self.commit().await;
    }

    async fn commit(&mut self) {
        self.commits += 1;
        self.past.add(&self.files);
        let changes = changes(self.commits, &self.files);
        self.triggers.take(&changes).await;
        let snapshot = self.engine.desired.snapshot();
        let keys = snapshot.objects.keys().chain(snapshot.orphans.keys());
        self.due.extend(keys.map(|key| (key.clone(), self.clock.now())));
    }

    /// Changes files in one commit; an empty text takes the file away.
    async fn write(&mut self, files: &[(&str, &str)]) {
        self.change(files);
        self.commit().await;
    }

    /// Changes files in a commit that is pushed together with the next one.
    fn write_before(&mut self, files: &[(&str, &str)]) {
        self.change(files);
        self.commits += 1;
        self.past.add(&self.files);
    }

    fn change(&mut self, files: &[(&str, &str)]) {
        for (path, text) in files {
            match text.is_empty() {
                true => drop(self.files.remove(*path)),
                false => drop(self.files.insert((*path).to_owned(), (*text).to_owned())),
            }
        }
    }

    pub(in crate::reconcile) fn wait(&self, time: SignedDuration) {
        let mut now = self.clock.0.lock().unwrap();
        *now = now.checked_add(time).unwrap();
    }

    /// Lets the agent work for a while.
    async fn run(&mut self, time: SignedDuration) {
        let end = self.clock.now() + time;
        while let Some((key, at)) =
            self.due.iter().min_by_key(|(_, at)| **at).map(|(key, at)| (key.clone(), *at))
            && at <= end
        {
            self.wait(at.duration_since(self.clock.now()).max(SignedDuration::ZERO));
            let passed = pass(&self.engine, &key).await.unwrap();
            match passed.next.due {
                Some((_, at)) => self.due.insert(key, at),
                None => self.due.remove(&key),
            };
            self.triggers.dismiss().await;
        }
        self.wait(end.duration_since(self.clock.now()));
    }

    async fn status(&self, name: &str) -> Option<ObjectStatus> {
        let record = self.store.get(&Key::workspace(name)).await.unwrap();
        record.map(|record| record.status)
    }

    async fn ready(&self, name: &str) -> String {
        let status = self.status(name).await.unwrap();
        let ready = status.condition(Condition::READY).unwrap();
        format!("{}: {}", ready.reason, ready.message)
    }

    async fn history(&self, name: &str) -> Vec<String> {
        let events = self.store.history(&Key::workspace(name), 100).await.unwrap();
        events.into_iter().rev().map(|event| event.reason).collect()
    }

    async fn told(&self, name: &str, reason: &str) -> usize {
        self.history(name).await.iter().filter(|told| *told == reason).count()
    }

    fn ask(&self, call: Call) -> Value {
        self.sandbox.door("auditor").ask(&scope(), &call).unwrap()
    }

    /// Returns the ownership tag of every database.
    fn databases(&self) -> BTreeMap<String, String> {
        let owner = |tags: &Value| {
            let tags = tags.as_array().unwrap().iter();
            let mut owner = tags.filter(|tag| tag["Key"] == "levelset:owner");
            owner.next().map_or(String::new(), |tag| tag["Value"].as_str().unwrap().to_owned())
        };
        let instances = self.sandbox.inspect(&scope()).into_iter();
        let name = |instance: &serde_json::Map<String, Value>| {
            instance["DBInstanceIdentifier"].as_str().unwrap().to_owned()
        };
        instances.map(|instance| (name(&instance), owner(&instance["TagList"]))).collect()
    }

    fn names(&self, operation: &'static str, list: &str, name: &str) -> BTreeSet<String> {
        let answer = self.ask(Call::new("rds", operation));
        let items = answer[list].as_array().unwrap().iter();
        items.map(|item| item[name].as_str().unwrap().to_owned()).collect()
    }

    fn parameter_groups(&self) -> BTreeSet<String> {
        let all =
            self.names("DescribeDBParameterGroups", "DBParameterGroups", "DBParameterGroupName");
        all.into_iter().filter(|name| !name.starts_with("default.")).collect()
    }

    fn snapshots(&self) -> BTreeSet<String> {
        self.names("DescribeDBSnapshots", "DBSnapshots", "DBSnapshotIdentifier")
    }

    fn deletes(&self) -> Vec<String> {
        let calls = self.sandbox.calls_since(0).into_iter();
        let sent =
            calls.filter(|call| call.operation.starts_with("Delete") && &*call.by == "agent");
        sent.map(|call| call.operation).collect()
    }
}

/// Returns a commit with these files.
fn changes(number: usize, files: &BTreeMap<String, String>) -> ChangeSet {
    let entry = |text: &String| Entry {
        blob: text.as_str().into(),
        content: Content::Bytes(text.as_bytes().into()),
    };
    ChangeSet {
        revision: Revision::new(format!("{number:040}")),
        changed: files.iter().map(|(path, text)| (path.as_str().into(), entry(text))).collect(),
        removed: Vec::new(),
        full: true,
    }
}

#[tokio::test]
async fn a_database_is_deleted_after_the_grace_period_and_a_final_snapshot_and_then_its_group() {
    let mut fleet = Fleet::new(&[workspace("a", "snapshot", false)]).await;
    assert!(fleet.ready("a").await.starts_with("Converged"), "{}", fleet.ready("a").await);
    fleet.write(&[("0.yaml", "")]).await;
    let removed_at = fleet.clock.now();
    fleet.run(GRACE - SignedDuration::from_secs(1)).await;
    assert_eq!(fleet.deletes(), [""; 0]);
    let ready = fleet.ready("a").await;
    let until = removed_at + GRACE;
    assert!(ready.starts_with("Removed: ") && ready.contains(&until.to_string()), "{ready}");
    fleet.run(SignedDuration::from_mins(30)).await;
    assert_eq!(fleet.deletes(), ["DeleteDBInstance", "DeleteDBParameterGroup"]);
    let name = format!("a-final-{}", removed_at.strftime("%Y%m%d-%H%M%S"));
    assert_eq!(fleet.snapshots(), [name].into());
    assert!(fleet.databases().is_empty() && fleet.parameter_groups().is_empty());
    assert_eq!(fleet.status("a").await, None, "nothing is left to remember");
    for reason in ["Removed", "Deferred", "Deleting", "Deleted"] {
        let times = fleet.told("a", reason).await;
        assert!((1..=2).contains(&times), "{reason} is told {times} times");
    }
    assert_eq!(fleet.told("a", "Removed").await, 1);
}

#[tokio::test]
async fn putting_the_manifest_back_in_any_file_cancels_the_removal() {
    let text = workspace("a", "delete", false);
    let mut fleet = Fleet::new(std::slice::from_ref(&text)).await;
    fleet.write(&[("0.yaml", "")]).await;
    fleet.run(GRACE - SignedDuration::from_mins(1)).await;
    fleet.write(&[("elsewhere/a.yaml", &text)]).await;
    fleet.run(SignedDuration::from_hours(6)).await;
    assert_eq!(fleet.deletes(), [""; 0]);
    assert!(fleet.ready("a").await.starts_with("Converged"));
    assert_eq!(fleet.status("a").await.unwrap().observed_generation.0, 1);
    assert_eq!(fleet.told("a", "Returned").await, 1);
    // Removed again, the grace period begins again.
    fleet.write(&[("elsewhere/a.yaml", "")]).await;
    fleet.run(GRACE - SignedDuration::from_mins(1)).await;
    assert_eq!(fleet.deletes(), [""; 0]);
}

#[tokio::test]
async fn another_name_of_the_file_or_the_folder_is_no_removal() {
    let text = workspace("a", "delete", false);
    let mut fleet = Fleet::new(std::slice::from_ref(&text)).await;
    fleet.write(&[("0.yaml", ""), ("teams/a.yaml", &text)]).await;
    fleet.run(SignedDuration::from_hours(6)).await;
    assert_eq!((fleet.deletes(), fleet.told("a", "Removed").await), (Vec::new(), 0));
}

#[tokio::test]
async fn a_file_that_cannot_be_read_may_hold_what_was_removed() {
    let mut fleet = Fleet::new(&[workspace("a", "delete", false)]).await;
    fleet.write(&[("0.yaml", "")]).await;
    fleet.run(SignedDuration::from_mins(30)).await;
    fleet.write(&[("1.yaml", "broken: [\n")]).await;
    fleet.run(SignedDuration::from_hours(6)).await;
    assert_eq!(fleet.deletes(), [""; 0]);
    assert!(fleet.ready("a").await.contains("cannot be read"), "{}", fleet.ready("a").await);
    fleet.write(&[("1.yaml", "")]).await;
    fleet.run(SignedDuration::from_hours(1)).await;
    assert_eq!(fleet.databases().len(), 0);
}

#[tokio::test]
async fn a_restart_within_the_grace_period_neither_shortens_nor_lengthens_it() {
    let mut fleet = Fleet::new(&[workspace("a", "snapshot", false)]).await;
    fleet.write(&[("0.yaml", "")]).await;
    let removed_at = fleet.clock.now();
    fleet.run(SignedDuration::from_mins(40)).await;
    fleet.restart().await;
    fleet.run(SignedDuration::from_mins(19)).await;
    assert_eq!(fleet.deletes(), [""; 0]);
    fleet.restart().await;
    fleet.run(SignedDuration::from_mins(30)).await;
    assert_eq!(fleet.deletes(), ["DeleteDBInstance", "DeleteDBParameterGroup"]);
    let name = format!("a-final-{}", removed_at.strftime("%Y%m%d-%H%M%S"));
    assert_eq!(fleet.snapshots(), [name].into());
    assert_eq!(fleet.told("a", "Removed").await, 1, "a restart is no news");
}

#[tokio::test]
async fn what_was_removed_while_no_agent_ran_follows_the_policy_that_was_last_read() {
    let snapshot = workspace("a", "snapshot", false);
    let mut fleet = Fleet::new(&[snapshot, workspace("b", "retain", false)]).await;
    fleet.files.remove("0.yaml");
    fleet.files.remove("1.yaml");
    fleet.files.insert("c.yaml".to_owned(), workspace("c", "retain", false));
    fleet.wait(SignedDuration::from_hours(48));
    fleet.restart().await;
    fleet.run(GRACE - SignedDuration::from_mins(1)).await;
    assert_eq!(fleet.deletes(), [""; 0], "the grace period begins when the removal is seen");
    fleet.run(SignedDuration::from_mins(30)).await;
    assert_eq!(fleet.deletes(), ["DeleteDBInstance", "DeleteDBParameterGroup"]);
    assert_eq!(fleet.databases()["b"], "retained:levelset/Workspace/b");
    assert_eq!((fleet.status("a").await, fleet.status("b").await), (None, None));
}

#[tokio::test]
async fn a_policy_that_nobody_worked_on_yet_counts_if_it_is_the_more_careful_one() {
    let mut fleet = Fleet::new(&[workspace("a", "delete", false)]).await;
    // The agent reads the commit, and dies before its pass.
    fleet.write(&[("0.yaml", &workspace("a", "retain", false))]).await;
    fleet.files.remove("0.yaml");
    fleet.files.insert("b.yaml".to_owned(), workspace("b", "retain", false));
    fleet.restart().await;
    fleet.run(SignedDuration::from_hours(3)).await;
    assert_eq!(fleet.deletes(), [""; 0]);
    assert_eq!(fleet.databases()["a"], "retained:levelset/Workspace/a");
}

#[tokio::test]
async fn six_of_twenty_that_vanish_at_once_are_frozen_and_nothing_is_deleted() {
    let objects: Vec<String> =
        (0..20).map(|n| workspace(&format!("w{n:02}"), "delete", false)).collect();
    let mut fleet = Fleet::new(&objects).await;
    assert_eq!(fleet.databases().len(), 20);
    // One is on its way out when the others vanish: it stays too.
    fleet.write(&[("19.yaml", "")]).await;
    fleet.run(SignedDuration::from_mins(10)).await;
    let gone: Vec<String> = (0..6).map(|n| format!("{n}.yaml")).collect();
    let gone: Vec<(&str, &str)> = gone.iter().map(|path| (path.as_str(), "")).collect();
    fleet.write(&gone).await;
    assert_eq!(fleet.engine.desired.snapshot().frozen.as_ref().unwrap().keys.len(), 6);
    fleet.run(SignedDuration::from_hours(6)).await;
    assert_eq!((fleet.deletes(), fleet.databases().len()), (Vec::new(), 20));
    assert!(fleet.ready("w19").await.contains("a person has not confirmed"));
}

/// Takes the database out of a manifest.
fn without_database(text: &str) -> String {
    let start = text.find("    database:").unwrap();
    let end = text.find("  reconcilePolicy").unwrap();
    format!("{}{}", &text[..start], &text[end..])
}

#[tokio::test]
async fn sections_that_leave_many_manifests_at_once_are_frozen_until_they_are_confirmed() {
    let objects: Vec<String> =
        (0..12).map(|n| workspace(&format!("w{n:02}"), "delete", false)).collect();
    let mut fleet = Fleet::new(&objects).await;
    let paths: Vec<String> = (0..8).map(|n| format!("{n}.yaml")).collect();
    let without: Vec<String> = objects[..8].iter().map(|text| without_database(text)).collect();
    let files: Vec<(&str, &str)> =
        paths.iter().map(String::as_str).zip(without.iter().map(String::as_str)).collect();
    fleet.write(&files).await;
    let frozen = |fleet: &Fleet| fleet.engine.desired.snapshot().frozen.clone();
    let shown = frozen(&fleet).unwrap();
    assert_eq!((shown.keys.len(), shown.losing.len()), (8, 8));
    fleet.run(SignedDuration::from_hours(6)).await;
    assert_eq!((fleet.deletes(), fleet.databases().len()), (Vec::new(), 12));
    fleet.restart().await;
    assert_eq!(frozen(&fleet).unwrap().digest, shown.digest, "it is found again");
    fleet.run(SignedDuration::from_hours(6)).await;
    assert_eq!((fleet.deletes(), fleet.databases().len()), (Vec::new(), 12));
    let confirm = crate::model::Ask::Confirm { digest: shown.digest.clone() };
    fleet.store.ask(&[confirm], "alice", fleet.clock.now()).await.unwrap();
    fleet.triggers.confirm_asked().await;
    assert!(frozen(&fleet).is_none());
    let keys = fleet.engine.desired.snapshot();
    fleet.due.extend(keys.objects.keys().map(|key| (key.clone(), fleet.clock.now())));
    fleet.run(SignedDuration::from_hours(3)).await;
    assert_eq!(fleet.databases().len(), 4);
}

#[tokio::test]
async fn sections_that_are_retained_or_few_leave_without_a_word() {
    let mut objects: Vec<String> =
        (0..8).map(|n| workspace(&format!("w{n:02}"), "retain", false)).collect();
    objects.extend((8..12).map(|n| workspace(&format!("w{n:02}"), "delete", false)));
    let mut fleet = Fleet::new(&objects).await;
    let paths: Vec<String> = (0..12).map(|n| format!("{n}.yaml")).collect();
    let without: Vec<String> = objects.iter().map(|text| without_database(text)).collect();
    let files: Vec<(&str, &str)> =
        paths.iter().map(String::as_str).zip(without.iter().map(String::as_str)).collect();
    fleet.write(&files).await;
    assert!(fleet.engine.desired.snapshot().frozen.is_none());
    fleet.run(SignedDuration::from_hours(3)).await;
    assert_eq!(fleet.databases().len(), 8, "what is retained stays");
}

#[tokio::test]
async fn each_object_follows_its_own_policy() {
    let objects = ["retain", "snapshot", "delete"].map(|policy| workspace(policy, policy, false));
    let mut fleet = Fleet::new(&objects).await;
    fleet
        .write(&[
            ("0.yaml", ""),
            ("1.yaml", ""),
            ("2.yaml", ""),
            ("b.yaml", &workspace("b", "retain", true)),
        ])
        .await;
    fleet.run(SignedDuration::from_hours(2)).await;
    let left = fleet.databases();
    assert_eq!(left.keys().collect::<Vec<_>>(), ["b", "retain"]);
    assert_eq!(left["retain"], "retained:levelset/Workspace/retain");
    assert_eq!(fleet.snapshots().len(), 1);
    let groups = fleet.parameter_groups();
    assert_eq!(groups.len(), 2, "the group of the database that stays, stays: {groups:?}");
}

#[tokio::test]
async fn a_protected_database_stays_until_git_takes_the_protection_away_first() {
    let mut fleet = Fleet::new(&[workspace("a", "delete", true)]).await;
    fleet.write(&[("0.yaml", "")]).await;
    fleet.run(SignedDuration::from_hours(6)).await;
    assert_eq!(fleet.deletes(), [""; 0]);
    let status = fleet.status("a").await.unwrap();
    assert_eq!(status.resources[0].refusals[0].code, "DeletionProtected");
    assert!(fleet.ready("a").await.contains("database.deletionProtection: false"));
    fleet.write(&[("0.yaml", &workspace("a", "delete", false))]).await;
    fleet.run(SignedDuration::from_mins(30)).await;
    assert!(fleet.ready("a").await.starts_with("Converged"));
    fleet.write(&[("0.yaml", "")]).await;
    fleet.run(SignedDuration::from_hours(2)).await;
    assert_eq!(fleet.deletes(), ["DeleteDBInstance", "DeleteDBParameterGroup"]);
}

#[tokio::test]
async fn a_lost_request_or_answer_makes_no_second_snapshot() {
    for effect in [Effect::LoseRequest, Effect::LoseAnswer, Effect::ServerErrorAfter] {
        let mut fleet = Fleet::new(&[workspace("a", "snapshot", false)]).await;
        fleet.sandbox.inject(Rule::new(effect).operation("DeleteDBInstance").times(1));
        fleet.write(&[("0.yaml", "")]).await;
        fleet.run(SignedDuration::from_hours(3)).await;
        assert_eq!(fleet.snapshots().len(), 1, "{effect:?}");
        assert_eq!(fleet.status("a").await, None, "{effect:?}");
    }
}

#[tokio::test]
async fn a_database_whose_tag_was_taken_away_is_left() {
    let mut fleet = Fleet::new(&[workspace("a", "delete", false)]).await;
    fleet.write(&[("0.yaml", "")]).await;
    fleet.run(SignedDuration::from_mins(30)).await;
    let arn = "arn:aws:rds:eu-west-1:123456789012:db:a";
    let untag = Call::new("rds", "RemoveTagsFromResource").with("ResourceName", arn);
    fleet.ask(untag.with("TagKeys", vec!["levelset:owner"]));
    fleet.run(SignedDuration::from_hours(2)).await;
    assert_eq!((fleet.deletes(), fleet.databases().len()), (Vec::new(), 1));
    assert_eq!(fleet.status("a").await, None);
    let groups = fleet.parameter_groups();
    assert_eq!(groups.len(), 1, "it goes on using its group");
}

#[tokio::test]
async fn what_was_retained_is_taken_up_again_with_a_higher_generation_when_it_returns() {
    let text = workspace("a", "retain", true);
    let mut fleet = Fleet::new(std::slice::from_ref(&text)).await;
    fleet.write(&[("0.yaml", &text.replace("db.r6g.large", "db.r6g.xlarge"))]).await;
    fleet.run(SignedDuration::from_hours(1)).await;
    fleet.write(&[("0.yaml", "")]).await;
    fleet.run(SignedDuration::from_mins(5)).await;
    assert_eq!(fleet.databases()["a"], "retained:levelset/Workspace/a");
    assert_eq!((fleet.status("a").await, fleet.told("a", "Retained").await), (None, 2));
    fleet.restart().await;
    fleet.write(&[("b.yaml", &text)]).await;
    fleet.run(SignedDuration::from_mins(10)).await;
    assert_eq!(fleet.databases()["a"], "levelset/Workspace/a");
    assert_eq!(fleet.status("a").await.unwrap().observed_generation.0, 3);
    let group = Call::new("rds", "ListTagsForResource")
        .with("ResourceName", "arn:aws:rds:eu-west-1:123456789012:pg:levelset-a-postgres15");
    let tags = fleet.ask(group)["TagList"].to_string();
    assert!(tags.contains("\"levelset/Workspace/a\""), "{tags}");
}

#[tokio::test]
async fn a_section_that_leaves_is_deleted_by_the_same_rules_and_shown_before() {
    let text = workspace("a", "snapshot", false);
    let mut fleet = Fleet::new(std::slice::from_ref(&text)).await;
    let start = text.find("    database:").unwrap();
    let end = text.find("  reconcilePolicy").unwrap();
    let without = format!("{}{}", &text[..start], &text[end..]);
    fleet.write(&[("0.yaml", &without)]).await;
    let entry = fleet.engine.desired.snapshot().get(&Key::workspace("a")).unwrap().clone();
    let record = fleet.store.get(&Key::workspace("a")).await.unwrap();
    let plan = preview(&fleet.engine, &entry, record).await.unwrap();
    let shown = crate::report::text::plan(&[plan], crate::report::Style::Plain);
    assert!(shown.contains("- db_instance/a") && shown.contains("to be deleted"), "{shown}");
    assert!(shown.contains("2 to delete"), "{shown}");
    fleet.run(GRACE - SignedDuration::from_mins(1)).await;
    assert_eq!(fleet.deletes(), [""; 0]);
    assert!(fleet.ready("a").await.starts_with("Deferred"), "{}", fleet.ready("a").await);
    fleet.restart().await;
    fleet.run(SignedDuration::from_mins(30)).await;
    assert_eq!(fleet.deletes(), ["DeleteDBInstance", "DeleteDBParameterGroup"]);
    assert!(fleet.ready("a").await.starts_with("Converged"));
    assert_eq!(fleet.status("a").await.unwrap().resources, []);
}

#[tokio::test]
async fn a_database_that_gets_another_identifier_leaves_the_old_one_by_the_policy_before() {
    let text = workspace("a", "retain", false);
    let mut fleet = Fleet::new(std::slice::from_ref(&text)).await;
    let renamed = text.replace("engine: postgres", "identifier: other\n      engine: postgres");
    let renamed = renamed.replace("deletion: retain", "deletion: delete");
    fleet.write(&[("0.yaml", &renamed)]).await;
    fleet.run(SignedDuration::from_hours(3)).await;
    let left = fleet.databases();
    assert_eq!(left["a"], "retained:levelset/Workspace/a");
    assert_eq!(left["other"], "levelset/Workspace/a");
    assert!(fleet.ready("a").await.starts_with("Converged"));
}

#[tokio::test]
async fn what_another_manifest_takes_over_is_handed_on() {
    let mut fleet = Fleet::new(&[workspace("a", "delete", false)]).await;
    let taker = workspace("b", "retain", false)
        .replace("engine: postgres", "identifier: a\n      adopt: true\n      engine: postgres");
    fleet.write(&[("0.yaml", ""), ("b.yaml", &taker)]).await;
    fleet.run(SignedDuration::from_hours(3)).await;
    assert_eq!(fleet.databases(), [("a".to_owned(), "levelset/Workspace/b".to_owned())].into());
}

#[tokio::test]
async fn a_suspended_object_is_not_taken_away() {
    let text = workspace("a", "delete", false).replace(
        "metadata: {name: a}",
        "metadata: {name: a, annotations: {platform.kby.io/suspend: \"true\"}}",
    );
    let mut fleet = Fleet::new(&[workspace("a", "delete", false)]).await;
    fleet.write(&[("0.yaml", &text)]).await;
    fleet.run(SignedDuration::from_mins(10)).await;
    fleet.files.remove("0.yaml");
    fleet.restart().await;
    fleet.run(SignedDuration::from_hours(6)).await;
    assert_eq!((fleet.deletes(), fleet.databases().len()), (Vec::new(), 1));
}

#[tokio::test]
async fn the_group_of_a_removed_network_waits_for_the_last_workspace_in_it() {
    let mut fleet = Fleet::new(&[workspace("a", "delete", false), network()]).await;
    let groups = |fleet: &Fleet| {
        fleet.names("DescribeDBSubnetGroups", "DBSubnetGroups", "DBSubnetGroupName")
    };
    fleet.write(&[("1.yaml", "")]).await;
    fleet.run(SignedDuration::from_hours(6)).await;
    assert_eq!((fleet.deletes(), groups(&fleet).len()), (Vec::new(), 1));
    let key = Key::new(ObjectKind::Network, "shared");
    let status = fleet.store.get(&key).await.unwrap().unwrap().status;
    assert!(status.condition(Condition::READY).unwrap().message.contains("Workspace/a uses it"));
    fleet
        .write(&[
            ("0.yaml", ""),
            ("b.yaml", &workspace("b", "retain", true).replace("vpcRef: shared", "vpcRef: gone")),
        ])
        .await;
    fleet.run(SignedDuration::from_hours(3)).await;
    assert_eq!(groups(&fleet).len(), 0);
    assert_eq!(fleet.deletes().len(), 3);
}

#[tokio::test]
async fn what_refers_to_another_resource_is_deleted_before_it() {
    // The database needs the role: the other way round than kinds are ordered.
    let watched = workspace("team-a", "delete", false).replace(
        "      deletionProtection",
        "      monitoring: {intervalSeconds: 60, roleArn: \"${iam.watch.arn}\"}\n      \
         deletionProtection",
    );
    let roles = "    iam: {roles: {watch: {trust: {services: [monitoring.rds.amazonaws.com]}}}}\n";
    let watched = watched.replace("  reconcilePolicy", &format!("{roles}  reconcilePolicy"));
    let mut fleet = Fleet::new(&[watched]).await;
    let arn = "arn:aws:iam::123456789012:role/team-a-watch";
    assert_eq!(fleet.sandbox.inspect(&scope())[0]["MonitoringRoleArn"], arn);
    fleet.write(&[("0.yaml", "")]).await;
    fleet.run(GRACE * 4).await;
    let order = ["CreateRole", "CreateDBInstance", "DeleteDBInstance", "DeleteRole"];
    let calls = fleet.sandbox.calls_since(0);
    let names = calls.iter().filter(|call| call.refused.is_none() && &*call.by == "agent");
    let names = names.map(|call| call.operation.as_str()).filter(|name| order.contains(name));
    assert_eq!(names.collect::<Vec<_>>(), order);
    assert!(fleet.databases().is_empty());
}

#[tokio::test]
async fn a_custom_resource_goes_by_the_identifier_that_was_recorded() {
    let queue = "apiVersion: platform.kby.io/v1alpha1\nkind: Workspace\nmetadata: {name: team-a}\n\
        spec:\n  environment: production\n  resources:\n    custom:\n      jobs:\n        \
        type: AWS::SQS::Queue\n        properties: {QueueName: jobs}\n  \
        reconcilePolicy: {deletion: delete}\n";
    let mut fleet = Fleet::new(&[queue.to_owned()]).await;
    assert_eq!(fleet.sandbox.inspect_custom(&scope()).len(), 1);
    fleet.write(&[("0.yaml", "")]).await;
    fleet.run(GRACE * 3).await;
    assert!(fleet.sandbox.inspect_custom(&scope()).is_empty());
    let calls = fleet.sandbox.calls_since(0);
    let deletes = calls.iter().filter(|call| call.operation == "DeleteResource");
    assert_eq!(deletes.count(), 1);
    assert!(fleet.status("team-a").await.is_none(), "it is forgotten");
}
