//! What the agent wants to stand beside the commits of the branch that it follows.
//!
//! In: what Git declares, and how passes ended. Out: contents in the outbox, which the courier carries.
//! Statuses are computed by [`commit`]; here it is found out which commits they are of, and what each
//! touched.
//!
//! Invariants: a commit has statuses from when it is read as the tip of the branch; what a status says
//! is settled once everything that the commit touched has converged, so that drift, reverts and
//! restarts change nothing of it; a worker is never waited for and never waits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::Notify;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::desired::{Reader, Snapshot};
use crate::forge::api::State;
use crate::forge::commit::{self, Content, Standing, context};
use crate::model::listener::Listener;
use crate::model::outbox::{Outbox, OutboxError, Post, Topic, Wanted};
use crate::model::{Clock, Fence, Generation, Key, ObjectStatus, Revision};
use crate::status::Record;

/// Between two looks at what is new.
const LOOK: Duration = Duration::from_secs(1);

/// Other words for the same state are told after this time, so that a reason that keeps changing does
/// not use up what a host takes for a commit.
const WORDS: SignedDuration = SignedDuration::from_mins(10);

/// The longest that one write to the outbox may take; the right to write has to last that long.
const STORE_LIMIT: Duration = Duration::from_secs(10);

/// Remembers how each object stands, by the last pass of it.
#[derive(Default)]
pub struct Heard {
    standings: Mutex<BTreeMap<Key, (Generation, Standing)>>,
    /// True when something was heard since the last look.
    is_new: AtomicBool,
}

impl Heard {
    /// Takes over how the store remembers the objects.
    pub fn restore(&self, records: &[Record]) {
        records.iter().for_each(|record| self.passed(&record.key, Some(&record.status)));
    }

    fn standings(&self) -> MutexGuard<'_, BTreeMap<Key, (Generation, Standing)>> {
        // Nothing is left half done in it.
        self.standings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener for Heard {
    fn passed(&self, key: &Key, status: Option<&ObjectStatus>) {
        let mut standings = self.standings();
        match status {
            Some(status) => {
                let generation = status.observed_generation;
                standings.insert(key.clone(), (generation, Standing::of(status, generation)));
            }
            None => {
                standings.remove(key);
            }
        }
        self.is_new.store(true, Ordering::Release);
    }
}

/// Holds what statuses are told from, and where they are told to.
pub struct Ports {
    /// What Git declares.
    pub desired: Reader,
    /// How passes ended.
    pub heard: Arc<Heard>,
    /// What is wanted.
    pub outbox: Arc<dyn Outbox>,
    /// The right to write.
    pub fence: Arc<dyn Fence>,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// Wakes the courier.
    pub news: Arc<Notify>,
}

/// Wants statuses; [`Telling::run`] is its task.
pub struct Telling {
    ports: Ports,
    agent: String,
    branch: Option<String>,
    /// What each commit touched at the last look, as far as no later commit has.
    touched: BTreeMap<Revision, BTreeSet<Key>>,
}

impl Telling {
    /// Makes the task for an agent that follows a branch; `None` when the branch is not named.
    pub fn new(ports: Ports, agent: String, branch: Option<String>) -> Self {
        Self { ports, agent, branch, touched: BTreeMap::new() }
    }

    /// Tells until `stop` is set.
    pub async fn run(mut self, stop: CancellationToken) {
        let _ = stop.run_until_cancelled_owned(self.tell()).await;
    }

    async fn tell(&mut self) {
        let mut looks = tokio::time::interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut seen: Option<Arc<Snapshot>> = None;
        loop {
            looks.tick().await;
            let snapshot = self.ports.desired.snapshot();
            let is_same = seen.as_ref().is_some_and(|seen| Arc::ptr_eq(seen, &snapshot));
            if !self.ports.heard.is_new.swap(false, Ordering::AcqRel) && is_same {
                continue;
            }
            seen = Some(Arc::clone(&snapshot));
            if let Err(error) = self.want(&snapshot).await {
                tracing::warn!(%error, "the statuses of commits wait");
                self.ports.heard.is_new.store(true, Ordering::Release);
            }
        }
    }

    async fn want(&mut self, snapshot: &Snapshot) -> Result<(), OutboxError> {
        let head = snapshot.revision.clone().filter(|_| snapshot.synced);
        if head.is_none() && snapshot.source.refused.is_none() {
            return Ok(());
        }
        let posts = self.ports.outbox.posts().await?;
        let told = Told::of(&posts, &self.agent);
        let now = self.ports.clock.now();
        let mut all = BTreeMap::new();
        if let Some(head) = head {
            all = self.contents(snapshot, &head, &told);
        }
        hold(snapshot, &told, &mut all);
        let mut wanted = Vec::new();
        for ((revision, what), content) in all {
            let topic = self.topic(&revision, what);
            let before = told.posts.get(&topic);
            match before.map_or(Worth::Telling, |(post, told)| worth(post, told, &content, now)) {
                Worth::Telling => {
                    let content = Content { branch: self.branch.clone(), ..content }.to_text();
                    wanted.push(Wanted { topic, content, at: now });
                }
                Worth::Later => self.ports.heard.is_new.store(true, Ordering::Release),
                Worth::Nothing => {}
            }
        }
        if wanted.is_empty() {
            return Ok(());
        }
        let token = self.ports.fence.check(STORE_LIMIT).map_err(OutboxError::new)?;
        self.ports.outbox.want(&wanted, token).await?;
        self.ports.news.notify_one();
        Ok(())
    }

    fn topic(&self, revision: &Revision, what: &str) -> Topic {
        Topic::Status { revision: revision.clone(), context: context(&self.agent, what) }
    }

    /// Computes the statuses of the tip, and of the commits before it that are not settled.
    fn contents(
        &mut self,
        snapshot: &Snapshot,
        head: &Revision,
        told: &Told<'_>,
    ) -> BTreeMap<(Revision, &'static str), Content> {
        let problems = snapshot.problems.values().flatten();
        let in_force = snapshot.objects.values().filter(|entry| entry.removed.is_none()).count();
        let mut all = BTreeMap::new();
        all.insert((head.clone(), VALIDATE), commit::validate(problems, in_force));
        let mut open = told.open.clone();
        open.insert(head.clone());
        self.touched.retain(|revision, _| open.contains(revision));
        for revision in open {
            let touched = touched(snapshot, &revision);
            let before = self.touched.insert(revision.clone(), touched.keys().cloned().collect());
            let is_overtaken = revision != *head && overtakes(snapshot, before.as_ref(), &touched);
            let content = match is_overtaken {
                true => commit::superseded(head),
                false => commit::sync(self.standings(&touched).iter().map(|(k, it)| (*k, it))),
            };
            all.insert((revision, SYNC), content);
        }
        all
    }

    fn standings<'a>(&self, touched: &'a BTreeMap<Key, Generation>) -> BTreeMap<&'a Key, Standing> {
        let standings = self.ports.heard.standings();
        let standing = |key: &Key, generation: Generation| match standings.get(key) {
            Some((of, standing)) if *of == generation => standing.clone(),
            _ => Standing::Converging,
        };
        touched.iter().map(|(key, generation)| (key, standing(key, *generation))).collect()
    }
}

/// Says of the newest commit that it is not applied, and lets those stand of which that was said before.
fn hold(
    snapshot: &Snapshot,
    told: &Told<'_>,
    all: &mut BTreeMap<(Revision, &'static str), Content>,
) {
    let Some(refused) = &snapshot.source.refused else { return };
    let before = told.posts.iter().filter(|(_, (_, content))| commit::is_refused(content));
    for (topic, _) in before {
        if let Topic::Status { revision, .. } = topic {
            all.remove(&(revision.clone(), SYNC));
        }
    }
    all.insert((refused.revision.clone(), SYNC), commit::refused(&refused.cause));
}

const VALIDATE: &str = "validate";
const SYNC: &str = "sync";

/// What no generation has: an object that leaves has not converged while it is known.
const LEAVING: Generation = Generation(u64::MAX);

/// Returns the objects whose newest generation, or whose removal, came with a commit.
fn touched(snapshot: &Snapshot, revision: &Revision) -> BTreeMap<Key, Generation> {
    let mut found = BTreeMap::new();
    for (key, entry) in snapshot.objects.iter() {
        match &entry.removed {
            Some(removed) if removed.revision == *revision => {
                found.insert(key.clone(), LEAVING);
            }
            None if entry.revision == *revision => {
                found.insert(key.clone(), entry.generation);
            }
            _ => {}
        }
    }
    let leaves = |removed: &crate::desired::Removed| removed.revision == *revision;
    let orphans = snapshot.orphans.iter().filter(|(_, it)| it.removed.as_ref().is_some_and(leaves));
    found.extend(orphans.map(|(key, _)| (key.clone(), LEAVING)));
    if let Some(frozen) = snapshot.frozen.as_ref().filter(|frozen| frozen.revision == *revision) {
        found.extend(frozen.keys.iter().map(|key| (key.clone(), LEAVING)));
    }
    found
}

/// Tells whether a later commit changed something that a commit touched and that had not converged.
///
/// After a restart it is not known what it touched: if nothing of it is left, later ones did.
fn overtakes(
    snapshot: &Snapshot,
    before: Option<&BTreeSet<Key>>,
    touched: &BTreeMap<Key, Generation>,
) -> bool {
    match before {
        None => touched.is_empty(),
        Some(before) => {
            let gone = before.iter().filter(|key| !touched.contains_key(*key));
            gone.into_iter().any(|key| snapshot.objects.contains_key(key))
        }
    }
}

/// Holds what the outbox has of our own statuses.
struct Told<'a> {
    posts: BTreeMap<Topic, (&'a Post, Content)>,
    /// The commits whose cloud has not converged.
    open: BTreeSet<Revision>,
}

impl<'a> Told<'a> {
    fn of(posts: &'a [Post], agent: &str) -> Self {
        let sync = context(agent, SYNC);
        let mut told = Self { posts: BTreeMap::new(), open: BTreeSet::new() };
        for post in posts {
            let Some(content) = Content::from_text(&post.wanted.content) else { continue };
            if let Topic::Status { revision, context } = &post.wanted.topic
                && *context == sync
                && !is_final(&content)
            {
                told.open.insert(revision.clone());
            }
            told.posts.insert(post.wanted.topic.clone(), (post, content));
        }
        told
    }
}

fn is_final(content: &Content) -> bool {
    matches!(content.state, State::Success | State::Superseded)
}

/// Says whether a content is worth a call of the host.
enum Worth {
    Telling,
    /// In a while, if it is still so.
    Later,
    Nothing,
}

fn worth(post: &Post, told: &Content, content: &Content, now: Timestamp) -> Worth {
    let Topic::Status { context, .. } = &post.wanted.topic else { return Worth::Nothing };
    let is_same = told.state == content.state
        && told.description == content.description
        && told.annotations == content.annotations;
    if is_same || (context.ends_with(SYNC) && is_final(told)) {
        return Worth::Nothing;
    }
    match told.state == content.state && now.duration_since(post.wanted.at) < WORDS {
        true => Worth::Later,
        false => Worth::Telling,
    }
}
