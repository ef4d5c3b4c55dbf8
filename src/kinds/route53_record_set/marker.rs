//! Whose a record set is: a TXT record beside it, since Route 53 gives record sets no tags.
//!
//! The record of `www.example.com A` is `_levelset-a.www.example.com TXT`, below the name itself: so
//! it hides nothing that a wildcard answers, and stands beside a CNAME, which bears no other record of
//! its name. Several sets of one name and type have one each, with a digest of the set identifier.
//! Its text is `heritage=levelset,owner=AGENT/KIND/NAME`, and everybody who can ask a public zone can
//! read it.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::names::Named;
use crate::model::desired::retained_by;
use crate::model::dns;

/// What the names of such records begin with.
pub(super) const PREFIX: &str = "_levelset-";

const HERITAGE: &str = "heritage=levelset,owner=";

/// The time to live of such a record, in seconds; nobody asks for it but people.
const TTL: u32 = 300;

/// Returns the name of the record that says whose a record set is.
pub(super) fn name(of: &Named<'_>) -> String {
    let record_type = of.record_type.to_ascii_lowercase();
    match of.set {
        None => format!("{PREFIX}{record_type}.{}", of.name),
        Some(set) => {
            let digest: String = hex::encode(Sha256::digest(set)).chars().take(12).collect();
            format!("{PREFIX}{record_type}-{digest}.{}", of.name)
        }
    }
}

/// Makes the record that says that a record set is this owner's.
pub(super) fn record_set(of: &Named<'_>, owner: &str) -> Value {
    json!({
        "Name": format!("{}.", name(of)),
        "Type": "TXT",
        "TTL": TTL,
        "ResourceRecords": [{"Value": dns::txt(&format!("{HERITAGE}{owner}"))}],
    })
}

/// Reads whose a record set is from such a record.
pub(super) fn owner(record_set: &Map<String, Value>) -> Option<String> {
    let values = record_set.get("ResourceRecords")?.as_array()?;
    let texts = values.iter().filter_map(|value| value.get("Value")?.as_str());
    texts.map(dns::text).find_map(|text| Some(text.strip_prefix(HERITAGE)?.to_owned()))
}

/// Tells whether what says this is an owner's, or was left by him.
pub(super) fn is_of(tag: &str, owner: &str) -> bool {
    tag == owner || retained_by(tag) == Some(owner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_whose_a_record_set_is_reads_back() {
        let of = Named { zone: "z", name: "*.example.com", record_type: "A", set: None };
        assert_eq!(name(&of), "_levelset-a.*.example.com");
        let made = record_set(&of, "retained:level/Workspace/\"x\"");
        let read = owner(made.as_object().unwrap());
        assert_eq!(read.as_deref(), Some("retained:level/Workspace/\"x\""));
        let sets = ["east", "west"].map(|set| name(&Named { set: Some(set), ..of.clone() }));
        assert_ne!(sets[0], sets[1]);
    }

    #[test]
    fn a_text_of_somebody_else_says_nothing() {
        let foreign = json!({"ResourceRecords": [{"Value": "\"heritage=external-dns,owner=x\""}]});
        assert_eq!(owner(foreign.as_object().unwrap()), None);
        assert!(is_of("retained:a", "a") && is_of("a", "a") && !is_of("retained:b", "a"));
    }
}
