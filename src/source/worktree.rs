//! The manifests of a folder on disk, whether or not it is in Git.
//!
//! In: a folder or one file. Out: a [`Tree`] at the revision `worktree`, with paths relative to it.
//!
//! Invariants: the same files are taken as from a commit, under the same limit. A link is read
//! through when it ends inside the folder, and refused otherwise.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use git2::{ObjectType, Oid};

use super::SourceError;
use super::folder::too_large;
use super::snapshot::{is_hidden, is_manifest, join, printable};
use crate::model::Revision;
use crate::model::tree::{Content, Entry, Tree};

const MAX_FILE_BYTES: u64 = 1 << 20;
const MAX_DEPTH: usize = 64;

/// Reads the manifests of a folder, or one file, from disk.
///
/// # Errors
///
/// `ReadFailed` when a folder or file cannot be read. A folder without manifests is an empty tree.
pub fn read_worktree(path: &Path) -> Result<Tree, SourceError> {
    let root = path.canonicalize().map_err(|error| failed(path, &error))?;
    let mut walk = Walk { root: root.clone(), entries: BTreeMap::new() };
    if root.is_dir() {
        walk.folder(&root, "", 0)?;
    } else {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let entry = read_file(&root)?;
        walk.entries.insert(name.into(), entry);
    }
    Ok(Tree { revision: Revision::new("worktree"), entries: walk.entries })
}

fn failed(path: &Path, error: &std::io::Error) -> SourceError {
    SourceError::ReadFailed { path: path.to_owned(), detail: error.to_string() }
}

struct Walk {
    root: PathBuf,
    entries: BTreeMap<std::sync::Arc<str>, Entry>,
}

impl Walk {
    fn folder(&mut self, folder: &Path, shown: &str, depth: usize) -> Result<(), SourceError> {
        for entry in fs::read_dir(folder).map_err(|error| failed(folder, &error))? {
            let entry = entry.map_err(|error| failed(folder, &error))?;
            let path = entry.path();
            let kind = entry.file_type().map_err(|error| failed(&path, &error))?;
            match printable(entry.file_name().as_bytes()) {
                Ok(name) if is_hidden(name) => {}
                Ok(name) if kind.is_dir() && depth < MAX_DEPTH => {
                    self.folder(&path, &join(shown, name), depth + 1)?;
                }
                Ok(name) if kind.is_dir() => {
                    self.refuse(join(shown, name), "it is nested deeper than 64 folders");
                }
                Ok(name) if !is_manifest(name) => {}
                Ok(name) if kind.is_symlink() => self.link(&path, join(shown, name))?,
                Ok(name) => self.take(&path, join(shown, name))?,
                Err(name) if is_hidden(&name) => {}
                Err(name) => self.refuse(join(shown, &name), "its name is not valid UTF-8"),
            }
        }
        Ok(())
    }

    fn link(&mut self, path: &Path, shown: String) -> Result<(), SourceError> {
        match path.canonicalize() {
            Err(_) => self.refuse(shown, "it is a link to a file that does not exist"),
            Ok(target) if !target.starts_with(&self.root) => {
                self.refuse(shown, "it is a link to a file outside the folder that is read");
            }
            Ok(target) => self.take(&target, shown)?,
        }
        Ok(())
    }

    fn take(&mut self, path: &Path, shown: String) -> Result<(), SourceError> {
        // A pipe would block for ever, a device never end.
        if !path.is_file() {
            self.refuse(shown, "it is not a regular file");
            return Ok(());
        }
        self.entries.insert(shown.into(), read_file(path)?);
        Ok(())
    }

    fn refuse(&mut self, shown: String, reason: &str) {
        let content = Content::Refused(reason.to_owned());
        self.entries.insert(shown.into(), Entry { blob: "".into(), content });
    }
}

fn read_file(path: &Path) -> Result<Entry, SourceError> {
    let size = fs::metadata(path).map_err(|error| failed(path, &error))?.len();
    if let Some(refused) = too_large(size, MAX_FILE_BYTES) {
        return Ok(Entry { blob: "".into(), content: refused });
    }
    let bytes = fs::read(path).map_err(|error| failed(path, &error))?;
    let blob = Oid::hash_object(ObjectType::Blob, &bytes).map_err(|error| {
        SourceError::ReadFailed { path: path.to_owned(), detail: error.message().to_owned() }
    })?;
    Ok(Entry { blob: blob.to_string().into(), content: Content::Bytes(bytes.into()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_on_disk_is_read_like_a_commit() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at("teams/.hidden")).unwrap();
        for path in ["a.yaml", "teams/b.yml", "teams/c.json", "teams/.hidden/d.yaml", ".e.yaml"] {
            fs::write(at(path), path).unwrap();
        }
        std::os::unix::fs::symlink("a.yaml", at("link.yaml")).unwrap();
        std::os::unix::fs::symlink("/etc/hostname", at("escape.yaml")).unwrap();
        std::os::unix::fs::symlink("nowhere", at("broken.yaml")).unwrap();
        fs::write(at("large.yaml"), vec![b'x'; (1 << 20) + 1]).unwrap();
        let tree = read_worktree(folder.path()).unwrap();
        let paths: Vec<&str> = tree.entries.keys().map(AsRef::as_ref).collect();
        assert_eq!(
            paths,
            ["a.yaml", "broken.yaml", "escape.yaml", "large.yaml", "link.yaml", "teams/b.yml"]
        );
        assert_eq!(tree.entries["a.yaml"], tree.entries["link.yaml"]);
        // printf a.yaml | git hash-object --stdin
        assert_eq!(&*tree.entries["a.yaml"].blob, "d0629c48e74118bb6d89fc1ab6dffb17f2b85453");
        for path in ["broken.yaml", "escape.yaml", "large.yaml"] {
            assert!(matches!(tree.entries[path].content, Content::Refused(_)), "{path}");
        }
        assert_eq!(tree.revision.as_str(), "worktree");
    }

    #[test]
    fn one_file_is_a_tree_of_one_entry() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.yaml"), "x").unwrap();
        let tree = read_worktree(&folder.path().join("a.yaml")).unwrap();
        assert_eq!(tree.entries.keys().map(AsRef::as_ref).collect::<Vec<_>>(), ["a.yaml"]);
        let error = read_worktree(&folder.path().join("none")).unwrap_err();
        assert_eq!(error.code(), "ReadFailed");
    }
}
