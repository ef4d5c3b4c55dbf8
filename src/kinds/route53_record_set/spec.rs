//! The `dns` section of a manifest.
//!
//! In: the section of a manifest. Out: a [`Dns`]; [`check`](super::check) finds what it alone proves
//! wrong, [`resources`](super::expand) makes the resources of it.
//!
//! Invariants: a field that is not declared is `None` and not managed; a record that is not declared is
//! never touched.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use super::check::check;
pub use super::expand::{Placement, resources};

/// Declares records in hosted zones of Route 53.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Dns {
    /// The hosted zone of the records: the name of a public zone, such as `example.com`, or the id of
    /// any zone, such as `Z0123456789ABCDEFGHIJ`. Each record may name another one. The zone has to
    /// exist. Default: none; then each record names its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"example.com")]
    pub zone: Option<String>,
    /// Whether it is the private zone of this name. Default `false`: the public one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
    /// The id of the VPC that the private zone belongs to, where several private zones of the account
    /// have this name. Default: there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"vpc-0123456789abcdef0")]
    pub vpc: Option<String>,
    /// The records by any name: lower-case letters, digits and hyphens. Records of the zone that are
    /// not declared are never touched. Default: none.
    pub records: BTreeMap<String, Record>,
}

/// Declares one record set: a name, a type, and `values` or an `alias`.
///
/// A field that is left out is not managed: what AWS has stays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Record {
    /// The name: relative to the zone (`www`), whole (`www.example.com`), `@` for the zone's own, or
    /// `*` for every name that has no record. Default: the name that the record has in the manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"www")]
    pub name: Option<String>,
    /// The type of the record. Another type is another record: the one before is deleted in the same
    /// change where the two exclude each other, as a CNAME and everything else do.
    #[serde(rename = "type")]
    pub record_type: RecordType,
    /// The values, in any order, as Route 53 takes them: `10 mail.example.com` for an MX. A TXT needs no
    /// quotes and may have any length. Texts may hold references, such as `${database.endpoint}`.
    /// Default: none; then there is an `alias`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<String>>,
    /// The resource of AWS, or the other record of the zone, whose addresses are answered in the place
    /// of values. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<Alias>,
    /// How long an answer may be kept, in seconds; an alias has the time of its target. Default: not
    /// managed; 300 for a new record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 2_147_483_647))]
    pub ttl: Option<u32>,
    /// What tells the record from others of its name and type, where a routing policy chooses among
    /// them: at most 128 characters. Default: none, for a record without a routing policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128))]
    pub set_identifier: Option<String>,
    /// Routes by weight: 0 to 255. Default: not by weight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 255))]
    pub weight: Option<u16>,
    /// Routes by latency: the region of the target, such as `eu-west-1`. Default: not by latency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"eu-west-1")]
    pub region: Option<String>,
    /// Routes by health: to the primary while it is healthy, else to the secondary. Default: not so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failover: Option<Failover>,
    /// Routes by where the question comes from. Default: not so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geolocation: Option<Geolocation>,
    /// Routes to what is near. Default: not so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geoproximity: Option<Geoproximity>,
    /// Routes by the network that the question comes from. Default: not so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cidr: Option<Cidr>,
    /// Answers up to eight healthy records of the name at once. Default `false`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub multivalue: bool,
    /// The id of the health check without which the record is not answered; an empty text means none.
    /// Default: not managed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health_check_id: Option<String>,
    /// The zone, if it is not the section's. Default: the section's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// Whether `zone` is a private one. Default: `false` beside `zone`, else as the section says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub private: Option<bool>,
    /// The id of the VPC of the private zone. Default: none beside `zone`, else the section's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vpc: Option<String>,
    /// Whether an existing record set that is not ours is taken over. Default `false`: it is refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adopt: bool,
}

/// Names the type of a record.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum RecordType {
    /// An IPv4 address.
    A,
    /// An IPv6 address.
    Aaaa,
    /// Who may issue certificates.
    Caa,
    /// Another name.
    Cname,
    /// The key of a signed zone.
    Ds,
    /// How a service is reached over HTTPS.
    Https,
    /// Where mail goes.
    Mx,
    /// A rule that makes names of names.
    Naptr,
    /// The name servers of a part of the zone.
    Ns,
    /// The name of an address.
    Ptr,
    /// A text, as TXT, of old.
    Spf,
    /// Where a service is.
    Srv,
    /// The fingerprint of a host's key.
    Sshfp,
    /// How a service is reached.
    Svcb,
    /// The certificate of a service.
    Tlsa,
    /// A text.
    Txt,
}

impl RecordType {
    /// Returns the name as AWS spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::Aaaa => "AAAA",
            Self::Caa => "CAA",
            Self::Cname => "CNAME",
            Self::Ds => "DS",
            Self::Https => "HTTPS",
            Self::Mx => "MX",
            Self::Naptr => "NAPTR",
            Self::Ns => "NS",
            Self::Ptr => "PTR",
            Self::Spf => "SPF",
            Self::Srv => "SRV",
            Self::Sshfp => "SSHFP",
            Self::Svcb => "SVCB",
            Self::Tlsa => "TLSA",
            Self::Txt => "TXT",
        }
    }
}

impl fmt::Display for RecordType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Names what an alias stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Alias {
    /// The DNS name of the resource, or of another record of the zone; it may be a reference.
    #[schemars(example = &"my-lb-123.eu-west-1.elb.amazonaws.com")]
    pub target: String,
    /// The hosted zone of that name. Default: known for the names of load balancers, CloudFront,
    /// Global Accelerator and S3 websites, and for names of the record's own zone; else it is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone_id: Option<String>,
    /// Whether the record is answered only while the target is healthy. Default: not managed; `false`
    /// for a new record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluate_target_health: Option<bool>,
}

/// Says which of two records is answered first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Failover {
    /// While it is healthy.
    Primary,
    /// While the primary is not.
    Secondary,
}

/// Says where questions come from: a continent, or a country with or without a part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Geolocation {
    /// `AF`, `AN`, `AS`, `EU`, `OC`, `NA` or `SA`. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continent: Option<String>,
    /// The two letters of a country, quoted where YAML would read a word (`"NO"`), or `*` for everywhere
    /// else. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// A state of the United States or an oblast of Ukraine. Default: the whole country.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subdivision: Option<String>,
}

/// Says where the target is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Geoproximity {
    /// The AWS region of the target. Default: none; then it is where the coordinates say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// The local zone group of the target. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_zone_group: Option<String>,
    /// The latitude with at most two decimals, quoted. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latitude: Option<String>,
    /// The longitude with at most two decimals, quoted. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longitude: Option<String>,
    /// How much further its traffic reaches: -99 to 99. Default: not managed; 0 for a new record.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -99, max = 99))]
    pub bias: Option<i32>,
}

/// Names networks that questions come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cidr {
    /// The id of the collection of networks.
    pub collection_id: String,
    /// The name of the location in it, or `*` for everywhere else.
    pub location: String,
}

impl Dns {
    /// Returns zone, whether it is private, and its VPC, as they hold for a record.
    pub(super) fn zone_of<'a>(
        &'a self,
        record: &'a Record,
    ) -> Option<(&'a str, bool, Option<&'a str>)> {
        let vpc = |vpc: &'a Option<String>| vpc.as_deref();
        if let Some(zone) = &record.zone {
            let private = record.private.unwrap_or(record.vpc.is_some());
            return Some((zone, private, vpc(&record.vpc)));
        }
        let declared = vpc(&record.vpc).or_else(|| vpc(&self.vpc));
        let private = record.private.unwrap_or(self.private);
        Some((self.zone.as_deref()?, private, declared.filter(|_| record.private != Some(false))))
    }
}

impl Record {
    /// Returns the name that it declares, which is its own in the manifest where it says none.
    pub(super) fn name_or<'a>(&'a self, key: &'a str) -> &'a str {
        self.name.as_deref().unwrap_or(key)
    }

    /// Lists the fields of the routing policies that it declares.
    pub(super) fn policies(&self) -> Vec<&'static str> {
        [
            ("weight", self.weight.is_some()),
            ("region", self.region.is_some()),
            ("failover", self.failover.is_some()),
            ("geolocation", self.geolocation.is_some()),
            ("geoproximity", self.geoproximity.is_some()),
            ("cidr", self.cidr.is_some()),
            ("multivalue", self.multivalue),
        ]
        .into_iter()
        .filter_map(|(field, is_declared)| is_declared.then_some(field))
        .collect()
    }
}
