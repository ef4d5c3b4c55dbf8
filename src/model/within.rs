//! How resources are read that AWS lists by what they are in, such as the records of a zone.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Bound, Call, Observed, Refusal};

/// Is one page of a list: its items, and the call for the next page.
pub type Page = (Vec<Value>, Option<Call>);

/// Says what a container proves to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// There is no such container.
    None,
    /// It is this one of the candidates.
    This(usize),
    /// Several candidates may be meant; says which, and what to do.
    Several(String),
}

/// Says what a resource that is to be made finds where it is to be.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// What it is to be in, if there is such a container.
    pub container: Option<Arc<Observed>>,
    /// What is there beside it, by name.
    pub beside: Vec<(Arc<str>, Arc<Observed>)>,
}

/// States how the resources of a kind are read by what they are in. Pure: calls and answers are data.
///
/// The lists of the kind describe the containers themselves; this describes what is in one.
pub trait Within: Send + Sync + 'static {
    /// Returns the operation that lists what is in a container, and how many items a page has; for a
    /// forecast.
    fn content(&self) -> (&'static str, usize);

    /// Returns the part of a resource's name that says what it is in.
    fn container<'a>(&self, name: &'a str) -> &'a str;

    /// Returns how the names of the resources in a container begin that is one of these: by the best
    /// name that a manifest could mean it by; `None` where the answer does not tell.
    fn called(&self, container: &Observed, all: &[Arc<Observed>]) -> Option<String>;

    /// Returns the candidates for a container, of everything that the kind's lists hold.
    fn candidates(&self, container: &str, all: &[Arc<Observed>]) -> Vec<Arc<Observed>>;

    /// Returns the read that tells more about a candidate, where the list does not tell enough; the
    /// members of its answer are added to the candidate.
    fn proof(&self, container: &str, candidate: &Observed) -> Option<Call>;

    /// Chooses among the candidates.
    fn choose(&self, container: &str, candidates: &[Arc<Observed>]) -> Choice;

    /// Returns the call for the first page of what is in a container.
    fn first(&self, container: &Observed) -> Call;

    /// Reads a page.
    ///
    /// # Errors
    ///
    /// What is wrong with an answer that is no page: nothing may be concluded from it.
    fn page(&self, call: &Call, answer: &Value) -> Result<Page, String>;

    /// Sorts what is in a container to resources by name.
    fn sort(
        &self,
        name: &str,
        container: &Observed,
        items: Vec<Value>,
    ) -> Vec<(String, Map<String, Value>)>;

    /// Returns the read of one resource, which proves its absence where a list took several pages.
    fn look(&self, container: &Observed, name: &str) -> Call;

    /// Tells whether the answer to that read shows the resource.
    fn shows(&self, name: &str, answer: &Value) -> bool;

    /// Returns what the names of those begin with that stand beside a resource.
    fn beside(&self, name: &str) -> Vec<String>;

    /// Adds to a resource that is to be made what only its surroundings tell, and says why it cannot
    /// be made there.
    fn prepare(&self, declared: &mut Bound, around: &Surroundings) -> Vec<Refusal>;
}
