//! The short run: every seed, and mutations of them from a fixed seed; see README.md.

mod mutate;
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

use self::targets::{TARGETS, Target};

/// How many mutations of each target the test command tries; `FUZZ_RUNS` asks for more.
const RUNS: usize = 2_000;

fn runs() -> usize {
    std::env::var("FUZZ_RUNS").ok().and_then(|text| text.parse().ok()).unwrap_or(RUNS)
}

/// Runs one input and shows it when a law does not hold.
fn run(target: &Target, input: &[u8]) {
    if catch_unwind(AssertUnwindSafe(|| (target.run)(input))).is_err() {
        panic!("{} does not hold its laws with {:?}", target.name, String::from_utf8_lossy(input));
    }
}

fn short_run(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    let corpus = target.corpus();
    assert!(!corpus.is_empty(), "{name} has no seeds");
    corpus.iter().for_each(|seed| run(target, seed));
    let mut random = StdRng::seed_from_u64(7);
    for _ in 0..runs() {
        let seed = corpus.choose(&mut random).unwrap();
        run(target, &mutate::mutate(seed, &corpus, &mut random));
    }
}

#[test]
fn manifests_are_read_or_refused_with_a_place() {
    short_run("manifest");
}

#[test]
fn settings_are_read_or_refused_with_a_place() {
    short_run("settings");
}

#[test]
fn saved_answers_prove_what_a_plan_creates() {
    short_run("observed");
}

#[test]
fn a_location_shows_no_password_and_stays_inside_its_repository() {
    short_run("location");
}

#[test]
fn an_answer_of_ec2_is_refused_or_read_whole() {
    short_run("xml");
}

#[test]
fn a_webhook_without_a_proof_wakes_nobody() {
    short_run("webhook");
}

#[test]
#[ignore = "writes every seed into the folder that FUZZ_SEEDS names"]
fn seeds_are_written() {
    let folder = std::path::PathBuf::from(std::env::var_os("FUZZ_SEEDS").unwrap());
    for target in TARGETS {
        let folder = folder.join(target.name);
        std::fs::create_dir_all(&folder).unwrap();
        for (number, seed) in target.corpus().iter().enumerate() {
            std::fs::write(folder.join(number.to_string()), seed).unwrap();
        }
    }
}

#[test]
fn every_target_has_a_short_run_and_a_guided_one_and_every_corpus_a_target() {
    let (source, guided) = (include_str!("mod.rs"), include_str!("Cargo.toml"));
    for Target { name, .. } in TARGETS {
        assert!(source.contains(&format!("short_run(\"{name}\")")), "{name}");
        assert!(guided.contains(&format!("[[bin]]\nname = \"{name}\"")), "{name}");
    }
    let corpora = std::fs::read_dir(TARGETS[0].folder().parent().unwrap()).unwrap();
    for folder in corpora.map(|entry| entry.unwrap().file_name()) {
        assert!(TARGETS.iter().any(|target| *target.name == *folder), "{folder:?} has no target");
    }
}
