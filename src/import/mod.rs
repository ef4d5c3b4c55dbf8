//! Puts what an account has already into manifests that change nothing.
//!
//! ```text
//! seen resources -> survey -> group -> compose -> render -> (check, plan) -> mend -> render ...
//! ```
//!
//! In: every resource that was read, and the drafts that its kind makes of it. Out: [`Document`]s, one
//! per object, with their text, and what was left out and why. Whether a text really plans to no change
//! is proven by whoever plans it, with the same stages as the agent and against the same answers; what
//! the plan would change is then taken out again by [`mend`].
//!
//! Invariants: pure; it knows no kind by name; nothing is adopted that somebody else marks as his; a
//! document that cannot be made to plan to no change is told and never written.

pub mod compose;
mod group;
pub mod mend;
mod names;
mod owners;
mod references;
pub mod render;
pub mod scalar;
pub mod survey;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::import::Draft;
use crate::model::sheet::Sheet;
use crate::model::{Key, Observed, ResourceId};

pub use compose::compose;
pub use survey::{Survey, survey};

/// Says what somebody asks to be imported, and how.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// The environment that the manifests name.
    pub environment: String,
    /// The name of the agent, the first part of derived names.
    pub agent: String,
    /// Whether the stricter defaults of production hold.
    pub production: bool,
    /// The tag whose values are workspaces.
    pub group_by: Option<String>,
    /// Only what has all of these tags, and what belongs to it.
    pub tags: Vec<(String, String)>,
    /// Only what is in this VPC, and what belongs to it.
    pub vpc: Option<String>,
    /// Whether what other tools mark as theirs is taken nevertheless.
    pub managed: bool,
}

/// Is a resource that can be declared.
#[derive(Debug, Clone)]
pub struct Found {
    /// The resource.
    pub id: ResourceId,
    /// What AWS answered.
    pub actual: Arc<Observed>,
    /// How it would be declared.
    pub draft: Draft,
    /// The texts by which others name it, with the output that a reference would say.
    pub known: Vec<(String, Option<&'static str>)>,
}

/// Is a resource that no manifest declares, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Left {
    /// The resource.
    pub resource: ResourceId,
    /// Why, in one clause.
    pub reason: String,
}

/// Is one object that is being written.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Its kind and name.
    pub key: Key,
    /// The environment that it names.
    pub environment: String,
    /// Who owns it, as a tag says.
    pub owner: Option<String>,
    /// What it declares: below `spec.resources`, of a network below `spec`.
    pub sheet: Sheet,
    /// The resources that it takes over, and where each stands.
    pub members: Vec<Member>,
    /// What stood in the place of each reference.
    pub originals: BTreeMap<String, String>,
}

/// Is a resource in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The resource.
    pub id: ResourceId,
    /// The paths of what declares it, the one that names it first; none for the document itself.
    pub paths: Vec<String>,
}
