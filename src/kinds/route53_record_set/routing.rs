//! The routing policies: by which members of a record set they are known, and what they need.
//!
//! Source: "Choosing a routing policy" in the Route 53 Developer Guide, and the API reference of
//! `ResourceRecordSet`.

use serde_json::{Map, Value};

/// The policy of a record set that has no other.
pub(super) const SIMPLE: &str = "simple";

/// The fields of the manifest, the members of a record set and the names of the policies.
pub(super) const POLICIES: [(&str, &str, &str); 7] = [
    ("weight", "Weight", "weighted"),
    ("region", "Region", "latency"),
    ("failover", "Failover", "failover"),
    ("geolocation", "GeoLocation", "geolocation"),
    ("geoproximity", "GeoProximityLocation", "geoproximity"),
    ("cidr", "CidrRoutingConfig", "cidr"),
    ("multivalue", "MultiValueAnswer", "multivalue"),
];

/// Returns the policy of a record set.
pub(super) fn of(record_set: &Map<String, Value>) -> &'static str {
    let is_there = |member: &str| {
        record_set.get(member).is_some_and(|value| !value.is_null() && *value != Value::Bool(false))
    };
    let policy = POLICIES.iter().find(|(_, member, _)| is_there(member));
    policy.map_or(SIMPLE, |(.., name)| name)
}
