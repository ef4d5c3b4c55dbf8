//! Launch templates: versions that are never changed, and one of them in force.
//!
//! A version that is made from another has what that one has, save for what the request says: a member
//! of the data is replaced as a whole, and snapshots are not copied. A request that is repeated under
//! its token makes nothing.
//!
//! Not modelled, on purpose: looking a parameter up for its image, filters, the deletion of versions.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::id;
use crate::sandbox::args::{Args, missing};
use crate::sandbox::page;
use crate::sandbox::refusal::{Answer, Refusal};
use crate::sandbox::services::{Operation, Site};

const fn operation(
    name: &'static str,
    accepts: &'static [&'static str],
    run: fn(&mut Site<'_>, Args<'_>) -> Answer,
) -> Operation {
    Operation { service: "ec2", name, accepts, run }
}

/// The operations.
pub(super) const OPERATIONS: &[Operation] = &[
    operation("DescribeLaunchTemplates", &["MaxResults", "NextToken"], describe),
    operation(
        "DescribeLaunchTemplateVersions",
        &["LaunchTemplateId", "LaunchTemplateName", "Versions", "MaxResults", "NextToken"],
        describe_versions,
    ),
    operation(
        "CreateLaunchTemplate",
        &["LaunchTemplateName", "LaunchTemplateData", "TagSpecifications", "ClientToken"],
        create,
    ),
    operation(
        "CreateLaunchTemplateVersion",
        &[
            "LaunchTemplateId",
            "LaunchTemplateName",
            "SourceVersion",
            "VersionDescription",
            "LaunchTemplateData",
            "ClientToken",
        ],
        create_version,
    ),
    operation(
        "ModifyLaunchTemplate",
        &["LaunchTemplateId", "LaunchTemplateName", "DefaultVersion"],
        modify,
    ),
    operation("DeleteLaunchTemplate", &["LaunchTemplateId", "LaunchTemplateName"], delete),
];

/// The members of a version's data that are modelled.
const DATA: [&str; 13] = [
    "BlockDeviceMappings",
    "EbsOptimized",
    "IamInstanceProfile",
    "ImageId",
    "InstanceRequirements",
    "InstanceType",
    "KeyName",
    "MetadataOptions",
    "Monitoring",
    "NetworkInterfaces",
    "SecurityGroupIds",
    "TagSpecifications",
    "UserData",
];

/// Is one launch template.
#[derive(Debug, Clone)]
pub(in crate::sandbox) struct Template {
    name: String,
    created: Timestamp,
    default: u64,
    versions: BTreeMap<u64, Version>,
    pub(super) tags: BTreeMap<String, String>,
    /// What was made under which token.
    tokens: BTreeMap<String, (String, u64)>,
}

#[derive(Debug, Clone)]
struct Version {
    data: Map<String, Value>,
    description: Option<String>,
    created: Timestamp,
}

impl Template {
    /// Returns what a version says.
    pub(in crate::sandbox) fn data(&self, number: u64) -> Map<String, Value> {
        self.versions.get(&number).map(|version| version.data.clone()).unwrap_or_default()
    }

    /// Returns the number that a text names.
    pub(in crate::sandbox) fn number(&self, version: &str) -> Option<u64> {
        match version {
            "$Default" => Some(self.default),
            "$Latest" => self.versions.keys().next_back().copied(),
            number => number.parse().ok().filter(|number| self.versions.contains_key(number)),
        }
    }

    pub(in crate::sandbox) fn name(&self) -> &str {
        &self.name
    }

    fn describe(&self, id: &str) -> Value {
        let tags = self.tags.iter().map(|(key, value)| json!({"Key": key, "Value": value}));
        json!({
            "LaunchTemplateId": id,
            "LaunchTemplateName": self.name,
            "CreateTime": self.created.to_string(),
            "DefaultVersionNumber": self.default,
            "LatestVersionNumber": self.versions.keys().next_back(),
            "Tags": tags.collect::<Vec<_>>(),
        })
    }

    fn describe_version(&self, id: &str, number: u64) -> Option<Value> {
        let version = self.versions.get(&number)?;
        let mut described = json!({
            "LaunchTemplateId": id,
            "LaunchTemplateName": self.name,
            "VersionNumber": number,
            "CreateTime": version.created.to_string(),
            "DefaultVersion": number == self.default,
            "LaunchTemplateData": version.data,
        });
        if let Some(description) = &version.description {
            described["VersionDescription"] = description.as_str().into();
        }
        if let Some(options) = described["LaunchTemplateData"].get_mut("MetadataOptions") {
            options["State"] = "pending".into();
        }
        Some(described)
    }
}

fn describe(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let all = site.state.ec2.templates.iter().map(|(id, template)| (id.as_str(), template));
    page::TEMPLATES.answer(args, "LaunchTemplates", all, |id, template| Some(template.describe(id)))
}

fn describe_versions(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let wanted = args.texts("Versions")?.unwrap_or_default();
    let one = args.has("LaunchTemplateId") || args.has("LaunchTemplateName");
    if !one && (wanted.is_empty() || wanted.iter().any(|version| !version.starts_with('$'))) {
        return Err(Refusal::value("specify $Latest, $Default, or both, for all launch templates"));
    }
    let only = if one { Some(found(site, args)?) } else { None };
    let templates = site.state.ec2.templates.iter();
    let templates = templates.filter(|(id, _)| only.as_ref().is_none_or(|only| only == *id));
    let mut all = BTreeMap::new();
    for (id, template) in templates {
        let numbers = template.versions.keys().copied();
        let numbers = numbers.filter(|number| {
            wanted.is_empty() || wanted.iter().any(|it| template.number(it) == Some(*number))
        });
        for number in numbers {
            all.insert(format!("{id}/{number:08}"), template.describe_version(id, number));
        }
    }
    let items = all.iter().map(|(key, item)| (key.as_str(), item));
    page::TEMPLATES.answer(args, "LaunchTemplateVersions", items, |_, item| item.clone())
}

/// Returns the id of the template that a call names.
fn found(site: &Site<'_>, args: Args<'_>) -> Result<String, Refusal> {
    let templates = &site.state.ec2.templates;
    if let Some(id) = args.text("LaunchTemplateId")? {
        let text = format!("The specified launch template, with template ID {id}, does not exist.");
        let missing = || Refusal::new("InvalidLaunchTemplateId.NotFound", text);
        return templates.contains_key(id).then(|| id.to_owned()).ok_or_else(missing);
    }
    let name = args.required("LaunchTemplateName")?;
    let found = templates.iter().find(|(_, template)| template.name == name);
    found.map(|(id, _)| id.clone()).ok_or_else(|| {
        let text =
            format!("The specified launch template, with template name {name}, does not exist.");
        Refusal::new("InvalidLaunchTemplateName.NotFoundException", text)
    })
}

fn create(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let name = named(args.required("LaunchTemplateName")?)?;
    let data = checked(given(args)?)?;
    if let Some((id, template)) = site.state.ec2.templates.iter().find(|(_, it)| it.name == name) {
        let token = args.text("ClientToken")?.and_then(|token| template.tokens.get(token));
        if token.is_some_and(|(print, _)| *print == fingerprint(args)) {
            return Ok(json!({"LaunchTemplate": template.describe(id)}));
        }
        let text = format!("Launch template name already in use: {name}");
        return Err(Refusal::new("InvalidLaunchTemplateName.AlreadyExistsException", text));
    }
    let mut tags = BTreeMap::new();
    for specification in args.objects("TagSpecifications")? {
        if specification.required("ResourceType")? != "launch-template" {
            return Err(Refusal::value("the tags are not those of a launch template"));
        }
        tags.extend(specification.tags()?);
    }
    let id = id(site.random, "lt");
    let version = Version { data, description: None, created: site.now };
    let mut template = Template {
        name,
        created: site.now,
        default: 1,
        versions: BTreeMap::from([(1, version)]),
        tags,
        tokens: BTreeMap::new(),
    };
    remember(&mut template, args, 1)?;
    let answer = json!({"LaunchTemplate": template.describe(&id)});
    site.state.ec2.templates.insert(id, template);
    Ok(answer)
}

fn named(name: &str) -> Result<String, Refusal> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "().-/_".contains(c);
    if !(3..=128).contains(&name.len()) || !name.chars().all(allowed) {
        let text = "Launch template names must be between 3 and 128 characters";
        return Err(Refusal::new("InvalidLaunchTemplateName.MalformedException", text));
    }
    Ok(name.to_owned())
}

fn given(args: Args<'_>) -> Result<Map<String, Value>, Refusal> {
    let data = args.object("LaunchTemplateData")?.ok_or_else(|| missing("LaunchTemplateData"))?;
    Ok(data.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect())
}

fn checked(data: Map<String, Value>) -> Result<Map<String, Value>, Refusal> {
    if let Some(name) = data.keys().find(|name| !DATA.contains(&name.as_str())) {
        let text = format!("{name} of a launch template is not modelled");
        return Err(Refusal::new("UnknownParameter", text));
    }
    for (one, other) in
        [("NetworkInterfaces", "SecurityGroupIds"), ("InstanceRequirements", "InstanceType")]
    {
        if data.contains_key(one) && data.contains_key(other) {
            return Err(Refusal::combination(format!("{one} and {other} do not go together")));
        }
    }
    let user_data = data.get("UserData").and_then(Value::as_str).unwrap_or_default();
    if STANDARD.decode(user_data).is_err() {
        let text = "Invalid BASE64 encoding of user data.";
        return Err(Refusal::new("InvalidUserData.Malformed", text));
    }
    if data.get("MetadataOptions").is_some_and(|options| options.get("State").is_some()) {
        return Err(Refusal::new("UnknownParameter", "MetadataOptions has no parameter State"));
    }
    Ok(data)
}

fn create_version(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let id = found(site, args)?;
    let now = site.now;
    let Some(template) = site.state.ec2.templates.get_mut(&id) else { return Err(missing("id")) };
    let token = args.text("ClientToken")?.and_then(|token| template.tokens.get(token));
    if let Some((print, number)) = token {
        if *print != fingerprint(args) {
            let text = "The token was used before with other parameters";
            return Err(Refusal::new("IdempotentParameterMismatch", text));
        }
        return Ok(json!({"LaunchTemplateVersion": template.describe_version(&id, *number)}));
    }
    let mut data = match args.text("SourceVersion")? {
        None => Map::new(),
        Some(source) => copied(template, source)?,
    };
    data.extend(given(args)?);
    let number = template.versions.keys().next_back().copied().unwrap_or_default() + 1;
    let description = args.text("VersionDescription")?.map(str::to_owned);
    template.versions.insert(number, Version { data: checked(data)?, description, created: now });
    remember(template, args, number)?;
    Ok(json!({"LaunchTemplateVersion": template.describe_version(&id, number)}))
}

/// Returns what a version gets of the one that it is made from.
fn copied(template: &Template, source: &str) -> Result<Map<String, Value>, Refusal> {
    let number = template.number(source).ok_or_else(|| no_version(source))?;
    let mut data = template.versions[&number].data.clone();
    let devices = data.get_mut("BlockDeviceMappings").and_then(Value::as_array_mut);
    for device in devices.into_iter().flatten() {
        if let Some(ebs) = device.get_mut("Ebs").and_then(Value::as_object_mut) {
            ebs.remove("SnapshotId");
        }
    }
    Ok(data)
}

fn no_version(version: &str) -> Refusal {
    let text = format!("Could not find the specified version {version} for the launch template.");
    Refusal::new("InvalidLaunchTemplateId.VersionNotFound", text)
}

/// Stands for everything that a call says.
fn fingerprint(args: Args<'_>) -> String {
    let said: Vec<String> = args.iter().map(|(name, value)| format!("{name}={value}")).collect();
    said.join("&")
}

fn remember(template: &mut Template, args: Args<'_>, number: u64) -> Result<(), Refusal> {
    if let Some(token) = args.text("ClientToken")? {
        template.tokens.insert(token.to_owned(), (fingerprint(args), number));
    }
    Ok(())
}

fn modify(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let id = found(site, args)?;
    let wanted = args.required("DefaultVersion")?;
    let Some(template) = site.state.ec2.templates.get_mut(&id) else { return Err(missing("id")) };
    let number: Option<u64> = wanted.parse().ok();
    let number = number.filter(|number| template.versions.contains_key(number));
    template.default = number.ok_or_else(|| no_version(wanted))?;
    Ok(json!({"LaunchTemplate": template.describe(&id)}))
}

fn delete(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let id = found(site, args)?;
    let gone = site.state.ec2.templates.remove(&id);
    Ok(json!({"LaunchTemplate": gone.map(|template| template.describe(&id))}))
}
