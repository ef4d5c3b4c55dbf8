//! What a bucket is called.
//!
//! Source: "General purpose bucket naming rules" and "Namespaces for general purpose buckets" in the S3
//! User Guide. A name of the account's own regional namespace ends with the account, the region and
//! `-an`; S3 refuses it from everybody else, and makes it only for a request that names the namespace.

use super::spec::Bucket;
use crate::model::{ResourceId, Scope};

/// The most characters of a name.
const LONGEST: usize = 63;

/// The regions whose buckets have no namespace of the account.
const WITHOUT_NAMESPACE: [&str; 2] = ["me-central-1", "me-south-1"];

/// How short the end of such a name can be: that of the shortest region.
const SHORTEST_END: usize = "-123456789012-sa-east-1-an".len();

/// What stands for account and region in a name that is written down without them.
const ANYWHERE: &str = "-ACCOUNT-REGION-an";

/// Beginnings of names that S3 keeps to itself.
const STARTS: [&str; 3] = ["xn--", "sthree-", "amzn-s3-demo-"];

/// Ends of names that S3 keeps to itself.
const ENDS: [&str; 5] = ["-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3"];

/// Returns the name of a bucket in AWS.
pub fn bucket_name(scope: &Scope, workspace: &str, key: &str, bucket: &Bucket) -> String {
    let made = || format!("{workspace}-{key}{}", end(scope));
    bucket.name.clone().unwrap_or_else(made)
}

/// Returns the name as it is known without account and region.
pub fn plain_name(workspace: &str, key: &str, bucket: &Bucket) -> String {
    bucket.name.clone().unwrap_or_else(|| format!("{workspace}-{key}{ANYWHERE}"))
}

/// Returns the name of a bucket that exists, as it is known without account and region.
pub fn plain_name_of(id: &ResourceId) -> String {
    match id.name.strip_suffix(&end(&id.scope)) {
        Some(start) => format!("{start}{ANYWHERE}"),
        None => id.name.to_string(),
    }
}

/// Returns what ends the names that are made here.
pub(super) fn end(scope: &Scope) -> String {
    format!("-{}-{}-an", scope.account, scope.region)
}

/// Tells whether a name is one of the account's own regional namespace.
pub(super) fn is_own(id: &ResourceId) -> bool {
    id.name.ends_with(&end(&id.scope))
}

/// Says why a name that is made here cannot be, in this account and region.
pub(super) fn objection(id: &ResourceId) -> Option<(&'static str, String)> {
    let region = id.scope.region.as_str();
    if WITHOUT_NAMESPACE.contains(&region) {
        let message = format!("{region} has no namespaces of accounts, in which the name would be");
        return Some(("NoNamespace", message));
    }
    let (name, length) = (&id.name, id.name.len());
    (length > LONGEST).then(|| {
        ("InvalidBucketName", format!("{name} has {length} characters, and may have {LONGEST}"))
    })
}

/// Says what is wrong with a name that is declared.
pub(super) fn broken_rule(name: &str) -> Option<String> {
    let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let length = name.chars().count();
    if !(3..=LONGEST).contains(&length) {
        return Some(format!("has {length} characters, and may have 3 to {LONGEST}"));
    }
    if let Some(wrong) = name.chars().find(|c| !(is_end(*c) || ".-".contains(*c))) {
        return Some(format!("has the character '{}'", wrong.escape_debug()));
    }
    if !name.starts_with(is_end) || !name.ends_with(is_end) {
        return Some("does not begin and end with a letter or digit".to_owned());
    }
    if name.contains("..") {
        return Some("has two dots in a row".to_owned());
    }
    if name.parse::<core::net::Ipv4Addr>().is_ok() {
        return Some("looks like an address".to_owned());
    }
    if let Some(start) = STARTS.iter().find(|start| name.starts_with(*start)) {
        return Some(format!("begins with {start}, which S3 keeps to itself"));
    }
    let end = ENDS.iter().find(|end| name.ends_with(*end));
    if let Some(end) = end {
        return Some(format!("ends with {end}, which S3 keeps to itself"));
    }
    (name.ends_with("-an") && !has_account(name))
        .then(|| "ends with -an, which is for the namespaces of accounts".to_owned())
}

/// Tells whether an account, a region and `-an` end a name.
fn has_account(name: &str) -> bool {
    let parts: Vec<&str> = name.trim_end_matches("-an").rsplitn(5, '-').collect();
    let is_account = |part: &&str| part.len() == 12 && part.bytes().all(|it| it.is_ascii_digit());
    // A region has three parts, or four (`us-gov-west-1`).
    parts.iter().skip(3).any(is_account) || name.split('-').rev().nth(5).is_some_and(|it| is_account(&it))
}

/// Tells how many characters the name of a bucket has that is made here, at the least.
pub(super) fn shortest(workspace: &str, key: &str) -> Option<String> {
    let room = LONGEST - SHORTEST_END;
    let length = format!("{workspace}-{key}").len();
    (length > room).then(|| {
        format!(
            "the name would be {workspace}-{key} with account and region at its end, which leave room \
             for {room} characters; this has {length}"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AccountId, Region};

    fn scope(region: &str) -> Scope {
        Scope { account: AccountId::new("123456789012"), region: Region::new(region) }
    }

    fn id(region: &str, name: &str) -> ResourceId {
        ResourceId { kind: super::super::NAME, scope: scope(region), name: name.into() }
    }

    #[test]
    fn a_name_is_made_where_nobody_else_can_take_it() {
        let bucket = Bucket::default();
        let name = bucket_name(&scope("eu-west-1"), "team-a", "uploads", &bucket);
        assert_eq!(name, "team-a-uploads-123456789012-eu-west-1-an");
        assert!(is_own(&id("eu-west-1", &name)) && !is_own(&id("eu-west-2", &name)));
        assert_eq!(plain_name_of(&id("eu-west-1", &name)), plain_name("team-a", "uploads", &bucket));
        assert_eq!(plain_name_of(&id("eu-west-1", "mine")), "mine");
        assert_eq!(objection(&id("eu-west-1", &name)), None);
        assert_eq!(objection(&id("me-south-1", &name)).unwrap().0, "NoNamespace");
        let long = id("eu-west-1", &format!("{}-123456789012-eu-west-1-an", "x".repeat(38)));
        assert_eq!(objection(&long).unwrap().0, "InvalidBucketName");
        assert!(shortest("team-a", &"x".repeat(30)).is_none());
        assert!(shortest("team-a", &"x".repeat(31)).is_some());
    }

    #[test]
    fn names_follow_the_rules_of_s3() {
        for name in [
            "abc",
            "example.com",
            "a-1",
            "team-a-123456789012-eu-west-1-an",
            "t-123456789012-us-gov-west-1-an",
            &"x".repeat(63),
        ] {
            assert_eq!(broken_rule(name), None, "{name}");
        }
        for name in [
            "ab",
            &"x".repeat(64),
            "Abc",
            "a_b",
            "-ab",
            "ab-",
            ".ab",
            "a..b",
            "192.168.5.4",
            "xn--abc",
            "sthree-abc",
            "amzn-s3-demo-abc",
            "abc-s3alias",
            "abc--ol-s3",
            "abc.mrap",
            "abc--x-s3",
            "abc--table-s3",
            "abc-an",
        ] {
            assert!(broken_rule(name).is_some(), "{name}");
        }
    }
}
