//! A folder of manifests for the tests: edited file by file, read commit by commit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::cache::{Doubt, Read};
use super::*;
use crate::manifest::network::NetworkSpec;
use crate::manifest::workspace::{NetworkSection, Resources, WorkspaceSpec};
use crate::manifest::{Object, Spec};
use crate::model::{Key, ObjectKind, Policy, Position, Problem, Revision, Severity};

/// Declares one object: its content is the number, everything else follows from it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Doc {
    key: Key,
    content: u32,
    note: &'static str,
    network: Option<&'static str>,
}

impl Doc {
    pub(super) fn workspace(name: &str, content: u32) -> Self {
        Self { key: Key::workspace(name), content, note: "", network: None }
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

    fn object(&self, path: &Arc<str>) -> Object {
        let environment = format!("environment-{}", self.content);
        let spec = match self.key.kind {
            ObjectKind::Workspace => Spec::Workspace(WorkspaceSpec {
                environment,
                resources: Resources {
                    network: self.network.map(|name| NetworkSection { vpc_ref: name.to_owned() }),
                    ..Resources::default()
                },
                reconcile_policy: Policy::default(),
            }),
            ObjectKind::Network => Spec::Network(NetworkSpec {
                environment,
                vpc_name: None,
                subnet_tags: BTreeMap::new(),
                reconcile_policy: Policy::default(),
            }),
        };
        Object {
            key: self.key.clone(),
            spec,
            annotations: BTreeMap::from([("note".to_owned(), self.note.to_owned())]),
            path: Arc::clone(path),
            line: 1,
            digest: format!("digest-{}", self.content).into(),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
enum File {
    Good(Vec<Doc>),
    /// Cannot be read at all; the word goes into its problem.
    Broken(&'static str),
    /// Has a mistake, and is known to name these keys.
    Wrong(Vec<Key>),
}

#[derive(Debug, Clone, Default)]
pub(super) struct Folder {
    files: BTreeMap<Arc<str>, File>,
    commits: u32,
}

impl Folder {
    pub(super) fn write(&mut self, path: &str, docs: impl IntoIterator<Item = Doc>) -> &mut Self {
        self.files.insert(path.into(), File::Good(docs.into_iter().collect()));
        self
    }

    pub(super) fn break_file(&mut self, path: &str, how: &'static str) -> &mut Self {
        self.files.insert(path.into(), File::Broken(how));
        self
    }

    pub(super) fn spoil_file(&mut self, path: &str, names: &[&str]) -> &mut Self {
        let keys = names.iter().map(|name| Key::workspace(*name)).collect();
        self.files.insert(path.into(), File::Wrong(keys));
        self
    }

    pub(super) fn delete(&mut self, path: &str) -> &mut Self {
        self.files.remove(path);
        self
    }

    /// Lists what good files declare; of two declarations of one key the first file's counts.
    pub(super) fn objects(&self) -> BTreeMap<Key, Arc<Object>> {
        let mut objects = BTreeMap::new();
        for (path, file) in &self.files {
            let File::Good(docs) = file else { continue };
            for doc in docs {
                let object = || Arc::new(doc.object(path));
                objects.entry(doc.key.clone()).or_insert_with(object);
            }
        }
        objects
    }

    pub(super) fn is_readable(&self) -> bool {
        self.files.values().all(|file| matches!(file, File::Good(_)))
    }

    /// Commits the folder and reads it as a whole.
    pub(super) fn read_whole(&mut self) -> Read {
        self.read(true, &Self::default())
    }

    /// Commits the folder and reads what differs from `before`.
    pub(super) fn read_since(&mut self, before: &Self) -> Read {
        self.read(false, before)
    }

    fn read(&mut self, full: bool, before: &Self) -> Read {
        self.commits += 1;
        let (old, new) = (before.objects(), self.objects());
        let keys: BTreeSet<&Key> = old.keys().chain(new.keys()).collect();
        let touched = keys.into_iter().filter(|key| full || old.get(*key) != new.get(*key));
        Read {
            revision: Revision::new(format!("commit-{}", self.commits)),
            full,
            touched: touched.map(|key| (key.clone(), new.get(key).cloned())).collect(),
            problems: self.problems(),
            doubt: self.doubt(),
        }
    }

    fn problems(&self) -> BTreeMap<Arc<str>, Vec<Problem>> {
        let bad = self.files.iter().filter_map(|(path, file)| match file {
            File::Good(_) => None,
            File::Broken(how) => Some((Arc::clone(path), vec![problem(path, how)])),
            File::Wrong(_) => Some((Arc::clone(path), vec![problem(path, "a wrong value")])),
        });
        bad.collect()
    }

    fn doubt(&self) -> Doubt {
        let mut doubt = Doubt::default();
        for file in self.files.values() {
            match file {
                File::Good(_) => {}
                File::Broken(_) => doubt.any_key = true,
                File::Wrong(keys) => doubt.keys.extend(keys.iter().cloned()),
            }
        }
        doubt
    }
}

fn problem(path: &Arc<str>, message: &str) -> Problem {
    Problem {
        position: Position { path: Arc::clone(path), line: 1, column: 1 },
        severity: Severity::Error,
        code: "Syntax".to_owned(),
        message: message.to_owned(),
        hint: None,
        source_line: String::new(),
        length: 1,
    }
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

    /// Reads the folder as a whole.
    pub(super) fn list(&mut self) -> Changes {
        let mut read = self.folder.read_whole();
        for key in self.seen.objects().into_keys() {
            read.touched.entry(key).or_insert(None);
        }
        self.seen = self.folder.clone();
        self.cache.fold(read)
    }

    /// Reads what has been edited since the last read.
    pub(super) fn commit(&mut self) -> Changes {
        let read = self.folder.read_since(&self.seen);
        self.seen = self.folder.clone();
        self.cache.fold(read)
    }

    pub(super) fn revision(&self) -> Revision {
        Revision::new(format!("commit-{}", self.folder.commits))
    }
}
