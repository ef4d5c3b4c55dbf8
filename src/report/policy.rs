//! The IAM policy that a kind's code needs, and no more.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::model::{Grant, Kind};

/// A statement's resources and condition, under which actions are gathered.
type Place =
    (&'static [&'static str], Option<(&'static str, &'static str, &'static [&'static str])>);

/// Returns the policy that is enough for every call of these kinds.
///
/// Actions on the same resources under the same condition are one statement. Proving whose the
/// credentials are (`sts:GetCallerIdentity`) needs no permission.
pub fn policy(kinds: &[&dyn Kind]) -> Value {
    let grants = kinds.iter().flat_map(|kind| kind.permissions()).flat_map(|it| it.grants);
    let mut places: BTreeMap<Place, BTreeSet<&str>> = BTreeMap::new();
    for Grant { actions, resources, condition } in grants {
        places.entry((resources, *condition)).or_default().extend(*actions);
    }
    let statements: Vec<Value> = places.into_iter().map(statement).collect();
    json!({ "Version": "2012-10-17", "Statement": statements })
}

/// Returns what finding out who made drift needs, in each role that reads what drifts: an account has one
/// event history, whose actions take no narrower resource.
pub fn trail_policy() -> Value {
    let grant = Grant::of(&["cloudtrail:LookupEvents"], &["*"]);
    let place = (grant.resources, grant.condition);
    let statement = statement((place, grant.actions.iter().copied().collect()));
    json!({ "Version": "2012-10-17", "Statement": [statement] })
}

fn statement(((resources, condition), actions): (Place, BTreeSet<&str>)) -> Value {
    let mut statement = json!({ "Effect": "Allow", "Action": actions, "Resource": resources });
    if let Some((operator, key, values)) = condition {
        statement["Condition"] = json!({ (operator): { (key): values } });
    }
    statement
}
