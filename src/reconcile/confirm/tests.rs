//! Freezes and confirmations, across restarts.

use std::sync::Arc;

use super::*;
use crate::desired::{Cache, Guard};
use crate::model::tree::Content;
use crate::model::{ChangeSet, Entry, Revision};
use crate::reconcile::pass::pass;
use crate::reconcile::tests::Scene;
use crate::reconcile::work_queue::WorkQueue;
use crate::status::Metrics;

/// A repository of workspaces `w0`, `w1`, ..., and agents that follow it one after the other.
struct Story {
    scene: Scene,
    queue: Arc<WorkQueue>,
    triggers: Triggers,
    commits: u32,
}

impl Story {
    async fn begin() -> Self {
        let mut scene = Scene::empty().await;
        let cache = std::mem::replace(&mut scene.cache, Cache::new(Guard::default()));
        let (queue, triggers) = agent(&scene, cache).await;
        Self { scene, queue, triggers, commits: 0 }
    }

    /// A new agent takes over what the store remembers.
    async fn restart(&mut self) {
        let cache = Cache::new(Guard::default());
        (self.queue, self.triggers) = agent(&self.scene, cache).await;
    }

    /// Delivers a commit that holds the first `count` workspaces.
    async fn commit(&mut self, count: usize) {
        self.commits += 1;
        let manifest = |name: usize| {
            format!(
                "apiVersion: platform.kby.io/v1alpha1\nkind: Workspace\nmetadata: {{name: w{name}}}\n\
                 spec: {{environment: nowhere, resources: {{network: {{vpcRef: x}}}}}}\n"
            )
        };
        let text = (0..count).map(manifest).collect::<Vec<_>>().join("---\n");
        let blob = format!("blob-{}", self.commits).into();
        let entry = Entry { blob, content: Content::Bytes(text.as_bytes().into()) };
        let changes = ChangeSet {
            revision: Revision::new(format!("{:040}", self.commits)),
            changed: [("all.yaml".into(), entry)].into(),
            removed: Vec::new(),
            full: true,
        };
        self.triggers.take(&changes).await;
        assert!(self.triggers.cache.snapshot().problems.is_empty());
    }

    async fn freezes(&self) -> Vec<Freeze> {
        self.scene.engine.store.freezes().await.unwrap()
    }

    async fn confirm(&mut self, digest: &str) {
        self.scene.ask(Ask::Confirm { digest: digest.to_owned() }).await;
        self.triggers.confirm_asked().await;
    }

    fn removed(&self) -> usize {
        let snapshot = self.triggers.cache.snapshot();
        let keys = snapshot.objects.keys().chain(snapshot.orphans.keys());
        keys.filter(|key| snapshot.removed(key).is_some()).count()
    }

    async fn pending(&self) -> Vec<Ask> {
        let asked = self.scene.engine.store.asked_since(0).await.unwrap();
        asked.into_iter().map(|asked| asked.ask).collect()
    }
}

async fn agent(scene: &Scene, cache: Cache) -> (Arc<WorkQueue>, Triggers) {
    let queue = Arc::new(WorkQueue::new(scene.engine.clock.clone()));
    let (engine, metrics) = (scene.engine.clone(), Arc::new(Metrics::new("test")));
    let triggers = Triggers::restore(cache, engine, queue.clone(), metrics).await.unwrap();
    (queue, triggers)
}

/// Eight workspaces, of which six have vanished together.
async fn frozen() -> (Story, String) {
    let mut story = Story::begin().await;
    story.commit(8).await;
    story.commit(2).await;
    let frozen = story.freezes().await;
    assert_eq!(frozen.len(), 1);
    assert_eq!((frozen[0].objects.len(), frozen[0].reason.as_str()), (6, "TooMany"));
    let digest = frozen[0].digest.clone();
    (story, digest)
}

#[tokio::test]
async fn a_freeze_is_told_and_ends_when_the_objects_return() {
    let (mut story, digest) = frozen().await;
    let since = story.freezes().await[0].since;
    story.scene.wait(jiff::SignedDuration::from_mins(5));
    story.restart().await;
    assert_eq!(story.freezes().await[0].digest, digest, "it is told while nothing is read yet");
    story.commit(2).await;
    assert_eq!(story.freezes().await[0].since, since, "the same set is frozen since then");
    story.commit(8).await;
    assert!(story.freezes().await.is_empty());
}

#[tokio::test]
async fn a_digest_releases_exactly_the_set_that_was_shown_with_it() {
    let (mut story, digest) = frozen().await;
    story.commit(1).await;
    story.confirm(&digest).await;
    assert_eq!((story.removed(), story.freezes().await.len()), (0, 1));
    assert!(story.pending().await.is_empty(), "a confirmation of the past is done with");
    let digest = story.freezes().await[0].digest.clone();
    story.confirm(&digest).await;
    assert_eq!((story.removed(), story.freezes().await.len()), (7, 0));
    assert!(story.queue.read(|queue, now| queue.ready_depth(now)) >= 7);
}

#[tokio::test]
async fn a_confirmation_is_carried_out_by_the_next_agent_if_this_one_dies() {
    let (mut story, digest) = frozen().await;
    story.scene.ask(Ask::Confirm { digest }).await;
    story.restart().await;
    story.commit(2).await;
    assert_eq!(story.removed(), 0);
    story.triggers.confirm_asked().await;
    assert_eq!((story.removed(), story.freezes().await.len()), (6, 0));
}

#[tokio::test]
async fn nobody_is_asked_again_after_a_restart_about_what_was_confirmed() {
    let (mut story, digest) = frozen().await;
    story.confirm(&digest).await;
    story.restart().await;
    assert_eq!(story.removed(), 0, "nothing counts as removed before Git has been read");
    story.commit(2).await;
    assert_eq!((story.removed(), story.freezes().await.len()), (6, 0));
}

#[tokio::test]
async fn a_confirmed_removal_is_forgotten_when_the_manifest_returns() {
    let (mut story, digest) = frozen().await;
    story.confirm(&digest).await;
    assert_eq!(story.pending().await.len(), 6);
    story.commit(8).await;
    // The scene's engine reads the cache of the first agent, which this still is.
    for name in 0..8 {
        let _ = pass(&story.scene.engine, &Key::workspace(format!("w{name}"))).await.unwrap();
    }
    assert!(story.pending().await.is_empty());
    story.commit(2).await;
    assert_eq!(story.freezes().await.len(), 1, "and the next time a person is asked again");
}
