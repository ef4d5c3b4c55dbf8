//! The bare mirror in the state directory: a cache that may be thrown away at any time.
//!
//! In: the folder of a mirror. Out: a clean repository to fetch into, and the lock that keeps a
//! fetch and a reading apart.
//!
//! Invariants: whoever holds the exclusive [`Lock`] is the only writer, so that lock files and
//! temporary packs of Git found under it are leftovers of a killed process. A mirror is replaced by
//! a rename and never repaired. Nothing outside the folder and its siblings with the same name and
//! another ending is touched.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use git2::{Oid, Repository};

/// More packs than this slow every read down: each fetch adds one, and libgit2 merges none.
const MAX_PACKS: usize = 50;
/// Each fetch of depth 1 adds a line to `shallow`, and libgit2 removes none.
const MAX_SHALLOW_LINES: usize = 50;

/// Names the reference of the mirror that follows the branch.
pub(crate) const TIP: &str = "refs/levelset/tip";

/// Names the reference that keeps the last good commit while a mirror is made anew.
const KEPT: &str = "refs/levelset/kept";

/// Keeps writers and readers of one mirror apart, between processes too.
///
/// The system releases it when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits until no other process uses the mirror.
    pub(crate) fn exclusive(mirror: &Path) -> io::Result<Self> {
        let file = lock_file(mirror)?;
        file.lock()?;
        Ok(Self { _file: file })
    }

    /// Waits until no other process writes the mirror.
    pub(crate) fn shared(mirror: &Path) -> io::Result<Self> {
        let file = lock_file(mirror)?;
        file.lock_shared()?;
        Ok(Self { _file: file })
    }
}

fn lock_file(mirror: &Path) -> io::Result<File> {
    if let Some(parent) = mirror.parent() {
        fs::create_dir_all(parent)?;
    }
    File::options().create(true).truncate(false).write(true).open(mirror.with_extension("lock"))
}

/// Deletes what a killed fetch leaves behind: lock files, temporary packs, half-built mirrors.
pub(crate) fn clean(mirror: &Path) -> io::Result<()> {
    remove_dir(&building(mirror))?;
    remove_dir(&retired(mirror))?;
    if !mirror.exists() {
        return Ok(());
    }
    let is_lock = |name: &str| name.ends_with(".lock");
    remove_files(mirror, is_lock)?;
    remove_files(&mirror.join("refs").join("levelset"), is_lock)?;
    remove_files(&mirror.join("objects").join("pack"), is_temporary_pack)
}

/// libgit2 writes packs as `pack_git2_*`, Git as `tmp_*`, both renamed when complete.
fn is_temporary_pack(name: &str) -> bool {
    let complete = name.starts_with("pack-")
        && Path::new(name).extension().is_some_and(|end| end == "pack" || end == "idx");
    !complete
}

fn remove_files(folder: &Path, unwanted: impl Fn(&str) -> bool) -> io::Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() && unwanted(&entry.file_name().to_string_lossy()) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn remove_dir(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Returns where a new mirror is built.
pub(crate) fn building(mirror: &Path) -> PathBuf {
    mirror.with_extension("new")
}

fn retired(mirror: &Path) -> PathBuf {
    mirror.with_extension("old")
}

/// Says why the mirror has to be made anew before it is used, if it has.
pub(crate) fn worn_out(mirror: &Path) -> Option<String> {
    if !mirror.exists() {
        return Some("there was no mirror".to_owned());
    }
    let packs = fs::read_dir(mirror.join("objects").join("pack")).map_or(0, |entries| {
        entries.flatten().filter(|e| e.path().extension().is_some_and(|end| end == "pack")).count()
    });
    if packs >= MAX_PACKS {
        return Some(format!("the mirror had {MAX_PACKS} packs"));
    }
    let shallow = fs::read_to_string(mirror.join("shallow")).unwrap_or_default();
    if shallow.lines().count() >= MAX_SHALLOW_LINES {
        return Some(format!("the mirror had {MAX_SHALLOW_LINES} shallow commits"));
    }
    None
}

/// Makes an empty mirror in the building place and returns it.
pub(crate) fn start_building(mirror: &Path) -> Result<Repository, git2::Error> {
    let place = building(mirror);
    // A leftover makes `init` fail below with its own message.
    let _ = remove_dir(&place);
    let repository = Repository::init_bare(&place)?;
    // Connections for listing take this from the configuration alone: without it, libgit2 follows
    // the first redirect to any host.
    repository.config()?.set_bool("http.followRedirects", false)?;
    Ok(repository)
}

/// Brings a commit with its history from the old mirror into the one that is built, so that it is there
/// also when the repository has it no longer.
pub(crate) fn take_over(
    mirror: &Path,
    building: &Repository,
    commit: &str,
) -> Result<(), git2::Error> {
    let old = Repository::open_bare(mirror)?;
    let commit = old.find_commit(Oid::from_str(commit)?)?.id();
    old.reference(KEPT, commit, true, "kept")?;
    let path = mirror.to_string_lossy();
    building.remote_anonymous(&path)?.fetch(&[format!("+{KEPT}:{KEPT}")], None, None)
}

/// Puts the mirror that was built in the place of the old one.
pub(crate) fn finish_building(mirror: &Path) -> io::Result<()> {
    remove_dir(&retired(mirror))?;
    if mirror.exists() {
        fs::rename(mirror, retired(mirror))?;
    }
    fs::rename(building(mirror), mirror)?;
    remove_dir(&retired(mirror))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }

    #[test]
    fn cleaning_removes_leftovers_and_keeps_the_repository() {
        let state = tempfile::tempdir().unwrap();
        let mirror = state.path().join("abc");
        let gone = [
            "abc/shallow.lock",
            "abc/refs/levelset/tip.lock",
            "abc/objects/pack/pack_git2_1234",
            "abc/objects/pack/tmp_pack_x",
            "abc/objects/pack/pack-1.idx.lock",
            "abc.new/HEAD",
            "abc.old/HEAD",
        ];
        let kept =
            ["abc/HEAD", "abc/refs/levelset/tip", "abc/objects/pack/pack-1.pack", "other.new/HEAD"];
        for path in gone.iter().chain(&kept) {
            touch(&state.path().join(path));
        }
        clean(&mirror).unwrap();
        assert!(gone.iter().all(|path| !state.path().join(path).exists()));
        assert!(kept.iter().all(|path| state.path().join(path).exists()));
    }

    #[test]
    fn a_mirror_with_many_packs_or_shallow_lines_is_worn_out() {
        let state = tempfile::tempdir().unwrap();
        let mirror = state.path().join("abc");
        assert!(worn_out(&mirror).is_some());
        for n in 0..MAX_PACKS - 1 {
            touch(&mirror.join(format!("objects/pack/pack-{n}.pack")));
            touch(&mirror.join(format!("objects/pack/pack-{n}.idx")));
        }
        assert_eq!(worn_out(&mirror), None);
        fs::write(mirror.join("shallow"), "x\n".repeat(MAX_SHALLOW_LINES)).unwrap();
        assert!(worn_out(&mirror).unwrap().contains("shallow"));
        fs::remove_file(mirror.join("shallow")).unwrap();
        touch(&mirror.join("objects/pack/pack-last.pack"));
        assert!(worn_out(&mirror).unwrap().contains("packs"));
    }

    #[test]
    fn a_reader_waits_for_the_writer() {
        let state = tempfile::tempdir().unwrap();
        let mirror = state.path().join("abc");
        let writer = Lock::exclusive(&mirror).unwrap();
        let other = File::options().write(true).open(state.path().join("abc.lock")).unwrap();
        assert!(other.try_lock_shared().is_err());
        drop(writer);
        let _reader = Lock::shared(&mirror).unwrap();
        assert!(other.try_lock_shared().is_ok());
    }
}
