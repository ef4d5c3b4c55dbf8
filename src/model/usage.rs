//! Where a resource names another one that it uses, and that AWS or sense forbids to delete before it.
//!
//! In: what AWS answered of both. Out: whether the one uses the other, whoever declares it.

use serde_json::Value;

use super::{KindName, Observed};

/// States one member by which a resource names what it uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// The kind of what is used.
    pub of: KindName,
    /// The path of the member in the describe answer of the user; of a list, every item counts.
    pub path: &'static [&'static str],
    /// The member of what is used whose value stands there; `None` where it is the name.
    pub by: Option<&'static str>,
}

impl Usage {
    /// States a member that holds the name of what is used.
    pub const fn by_name(of: &'static str, path: &'static [&'static str]) -> Self {
        Self { of: KindName::new(of), path, by: None }
    }

    /// States a member that holds an identifier, which the describe answer of what is used has too.
    pub const fn by(member: &'static str, of: &'static str, path: &'static [&'static str]) -> Self {
        Self { of: KindName::new(of), path, by: Some(member) }
    }

    /// Tells whether a resource is seen to use one of this name.
    pub fn is_seen(&self, user: &Observed, name: &str, used: &Observed) -> bool {
        let value = self.by.map_or(Some(name), |member| used.text(member));
        let [first, rest @ ..] = self.path else { return false };
        let found = user.members.get(*first);
        value.zip(found).is_some_and(|(value, found)| holds(found, rest, value))
    }
}

/// Tells whether a text stands at a path.
fn holds(found: &Value, path: &[&str], text: &str) -> bool {
    match (found, path) {
        (Value::Array(items), _) => items.iter().any(|item| holds(item, path, text)),
        // Who would be told to wait for nothing waits; the other way round, something would go.
        (Value::String(found), []) => found.eq_ignore_ascii_case(text),
        (_, [first, rest @ ..]) => found.get(first).is_some_and(|found| holds(found, rest, text)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn observed(members: Value) -> Observed {
        let Value::Object(members) = members else { panic!("no members") };
        Observed { members, tags: None, at: jiff::Timestamp::UNIX_EPOCH }
    }

    #[track_caller]
    fn check(usage: &Usage, user: Value, expected: bool) {
        let used = observed(json!({"GroupId": "sg-1"}));
        assert_eq!(usage.is_seen(&observed(user), "group", &used), expected);
    }

    #[test]
    fn every_item_of_a_list_and_every_way_to_name_it_counts() {
        let groups = Usage::by_name("db_parameter_group", &["Groups", "Name"]);
        check(&groups, json!({"Groups": [{"Name": "other"}, {"Name": "group"}]}), true);
        check(&groups, json!({"Groups": [{"Name": "groups"}]}), false);
        check(&groups, json!({"Groups": {"Name": "group"}}), true);
        check(&groups, json!({"Groups": null}), false);
        check(&groups, json!({}), false);
        let plain = Usage::by_name("db_subnet_group", &["Group"]);
        check(&plain, json!({"Group": "Group"}), true);
        check(&plain, json!({"Group": {"Name": "group"}}), false);
        let by_id = Usage::by("GroupId", "security_group", &["Groups", "Id"]);
        check(&by_id, json!({"Groups": [{"Id": "sg-1"}]}), true);
        check(&by_id, json!({"Groups": [{"Id": "group"}]}), false);
        let by_what_is_missing = Usage::by("Arn", "iam_role", &["RoleArn"]);
        check(&by_what_is_missing, json!({"RoleArn": "group"}), false);
    }
}
