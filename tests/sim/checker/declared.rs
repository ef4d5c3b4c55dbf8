//! Holds what a call carries against what the manifest declares.

use std::collections::BTreeMap;

use levelset::model::{Call, Scope};
use serde_json::{Value, json};

use super::calls::Writing;
use super::{Held, Law, hold};
use crate::sim::reading::tags_of;
use crate::sim::spec::{OWNER_TAG, Workspace};
use crate::sim::world::World;

impl Writing<'_> {
    pub(super) fn is_declared(&self) -> Held {
        let holds = match self.call.operation.as_str() {
            "CreateDBInstance" => self.some_version(|spec, parameter, value| {
                spec.creates_with(&self.pass.key.name, parameter, value)
            }),
            "ModifyDBInstance" => self.some_version(|spec, parameter, value| {
                let declared = spec.declared(&self.pass.key.name);
                (parameter == "ApplyImmediately" && spec.immediate)
                    || declared.get(parameter).is_some_and(|declared| declared == value)
            }),
            "ModifyDBParameterGroup" => self
                .specs()
                .iter()
                .any(|spec| has_parameters(spec, &self.call.params["Parameters"])),
            "CreateDBSubnetGroup" | "ModifyDBSubnetGroup" => self.holds_all_subnets(),
            "CreateDBParameterGroup" => {
                let tags = tags_of(&self.call.params["Tags"]);
                self.specs().iter().any(|spec| spec.tags_at_creation(&self.pass.key.name) == tags)
            }
            "AddTagsToResource" => {
                let tags = tags_of(&self.call.params["Tags"]);
                let declares = |spec: &Workspace| {
                    let declared = spec.tags.clone().unwrap_or_default();
                    tags.iter().all(|(key, value)| declared.get(key) == Some(value))
                };
                self.is_adoption() || self.leaves_or_takes_up() || self.specs().iter().any(declares)
            }
            _ => self.is_deletion() || self.is_declared_access(),
        };
        hold(Law::OnlyWhatIsDeclaredTravels, holds, || self.text())
    }

    /// Tells whether all that is done is to take over what the manifest says is to be taken over.
    pub(super) fn is_adoption(&self) -> bool {
        let owner = BTreeMap::from([(OWNER_TAG.to_owned(), self.owner())]);
        self.call.operation == "AddTagsToResource"
            && tags_of(&self.call.params["Tags"]) == owner
            && self.annotations().iter().any(|annotations| annotations.adopts)
    }

    /// Tells whether one version of the manifest declares everything in the call.
    fn some_version(&self, declares: impl Fn(&Workspace, &str, &Value) -> bool) -> bool {
        let is_own_group = |spec: &Workspace, name: &str, value: &Value| {
            let own = self.group_of(&self.pass.key.name);
            name == "VpcSecurityGroupIds"
                && spec.access.has_group()
                && own.is_some_and(|group| *value == json!([group["GroupId"]]))
        };
        self.specs().iter().any(|spec| {
            self.call.params.iter().all(|(name, value)| {
                name == "DBInstanceIdentifier"
                    || declares(spec, name, value)
                    || is_own_group(spec, name, value)
            })
        })
    }

    fn holds_all_subnets(&self) -> bool {
        let network = self.name().trim_start_matches("levelset-");
        let mut ids: Vec<&str> = self.call.params["SubnetIds"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        ids.sort_unstable();
        ids == subnets(self.world, &self.call.scope, network)
    }
}

fn has_parameters(spec: &Workspace, parameters: &Value) -> bool {
    parameters.as_array().into_iter().flatten().all(|parameter| {
        let name = parameter["ParameterName"].as_str().unwrap_or_default();
        spec.parameters.get(name).is_some_and(|value| parameter["ParameterValue"] == **value)
    })
}

/// Returns the id of a VPC.
pub(super) fn vpc_of(world: &World, scope: &Scope, network: &str) -> Value {
    let call = Call::new("ec2", "DescribeVpcs");
    let vpcs = world.sandbox.door("auditor").ask(scope, &call).unwrap();
    let is_it =
        |vpc: &&Value| tags_of(&vpc["Tags"]).get("Name").is_some_and(|name| name == network);
    vpcs["Vpcs"].as_array().unwrap().iter().find(is_it).unwrap()["VpcId"].clone()
}

/// Returns the ids of the subnets of a VPC, in order.
fn subnets(world: &World, scope: &Scope, network: &str) -> Vec<String> {
    let vpc = vpc_of(world, scope, network);
    let call = Call::new("ec2", "DescribeSubnets");
    let all = world.sandbox.door("auditor").ask(scope, &call).unwrap();
    let of_it = all["Subnets"].as_array().unwrap().iter().filter(|subnet| subnet["VpcId"] == vpc);
    let mut ids: Vec<String> =
        of_it.map(|subnet| subnet["SubnetId"].as_str().unwrap().to_owned()).collect();
    ids.sort_unstable();
    ids
}
