//! Carries what is wanted to a peer, until the peer has it.
//!
//! In: the posts of an [`Outbox`] that a [`Peer`] takes. Out: deliveries to it, and in the outbox how
//! each went.
//!
//! Invariants: one delivery at a time, and never of what the peer has already; a peer in trouble, or one
//! that asks for it, is spared as a whole ([`super::pace`]); what it never takes is given up and told
//! once; nobody waits for the courier.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rand::RngExt as _;
use rand::rngs::StdRng;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::pace::Pace;
use super::peer::Peer;
use super::refusal::Refusal;
use crate::model::outbox::{Outbox, OutboxError, Post};
use crate::model::{Clock, Fence, Token};

/// The longest that one write to the outbox may take; the right to write has to last that long.
const STORE_LIMIT: Duration = Duration::from_secs(10);

/// How long it takes until an outbox is looked at again that could not be read or written.
const AGAIN: Duration = Duration::from_secs(30);

/// How long nothing is looked for when nothing is owed.
const IDLE: Duration = Duration::from_secs(600);

/// How often a host is asked for what it says is not there, over most of a day: hosts say so of a
/// commit that they do not know, and of a repository that our credentials do not open.
const MISSES: u32 = 24;

/// The waits after a host said that something is not there: the first, and the longest.
const MISSING: (SignedDuration, SignedDuration) =
    (SignedDuration::from_secs(30), SignedDuration::from_hours(1));

/// Settled posts are forgotten when they are so old.
const KEPT: SignedDuration = SignedDuration::from_hours(24 * 30);

/// Counts what is carried.
pub trait Tally: Send + Sync {
    /// Counts a call: `sent`, or the word of a [`Refusal`].
    fn carried(&self, result: &'static str);

    /// Sets how many posts are owed to the host.
    fn owed(&self, posts: usize);
}

/// Holds what a courier reaches the world through.
pub struct Ports {
    /// Whom it is carried to.
    pub peer: Arc<dyn Peer>,
    /// What is wanted.
    pub outbox: Arc<dyn Outbox>,
    /// The right to write.
    pub fence: Arc<dyn Fence>,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// Wakes the courier when something is wanted.
    pub news: Arc<Notify>,
    /// The figures.
    pub tally: Arc<dyn Tally>,
}

/// Carries posts; [`Courier::run`] is its task.
pub struct Courier {
    ports: Ports,
    pace: Pace,
    rng: StdRng,
    /// The peer's trouble that was told last.
    trouble: Option<&'static str>,
}

impl Courier {
    /// Makes a courier; nothing is sent yet.
    pub fn new(ports: Ports, rng: StdRng) -> Self {
        Self { ports, pace: Pace::new(Instant::now()), rng, trouble: None }
    }

    /// Carries until `stop` is set; a call that is under way is given up, and made again after the
    /// next start.
    pub async fn run(mut self, stop: CancellationToken) {
        let _ = stop.run_until_cancelled_owned(self.carry()).await;
    }

    async fn carry(&mut self) {
        loop {
            sleep_until(self.pace.next()).await;
            match self.turn().await {
                Ok(Some(idle)) => {
                    // Either way there is another look.
                    let _ = timeout(idle, self.ports.news.notified()).await;
                }
                Ok(None) => {}
                Err(error) => {
                    let to = self.ports.peer.name();
                    tracing::warn!(%to, %error, "what is to be told waits");
                    tokio::time::sleep(AGAIN).await;
                }
            }
        }
    }

    /// Carries at most one post; returns how long nothing is due when there is none.
    async fn turn(&mut self) -> Result<Option<Duration>, OutboxError> {
        let now = self.ports.clock.now();
        let token = self.token()?;
        let posts = self.ports.outbox.posts().await?;
        let is_owed =
            |post: &&Post| !post.is_settled() && self.ports.peer.takes(&post.wanted.topic);
        let owed: Vec<&Post> = posts.iter().filter(is_owed).collect();
        self.ports.tally.owed(owed.len());
        let due = owed.iter().filter(|post| post.not_before.is_none_or(|at| at <= now));
        let Some(post) = due.min_by_key(|post| (post.wanted.at, &post.wanted.topic)) else {
            self.ports.outbox.forget(now - KEPT, token).await?;
            let next = owed.iter().filter_map(|post| post.not_before).min();
            return Ok(Some(next.map_or(IDLE, |at| until(now, at))));
        };
        let carried = self.ports.peer.deliver(post).await;
        let tried = self.judge((*post).clone(), carried);
        self.ports.outbox.record(&tried, self.token()?).await?;
        Ok(None)
    }

    fn token(&self) -> Result<Token, OutboxError> {
        self.ports.fence.check(STORE_LIMIT).map_err(OutboxError::new)
    }

    /// Says how it went with a post, and sets the pace.
    fn judge(&mut self, mut post: Post, carried: Result<Option<String>, Refusal>) -> Post {
        let (instant, now) = (Instant::now(), self.ports.clock.now());
        self.ports.tally.carried(carried.as_ref().map_or_else(Refusal::as_str, |_| "sent"));
        match carried {
            Ok(handle) => {
                post = Post {
                    handle,
                    sent: Some(post.wanted.content.clone()),
                    ..Post::new(post.wanted)
                };
                self.answered(instant);
            }
            Err(Refusal::Refused { .. }) if post.handle.is_some() => {
                // An edit that is refused: the next try finds it anew or says why it cannot be.
                post.handle = None;
                post.failures += 1;
                self.answered(instant);
            }
            Err(refusal @ Refusal::Refused { .. }) => {
                self.give_up(&mut post, &refusal);
                self.answered(instant);
            }
            Err(refusal @ Refusal::Missing { .. }) => {
                post.failures += 1;
                match post.failures {
                    failures if failures >= MISSES => self.give_up(&mut post, &refusal),
                    failures => post.not_before = Some(now + missing_for(failures)),
                }
                self.answered(instant);
            }
            Err(refusal) => {
                let wait = self.spare(&refusal, instant);
                post.failures = post.failures.saturating_add(1);
                // Others go first, in case it is this one that the host cannot take.
                post.not_before = now.checked_add(wait).ok();
            }
        }
        post
    }

    fn answered(&mut self, now: Instant) {
        self.pace.answered(now);
        if self.trouble.take().is_some() {
            tracing::info!(to = self.ports.peer.name(), "what we write is taken again");
        }
    }

    /// Spares the peer; the same trouble is told once.
    fn spare(&mut self, refusal: &Refusal, now: Instant) -> Duration {
        let wait = self.pace.refused(refusal, now, self.rng.random_range(0.0..1.0));
        if self.trouble.replace(refusal.as_str()) != Some(refusal.as_str()) {
            let to = self.ports.peer.name();
            tracing::warn!(%to, %refusal, "what we write is not taken; it is tried again");
        }
        wait
    }

    fn give_up(&self, post: &mut Post, refusal: &Refusal) {
        let (to, topic) = (self.ports.peer.name(), &post.wanted.topic);
        tracing::warn!(%to, %topic, %refusal, "what we write is never taken; it is given up");
        post.refused = Some(refusal.to_string());
    }
}

/// Returns the wait after so many answers in a row that something is not there.
fn missing_for(failures: u32) -> SignedDuration {
    let (first, longest) = MISSING;
    (first * (1 << failures.saturating_sub(1).min(20))).min(longest)
}

fn until(now: Timestamp, at: Timestamp) -> Duration {
    Duration::try_from(at.duration_since(now)).unwrap_or_default().min(IDLE)
}
