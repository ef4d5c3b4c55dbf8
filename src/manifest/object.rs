//! One good manifest.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::annotations::{self, ADOPT, OWNER, SNOOZE_UNTIL, SUSPEND};
use super::references::Mention;
use crate::manifest::network::NetworkSpec;
use crate::manifest::workspace::WorkspaceSpec;
use crate::model::{Finding, Holder, Holds, Key, ObjectKind, Policy, Snooze};

/// Holds one object as its manifest declares it.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// Its kind and name.
    pub key: Key,
    /// What it declares.
    pub spec: Spec,
    /// `metadata.annotations`, ordered by name.
    pub annotations: Box<[(String, String)]>,
    /// The file it stands in, from the root of the repository.
    pub path: Arc<str>,
    /// The line of its first member, counted from 1.
    pub line: u32,
    /// The lines of the annotations that hold the agent back, counted from 1.
    pub hold_lines: BTreeMap<&'static str, u32>,
    /// A SHA-256 of the parsed spec in hexadecimal: equal digests mean equal meaning, whatever the
    /// comments and the layout.
    pub digest: Arc<str>,
    /// The outputs of resources that its texts name.
    pub mentions: Vec<Mention>,
}

/// Holds the `spec` of a manifest.
#[expect(clippy::large_enum_variant, reason = "an object is made once and then shared")]
#[derive(Debug, Clone, PartialEq)]
pub enum Spec {
    /// Of a `Workspace`.
    Workspace(WorkspaceSpec),
    /// Of a `Network`.
    Network(NetworkSpec),
}

impl Object {
    /// Returns the environment that selects the account.
    pub fn environment(&self) -> &str {
        match &self.spec {
            Spec::Workspace(spec) => &spec.environment,
            Spec::Network(spec) => &spec.environment,
        }
    }

    /// Returns the name of the network that it lives in.
    pub fn network(&self) -> Option<&str> {
        match &self.spec {
            Spec::Workspace(spec) => {
                spec.resources.network.as_ref().map(|network| &*network.vpc_ref)
            }
            Spec::Network(_) => None,
        }
    }

    /// Returns who owns the object, in free text.
    pub fn owner(&self) -> Option<&str> {
        self.annotation(OWNER)
    }

    /// Returns what its annotations say about leaving it alone.
    pub fn holds(&self) -> Holds {
        let suspended = if self.has(SUSPEND) { vec![self.holder(SUSPEND)] } else { Vec::new() };
        let until = self.annotation(SNOOZE_UNTIL).and_then(annotations::moment);
        let snoozed = until.map(|until| Snooze { until, by: self.holder(SNOOZE_UNTIL) });
        Holds { suspended, snoozed }
    }

    fn holder(&self, annotation: &str) -> Holder {
        let line = self.hold_lines.get(annotation).copied().unwrap_or(self.line);
        Holder::Annotation { path: Arc::clone(&self.path), line }
    }

    /// Tells whether the object may take over existing resources without our tag.
    pub fn adopts(&self) -> bool {
        self.has(ADOPT)
    }

    /// Iterates over the other objects that its texts name.
    pub fn named(&self) -> impl Iterator<Item = &Key> {
        self.mentions.iter().filter_map(|mention| mention.reference.object.as_ref())
    }

    fn has(&self, annotation: &str) -> bool {
        self.annotation(annotation) == Some("true")
    }

    fn annotation(&self, name: &str) -> Option<&str> {
        let mut all = self.annotations.iter();
        all.find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns how the object wants to be reconciled.
    pub fn policy(&self) -> &Policy {
        match &self.spec {
            Spec::Workspace(spec) => &spec.reconcile_policy,
            Spec::Network(spec) => &spec.reconcile_policy,
        }
    }
}

impl Spec {
    /// Returns the kind of object that it belongs to.
    pub fn kind(&self) -> ObjectKind {
        match self {
            Self::Workspace(_) => ObjectKind::Workspace,
            Self::Network(_) => ObjectKind::Network,
        }
    }

    /// Returns it as JSON, in the spelling of the manifest.
    pub(super) fn to_value(&self) -> Value {
        let value = match self {
            Self::Workspace(spec) => serde_json::to_value(spec),
            Self::Network(spec) => serde_json::to_value(spec),
        };
        value.unwrap_or_default()
    }

    /// Returns what its meaning gives reason to tell of the object `name`; pointers start at the
    /// manifest.
    pub(super) fn check(&self, name: &str) -> Vec<Finding> {
        match self {
            Self::Workspace(spec) => spec.check(name),
            Self::Network(spec) => spec.check(),
        }
    }
}
