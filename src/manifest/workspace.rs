//! The `spec` of a `Workspace`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy;
use crate::kinds::autoscaling_group::spec::{self as compute_spec, Group};
use crate::kinds::custom::spec::{self as custom_spec, CustomResource};
use crate::kinds::db_instance::spec::{Database, check};
use crate::kinds::iam_role::spec::{self as iam_spec, Iam, Surroundings};
use crate::kinds::route53_record_set::spec::{self as dns_spec, Dns};
use crate::kinds::s3_bucket::spec::{self as bucket_spec, Bucket};
use crate::kinds::secret::spec::{self as secret_spec, Secret};
use crate::kinds::security_group::spec::{self as group_spec, TrafficRule};
use crate::model::policy::DeletionPolicy;
use crate::model::{Finding, Policy};

/// Declares one environment of one team.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorkspaceSpec {
    /// The environment: the name of an entry of the agent's configuration, which holds the account,
    /// the region and the role. A manifest holds no account number.
    #[schemars(length(min = 1), example = &"production")]
    pub environment: String,
    /// What the workspace consists of. Default: nothing.
    #[serde(default)]
    pub resources: Resources,
    /// How often and how boldly it is reconciled. Default: the default of each field.
    #[serde(default)]
    pub reconcile_policy: Policy,
}

/// Lists the resources of a workspace; what is left out is not managed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Resources {
    /// A relational database: one RDS DB instance. Default: none.
    pub database: Option<Database>,
    /// Where the workspace lives. Default: AWS places a new database in the account's default VPC.
    pub network: Option<NetworkSection>,
    /// The IAM roles of the workspace. Default: none.
    pub iam: Option<Iam>,
    /// Secrets of AWS Secrets Manager by name: lower-case letters, digits and hyphens. The secret
    /// `api-key` of the workspace `team-a` is called `team-a/api-key` in AWS. No value is in Git.
    /// Default: none.
    pub secrets: Option<BTreeMap<String, Secret>>,
    /// Buckets of Amazon S3 by name: lower-case letters, digits and hyphens. The bucket `uploads` of
    /// the workspace `team-a` is called `team-a-uploads-ACCOUNT-REGION-an` in AWS. Default: none.
    pub buckets: Option<BTreeMap<String, Bucket>>,
    /// Records in hosted zones of Route 53. Default: none.
    pub dns: Option<Dns>,
    /// Auto Scaling groups with their launch templates by name: lower-case letters, digits and hyphens.
    /// The group `web` of the workspace `team-a` is called `team-a-web` in AWS. Default: none.
    pub compute: Option<BTreeMap<String, Group>>,
    /// Resources of any other type, by name, through AWS's Cloud Control API: lower-case letters,
    /// digits and hyphens. Default: none.
    pub custom: Option<BTreeMap<String, CustomResource>>,
}

/// Places a workspace in a network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NetworkSection {
    /// The name of a `Network` object in the repository, or else the `Name` tag of an existing VPC.
    /// A database is placed in a DB subnet group of this VPC, which all its workspaces share.
    #[schemars(length(min = 1, max = 190), example = &"shared-prod-vpc")]
    pub vpc_ref: String,
    /// The name of the workspace's security group, in lower case, for one that has another name already.
    /// A group cannot be renamed: another name is another group. Needs `ingress` or `egress`. Default:
    /// the names of the agent and the workspace, with a hyphen between.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255), example = &"orders-database")]
    pub security_group: Option<String>,
    /// What the workspace's security group lets in; everything else is shut out, and what somebody
    /// lets in beside it is taken away at once. An empty list means that nothing gets in. A database that declares no `securityGroups` has
    /// it, and no other. Default: not managed, and no group is made unless `egress` is declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ingress: Option<Vec<TrafficRule>>,
    /// What the workspace's security group lets out. An empty list means that nothing gets out.
    /// Default: not managed; AWS lets everything out of a new group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub egress: Option<Vec<TrafficRule>>,
}

/// The characters that a DB subnet group's name, which the VPC's name becomes part of, may hold
/// besides letters and digits (`CreateDBSubnetGroup`, member `DBSubnetGroupName`).
const GROUP_SIGNS: &str = "._- ";

/// The most characters of a VPC's name: a group's name has 255, and the agent's name comes first.
const LONGEST_REF: usize = 190;

impl WorkspaceSpec {
    /// Returns what its meaning gives reason to tell; pointers start at the manifest.
    ///
    /// `name` is the name of the workspace; empty where it cannot be told.
    pub(super) fn check(&self, name: &str) -> Vec<Finding> {
        let mut found = policy::check_environment(&self.environment);
        found.extend(policy::check_ignore(&self.reconcile_policy.ignore));
        found.extend(self.resources.check(name));
        found.extend(self.check_snapshot());
        found
    }

    /// Tells what `deletion: snapshot` means where there are no snapshots.
    fn check_snapshot(&self) -> Vec<Finding> {
        let resources = &self.resources;
        let pointer = "/spec/reconcilePolicy/deletion";
        let mut found = Vec::new();
        if self.reconcile_policy.deletion != DeletionPolicy::Snapshot {
            return found;
        }
        if resources.compute.is_some() && resources.database.is_none() {
            let message = "there is no snapshot of instances: they are ended, as delete says";
            found.push(Finding::notice(pointer, "NothingToSnapshot", message));
        }
        if resources.buckets.as_ref().is_some_and(|it| !it.is_empty()) {
            let message = "there are no snapshots of buckets: they stay when their manifest goes";
            found.push(
                Finding::notice(pointer, "NoSnapshotOfBuckets", message)
                    .hint("deletion: delete deletes those that hold nothing"),
            );
        }
        found
    }
}

impl Resources {
    /// Returns what their meaning gives reason to tell; pointers start at the manifest.
    pub(super) fn check(&self, name: &str) -> Vec<Finding> {
        let mut found = Vec::new();
        found.extend(self.network.as_ref().and_then(NetworkSection::check));
        found.extend(self.network.as_ref().and_then(NetworkSection::check_group));
        found.extend(within("network", self.check_traffic(name)));
        found.extend(self.database.iter().flat_map(|it| within("database", check(it))));
        let around = Surroundings {
            workspace: name,
            iam_authentication: self
                .database
                .as_ref()
                .map(|database| database.iam_authentication == Some(true)),
        };
        found.extend(self.iam.iter().flat_map(|it| within("iam", iam_spec::check(it, around))));
        let secrets = self.secrets.iter().flat_map(|it| secret_spec::check(it, name));
        found.extend(within("secrets", secrets.collect()));
        let buckets = self.buckets.iter().flat_map(|it| bucket_spec::check(it, name));
        found.extend(within("buckets", buckets.collect()));
        found.extend(self.dns.iter().flat_map(|it| within("dns", dns_spec::check(it))));
        let compute = self.compute.iter();
        let compute = compute.flat_map(|it| compute_spec::check(it, name, self.network.is_some()));
        found.extend(within("compute", compute.collect()));
        found.extend(self.custom.iter().flat_map(|it| within("custom", custom_spec::check(it))));
        if self.database.is_some() && self.network.is_none() {
            let message = "the database has no network: AWS places it in the account's default VPC";
            found.push(
                Finding::notice("/spec/resources/database", "NoNetwork", message)
                    .hint("add network: with a vpcRef beside database:"),
            );
        }
        found
    }
}

impl Resources {
    fn check_traffic(&self, workspace: &str) -> Vec<Finding> {
        let Some(network) = &self.network else { return Vec::new() };
        let database = self.database.as_ref();
        let around = group_spec::Surroundings {
            workspace,
            database_port: database.and_then(Database::listens_on),
            is_public: database.is_some_and(|it| it.publicly_accessible == Some(true)),
        };
        let directions = [("ingress", &network.ingress), ("egress", &network.egress)];
        directions
            .into_iter()
            .filter_map(|(name, rules)| Some(group_spec::check(name, rules.as_deref()?, around)))
            .flatten()
            .collect()
    }
}

/// Returns what was found in a section, with pointers from the manifest's root.
fn within(section: &str, found: Vec<Finding>) -> impl Iterator<Item = Finding> {
    found.into_iter().map(move |finding| Finding {
        pointer: format!("/spec/resources/{section}{}", finding.pointer),
        ..finding
    })
}

impl NetworkSection {
    /// Tells whether the workspace has a security group of its own.
    pub fn has_group(&self) -> bool {
        self.ingress.is_some() || self.egress.is_some()
    }

    fn check_group(&self) -> Option<Finding> {
        let name = self.security_group.as_deref()?;
        let pointer = "/spec/resources/network/securityGroup";
        if let Some(rule) = group_spec::name_mistake(name) {
            let message = format!("the name of the security group {rule}");
            return Some(Finding::error(pointer, "InvalidSecurityGroup", message));
        }
        (!self.has_group()).then(|| {
            let message = "the workspace has no security group of its own to be called so";
            Finding::notice(pointer, "NoEffect", message).hint("declare ingress or egress as well")
        })
    }

    fn check(&self) -> Option<Finding> {
        let pointer = "/spec/resources/network/vpcRef";
        let wrong = |message: String| Finding::error(pointer, "InvalidReference", message);
        let allowed = |c: char| c.is_ascii_alphanumeric() || GROUP_SIGNS.contains(c);
        if self.vpc_ref.is_empty() {
            return Some(wrong("vpcRef is empty".to_owned()));
        }
        if let Some(sign) = self.vpc_ref.chars().find(|c| !allowed(*c)) {
            let message = format!("vpcRef has the character '{}'", sign.escape_debug());
            let hint =
                "declare a Network object whose vpcName is this tag, and name the object here";
            return Some(wrong(message).hint(hint));
        }
        let length = self.vpc_ref.len();
        (length > LONGEST_REF)
            .then(|| wrong(format!("vpcRef has {length} characters, and may have {LONGEST_REF}")))
    }
}
