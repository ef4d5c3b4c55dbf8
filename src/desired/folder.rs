//! A folder of manifests for the tests: edited file by file, read commit by commit.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use super::*;
use crate::manifest::{Parsed, parse};
use crate::model::tree::Content;
use crate::model::{ChangeSet, Entry, Key, ObjectKind, Revision};

/// Declares one object: its content is the number, everything else follows from it.
#[derive(Debug, Clone)]
pub(super) struct Doc {
    key: Key,
    content: u32,
    note: &'static str,
    network: Option<&'static str>,
}

impl Doc {
    pub(super) fn workspace(name: &str, content: u32) -> Self {
        Self { key: Key::workspace(name), content, note: "nobody", network: None }
    }

    pub(super) fn network(name: &str, content: u32) -> Self {
        Self { key: Key::new(ObjectKind::Network, name), ..Self::workspace(name, content) }
    }

    pub(super) fn noted(self, note: &'static str) -> Self {
        Self { note, ..self }
    }

    pub(super) fn within(self, network: &'static str) -> Self {
        Self { network: Some(network), ..self }
    }

    /// Returns the digest that its object has.
    pub(super) fn digest(&self) -> Arc<str> {
        let parsed = parse("any.yaml", self.text().as_bytes());
        Arc::clone(&parsed.objects[0].digest)
    }

    fn text(&self) -> String {
        let Self { key, content, note, network } = self;
        let mut text = format!(
            "---\napiVersion: platform.kby.io/v1alpha1\nkind: {}\nmetadata:\n  name: {}\n  \
             annotations:\n    platform.kby.io/owner: \"{note}\"\nspec:\n  environment: e{content}\n",
            key.kind, key.name,
        );
        if let Some(network) = network {
            writeln!(text, "  resources:\n    network:\n      vpcRef: {network}").unwrap();
        }
        text
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Folder {
    files: BTreeMap<Arc<str>, String>,
    commits: u32,
}

impl Folder {
    pub(super) fn write(&mut self, path: &str, docs: impl IntoIterator<Item = Doc>) -> &mut Self {
        let docs = docs.into_iter().map(|doc| doc.text());
        self.files.insert(path.into(), docs.chain(["# end\n".to_owned()]).collect());
        self
    }

    /// Makes a file of which nothing can be known.
    pub(super) fn break_file(&mut self, path: &str, how: &str) -> &mut Self {
        self.files.insert(path.into(), format!("{how}: [\n"));
        self
    }

    /// Makes a file that names a workspace and has a mistake.
    pub(super) fn spoil_file(&mut self, path: &str, name: &str) -> &mut Self {
        let text = Doc::workspace(name, 1).text().replace("spec:", "speck:");
        self.files.insert(path.into(), text);
        self
    }

    pub(super) fn delete(&mut self, path: &str) -> &mut Self {
        self.files.remove(path);
        self
    }

    /// Reads every file by itself.
    pub(super) fn parsed(&self) -> BTreeMap<Arc<str>, Parsed> {
        let files = self.files.iter();
        files.map(|(path, text)| (Arc::clone(path), parse(path, text.as_bytes()))).collect()
    }

    fn change_set(&mut self, before: &Self, full: bool) -> ChangeSet {
        self.commits += 1;
        let files = self.files.iter();
        let changed = files.filter(|(path, text)| full || before.files.get(*path) != Some(text));
        let gone = before.files.keys().filter(|path| !full && !self.files.contains_key(*path));
        ChangeSet {
            revision: Revision::new(format!("commit-{}", self.commits)),
            changed: changed.map(|(path, text)| (Arc::clone(path), entry(text))).collect(),
            removed: gone.cloned().collect(),
            full,
        }
    }
}

fn entry(text: &str) -> Entry {
    Entry { blob: text.into(), content: Content::Bytes(text.as_bytes().into()) }
}

/// A cache and the folder that it follows.
pub(super) struct Scene {
    pub(super) folder: Folder,
    seen: Folder,
    pub(super) cache: Cache,
}

impl Scene {
    /// Starts with an empty store and an empty folder that has not been read.
    pub(super) fn new() -> Self {
        Self::restarted(Folder::default(), [])
    }

    /// Starts with what the store remembers.
    pub(super) fn restarted(folder: Folder, records: impl IntoIterator<Item = Known>) -> Self {
        let mut cache = Cache::new(Guard::default());
        cache.restore(records);
        Self { folder, seen: Folder::default(), cache }
    }

    /// Commits the folder and reads it as a whole.
    pub(super) fn list(&mut self) -> Changes {
        self.read(true)
    }

    /// Commits the folder and reads what has been edited since the last read.
    pub(super) fn commit(&mut self) -> Changes {
        self.read(false)
    }

    fn read(&mut self, full: bool) -> Changes {
        let change_set = self.folder.change_set(&self.seen, full);
        self.seen = self.folder.clone();
        self.cache.apply(&change_set)
    }

    pub(super) fn revision(&self) -> Revision {
        Revision::new(format!("commit-{}", self.folder.commits))
    }
}
