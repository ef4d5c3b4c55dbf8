//! Holds every creation against what was there, what was read, and what was recorded before.

use futures_util::FutureExt;
use levelset::model::{KindName, ResourceId};
use levelset::status::Store;

use super::calls::Writing;
use super::{Held, Law, hold};
use crate::sim::access::{group_name, role_name};
use crate::sim::reading::parameter_group;

/// The calls that make something: what they make, the read that proves its absence, and its code.
const CREATES: [(&str, &str, &str, Option<&str>); 5] = [
    ("CreateDBInstance", "db_instance", "DescribeDBInstances", Some("DBInstanceNotFound")),
    (
        "CreateDBSubnetGroup",
        "db_subnet_group",
        "DescribeDBSubnetGroups",
        Some("DBSubnetGroupNotFoundFault"),
    ),
    (
        "CreateDBParameterGroup",
        "db_parameter_group",
        "DescribeDBParameterGroups",
        Some("DBParameterGroupNotFound"),
    ),
    // A search finds nothing, which is no error.
    ("CreateSecurityGroup", "security_group", "DescribeSecurityGroups", None),
    ("CreateRole", "iam_role", "GetRole", Some("NoSuchEntity")),
];

impl Writing<'_> {
    pub(super) fn is_made_once(&self) -> Held {
        let create = CREATES.iter().find(|(operation, ..)| *operation == self.call.operation);
        let Some((_, kind, read, code)) = create else { return Ok(()) };
        let twins = &self.portrait.twins;
        hold(Law::NothingIsMadeTwice, !self.call.applied || twins.is_empty(), || {
            format!("{}, beside {twins:?}", self.text())
        })?;
        let named = match *kind {
            "db_instance" => self.name() == &*self.pass.key.name,
            "db_subnet_group" => ["levelset-core", "levelset-shared"].contains(&self.name()),
            "security_group" => self.name() == group_name(&self.pass.key.name),
            "iam_role" => self.name() == role_name(&self.pass.key.name),
            _ => self.name() == parameter_group(&self.pass.key.name),
        };
        hold(Law::NothingIsMadeTwice, named, || format!("{}: an odd name", self.text()))?;
        let confirmed = self.pass.confirmed.get(&format!("{read} {}", self.name()));
        let is_proven = confirmed.is_some_and(|refused| refused.as_deref() == *code);
        hold(Law::AbsenceIsProven, is_proven, || {
            format!("{}, but {read} was answered {confirmed:?}", self.text())
        })?;
        hold(Law::IntentsComeFirst, self.is_intended(kind), || self.text())
    }

    fn is_intended(&self, kind: &'static str) -> bool {
        let id = ResourceId {
            kind: KindName::new(kind),
            scope: self.call.scope.clone(),
            name: self.name().into(),
        };
        let intents = self.world.store.intents(&self.pass.key).now_or_never().unwrap().unwrap();
        intents.iter().any(|intent| intent.resource == id)
    }
}
