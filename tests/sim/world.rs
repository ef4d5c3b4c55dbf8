//! Everything that outlives the agent: the cloud, the store, the repository, the right to write, and
//! the checker that watches them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use futures_util::FutureExt;
use jiff::SignedDuration;
use levelset::model::fence::Lost;
use levelset::model::{AccountId, Clock, Fence, Freeze, Region, Scope, Shard, Token};
use levelset::sandbox::faults::Rule;
use levelset::sandbox::{Sandbox, Settings};
use levelset::status::memory::InMemory;
use levelset::status::{Record, Store};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tokio::sync::Notify;

use super::checker::{Checker, Violation};
use super::clock::SimClock;
use super::mutant::Mutant;
use super::profile::Profile;
use super::repository::Repository;

pub(super) const ACCOUNTS: [(&str, &str); 2] =
    [("production", "123456789012"), ("staging", "210987654321")];

/// Returns the account and region of an environment.
pub(super) fn scope(production: bool) -> Scope {
    let (_, account) = ACCOUNTS[usize::from(!production)];
    Scope { account: AccountId::new(account), region: Region::new("eu-west-1") }
}

/// Says why a life of the agent ended.
#[derive(Debug, Clone)]
pub(super) enum Over {
    Crashed,
    Finished,
    Broken(Violation),
}

pub(super) struct World {
    pub(super) profile: Profile,
    pub(super) mutant: Mutant,
    pub(super) clock: Arc<SimClock>,
    pub(super) sandbox: Sandbox,
    pub(super) store: InMemory,
    pub(super) lease: Lease,
    pub(super) repository: Mutex<Repository>,
    pub(super) checker: Mutex<Checker>,
    /// The faults that are in force, by number.
    pub(super) faults: Mutex<Vec<(usize, Rule)>>,
    pub(super) ended: Notify,
    /// True while the repository cannot be reached.
    pub(super) is_cut: AtomicBool,
    /// False while the agent's configuration lacks the environment `staging`.
    is_whole: AtomicBool,
    over: Mutex<Option<Over>>,
    chance: Mutex<StdRng>,
    /// How many points the agent still passes before it dies.
    fuse: Mutex<Option<u32>>,
    trace: Mutex<Option<Vec<String>>>,
}

impl World {
    pub(super) fn new(seed: u64, profile: Profile, mutant: Mutant, keeps_trace: bool) -> Self {
        let clock = Arc::new(SimClock::new("2026-11-25T12:00:00Z".parse().unwrap()));
        let mut settings = Settings::real(seed);
        settings.durations.modifying = profile.modifying;
        // The checker reads the log after every call.
        settings.log_limit = 1000;
        let sandbox = Sandbox::new(clock.clone(), settings);
        for production in [true, false] {
            for (name, block) in [("core", "10.0.0.0/16"), ("shared", "10.1.0.0/16")] {
                sandbox.seed_vpc(&scope(production), name, block, &["a", "b", "c"]);
            }
        }
        Self {
            lease: Lease::new(Arc::clone(&clock)),
            checker: Mutex::new(Checker::new(&profile)),
            profile,
            mutant,
            clock,
            sandbox,
            store: InMemory::new(),
            repository: Mutex::default(),
            faults: Mutex::default(),
            ended: Notify::new(),
            is_cut: AtomicBool::new(false),
            is_whole: AtomicBool::new(true),
            over: Mutex::default(),
            chance: Mutex::new(StdRng::seed_from_u64(seed ^ 0x1a7e)),
            fuse: Mutex::default(),
            trace: Mutex::new(keeps_trace.then(Vec::new)),
        }
    }

    /// Gives the agent a configuration with or without the environment `staging`, which it reads
    /// when it starts.
    pub(super) fn configure(&self, is_whole: bool) {
        if self.is_whole.swap(is_whole, Ordering::Relaxed) != is_whole {
            self.note(|| "the agent is started anew".to_owned());
            self.end(Over::Crashed);
        }
    }

    /// Tells whether the agent's configuration holds an environment.
    pub(super) fn is_configured(&self, environment: &str) -> bool {
        environment == "production" || self.is_whole.load(Ordering::Relaxed)
    }

    /// Is where time passes inside the agent, and where it may die.
    pub(super) async fn point(&self) {
        self.burn();
        self.stop_if_over().await;
        let latency = self.latency();
        if latency.is_zero() {
            tokio::task::yield_now().await;
        } else {
            tokio::time::sleep(latency).await;
        }
        self.stop_if_over().await;
    }

    async fn stop_if_over(&self) {
        if self.is_over() {
            std::future::pending::<()>().await;
        }
    }

    fn latency(&self) -> Duration {
        let mut chance = self.chance.lock().unwrap();
        let longest = self.profile.latency;
        if longest.is_zero() {
            return longest;
        }
        match chance.random_range(0..10) {
            0..5 => Duration::ZERO,
            5..9 => Duration::from_millis(chance.random_range(1..100)),
            _ => longest.mul_f64(chance.random()),
        }
    }

    fn burn(&self) {
        let mut fuse = self.fuse.lock().unwrap();
        match &mut *fuse {
            None => {}
            Some(0) => {
                *fuse = None;
                drop(fuse);
                self.note(|| "the agent dies".to_owned());
                self.end(Over::Crashed);
            }
            Some(points) => *points -= 1,
        }
    }

    pub(super) fn light_fuse(&self, points: Option<u32>) {
        *self.fuse.lock().unwrap() = points;
    }

    /// Draws how long the agent stays dead.
    pub(super) fn downtime(&self) -> Duration {
        Duration::from_millis(self.chance.lock().unwrap().random_range(1000..90_000))
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.lock().unwrap().is_some()
    }

    pub(super) fn end(&self, how: Over) {
        let mut over = self.over.lock().unwrap();
        if !matches!(*over, Some(Over::Broken(_))) {
            *over = Some(how);
        }
        self.ended.notify_one();
    }

    pub(super) fn take_over(&self) -> Option<Over> {
        self.light_fuse(None);
        self.over.lock().unwrap().take()
    }

    /// Lets the checker look at something that happened.
    pub(super) fn check<T>(&self, look: impl FnOnce(&mut Checker) -> Result<T, Violation>) {
        let found = look(&mut self.checker.lock().unwrap());
        if let Err(violation) = found {
            self.note(|| violation.to_string());
            self.end(Over::Broken(violation));
        }
    }

    pub(super) fn repository(&self) -> MutexGuard<'_, Repository> {
        self.repository.lock().unwrap()
    }

    /// Replaces the faults in force.
    pub(super) fn set_faults(&self, change: impl FnOnce(&mut Vec<(usize, Rule)>)) {
        let mut faults = self.faults.lock().unwrap();
        change(&mut faults);
        self.sandbox.clear_faults();
        faults.iter().for_each(|(_, rule)| self.sandbox.inject(rule.clone()));
    }

    pub(super) fn note(&self, line: impl FnOnce() -> String) {
        if let Some(trace) = &mut *self.trace.lock().unwrap() {
            let passed = self.clock.passed();
            trace.push(format!("{:>12.3}  {}  {}", passed.as_secs_f64(), self.clock.now(), line()));
        }
    }

    pub(super) fn take_trace(&self) -> Vec<String> {
        self.trace.lock().unwrap().take().unwrap_or_default()
    }

    /// Returns every record of the store.
    pub(super) fn records(&self) -> Vec<Record> {
        self.store.all().now_or_never().unwrap().unwrap()
    }

    /// Returns what guards are told to freeze.
    pub(super) fn freezes(&self) -> Vec<Freeze> {
        self.store.freezes().now_or_never().unwrap().unwrap()
    }

    /// Grants the right to write, to this agent or to another.
    pub(super) fn grant(&self) -> Token {
        self.store.grant(Shard::default()).now_or_never().unwrap().unwrap()
    }

    pub(super) fn jump(&self, by: SignedDuration) {
        self.clock.jump(by);
        self.check(|checker| {
            checker.woken();
            Ok(())
        });
        self.note(|| format!("the clock jumps by {by:#}"));
    }
}

/// The right to write: held for ever, until a time, or not at all.
pub(super) struct Lease {
    clock: Arc<SimClock>,
    state: Mutex<Option<(Token, Option<Duration>)>>,
}

impl Lease {
    fn new(clock: Arc<SimClock>) -> Self {
        Self { clock, state: Mutex::default() }
    }

    pub(super) fn hold(&self, token: Token) {
        *self.state.lock().unwrap() = Some((token, None));
    }

    /// Ends the lease at a time.
    pub(super) fn expire(&self, at: Duration) {
        if let Some((_, until)) = &mut *self.state.lock().unwrap() {
            *until = Some(at);
        }
    }

    pub(super) fn is_held(&self) -> bool {
        self.lasts(Duration::ZERO).is_some()
    }

    pub(super) fn is_safe(&self) -> bool {
        matches!(*self.state.lock().unwrap(), Some((_, None)))
    }

    pub(super) fn last_token(&self) -> Option<Token> {
        self.state.lock().unwrap().map(|(token, _)| token)
    }

    fn lasts(&self, needed: Duration) -> Option<Token> {
        let (token, until) = (*self.state.lock().unwrap())?;
        let end = self.clock.passed() + needed;
        until.is_none_or(|until| end < until).then_some(token)
    }
}

impl Fence for Lease {
    fn check(&self, needed: Duration) -> Result<Token, Lost> {
        self.lasts(needed).ok_or_else(|| Lost("the lease ends".to_owned()))
    }
}
