//! From `network.ingress` and `network.egress` to the security group that they ask for.
//!
//! In: the rules and their [`Placement`]. Out: a [`Resource`]. Another workspace's group is a
//! reference, which has to carry that workspace's ownership tag: a stranger of its name is let in
//! nowhere. Its rules are texts in the form of [`Traffic`], with the description in brackets.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::reading::{Named, peer, ports};
use super::spec::TrafficRule;
use crate::model::desired::Field;
use crate::model::{Input, Output, Peer, Resource, ResourceId, Scope, Traffic};

/// The member of a described group that holds its id.
pub const GROUP_ID: &str = "GroupId";

/// Says where a security group lives, whose it is, and who else has one.
#[derive(Debug, Clone)]
pub struct Placement<'a> {
    /// The account and region.
    pub scope: &'a Scope,
    /// The name of the agent, with which names of groups and ownership tags begin.
    pub agent: &'a str,
    /// The name of the workspace.
    pub workspace: &'a str,
    /// The name that the workspace declares for its group, if it does.
    pub name: Option<&'a str>,
    /// The names that other workspaces declare for theirs, by workspace.
    pub others: BTreeMap<String, String>,
    /// The value of the ownership tag.
    pub owner: &'a str,
    /// The id of the VPC.
    pub vpc: Input,
    /// Whether an existing group without our tag is taken over.
    pub adopt: bool,
}

impl Placement<'_> {
    fn id(&self, name: &str) -> ResourceId {
        let name = name.to_ascii_lowercase().as_str().into();
        ResourceId { kind: super::NAME, scope: self.scope.clone(), name }
    }

    /// Returns what stands for another workspace's group.
    fn of_workspace(&self, workspace: &str) -> Output {
        let declared = self.others.get(workspace).cloned();
        Output {
            of: self.id(&declared.unwrap_or_else(|| group_name(self.agent, workspace))),
            member: GROUP_ID.to_owned(),
            typed: false,
            owner: Some(format!("{}/Workspace/{workspace}", self.agent)),
            adopt: false,
        }
    }
}

/// Returns the name of a workspace's security group, in the spelling that AWS compares by.
///
/// AWS takes no name that begins as its ids do.
pub fn group_name(agent: &str, workspace: &str) -> String {
    let name = format!("{agent}-{workspace}").to_ascii_lowercase();
    if name.starts_with("sg-") { format!("group-{name}") } else { name }
}

/// Makes the resource of a workspace's security group; a direction that is `None` is not managed.
pub fn resource(
    ingress: Option<&[TrafficRule]>,
    egress: Option<&[TrafficRule]>,
    placement: &Placement<'_>,
) -> Resource {
    let mut fields = BTreeMap::from([("vpcRef".into(), placement.vpc.clone())]);
    if let Some(rules) = ingress {
        direction(["ingress.addresses", "ingress.groups"], rules, placement, &mut fields);
    }
    if let Some(rules) = egress {
        direction(["egress.addresses", "egress.groups"], rules, placement, &mut fields);
    }
    let derived = || group_name(placement.agent, placement.workspace);
    Resource {
        id: placement.id(&placement.name.map_or_else(derived, str::to_owned)),
        section: Cow::Borrowed("network"),
        fields,
        initial: BTreeMap::new(),
        owner: placement.owner.to_owned(),
        adopt: placement.adopt,
        notices: Vec::new(),
        refusals: Vec::new(),
    }
}

fn direction(
    [addresses, groups]: [&'static str; 2],
    rules: &[TrafficRule],
    placement: &Placement<'_>,
    fields: &mut BTreeMap<Field, Input>,
) {
    let mut outputs = BTreeMap::new();
    let (mut of_addresses, mut of_groups) = (Vec::new(), Vec::new());
    for rule in rules {
        // The manifest was checked; a rule that means nothing is not taken.
        let Ok((protocol, ports)) = ports(rule) else { continue };
        let Ok(named) = peer(rule, placement.workspace) else { continue };
        let peer = stand_in(&named, placement, &mut outputs);
        let list = match peer {
            Peer::Group(_) => &mut of_groups,
            Peer::Block(_) | Peer::PrefixList(_) => &mut of_addresses,
        };
        let text = Traffic { protocol, ports, peer }.to_string();
        list.push(match &rule.description {
            Some(description) => format!("{text} ({description})"),
            None => text,
        });
    }
    fields.insert(addresses.into(), Input::Known(of_addresses.into()));
    fields.insert(groups.into(), with(of_groups.into(), outputs));
}

fn with(value: Value, outputs: BTreeMap<String, Output>) -> Input {
    match outputs.is_empty() {
        true => Input::Known(value),
        false => Input::Template { value, outputs, needs: BTreeSet::new() },
    }
}

/// Returns the other side of a rule, with a marker in the place of an id that is not known here.
fn stand_in(
    named: &Named<'_>,
    placement: &Placement<'_>,
    outputs: &mut BTreeMap<String, Output>,
) -> Peer {
    let (marker, output) = match named {
        Named::Block(block, _) => return Peer::Block(*block),
        Named::PrefixList(id) => return Peer::PrefixList((*id).to_owned()),
        Named::Itself => return Peer::Group("self".to_owned()),
        Named::Group(id) => return Peer::Group((*id).to_owned()),
        Named::Workspace(name) => {
            (format!("workspace.{name}"), placement.of_workspace(name))
        }
        Named::GroupName(name) => {
            let (of, member) = (placement.id(name), GROUP_ID.to_owned());
            let output = Output { of, member, typed: false, owner: None, adopt: false };
            (format!("securityGroup.{name}"), output)
        }
    };
    let text = format!("${{{marker}}}");
    outputs.insert(marker, output);
    Peer::Group(text)
}

/// Lists the other workspaces that rules let in, or out to.
pub fn lets_in(rules: &[TrafficRule]) -> impl Iterator<Item = &str> {
    rules.iter().filter_map(|rule| rule.workspace.as_deref())
}
