//! The port to what the agent knows.

use std::future::Future;
use std::pin::Pin;

use serde_json::Value;

use super::page::Page;
use crate::model::{Freeze, Key, ObjectKind, Problem};

/// Says why the agent could not answer; for people, without a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CatalogError(pub String);

/// The future of an answer of the catalog.
pub type CatalogFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, CatalogError>> + Send + 'a>>;

/// Answers what the agent knows about objects and about itself.
///
/// An object is JSON as its manifest has it, with `status` beside `spec`.
pub trait Catalog: Send + Sync {
    /// Returns a page of the objects of a kind, ordered by name.
    fn list<'a>(&'a self, kind: ObjectKind, page: &'a Page) -> CatalogFuture<'a, Listed>;

    /// Returns one object.
    fn get<'a>(&'a self, key: &'a Key) -> CatalogFuture<'a, Option<Value>>;

    /// Returns what is wrong with the manifests of the newest commit.
    fn problems(&self) -> Vec<Problem>;

    /// Returns what guards froze until a person confirms it, ordered by guard.
    fn freezes(&self) -> CatalogFuture<'_, Vec<Freeze>>;

    /// Says how the agent is; answers at once.
    fn health(&self) -> Health;
}

/// Holds a page of a list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listed {
    /// The objects.
    pub items: Vec<Value>,
    /// The name after which the next page begins; `None` when there is none.
    pub next: Option<String>,
}

/// Says how the agent is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    /// Why the agent should be restarted: its worker loop does not turn. `None` when it is alive.
    pub stuck: Option<String>,
    /// Why its answers are not complete yet. `None` after the first full list of the repository.
    pub not_ready: Option<String>,
}
