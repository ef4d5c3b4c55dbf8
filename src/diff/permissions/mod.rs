//! Rules of a security group, compared by what they let through and not by how AWS writes them.
//!
//! In: the declared rules as texts (`tcp 5432 10.0.0.0/8`, a description in brackets after it), and
//! the `IpPermissions` that AWS answers. Out: at most one difference for a field. Its two sides hold
//! the rules that differ and nothing else, by their [`Traffic`]: in `from` the description that AWS
//! has, in `to` the declared one, or null for a rule that must not be there.
//!
//! Invariants: an answer that cannot be read is a wait, never a difference; a description counts
//! only where one is declared; what only AWS lets through is a danger where the field's rule says
//! so, what only Git lets through never is.

mod meaning;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use self::meaning::{declared, there};
use super::judge::Sides;
use super::{delta, wait};
use crate::model::{Delta, Diff, Peers, Rule, Traffic};

/// How many of the rules that only one side has are told.
const MOST_TOLD: usize = 3;

/// The description of each rule.
type Rules = BTreeMap<Traffic, Option<String>>;

/// Compares the rules with peers of one kind.
pub(super) fn compare(
    rule: &Rule,
    peers: Peers,
    want: &Value,
    sides: &Sides<'_>,
    found: &mut Diff,
) {
    let own = sides.actual.text("GroupId").unwrap_or_default();
    let here = sides.desired.id.scope.account.as_str();
    let account = sides.actual.text("OwnerId").unwrap_or(here);
    let have = sides.actual.member(rule.member);
    match (declared(want, own), there(have, peers, account)) {
        (Ok(want), Ok(have)) => found.deltas.extend(difference(rule, &want, &have)),
        (Err(reason), _) | (_, Err(reason)) => {
            found.waits.push(wait(rule, "UnreadableAnswer", reason));
        }
    }
}

fn difference(rule: &Rule, want: &Rules, have: &Rules) -> Option<Delta> {
    let (mut from, mut to) = (Map::new(), Map::new());
    let (mut only_aws, mut only_git, mut described) = (Vec::new(), Vec::new(), Vec::new());
    for (traffic, description) in want {
        let name = traffic.to_string();
        match have.get(traffic) {
            None => only_git.push(name.clone()),
            Some(there) if description.is_none() || text(description) == text(there) => continue,
            Some(there) => {
                from.insert(name.clone(), text(there));
                described.push(name.clone());
            }
        }
        to.insert(name, text(description));
    }
    for (traffic, description) in have.iter().filter(|(traffic, _)| !want.contains_key(traffic)) {
        let name = traffic.to_string();
        from.insert(name.clone(), text(description));
        to.insert(name.clone(), Value::Null);
        only_aws.push(name);
    }
    let security = rule.security && !only_aws.is_empty();
    let told = [
        told("only AWS has", &only_aws),
        told("only Git has", &only_git),
        told("described otherwise:", &described),
    ];
    let why: Vec<String> = told.into_iter().flatten().collect();
    let change = || delta(rule, from.into(), to.into(), why.join("; "));
    (!why.is_empty()).then(|| Delta { security, ..change() })
}

fn text(description: &Option<String>) -> Value {
    description.as_deref().unwrap_or_default().into()
}

fn told(what: &str, rules: &[String]) -> Option<String> {
    let more = if rules.len() > MOST_TOLD { " and more" } else { "" };
    let first = rules.get(..MOST_TOLD.min(rules.len())).unwrap_or_default().join(", ");
    (!rules.is_empty()).then(|| format!("{what} {first}{more}"))
}

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;
