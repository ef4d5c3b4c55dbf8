//! How a bucket that exists is declared: the inverse of `expand`.
//!
//! What keeps others out (the public access block, who owns the objects, the policy) is declared even
//! where it is what a new bucket has: left out, it would not be managed, and who opens the bucket would
//! not be told. The rest is declared where it differs from a new bucket.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::calls;
use super::lifecycle_read::read;
use super::names::{broken_rule, end};
use super::rules::{DEFAULT_ALGORITHM, DEFAULT_KEY, RULES};
use crate::model::import::{Around, Draft, Import, Section, Several, Writer};
use crate::model::{Call, Observed, inverse};

/// Who owns the objects of a bucket without controls, as `rules` say.
const WITHOUT_CONTROLS: &str = "ObjectWriter";

/// The word for a bucket in which access lists mean nothing.
const WITHOUT_LISTS: &str = "BucketOwnerEnforced";

/// Beginnings of the names of buckets that consoles and services of AWS make for themselves.
const OF_AWS: [(&str, &str); 2] =
    [("cf-templates-", "CloudFormation"), ("elasticbeanstalk-", "Elastic Beanstalk")];

impl Import for super::Bucket {
    fn passed_over(&self, name: &str, _actual: &Observed) -> Option<String> {
        let of_aws = OF_AWS.iter().find(|(start, _)| name.starts_with(start));
        if let Some((_, service)) = of_aws {
            return Some(format!("{service} made it for itself, as its name says"));
        }
        broken_rule(name).map(|rule| format!("its name cannot be declared: it {rule}"))
    }

    fn known_as(&self, actual: &Observed) -> Vec<(String, Option<&'static str>)> {
        let outputs = [("Arn", "arn"), ("RegionalDomainName", "domainName")];
        let known = |(member, output)| Some((actual.text(member)?.to_owned(), Some(output)));
        outputs.into_iter().filter_map(known).collect()
    }

    fn reads(&self, actual: &Observed) -> Vec<Call> {
        actual.text("Name").map(calls::parts).unwrap_or_default()
    }

    fn draft(&self, name: &str, actual: &Observed, around: &dyn Around) -> Option<Draft> {
        let end = end(around.scope());
        let section = Section::Several(Several {
            path: "buckets",
            keys: vec![name.strip_suffix(&end).unwrap_or(name).to_owned()],
            joint: Some("-"),
            end: Some(end),
            common: Vec::new(),
        });
        let mut writer = Writer::new(RULES, actual, section);
        writer.draft.name = Some(("name", name.to_owned()));
        access(&mut writer, actual);
        ownership(&mut writer, actual);
        encryption(&mut writer);
        writer.declare(&["versioning"]);
        lifecycle(&mut writer, actual);
        policy(&mut writer, actual);
        writer.declare(&["tags"]);
        writer.remark(
            "not read, not declared, and stays: replication, object lock, CORS, website, ABAC, logging, \
             notifications",
        );
        Some(writer.draft)
    }
}

/// Declares what keeps the public out; what is off, word by word.
fn access(writer: &mut Writer<'_>, actual: &Observed) {
    const FIELDS: [&str; 4] = [
        "publicAccessBlock.blockPublicAcls",
        "publicAccessBlock.ignorePublicAcls",
        "publicAccessBlock.blockPublicPolicy",
        "publicAccessBlock.restrictPublicBuckets",
    ];
    if !actual.members.contains_key("PublicAccessBlockConfiguration") {
        return;
    }
    let is_off = |field: &&&str| writer.value(field) != Some(Value::Bool(true));
    let off: Vec<&str> = FIELDS.iter().filter(is_off).copied().collect();
    if off.is_empty() {
        writer.draft.sheet.put("publicAccessBlock", json!({}));
    }
    for field in off {
        writer.draft.sheet.put(field, false);
    }
}

fn ownership(writer: &mut Writer<'_>, actual: &Observed) {
    if !actual.members.contains_key("OwnershipControls") {
        return;
    }
    let owner = writer.value("ownership").unwrap_or_else(|| WITHOUT_CONTROLS.into());
    if owner != WITHOUT_LISTS {
        writer.remark("its access lists have effect; their grants are not read, and stay");
    }
    writer.draft.sheet.put("ownership", owner);
}

/// Declares another encryption than S3's own, which nobody can take away.
fn encryption(writer: &mut Writer<'_>) {
    writer.unless("encryption.algorithm", DEFAULT_ALGORITHM);
    if !writer.draft.sheet.entries.iter().any(|entry| entry.key == "encryption") {
        return;
    }
    writer.unless("encryption.kmsKey", DEFAULT_KEY);
    writer.unless("encryption.bucketKey", false);
}

/// Declares the rules of the lifecycle, all of them or none: others than the declared ones are removed.
fn lifecycle(writer: &mut Writer<'_>, actual: &Observed) {
    let rules = actual.member("Rules").and_then(Value::as_array).into_iter().flatten();
    let (mut known, mut unknown) = (Map::new(), BTreeSet::new());
    for rule in rules {
        match read(rule) {
            Some((id, rule)) => drop(known.insert(id, rule)),
            None => drop(unknown.insert(rule.get("ID").and_then(Value::as_str).unwrap_or_default())),
        }
    }
    if !unknown.is_empty() {
        let unknown = unknown.into_iter().collect::<Vec<_>>().join(", ");
        return writer.remark(format!(
            "its lifecycle is not declared, and stays, since these rules cannot be: {unknown}"
        ));
    }
    if !known.is_empty() {
        writer.draft.sheet.put("lifecycle", known);
        writer.unless("transitionDefaultMinimumObjectSize", "all_storage_classes_128K");
    }
}

fn policy(writer: &mut Writer<'_>, actual: &Observed) {
    let Some(policy) = actual.members.get("Policy") else { return };
    let document = if policy.is_null() { Some(json!({})) } else { inverse::document(policy) };
    let Some(document) = document else {
        return writer.remark("its policy cannot be read, is not declared, and stays");
    };
    inverse::arns(&document, &mut writer.draft.uses);
    writer.draft.sheet.put("policy", document);
    writer.draft.refers_later.push("policy");
}
