//! Keeps the comment and the status of every open pull request true.
//!
//! In: what the host lists as open, and the repository. Out: in the outbox, for each that touches a
//! manifest, one comment and the status `levelset/NAME/plan` of its head; what stands already is
//! not sent.
//!
//! Invariants: nothing in AWS, in the agent's store or in the repository is changed (the engine that
//! looks has no right to write, and its cloud takes reads alone); nobody waits for it; a pull request
//! from a fork is not compared with the cloud unless the settings say so; a look that fails leaves
//! what stands at the host as it is.

mod ending;
mod look;

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::Notify;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use self::ending::Ended;
use super::engine::{OnlyLooks, guard};
use crate::config::Config;
use crate::desired::{Cache, Guard, Reader};
use crate::forge::api::{Api, PullRequest};
use crate::forge::pulls::Pulls;
use crate::forge::refusal::Refusal;
use crate::model::outbox::{Outbox, OutboxError, Topic, Wanted};
use crate::model::webhook::Host;
use crate::model::{Clock, Fence, Key, Revision};
use crate::observe::Once;
use crate::reconcile::engine::{self, Engine};
use crate::report::markdown::{markdown, marker};
use crate::report::page::Page;
use crate::source::{Access, Heads, Location, SourceError, fetch_heads};
use crate::status::StoreError;

/// The time between two looks at what is open, while the tip stays where it is.
const POLL: Duration = Duration::from_secs(60);

/// The shortest time between two looks at what is open.
const APART: Duration = Duration::from_secs(10);

/// The shortest time between two looks at what is open because of webhooks: 720 in an hour, of the 5,000
/// that GitHub allows.
const RUNG: Duration = Duration::from_secs(5);

/// The time between two looks at where the tip is.
const TICK: Duration = Duration::from_secs(2);

/// How long a list of AWS may be shared within one look at a pull request.
const FRESH: SignedDuration = SignedDuration::from_hours(1);

/// The longest that one write to the outbox may take; the right to write has to last that long.
const STORE_LIMIT: Duration = Duration::from_secs(10);

/// Fetches the branch and these references; when true, anew.
pub(super) type Fetch = Box<
    dyn Fn(Vec<String>, bool) -> Pin<Box<dyn Future<Output = Result<Heads, SourceError>> + Send>>
        + Send
        + Sync,
>;

/// Makes an engine that looks and cannot write, for what a reader reads.
pub(super) type Looker = Box<dyn Fn(Reader) -> Engine + Send + Sync>;

/// Holds what pull requests are followed with.
pub(super) struct Ports {
    /// The host.
    pub(super) api: Arc<dyn Api>,
    /// Whose Markdown is written.
    pub(super) host: Host,
    /// What is to stand at the host.
    pub(super) outbox: Arc<dyn Outbox>,
    /// The right to write to the outbox.
    pub(super) fence: Arc<dyn Fence>,
    /// The time of day.
    pub(super) clock: Arc<dyn Clock>,
    /// Wakes the courier.
    pub(super) news: Arc<Notify>,
    /// The agent's own engine, for how objects stand.
    pub(super) agent: Arc<Engine>,
    /// How the cloud is looked at.
    pub(super) looker: Looker,
    /// How the repository is read.
    pub(super) fetch: Fetch,
    /// Rings when the host says that a pull request has changed.
    pub(super) bell: Arc<Notify>,
}

/// Holds what the agent's own settings and repository give.
pub(super) struct Ground {
    /// The settings.
    pub(super) config: Config,
    /// Where the repository is.
    pub(super) location: Location,
    /// How it is reached.
    pub(super) access: Access,
    /// Rings when the host says that a pull request has changed.
    pub(super) bell: Arc<Notify>,
}

impl Ground {
    /// Says how pull requests are followed; not at all when the settings say so or name no branch.
    pub(super) fn manner(&self) -> Option<Manner> {
        let forge = self.config.forge.as_ref().filter(|forge| forge.pull_requests.value)?;
        Some(Manner {
            branch: self.location.branch()?.to_owned(),
            guard: guard(&self.config),
            forks: forge.plan_forks.value,
        })
    }

    /// Makes the way to the heads; history takes longer than a tip.
    pub(super) fn fetch(&self) -> Fetch {
        let deadline = self.access.deadline * 5;
        let (location, access) =
            (self.location.clone(), Access { deadline, ..self.access.clone() });
        Box::new(move |names, rebuild| {
            let (location, access) = (location.clone(), access.clone());
            Box::pin(async move { fetch_heads(&location, &access, &names, rebuild).await })
        })
    }

    /// Makes engines beside the agent's own, which look at the same cloud and store.
    pub(super) fn looker(&self, agent: &Arc<Engine>, stop: &CancellationToken) -> Looker {
        let (config, agent, stop) = (self.config.clone(), Arc::clone(agent), stop.clone());
        Box::new(move |desired| {
            let ports = engine::Ports {
                cloud: Arc::new(Once::new(Arc::clone(&agent.cloud))),
                store: Arc::clone(&agent.store),
                fence: Arc::new(OnlyLooks),
                clock: Arc::clone(&agent.clock),
            };
            super::engine::engine(&config, desired, ports, FRESH, stop.clone())
        })
    }
}

/// Says how pull requests are followed.
#[derive(Debug, Clone)]
pub(super) struct Manner {
    /// The branch that they go into.
    pub(super) branch: String,
    /// How many objects may vanish at once.
    pub(super) guard: Guard,
    /// True when those from forks are compared with the cloud.
    pub(super) forks: bool,
}

/// Follows pull requests; [`Following::run`] is its task.
pub(super) struct Following {
    ports: Ports,
    manner: Manner,
    pulls: Pulls,
    /// What the tip declares.
    base: Option<(Revision, Cache)>,
    /// What those that are open touch, as far as that was told.
    touched: BTreeMap<u64, Vec<Key>>,
    ended: BTreeMap<u64, Ended>,
    /// What went wrong last; the same is told once.
    trouble: Option<String>,
}

/// Says why a round was not finished; what stands at the host stays.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    /// The host did not answer.
    #[error("the open pull requests cannot be listed: {0}")]
    Host(#[from] Refusal),
    /// The repository cannot be read.
    #[error("the heads of the pull requests cannot be read: {0}")]
    Source(#[from] SourceError),
    /// The outbox cannot be written.
    #[error("what is to stand at the host cannot be kept: {0}")]
    Outbox(#[from] OutboxError),
    /// The store cannot be read.
    #[error("how objects stand cannot be read: {0}")]
    Store(#[from] StoreError),
    /// A look ended without an answer.
    #[error("a look at a pull request ended without an answer")]
    Lost,
}

impl Following {
    /// Follows nothing yet.
    pub(super) fn new(ports: Ports, manner: Manner) -> Self {
        Self {
            pulls: Pulls::new(manner.branch.clone()),
            ports,
            manner,
            base: None,
            touched: BTreeMap::new(),
            ended: BTreeMap::new(),
            trouble: None,
        }
    }

    /// Follows until `stop` is set.
    pub(super) async fn run(mut self, stop: CancellationToken) {
        let _ = stop.run_until_cancelled_owned(self.follow()).await;
    }

    async fn follow(&mut self) {
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut last: Option<(Instant, Option<Revision>)> = None;
        let (mut told, mut is_rung) = (Instant::now(), false);
        loop {
            tokio::select! {
                () = self.ports.bell.notified() => is_rung = true,
                _ = ticks.tick() => {}
            }
            let tip = self.ports.agent.desired.snapshot().revision.clone();
            let pace = |(at, seen): &(Instant, Option<Revision>)| {
                at.elapsed()
                    < match *seen == tip {
                        _ if is_rung => RUNG,
                        true => POLL,
                        false => APART,
                    }
            };
            let is_due = tip.is_some() && !last.as_ref().is_some_and(pace);
            let done = if is_due {
                (last, is_rung) = (Some((Instant::now(), tip)), false);
                self.round().await
            } else if !self.ended.is_empty() && told.elapsed() >= APART {
                told = Instant::now();
                self.tell_ended(self.now()).await
            } else {
                continue;
            };
            let trouble = done.err().map(|error| error.to_string());
            if let Some(trouble) = trouble.as_ref().filter(|it| self.trouble.as_ref() != Some(it)) {
                tracing::warn!("pull requests wait: {trouble}");
            }
            self.trouble = trouble;
        }
    }

    /// Looks once at everything that is due.
    async fn round(&mut self) -> Result<(), Trouble> {
        let Some(tip) = self.ports.agent.desired.snapshot().revision.clone() else {
            return Ok(());
        };
        let open = self.ports.api.pull_requests().await?;
        let now = self.ports.clock.now();
        let due: Vec<PullRequest> = self.pulls.due(&open, &tip, now).into_iter().cloned().collect();
        let over = self.pulls.over(&open);
        if !due.is_empty() || !over.is_empty() {
            let heads = self.fetch(&open).await?;
            for (number, head, over) in over {
                self.end(&heads, number, &head, over).await?;
                self.pulls.forget(number);
            }
            for request in due {
                match self.look(&heads, &request).await {
                    // One that cannot be merged at all, such as one without a common history.
                    Err(Trouble::Source(error)) => {
                        tracing::debug!(number = request.number, %error, "a pull request is passed over");
                    }
                    looked => looked?,
                }
                self.pulls.looked(&request, &tip, now);
            }
        }
        self.tell_ended(now).await
    }

    /// Fetches every head, so that a mirror that is made anew has all of them.
    async fn fetch(&mut self, open: &[PullRequest]) -> Result<Heads, Trouble> {
        let names: Vec<String> =
            open.iter().map(|request| reference(self.ports.host, request)).collect();
        let heads = (self.ports.fetch)(names.clone(), false).await?;
        match self.take_base(&heads).await {
            Err(Trouble::Source(_)) => {
                let heads = (self.ports.fetch)(names, true).await?;
                self.take_base(&heads).await?;
                Ok(heads)
            }
            taken => taken.map(|()| heads),
        }
    }

    /// Wants a comment, if there is anything to say or something was said before.
    async fn want(&self, mut wanted: Vec<Wanted>, number: u64, page: &Page) -> Result<(), Trouble> {
        let name = &self.ports.agent.agent;
        let marker = marker(self.ports.host, name);
        let content = markdown(page, self.ports.host, Some(&marker));
        let topic = Topic::Comment { pull_request: number };
        wanted.push(Wanted { topic, content, at: self.ports.clock.now() });
        let token = self.ports.fence.check(STORE_LIMIT).map_err(OutboxError::new)?;
        self.ports.outbox.want(&wanted, token).await?;
        self.ports.news.notify_one();
        Ok(())
    }

    /// Tells whether a comment was ever wanted on a pull request.
    async fn has_told(&self, number: u64) -> Result<bool, Trouble> {
        let topic = Topic::Comment { pull_request: number };
        let posts = self.ports.outbox.posts().await?;
        Ok(posts.iter().any(|post| post.wanted.topic == topic))
    }

    fn now(&self) -> Timestamp {
        self.ports.clock.now()
    }
}

/// Names the reference of a host under which the head of a pull request is fetched.
///
/// Source: "Checking out pull requests locally" (GitHub), "Merge request refs" (GitLab), "Pull
/// request" (Gitea). Bitbucket Cloud has none: the branch stands for it, if it is of this repository.
fn reference(host: Host, request: &PullRequest) -> String {
    match host {
        Host::GitHub | Host::Gitea => format!("refs/pull/{}/head", request.number),
        Host::GitLab => format!("refs/merge-requests/{}/head", request.number),
        Host::Bitbucket => format!("refs/heads/{}", request.head_branch),
    }
}

#[cfg(test)]
mod tests;
