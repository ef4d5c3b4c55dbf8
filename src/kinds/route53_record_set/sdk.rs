//! Calls of record sets to Route 53's REST protocol with XML, and its answers to JSON.

use serde_json::Value;

use crate::kinds::sdk::query::Give;
use crate::kinds::sdk::rest::{self, At, Operation, Part, Shape};
use crate::kinds::sdk::{Clients, Failure};
use crate::model::Call;

/// Sends one call of this kind.
pub(crate) async fn send(clients: &Clients, call: &Call) -> Result<Value, Failure> {
    rest::ask(&*clients.route53, OPERATIONS, call).await
}

const VERSION: &str = "2013-04-01";

const OPERATIONS: &[Operation] = &[
    Operation {
        name: "ListHostedZones",
        method: "GET",
        path: &[VERSION, "hostedzone"],
        of: None,
        parameters: &[("Marker", At::Query("marker")), ("MaxItems", At::Query("maxitems"))],
        body: None,
        answer: Shape::Members("ListHostedZonesResponse"),
        members: MEMBERS,
    },
    Operation {
        name: "GetHostedZone",
        method: "GET",
        path: &[VERSION, "hostedzone", "{Id}"],
        of: None,
        parameters: &[("Id", At::Path)],
        body: None,
        answer: Shape::Members("GetHostedZoneResponse"),
        members: MEMBERS,
    },
    Operation {
        name: "ListResourceRecordSets",
        method: "GET",
        path: &[VERSION, "hostedzone", "{HostedZoneId}", "rrset"],
        of: None,
        parameters: &[
            ("HostedZoneId", At::Path),
            ("StartRecordName", At::Query("name")),
            ("StartRecordType", At::Query("type")),
            ("StartRecordIdentifier", At::Query("identifier")),
            ("MaxItems", At::Query("maxitems")),
        ],
        body: None,
        answer: Shape::Members("ListResourceRecordSetsResponse"),
        members: MEMBERS,
    },
    Operation {
        name: "ChangeResourceRecordSets",
        method: "POST",
        path: &[VERSION, "hostedzone", "{HostedZoneId}", "rrset", ""],
        of: None,
        parameters: &[("HostedZoneId", At::Path), ("ChangeBatch", At::Body(BATCH))],
        body: Some((
            "ChangeResourceRecordSetsRequest",
            "https://route53.amazonaws.com/doc/2013-04-01/",
        )),
        answer: Shape::Members("ChangeResourceRecordSetsResponse"),
        members: MEMBERS,
    },
];

/// The members of a change batch, in the order of the API's description.
const BATCH: Part = Part::Structure(&[
    ("Comment", Part::Text),
    (
        "Changes",
        Part::List(
            "Change",
            &Part::Structure(&[("Action", Part::Text), ("ResourceRecordSet", RECORD_SET)]),
        ),
    ),
]);

const RECORD_SET: Part = Part::Structure(&[
    ("Name", Part::Text),
    ("Type", Part::Text),
    ("SetIdentifier", Part::Text),
    ("Weight", Part::Text),
    ("Region", Part::Text),
    (
        "GeoLocation",
        Part::Structure(&[
            ("ContinentCode", Part::Text),
            ("CountryCode", Part::Text),
            ("SubdivisionCode", Part::Text),
        ]),
    ),
    ("Failover", Part::Text),
    ("MultiValueAnswer", Part::Text),
    ("TTL", Part::Text),
    (
        "ResourceRecords",
        Part::List("ResourceRecord", &Part::Structure(&[("Value", Part::Text)])),
    ),
    (
        "AliasTarget",
        Part::Structure(&[
            ("HostedZoneId", Part::Text),
            ("DNSName", Part::Text),
            ("EvaluateTargetHealth", Part::Text),
        ]),
    ),
    ("HealthCheckId", Part::Text),
    ("TrafficPolicyInstanceId", Part::Text),
    (
        "CidrRoutingConfig",
        Part::Structure(&[("CollectionId", Part::Text), ("LocationName", Part::Text)]),
    ),
    (
        "GeoProximityLocation",
        Part::Structure(&[
            ("AWSRegion", Part::Text),
            ("LocalZoneGroup", Part::Text),
            (
                "Coordinates",
                Part::Structure(&[("Latitude", Part::Text), ("Longitude", Part::Text)]),
            ),
            ("Bias", Part::Text),
        ]),
    ),
]);

/// What every answer of these operations may hold.
const MEMBERS: &[(&str, Give)] = &[
    ("HostedZones", Give::List("HostedZones")),
    ("ResourceRecordSets", Give::List("ResourceRecordSets")),
    ("ResourceRecords", Give::List("ResourceRecords")),
    ("VPCs", Give::List("VPCs")),
    ("NameServers", Give::List("NameServers")),
    ("ResourceRecordSetCount", Give::Number),
    ("TTL", Give::Number),
    ("Weight", Give::Number),
    ("Bias", Give::Number),
    ("PrivateZone", Give::Flag),
    ("IsTruncated", Give::Flag),
    ("EvaluateTargetHealth", Give::Flag),
    ("MultiValueAnswer", Give::Flag),
    ("SubmittedAt", Give::Time),
];
