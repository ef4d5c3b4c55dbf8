//! What AWS does wrong in a run.

use std::time::Duration;

use levelset::sandbox::faults::{Effect, Rule};
use rand::RngExt;
use rand::rngs::StdRng;

use super::profile::Profile;
use super::spec::{PARAMETERS, pick};

/// What AWS takes and does not carry out.
pub(super) const DEAFNESS: [Effect; 4] = [
    Effect::Ignore("DBInstanceClass"),
    Effect::Ignore("BackupRetentionPeriod"),
    Effect::Ignore(PARAMETERS[0]),
    Effect::Rivals(PARAMETERS[0], PARAMETERS[1]),
];

/// Makes AWS take a change and not carry it out.
pub(super) fn deafness(random: &mut StdRng) -> Rule {
    Rule::new(*pick(random, &DEAFNESS)).by("agent").operation("Modify*")
}

const WRITES: [&str; 4] = ["Create*", "Modify*", "AddTags*", "CreateDB*"];

/// The same, and what is written to groups and roles.
const ALL_WRITES: [&str; 7] =
    ["Create*", "Modify*", "AddTags*", "CreateDB*", "Authorize*", "Revoke*", "Attach*"];

pub(super) fn write_fault(random: &mut StdRng, profile: &Profile) -> Rule {
    let effect = match random.random_range(0..4) {
        0 if !profile.swift => Effect::Throttle,
        0 | 1 => Effect::LoseAnswer,
        2 => Effect::ServerErrorAfter,
        _ => Effect::Deny,
    };
    rule(random, effect, &WRITES)
}

pub(super) fn fault(random: &mut StdRng, profile: &Profile) -> Rule {
    // A security group is confirmed by a search, in which nobody can tell that something is missing.
    const RESOURCES: [&str; 4] = [
        "DescribeDBInstances",
        "DescribeDBSubnetGroups",
        "DescribeDBParameterGroups",
        "GetAccountAuthorizationDetails",
    ];
    const ANY: [&str; 6] =
        ["*", "Describe*", "Create*", "Modify*", "AddTags*", "DescribeDBInstances"];
    let (effect, operations): (Effect, &[&str]) = match random.random_range(0..9) {
        0 if profile.swift => (Effect::ServerError, &ANY),
        0 if random.random() => (Effect::Throttle, &ANY),
        0 => (Effect::Throttle, &ALL_WRITES),
        1 => (Effect::ServerError, &ANY),
        2 => (Effect::LoseAnswer, &ALL_WRITES),
        3 => (Effect::LoseRequest, &ANY),
        4 => (Effect::ServerErrorAfter, &ALL_WRITES),
        5 => (Effect::Deny, &ANY),
        6 => (Effect::Deny, &ALL_WRITES),
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
