//! A repository in memory: what is committed, what has been delivered, and what follows from it.
//!
//! `declared` and `versions` are the checker's own account of what a reader of the delivered commits
//! has to believe: a file that cannot be read keeps the objects of its last good version.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use levelset::model::tree::Content;
use levelset::model::{ChangeSet, Entry, Key, Revision};

use super::spec::{Doc, Spec};

pub(super) type Tree = BTreeMap<String, File>;

/// Holds one file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum File {
    Good(Vec<Doc>),
    /// Cannot be read as YAML; holds what it was made of.
    Unreadable(Vec<Doc>),
    /// Names its objects and has a mistake in each.
    Mistaken(Vec<Doc>),
    /// Declares nothing.
    Note,
}

impl File {
    fn text(&self) -> String {
        let whole = |docs: &[Doc]| docs.iter().map(Doc::text).collect::<String>();
        match self {
            Self::Good(docs) => whole(docs),
            Self::Unreadable(docs) => format!("{}broken: [\n", whole(docs)),
            Self::Mistaken(docs) => whole(docs).replace("  environment:", "  enviroment:"),
            Self::Note => "# nothing\n".to_owned(),
        }
    }

    pub(super) fn docs(&self) -> &[Doc] {
        match self {
            Self::Good(docs) | Self::Unreadable(docs) | Self::Mistaken(docs) => docs,
            Self::Note => &[],
        }
    }

    pub(super) fn docs_mut(&mut self) -> Option<&mut Vec<Doc>> {
        match self {
            Self::Good(docs) | Self::Unreadable(docs) | Self::Mistaken(docs) => Some(docs),
            Self::Note => None,
        }
    }

    pub(super) fn is_broken(&self) -> bool {
        matches!(self, Self::Unreadable(_) | Self::Mistaken(_))
    }
}

/// Holds one commit that was delivered.
pub(super) struct Delivery {
    pub(super) at: Duration,
    pub(super) tree: Tree,
}

#[derive(Default)]
pub(super) struct Repository {
    pub(super) head: Tree,
    pub(super) past: Vec<Tree>,
    commits: u64,
    pub(super) deliveries: Vec<Delivery>,
    /// The last good version of each file, as the present life of the agent may know it.
    good: BTreeMap<String, Vec<Doc>>,
    pub(super) declared: BTreeMap<Key, Doc>,
    /// Every version of each object, and since when it is known.
    pub(super) versions: BTreeMap<Key, Vec<(Duration, Doc)>>,
}

impl Repository {
    /// Makes a commit of a change to the newest one.
    pub(super) fn commit(&mut self, change: impl FnOnce(&mut Tree)) {
        self.past.push(self.head.clone());
        change(&mut self.head);
        self.commits += 1;
    }

    /// Returns what a watcher tells: the whole folder, or what differs from the last delivery.
    pub(super) fn deliver(&mut self, whole: bool, at: Duration) -> ChangeSet {
        let none = Tree::new();
        let before = match self.deliveries.last() {
            Some(last) if !whole => &last.tree,
            _ => &none,
        };
        let changed = self.head.iter().filter(|(path, file)| before.get(*path) != Some(file));
        let gone = before.keys().filter(|path| !self.head.contains_key(*path));
        let change_set = ChangeSet {
            revision: Revision::new(format!("{:040}", self.commits)),
            changed: changed.map(|(path, file)| (path.as_str().into(), entry(file))).collect(),
            removed: gone.map(|path| Arc::from(path.as_str())).collect(),
            full: whole,
        };
        self.deliveries.push(Delivery { at, tree: self.head.clone() });
        self.believe(whole, at);
        change_set
    }

    fn believe(&mut self, whole: bool, at: Duration) {
        if whole {
            self.good.clear();
        }
        self.good.retain(|path, _| self.head.contains_key(path));
        for (path, file) in &self.head {
            if !file.is_broken() {
                self.good.insert(path.clone(), file.docs().to_vec());
            }
        }
        let is_broken = |path: &&String| self.head.get(*path).is_some_and(File::is_broken);
        let (kept, sure): (Vec<&String>, Vec<&String>) = self.good.keys().partition(is_broken);
        let docs = kept.into_iter().chain(sure).flat_map(|path| &self.good[path]);
        self.declared = docs.map(|doc| (doc.key.clone(), doc.clone())).collect();
        for (key, doc) in &self.declared {
            let versions = self.versions.entry(key.clone()).or_default();
            if versions.last().is_none_or(|(_, last)| last.spec != doc.spec) {
                versions.push((at, doc.clone()));
            }
        }
    }

    /// Returns the versions of an object that a pass may work on which began at `since`.
    pub(super) fn in_force_since(&self, key: &Key, since: Duration) -> Vec<&Doc> {
        let Some(versions) = self.versions.get(key) else { return Vec::new() };
        let first = versions.partition_point(|(at, _)| *at <= since).saturating_sub(1);
        versions[first..].iter().map(|(_, doc)| doc).collect()
    }

    /// Tells whether every commit that a pass may know which began at `since` has a file that names
    /// an object, or one that cannot be read and may name any.
    pub(super) fn is_named_since(&self, key: &Key, since: Duration) -> bool {
        let first = self.deliveries.partition_point(|delivery| delivery.at <= since);
        self.deliveries[first.saturating_sub(1)..].iter().all(|delivery| {
            delivery.tree.values().any(|file| {
                matches!(file, File::Unreadable(_)) || file.docs().iter().any(|doc| doc.key == *key)
            })
        })
    }

    /// Returns every object that a file of the last delivery names.
    pub(super) fn named(&self) -> BTreeSet<Key> {
        let last = self.deliveries.last().into_iter();
        let docs = last.flat_map(|last| last.tree.values()).flat_map(File::docs);
        docs.map(|doc| doc.key.clone()).collect()
    }

    /// Returns the workspaces that are declared now.
    pub(super) fn workspaces(&self) -> Vec<(Key, super::spec::Workspace)> {
        let workspace = |(key, doc): (&Key, &Doc)| match &doc.spec {
            Spec::Workspace(spec) => Some((key.clone(), spec.clone())),
            Spec::Network { .. } => None,
        };
        self.declared.iter().filter_map(workspace).collect()
    }
}

fn entry(file: &File) -> Entry {
    let text = file.text();
    Entry { blob: text.as_str().into(), content: Content::Bytes(text.as_bytes().into()) }
}
