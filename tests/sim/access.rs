//! Who is let in to a workspace, and what watches its database: the rules of its security group, and
//! a role.

use std::collections::BTreeSet;

use levelset::model::{Call, Scope};
use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use super::reading::tags_of;
use super::spec::{OWNER_TAG, pick};
use super::world::World;

/// The rules that a manifest may have, and what each lets in.
const RULES: [(&str, &str); 3] = [
    ("{port: 5432, self: true}", "tcp 5432-5432 self"),
    ("{port: 8000, cidr: 10.20.0.0/16, description: office}", "tcp 8000-8000 10.20.0.0/16"),
    ("{protocol: udp, ports: 500-510, cidr: 10.30.0.0/16}", "udp 500-510 10.30.0.0/16"),
];

/// The policies that a manifest may attach to a role.
const POLICIES: [&str; 2] = [
    "arn:aws:iam::aws:policy/service-role/AmazonRDSEnhancedMonitoringRole",
    "arn:aws:iam::aws:policy/CloudWatchReadOnlyAccess",
];

/// The name of the inline policy that a manifest may have.
const INLINE: &str = "logs";

/// Who may take a role on: RDS, and a second service or not.
const SERVICES: [&str; 2] = ["monitoring.rds.amazonaws.com", "ecs-tasks.amazonaws.com"];

/// Declares a role of a workspace; its database is watched by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Role {
    services: usize,
    policies: BTreeSet<&'static str>,
    has_inline: bool,
}

/// Declares who is let in, and the role.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Access {
    /// What each rule is in a manifest; nothing when it has no section `ingress`.
    ingress: Option<BTreeSet<usize>>,
    pub(super) role: Option<Role>,
}

impl Access {
    pub(super) fn random(random: &mut StdRng) -> Self {
        let mut access = Self::default();
        for _ in 0..random.random_range(0..5) {
            access.edit(random);
        }
        access
    }

    /// Changes one thing, as a developer would.
    pub(super) fn edit(&mut self, random: &mut StdRng) {
        match random.random_range(0..8) {
            0..4 => {
                let (rules, rule) =
                    (self.ingress.get_or_insert_default(), random.random_range(0..3));
                if !rules.remove(&rule) {
                    rules.insert(rule);
                }
            }
            4 => self.ingress = None,
            5 if random.random() => self.role = None,
            _ => {
                let policies = [*pick::<&str>(random, &POLICIES)].into();
                let (services, has_inline) = (random.random_range(1..=2), random.random());
                self.role = Some(Role { services, policies, has_inline });
            }
        }
    }

    pub(super) fn has_group(&self) -> bool {
        self.ingress.is_some()
    }

    /// Returns what the section `network` holds beside its VPC.
    pub(super) fn network_text(&self) -> String {
        let Some(rules) = &self.ingress else { return String::new() };
        let rules: Vec<&str> = rules.iter().map(|rule| RULES[*rule].0).collect();
        format!(", ingress: [{}]", rules.join(", "))
    }

    /// Returns the section `iam`, and nothing without a role.
    pub(super) fn iam_text(&self) -> String {
        let Some(role) = &self.role else { return String::new() };
        let declared = json!({"roles": {"monitor": {
            "trust": {"services": role.services()},
            "policies": role.policies,
            "inline": role.inline(),
        }}});
        format!("    iam: {declared}\n")
    }

    /// Tells whether the group of the workspace is declared to let something in.
    pub(super) fn lets_in(&self, rule: &str) -> bool {
        self.rules().is_some_and(|rules| rules.contains(rule))
    }

    fn rules(&self) -> Option<BTreeSet<String>> {
        let rules = self.ingress.as_ref()?.iter();
        Some(rules.map(|rule| RULES[*rule].1.to_owned()).collect())
    }

    /// Says how what is there differs from what is declared.
    pub(super) fn converged(&self, world: &World, scope: &Scope, name: &str) -> Result<(), String> {
        let owner = format!("levelset/Workspace/{name}");
        if let Some(declared) = self.rules() {
            let group = group(world, scope, &group_name(name));
            let group = group.ok_or_else(|| format!("{name} has no security group"))?;
            let actual = rules_of(&group["IpPermissions"], &group);
            if actual != declared || tags_of(&group["Tags"]).get(OWNER_TAG) != Some(&owner) {
                return Err(format!("{name} lets {actual:?} in, declared is {declared:?}"));
            }
        }
        let Some(declared) = &self.role else { return Ok(()) };
        let role = role(world, scope, &role_name(name));
        let role = role.ok_or_else(|| format!("{name} has no role"))?;
        // Whose a role is, is looked at more rarely.
        match declared.grants() == grants_of(&role) {
            true => Ok(()),
            false => Err(format!("{name} has the role {role}, declared is {declared:?}")),
        }
    }

    /// Lists what is let in, or granted to the role, beyond what is declared, where it is ours.
    pub(super) fn beyond(&self, world: &World, scope: &Scope, name: &str) -> BTreeSet<String> {
        let is_ours = |thing: &Value| {
            let owner = format!("levelset/Workspace/{name}");
            tags_of(&thing["Tags"]).get(OWNER_TAG) == Some(&owner)
        };
        let mut beyond = BTreeSet::new();
        let group = group(world, scope, &group_name(name)).filter(is_ours);
        if let (Some(declared), Some(group)) = (self.rules(), group) {
            beyond.extend(&rules_of(&group["IpPermissions"], &group) - &declared);
        }
        let role = role(world, scope, &role_name(name)).filter(is_ours);
        if let (Some(declared), Some(role)) = (&self.role, role) {
            beyond.extend(&grants_of(&role) - &declared.grants());
        }
        beyond
    }
}

impl Role {
    fn services(&self) -> &'static [&'static str] {
        &SERVICES[..self.services]
    }

    fn inline(&self) -> Value {
        let document = json!({"Version": "2012-10-17", "Statement": [
            {"Effect": "Allow", "Action": "logs:PutLogEvents", "Resource": "*"},
        ]});
        if self.has_inline { json!({INLINE: document}) } else { json!({}) }
    }

    /// Lists who may take it on and what that allows.
    pub(super) fn grants(&self) -> BTreeSet<String> {
        let trust = json!({"Statement": {"Principal": {"Service": self.services()}}});
        let policies = self.policies.iter().map(|arn| format!("attached {arn}"));
        let inline = self.inline();
        let inline = inline.as_object().into_iter().flatten();
        let inline = inline.map(|(name, document)| format!("inline {name} {document}"));
        policies.chain(inline).chain(trusted(&trust)).collect()
    }
}

/// Returns the name of a workspace's security group.
pub(super) fn group_name(workspace: &str) -> String {
    format!("levelset-{workspace}")
}

/// Returns the name of a workspace's role.
pub(super) fn role_name(workspace: &str) -> String {
    format!("{workspace}-monitor")
}

/// Returns the ARN of a workspace's role.
pub(super) fn role_arn(account: &str, workspace: &str) -> String {
    format!("arn:aws:iam::{account}:role/{}", role_name(workspace))
}

fn list(world: &World, scope: &Scope, call: Call, member: &str) -> Vec<Value> {
    let answer = world.sandbox.door("auditor").ask(scope, &call).unwrap();
    answer[member].as_array().cloned().unwrap_or_default()
}

/// Lists the security groups of an account.
pub(super) fn groups(world: &World, scope: &Scope) -> Vec<Value> {
    list(world, scope, Call::new("ec2", "DescribeSecurityGroups"), "SecurityGroups")
}

/// Lists the roles of an account, save those that are new.
pub(super) fn roles(world: &World, scope: &Scope) -> Vec<Value> {
    let call = Call::new("iam", "GetAccountAuthorizationDetails").with("Filter", json!(["Role"]));
    list(world, scope, call.with("MaxItems", 1000), "RoleDetailList")
}

/// Finds a security group.
pub(super) fn group(world: &World, scope: &Scope, name: &str) -> Option<Value> {
    groups(world, scope).into_iter().find(|group| group["GroupName"] == name)
}

/// Finds a role.
pub(super) fn role(world: &World, scope: &Scope, name: &str) -> Option<Value> {
    roles(world, scope).into_iter().find(|role| role["RoleName"] == name)
}

/// Lists what permissions of a group let through.
pub(super) fn rules_of(permissions: &Value, group: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for permission in permissions.as_array().into_iter().flatten() {
        let protocol = permission["IpProtocol"].as_str().unwrap_or_default();
        let ports = format!("{}-{}", permission["FromPort"], permission["ToPort"]);
        let peers = |list: &str, member: &str| -> Vec<Value> {
            let all = permission[list].as_array().into_iter().flatten();
            all.map(|peer| peer[member].clone()).collect()
        };
        let blocks = [peers("IpRanges", "CidrIp"), peers("Ipv6Ranges", "CidrIpv6")].concat();
        let groups = peers("UserIdGroupPairs", "GroupId").into_iter();
        let groups = groups.map(|id| if id == group["GroupId"] { json!("self") } else { id });
        for peer in blocks.into_iter().chain(groups) {
            found.insert(format!("{protocol} {ports} {}", peer.as_str().unwrap_or_default()));
        }
    }
    found
}

/// Lists who may take a role on and what that allows.
pub(super) fn grants_of(role: &Value) -> BTreeSet<String> {
    let all = |member: &str| role[member].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let attached = all("AttachedManagedPolicies").into_iter();
    let attached = attached.map(|it| format!("attached {}", text(&it["PolicyArn"])));
    let inline = all("RolePolicyList").into_iter();
    let inline =
        inline.map(|it| format!("inline {} {}", text(&it["PolicyName"]), it["PolicyDocument"]));
    attached.chain(inline).chain(trusted(&role["AssumeRolePolicyDocument"])).collect()
}

/// Lists whom a trust policy names.
pub(super) fn trusted(document: &Value) -> BTreeSet<String> {
    let many = |value: &Value| match value {
        Value::Null => Vec::new(),
        Value::Array(all) => all.clone(),
        one => vec![one.clone()],
    };
    let principals = many(&document["Statement"]).into_iter().flat_map(|statement| {
        let principal = &statement["Principal"];
        [many(&principal["Service"]), many(&principal["AWS"])].concat()
    });
    principals.map(|principal| format!("trusts {principal}")).collect()
}
