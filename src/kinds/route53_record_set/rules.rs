//! What is known about every field of a record set.
//!
//! Source: the API reference of `ResourceRecordSet`, and "Supported DNS record types" in the Route 53
//! Developer Guide. Every change of a record set is one `UPSERT` of the whole of it; what is not
//! declared goes along as AWS has it.

use crate::model::{Compare, Rule};

/// The rules, in the order in which reports show them.
pub(super) const RULES: &[Rule] = &[
    // These three are what a record set is known by: with another one it is another record set.
    Rule::new("name", "Name", "Name")
        .compare(Compare::DnsName)
        .immutable("RecordNameImmutable")
        .always(),
    Rule::new("type", "Type", "Type").immutable("RecordTypeImmutable").always(),
    Rule::new("setIdentifier", "SetIdentifier", "SetIdentifier")
        .immutable("SetIdentifierImmutable"),
    Rule::new("routing", "Routing", "Routing").always(),
    Rule::new("values", "ResourceRecords", "ResourceRecords")
        .compare(Compare::DnsValues { of_type: "type" }),
    Rule::new("alias", "AliasTarget", "AliasTarget")
        .compare(Compare::Members { names: &["DNSName"] }),
    Rule::new("ttl", "TTL", "TTL"),
    Rule::new("weight", "Weight", "Weight"),
    Rule::new("region", "Region", "Region").compare(Compare::FoldCase),
    Rule::new("failover", "Failover", "Failover"),
    Rule::new("multivalue", "MultiValueAnswer", "MultiValueAnswer"),
    Rule::new("geolocation", "GeoLocation", "GeoLocation")
        .compare(Compare::Members { names: &[] }),
    Rule::new("geoproximity", "GeoProximityLocation", "GeoProximityLocation")
        .compare(Compare::Members { names: &[] }),
    Rule::new("cidr", "CidrRoutingConfig", "CidrRoutingConfig")
        .compare(Compare::Members { names: &[] }),
    Rule::new("healthCheckId", "HealthCheckId", "HealthCheckId"),
];
