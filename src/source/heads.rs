//! The branch and the heads of pull requests, with the history that a merge needs.
//!
//! In: a [`Location`] and the names of references. Out: a repository on this machine in which they can
//! be merged, and the commits that they are at.
//!
//! The mirror is one of its own beside the one that the agent follows, which holds no history. It is
//! made by the same child process, within the same bounds, and may be thrown away as well.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::access::{Access, FetchRequest, Fetched};
use super::fetch::ask;
use super::{Checkout, Location, SourceError};
use crate::model::Revision;

/// Holds what was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heads {
    /// Where it can be merged.
    pub checkout: Checkout,
    /// The tip of the branch.
    pub tip: Revision,
    /// The commits of the references, by their names; one that is gone is not in it.
    pub heads: BTreeMap<String, Revision>,
}

/// Fetches the branch and references beside it; with `rebuild`, the mirror is made anew.
///
/// # Errors
///
/// Those of [`read_once`](super::read_once), apart from a folder that is missing or empty.
pub async fn fetch_heads(
    location: &Location,
    access: &Access,
    heads: &[String],
    rebuild: bool,
) -> Result<Heads, SourceError> {
    let request = FetchRequest::with_heads(location, access, heads, rebuild);
    let fetched = ask(access, &request).await?;
    Ok(Heads::of(location, fetched, request.mirror))
}

impl Heads {
    pub(super) fn of(location: &Location, fetched: Fetched, mirror: PathBuf) -> Self {
        let revision = |(name, id): (String, String)| (name, Revision::new(id));
        Self {
            checkout: Checkout { repository: mirror, folder: location.folder().to_owned() },
            tip: Revision::new(fetched.commit),
            heads: fetched.heads.into_iter().map(revision).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::testing::World;
    use crate::source::{Merged, merge};

    fn fetched(world: &World, heads: &[&str]) -> Heads {
        world.fetch_heads()(heads.iter().map(ToString::to_string).collect(), false).unwrap()
    }

    #[test]
    fn a_head_is_fetched_with_the_history_that_its_merge_needs() {
        let world = World::new();
        world.commit(&[("a.yaml", Some("a"))]);
        let name = "refs/pull/7/head";
        let head = Revision::new(world.branch(name, &[("b.yaml", Some("b"))]).to_string());
        let tip = world.commit(&[("c.yaml", Some("c"))]);
        let found = fetched(&world, &[name, "refs/pull/8/head"]);
        assert_eq!(found.heads, BTreeMap::from([(name.to_owned(), head.clone())]));
        assert_eq!(found.tip.as_str(), tip.to_string());
        let proposal = merge(&found.checkout, found.tip.as_str(), head.as_str()).unwrap();
        let Merged::Files(changes) = proposal.merged else { panic!("{:?}", proposal.merged) };
        assert_eq!(changes.changed.keys().map(|path| &**path).collect::<Vec<_>>(), ["b.yaml"]);
        assert!(proposal.base.changed.is_empty());
    }

    #[test]
    fn a_head_that_moves_is_fetched_again_and_one_that_is_gone_is_left_out() {
        let world = World::new();
        world.commit(&[("a.yaml", Some("a"))]);
        let name = "refs/merge-requests/7/head";
        for text in ["b", "c"] {
            let head = world.branch(name, &[("a.yaml", Some(text))]);
            assert_eq!(fetched(&world, &[name]).heads[name].as_str(), head.to_string());
        }
        world.repository.find_reference(name).unwrap().delete().unwrap();
        assert!(fetched(&world, &[name]).heads.is_empty());
    }
}
