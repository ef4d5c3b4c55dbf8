//! The launch template that an entry of the `compute` section asks for.
//!
//! In: the settings of the instances, as the section declares them. Out: a [`Resource`].
//!
//! Invariants: a setting that is not declared is not managed; what a new template gets beside what is
//! declared (`initial`) is never compared.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::rules::ROOT_DEVICE;
use crate::model::desired::Field;
use crate::model::{Input, Resource, ResourceId, Scope};

/// Holds what is declared of the instances.
#[derive(Debug, Clone, Default)]
pub struct Template<'a> {
    /// The id of an image, or the parameter that holds it.
    pub image: &'a str,
    /// The type of the instances.
    pub instance_type: &'a str,
    /// The security groups.
    pub security_groups: Option<Input>,
    /// The name or ARN of the instance profile.
    pub instance_profile: Option<&'a str>,
    /// The name of the key pair.
    pub key_pair: Option<&'a str>,
    /// What instances run when they first start.
    pub user_data: Option<&'a str>,
    /// The root volume.
    pub root_volume: Option<Volume<'a>>,
    /// Whether a session token is needed for the metadata.
    pub http_tokens: Option<&'a str>,
    /// How many hops an answer with metadata may take.
    pub hop_limit: Option<u32>,
    /// Whether metadata are answered at all.
    pub http_endpoint: Option<&'a str>,
    /// Whether there are figures every minute.
    pub detailed_monitoring: Option<bool>,
    /// The tags of the template.
    pub tags: Option<&'a BTreeMap<String, String>>,
}

/// Holds what is declared of the root volume.
#[derive(Debug, Clone, Copy, Default)]
pub struct Volume<'a> {
    /// The name of the device.
    pub device: Option<&'a str>,
    /// The size in GiB.
    pub size_gib: Option<u32>,
    /// The type.
    pub volume_type: Option<&'a str>,
    /// The I/O operations per second.
    pub iops: Option<u32>,
    /// The throughput in MiB per second.
    pub throughput: Option<u32>,
    /// Whether it is encrypted.
    pub encrypted: Option<bool>,
    /// The key.
    pub kms_key: Option<&'a str>,
}

/// Says where a template lives and whose it is.
#[derive(Debug, Clone, Copy)]
pub struct Placement<'a> {
    /// The account and region.
    pub scope: &'a Scope,
    /// The name, which is that of its group where the section names no other.
    pub name: &'a str,
    /// The section, for reports.
    pub section: &'a str,
    /// The value of the ownership tag.
    pub owner: &'a str,
    /// Whether an existing template without our tag is taken over.
    pub adopt: bool,
}

/// Returns the id of a template.
pub fn resource_id(scope: &Scope, name: &str) -> ResourceId {
    ResourceId { kind: super::NAME, scope: scope.clone(), name: name.into() }
}

/// Makes the resource.
pub fn resource(template: &Template<'_>, placement: &Placement<'_>) -> Resource {
    let known = |(field, value): (&'static str, Value)| (Field::from(field), Input::Known(value));
    let mut fields: BTreeMap<Field, Input> = declared(template).into_iter().map(known).collect();
    if let Some(groups) = template.security_groups.clone() {
        fields.insert("securityGroups".into(), groups);
    }
    let initial = initial(template).into_iter().map(|(field, value)| (Field::from(field), value));
    Resource {
        id: resource_id(placement.scope, placement.name),
        section: Cow::Owned(placement.section.to_owned()),
        initial: initial.filter(|(field, _)| !fields.contains_key(field)).collect(),
        fields,
        owner: placement.owner.to_owned(),
        adopt: placement.adopt,
        notices: Vec::new(),
        refusals: Vec::new(),
    }
}

fn declared(template: &Template<'_>) -> Vec<(&'static str, Value)> {
    let volume = template.root_volume;
    let of_volume = |value: fn(Volume<'_>) -> Option<Value>| volume.and_then(value);
    let fields = [
        ("defaultVersion", Some(json!(true))),
        ("image", Some(json!(template.image))),
        ("instanceType", Some(json!(template.instance_type))),
        ("instanceProfile", template.instance_profile.map(|it| json!(it))),
        ("keyPair", template.key_pair.map(|it| json!(it))),
        ("userData", template.user_data.map(|it| json!(it))),
        ("rootVolume.device", of_volume(|it| Some(json!(it.device.unwrap_or(ROOT_DEVICE))))),
        ("rootVolume.sizeGiB", of_volume(|it| it.size_gib.map(|it| json!(it)))),
        ("rootVolume.type", of_volume(|it| it.volume_type.map(|it| json!(it)))),
        ("rootVolume.iops", of_volume(|it| it.iops.map(|it| json!(it)))),
        ("rootVolume.throughputMiBps", of_volume(|it| it.throughput.map(|it| json!(it)))),
        ("rootVolume.encrypted", of_volume(|it| it.encrypted.map(|it| json!(it)))),
        ("rootVolume.kmsKey", of_volume(|it| it.kms_key.map(|it| json!(it)))),
        ("metadataOptions.httpTokens", template.http_tokens.map(|it| json!(it))),
        ("metadataOptions.httpPutResponseHopLimit", template.hop_limit.map(|it| json!(it))),
        ("metadataOptions.httpEndpoint", template.http_endpoint.map(|it| json!(it))),
        ("detailedMonitoring", template.detailed_monitoring.map(|it| json!(it))),
        ("tags", template.tags.map(|it| json!(it))),
    ];
    fields.into_iter().filter_map(|(field, value)| Some((field, value?))).collect()
}

/// The safe defaults of a new template.
fn initial(template: &Template<'_>) -> Vec<(&'static str, Value)> {
    let mut initial = vec![("metadataOptions.httpTokens", json!("required"))];
    if template.root_volume.is_some() {
        initial.push(("rootVolume.encrypted", json!(true)));
        initial.push(("rootVolume.type", json!("gp3")));
    }
    initial
}
