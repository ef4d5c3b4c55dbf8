//! The names and ids of the files of a folder at one commit, without their bytes.
//!
//! In: a tree of the mirror and the snapshot before it. Out: a [`Snapshot`], and the leaves that
//! differ between two of them.
//!
//! Invariants: a directory whose id is unchanged is neither read nor compared, so that the cost of
//! a commit is that of the directories it touched. Hidden files and directories, and files that are
//! not `*.yaml` or `*.yml`, are never delivered; they are known by name because a link may lead to
//! them. Links to directories are not followed: what they lead to is read in its own place.

use std::collections::BTreeMap;
use std::sync::Arc;

use git2::{Oid, Repository};

/// Trees nested deeper than this are not written by people.
const MAX_DEPTH: usize = 64;
/// Links that lead to links are followed this often.
const MAX_HOPS: usize = 8;

/// Holds one directory.
#[derive(Debug)]
pub(crate) struct Dir {
    id: Oid,
    nodes: BTreeMap<Arc<str>, Node>,
    /// How many manifests are in it and below.
    manifests: usize,
    /// How many links that are named like manifests are in it and below.
    links: usize,
}

#[derive(Debug)]
enum Node {
    Dir(Arc<Dir>),
    File(Oid),
    Link { id: Oid, target: String },
    Refused { id: Oid, reason: &'static str },
}

/// Says what a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Leaf {
    /// A blob.
    Blob(Oid),
    /// Nothing that is read, and why.
    Refused(Oid, String),
}

/// Counts what a reading cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// How many directories were read from the object database.
    pub trees: usize,
    /// How many files were read from the object database.
    pub blobs: usize,
}

/// Holds the folder at one commit.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    root: Arc<Dir>,
    /// Links that are named like manifests, and what they lead to.
    links: BTreeMap<Arc<str>, Leaf>,
}

/// Lists the leaves that differ: `None` for a path that is gone.
pub(crate) type Differences = BTreeMap<Arc<str>, Option<Leaf>>;

impl Snapshot {
    /// Reads the directory `tree`, taking what is unchanged from `before`.
    pub(crate) fn read(
        repository: &Repository,
        tree: Oid,
        before: Option<&Self>,
        cost: &mut Cost,
    ) -> Result<Self, git2::Error> {
        let root = read_dir(repository, tree, before.map(|before| &before.root), 0, cost)?;
        let mut links = BTreeMap::new();
        collect_links(&root, &root, "", &mut links);
        Ok(Self { root, links })
    }

    /// Returns how many manifests the folder holds.
    pub(crate) fn manifests(&self) -> usize {
        self.root.manifests
    }

    /// Lists what differs from `before`; everything when there is none.
    pub(crate) fn differences(&self, before: Option<&Self>) -> Differences {
        let mut found = Differences::new();
        compare(before.map(|before| &before.root), Some(&self.root), "", &mut found);
        // What a link leads to may change while the link stays.
        let empty = BTreeMap::new();
        let old = before.map_or(&empty, |before| &before.links);
        for (path, leaf) in &self.links {
            if old.get(path) != Some(leaf) {
                found.insert(Arc::clone(path), Some(leaf.clone()));
            }
        }
        for path in old.keys().filter(|path| !self.links.contains_key(*path)) {
            found.entry(Arc::clone(path)).or_insert(None);
        }
        found
    }
}

/// True for the files that are manifests by their name.
pub(crate) fn is_manifest(name: &str) -> bool {
    !is_hidden(name) && (name.ends_with(".yaml") || name.ends_with(".yml"))
}

pub(crate) fn is_hidden(name: &str) -> bool {
    name.starts_with('.')
}

/// Writes a name that is not UTF-8 so that it stays distinct and can be printed.
pub(crate) fn printable(name: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(name).map_err(|_| name.escape_ascii().to_string())
}

pub(crate) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

fn read_dir(
    repository: &Repository,
    id: Oid,
    before: Option<&Arc<Dir>>,
    depth: usize,
    cost: &mut Cost,
) -> Result<Arc<Dir>, git2::Error> {
    if let Some(before) = before.filter(|before| before.id == id) {
        return Ok(Arc::clone(before));
    }
    cost.trees += 1;
    let tree = repository.find_tree(id)?;
    let mut dir = Dir { id, nodes: BTreeMap::new(), manifests: 0, links: 0 };
    for entry in tree.iter() {
        let (name, node) = match printable(entry.name_bytes()) {
            Ok(name) => {
                let inner = before.and_then(|before| before.dir(name));
                let Some(node) = read_node(repository, &entry, name, inner, depth, cost)? else {
                    continue;
                };
                (name.to_owned(), node)
            }
            Err(escaped) if is_hidden(&escaped) => continue,
            Err(escaped) => {
                (escaped, Node::Refused { id: entry.id(), reason: "its name is not valid UTF-8" })
            }
        };
        dir.add(name, node);
    }
    Ok(Arc::new(dir))
}

fn read_node(
    repository: &Repository,
    entry: &git2::TreeEntry<'_>,
    name: &str,
    before: Option<&Arc<Dir>>,
    depth: usize,
    cost: &mut Cost,
) -> Result<Option<Node>, git2::Error> {
    let id = entry.id();
    // The modes of a tree entry (git fast-import, "filemodify").
    Ok(match entry.filemode() {
        0o040_000 if is_hidden(name) => None,
        0o040_000 if depth == MAX_DEPTH => {
            Some(Node::Refused { id, reason: "it is nested deeper than 64 folders" })
        }
        0o040_000 => Some(Node::Dir(read_dir(repository, id, before, depth + 1, cost)?)),
        0o160_000 => Some(Node::Refused { id, reason: "it is a submodule, which is not read" }),
        0o120_000 => {
            cost.blobs += 1;
            let target = repository.find_blob(id)?.content().to_vec();
            Some(match String::from_utf8(target) {
                Ok(target) => Node::Link { id, target },
                Err(_) => Node::Refused { id, reason: "its target is not valid UTF-8" },
            })
        }
        _ => Some(Node::File(id)),
    })
}

impl Dir {
    fn dir(&self, name: &str) -> Option<&Arc<Dir>> {
        match self.nodes.get(name) {
            Some(Node::Dir(dir)) => Some(dir),
            _ => None,
        }
    }

    fn add(&mut self, name: String, node: Node) {
        match &node {
            Node::Dir(dir) => {
                self.manifests += dir.manifests;
                self.links += dir.links;
            }
            Node::Link { .. } if is_manifest(&name) => {
                self.manifests += 1;
                self.links += 1;
            }
            Node::File(_) if is_manifest(&name) => self.manifests += 1,
            _ => {}
        }
        self.nodes.insert(name.into(), node);
    }

    /// Returns what a name leads to when it is not a link or a directory.
    fn leaf(&self, name: &str) -> Option<Leaf> {
        match self.nodes.get(name)? {
            Node::File(id) if is_manifest(name) => Some(Leaf::Blob(*id)),
            Node::Refused { id, reason } => Some(Leaf::Refused(*id, (*reason).to_owned())),
            _ => None,
        }
    }
}

fn compare(
    before: Option<&Arc<Dir>>,
    after: Option<&Arc<Dir>>,
    folder: &str,
    found: &mut Differences,
) {
    if let (Some(before), Some(after)) = (before, after)
        && Arc::ptr_eq(before, after)
    {
        return;
    }
    let names = |dir: Option<&Arc<Dir>>| -> Vec<Arc<str>> {
        dir.map(|dir| dir.nodes.keys().map(Arc::clone).collect()).unwrap_or_default()
    };
    let gone = names(before)
        .into_iter()
        .filter(|name| !after.is_some_and(|after| after.nodes.contains_key(name)));
    for name in names(after).into_iter().chain(gone) {
        let path = join(folder, &name);
        let inner = (before.and_then(|dir| dir.dir(&name)), after.and_then(|dir| dir.dir(&name)));
        if inner.0.is_some() || inner.1.is_some() {
            compare(inner.0, inner.1, &path, found);
        }
        let leaves =
            (before.and_then(|dir| dir.leaf(&name)), after.and_then(|dir| dir.leaf(&name)));
        if leaves.0 != leaves.1 {
            found.insert(path.into(), leaves.1);
        }
    }
}

fn collect_links(root: &Dir, dir: &Dir, folder: &str, links: &mut BTreeMap<Arc<str>, Leaf>) {
    for (name, node) in dir.nodes.iter().filter(|_| dir.links > 0) {
        match node {
            Node::Dir(inner) => collect_links(root, inner, &join(folder, name), links),
            Node::Link { id, target } if is_manifest(name) => {
                links.insert(join(folder, name).into(), follow(root, folder, *id, target));
            }
            _ => {}
        }
    }
}

/// Finds what the link `id` in `folder` leads to.
fn follow(root: &Dir, folder: &str, id: Oid, target: &str) -> Leaf {
    let refused =
        |reason: &str| Leaf::Refused(id, format!("it is a link to \"{target}\", {reason}"));
    let (mut folder, mut next) = (folder.to_owned(), target.to_owned());
    for _ in 0..MAX_HOPS {
        let Some(path) = resolve(&folder, &next) else {
            return refused("which is outside the folder that is read");
        };
        match find(root, &path) {
            Some(Node::File(blob)) => return Leaf::Blob(*blob),
            Some(Node::Link { target, .. }) => {
                folder = path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
                next.clone_from(target);
            }
            Some(Node::Dir(_)) => return refused("which is a folder"),
            Some(Node::Refused { .. }) => return refused("which is not read"),
            None => return refused("where there is no file that is read"),
        }
    }
    refused("which leads through too many links")
}

/// Joins a relative target to the folder of its link; `None` when it leaves the root.
fn resolve(folder: &str, target: &str) -> Option<String> {
    if target.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

fn find<'a>(root: &'a Dir, path: &str) -> Option<&'a Node> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let dir = folder
        .split('/')
        .filter(|part| !part.is_empty())
        .try_fold(root, |dir, part| dir.dir(part).map(Arc::as_ref))?;
    dir.nodes.get(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_visible_yaml_files_are_manifests() {
        assert!(is_manifest("a.yaml") && is_manifest("a.yml"));
        assert!(!is_manifest("a.json") && !is_manifest(".pre-commit-config.yaml"));
    }

    #[test]
    fn a_target_is_joined_without_leaving_the_root() {
        assert_eq!(resolve("a/b", "../c.yaml").as_deref(), Some("a/c.yaml"));
        assert_eq!(resolve("a", "./x/./y").as_deref(), Some("a/x/y"));
        assert_eq!(resolve("a", "../../etc/passwd"), None);
        assert_eq!(resolve("", "/etc/passwd"), None);
    }

    #[test]
    fn a_name_that_is_not_utf8_is_escaped() {
        assert_eq!(printable(b"a\xff.yaml"), Err("a\\xff.yaml".to_owned()));
    }
}
