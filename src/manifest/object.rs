//! One good manifest.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::manifest::network::NetworkSpec;
use crate::manifest::workspace::WorkspaceSpec;
use crate::model::{Key, Policy};

/// Holds one object as its manifest declares it.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// Its kind and name.
    pub key: Key,
    /// What it declares.
    pub spec: Spec,
    /// `metadata.annotations`.
    pub annotations: BTreeMap<String, String>,
    /// The file it stands in, from the root of the repository.
    pub path: Arc<str>,
    /// The line of its first member, counted from 1.
    pub line: u32,
    /// A SHA-256 of the parsed spec in hexadecimal: equal digests mean equal meaning, whatever the
    /// comments and the layout.
    pub digest: Arc<str>,
}

/// Holds the `spec` of a manifest.
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

    /// Returns how the object wants to be reconciled.
    pub fn policy(&self) -> &Policy {
        match &self.spec {
            Spec::Workspace(spec) => &spec.reconcile_policy,
            Spec::Network(spec) => &spec.reconcile_policy,
        }
    }
}
