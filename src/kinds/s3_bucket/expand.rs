//! From the `buckets` section to the resources that it asks for.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::names::{bucket_name, objection};
use super::spec::{Bucket, Encryption, PublicAccessBlock};
use crate::model::desired::Field;
use crate::model::{Input, Refusal, Resource, ResourceId, Scope};

/// Says where the buckets live and whose they are.
#[derive(Debug, Clone)]
pub struct Placement<'a> {
    /// The account and region.
    pub scope: &'a Scope,
    /// The name of the workspace, with which the names begin that are not declared.
    pub workspace: &'a str,
    /// The value of the ownership tag.
    pub owner: &'a str,
    /// Whether existing buckets without our tag are taken over.
    pub adopt: bool,
}

/// Returns the id of a bucket.
pub fn resource_id(scope: &Scope, workspace: &str, key: &str, bucket: &Bucket) -> ResourceId {
    let name = bucket_name(scope, workspace, key, bucket).into();
    ResourceId { kind: super::NAME, scope: scope.clone(), name }
}

/// Makes the resources, in the order of their names.
pub fn resources(buckets: &BTreeMap<String, Bucket>, placement: &Placement<'_>) -> Vec<Resource> {
    buckets.iter().map(|(key, bucket)| resource(key, bucket, placement)).collect()
}

fn resource(key: &str, bucket: &Bucket, placement: &Placement<'_>) -> Resource {
    let id = resource_id(placement.scope, placement.workspace, key, bucket);
    let objection = objection(&id).filter(|_| bucket.name.is_none());
    let refusal = objection.map(|(code, message)| Refusal {
        field: "name".to_owned(),
        code: code.to_owned(),
        message,
        help: "declare name: with one that nobody has yet".to_owned(),
    });
    let fields = fields(bucket);
    Resource {
        id,
        section: Cow::Owned(format!("buckets.{key}")),
        fields: fields.map(|(field, value)| (field, Input::Known(value))).collect(),
        initial: BTreeMap::new(),
        owner: placement.owner.to_owned(),
        adopt: bucket.adopt || placement.adopt,
        notices: Vec::new(),
        refusals: refusal.into_iter().collect(),
    }
}

fn fields(bucket: &Bucket) -> impl Iterator<Item = (Field, Value)> {
    let size = bucket.transition_default_minimum_object_size;
    let plain = [
        ("versioning", bucket.versioning.map(|it| json!(it))),
        ("ownership", bucket.ownership.map(|it| json!(it))),
        ("lifecycle", bucket.lifecycle.as_ref().map(super::lifecycle::rules)),
        ("transitionDefaultMinimumObjectSize", size.map(|it| json!(it))),
        ("policy", bucket.policy.as_ref().map(|it| json!(it))),
        ("tags", bucket.tags.as_ref().map(|it| json!(it))),
    ];
    let encryption = bucket.encryption.clone().into_iter().flat_map(encryption);
    let access = bucket.public_access_block.clone().into_iter().flat_map(access);
    let all = plain.into_iter().chain(encryption).chain(access);
    all.filter_map(|(field, value)| Some((field.into(), value?)))
}

fn encryption(encryption: Encryption) -> [(&'static str, Option<Value>); 3] {
    [
        ("encryption.algorithm", Some(json!(encryption.algorithm))),
        ("encryption.kmsKey", encryption.kms_key.map(Value::from)),
        ("encryption.bucketKey", encryption.bucket_key.map(Value::from)),
    ]
}

fn access(block: PublicAccessBlock) -> [(&'static str, Option<Value>); 4] {
    [
        ("publicAccessBlock.blockPublicAcls", Some(block.block_public_acls.into())),
        ("publicAccessBlock.ignorePublicAcls", Some(block.ignore_public_acls.into())),
        ("publicAccessBlock.blockPublicPolicy", Some(block.block_public_policy.into())),
        ("publicAccessBlock.restrictPublicBuckets", Some(block.restrict_public_buckets.into())),
    ]
}
