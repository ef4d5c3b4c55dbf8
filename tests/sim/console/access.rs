//! What operators do to security groups and roles.

use std::ops::Range;

use levelset::model::{Call, Scope};
use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use super::ask;
use crate::sim::access::{groups, roles};
use crate::sim::reading::tags_of;
use crate::sim::spec::{OWNER_TAG, pick};
use crate::sim::world::{World, scope};

/// Changes something of a security group or of a role that carries an ownership tag.
pub(in crate::sim) fn meddle(world: &World, random: &mut StdRng) {
    change(world, random, 0..8);
}

/// Opens a security group, or a role, that carries an ownership tag.
pub(in crate::sim) fn open(world: &World, random: &mut StdRng) {
    change(world, random, 4..8);
}

fn change(world: &World, random: &mut StdRng, what: Range<u32>) {
    let place = scope(random.random());
    let is_owned = |thing: &Value| tags_of(&thing["Tags"]).contains_key(OWNER_TAG);
    let groups: Vec<Value> = groups(world, &place).into_iter().filter(is_owned).collect();
    let roles: Vec<Value> = roles(world, &place).into_iter().filter(is_owned).collect();
    let what = random.random_range(what);
    match random.random() {
        true if !groups.is_empty() => change_group(world, (&place, what), pick(random, &groups)),
        _ if !roles.is_empty() => change_role(world, (&place, what), pick(random, &roles)),
        _ => {}
    }
}

fn change_group(world: &World, (place, what): (&Scope, u32), group: &Value) {
    let call = |operation| Call::new("ec2", operation).with("GroupId", group["GroupId"].clone());
    let there = group["IpPermissions"].as_array().into_iter().flatten().next().cloned();
    let call = match (what, there) {
        (0, _) => call("DeleteSecurityGroup"),
        (1, _) => {
            let id = json!([group["GroupId"]]);
            Call::new("ec2", "CreateTags").with("Resources", id).with("Tags", somebody())
        }
        (2 | 3, Some(rule)) => {
            call("RevokeSecurityGroupIngress").with("IpPermissions", json!([bare(rule)]))
        }
        _ => {
            let port = if what.is_multiple_of(2) { 22 } else { 5432 };
            let rule = json!({
                "IpProtocol": "tcp",
                "FromPort": port,
                "ToPort": port,
                "IpRanges": [{"CidrIp": "0.0.0.0/0"}],
            });
            call("AuthorizeSecurityGroupIngress").with("IpPermissions", json!([rule]))
        }
    };
    ask(world, place, call);
    world.check(|checker| {
        checker.changed_by_others(world, group["GroupName"].as_str().unwrap());
        Ok(())
    });
}

fn somebody() -> Value {
    json!([{"Key": OWNER_TAG, "Value": "other/Workspace/theirs"}])
}

/// Leaves out of a permission what a call does not take.
fn bare(mut permission: Value) -> Value {
    if let Some(members) = permission.as_object_mut() {
        members.retain(|_, member| member.as_array().is_none_or(|all| !all.is_empty()));
    }
    permission
}

fn change_role(world: &World, (place, what): (&Scope, u32), role: &Value) {
    let call = |operation| Call::new("iam", operation).with("RoleName", role["RoleName"].clone());
    let attached = role["AttachedManagedPolicies"].as_array().cloned().unwrap_or_default();
    let detach = |it: &Value| call("DetachRolePolicy").with("PolicyArn", it["PolicyArn"].clone());
    let policy =
        |statement: Value| json!({"Version": "2012-10-17", "Statement": [statement]}).to_string();
    let call = match what {
        0 => {
            attached.iter().for_each(|it| ask(world, place, detach(it)));
            for it in role["RolePolicyList"].as_array().into_iter().flatten() {
                let name = it["PolicyName"].clone();
                ask(world, place, call("DeleteRolePolicy").with("PolicyName", name));
            }
            call("DeleteRole")
        }
        1 => call("TagRole").with("Tags", somebody()),
        2 | 3 if !attached.is_empty() => detach(&attached[0]),
        4 => {
            let everything = json!({"Effect": "Allow", "Action": "*", "Resource": "*"});
            let put = call("PutRolePolicy").with("PolicyName", "mine");
            put.with("PolicyDocument", policy(everything))
        }
        5 => {
            let anyone = json!({"AWS": "999999999999"});
            let may = json!({"Effect": "Allow", "Principal": anyone, "Action": "sts:AssumeRole"});
            call("UpdateAssumeRolePolicy").with("PolicyDocument", policy(may))
        }
        _ => {
            let admin = "arn:aws:iam::aws:policy/AdministratorAccess";
            call("AttachRolePolicy").with("PolicyArn", admin)
        }
    };
    ask(world, place, call);
}

/// Gives the tags of what is declared back that somebody gave away.
pub(super) fn give_tags_back(world: &World, place: &Scope) {
    let given_away = |thing: &Value| {
        tags_of(&thing["Tags"]).get(OWNER_TAG).is_some_and(|owner| owner.starts_with("other/"))
    };
    for group in groups(world, place).into_iter().filter(given_away) {
        let name = group["GroupName"].as_str().unwrap();
        let workspace = name.trim_start_matches("levelset-");
        let call = Call::new("ec2", "CreateTags").with("Resources", json!([group["GroupId"]]));
        ask(world, place, call.with("Tags", owner(workspace)));
        world.check(|checker| {
            checker.changed_by_others(world, name);
            Ok(())
        });
    }
    for role in roles(world, place).into_iter().filter(given_away) {
        let workspace = role["RoleName"].as_str().unwrap().trim_end_matches("-monitor");
        let call = Call::new("iam", "TagRole").with("RoleName", role["RoleName"].clone());
        ask(world, place, call.with("Tags", owner(workspace)));
    }
}

fn owner(workspace: &str) -> Value {
    json!([{"Key": OWNER_TAG, "Value": format!("levelset/Workspace/{workspace}")}])
}
