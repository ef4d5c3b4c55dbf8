//! The whole agent in a simulated world: virtual time, one seed for everything, faults of every sort,
//! and a checker that looks from outside only. See `README.md` beside this file.

mod checker;
mod clock;
mod doors;
mod life;
mod mutant;
mod people;
mod repository;
mod run;
mod script;
mod spec;
mod world;

use std::collections::BTreeMap;
use std::time::Instant;

use checker::Law;
use mutant::Mutant;
use run::run;

/// How many seeds the test command plays.
const SEEDS: u64 = 30;

/// Within how many seeds every mutant has to be caught.
const SEEDS_PER_MUTANT: u64 = 40;

/// How many lines of a trace are shown, counted from its end.
const LINES: usize = 250;

/// Plays seeds; panics with the trace of the first one in which a law does not hold.
fn play(seeds: impl Iterator<Item = u64>) -> BTreeMap<String, u64> {
    let mut tally = BTreeMap::new();
    for seed in seeds {
        let outcome = run(seed, Mutant::None, false);
        if let Some(violation) = outcome.violation {
            let trace = run(seed, Mutant::None, true).trace;
            let shown = trace[trace.len().saturating_sub(LINES)..].join("\n");
            panic!(
                "seed {seed}: {violation}\n{shown}\nseed {seed}: {violation}\nplay it again: \
                 SIM_SEED={seed} cargo test --test integration sim::one -- --ignored --nocapture"
            );
        }
        for (what, count) in outcome.tally {
            *tally.entry(what).or_default() += count;
        }
    }
    tally
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
    let tally = play(0..SEEDS);
    for what in ["lives", "passes", "ModifyDBInstance ok", "CreateDBInstance lose-answer"] {
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
    for (mutant, law) in Mutant::ALL {
        let caught = catch(mutant, law);
        println!("| `{mutant:?}` | `{law:?}` | {} |", caught.map_or(0, |seed| seed + 1));
        assert!(caught.is_some(), "{mutant:?} breaks {law:?} and was not caught");
    }
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
    let tally = play(first..first + count);
    println!("{tally:#?}");
    let each = started.elapsed().as_secs_f64() / f64::from(u32::try_from(count).unwrap());
    println!("{count} seeds, {:.1} ms each", each * 1000.0);
}
