//! A folder of a repository: its tree in a commit, and the bytes of the files that differ in it.
//!
//! In: an open repository and the tree of a commit. Out: the tree of the folder, and change sets
//! with paths from the root of the repository.
//!
//! Invariant: only what differs is read. Whether a missing folder is a mistake is the caller's.

use std::collections::BTreeMap;
use std::sync::Arc;

use git2::{ObjectType, Oid, Repository};

use super::snapshot::{Cost, Differences, Leaf, join};
use crate::model::Revision;
use crate::model::tree::{ChangeSet, Content, Entry};

/// Names a folder, and says how large its files may be.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    /// The path from the root of the repository, empty for the root itself.
    pub(crate) path: String,
    /// Files with more bytes than this are refused.
    pub(crate) max_file_bytes: u64,
}

impl Folder {
    /// Finds the folder in the tree of a commit; `None` when it is not there or is no folder.
    pub(crate) fn tree(
        &self,
        repository: &Repository,
        root: Oid,
    ) -> Result<Option<Oid>, git2::Error> {
        let mut id = root;
        for name in self.path.split('/').filter(|name| !name.is_empty()) {
            let tree = repository.find_tree(id)?;
            match tree.get_name(name) {
                Some(entry) if entry.kind() == Some(ObjectType::Tree) => id = entry.id(),
                _ => return Ok(None),
            }
        }
        Ok(Some(id))
    }

    /// Returns the folder's name for messages.
    pub(crate) fn shown(&self) -> String {
        if self.path.is_empty() { ".".to_owned() } else { self.path.clone() }
    }

    /// Returns a path from the root of the repository.
    pub(crate) fn full_path(&self, path: &str) -> Arc<str> {
        join(&self.path, path).into()
    }

    /// Reads the files that differ; `full` says whether these are all that there are.
    pub(crate) fn load(
        &self,
        repository: &Repository,
        revision: &Revision,
        differences: Differences,
        full: bool,
        cost: &mut Cost,
    ) -> Result<ChangeSet, git2::Error> {
        let (mut changed, mut removed) = (BTreeMap::new(), Vec::new());
        for (path, leaf) in differences {
            let path = self.full_path(&path);
            match leaf {
                Some(leaf) => drop(changed.insert(path, self.entry(repository, leaf, cost)?)),
                None => removed.push(path),
            }
        }
        Ok(ChangeSet { revision: revision.clone(), changed, removed, full })
    }

    fn entry(
        &self,
        repository: &Repository,
        leaf: Leaf,
        cost: &mut Cost,
    ) -> Result<Entry, git2::Error> {
        let (id, content) = match leaf {
            Leaf::Refused(id, reason) => (id, Content::Refused(reason)),
            Leaf::Blob(id) => (id, self.content(repository, id, cost)?),
        };
        Ok(Entry { blob: id.to_string().into(), content })
    }

    fn content(
        &self,
        repository: &Repository,
        id: Oid,
        cost: &mut Cost,
    ) -> Result<Content, git2::Error> {
        cost.blobs += 1;
        let size = repository.odb()?.read_header(id)?.0 as u64;
        if let Some(refused) = too_large(size, self.max_file_bytes) {
            return Ok(refused);
        }
        Ok(Content::Bytes(repository.find_blob(id)?.content().into()))
    }
}

/// Refuses a file with more bytes than the limit.
pub(crate) fn too_large(bytes: u64, limit: u64) -> Option<Content> {
    (bytes > limit).then(|| {
        Content::Refused(format!("the file has {bytes} bytes, more than the limit of {limit}"))
    })
}
