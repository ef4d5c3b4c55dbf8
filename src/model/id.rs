//! Names of things: objects in Git, resources in AWS, the account and region they live in.
//!
//! Every name is a newtype, so that a region is never passed for an account. All of them are
//! ordered and serialise as their text.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Names the type of an object in Git.
///
/// The order is the order of dependencies: a `Workspace` may name a `Network`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ObjectKind {
    /// A shared network that workspaces refer to by name.
    Network,
    /// A team's environment.
    Workspace,
}

impl ObjectKind {
    /// Returns the word that manifests use in `kind:`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Network => "Network",
            Self::Workspace => "Workspace",
        }
    }
}

impl fmt::Display for ObjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Identifies an object in Git; it is also the key of the work queue.
///
/// Its text is `Kind/name`, for example `Workspace/team-payments-prod`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Key {
    /// The type of the object.
    pub kind: ObjectKind,
    /// `metadata.name`, unique within its kind and repository.
    pub name: Arc<str>,
}

impl Key {
    /// Makes the key of the object `name` of type `kind`.
    pub fn new(kind: ObjectKind, name: impl Into<Arc<str>>) -> Self {
        Self { kind, name: name.into() }
    }

    /// Makes the key of the workspace `name`.
    pub fn workspace(name: impl Into<Arc<str>>) -> Self {
        Self::new(ObjectKind::Workspace, name)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind, self.name)
    }
}

impl From<Key> for String {
    fn from(key: Key) -> Self {
        key.to_string()
    }
}

/// Says that a text is not of the form `Kind/name`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not of the form Workspace/NAME or Network/NAME")]
pub struct InvalidKey(pub String);

impl FromStr for Key {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        let invalid = || InvalidKey(text.to_owned());
        let (kind, name) = text.split_once('/').ok_or_else(invalid)?;
        let kind = match kind {
            "Network" => ObjectKind::Network,
            "Workspace" => ObjectKind::Workspace,
            _ => return Err(invalid()),
        };
        if name.is_empty() {
            return Err(invalid());
        }
        Ok(Self::new(kind, name))
    }
}

impl TryFrom<String> for Key {
    type Error = InvalidKey;

    fn try_from(text: String) -> Result<Self, InvalidKey> {
        text.parse()
    }
}

macro_rules! text_newtype {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Wraps the text as it is, without checking it.
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }

            /// Returns the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_newtype! {
    /// Holds the twelve digits of an AWS account, leading zeros included.
    AccountId
}
text_newtype! {
    /// Holds the code of an AWS region, for example `eu-west-1`.
    Region
}
text_newtype! {
    /// Holds the hexadecimal id of a Git commit.
    Revision
}

/// The partitions by the beginning of their regions' codes, the more particular ones first. The
/// place of global services begins with the partition's own name.
///
/// Source: "Partitions" in the AWS General Reference, and the SDKs' `partitions.json`.
const PARTITIONS: &[(&str, &str)] = &[
    ("cn-", "aws-cn"),
    ("us-gov-", "aws-us-gov"),
    ("us-iso-", "aws-iso"),
    ("us-isob-", "aws-iso-b"),
    ("eu-isoe-", "aws-iso-e"),
    ("us-isof-", "aws-iso-f"),
    ("eusc-", "aws-eusc"),
];

/// What follows a partition's name in the name of the place of its global services.
const GLOBAL: &str = "-global";

impl Region {
    /// Returns the partition, as ARNs name it: `aws`, `aws-cn`, `aws-us-gov`.
    pub fn partition(&self) -> &str {
        if let Some(partition) = self.as_str().strip_suffix(GLOBAL) {
            return partition;
        }
        let of_region = PARTITIONS.iter().find(|(start, _)| self.as_str().starts_with(start));
        of_region.map_or("aws", |(_, partition)| partition)
    }

    /// Returns the place of services that an account has once and not in every region, under the
    /// name that AWS uses: `aws-global`, `aws-cn-global`.
    #[must_use]
    pub fn global(&self) -> Self {
        Self::new(format!("{}{GLOBAL}", self.partition()))
    }
}

impl Revision {
    /// Returns the first eight digits, for people.
    pub fn short(&self) -> &str {
        self.0.get(..8).unwrap_or(&self.0)
    }
}

/// Counts the changes of an object's spec, starting at 1; grows for ever, across restarts.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Generation(pub u64);

/// Names one part of the objects: the unit in which the right to write is granted.
///
/// An agent without replicas holds the only shard, number 0, which is the default.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Shard(pub u16);

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shard {}", self.0)
    }
}

/// Identifies one grant of the right to write to a shard: the fencing token.
///
/// Numbers grow with every grant, for ever and across restarts. Whoever keeps what is written
/// refuses a number that is lower than the highest one it has seen for the shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Token {
    /// The shard that it is good for.
    pub shard: Shard,
    /// The number of the grant, from 1.
    pub number: u64,
}

/// Names one account and region: the unit of reading, of API budgets and of credentials.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Scope {
    /// The account that the resources belong to.
    pub account: AccountId,
    /// The region that they live in.
    pub region: Region,
}

impl Scope {
    /// Returns the account and the place of its global services; what is there already stays.
    #[must_use]
    pub fn global(&self) -> Self {
        Self { account: self.account.clone(), region: self.region.global() }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.account, self.region)
    }
}

/// Names the code for one type of AWS resource: a folder under `kinds/`, for example `db_instance`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KindName(Cow<'static, str>);

impl KindName {
    /// Makes the name of a kind that is compiled in.
    pub const fn new(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    /// Wraps a name that was stored or typed; no kind of that name need exist.
    pub fn owned(name: String) -> Self {
        Self(Cow::Owned(name))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KindName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Identifies one AWS resource by kind, place and the name that Levelset gave it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ResourceId {
    /// The type of the resource.
    pub kind: KindName,
    /// Where it lives.
    pub scope: Scope,
    /// Its name in AWS, in the spelling that AWS answers (lower case for RDS).
    pub name: Arc<str>,
}

impl ResourceId {
    /// Returns the ARN `arn:PARTITION:SERVICE:REGION:ACCOUNT:TYPE:NAME`, as RDS forms it.
    ///
    /// Source: "Amazon Resource Names (ARNs) in Amazon RDS" and "Partitions" in the AWS General
    /// Reference.
    pub fn arn(&self, service: &str, resource_type: &str) -> String {
        let region = &self.scope.region;
        let partition = region.partition();
        let account = &self.scope.account;
        format!("arn:{partition}:{service}:{region}:{account}:{resource_type}:{}", self.name)
    }
}

impl fmt::Display for ResourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind, self.name)
    }
}
