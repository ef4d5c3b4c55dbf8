//! How a launch template that exists is declared: as what an entry of `compute` says of its instances.
//!
//! The entry is the Auto Scaling group's, and declares one template of its own: a template that no group
//! starts instances from, or several do, cannot be declared.

use serde_json::{Value, json};

use super::facts::encoded;
use super::rules::{ROOT_DEVICE, RULES};
use crate::model::Observed;
use crate::model::import::{Around, Draft, Import, Section, Writer};

/// The names of root devices, as images have them.
const ROOT_DEVICES: [&str; 2] = [ROOT_DEVICE, "/dev/sda1"];

/// The members of a version that an entry has fields for.
const KNOWN: [&str; 10] = [
    "BlockDeviceMappings",
    "IamInstanceProfile",
    "ImageId",
    "InstanceType",
    "KeyName",
    "MetadataOptions",
    "Monitoring",
    "SecurityGroupIds",
    "SecurityGroups",
    "UserData",
];

/// The settings of a root volume, and where a device has them.
const VOLUME: [(&str, &str); 6] = [
    ("rootVolume.sizeGiB", "VolumeSize"),
    ("rootVolume.type", "VolumeType"),
    ("rootVolume.iops", "Iops"),
    ("rootVolume.throughputMiBps", "Throughput"),
    ("rootVolume.encrypted", "Encrypted"),
    ("rootVolume.kmsKey", "KmsKeyId"),
];

impl Import for super::LaunchTemplate {
    fn known_as(&self, actual: &Observed) -> Vec<(String, Option<&'static str>)> {
        actual.text("LaunchTemplateId").map(|id| (id.to_owned(), None)).into_iter().collect()
    }

    fn draft(&self, name: &str, actual: &Observed, around: &dyn Around) -> Option<Draft> {
        let section = match (around.users(&super::NAME, name, actual).as_slice(), lack(actual)) {
            ([], _) => Section::Nowhere("no Auto Scaling group starts instances from it".to_owned()),
            ([_], Some(lack)) => Section::Nowhere(lack.to_owned()),
            ([only], None) => Section::With((*only).clone()),
            (many, _) => {
                let names: Vec<String> = many.iter().map(ToString::to_string).collect();
                let names = names.join(" and ");
                Section::Nowhere(format!("{names} share it, and an entry has one of its own"))
            }
        };
        let mut writer = Writer::new(RULES, actual, section);
        writer.draft.name = Some(("launchTemplate", name.to_owned()));
        writer.declare(&["image", "instanceType", "securityGroups", "instanceProfile", "keyPair"]);
        user_data(&mut writer, actual);
        root_volume(&mut writer, actual);
        writer.declare(&["metadataOptions.httpTokens"]);
        writer.unless("metadataOptions.httpPutResponseHopLimit", 1);
        writer.unless("metadataOptions.httpEndpoint", "enabled");
        writer.unless("detailedMonitoring", false);
        security_groups(&mut writer, around);
        told(&mut writer, actual);
        Some(writer.draft)
    }
}

/// Says what it lacks that an entry needs.
fn lack(actual: &Observed) -> Option<&'static str> {
    let data = |member: &str| actual.member(&format!("LaunchTemplateData.{member}"));
    if data("ImageId").is_none() {
        return Some("it names no image, which an entry needs");
    }
    match (data("InstanceType"), data("InstanceRequirements")) {
        (Some(_), _) => None,
        (None, Some(_)) => Some("it says what instances need and not of which type they are"),
        (None, None) => Some("it names no type of instances, which an entry needs"),
    }
}

/// Declares what instances run when they start; what is no text stays.
fn user_data(writer: &mut Writer<'_>, actual: &Observed) {
    let Some(text) = actual.text("UserDataText").filter(|text| !text.is_empty()) else { return };
    let there = actual.text("LaunchTemplateData.UserData").unwrap_or_default();
    let there: String = there.split_whitespace().collect();
    if encoded(text) != there {
        return writer.remark("its user data are no text, are not declared, and stay");
    }
    let is_host = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
    let names = text.split(|c| !is_host(c)).filter(|name| name.contains('.'));
    writer.draft.uses.extend(names.map(str::to_owned));
    writer.draft.sheet.put("userData", text);
    writer.draft.refers.push("userData");
    writer.remark("look for secrets in userData before this is committed: it stands in Git then");
}

/// Declares the volume that holds the root, as far as the name of its device tells which one it is.
fn root_volume(writer: &mut Writer<'_>, actual: &Observed) {
    let devices = actual.member("LaunchTemplateData.BlockDeviceMappings").and_then(Value::as_array);
    let name = |item: &Value| item.get("DeviceName").and_then(Value::as_str).map(str::to_owned);
    let is = |item: &&Value, device: &str| name(item).as_deref() == Some(device);
    let all: Vec<&Value> = devices.into_iter().flatten().collect();
    let root = ROOT_DEVICES.iter().find_map(|device| all.iter().find(|item| is(item, device)));
    let others: Vec<String> =
        all.iter().filter(|item| root != Some(*item)).filter_map(|item| name(item)).collect();
    if !others.is_empty() {
        writer.remark(format!("further volumes are not declared, and stay: {}", others.join(", ")));
    }
    let Some((root, ebs)) = root.and_then(|root| Some((root, root.get("Ebs")?))) else { return };
    let is_encrypted = ebs.get("Encrypted") == Some(&Value::Bool(true));
    let said: Vec<(&str, &Value)> = VOLUME
        .iter()
        .filter(|(field, _)| is_encrypted || *field != "rootVolume.kmsKey")
        .filter_map(|(field, member)| Some((*field, ebs.get(*member)?)))
        .filter(|(_, value)| !value.is_null())
        .collect();
    if said.is_empty() {
        return;
    }
    if let Some(device) = name(root).filter(|device| device != ROOT_DEVICE) {
        writer.draft.sheet.put("rootVolume.device", device);
    }
    for (field, value) in said {
        writer.draft.sheet.put(field, value.clone());
    }
}

/// Says which groups it uses.
fn security_groups(writer: &mut Writer<'_>, around: &dyn Around) {
    let ids = writer.value("securityGroups").unwrap_or_else(|| json!([]));
    let ids: Vec<String> = serde_json::from_value(ids).unwrap_or_default();
    let vpc = ids.iter().find_map(|id| around.find(id)?.1.text("VpcId"));
    writer.draft.vpc = vpc.map(str::to_owned);
    writer.draft.uses.extend(ids);
}

/// Says what an entry has no field for.
fn told(writer: &mut Writer<'_>, actual: &Observed) {
    let data = actual.member("LaunchTemplateData").and_then(Value::as_object);
    let is_said = |value: &Value| !value.is_null() && value.as_array().is_none_or(|it| !it.is_empty());
    let unknown = data.into_iter().flatten().filter(|(member, value)| {
        !KNOWN.contains(&member.as_str()) && is_said(value)
    });
    let unknown: Vec<&str> = unknown.map(|(member, _)| member.as_str()).collect();
    if !unknown.is_empty() {
        let unknown = unknown.join(", ");
        writer.remark(format!("of the launch template is not declared, and stays: {unknown}"));
    }
}
