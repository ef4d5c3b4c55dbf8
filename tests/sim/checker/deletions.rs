//! Holds every deletion against Git: what it said before, since when it says nothing, and what would
//! be left without what it needs.

use std::time::Duration;

use levelset::model::{Call, Clock, Key, ObjectKind};
use serde_json::Value;

use super::calls::Writing;
use super::{Checker, Held, Law, Pass, READING, SLACK, hold};
use crate::sim::access::{group_name, role_name};
use crate::sim::reading::parameter_group;
use crate::sim::repository::Stance;
use crate::sim::spec::{Deletion, Doc, Spec, Workspace};
use crate::sim::world::{ACCOUNTS, World};

/// Names something in AWS that manifests declare; true stands for production.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Thing {
    Instance(Key, bool),
    Group(Key, bool),
    /// The security group.
    Ingress(Key, bool),
    Role(Key, bool),
    /// The subnet group of a network.
    Subnets(String, bool),
}

impl Thing {
    /// Tells whether a manifest declares it, or uses it.
    fn is_named_by(&self, doc: &Doc) -> bool {
        let spec = doc.as_workspace().filter(|spec| spec.database);
        match self {
            Self::Instance(key, production) => {
                doc.key == *key && spec.is_some_and(|spec| spec.production == *production)
            }
            Self::Group(key, production) => {
                doc.key == *key
                    && spec.is_some_and(|spec| {
                        spec.production == *production && !spec.parameters.is_empty()
                    })
            }
            Self::Ingress(key, production) | Self::Role(key, production) => {
                let declares = |spec: &Workspace| match self {
                    Self::Role(..) => spec.access.role.is_some(),
                    _ => spec.access.has_group(),
                };
                let spec = doc.as_workspace().filter(|_| doc.key == *key);
                spec.is_some_and(|spec| spec.production == *production && declares(spec))
            }
            Self::Subnets(name, production) => {
                self.is_about(doc)
                    || spec
                        .is_some_and(|spec| spec.network == name && spec.production == *production)
            }
        }
    }

    /// Tells whether a manifest declares it.
    fn is_declared_by(&self, doc: &Doc) -> bool {
        self.is_about(doc) && self.is_named_by(doc)
    }

    /// Tells whether it belongs to the object of a manifest.
    fn is_about(&self, doc: &Doc) -> bool {
        match self {
            Self::Instance(key, _)
            | Self::Group(key, _)
            | Self::Ingress(key, _)
            | Self::Role(key, _) => doc.key == *key,
            Self::Subnets(name, _) => {
                doc.key.kind == ObjectKind::Network && *doc.key.name == **name
            }
        }
    }

    /// Lists what a manifest declares.
    pub(super) fn all_of(doc: &Doc) -> Vec<Self> {
        let all = match &doc.spec {
            Spec::Network { .. } => vec![Self::Subnets(doc.key.name.to_string(), true)],
            Spec::Workspace(spec) => {
                let key = || doc.key.clone();
                let makes = [Self::Instance, Self::Group, Self::Ingress, Self::Role];
                makes.into_iter().map(|make| make(key(), spec.production)).collect()
            }
        };
        all.into_iter().filter(|thing| thing.is_named_by(doc)).collect()
    }
}

impl Writing<'_> {
    /// Returns what a call deletes, as if the object of the pass declared it.
    fn deleted(&self) -> Option<Thing> {
        let (_, account) = ACCOUNTS[0];
        let (key, production) =
            (self.pass.key.clone(), self.call.scope.account.as_str() == account);
        match self.call.operation.as_str() {
            "DeleteDBInstance" => Some(Thing::Instance(key, production)),
            "DeleteDBParameterGroup" => Some(Thing::Group(key, production)),
            "DeleteSecurityGroup" => Some(Thing::Ingress(key, production)),
            "DeleteRole" => Some(Thing::Role(key, production)),
            "DetachRolePolicy" | "DeleteRolePolicy" if self.takes_what_is_declared() => {
                Some(Thing::Role(key, production))
            }
            "DeleteDBSubnetGroup" => {
                let network = self.name().trim_start_matches("levelset-");
                Some(Thing::Subnets(network.to_owned(), production))
            }
            _ => None,
        }
    }

    pub(super) fn is_deletion(&self) -> bool {
        self.deleted().is_some()
    }

    /// Holds a deletion against everything that speaks against it.
    pub(super) fn is_due(&self, checker: &Checker) -> Held {
        let Some(thing) = self.deleted() else { return Ok(()) };
        let is_own = match &thing {
            Thing::Instance(key, _) => *key.name == *self.name(),
            Thing::Group(key, _) => parameter_group(&key.name) == self.name(),
            Thing::Ingress(key, _) => group_name(&key.name) == self.name(),
            Thing::Role(key, _) => role_name(&key.name) == self.name(),
            Thing::Subnets(name, _) => *self.pass.key.name == **name,
        };
        hold(Law::OnlyOursIsTouched, is_own, || self.text())?;
        self.is_late_enough(&thing)?;
        self.is_unprotected(checker)?;
        self.is_said(&thing, checker)?;
        let users = &self.portrait.users;
        let is_free = users.is_empty()
            || users.iter().any(|user| checker.is_meddled(user, self.pass))
            || checker.is_stale(self.pass)
            || checker.is_short(self.pass);
        hold(Law::DependentsGoFirst, is_free, || format!("{}, used by {users:?}", self.text()))
    }

    /// Holds a deletion against the commits that it may rest on.
    fn is_late_enough(&self, thing: &Thing) -> Held {
        let known = self.world.clock.passed().saturating_sub(READING);
        let repository = self.world.repository();
        let stance = |at| {
            let stance = |names: &dyn Fn(&Doc) -> bool| {
                repository.stance_at(at, names, |doc| thing.is_about(doc))
            };
            // Who used it last says nothing of its grace period, and everything while they do.
            match stance(&|doc| thing.is_named_by(doc)) {
                Stance::Gone(_) => stance(&|doc| thing.is_declared_by(doc)),
                other => other,
            }
        };
        let stances: Vec<Stance> =
            repository.delivered_since(known).into_iter().map(stance).collect();
        let (now, grace) = (self.world.clock.now(), self.world.profile.grace);
        let is_over = |stance: &Stance| match stance {
            Stance::Gone(seen) => Duration::try_from(now.duration_since(*seen)).unwrap() >= grace,
            Stance::Named | Stance::Unclear => false,
        };
        hold(Law::NothingIsDeletedEarly, stances.iter().any(is_over), || {
            format!("{}: {stances:?}", self.text())
        })
    }

    fn is_unprotected(&self, checker: &Checker) -> Held {
        let instance = self.portrait.instance.as_ref();
        let is_protected = instance.is_some_and(|it| it["DeletionProtection"] == true);
        let is_excused = checker.is_meddled(self.name(), self.pass) || checker.is_stale(self.pass);
        hold(Law::NothingIsDeletedEarly, !is_protected || is_excused, || {
            format!("{}, which is protected", self.text())
        })
    }

    /// Holds a deletion against what the newest manifest says of it, also in a commit that no agent read
    /// or could record, and what the last pass knew that saw it declared; the more careful word counts.
    fn is_said(&self, thing: &Thing, checker: &Checker) -> Held {
        let object = checker.objects.get(&self.pass.key);
        let at_pass = object.and_then(|object| object.words.get(thing).copied());
        let newest = self.docs().last().map(Doc::deletion);
        let known = self.pass.began.saturating_sub(READING);
        let last =
            self.world.repository().last_words_since(&self.pass.key, known).into_iter().max();
        let word = at_pass.min(newest).min(last).unwrap_or(Deletion::Retain);
        let skips = self.call.params.get("SkipFinalSnapshot") == Some(&Value::Bool(true));
        let least = if skips { Deletion::Delete } else { Deletion::Snapshot };
        hold(Law::DeletionNeedsGitsWord, word >= least, || {
            let words =
                format!("at the last pass {at_pass:?}, newest {newest:?}, in history {last:?}");
            format!("{}, and Git said {word:?}: {words}", self.text())
        })?;
        let Some(name) = self.call.params.get("FinalDBSnapshotIdentifier") else { return Ok(()) };
        hold(Law::DeletionNeedsGitsWord, !self.call.applied || self.is_snapshot(name), || {
            format!("{}, and there is no such snapshot", self.text())
        })
    }

    fn is_snapshot(&self, name: &Value) -> bool {
        let ask =
            Call::new("rds", "DescribeDBSnapshots").with("DBSnapshotIdentifier", name.clone());
        let answer = self.world.sandbox.door("auditor").ask(&self.call.scope, &ask);
        answer.is_ok_and(|answer| answer["DBSnapshots"][0]["DBInstanceIdentifier"] == self.name())
    }
}

impl Checker {
    /// Notes what a pass that is on record knew of the deletion of what it declares.
    pub(super) fn note_words(&mut self, world: &World, pass: &Pass) {
        let repository = world.repository();
        let is_it = |doc: &Doc| doc.key == pass.key;
        // What a guard holds back is worked on as it was before the commit that does not name it.
        let known = self.known_since(pass);
        if matches!(repository.stance_at(known, is_it, is_it), Stance::Gone(_)) {
            return;
        }
        let object = self.objects.entry(pass.key.clone()).or_default();
        let mut words = std::collections::BTreeMap::new();
        let since = known.min(pass.began.saturating_sub(SLACK));
        for doc in repository.in_force_since(&pass.key, since) {
            for thing in Thing::all_of(doc) {
                let word = words.entry(thing).or_insert(doc.deletion());
                *word = doc.deletion().max(*word);
            }
        }
        object.words.extend(words);
    }
}
