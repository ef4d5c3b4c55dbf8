//! The whole agent in a simulated world: virtual time, one seed for everything, faults of every sort,
//! and a checker that looks from outside only. See `README.md` beside this file.

mod access;
mod checker;
mod clock;
mod console;
mod doors;
mod life;
mod mutant;
mod outages;
mod people;
mod profile;
mod reading;
mod repository;
mod run;
mod script;
mod spec;
mod world;

use std::collections::BTreeMap;
use std::num::NonZero;
use std::ops::{ControlFlow, Range};
use std::panic::catch_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use checker::Law;
use mutant::Mutant;
use run::run;
use script::Script;

/// How many seeds the test command plays.
const SEEDS: u64 = 150;

/// Within how many seeds every mutant has to be caught.
const SEEDS_PER_MUTANT: u64 = 40;

/// Something that has to have happened in them.
const HAPPENED: [&str; 25] = [
    "lives",
    "passes",
    "reverts",
    "CreateDBInstance lose-answer",
    "ModifyDBInstance ok",
    "ModifyDBInstance ignore",
    "DeleteDBInstance ok",
    "DeleteDBParameterGroup ok",
    "frozen vanishing",
    "frozen drift",
    "confirmed vanishing",
    "confirmed drift",
    "confirmed nothing",
    "stale",
    "event Cut",
    "event Crash",
    "event Jump",
    "event Return",
    "console AuthorizeSecurityGroupIngress",
    "console DeleteRole",
    "RevokeSecurityGroupIngress ok",
    "DetachRolePolicy ok",
    "DeleteSecurityGroup ok",
    "DeleteRole ok",
    "event Repent",
];

/// How many lines of a trace are shown, counted from its end.
const LINES: usize = 250;

type Tally = BTreeMap<String, u64>;

/// Works on numbers on all processors, until one piece of work says that it was enough.
fn on_all_processors(numbers: Range<u64>, work: impl Fn(u64) -> ControlFlow<()> + Sync) {
    let next = AtomicU64::new(numbers.start);
    let worker = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= numbers.end {
                return;
            }
            if work(number).is_break() {
                next.store(numbers.end, Ordering::Relaxed);
            }
        }
    };
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..processors {
            scope.spawn(worker);
        }
    });
}

/// What became of many seeds: what happened how often, and which law did not hold in which seed.
#[derive(Default)]
struct Played {
    tally: Tally,
    broken: BTreeMap<u64, String>,
}

/// Plays seeds, all of them or up to the first one in which a law does not hold.
fn play(seeds: Range<u64>, goes_on: bool) -> Played {
    let played = Mutex::new(Played::default());
    on_all_processors(seeds, |seed| {
        let outcome = catch_unwind(|| run(seed, Mutant::None, false));
        let outcome = outcome.unwrap_or_else(|_| panic!("seed {seed} ends in a panic"));
        let mut played = played.lock().unwrap();
        if let Some(violation) = outcome.violation {
            played.broken.insert(seed, violation.to_string());
            return if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        }
        for (what, count) in outcome.tally {
            *played.tally.entry(what).or_default() += count;
        }
        ControlFlow::Continue(())
    });
    played.into_inner().unwrap()
}

/// Panics with the end of the trace of a seed in which a law does not hold.
fn tell(seed: u64) -> ! {
    let outcome = run(seed, Mutant::None, true);
    let violation = outcome.violation.expect("a seed replays exactly");
    let shown = outcome.trace[outcome.trace.len().saturating_sub(LINES)..].join("\n");
    panic!(
        "seed {seed}: {violation}\n{shown}\nseed {seed}: {violation}\nplay it again: \
         SIM_SEED={seed} cargo test --test integration sim::one -- --ignored --nocapture"
    );
}

#[expect(
    clippy::disallowed_methods,
    reason = "the seeds of a longer run are named on the command line"
)]
fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

#[test]
fn whatever_happens_the_laws_hold() {
    let Played { tally, broken } = play(0..SEEDS, false);
    if let Some(seed) = broken.keys().next() {
        tell(*seed);
    }
    for what in HAPPENED {
        assert!(tally.get(what).is_some_and(|count| *count > 0), "{what} never happened");
    }
}

#[test]
fn a_seed_replays_exactly() {
    for seed in 1000..1004 {
        let (one, other) = (run(seed, Mutant::None, true), run(seed, Mutant::None, true));
        assert!(one.trace.len() > 100);
        assert_eq!(one.trace, other.trace, "seed {seed}");
    }
}

/// Returns the first seed in which a mutant breaks the law that it is there to break.
fn catch(mutant: Mutant, law: Law) -> Option<u64> {
    (0..SEEDS_PER_MUTANT).find(|seed| {
        let violation = run(*seed, mutant, false).violation;
        violation.is_some_and(|violation| violation.law == law)
    })
}

#[test]
fn every_mutant_is_caught() {
    let caught = Mutex::new(BTreeMap::new());
    let count = u64::try_from(Mutant::ALL.len()).unwrap();
    on_all_processors(0..count, |number| {
        let (mutant, law) = Mutant::ALL[usize::try_from(number).unwrap()];
        let seed = catch(mutant, law);
        caught.lock().unwrap().insert(number, seed);
        ControlFlow::Continue(())
    });
    let mut escaped = Vec::new();
    for ((mutant, law), seed) in Mutant::ALL.iter().zip(caught.into_inner().unwrap().into_values())
    {
        println!("| `{mutant:?}` | `{law:?}` | {} |", seed.map_or(0, |seed| seed + 1));
        escaped.extend(seed.is_none().then_some((mutant, law)));
    }
    assert!(escaped.is_empty(), "these break laws and were not caught: {escaped:?}");
}

/// Plays one seed and prints its trace.
#[test]
#[ignore = "plays the seed that SIM_SEED names"]
fn one() {
    let outcome = run(number("SIM_SEED", 0), Mutant::None, true);
    println!("{}", outcome.trace.join("\n"));
    println!("{:#?}", outcome.tally);
    assert!(outcome.violation.is_none(), "{}", outcome.violation.unwrap());
}

/// Plays a day of a fleet.
#[test]
#[ignore = "plays a day of SIM_OBJECTS objects"]
fn fleet() {
    let (seed, objects) = (number("SIM_SEED", 0), number("SIM_OBJECTS", 1000));
    #[expect(
        clippy::disallowed_methods,
        reason = "how long it took is told to the person who waited"
    )]
    let started = Instant::now();
    let script = Script::of_fleet(seed, usize::try_from(objects).unwrap());
    let outcome = run::play(script, seed, Mutant::None, false);
    println!("{:#?}", outcome.tally);
    println!("a day of {objects} objects in {:.1} s", started.elapsed().as_secs_f64());
    assert!(outcome.violation.is_none(), "{}", outcome.violation.unwrap());
}

/// Plays as many seeds as are wanted.
#[test]
#[ignore = "plays SIM_SEEDS seeds from SIM_FIRST on"]
fn many() {
    let (first, count) = (number("SIM_FIRST", 0), number("SIM_SEEDS", 2000));
    #[expect(
        clippy::disallowed_methods,
        reason = "how long it took is told to the person who waited"
    )]
    let started = Instant::now();
    let Played { tally, broken } = play(first..first + count, true);
    println!("{tally:#?}");
    let each = started.elapsed().as_secs_f64() / f64::from(u32::try_from(count).unwrap());
    println!("{count} seeds, {:.1} ms each", each * 1000.0);
    assert!(broken.is_empty(), "laws that do not hold, by seed: {broken:#?}");
}
