//! What happens in a run, and when: all of it follows from the seed.

use std::time::Duration;

use levelset::aws::{Budget, Budgets};
use levelset::desired::Guard;
use levelset::sandbox::faults::{Effect, Rule};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::spec::pick;

/// The name of a workspace whose database somebody else had before.
pub(super) const FOREIGN: &str = "team-taken";

/// A password that a person sets; it must never be seen again.
pub(super) const SECRET: &str = "correct-horse-battery";

/// For how long things go wrong.
const TROUBLE: Duration = Duration::from_secs(60 * 60);

/// How long everything may take to converge: before and after each of two jumps over a maintenance
/// window, and not counting the time that is jumped over.
const CALM: Duration = Duration::from_secs(30 * 60);

/// How long the agent is watched after everything has converged.
const QUIET: Duration = Duration::from_secs(20 * 60);

/// How a run is set.
#[derive(Debug, Clone)]
pub(super) struct Profile {
    pub(super) workspaces: usize,
    pub(super) workers: usize,
    /// The longest that a call or a write to the store takes, each way.
    pub(super) latency: Duration,
    pub(super) modifying: Duration,
    pub(super) budgets: Budgets,
    pub(super) guard: Guard,
    /// True when nothing inside the agent takes time: changes start at once.
    pub(super) swift: bool,
    pub(super) taken: bool,
}

/// Something that happens.
#[derive(Debug, Clone)]
pub(super) enum Event {
    Edit,
    /// Every database gets another class.
    Resize,
    Annotate,
    Break,
    Mend,
    Rename,
    Remove,
    Return,
    Empty,
    ForcePush,
    Console,
    /// Somebody queues a change of every database for the maintenance window.
    Queue,
    Publish,
    Fault(usize, Rule),
    EndOfFault(usize),
    /// The agent dies after so many points.
    Crash(u32),
    Jump(i64),
    /// The lease runs out after so long, and another agent takes it.
    Expire(Duration),
    /// The agent has it back.
    Regain,
    /// Faults end and people put in order what they have broken.
    Calm,
    JumpToWindow,
    JumpAWeek,
    Verify,
    End,
}

pub(super) struct Script {
    pub(super) profile: Profile,
    /// In the order of time; each with a number from which its choices follow.
    pub(super) events: Vec<(Duration, u64, Event)>,
}

impl Script {
    pub(super) fn of(seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let profile = Profile::random(&mut random);
        let mut events = Vec::new();
        for number in 0..random.random_range(12..36) {
            let at = TROUBLE.mul_f64(random.random());
            trouble(&mut random, &profile, number, at, &mut events);
        }
        // The agent makes most of what it ever makes at the start.
        if random.random_bool(0.6) {
            events.push((Duration::ZERO, Event::Fault(1000, fault(&mut random, &profile))));
            let end = Duration::from_secs(random.random_range(5..600));
            events.push((end, Event::EndOfFault(1000)));
        }
        events.extend([(TROUBLE, Event::Calm), (TROUBLE + CALM / 3, Event::Calm)]);
        let mut at = TROUBLE + CALM / 3;
        for event in [Event::JumpToWindow, Event::JumpAWeek, Event::Verify] {
            at += CALM;
            events.push((at, event));
        }
        events.push((at + QUIET, Event::End));
        events.sort_by_key(|(at, _)| *at);
        let events = events.into_iter().map(|(at, event)| (at, random.random(), event));
        Self { profile, events: events.collect() }
    }
}

impl Profile {
    fn random(random: &mut StdRng) -> Self {
        let swift = random.random_bool(0.25);
        let latency = match random.random_range(0..3) {
            _ if swift => 0,
            0 => 50,
            1 => 1_000,
            _ => 8_000,
        };
        let mut budgets = Budgets::default();
        if !swift && random.random() {
            let budget =
                |burst, per_second, write_reserve| Budget { burst, per_second, write_reserve };
            budgets.services.insert("rds".to_owned(), budget(30, 1.0, 8));
            budgets.services.insert("ec2".to_owned(), budget(10, 0.5, 2));
        }
        Self {
            workspaces: if random.random_bool(0.1) { 8 } else { random.random_range(3..=5) },
            workers: random.random_range(1..=4),
            latency: Duration::from_millis(latency),
            modifying: Duration::from_secs(*pick(random, &[60, 360, 900])),
            budgets,
            guard: Guard { max_objects: 2, max_percent: 20 },
            swift,
            taken: random.random_bool(0.3),
        }
    }
}

fn trouble(
    random: &mut StdRng,
    profile: &Profile,
    number: usize,
    at: Duration,
    events: &mut Vec<(Duration, Event)>,
) {
    let seconds =
        |random: &mut StdRng, most: u64| Duration::from_secs(random.random_range(1..most));
    match random.random_range(0..100) {
        0..12 => events.push((at, Event::Edit)),
        12..16 => {
            for _ in 0..random.random_range(3..12) {
                events.push((at + seconds(random, 20), Event::Edit));
            }
        }
        16..19 => events.push((at, Event::Annotate)),
        19..24 => {
            events.push((at, Event::Break));
            events.push((at + seconds(random, 1200), Event::Mend));
        }
        24..27 => events.push((at, Event::Rename)),
        27..31 => {
            events.push((at, Event::Remove));
            events.push((at + seconds(random, 1800), Event::Return));
        }
        31..33 => {
            events.push((at, Event::Empty));
            events.push((at + seconds(random, 900), Event::Return));
        }
        33..36 => events.push((at, Event::ForcePush)),
        36..39 => {
            events.push((at, Event::Queue));
            events.push((at + Duration::from_secs(90), Event::Resize));
        }
        39..55 => events.push((at, Event::Console)),
        55..56 => events.push((at, Event::Publish)),
        56..80 => {
            events.push((at, Event::Fault(number, fault(random, profile))));
            events.push((at + seconds(random, 900), Event::EndOfFault(number)));
        }
        80..92 => events.push((at, Event::Crash(random.random_range(0..40)))),
        92..95 => events.push((at, Event::Jump(random.random_range(1..7200)))),
        _ => {
            // A call that is begun may take a minute: many leases end soon after that.
            let soon = random.random_range(0..=75);
            let grace = Duration::from_secs(if random.random() { soon } else { 60 + soon / 5 });
            events.push((at, Event::Expire(grace)));
            events.push((at + grace + seconds(random, 600), Event::Regain));
        }
    }
}

fn fault(random: &mut StdRng, profile: &Profile) -> Rule {
    const RESOURCES: [&str; 3] =
        ["DescribeDBInstances", "DescribeDBSubnetGroups", "DescribeDBParameterGroups"];
    const ANY: [&str; 6] =
        ["*", "Describe*", "Create*", "Modify*", "AddTags*", "DescribeDBInstances"];
    const WRITES: [&str; 4] = ["Create*", "Modify*", "AddTags*", "CreateDB*"];
    let (effect, operations): (Effect, &[&str]) = match random.random_range(0..9) {
        0 if profile.swift => (Effect::ServerError, &ANY),
        0 if random.random() => (Effect::Throttle, &ANY),
        0 => (Effect::Throttle, &WRITES),
        1 => (Effect::ServerError, &ANY),
        2 => (Effect::LoseAnswer, &WRITES),
        3 => (Effect::LoseRequest, &ANY),
        4 => (Effect::ServerErrorAfter, &WRITES),
        5 => (Effect::Deny, &ANY),
        6 => (Effect::Deny, &WRITES),
        7 => (Effect::PartialPage(random.random_range(0..3)), &RESOURCES),
        _ => {
            let lag = Duration::from_secs(random.random_range(5..50));
            (Effect::Stale(lag), &RESOURCES[..1])
        }
    };
    let chance = *pick(random, &[0.1, 0.3, 0.6, 1.0]);
    Rule::new(effect).by("agent").operation(pick::<&str>(random, operations)).chance(chance)
}
