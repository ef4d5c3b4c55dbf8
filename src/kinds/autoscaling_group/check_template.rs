//! What an entry of the `compute` section alone proves wrong about the instances themselves.
//!
//! An instance has a security group in any case, and a volume that is encrypted a key: neither can be
//! declared as empty.

use super::check::{Findings, each_id};
use super::spec::{Group, MetadataOptions, RootVolume};
use crate::kinds::policy_document::Place;
use crate::model::reference::has_marker;

/// The most bytes of user data before they are encoded.
const LONGEST_USER_DATA: usize = 16_384;

/// The types of volumes that an instance can start from, and whether each takes `iops`.
const VOLUMES: [(&str, bool); 5] =
    [("gp2", false), ("gp3", true), ("io1", true), ("io2", true), ("standard", false)];

/// Finds what is wrong.
pub(super) fn check(group: &Group, place: &Place, found: &mut Findings) {
    image(&group.image, &place.under("image"), found);
    instance_type(&group.instance_type, &place.under("instanceType"), found);
    let groups = group.security_groups.as_deref();
    if groups.is_some_and(<[String]>::is_empty) {
        found.push(emptied(&place.under("securityGroups")));
    }
    each_id(groups, "sg-", &place.under("securityGroups"), "security group", found);
    let length = group.user_data.as_deref().map_or(0, str::len);
    if length > LONGEST_USER_DATA {
        let message = format!("userData has {length} bytes");
        let hint = format!("at most {LONGEST_USER_DATA}; let it fetch the rest");
        found.push(place.under("userData").error("UserDataTooLong", message).hint(hint));
    }
    if let Some(volume) = &group.root_volume {
        root_volume(volume, &place.under("rootVolume"), found);
    }
    if let Some(options) = &group.metadata_options {
        metadata(options, &place.under("metadataOptions"), found);
    }
}

fn emptied(place: &Place) -> crate::model::Finding {
    let message = "there is always one";
    place.error("CannotBeEmptied", message).hint("leave it out, or declare another value")
}

fn image(image: &str, place: &Place, found: &mut Findings) {
    let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    let is_id = image
        .strip_prefix("ami-")
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(is_digit));
    let is_parameter = image.strip_prefix("resolve:ssm:").is_some_and(|name| {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "/_.-:".contains(c);
        !name.is_empty() && name.chars().all(allowed)
    });
    if !is_id && !is_parameter && !has_marker(image) {
        let message = format!("\"{image}\" is neither an id of an image nor a parameter that holds one");
        let hint = "ami-0123456789abcdef0, or resolve:ssm:/aws/service/...";
        found.push(place.error("InvalidImage", message).hint(hint));
    }
}

fn instance_type(name: &str, place: &Place, found: &mut Findings) {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_type = name.split_once('.').is_some_and(|(family, size)| {
        [family, size].iter().all(|part| !part.is_empty() && part.chars().all(allowed))
    });
    if !is_type {
        let message = format!("\"{name}\" is no type of instances");
        found.push(place.error("InvalidInstanceType", message).hint("as in t4g.small"));
    }
}

fn root_volume(volume: &RootVolume, place: &Place, found: &mut Findings) {
    if volume.device.as_deref().is_some_and(|device| !device.starts_with("/dev/")) {
        let hint = "/dev/xvda or /dev/sda1, as the image says";
        found.push(place.under("device").error("InvalidDevice", "this is no device").hint(hint));
    }
    let name = volume.volume_type.as_deref();
    let known = VOLUMES.iter().find(|(known, _)| Some(*known) == name);
    if let (Some(name), None) = (name, known) {
        let message = format!("an instance does not start from a volume of the type \"{name}\"");
        let hint = "gp3, gp2, io1, io2 or standard";
        found.push(place.under("type").error("InvalidVolumeType", message).hint(hint));
    }
    if volume.iops.is_some() && !known.is_some_and(|(_, takes)| *takes) {
        let hint = "declare type: gp3, io1 or io2 beside it";
        let message = "only some types of volumes take iops";
        found.push(place.under("iops").error("IopsNotTaken", message).hint(hint));
    }
    if matches!(name, Some("io1" | "io2")) && volume.iops.is_none() {
        let message = format!("{} needs iops", name.unwrap_or_default());
        found.push(place.under("type").error("IopsMissing", message));
    }
    if volume.throughput.is_some() && name != Some("gp3") {
        let hint = "declare type: gp3 beside it";
        let message = "only gp3 takes a throughput";
        found.push(place.under("throughputMiBps").error("ThroughputNotTaken", message).hint(hint));
    }
    if volume.kms_key.is_some() && volume.encrypted == Some(false) {
        let message = "a key without encryption";
        found.push(place.under("kmsKey").error("KeyWithoutEncryption", message));
    }
    if volume.kms_key.as_deref() == Some("") {
        found.push(emptied(&place.under("kmsKey")));
    }
}

fn metadata(options: &MetadataOptions, place: &Place, found: &mut Findings) {
    let words = [
        ("httpTokens", &options.http_tokens, ["required", "optional"]),
        ("httpEndpoint", &options.http_endpoint, ["enabled", "disabled"]),
    ];
    for (field, word, known) in words {
        if let Some(word) = word.as_deref().filter(|word| !known.contains(word)) {
            let message = format!("\"{word}\" is no value of {field}");
            let hint = known.join(" or ");
            found.push(place.under(field).error("UnknownWord", message).hint(hint));
        }
    }
}
