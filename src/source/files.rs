//! Watches the references of a repository on this machine.
//!
//! In: the path of a repository. Out: a wake-up whenever a branch may have moved.
//!
//! Invariants: an event carries no content; a missed or lost watch costs time, never correctness,
//! because the poll goes on. The files of a work tree are not watched: only commits count.

use std::ffi::OsStr;
use std::path::{Component, Path};
use std::sync::Arc;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;

/// Keeps the watch alive; dropping it ends the watch.
#[derive(Debug)]
pub(crate) struct FileWatch {
    _watcher: RecommendedWatcher,
}

impl FileWatch {
    /// Watches the references of the repository at `path` and notifies `changed`.
    ///
    /// Returns `None` when the repository cannot be watched, with a line in the log.
    pub(crate) fn start(path: &Path, changed: Arc<Notify>) -> Option<Self> {
        let folder = git2::Repository::open(path).ok()?.commondir().to_owned();
        let handler = move |event: notify::Result<Event>| {
            if event.map_or(true, |event| moves_a_branch(&event)) {
                changed.notify_one();
            }
        };
        let watch = notify::recommended_watcher(handler).and_then(|mut watcher| {
            watcher.watch(&folder, RecursiveMode::NonRecursive)?;
            watcher.watch(&folder.join("refs").join("heads"), RecursiveMode::Recursive)?;
            Ok(watcher)
        });
        match watch {
            Ok(watcher) => Some(Self { _watcher: watcher }),
            Err(error) => {
                tracing::warn!(repository = %path.display(), %error, "the repository cannot be watched and is polled only");
                None
            }
        }
    }
}

/// Git writes `HEAD`, `packed-refs` and the files under `refs` by renaming a lock file.
fn moves_a_branch(event: &Event) -> bool {
    if matches!(event.kind, EventKind::Access(_)) {
        return false;
    }
    event.paths.iter().any(|path| {
        let lock = path.extension() == Some(OsStr::new("lock"));
        let name = path.file_name().unwrap_or_default();
        let in_refs = path.components().any(|part| part == Component::Normal(OsStr::new("refs")));
        !lock && (in_refs || name == "HEAD" || name == "packed-refs")
    })
}

#[cfg(test)]
mod tests {
    use notify::event::{AccessKind, ModifyKind};

    use super::*;

    fn moved(kind: EventKind, path: &str) -> bool {
        moves_a_branch(&Event::new(kind).add_path(path.into()))
    }

    #[test]
    fn only_a_reference_that_is_written_counts() {
        let modify = EventKind::Modify(ModifyKind::Any);
        for path in ["/r/.git/refs/heads/team/main", "/r/.git/packed-refs", "/r/.git/HEAD"] {
            assert!(moved(modify, path), "{path}");
        }
        for path in ["/r/.git/index", "/r/.git/HEAD.lock", "/r/.git/refs/heads/main.lock"] {
            assert!(!moved(modify, path), "{path}");
        }
        assert!(!moved(EventKind::Access(AccessKind::Any), "/r/.git/HEAD"));
    }
}
