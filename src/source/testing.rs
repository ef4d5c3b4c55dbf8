//! What the unit tests of this room share: repositories made with libgit2, and a fetcher that needs
//! no process.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use git2::build::TreeUpdateBuilder;
use git2::{FileMode, Oid, Repository, Signature};
use tempfile::TempDir;

use super::access::{Access, FetchRequest, Fetched};
use super::fetch::Fetcher;
use super::{Heads, Location, SourceError, transfer};

/// Holds a bare repository and a state directory.
pub(crate) struct World {
    pub(crate) repository: Repository,
    pub(crate) access: Access,
    _folders: (TempDir, TempDir),
}

impl World {
    pub(crate) fn new() -> Self {
        let (origin, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let repository = Repository::init_bare(origin.path()).unwrap();
        let access = Access::new(state.path()).unwrap();
        Self { repository, access, _folders: (origin, state) }
    }

    /// Commits files on top of `main`; `None` removes one.
    pub(crate) fn commit(&self, files: &[(&str, Option<&str>)]) -> Oid {
        let mut update = TreeUpdateBuilder::new();
        for (path, text) in files {
            match text {
                Some(text) => {
                    let blob = self.repository.blob(text.as_bytes()).unwrap();
                    update.upsert(*path, blob, FileMode::Blob);
                }
                None => drop(update.remove(*path)),
            }
        }
        self.commit_update(&mut update)
    }

    /// Commits a symbolic link on top of `main`.
    pub(crate) fn link(&self, path: &str, target: &str) -> Oid {
        let mut update = TreeUpdateBuilder::new();
        update.upsert(path, self.repository.blob(target.as_bytes()).unwrap(), FileMode::Link);
        self.commit_update(&mut update)
    }

    fn commit_update(&self, update: &mut TreeUpdateBuilder) -> Oid {
        let repository = &self.repository;
        let parent = repository
            .refname_to_id("refs/heads/main")
            .ok()
            .map(|id| repository.find_commit(id).unwrap());
        let base = match &parent {
            Some(parent) => parent.tree().unwrap(),
            None => {
                let empty = repository.treebuilder(None).unwrap().write().unwrap();
                repository.find_tree(empty).unwrap()
            }
        };
        let tree = update.create_updated(repository, &base).unwrap();
        let tree = repository.find_tree(tree).unwrap();
        let author = Signature::new("a", "a@example.com", &git2::Time::new(0, 0)).unwrap();
        let parents: Vec<&git2::Commit<'_>> = parent.iter().collect();
        repository
            .commit(Some("refs/heads/main"), &author, &author, "change", &tree, &parents)
            .unwrap()
    }

    /// Commits files on top of `main` onto another reference, which is made or forced.
    pub(crate) fn branch(&self, name: &str, files: &[(&str, Option<&str>)]) -> Oid {
        let tip = self.tip("refs/heads/main");
        let head = self.commit(files);
        self.repository.reference(name, head, true, "").unwrap();
        self.repository.reference("refs/heads/main", tip, true, "").unwrap();
        head
    }

    /// Merges a commit into the branch, and takes files away in the merge itself.
    pub(crate) fn merge(&self, other: Oid, without: &[&str]) -> Oid {
        let repository = &self.repository;
        let tip = repository.find_commit(self.tip("refs/heads/main")).unwrap();
        let mut update = TreeUpdateBuilder::new();
        for path in without {
            update.remove(*path);
        }
        let tree = update.create_updated(repository, &tip.tree().unwrap()).unwrap();
        let (tree, other) =
            (repository.find_tree(tree).unwrap(), repository.find_commit(other).unwrap());
        let who = tip.author();
        let branch = Some("refs/heads/main");
        repository.commit(branch, &who, &who, "merge", &tree, &[&tip, &other]).unwrap()
    }

    /// Returns where a reference is.
    pub(crate) fn tip(&self, name: &str) -> Oid {
        self.repository.refname_to_id(name).unwrap()
    }

    /// Returns the manifests in the root of a commit.
    pub(crate) fn files(&self, commit: Oid) -> Vec<(String, String)> {
        let tree = self.repository.find_commit(commit).unwrap().tree().unwrap();
        let names =
            tree.iter().filter_map(|entry| Some((entry.name().ok()?.to_owned(), entry.id())));
        let manifests = names.filter(|(name, _)| name.ends_with(".yaml"));
        let text = |id| self.repository.find_blob(id).unwrap().content().to_vec();
        manifests.map(|(name, id)| (name, String::from_utf8(text(id)).unwrap())).collect()
    }

    /// Fetches references beside `main` as the child does, in this process.
    pub(crate) fn fetch_heads(
        &self,
    ) -> impl Fn(Vec<String>, bool) -> Result<Heads, SourceError> + Send + Sync + 'static {
        let url = self.repository.path().to_str().unwrap();
        let location = Location::parse(url, Some("main"), "").unwrap();
        let access = self.access.clone();
        move |heads, rebuild| {
            let request = FetchRequest::with_heads(&location, &access, &heads, rebuild);
            Ok(Heads::of(&location, transfer::fetch(&request)?, request.mirror))
        }
    }

    pub(crate) fn fetcher(&self) -> DirectFetcher {
        DirectFetcher {
            url: self.repository.path().to_str().unwrap().trim_end_matches('/').to_owned(),
            fetches: Arc::default(),
            under_way: Arc::default(),
            most: Arc::default(),
            broken: Arc::default(),
        }
    }
}

/// Returns a location whose repository is remote by its name, so that no files are watched.
pub(crate) fn location(folder: &str) -> Location {
    Location::parse("https://git.example/r", Some("main"), folder).unwrap()
}

/// Fetches in this process from a repository on disk; it can be told to fail or to hang.
#[derive(Clone)]
pub(crate) struct DirectFetcher {
    url: String,
    pub(crate) fetches: Arc<AtomicUsize>,
    under_way: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
    pub(crate) broken: Arc<Mutex<Option<Broken>>>,
}

/// Says how a fetch is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Broken {
    Fails,
    Hangs,
    /// It takes three seconds.
    Slow,
}

impl DirectFetcher {
    pub(crate) fn count(&self) -> usize {
        self.fetches.load(Ordering::SeqCst)
    }

    /// Returns how many fetches were under way together at most.
    pub(crate) fn most_at_once(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }

    pub(crate) fn set_broken(&self, broken: Option<Broken>) {
        *self.broken.lock().unwrap() = broken;
    }
}

impl Fetcher for DirectFetcher {
    async fn fetch(
        &self,
        location: &Location,
        access: &Access,
        rebuild: bool,
    ) -> Result<Fetched, SourceError> {
        self.fetches.fetch_add(1, Ordering::SeqCst);
        let together = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(together, Ordering::SeqCst);
        let broken = *self.broken.lock().unwrap();
        let fetched = match broken {
            Some(Broken::Hangs) => std::future::pending().await,
            Some(Broken::Fails) => {
                Err(SourceError::ServerError { url: location.shown().to_owned(), status: 503 })
            }
            slow => {
                if slow.is_some() {
                    tokio::time::sleep(Duration::from_secs(3)).await;
                }
                let request = FetchRequest::new(location, access, rebuild);
                transfer::fetch(&FetchRequest { url: self.url.clone(), server: None, ..request })
            }
        };
        self.under_way.fetch_sub(1, Ordering::SeqCst);
        fetched
    }
}
