//! A repository in memory: what is committed, what has been delivered, and what follows from it.
//!
//! `declared` and `versions` are the checker's own account of what a reader of the delivered commits
//! has to believe: a file that cannot be read keeps the objects of its last good version.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use levelset::model::tree::Content;
use levelset::model::{ChangeSet, Entry, Key, Revision};

use super::spec::{Annotations, Deletion, Doc, Spec};

/// Holds the files of one commit; commits share what they have in common.
pub(super) type Tree = BTreeMap<Arc<str>, Arc<File>>;

/// Holds one file.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// The time of day.
    pub(super) seen: Timestamp,
    pub(super) tree: Tree,
    /// How many commits there were.
    commits: usize,
}

impl Delivery {
    /// Tells whether every file can be read.
    fn is_clear(&self) -> bool {
        !self.tree.values().any(|file| matches!(**file, File::Unreadable(_)))
    }

    /// Tells whether a file that can be read names something.
    fn names(&self, names: impl Fn(&Doc) -> bool) -> bool {
        self.tree.values().any(|file| match &**file {
            File::Good(docs) | File::Mistaken(docs) => docs.iter().any(&names),
            File::Unreadable(_) | File::Note => false,
        })
    }

    /// Tells whether a file with a mistake is about something.
    fn is_mistaken(&self, is_about: impl Fn(&Doc) -> bool) -> bool {
        self.tree.values().any(|file| match &**file {
            File::Mistaken(docs) => docs.iter().any(&is_about),
            _ => false,
        })
    }
}

/// Says whether commits name something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stance {
    Named,
    /// A file that cannot be read may name it.
    Unclear,
    /// No commit has named it since this time of day.
    Gone(Timestamp),
}

#[derive(Default)]
pub(super) struct Repository {
    pub(super) head: Tree,
    pub(super) past: Vec<Tree>,
    commits: usize,
    pub(super) deliveries: Vec<Delivery>,
    /// Every object that was ever declared, as it was last.
    pub(super) ever: BTreeMap<Key, Doc>,
    /// The last good version of each file, as the present life of the agent may know it.
    good: BTreeMap<Arc<str>, Arc<File>>,
    pub(super) declared: BTreeMap<Key, Doc>,
    /// Every version of each object, and since when it is known.
    pub(super) versions: BTreeMap<Key, Vec<(Duration, Doc)>>,
    /// The annotations of each object, and since when they are known.
    annotations: BTreeMap<Key, Vec<(Duration, Annotations)>>,
}

impl Repository {
    /// Makes a commit of a change to the newest one.
    pub(super) fn commit(&mut self, change: impl FnOnce(&mut Tree)) {
        self.past.push(self.head.clone());
        let docs = self.head.values().flat_map(|file| file.docs());
        self.ever.extend(docs.map(|doc| (doc.key.clone(), doc.clone())));
        change(&mut self.head);
        self.commits += 1;
    }

    /// Returns what a watcher tells, the whole folder or what differs from the last delivery, and
    /// the objects of which that brings another version.
    pub(super) fn deliver(
        &mut self,
        whole: bool,
        at: Duration,
        seen: Timestamp,
    ) -> (ChangeSet, Vec<Key>) {
        let none = Tree::new();
        let before = match self.deliveries.last() {
            Some(last) if !whole => &last.tree,
            _ => &none,
        };
        let changed = self.head.iter().filter(|(path, file)| before.get(*path) != Some(file));
        let gone = before.keys().filter(|path| !self.head.contains_key(*path));
        let change_set = ChangeSet {
            revision: Revision::new(format!("{:040}", self.commits)),
            changed: changed.map(|(path, file)| (Arc::clone(path), entry(file))).collect(),
            removed: gone.cloned().collect(),
            full: whole,
        };
        self.deliveries.push(Delivery { at, seen, tree: self.head.clone(), commits: self.commits });
        (change_set, self.believe(whole, at))
    }

    fn believe(&mut self, whole: bool, at: Duration) -> Vec<Key> {
        if whole {
            self.good.clear();
        }
        self.good.retain(|path, _| self.head.contains_key(path));
        for (path, file) in &self.head {
            if !file.is_broken() {
                self.good.insert(Arc::clone(path), Arc::clone(file));
            }
        }
        let is_broken = |path: &&Arc<str>| self.head.get(*path).is_some_and(|f| f.is_broken());
        let (kept, sure): (Vec<_>, Vec<_>) = self.good.keys().partition(is_broken);
        let docs = kept.into_iter().chain(sure).flat_map(|path| self.good[path].docs());
        self.declared = docs.map(|doc| (doc.key.clone(), doc.clone())).collect();
        let mut changed = Vec::new();
        for (key, doc) in &self.declared {
            let annotations = self.annotations.entry(key.clone()).or_default();
            if annotations.last().is_none_or(|(_, last)| *last != doc.annotations) {
                annotations.push((at, doc.annotations.clone()));
            }
            let versions = self.versions.entry(key.clone()).or_default();
            if versions.last().is_none_or(|(_, last)| last.spec_text() != doc.spec_text()) {
                versions.push((at, doc.clone()));
                changed.push(key.clone());
            }
        }
        changed
    }

    /// Returns the versions of an object that a pass may work on which began at `since`.
    pub(super) fn in_force_since(&self, key: &Key, since: Duration) -> Vec<&Doc> {
        known_since(&self.versions, key, since)
    }

    /// Returns the annotations of an object that a pass may know which began at `since`.
    pub(super) fn annotated_since(&self, key: &Key, since: Duration) -> Vec<&Annotations> {
        known_since(&self.annotations, key, since)
    }

    /// Tells whether an object is declared now to take over what exists under its name.
    pub(super) fn is_adopted(&self, key: &Key) -> bool {
        self.declared.get(key).is_some_and(|doc| doc.annotations.adopts)
    }

    /// Tells whether an object was ever declared to take over what exists under its name.
    pub(super) fn was_adopted(&self, key: &Key) -> bool {
        let known = self.annotations.get(key).into_iter().flatten();
        known.map(|(_, annotations)| annotations).any(|annotations| annotations.adopts)
    }

    /// Tells whether a pass that began at `since` may know that no file names an object: some commit
    /// was clear about that, and none has named it since.
    pub(super) fn may_be_gone_since(&self, key: &Key, since: Duration) -> bool {
        let first = self.deliveries.partition_point(|delivery| delivery.at <= since).max(1);
        (first..=self.deliveries.len()).any(|until| {
            let newest_first = self.deliveries[..until].iter().rev();
            let named = |delivery: &Delivery| {
                let is_it = |doc: &Doc| doc.key == *key;
                delivery.names(is_it)
            };
            newest_first.take_while(|delivery| !named(delivery)).any(|delivery| delivery.is_clear())
        })
    }

    /// Returns the times from one on at which commits were delivered, and that one.
    pub(super) fn delivered_since(&self, since: Duration) -> Vec<Duration> {
        let later = self.deliveries.iter().map(|delivery| delivery.at).filter(|at| *at > since);
        [since].into_iter().chain(later).collect()
    }

    /// Says whether the commits that were delivered up to a time name something.
    ///
    /// A file that cannot be read, or has a mistake in what `is_about` finds, makes the newest commit
    /// unclear.
    pub(super) fn stance_at(
        &self,
        at: Duration,
        names: impl Fn(&Doc) -> bool,
        is_about: impl Fn(&Doc) -> bool,
    ) -> Stance {
        let until = self.deliveries.partition_point(|delivery| delivery.at <= at);
        let mut stance = Stance::Named;
        for delivery in self.deliveries[..until].iter().rev() {
            let is_clear = delivery.is_clear() && !delivery.is_mistaken(&is_about);
            if stance == Stance::Named && !is_clear {
                return Stance::Unclear;
            }
            if delivery.names(&names) {
                return stance;
            }
            stance = Stance::Gone(delivery.seen);
        }
        stance
    }

    /// Returns what the newest of the first so many commits declares an object to be that declares it,
    /// whether or not it was delivered, and the number of the commit after it.
    pub(super) fn last_word(&self, key: &Key, commits: usize) -> Option<(&Doc, usize)> {
        let trees = self.past.iter().chain([&self.head]).enumerate().take(commits + 1);
        let all: Vec<(usize, &Tree)> = trees.collect();
        all.into_iter().rev().find_map(|(number, tree)| {
            let good = tree.values().filter(|file| !file.is_broken());
            let doc = good.flat_map(|file| file.docs()).find(|doc| doc.key == *key)?;
            Some((doc, number + 1))
        })
    }

    /// Returns the words that the commits delivered since a time leave an object with, the last one
    /// before that time included.
    pub(super) fn last_words_since(&self, key: &Key, since: Duration) -> Vec<Deletion> {
        let first = self.deliveries.partition_point(|delivery| delivery.at <= since);
        let known = &self.deliveries[first.saturating_sub(1)..];
        let words = known.iter().map(|delivery| self.last_word(key, delivery.commits));
        words.map(|word| word.map_or(Deletion::Retain, |(doc, _)| doc.deletion())).collect()
    }

    /// Returns every object that a file of the last delivery names.
    pub(super) fn named(&self) -> BTreeSet<Key> {
        let last = self.deliveries.last().into_iter();
        let docs = last.flat_map(|last| last.tree.values()).flat_map(|file| file.docs());
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

fn known_since<'a, T>(
    histories: &'a BTreeMap<Key, Vec<(Duration, T)>>,
    key: &Key,
    since: Duration,
) -> Vec<&'a T> {
    let Some(history) = histories.get(key) else { return Vec::new() };
    let first = history.partition_point(|(at, _)| *at <= since).saturating_sub(1);
    history[first..].iter().map(|(_, known)| known).collect()
}

fn entry(file: &File) -> Entry {
    let text = file.text();
    Entry { blob: text.as_str().into(), content: Content::Bytes(text.as_bytes().into()) }
}
