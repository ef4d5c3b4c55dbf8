//! What Git said last counts, whether or not an agent read it and could record it.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::manifest::Files;
use crate::reconcile::annals::{Annals, Last, LastWord};

/// The history of a fleet's repository.
#[derive(Default)]
pub(super) struct Past {
    commits: Mutex<Vec<BTreeMap<String, String>>>,
    is_away: AtomicBool,
}

impl Past {
    pub(super) fn add(&self, files: &BTreeMap<String, String>) {
        self.commits.lock().unwrap().push(files.clone());
    }

    fn last(&self, key: &Key, revision: &Revision) -> Option<Last> {
        let commits = self.commits.lock().unwrap();
        let tip: usize = revision.as_str().parse().unwrap();
        (1..=tip).rev().find_map(|number| {
            let mut files = Files::default();
            let _ = files.apply(&changes(number, &commits[number - 1]));
            let object = files.object(key)?;
            Some(Last {
                deletion: object.policy().deletion,
                suspended: object.holds().suspended,
                gone_in: Revision::new(format!("{:040}", number + 1)),
            })
        })
    }
}

impl Annals for Past {
    fn last_word<'a>(&'a self, key: &'a Key, revision: &'a Revision) -> LastWord<'a> {
        Box::pin(async move {
            match self.is_away.load(Ordering::Relaxed) {
                true => Err("Timeout".to_owned()),
                false => Ok(self.last(key, revision)),
            }
        })
    }
}

/// A fleet of one workspace that says `delete`.
async fn fleet() -> Fleet {
    Fleet::new(&[workspace("a", "delete", false)]).await
}

#[tokio::test]
async fn a_word_that_was_pushed_together_with_the_removal_counts() {
    let mut fleet = fleet().await;
    fleet.write_before(&[("0.yaml", &workspace("a", "snapshot", false))]);
    fleet.write(&[("0.yaml", "")]).await;
    fleet.run(GRACE + SignedDuration::from_mins(30)).await;
    assert_eq!(fleet.deletes(), ["DeleteDBInstance", "DeleteDBParameterGroup"]);
    assert_eq!(fleet.snapshots().len(), 1);
}

#[tokio::test]
async fn a_word_that_no_agent_could_record_counts_for_the_next_one() {
    let mut fleet = fleet().await;
    fleet.write_before(&[("0.yaml", &workspace("a", "retain", false))]);
    fleet.files.remove("0.yaml");
    fleet.restart().await;
    fleet.run(GRACE + SignedDuration::from_mins(30)).await;
    assert_eq!(fleet.deletes(), [""; 0]);
    assert_eq!(fleet.databases()["a"], "retained:levelset/Workspace/a");
}

#[tokio::test]
async fn a_suspension_that_no_agent_could_record_counts_for_the_next_one() {
    let mut fleet = fleet().await;
    let suspended = "metadata: {name: a, annotations: {platform.kby.io/suspend: \"true\"}}";
    let text = workspace("a", "delete", false).replace("metadata: {name: a}", suspended);
    fleet.write_before(&[("0.yaml", &text)]);
    fleet.files.remove("0.yaml");
    fleet.restart().await;
    fleet.run(GRACE * 2).await;
    assert_eq!(fleet.deletes(), [""; 0]);
    assert_eq!(fleet.databases()["a"], "levelset/Workspace/a");
}

#[tokio::test]
async fn a_careful_word_stays_on_record() {
    let mut fleet = fleet().await;
    fleet.write_before(&[("0.yaml", &workspace("a", "snapshot", false))]);
    fleet.write(&[("0.yaml", "")]).await;
    fleet.run(SignedDuration::from_mins(1)).await;
    let record = fleet.store.get(&Key::workspace("a")).await.unwrap().unwrap();
    assert_eq!(record.deletion, crate::model::policy::DeletionPolicy::Snapshot);
}

#[tokio::test]
async fn a_less_careful_word_that_no_pass_saw_does_not_count() {
    let mut fleet = Fleet::new(&[workspace("a", "retain", false)]).await;
    fleet.write_before(&[("0.yaml", &workspace("a", "delete", false))]);
    fleet.write(&[("0.yaml", "")]).await;
    fleet.run(GRACE + SignedDuration::from_mins(30)).await;
    assert_eq!(fleet.deletes(), [""; 0]);
}

#[tokio::test]
async fn nothing_is_deleted_while_the_history_cannot_be_read() {
    let mut fleet = fleet().await;
    fleet.past.is_away.store(true, Ordering::Relaxed);
    fleet.write(&[("0.yaml", "")]).await;
    fleet.run(GRACE * 2).await;
    assert_eq!(fleet.deletes(), [""; 0]);
    let ready = fleet.ready("a").await;
    assert!(ready.contains("history of the branch cannot be read (Timeout)"), "{ready}");
    fleet.past.is_away.store(false, Ordering::Relaxed);
    fleet.run(GRACE).await;
    assert_eq!(fleet.deletes(), ["DeleteDBInstance", "DeleteDBParameterGroup"]);
}

#[tokio::test]
async fn what_the_history_never_declared_is_retained() {
    let mut fleet = fleet().await;
    fleet.past.commits.lock().unwrap()[0].clear();
    fleet.write(&[("0.yaml", "")]).await;
    fleet.run(GRACE * 2).await;
    assert_eq!(fleet.deletes(), [""; 0]);
    assert_eq!(fleet.databases()["a"], "retained:levelset/Workspace/a");
}

#[tokio::test]
async fn another_removal_that_no_agent_could_record_begins_a_new_grace_period() {
    let mut fleet = fleet().await;
    fleet.write(&[("0.yaml", "")]).await;
    fleet.run(GRACE - SignedDuration::from_mins(10)).await;
    fleet.write_before(&[("0.yaml", &workspace("a", "delete", false))]);
    fleet.files.remove("0.yaml");
    fleet.restart().await;
    fleet.run(GRACE - SignedDuration::from_mins(1)).await;
    assert_eq!(fleet.deletes(), [""; 0]);
    fleet.run(SignedDuration::from_mins(30)).await;
    assert_eq!(fleet.deletes(), ["DeleteDBInstance", "DeleteDBParameterGroup"]);
}

#[tokio::test]
async fn what_was_made_and_never_seen_goes_by_what_git_said_when_it_was_made() {
    let mut fleet = Fleet::new(&[]).await;
    let lost = Rule::new(Effect::LoseAnswer).operation("CreateDBParameterGroup").times(1);
    fleet.sandbox.inject(lost);
    fleet.write(&[("0.yaml", &workspace("a", "retain", false))]).await;
    fleet.run(SignedDuration::ZERO).await;
    let parameters = "      parameters: {log_min_duration_statement: \"500\"}\n";
    let without = workspace("a", "delete", false).replace(parameters, "");
    fleet.write(&[("0.yaml", &without)]).await;
    fleet.run(GRACE * 2).await;
    assert_eq!((fleet.deletes(), fleet.parameter_groups().len()), (Vec::new(), 1));
}
