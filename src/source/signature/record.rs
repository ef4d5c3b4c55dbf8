//! The last commit that was found good, in a file of the state directory.
//!
//! Invariants: a file that is there and cannot be read is an error and never "nothing was good yet", which
//! would let any signed commit begin anew; it is replaced by a rename.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::source::SourceError;

/// Names a commit, and from where on it was verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The commit, in hexadecimal.
    pub(super) revision: String,
    /// What `since` was.
    pub(super) since: Option<String>,
}

impl Record {
    /// Reads it; `None` when no commit was good yet.
    pub(super) fn load(path: &Path) -> Result<Option<Self>, SourceError> {
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unusable(path, &error)),
        };
        serde_json::from_slice(&text).map(Some).map_err(|error| unusable(path, &error))
    }

    /// Replaces it.
    pub(super) fn save(&self, path: &Path) -> Result<(), SourceError> {
        self.write(path).map_err(|error| unusable(path, &error))
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new(""));
        fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error).map(drop)
    }
}

fn unusable(path: &Path, error: &dyn std::error::Error) -> SourceError {
    let detail = format!(
        "{error}; it names the last commit that was applied: mend it, or delete it and name that commit as \
         repository.signatures.since"
    );
    SourceError::KeysUnusable { path: PathBuf::from(path), detail }
}
