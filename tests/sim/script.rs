//! What happens in a run, and when: all of it follows from the seed.

use std::time::Duration;

use levelset::sandbox::faults::Rule;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::outages::{DEAFNESS, deafness, fault, write_fault};
use super::profile::Profile;

/// The name of a workspace whose database somebody else had before.
pub(super) const FOREIGN: &str = "team-taken";

/// A password that a person sets; it must never be seen again.
pub(super) const SECRET: &str = "correct-horse-battery";

/// For how long things go wrong in a run of a few objects.
const TROUBLE: Duration = Duration::from_secs(60 * 60);

/// How long everything may take to converge: before and after each of two jumps over a maintenance
/// window, and not counting the time that is jumped over.
pub(super) const CALM: Duration = Duration::from_secs(30 * 60);

/// How often people confirm what is frozen while everything converges.
const CONFIRMATIONS: u32 = 15;

/// How long the agent is watched after everything has converged.
const QUIET: Duration = Duration::from_secs(20 * 60);

/// Something that happens.
#[derive(Debug, Clone)]
pub(super) enum Event {
    Edit,
    /// Every database gets another class.
    Resize,
    /// Every database gets other parameters.
    Tune,
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
    /// What a file declares is prepared for its deletion.
    Doom,
    /// A file goes that says its objects are to be deleted.
    Bury,
    /// Both in what the agent reads as one commit.
    DoomAndBury,
    /// A file goes that said otherwise in a commit that is pushed together with that.
    Repent,
    /// A database section goes, or comes back.
    Section,
    Return,
    Empty,
    ForcePush,
    Console,
    /// Developers change who is let in, or a role.
    Admit,
    /// Somebody changes a security group or a role in the console, or opens one.
    Rummage,
    Open,
    /// Somebody changes up to so many databases at once in the console.
    Mass(usize),
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
    /// What guards froze is meant.
    Confirm,
    /// The same, with a digest that no guard shows (any more).
    Misconfirm,
}

pub(super) struct Script {
    pub(super) profile: Profile,
    /// In the order of time; each with a number from which its choices follow.
    pub(super) events: Vec<(Duration, u64, Event)>,
}

impl Script {
    pub(super) fn of(seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let profile = Profile::random(seed, &mut random);
        let troubles = random.random_range(12..36);
        let mut script = Self::new(profile, TROUBLE, troubles, random);
        script.make_sure(seed);
        script
    }

    /// Adds troubles that would else hang on luck, a few to each seed in turn.
    fn make_sure(&mut self, seed: u64) {
        let mut random = StdRng::seed_from_u64(seed ^ 0x5e7);
        let at = TROUBLE.mul_f64(random.random_range(0.4..0.7));
        let mut events = Vec::new();
        if seed.is_multiple_of(2) {
            events.extend([(at / 2, Event::Doom), (at, Event::Bury)]);
        }
        if seed % 3 == 1 {
            events.push((at, Event::Mass(30)));
            confirmation(&mut random, at, &mut events);
        }
        if seed % 5 == 2 {
            cut_off(&mut random, at, &mut events);
        }
        if let Some(effect) = [3, 5].iter().position(|rest| seed % 7 == *rest) {
            let rule = Rule::new(DEAFNESS[3 * effect]).by("agent").operation("Modify*");
            events.push((at, Event::Fault(usize::MAX, rule)));
            let all = [Event::Return, Event::Mend, Event::Tune, Event::Resize];
            events.extend(all.map(|event| (at, event)));
        }
        for _ in 0..random.random_range(2..7) {
            let event = [Event::Admit, Event::Rummage, Event::Open];
            let at = TROUBLE.mul_f64(random.random());
            events.push((at, event[random.random_range(0..3)].clone()));
        }
        if seed % 4 == 1 {
            // Not together with what is put back at that time.
            events.push((at + Duration::from_secs(5), Event::Repent));
        }
        let events = events.into_iter().map(|(at, event)| (at.min(TROUBLE), event));
        let before_calm = self.events.partition_point(|(at, ..)| *at < TROUBLE);
        let rest = self.events.split_off(before_calm);
        self.events.extend(events.map(|(at, event)| (at, random.random(), event)));
        self.events.extend(rest);
        // Somebody opens something also while nothing else happens.
        let at = TROUBLE + CALM.mul_f64(random.random_range(0.5..1.0));
        self.events.push((at, random.random(), Event::Open));
        self.events.sort_by_key(|(at, ..)| *at);
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
        // People look at what is frozen once in a while.
        for look in 1..=CONFIRMATIONS {
            events.push((at + 3 * CALM * look / CONFIRMATIONS, Event::Ask(Wish::Confirm)));
        }
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

fn trouble(
    random: &mut StdRng,
    profile: &Profile,
    number: usize,
    at: Duration,
    events: &mut Vec<(Duration, Event)>,
) {
    match random.random_range(0..100) {
        0..12 => events.push((at, Event::Edit)),
        12..15 => {
            for _ in 0..random.random_range(3..12) {
                events.push((at + seconds(random, 20), Event::Edit));
            }
        }
        15..16 => events.push((at, Event::Annotate)),
        16..19 => request(random, at, events),
        19..21 => wish(random, at, events),
        21..23 => {
            events.push((at, Event::Break));
            events.push((at + seconds(random, 1200), Event::Mend));
        }
        23..26 => events.push((at, Event::Rename)),
        26..34 => removal(random, at, events),
        34..36 => {
            events.push((at, Event::Empty));
            confirmation(random, at, events);
            events.push((at + seconds(random, 1500), Event::Return));
        }
        36..38 => events.push((at, Event::ForcePush)),
        38..40 => {
            events.push((at, Event::Queue));
            events.push((at + Duration::from_secs(90), Event::Resize));
        }
        40..51 => events.push((at, Event::Console)),
        51..54 => {
            events.push((at, Event::Mass(random.random_range(3..=30))));
            confirmation(random, at, events);
        }
        54..59 => hinder(random, at, events),
        59..60 => events.push((at, Event::Publish)),
        60..62 => {
            events.push((at, Event::Fault(number, deafness(random))));
            events.push((at + seconds(random, 120), Event::Edit));
            events.push((at + seconds(random, 2400), Event::EndOfFault(number)));
        }
        62..81 => {
            events.push((at, Event::Fault(number, fault(random, profile))));
            events.push((at + seconds(random, 900), Event::EndOfFault(number)));
        }
        81..91 => events.push((at, Event::Crash(random.random_range(0..40)))),
        91..94 => events.push((at, Event::Jump(random.random_range(1..7200)))),
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

/// Takes something out of Git, after some word about its deletion or none, and mostly puts it back.
fn removal(random: &mut StdRng, at: Duration, events: &mut Vec<(Duration, Event)>) {
    let soon = at + seconds(random, 5);
    let later = at + seconds(random, 900);
    match random.random_range(0..8) {
        0 | 1 => events.push((at, Event::Remove)),
        2 => events.extend([(at, Event::Doom), (soon, Event::Bury)]),
        3 => events.push((at, Event::DoomAndBury)),
        4 => events.extend([(at, Event::Doom), (later, Event::Section)]),
        5 => events.push((at, Event::Bury)),
        _ => events.extend([(at, Event::Doom), (later, Event::Bury)]),
    }
    if random.random_bool(0.8) {
        events.push((later + seconds(random, 1800), Event::Return));
    }
}

/// Confirms what guards froze, with a wrong digest, the one that is shown, or both.
fn confirmation(random: &mut StdRng, at: Duration, events: &mut Vec<(Duration, Event)>) {
    if random.random() {
        events.push((at + seconds(random, 600), Event::Ask(Wish::Misconfirm)));
    }
    if random.random() {
        events.push((at + seconds(random, 900), Event::Ask(Wish::Confirm)));
    }
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
    match random.random_range(0..6) {
        0 | 1 => events.extend([(at, Event::Unconfigure), (later, Event::Configure)]),
        2 => events.extend([(at, Event::Cut), (later, Event::Join)]),
        3 => cut_off(random, at, events),
        _ => events.push((at, Event::Stick)),
    }
}

/// Takes the repository away until nothing is written any more, with reasons to write.
fn cut_off(random: &mut StdRng, at: Duration, events: &mut Vec<(Duration, Event)>) {
    events.extend([(at, Event::Cut), (at + seconds(random, 1800), Event::Mass(3))]);
    for _ in 0..3 {
        events.push((at + seconds(random, 2400), Event::Console));
    }
    events.push((at + seconds(random, 3600), Event::Join));
}
