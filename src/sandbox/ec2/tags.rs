//! Tags of security groups, launch templates, VPCs and subnets.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::State;
use super::group::no_group;
use crate::sandbox::args::{Args, missing};
use crate::sandbox::refusal::{Answer, Refusal};
use crate::sandbox::services::{Operation, Site};

/// The operations.
pub(super) const OPERATIONS: &[Operation] = &[
    Operation { service: "ec2", name: "CreateTags", accepts: &["Resources", "Tags"], run: create },
    Operation { service: "ec2", name: "DeleteTags", accepts: &["Resources", "Tags"], run: delete },
];

/// Returns the tags that a creation specifies for what it makes.
pub(super) fn specified(args: Args<'_>, of: &str) -> Result<Value, Refusal> {
    let mut tags = BTreeMap::new();
    for specification in args.objects("TagSpecifications")? {
        if specification.required("ResourceType")? != of {
            return Err(Refusal::value(format!("the tags are not those of a {of}")));
        }
        tags.extend(specification.tags()?);
    }
    Ok(listed(&tags))
}

fn listed(tags: &BTreeMap<String, String>) -> Value {
    tags.iter().map(|(key, value)| json!({"Key": key, "Value": value})).collect()
}

fn create(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let tags = args.tags()?;
    change(site, args, |own| own.extend(tags.clone()))
}

/// A tag that is given with a value goes only if it has that value.
fn delete(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let mut named = Vec::new();
    for tag in args.objects("Tags")? {
        named.push((tag.required("Key")?.to_owned(), tag.text("Value")?.map(str::to_owned)));
    }
    change(site, args, |own| {
        let goes = |key: &String, value: &String| {
            named.iter().any(|(name, of)| name == key && of.as_ref().is_none_or(|of| of == value))
        };
        own.retain(|key, value| !goes(key, value));
    })
}

/// Changes the tags of every resource, or of none if one is not there.
fn change(
    site: &mut Site<'_>,
    args: Args<'_>,
    change: impl Fn(&mut BTreeMap<String, String>),
) -> Answer {
    let (ids, ec2) = (args.texts("Resources")?.unwrap_or_default(), &mut site.state.ec2);
    if ids.is_empty() {
        return Err(missing("Resources"));
    }
    if let Some(id) = ids.iter().find(|id| !is_there(ec2, id)) {
        return Err(unknown(id));
    }
    for id in &ids {
        if let Some(group) = ec2.groups.get_mut(id) {
            change(&mut group.tags);
        }
        if let Some(template) = ec2.templates.get_mut(id) {
            change(&mut template.tags);
        }
        for item in [ec2.vpcs.get_mut(id), ec2.subnets.get_mut(id)].into_iter().flatten() {
            let mut tags = read(item);
            change(&mut tags);
            item["Tags"] = listed(&tags);
        }
    }
    Ok(json!({"Return": true}))
}

fn read(item: &Value) -> BTreeMap<String, String> {
    let text = |tag: &Value, member: &str| tag[member].as_str().unwrap_or_default().to_owned();
    let tags = item["Tags"].as_array().into_iter().flatten();
    tags.map(|tag| (text(tag, "Key"), text(tag, "Value"))).collect()
}

fn is_there(ec2: &State, id: &str) -> bool {
    ec2.groups.contains_key(id)
        || ec2.vpcs.contains_key(id)
        || ec2.subnets.contains_key(id)
        || ec2.templates.contains_key(id)
}

fn unknown(id: &str) -> Refusal {
    let code = match id.split_once('-').map(|(kind, _)| kind) {
        Some("sg") => return no_group(id),
        Some("vpc") => "InvalidVpcID.NotFound",
        Some("subnet") => "InvalidSubnetID.NotFound",
        Some("lt") => "InvalidLaunchTemplateId.NotFound",
        _ => "InvalidID",
    };
    Refusal::new(code, format!("The ID '{id}' does not exist"))
}
