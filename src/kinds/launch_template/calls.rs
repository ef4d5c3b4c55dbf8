//! The calls that make, change, take over, leave and delete a launch template, as data.
//!
//! Source: the API reference of EC2. A version is made from the one that the template is compared by
//! (`SourceVersion`), and names only what changes: AWS copies the rest, so that what somebody set and
//! Git does not declare stays. A structure is taken over as a whole, so that it is sent as it is, save
//! for what changes; and snapshots are not copied unless the list that names them is sent.
//!
//! A setting that is declared as empty is taken away, which AWS has no word for: the version is then made
//! of everything that the one before says, without it.
//!
//! The version is made first and put into force in another pass: only then is its number known.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::facts::{TAKEN_AWAY, description, encoded, is_nothing};
use super::rules::ROOT_DEVICE;
use crate::model::desired::{ownership, tag_list};
use crate::model::{Bound, Call, Delta, Observed};

/// The volume types that take `Iops`, and those that take `Throughput`.
const WITH_IOPS: [&str; 3] = ["gp3", "io1", "io2"];
const WITH_THROUGHPUT: [&str; 1] = ["gp3"];

/// AWS answers whether metadata options are in force already, and takes no such member.
const ANSWERED_ONLY: &str = "State";

fn call(operation: &'static str) -> Call {
    Call::new("ec2", operation)
}

/// Returns the call that makes the template with its first version.
pub(super) fn create(desired: &Bound) -> Vec<Call> {
    let tags = tag_list(&desired.tags_at_creation());
    let fields = desired.initial.iter().chain(&desired.fields);
    let fields: Map<String, Value> =
        fields.map(|(field, value)| (field.to_string(), value.clone())).collect();
    let create = call("CreateLaunchTemplate")
        .with("LaunchTemplateName", desired.id.name.as_ref())
        .with("LaunchTemplateData", Data::new(desired, &Value::Null).of(&fields))
        .with("TagSpecifications", json!([{"ResourceType": "launch-template", "Tags": tags}]));
    vec![create]
}

/// Returns the calls that mend exactly these differences.
pub(super) fn update(desired: &Bound, actual: &Observed, deltas: &[Delta]) -> Vec<Call> {
    let of = |field: &str| deltas.iter().find(|delta| delta.field == field);
    let fields: Map<String, Value> =
        deltas.iter().map(|delta| (delta.field.clone(), delta.to.clone())).collect();
    let there = actual.member("LaunchTemplateData").unwrap_or(&Value::Null);
    let data = Data::new(desired, there).of(&fields);
    let emptied: Vec<&str> = TAKEN_AWAY
        .iter()
        .filter(|(field, _)| of(field).is_some_and(|delta| is_nothing(&delta.to)))
        .map(|(_, member)| *member)
        .collect();
    let mut calls = Vec::new();
    if !emptied.is_empty() {
        calls.push(whole(actual, without(there, &emptied, data)));
    } else if !data.is_empty() {
        calls.push(version(actual, with_snapshots(data, there)));
    } else {
        calls.extend(of("defaultVersion").map(|_| put_into_force(actual)));
    }
    if let Some(tags) = of("tags").and_then(|delta| delta.to.as_object()) {
        calls.push(tag(actual, tags));
    }
    calls
}

/// Makes a version from the one that the template is compared by.
fn version(actual: &Observed, data: Map<String, Value>) -> Call {
    let source = actual.member("VersionNumber").unwrap_or(&Value::Null);
    whole(actual, data).with("SourceVersion", source.to_string())
}

/// Makes a version that says nothing but this. The token by which AWS knows a repetition follows from
/// everything that makes it, and from which versions there are: the same change, made again later, is
/// another version.
fn whole(actual: &Observed, data: Map<String, Value>) -> Call {
    let member = |name: &str| actual.member(name).unwrap_or(&Value::Null);
    let (id, source) = (id(actual), member("VersionNumber"));
    let newest = member("LatestVersionNumber");
    let data = Value::Object(data);
    let seed = format!("{id} {source} {newest} {data}");
    let token: String = hex::encode(Sha256::digest(seed)).chars().take(32).collect();
    call("CreateLaunchTemplateVersion")
        .with("LaunchTemplateId", id)
        .with("VersionDescription", description(member("DefaultVersionNumber")))
        .with("LaunchTemplateData", data)
        .with("ClientToken", token)
}

/// Returns everything that is there, without some members and with what changes.
fn without(there: &Value, emptied: &[&str], data: Map<String, Value>) -> Map<String, Value> {
    let mut all = there.as_object().cloned().unwrap_or_default();
    if let Some(options) = all.get_mut("MetadataOptions").and_then(Value::as_object_mut) {
        options.remove(ANSWERED_ONLY);
    }
    all.retain(|member, value| !emptied.contains(&member.as_str()) && !is_nothing(value));
    all.extend(data);
    all
}

fn put_into_force(actual: &Observed) -> Call {
    let number = actual.member("VersionNumber").unwrap_or(&Value::Null);
    let modify = call("ModifyLaunchTemplate").with("LaunchTemplateId", id(actual));
    modify.with("DefaultVersion", number.to_string())
}

/// Returns the calls that set the ownership tag.
pub(super) fn own(actual: &Observed, owner: &str) -> Vec<Call> {
    vec![tag(actual, &ownership(owner))]
}

/// Returns the call that deletes the template with all its versions.
pub(super) fn delete(actual: &Observed) -> Vec<Call> {
    vec![call("DeleteLaunchTemplate").with("LaunchTemplateId", id(actual))]
}

fn tag(actual: &Observed, tags: &Map<String, Value>) -> Call {
    call("CreateTags").with("Resources", vec![id(actual)]).with("Tags", tag_list(tags))
}

fn id(actual: &Observed) -> &str {
    actual.text("LaunchTemplateId").unwrap_or_default()
}

/// Makes the data of a version: what is declared, over what is there.
struct Data<'a> {
    desired: &'a Bound,
    there: &'a Value,
}

impl<'a> Data<'a> {
    fn new(desired: &'a Bound, there: &'a Value) -> Self {
        Self { desired, there }
    }

    /// Returns the members of a version's data that these fields change.
    fn of(&self, fields: &Map<String, Value>) -> Map<String, Value> {
        let mut data = Map::new();
        for (field, value) in fields.iter().filter(|(_, value)| !is_nothing(value)) {
            let plain = match field.as_str() {
                "image" => ("ImageId", value.clone()),
                "instanceType" => ("InstanceType", value.clone()),
                "keyPair" => ("KeyName", value.clone()),
                "securityGroups" => ("SecurityGroupIds", value.clone()),
                "userData" => ("UserData", encoded(value.as_str().unwrap_or_default()).into()),
                "instanceProfile" => ("IamInstanceProfile", profile(value)),
                "detailedMonitoring" => {
                    ("Monitoring", self.merged("Monitoring", &[("Enabled", value)]))
                }
                _ => continue,
            };
            data.insert(plain.0.to_owned(), plain.1);
        }
        self.metadata(fields, &mut data);
        if fields.keys().any(|field| field.starts_with("rootVolume.")) {
            data.insert("BlockDeviceMappings".to_owned(), self.devices(fields));
        }
        data
    }

    /// Returns a structure as it is, save for these members.
    fn merged(&self, member: &str, changes: &[(&str, &Value)]) -> Value {
        let there = self.there.get(member).and_then(Value::as_object);
        let mut merged = there.cloned().unwrap_or_default();
        merged.remove(ANSWERED_ONLY);
        merged.extend(changes.iter().map(|(name, value)| ((*name).to_owned(), (*value).clone())));
        merged.into()
    }

    fn metadata(&self, fields: &Map<String, Value>, data: &mut Map<String, Value>) {
        let known = [
            ("metadataOptions.httpTokens", "HttpTokens"),
            ("metadataOptions.httpPutResponseHopLimit", "HttpPutResponseHopLimit"),
            ("metadataOptions.httpEndpoint", "HttpEndpoint"),
        ];
        let changes: Vec<(&str, &Value)> =
            known.into_iter().filter_map(|(field, name)| Some((name, fields.get(field)?))).collect();
        if !changes.is_empty() {
            data.insert("MetadataOptions".to_owned(), self.merged("MetadataOptions", &changes));
        }
    }

    /// Returns the list of devices with the root volume changed; where the list does not name it, it is
    /// added with everything that is declared of it.
    fn devices(&self, fields: &Map<String, Value>) -> Value {
        let device = self.desired.declared("rootVolume.device").and_then(Value::as_str);
        let device = device.unwrap_or(ROOT_DEVICE);
        let listed = self.there.get("BlockDeviceMappings").and_then(Value::as_array);
        let mut devices = listed.cloned().unwrap_or_default();
        let is_root = |item: &Value| item.get("DeviceName").and_then(Value::as_str) == Some(device);
        match devices.iter_mut().find(|item| is_root(item)) {
            Some(root) => set(root, fields),
            None => {
                let mut root = json!({"DeviceName": device});
                let declared = self.desired.fields.iter();
                let declared = declared.map(|(field, value)| (field.to_string(), value.clone()));
                let all: Map<String, Value> = fields.clone().into_iter().chain(declared).collect();
                set(&mut root, &all);
                devices.push(root);
            }
        }
        devices.into()
    }
}

/// Sets what fields say of the root volume; a type that takes no such figure loses it.
fn set(root: &mut Value, fields: &Map<String, Value>) {
    let mut ebs = root.get("Ebs").and_then(Value::as_object).cloned().unwrap_or_default();
    let known = [
        ("rootVolume.sizeGiB", "VolumeSize"),
        ("rootVolume.type", "VolumeType"),
        ("rootVolume.iops", "Iops"),
        ("rootVolume.throughputMiBps", "Throughput"),
        ("rootVolume.encrypted", "Encrypted"),
        ("rootVolume.kmsKey", "KmsKeyId"),
    ];
    for (field, member) in known {
        ebs.extend(fields.get(field).map(|value| (member.to_owned(), value.clone())));
    }
    let name = ebs.get("VolumeType").and_then(Value::as_str).map(str::to_owned);
    for (member, types) in [("Iops", &WITH_IOPS[..]), ("Throughput", &WITH_THROUGHPUT[..])] {
        if name.as_deref().is_some_and(|name| !types.contains(&name)) {
            ebs.remove(member);
        }
    }
    // A volume that is not encrypted has no key.
    if ebs.get("Encrypted") == Some(&Value::Bool(false)) {
        ebs.remove("KmsKeyId");
    }
    root["Ebs"] = ebs.into();
}

/// Sends the list of devices along where it names a snapshot, which AWS would not copy.
fn with_snapshots(mut data: Map<String, Value>, there: &Value) -> Map<String, Value> {
    let devices = there.get("BlockDeviceMappings").and_then(Value::as_array);
    let names_one = |item: &Value| item.get("Ebs").is_some_and(|ebs| ebs.get("SnapshotId").is_some());
    if let Some(devices) = devices.filter(|devices| devices.iter().any(names_one)) {
        data.entry("BlockDeviceMappings").or_insert_with(|| devices.clone().into());
    }
    data
}

fn profile(value: &Value) -> Value {
    let is_arn = value.as_str().is_some_and(|text| text.starts_with("arn:"));
    if is_arn { json!({ "Arn": value }) } else { json!({ "Name": value }) }
}
