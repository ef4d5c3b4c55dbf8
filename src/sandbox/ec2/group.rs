//! Security groups: made, described and deleted.
//!
//! A new group lets nothing in and everything out. A group that a database, an instance or another
//! group's rule uses is not deleted; the default group of a VPC never is.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::permission::{Rules, described, everything};
use super::{id, list};
use crate::model::{Peer, Scope, Traffic};
use crate::sandbox::args::Args;
use crate::sandbox::refusal::{Answer, Refusal};
use crate::sandbox::services::{Operation, Site};

/// The operations.
pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        service: "ec2",
        name: "DescribeSecurityGroups",
        accepts: &["GroupIds", "Filters", "MaxResults", "NextToken"],
        run: describe,
    },
    Operation {
        service: "ec2",
        name: "CreateSecurityGroup",
        accepts: &["GroupName", "Description", "VpcId", "TagSpecifications"],
        run: create,
    },
    Operation { service: "ec2", name: "DeleteSecurityGroup", accepts: &["GroupId"], run: delete },
];

const FILTERS: &[(&str, &str)] = &[
    ("group-id", "GroupId"),
    ("group-name", "GroupName"),
    ("vpc-id", "VpcId"),
    ("owner-id", "OwnerId"),
    ("description", "Description"),
];

/// The name of the group that a VPC is made with.
const DEFAULT: &str = "default";

/// Is one security group.
#[derive(Debug, Clone)]
pub(in crate::sandbox) struct Group {
    name: String,
    description: String,
    pub(super) vpc: String,
    pub(super) tags: BTreeMap<String, String>,
    pub(super) ingress: Rules,
    pub(super) egress: Rules,
}

impl Group {
    /// Makes the default group of a VPC, which lets its own members in.
    pub(super) fn default_of(vpc: &str, id: &str) -> Self {
        let own = Traffic { peer: Peer::Group(id.to_owned()), ..everything() };
        Self {
            name: DEFAULT.to_owned(),
            description: "default VPC security group".to_owned(),
            vpc: vpc.to_owned(),
            tags: BTreeMap::new(),
            ingress: Rules::from([(own, None)]),
            egress: Rules::from([(everything(), None)]),
        }
    }

    pub(super) fn is_default_of(&self, vpc: &str) -> bool {
        self.vpc == vpc && self.name == DEFAULT
    }

    fn describe(&self, id: &str, scope: &Scope) -> Value {
        let Scope { account, region } = scope;
        let arn = format!("arn:aws:ec2:{region}:{account}:security-group/{id}");
        let tags = self.tags.iter().map(|(key, value)| json!({"Key": key, "Value": value}));
        json!({
            "GroupId": id,
            "GroupName": self.name,
            "Description": self.description,
            "VpcId": self.vpc,
            "OwnerId": account,
            "SecurityGroupArn": arn,
            "IpPermissions": described(&self.ingress, account.as_str()),
            "IpPermissionsEgress": described(&self.egress, account.as_str()),
            "Tags": tags.collect::<Vec<_>>(),
        })
    }

    fn names(&self, id: &str) -> bool {
        let mut rules = self.ingress.keys().chain(self.egress.keys());
        rules.any(|rule| rule.peer == Peer::Group(id.to_owned()))
    }
}

/// Says that a group does not exist.
pub(super) fn no_group(id: &str) -> Refusal {
    let text = format!("The security group '{id}' does not exist");
    Refusal::new("InvalidGroup.NotFound", text)
}

fn describe(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let groups = site.state.ec2.groups.iter();
    let all: BTreeMap<String, Value> =
        groups.map(|(id, group)| (id.clone(), group.describe(id, site.scope))).collect();
    let ids = args.texts("GroupIds")?.unwrap_or_default();
    list(&all, args, "SecurityGroups", &ids, "InvalidGroup.NotFound", FILTERS)
}

fn create(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let name = named(args.required("GroupName")?)?;
    let description = args.required("Description")?.to_owned();
    let vpc = args.required("VpcId")?.to_owned();
    if !site.state.ec2.vpcs.contains_key(&vpc) {
        let text = format!("The vpc ID '{vpc}' does not exist");
        return Err(Refusal::new("InvalidVpcID.NotFound", text));
    }
    let mut groups = site.state.ec2.groups.values();
    if groups.any(|group| group.vpc == vpc && group.name.eq_ignore_ascii_case(&name)) {
        let text = format!("The security group '{name}' already exists for VPC '{vpc}'");
        return Err(Refusal::new("InvalidGroup.Duplicate", text));
    }
    let mut tags = BTreeMap::new();
    for specification in args.objects("TagSpecifications")? {
        if specification.required("ResourceType")? != "security-group" {
            return Err(Refusal::value("the tags are not those of a security group"));
        }
        tags.extend(specification.tags()?);
    }
    let egress = Rules::from([(everything(), None)]);
    let group = Group { name, description, vpc, tags, ingress: Rules::new(), egress };
    let id = id(site.random, "sg");
    let answer = json!({"GroupId": id, "Tags": group.describe(&id, site.scope)["Tags"]});
    site.state.ec2.groups.insert(id, group);
    Ok(answer)
}

/// Checks a name: letters, digits and some signs, not as an id begins, and not the default group's.
fn named(text: &str) -> Result<String, Refusal> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || " ._-:/()#,@[]+=&;{}!$*".contains(c);
    if text.eq_ignore_ascii_case(DEFAULT) {
        let message = format!("The security group name '{text}' is reserved");
        return Err(Refusal::new("InvalidGroup.Reserved", message));
    }
    if text.len() > 255 || !text.chars().all(allowed) || text.starts_with("sg-") {
        return Err(Refusal::value(format!("Invalid security group name '{text}'")));
    }
    Ok(text.to_owned())
}

fn delete(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let id = args.required("GroupId")?;
    let group = site.state.ec2.groups.get(id).ok_or_else(|| no_group(id))?;
    if group.name == DEFAULT {
        let text = "the specified group: \"default\" name: cannot be deleted by a user";
        return Err(Refusal::new("CannotDelete", text));
    }
    let mut others = site.state.ec2.groups.iter().filter(|(other, _)| *other != id);
    let is_named = others.any(|(_, other)| other.names(id));
    let is_used = site.state.rds.instances.values().any(|instance| instance.is_in_group(id));
    if is_named || is_used || site.state.autoscaling.is_in_group(id) {
        let text = format!("resource {id} has a dependent object");
        return Err(Refusal::new("DependencyViolation", text));
    }
    site.state.ec2.groups.remove(id);
    Ok(json!({"Return": true, "GroupId": id}))
}
