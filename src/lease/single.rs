//! The lease of an agent without replicas: a lock on its state directory.
//!
//! The directory holds `version` (the layout's number), `lock` (locked by the agent that runs; its
//! text is that agent's process id, for people), `levelset.db` (the store) and `mirror` (copies of
//! repositories).
//!
//! Invariants: the lock is the operating system's, so that it ends with the process however that
//! ends; a directory of a newer layout is left alone.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::model::{Fence, Lost, Token};

/// The layout of the directory that this program reads and writes.
const LAYOUT: u32 = 1;

/// Only the agent's user may look at what the agent knows.
const PRIVATE_DIRECTORY: u32 = 0o700;
const PRIVATE_FILE: u32 = 0o600;

/// Says why a state directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// Another process holds it.
    #[error(
        "another agent{} uses the state directory {}; stop it or choose another state directory",
        named(*.holder), .path.display()
    )]
    InUse {
        /// The directory.
        path: PathBuf,
        /// The process id of the other agent, when it could be read.
        holder: Option<u32>,
    },
    /// It was written by a newer program.
    #[error(
        "the state directory {} was written by a newer version of levelset (layout {found}, this version knows {LAYOUT}); run that version or choose another state directory",
        .path.display()
    )]
    Newer {
        /// The directory.
        path: PathBuf,
        /// The number of its layout.
        found: u32,
    },
    /// Its `version` file is not one of ours.
    #[error(
        "the directory {} is no state directory: its file version does not hold a number; choose another state directory",
        .path.display()
    )]
    Foreign {
        /// The directory.
        path: PathBuf,
    },
    /// The system refused.
    #[error("cannot {action} {}; {help}", .path.display())]
    Io {
        /// What was attempted.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What to do.
        help: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

fn named(holder: Option<u32>) -> String {
    holder.map(|pid| format!(" (pid {pid})")).unwrap_or_default()
}

/// Holds a locked state directory; the lock ends when the value is dropped.
#[derive(Debug)]
pub struct StateDirectory {
    path: PathBuf,
    lock: File,
}

impl StateDirectory {
    /// Makes the directory if there is none, locks it, and makes sure that its layout is known.
    ///
    /// # Errors
    ///
    /// A [`StateError`] that says what to do.
    pub fn lock(path: impl Into<PathBuf>) -> Result<Self, StateError> {
        let path = path.into();
        make(&path)?;
        let lock = locked(&path)?;
        check_layout(&path)?;
        Ok(Self { path, lock })
    }

    /// Returns the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file of the store in a state directory.
    pub fn store_file(directory: &Path) -> PathBuf {
        directory.join("levelset.db")
    }

    /// Tells whether the locked file is still the one that another agent would try to lock.
    fn still_there(&self) -> bool {
        let id = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
        let held = self.lock.metadata().map(id);
        let named = std::fs::metadata(self.path.join("lock")).map(id);
        matches!((held, named), (Ok(held), Ok(named)) if held == named)
    }
}

fn make(path: &Path) -> Result<(), StateError> {
    std::fs::DirBuilder::new().recursive(true).mode(PRIVATE_DIRECTORY).create(path).map_err(
        |source| StateError::Io {
            action: "make the state directory",
            path: path.to_owned(),
            help: "make it for the agent's user, or set stateDirectory",
            source,
        },
    )
}

fn locked(directory: &Path) -> Result<File, StateError> {
    let path = directory.join("lock");
    let failed = |action| failure(action, &path);
    let mut lock = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(PRIVATE_FILE)
        .open(&path)
        .map_err(failed("open the lock file"))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            // The process id is a courtesy: the message is as true without it.
            let _ = lock.read_to_string(&mut text);
            let holder = text.trim().parse().ok();
            return Err(StateError::InUse { path: directory.to_owned(), holder });
        }
        Err(TryLockError::Error(source)) => return Err(failed("lock")(source)),
    }
    lock.set_len(0).and_then(|()| lock.rewind()).map_err(failed("write the lock file"))?;
    writeln!(lock, "{}", std::process::id()).map_err(failed("write the lock file"))?;
    Ok(lock)
}

/// Reads the layout's number, and writes ours into a directory that has none.
fn check_layout(directory: &Path) -> Result<(), StateError> {
    let path = directory.join("version");
    match std::fs::read_to_string(&path) {
        Ok(text) => match text.trim().parse::<u32>() {
            Ok(found) if found > LAYOUT => {
                Err(StateError::Newer { path: directory.to_owned(), found })
            }
            Ok(_) => Ok(()),
            Err(_) => Err(StateError::Foreign { path: directory.to_owned() }),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => write_layout(directory, &path),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            Err(StateError::Foreign { path: directory.to_owned() })
        }
        Err(source) => Err(failure("read", &path)(source)),
    }
}

/// Writes beside and renames, so that a crash leaves no empty file, which would count as foreign.
fn write_layout(directory: &Path, path: &Path) -> Result<(), StateError> {
    let beside = directory.join("version.new");
    let written = File::create(&beside).and_then(|mut file| {
        writeln!(file, "{LAYOUT}")?;
        file.sync_all()
    });
    written.map_err(failure("write", &beside))?;
    std::fs::rename(&beside, path).map_err(failure("write", path))
}

fn failure(action: &'static str, path: &Path) -> impl Fn(io::Error) -> StateError {
    let path = path.to_owned();
    move |source| StateError::Io { action, path: path.clone(), help: advice(&source), source }
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "let the agent's user write in the state directory, or set stateDirectory"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free space on its disk, or set stateDirectory"
        }
        _ => "look at the state directory, or set stateDirectory",
    }
}

/// Holds the right to write for as long as the state directory is locked.
#[derive(Debug)]
pub struct Single {
    directory: StateDirectory,
    token: Token,
}

impl Single {
    /// Joins the lock with the token that the store granted under it.
    pub fn new(directory: StateDirectory, token: Token) -> Self {
        Self { directory, token }
    }
}

impl Fence for Single {
    /// The lock has no end of its own; it is lost only when the directory is taken away from under
    /// the agent, because then another agent could lock a new one.
    fn check(&self, _needed: Duration) -> Result<Token, Lost> {
        match self.directory.still_there() {
            true => Ok(self.token),
            false => Err(Lost(format!(
                "the lock file of the state directory {} was removed or replaced",
                self.directory.path.display()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Shard;

    const TOKEN: Token = Token { shard: Shard(0), number: 7 };

    fn lock(path: &Path) -> Result<StateDirectory, StateError> {
        StateDirectory::lock(path)
    }

    #[test]
    fn a_second_agent_is_told_who_holds_the_directory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/state");
        let held = lock(&path).unwrap();
        let error = lock(&path).unwrap_err().to_string();
        let pid = std::process::id();
        let start =
            format!("another agent (pid {pid}) uses the state directory {}", path.display());
        assert!(error.starts_with(&start), "{error}");
        drop(held);
        lock(&path).unwrap();
    }

    #[test]
    fn what_the_agent_knows_is_for_its_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let _held = lock(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, PRIVATE_DIRECTORY);
    }

    #[test]
    fn a_directory_of_a_newer_layout_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("version"), "2\n").unwrap();
        let error = lock(folder.path()).unwrap_err().to_string();
        assert!(error.contains("was written by a newer version of levelset (layout 2"), "{error}");
        assert_eq!(std::fs::read_to_string(folder.path().join("version")).unwrap(), "2\n");
    }

    #[test]
    fn a_directory_of_something_else_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("version"), b"\xff\xfe").unwrap();
        let error = lock(folder.path()).unwrap_err().to_string();
        assert!(error.contains("is no state directory"), "{error}");
    }

    #[test]
    fn a_path_below_a_file_is_refused_with_advice() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = lock(&file.path().join("state")).unwrap_err().to_string();
        assert!(error.starts_with("cannot make the state directory"), "{error}");
        assert!(error.contains("stateDirectory"), "{error}");
    }

    #[test]
    fn the_right_holds_while_the_lock_does() {
        let folder = tempfile::tempdir().unwrap();
        let single = Single::new(lock(folder.path()).unwrap(), TOKEN);
        assert_eq!(single.check(Duration::from_secs(3600)), Ok(TOKEN));
    }

    #[test]
    fn the_right_is_lost_when_the_directory_is_taken_away() {
        let folder = tempfile::tempdir().unwrap();
        let single = Single::new(lock(folder.path()).unwrap(), TOKEN);
        std::fs::remove_file(folder.path().join("lock")).unwrap();
        assert!(single.check(Duration::ZERO).is_err());
        let _other = lock(folder.path()).unwrap();
        let lost = single.check(Duration::ZERO).unwrap_err().to_string();
        assert!(lost.contains("was removed or replaced"), "{lost}");
    }
}
