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

/// For how long things go wrong in a run of a few objects.
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
    /// Somebody stops all work on an object, or lets it go on.
    Suspend,
    /// Somebody asks that the drift of an object is left for so many seconds.
    Snooze(i64),
    /// Somebody asks something of the running agent.
    Ask(Wish),
    /// The database of somebody else is to be taken over.
    Adopt,
    /// The agent is started anew without the environment `staging`, and with it.
    Unconfigure,
    Configure,
    /// The repository cannot be reached, and can be reached again.
    Cut,
    Join,
    /// A database stays `modifying` for good.
    Stick,
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

/// What somebody asks of the running agent, about some object.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wish {
    Suspend,
    Resume,
    Snooze(i64),
    Retry,
    /// What vanished together is meant to be gone.
    Confirm,
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
        let troubles = random.random_range(12..36);
        Self::new(profile, TROUBLE, troubles, random)
    }

    /// A day of a fleet, with as many troubles as a fleet of that size has.
    pub(super) fn of_fleet(seed: u64, workspaces: usize) -> Self {
        let troubles = 24 + workspaces / 2;
        Self::new(Profile::fleet(workspaces), 24 * TROUBLE, troubles, StdRng::seed_from_u64(seed))
    }

    fn new(profile: Profile, lasts: Duration, troubles: usize, mut random: StdRng) -> Self {
        let mut events = Vec::new();
        for number in 0..troubles {
            let at = lasts.mul_f64(random.random());
            trouble(&mut random, &profile, number, at, &mut events);
        }
        events.iter_mut().for_each(|(at, _)| *at = lasts.min(*at));
        // The agent makes most of what it ever makes at the start.
        if random.random_bool(0.6) {
            let rule = match random.random() {
                true => fault(&mut random, &profile),
                false => write_fault(&mut random, &profile),
            };
            events.push((Duration::ZERO, Event::Fault(troubles, rule)));
            let end = Duration::from_secs(random.random_range(5..600));
            events.push((end, Event::EndOfFault(troubles)));
        }
        events.extend([(lasts, Event::Calm), (lasts + CALM / 3, Event::Calm)]);
        let mut at = lasts + CALM / 3;
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
    /// As an agent is set that looks after many objects: the defaults.
    fn fleet(workspaces: usize) -> Self {
        Self {
            workspaces,
            workers: 8,
            latency: Duration::from_secs(1),
            modifying: Duration::from_secs(360),
            budgets: Budgets::default(),
            guard: Guard::default(),
            swift: false,
            taken: true,
        }
    }

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
    match random.random_range(0..100) {
        0..12 => events.push((at, Event::Edit)),
        12..16 => {
            for _ in 0..random.random_range(3..12) {
                events.push((at + seconds(random, 20), Event::Edit));
            }
        }
        16..17 => events.push((at, Event::Annotate)),
        17..20 => request(random, at, events),
        20..22 => wish(random, at, events),
        22..24 => {
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
            if random.random_bool(0.3) {
                events.push((at + seconds(random, 600), Event::Ask(Wish::Confirm)));
            }
            events.push((at + seconds(random, 900), Event::Return));
        }
        33..36 => events.push((at, Event::ForcePush)),
        36..39 => {
            events.push((at, Event::Queue));
            events.push((at + Duration::from_secs(90), Event::Resize));
        }
        39..51 => events.push((at, Event::Console)),
        51..55 => hinder(random, at, events),
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

fn seconds(random: &mut StdRng, most: u64) -> Duration {
    Duration::from_secs(random.random_range(1..most))
}

/// Asks for stillness, and gives reasons to break it.
fn request(random: &mut StdRng, at: Duration, events: &mut Vec<(Duration, Event)>) {
    match random.random_range(0..5) {
        0 | 1 => {
            events.push((at, Event::Suspend));
            events.push((at + seconds(random, 120), Event::Resize));
            events.push((at + seconds(random, 2400), Event::Suspend));
        }
        2 | 3 => {
            events.push((at, Event::Snooze(random.random_range(60..7200))));
            for _ in 0..5 {
                events.push((at + seconds(random, 1200), Event::Console));
            }
        }
        _ => events.push((at, Event::Adopt)),
    }
}

/// Asks something of the running agent, and gives reasons to break it.
fn wish(random: &mut StdRng, at: Duration, events: &mut Vec<(Duration, Event)>) {
    match random.random_range(0..5) {
        0 | 1 => {
            events.push((at, Event::Ask(Wish::Suspend)));
            events.push((at + seconds(random, 60), Event::Resize));
            events.push((at + seconds(random, 60), Event::Crash(random.random_range(0..40))));
            events.push((at + seconds(random, 2400), Event::Ask(Wish::Resume)));
        }
        2 | 3 => {
            events.push((at, Event::Ask(Wish::Snooze(random.random_range(60..7200)))));
            for _ in 0..3 {
                events.push((at + seconds(random, 1200), Event::Console));
            }
        }
        _ => events.push((at, Event::Ask(Wish::Retry))),
    }
}

/// Takes something away from the agent, or gets a database stuck.
fn hinder(random: &mut StdRng, at: Duration, events: &mut Vec<(Duration, Event)>) {
    let later = at + seconds(random, 1800);
    match random.random_range(0..5) {
        0 | 1 => events.extend([(at, Event::Unconfigure), (later, Event::Configure)]),
        2 => events.extend([(at, Event::Cut), (later, Event::Join)]),
        _ => events.push((at, Event::Stick)),
    }
}

const WRITES: [&str; 4] = ["Create*", "Modify*", "AddTags*", "CreateDB*"];

fn write_fault(random: &mut StdRng, profile: &Profile) -> Rule {
    let effect = match random.random_range(0..4) {
        0 if !profile.swift => Effect::Throttle,
        0 | 1 => Effect::LoseAnswer,
        2 => Effect::ServerErrorAfter,
        _ => Effect::Deny,
    };
    rule(random, effect, &WRITES)
}

fn fault(random: &mut StdRng, profile: &Profile) -> Rule {
    const RESOURCES: [&str; 3] =
        ["DescribeDBInstances", "DescribeDBSubnetGroups", "DescribeDBParameterGroups"];
    const ANY: [&str; 6] =
        ["*", "Describe*", "Create*", "Modify*", "AddTags*", "DescribeDBInstances"];
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
    rule(random, effect, operations)
}

fn rule(random: &mut StdRng, effect: Effect, operations: &[&str]) -> Rule {
    let chance = *pick(random, &[0.1, 0.3, 0.6, 1.0]);
    Rule::new(effect).by("agent").operation(pick::<&str>(random, operations)).chance(chance)
}
