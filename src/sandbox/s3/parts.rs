//! The parts of a bucket, which are read and written one by one.

use serde_json::{Value, json};

use super::state::Lifecycle;
use super::{bucket, operation, rules};
use crate::sandbox::args::Args;
use crate::sandbox::refusal::{Answer, Refusal};
use crate::sandbox::services::{Operation, Site};

const READ: [&str; 2] = super::COMMON;

/// The operations.
pub(in crate::sandbox) const OPERATIONS: &[Operation] = &[
    operation("GetBucketTagging", &READ, get_tags),
    operation("PutBucketTagging", &["Bucket", "ExpectedBucketOwner", "Tagging"], put_tags),
    operation("GetBucketVersioning", &READ, get_versioning),
    operation(
        "PutBucketVersioning",
        &["Bucket", "ExpectedBucketOwner", "VersioningConfiguration"],
        put_versioning,
    ),
    operation("GetBucketEncryption", &READ, get_encryption),
    operation(
        "PutBucketEncryption",
        &["Bucket", "ExpectedBucketOwner", "ServerSideEncryptionConfiguration"],
        put_encryption,
    ),
    operation("GetPublicAccessBlock", &READ, get_access),
    operation(
        "PutPublicAccessBlock",
        &["Bucket", "ExpectedBucketOwner", "PublicAccessBlockConfiguration"],
        put_access,
    ),
    operation("DeletePublicAccessBlock", &READ, delete_access),
    operation("GetBucketOwnershipControls", &READ, get_ownership),
    operation(
        "PutBucketOwnershipControls",
        &["Bucket", "ExpectedBucketOwner", "OwnershipControls"],
        put_ownership,
    ),
    operation("DeleteBucketOwnershipControls", &READ, delete_ownership),
    operation("GetBucketLifecycleConfiguration", &READ, get_lifecycle),
    operation(
        "PutBucketLifecycleConfiguration",
        &[
            "Bucket",
            "ExpectedBucketOwner",
            "LifecycleConfiguration",
            "TransitionDefaultMinimumObjectSize",
        ],
        put_lifecycle,
    ),
    operation("DeleteBucketLifecycle", &READ, delete_lifecycle),
    operation("GetBucketPolicy", &READ, get_policy),
    operation("PutBucketPolicy", &["Bucket", "ExpectedBucketOwner", "Policy"], put_policy),
    operation("DeleteBucketPolicy", &READ, delete_policy),
];

/// Answers a part, or that there is none.
fn part(found: Option<Value>, code: &'static str) -> Answer {
    found.ok_or_else(|| Refusal::new(code, "There is no such part of the bucket."))
}

fn done() -> Answer {
    Ok(json!({}))
}

fn get_tags(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let bucket = bucket(site, args)?;
    let tags = (!bucket.tags.is_empty()).then(|| json!({"TagSet": bucket.tag_set()}));
    part(tags, "NoSuchTagSet")
}

fn put_tags(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let set = args.object("Tagging")?.ok_or_else(|| Refusal::new("MalformedXML", "no Tagging"))?;
    let mut tags = std::collections::BTreeMap::new();
    for tag in set.objects("TagSet")? {
        let value = tag.text("Value")?.unwrap_or_default();
        tags.insert(tag.required("Key")?.to_owned(), value.to_owned());
    }
    let bucket = bucket(site, args)?;
    rules::tags(&tags, &bucket.tags)?;
    bucket.tags = tags;
    done()
}

fn get_versioning(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let status = bucket(site, args)?.versioning.as_deref();
    Ok(status.map_or_else(|| json!({}), |status| json!({ "Status": status })))
}

fn put_versioning(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let configuration = args.object("VersioningConfiguration")?;
    let status = configuration.map(|it| it.text("Status")).transpose()?.flatten();
    match status {
        Some(status @ ("Enabled" | "Suspended")) => {
            bucket(site, args)?.versioning = Some(status.to_owned());
            done()
        }
        _ => Err(Refusal::new("MalformedXML", "Status is Enabled or Suspended")),
    }
}

fn get_encryption(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    Ok(json!({"ServerSideEncryptionConfiguration": bucket(site, args)?.encryption}))
}

fn put_encryption(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let rule = args.get("ServerSideEncryptionConfiguration").and_then(|it| it.pointer("/Rules/0"));
    let rule = rule.and_then(Value::as_object);
    let rule = rule.ok_or_else(|| Refusal::new("MalformedXML", "no rule"))?;
    bucket(site, args)?.encryption = rules::encryption(rule)?;
    done()
}

fn get_access(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let access = bucket(site, args)?.access.clone();
    part(
        access.map(|it| json!({ "PublicAccessBlockConfiguration": it })),
        "NoSuchPublicAccessBlockConfiguration",
    )
}

fn put_access(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    bucket(site, args)?.access = args.get("PublicAccessBlockConfiguration").cloned();
    done()
}

fn delete_access(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    bucket(site, args)?.access = None;
    done()
}

fn get_ownership(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let controls = bucket(site, args)?.ownership.clone();
    part(controls.map(|it| json!({ "OwnershipControls": it })), "OwnershipControlsNotFoundError")
}

fn put_ownership(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    bucket(site, args)?.ownership = args.get("OwnershipControls").cloned();
    done()
}

fn delete_ownership(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    bucket(site, args)?.ownership = None;
    done()
}

fn get_lifecycle(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    part(bucket(site, args)?.rules(), "NoSuchLifecycleConfiguration")
}

fn put_lifecycle(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let rules = args.get("LifecycleConfiguration").and_then(|it| it.get("Rules")?.as_array());
    let rules = rules.ok_or_else(|| Refusal::new("MalformedXML", "no rules"))?;
    let rules = rules::lifecycle(rules)?;
    let size = args.text("TransitionDefaultMinimumObjectSize")?;
    let size = size.unwrap_or("all_storage_classes_128K").to_owned();
    bucket(site, args)?.lifecycle = Some(Lifecycle { rules, size });
    done()
}

fn delete_lifecycle(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    bucket(site, args)?.lifecycle = None;
    done()
}

fn get_policy(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let policy = bucket(site, args)?.policy.clone();
    part(policy.map(|it| json!({"Policy": it.to_string()})), "NoSuchBucketPolicy")
}

fn put_policy(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let (text, name) = (args.required("Policy")?, args.required("Bucket")?);
    let bucket = bucket(site, args)?;
    let access = bucket.access.as_ref().map(|it| it["BlockPublicPolicy"] == true);
    bucket.policy = Some(rules::policy(text, name, access.unwrap_or_default())?);
    done()
}

fn delete_policy(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    bucket(site, args)?.policy = None;
    done()
}
