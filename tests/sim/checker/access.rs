//! Holds what is done to security groups and roles against what is declared, and what somebody opened
//! against the time.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use levelset::model::Key;
use serde_json::{Value, json};

use super::calls::Writing;
use super::declared::vpc_of;
use super::{Checker, Held, Law, SLACK, hold};
use crate::sim::access::{Access, group, group_name, role_name, rules_of, trusted};
use crate::sim::reading::{parameter_group, tags_of};
use crate::sim::spec::{OWNER_TAG, Workspace};
use crate::sim::world::{World, scope};

impl Writing<'_> {
    /// Returns the security group of a workspace as it is.
    pub(super) fn group_of(&self, workspace: &str) -> Option<Value> {
        group(self.world, &self.call.scope, &group_name(workspace))
    }

    /// Tells whether some version of the manifest declares what a call does to a group or a role.
    pub(super) fn is_declared_access(&self) -> bool {
        let params = &self.call.params;
        match self.call.operation.as_str() {
            "CreateSecurityGroup" => {
                let tags = params["TagSpecifications"][0]["Tags"].clone();
                let is_in = |spec: &Workspace| {
                    spec.access.has_group()
                        && params["VpcId"] == vpc_of(self.world, &self.call.scope, spec.network)
                };
                self.has_only_our_tag(&tags) && self.specs().iter().any(is_in)
            }
            "AuthorizeSecurityGroupIngress" | "UpdateSecurityGroupRuleDescriptionsIngress" => {
                let rules = self.rules();
                self.some_access(|access| rules.iter().all(|rule| access.lets_in(rule)))
            }
            "RevokeSecurityGroupIngress" => {
                let rules = self.rules();
                self.some_access(|access| {
                    access.has_group() && !rules.iter().any(|rule| access.lets_in(rule))
                })
            }
            "CreateRole" => {
                let grants = self.grants();
                self.has_only_our_tag(&params["Tags"])
                    && self.some_role(|declared| grants.is_subset(declared))
            }
            "AttachRolePolicy" | "PutRolePolicy" | "UpdateAssumeRolePolicy" => {
                let grants = self.grants();
                self.some_role(|declared| grants.is_subset(declared))
            }
            "DetachRolePolicy" | "DeleteRolePolicy" => !self.takes_what_is_declared(),
            "CreateTags" | "TagRole" => self.leaves_or_takes_up(),
            _ => false,
        }
    }

    /// Tells whether a right is taken from a role that every version of it declares: only who deletes
    /// it does that.
    pub(super) fn takes_what_is_declared(&self) -> bool {
        let grants = self.grants();
        let is_named = |grant: &String| grants.iter().any(|taken| grant.starts_with(taken));
        let specs = self.specs();
        let roles: Vec<_> = specs.iter().filter_map(|spec| spec.access.role.as_ref()).collect();
        let declares_it = |grants: BTreeSet<String>| grants.iter().any(is_named);
        roles.iter().all(|role| declares_it(role.grants()))
    }

    fn some_access(&self, test: impl Fn(&Access) -> bool) -> bool {
        self.specs().iter().any(|spec| test(&spec.access))
    }

    fn some_role(&self, test: impl Fn(&BTreeSet<String>) -> bool) -> bool {
        self.some_access(|access| access.role.as_ref().is_some_and(|role| test(&role.grants())))
    }

    fn rules(&self) -> BTreeSet<String> {
        let params = &self.call.params;
        rules_of(&params["IpPermissions"], &json!({"GroupId": params["GroupId"]}))
    }

    /// Lists what a call gives a role, or the beginnings of what it takes.
    fn grants(&self) -> BTreeSet<String> {
        let text = |member: &str| self.call.params.get(member).and_then(Value::as_str);
        let document = |member| {
            let document = text(member)?;
            serde_json::from_str::<Value>(document).ok()
        };
        match self.call.operation.as_str() {
            "CreateRole" => trusted(&document("AssumeRolePolicyDocument").unwrap_or_default()),
            "UpdateAssumeRolePolicy" => trusted(&document("PolicyDocument").unwrap_or_default()),
            "AttachRolePolicy" | "DetachRolePolicy" => {
                [format!("attached {}", text("PolicyArn").unwrap_or_default())].into()
            }
            _ => {
                let name = text("PolicyName").unwrap_or_default();
                let document = document("PolicyDocument");
                let document = document.map(|it| it.to_string()).unwrap_or_default();
                [format!("inline {name} {document}")].into()
            }
        }
    }

    fn has_only_our_tag(&self, tags: &Value) -> bool {
        let tags = tags_of(tags);
        tags.len() == 1 && tags.get(OWNER_TAG) == Some(&self.owner())
    }
}

impl Checker {
    /// Notes that somebody else changed a resource.
    pub(in crate::sim) fn changed_by_others(&mut self, world: &World, name: &str) {
        self.forget_sent(name);
        self.meddled.insert(name.to_owned(), world.clock.passed());
    }

    /// Tells whether somebody else changed something of an object at a time or later.
    pub(super) fn is_changed_since(&self, key: &Key, since: std::time::Duration) -> bool {
        let name = &*key.name;
        let all = [name.to_owned(), parameter_group(name), group_name(name), role_name(name)];
        all.iter().any(|name| self.meddled.get(name).is_some_and(|at| *at >= since))
    }

    /// Notes whether anything keeps the agent from its work.
    pub(super) fn look_at_calm(&mut self, world: &World) {
        let is_calm = world.faults.lock().unwrap().is_empty()
            && world.lease.is_safe()
            && world.is_configured("staging")
            && !world.is_cut.load(Ordering::Relaxed);
        if !is_calm {
            self.disturbed = world.clock.passed();
        }
    }

    /// Holds what somebody opened against the pass that has been made since: it shut that, whatever the
    /// window and the guards.
    pub(super) fn is_shut(&mut self, world: &World, key: &Key) -> Held {
        let now = world.clock.passed();
        let object = self.objects.entry(key.clone()).or_default();
        let Some(before) = object.looked.replace(now) else { return Ok(()) };
        let is_left =
            object.held.is_some() || object.suspended.is_some() || object.snoozed.is_some();
        let since = before.saturating_sub(SLACK);
        let is_troubled = self.disturbed >= since || self.stale.is_some_and(|at| at >= since);
        if is_left || is_troubled || self.is_changed_since(key, since) {
            return Ok(());
        }
        let (docs, annotations) = {
            let repository = world.repository();
            let docs = repository.in_force_since(key, since);
            let docs: Vec<_> =
                docs.into_iter().filter_map(|doc| doc.as_workspace()).cloned().collect();
            (docs, repository.annotated_since(key, since).into_iter().cloned().collect::<Vec<_>>())
        };
        let [spec] = docs.as_slice() else { return Ok(()) };
        let is_still = annotations.iter().any(|it| it.suspended || it.snoozed_until.is_some());
        let is_gone = world.repository().may_be_gone_since(key, since);
        if spec.reports || is_still || is_gone || has_failed(world, key) {
            return Ok(());
        }
        // What nobody else changed is as the agent left it, which other laws are about.
        let names = [group_name(&key.name), role_name(&key.name)];
        if !names.iter().any(|name| self.meddled.contains_key(name)) {
            return Ok(());
        }
        let open = spec.access.beyond(world, &scope(spec.production), &key.name);
        hold(Law::DangerEndsAtOnce, open.is_empty(), || {
            format!("{key} was looked at, and {open:?} is still open")
        })
    }
}

fn has_failed(world: &World, key: &Key) -> bool {
    let records = world.records();
    let record = records.iter().find(|record| record.key == *key);
    record.is_some_and(|record| {
        let ready = record.status.condition("Ready");
        ready.is_some_and(|ready| ready.reason == "RetriesExhausted" || ready.reason == "Failed")
            || record.memory.failures > 0
    })
}
