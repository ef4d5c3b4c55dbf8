//! Calls of buckets to S3's REST protocol with XML, and its answers to JSON.

use serde_json::Value;

use crate::kinds::sdk::query::Give;
use crate::kinds::sdk::rest::{self, At, Operation, Part, Shape};
use crate::kinds::sdk::{Clients, Failure};
use crate::model::Call;

/// Sends one call of this kind.
pub(crate) async fn send(clients: &Clients, call: &Call) -> Result<Value, Failure> {
    rest::ask(&*clients.s3, OPERATIONS, call).await
}

const NAMESPACE: &str = "http://s3.amazonaws.com/doc/2006-03-01/";

const BUCKET: (&str, At) = ("Bucket", At::Path);

const OWNER: (&str, At) = ("ExpectedBucketOwner", At::Header("x-amz-expected-bucket-owner"));

const SIZE: &str = "x-amz-transition-default-minimum-object-size";

/// A part of a bucket: the word of the query that says which.
const fn part(method: &'static str, name: &'static str, of: &'static str) -> Operation {
    Operation {
        name,
        method,
        path: &["{Bucket}"],
        of: Some(of),
        parameters: &[BUCKET, OWNER],
        body: None,
        answer: Shape::Nothing,
        members: MEMBERS,
    }
}

const fn read(name: &'static str, of: &'static str, answer: Shape) -> Operation {
    Operation { answer, ..part("GET", name, of) }
}

/// A write of a document whose outermost element is the parameter of that name.
const fn write(
    name: &'static str,
    of: &'static str,
    root: &'static str,
    parameters: &'static [(&'static str, At)],
) -> Operation {
    Operation { parameters, body: Some((root, NAMESPACE)), ..part("PUT", name, of) }
}

const fn remove(name: &'static str, of: &'static str) -> Operation {
    part("DELETE", name, of)
}

const OPERATIONS: &[Operation] = &[
    Operation {
        name: "ListBuckets",
        method: "GET",
        path: &[""],
        of: None,
        parameters: &[
            ("BucketRegion", At::Query("bucket-region")),
            ("MaxBuckets", At::Query("max-buckets")),
            ("ContinuationToken", At::Query("continuation-token")),
        ],
        body: None,
        answer: Shape::Members("ListAllMyBucketsResult"),
        members: MEMBERS,
    },
    Operation {
        name: "CreateBucket",
        method: "PUT",
        path: &["{Bucket}"],
        of: None,
        parameters: &[
            BUCKET,
            ("CreateBucketConfiguration", At::Document(CREATION)),
            ("ObjectOwnership", At::Header("x-amz-object-ownership")),
            ("BucketNamespace", At::Header("x-amz-bucket-namespace")),
        ],
        body: Some(("CreateBucketConfiguration", NAMESPACE)),
        answer: Shape::Nothing,
        members: MEMBERS,
    },
    Operation {
        name: "DeleteBucket",
        method: "DELETE",
        path: &["{Bucket}"],
        of: None,
        parameters: &[BUCKET, OWNER],
        body: None,
        answer: Shape::Nothing,
        members: MEMBERS,
    },
    read("GetBucketTagging", "tagging", Shape::Members("Tagging")),
    read("GetBucketVersioning", "versioning", Shape::Members("VersioningConfiguration")),
    read("GetBucketEncryption", "encryption", Shape::Member("ServerSideEncryptionConfiguration")),
    read("GetPublicAccessBlock", "publicAccessBlock", Shape::Member("PublicAccessBlockConfiguration")),
    read("GetBucketOwnershipControls", "ownershipControls", Shape::Member("OwnershipControls")),
    read(
        "GetBucketLifecycleConfiguration",
        "lifecycle",
        Shape::WithHeader("LifecycleConfiguration", (SIZE, "TransitionDefaultMinimumObjectSize")),
    ),
    read("GetBucketPolicy", "policy", Shape::Text("Policy")),
    write("PutBucketTagging", "tagging", "Tagging", &[BUCKET, OWNER, ("Tagging", At::Document(TAGGING))]),
    write(
        "PutBucketVersioning",
        "versioning",
        "VersioningConfiguration",
        &[BUCKET, OWNER, ("VersioningConfiguration", At::Document(VERSIONING))],
    ),
    write(
        "PutBucketEncryption",
        "encryption",
        "ServerSideEncryptionConfiguration",
        &[BUCKET, OWNER, ("ServerSideEncryptionConfiguration", At::Document(ENCRYPTION))],
    ),
    write(
        "PutPublicAccessBlock",
        "publicAccessBlock",
        "PublicAccessBlockConfiguration",
        &[BUCKET, OWNER, ("PublicAccessBlockConfiguration", At::Document(ACCESS))],
    ),
    write(
        "PutBucketOwnershipControls",
        "ownershipControls",
        "OwnershipControls",
        &[BUCKET, OWNER, ("OwnershipControls", At::Document(OWNERSHIP))],
    ),
    write(
        "PutBucketLifecycleConfiguration",
        "lifecycle",
        "LifecycleConfiguration",
        &[
            BUCKET,
            OWNER,
            ("LifecycleConfiguration", At::Document(LIFECYCLE)),
            ("TransitionDefaultMinimumObjectSize", At::Header(SIZE)),
        ],
    ),
    Operation {
        parameters: &[BUCKET, OWNER, ("Policy", At::Text)],
        ..part("PUT", "PutBucketPolicy", "policy")
    },
    remove("DeleteBucketPolicy", "policy"),
    remove("DeleteBucketLifecycle", "lifecycle"),
];

const TEXT: Part = Part::Text;

const TAG: Part = Part::Structure(&[("Key", TEXT), ("Value", TEXT)]);

const TAGGING: Part = Part::Structure(&[("TagSet", Part::List("Tag", &TAG))]);

const CREATION: Part =
    Part::Structure(&[("LocationConstraint", TEXT), ("Tags", Part::List("Tag", &TAG))]);

const VERSIONING: Part = Part::Structure(&[("Status", TEXT)]);

const ENCRYPTION: Part = Part::Structure(&[(
    "Rules",
    Part::Items(
        "Rule",
        &Part::Structure(&[
            (
                "ApplyServerSideEncryptionByDefault",
                Part::Structure(&[("SSEAlgorithm", TEXT), ("KMSMasterKeyID", TEXT)]),
            ),
            ("BucketKeyEnabled", TEXT),
            (
                "BlockedEncryptionTypes",
                Part::Structure(&[("EncryptionType", Part::Items("EncryptionType", &TEXT))]),
            ),
        ]),
    ),
)]);

const ACCESS: Part = Part::Structure(&[
    ("BlockPublicAcls", TEXT),
    ("IgnorePublicAcls", TEXT),
    ("BlockPublicPolicy", TEXT),
    ("RestrictPublicBuckets", TEXT),
]);

const OWNERSHIP: Part = Part::Structure(&[(
    "Rules",
    Part::Items("Rule", &Part::Structure(&[("ObjectOwnership", TEXT)])),
)]);

const LIFECYCLE: Part = Part::Structure(&[("Rules", Part::Items("Rule", &RULE))]);

const RULE: Part = Part::Structure(&[
    (
        "Expiration",
        Part::Structure(&[("Date", TEXT), ("Days", TEXT), ("ExpiredObjectDeleteMarker", TEXT)]),
    ),
    ("ID", TEXT),
    ("Prefix", TEXT),
    (
        "Filter",
        Part::Structure(&[
            ("Prefix", TEXT),
            ("Tag", TAG),
            ("ObjectSizeGreaterThan", TEXT),
            ("ObjectSizeLessThan", TEXT),
            (
                "And",
                Part::Structure(&[
                    ("Prefix", TEXT),
                    ("Tags", Part::Items("Tag", &TAG)),
                    ("ObjectSizeGreaterThan", TEXT),
                    ("ObjectSizeLessThan", TEXT),
                ]),
            ),
        ]),
    ),
    ("Status", TEXT),
    (
        "Transitions",
        Part::Items(
            "Transition",
            &Part::Structure(&[("Date", TEXT), ("Days", TEXT), ("StorageClass", TEXT)]),
        ),
    ),
    (
        "NoncurrentVersionTransitions",
        Part::Items(
            "NoncurrentVersionTransition",
            &Part::Structure(&[
                ("NoncurrentDays", TEXT),
                ("StorageClass", TEXT),
                ("NewerNoncurrentVersions", TEXT),
            ]),
        ),
    ),
    (
        "NoncurrentVersionExpiration",
        Part::Structure(&[("NoncurrentDays", TEXT), ("NewerNoncurrentVersions", TEXT)]),
    ),
    ("AbortIncompleteMultipartUpload", Part::Structure(&[("DaysAfterInitiation", TEXT)])),
]);

/// What every answer of these operations may hold.
const MEMBERS: &[(&str, Give)] = &[
    ("Buckets", Give::List("Buckets")),
    ("CreationDate", Give::Time),
    ("TagSet", Give::List("TagSet")),
    ("Rule", Give::Items("Rules")),
    ("BucketKeyEnabled", Give::Flag),
    ("BlockedEncryptionTypes", Give::Structure),
    ("EncryptionType", Give::Items("EncryptionType")),
    ("BlockPublicAcls", Give::Flag),
    ("IgnorePublicAcls", Give::Flag),
    ("BlockPublicPolicy", Give::Flag),
    ("RestrictPublicBuckets", Give::Flag),
    ("Filter", Give::Structure),
    ("And", Give::Structure),
    ("And/Tag", Give::Items("Tags")),
    ("Transition", Give::Items("Transitions")),
    ("NoncurrentVersionTransition", Give::Items("NoncurrentVersionTransitions")),
    ("Date", Give::Time),
    ("Days", Give::Number),
    ("NoncurrentDays", Give::Number),
    ("NewerNoncurrentVersions", Give::Number),
    ("DaysAfterInitiation", Give::Number),
    ("ObjectSizeGreaterThan", Give::Number),
    ("ObjectSizeLessThan", Give::Number),
    ("ExpiredObjectDeleteMarker", Give::Flag),
];
