//! Real repositories over file, http and ssh.

mod signed;

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use levelset::model::Clock;
use levelset::model::tree::{Content, Tree};
use levelset::source::{
    Access, Credentials, Location, Pace, SourceError, Watched, Watcher, read_once, read_with_cost,
};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tempfile::TempDir;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::support::git::{
    Behaviour, HttpServer, Repo, Sshd, TlsProxy, basic, git, git_with, processes_with,
};

/// Holds a state directory and the access that tests start from.
struct State {
    folder: TempDir,
    access: Access,
}

fn state() -> State {
    let folder = tempfile::tempdir().unwrap();
    let mut access = Access::new(folder.path()).unwrap();
    access.program = PathBuf::from(env!("CARGO_BIN_EXE_levelset"));
    State { folder, access }
}

impl State {
    async fn read(&self, url: &str) -> Result<Tree, SourceError> {
        self.read_at(url, Some("main"), "").await
    }

    async fn read_at(
        &self,
        url: &str,
        branch: Option<&str>,
        folder: &str,
    ) -> Result<Tree, SourceError> {
        read_once(&Location::parse(url, branch, folder)?, &self.access).await
    }

    /// Returns the error of a reading that must fail.
    async fn refused(&self, url: &str) -> SourceError {
        self.read(url).await.expect_err("the reading fails")
    }

    fn with_password(mut self, username: &str, password: &str) -> Self {
        self.access.credentials =
            Credentials::Password { username: username.to_owned(), password: password.into() };
        self
    }

    fn with_key(mut self, key: &str) -> Self {
        self.access.credentials = Credentials::SshKey { private_key: key.into(), passphrase: None };
        self
    }

    /// Returns the folder of the only mirror.
    fn mirror(&self) -> PathBuf {
        let mut found = std::fs::read_dir(self.folder.path().join("mirror"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_none() && path.is_dir());
        let mirror = found.next().expect("there is a mirror");
        assert!(found.next().is_none());
        mirror
    }

    fn packs(&self) -> Vec<PathBuf> {
        std::fs::read_dir(self.mirror().join("objects/pack"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|end| end == "pack"))
            .collect()
    }
}

fn paths(tree: &Tree) -> Vec<&str> {
    tree.entries.keys().map(AsRef::as_ref).collect()
}

fn text<'a>(tree: &'a Tree, path: &str) -> &'a str {
    match &tree.entries[path].content {
        Content::Bytes(bytes) => std::str::from_utf8(bytes).unwrap(),
        Content::Refused(reason) => panic!("{path}: {reason}"),
    }
}

fn refusal<'a>(tree: &'a Tree, path: &str) -> &'a str {
    match &tree.entries[path].content {
        Content::Refused(reason) => reason,
        Content::Bytes(_) => panic!("{path} was read"),
    }
}

fn repo() -> Repo {
    Repo::with(&[("env/a.yaml", "a"), ("env/b/c.yml", "c"), ("env/.x/d.yaml", "d"), ("e.md", "e")])
}

#[tokio::test]
async fn a_repository_is_read_by_path_by_file_url_and_bare() {
    let (repo, state) = (repo(), state());
    let path = repo.path();
    git(repo.root(), &["clone", "-q", "--bare", "r", "bare.git"]);
    let bare = repo.root().join("bare.git");
    for url in [
        path.display().to_string(),
        format!("file://{}", path.display()),
        bare.display().to_string(),
    ] {
        let tree = state.read_at(&url, None, "env").await.unwrap();
        assert_eq!(paths(&tree), ["env/a.yaml", "env/b/c.yml"], "{url}");
        assert_eq!(text(&tree, "env/b/c.yml"), "c");
        assert_eq!(tree.revision.as_str(), repo.git(&["rev-parse", "HEAD"]));
    }
}

#[tokio::test]
async fn a_change_of_the_work_tree_counts_only_once_it_is_committed() {
    let (repo, state) = (repo(), state());
    let url = repo.path().display().to_string();
    std::fs::write(repo.path().join("env/a.yaml"), "not committed").unwrap();
    assert_eq!(text(&state.read(&url).await.unwrap(), "env/a.yaml"), "a");
    repo.commit_all();
    assert_eq!(text(&state.read(&url).await.unwrap(), "env/a.yaml"), "not committed");
}

#[tokio::test]
async fn a_shallow_checkout_with_a_detached_head_is_read_as_a_build_server_leaves_it() {
    let (repo, state) = (repo(), state());
    let tip = repo.commit(&[("env/a.yaml", "tip")]);
    let origin = format!("file://{}", repo.path().display());
    git(repo.root(), &["clone", "-q", "--depth", "1", &origin, "checkout"]);
    let checkout = repo.root().join("checkout");
    git(&checkout, &["checkout", "-q", "--detach"]);
    git(&checkout, &["branch", "-D", "main"]);
    let tree = state.read_at(checkout.to_str().unwrap(), None, "env").await.unwrap();
    assert_eq!((tree.revision.as_str(), text(&tree, "env/a.yaml")), (tip.as_str(), "tip"));
}

#[tokio::test]
async fn conditions_of_a_local_repository_are_told_apart() {
    let (repo, state) = (repo(), state());
    repo.git(&["branch", "dev"]);
    let path = repo.path().display().to_string();
    let branch = state.read_at(&path, Some("mian"), "").await.unwrap_err();
    assert_eq!(branch.code(), "BranchNotFound");
    assert!(branch.to_string().contains("dev, main"), "{branch}");
    let missing = state.read_at(&path, None, "nowhere").await.unwrap_err();
    assert_eq!(missing.code(), "FolderMissing");
    let gone = state.refused(&repo.root().join("gone").display().to_string()).await;
    assert_eq!(gone.code(), "RepositoryNotFound");
    let plain = state.refused(&repo.root().display().to_string()).await;
    assert_eq!(plain.code(), "NotARepository");
    let empty = Repo::empty();
    let unborn = state.refused(&empty.path().display().to_string()).await;
    assert!(unborn.to_string().contains("no branch yet"), "{unborn}");
}

#[tokio::test]
async fn a_repository_with_sha256_ids_is_refused_with_its_reason() {
    let (folder, state) = (tempfile::tempdir().unwrap(), state());
    git(folder.path(), &["init", "-q", "-b", "main", "--object-format=sha256", "r"]);
    let path = folder.path().join("r");
    std::fs::write(path.join("a.yaml"), "a").unwrap();
    git(&path, &["add", "-A"]);
    git(&path, &["commit", "-q", "-m", "x"]);
    assert_eq!(state.refused(path.to_str().unwrap()).await.code(), "UnsupportedFormat");
    let server = HttpServer::start(folder.path(), Behaviour::Serve);
    assert_eq!(state.refused(&server.url()).await.code(), "UnsupportedFormat");
}

#[tokio::test]
async fn a_repository_is_read_over_http_with_depth_one() {
    let (repo, state) = (repo(), state());
    for n in 0..20 {
        repo.commit(&[("env/a.yaml", &n.to_string())]);
    }
    let server = HttpServer::start(repo.root(), Behaviour::Serve);
    let tree = state.read(&server.url()).await.unwrap();
    assert_eq!(text(&tree, "env/a.yaml"), "19");
    let commits = git(&state.mirror(), &["rev-list", "--count", "refs/levelset/tip"]);
    assert_eq!(commits, "1");
}

#[tokio::test]
async fn http_passwords_are_sent_once_and_never_shown() {
    let repo = repo();
    let server = HttpServer::start(repo.root(), Behaviour::Auth("bot", "hunter2-right"));
    let right = state().with_password("bot", "hunter2-right");
    assert_eq!(text(&right.read(&server.url()).await.unwrap(), "env/a.yaml"), "a");
    let before = server.authorizations().len();
    let wrong = state().with_password("bot", "hunter2-wrong");
    let error = wrong.refused(&server.url()).await;
    assert_eq!(error.code(), "AuthenticationFailed");
    assert!(!format!("{error} {error:?} {:?}", wrong.access).contains("hunter2"));
    assert_eq!(server.authorizations()[before..], [basic("bot", "hunter2-wrong")]);
    assert_eq!(state().refused(&server.url()).await.code(), "CredentialsMissing");
}

#[tokio::test]
async fn a_redirect_to_another_host_is_refused_before_credentials_are_sent() {
    let repo = repo();
    let thief = HttpServer::start(repo.root(), Behaviour::Auth("bot", "hunter2"));
    let elsewhere = format!("http://localhost:{}", thief.port());
    let server = HttpServer::start(repo.root(), Behaviour::Redirect(elsewhere));
    let state = state().with_password("bot", "hunter2");
    assert_eq!(state.refused(&server.url()).await.code(), "RedirectRefused");
    assert!(thief.authorizations().is_empty());
}

#[tokio::test]
async fn http_failures_are_told_apart() {
    let (repo, state) = (repo(), state());
    let server = HttpServer::start(repo.root(), Behaviour::Status(503));
    let error = state.refused(&server.url()).await;
    assert!(matches!(error, SourceError::ServerError { status: 503, .. }), "{error:?}");
    for (behaviour, code) in [
        (Behaviour::Status(403), "AuthenticationFailed"),
        (Behaviour::Status(404), "RepositoryNotFound"),
        (Behaviour::Status(500), "ServerError"),
        (Behaviour::WebPage, "NotARepository"),
    ] {
        server.behave(behaviour.clone());
        assert_eq!(state.refused(&server.url()).await.code(), code, "{behaviour:?}");
    }
    server.behave(Behaviour::Serve);
    let missing = server.url() + "-missing";
    assert_eq!(state.refused(&missing).await.code(), "RepositoryNotFound");
    let error = state.read_at(&server.url(), Some("mian"), "").await.unwrap_err();
    assert_eq!(error.code(), "BranchNotFound");
}

#[tokio::test]
async fn an_unknown_host_and_a_closed_port_are_told_apart() {
    let state = state();
    // The top-level domain that never exists (RFC 6761).
    let error = state.refused("http://git.invalid/r").await;
    assert_eq!(error.code(), "UnknownHost", "{error}");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    for scheme in ["http", "ssh"] {
        let error = state.refused(&format!("{scheme}://127.0.0.1:{port}/r")).await;
        assert_eq!(error.code(), "ConnectionRefused", "{error}");
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up() {
    let (repo, mut state) = (repo(), state());
    state.access.server_timeout = Duration::from_secs(1);
    let server = HttpServer::start(repo.root(), Behaviour::Silent);
    for url in [server.url(), format!("ssh://git@127.0.0.1:{}/r", server.port())] {
        let error = state.refused(&url).await;
        assert_eq!(error.code(), "ServerSilent", "{url}: {error}");
    }
}

#[tokio::test]
async fn a_fetch_that_does_not_end_is_killed_at_its_deadline() {
    let (repo, mut state) = (repo(), state());
    state.access.deadline = Duration::from_secs(1);
    let server = HttpServer::start(repo.root(), Behaviour::Silent);
    for behaviour in [Behaviour::Silent, Behaviour::Trickle, Behaviour::TricklePack] {
        server.behave(behaviour.clone());
        let error = state.refused(&server.url()).await;
        assert_eq!(error.code(), "Timeout", "{behaviour:?}: {error}");
        assert!(processes_with(state.folder.path()).is_empty(), "{behaviour:?}");
    }
    state.access.deadline = Duration::from_secs(60);
    server.behave(Behaviour::Serve);
    assert_eq!(text(&state.read(&server.url()).await.unwrap(), "env/a.yaml"), "a");
}

#[tokio::test]
async fn tls_is_checked_against_the_private_authority() {
    let repo = repo();
    let server = HttpServer::start(repo.root(), Behaviour::Serve);
    let proxy = TlsProxy::start(&server);
    let mut state = state();
    let error = state.refused(&proxy.url()).await;
    assert_eq!(error.code(), "TlsFailed", "{error}");
    let plain = server.url().replace("http:", "https:");
    let error = state.refused(&plain).await;
    assert_eq!(error.code(), "TlsFailed", "{error}");
    state.access.ca_file = Some(proxy.ca_file());
    assert_eq!(text(&state.read(&proxy.url()).await.unwrap(), "env/a.yaml"), "a");
}

#[tokio::test]
async fn ssh_trusts_only_hosts_of_the_known_hosts_file() {
    let (repo, sshd) = (repo(), Sshd::start());
    let mut state = state().with_key(&sshd.key());
    let url = sshd.url(&repo.path());
    let error = state.refused(&url).await;
    let SourceError::HostKeyUnknown { fingerprint, line, .. } = &error else {
        panic!("{error:?}");
    };
    assert_eq!(*fingerprint, sshd.fingerprint());
    assert!(error.to_string().contains(line.as_str()));
    state.access.known_hosts = Some(PathBuf::from("/nonexistent/known_hosts"));
    assert_eq!(state.refused(&url).await.code(), "ReadFailed");
    state.access.known_hosts = Some(sshd.known_hosts(&sshd.line_with_another_key()));
    assert_eq!(state.refused(&url).await.code(), "HostKeyChanged");
    state.access.known_hosts = Some(sshd.known_hosts(line));
    assert_eq!(text(&state.read(&url).await.unwrap(), "env/a.yaml"), "a");
    let commits = git(&state.mirror(), &["rev-list", "--count", "refs/levelset/tip"]);
    assert_eq!(commits, "1");
}

#[tokio::test]
async fn ssh_failures_are_told_apart() {
    let (repo, sshd) = (repo(), Sshd::start());
    let mut state = state().with_key(&sshd.key());
    let url = sshd.url(&repo.path());
    let SourceError::HostKeyUnknown { line, .. } = state.refused(&url).await else {
        panic!("the host is known");
    };
    state.access.known_hosts = Some(sshd.known_hosts(&line));
    let missing = state.refused(&sshd.url(&repo.root().join("gone"))).await;
    assert_eq!(missing.code(), "RepositoryNotFound", "{missing}");
    let error = state.read_at(&url, Some("mian"), "").await.unwrap_err();
    assert_eq!(error.code(), "BranchNotFound");
    let stranger = State { access: state.access.clone(), folder: tempfile::tempdir().unwrap() };
    let stranger = stranger.with_key(&sshd.strange_key());
    assert_eq!(stranger.refused(&url).await.code(), "AuthenticationFailed");
    let garbage = State { access: state.access.clone(), folder: tempfile::tempdir().unwrap() };
    let error = garbage.with_key("not a key").refused(&url).await;
    assert_eq!(error.code(), "AuthenticationFailed", "{error}");
    let nobody = State { access: state.access.clone(), folder: tempfile::tempdir().unwrap() };
    let nobody =
        State { access: Access { credentials: Credentials::None, ..nobody.access }, ..nobody };
    assert_eq!(nobody.refused(&url).await.code(), "CredentialsMissing");
}

#[tokio::test]
async fn a_forced_push_and_a_deleted_branch() {
    let (repo, state) = (repo(), state());
    let server = HttpServer::start(repo.root(), Behaviour::Serve);
    state.read(&server.url()).await.unwrap();
    repo.git(&["checkout", "-q", "--orphan", "other"]);
    let forced = repo.commit(&[("env/a.yaml", "forced")]);
    repo.git(&["branch", "-f", "main", "other"]);
    let tree = state.read(&server.url()).await.unwrap();
    assert_eq!((tree.revision.as_str(), text(&tree, "env/a.yaml")), (forced.as_str(), "forced"));
    repo.git(&["branch", "-D", "main"]);
    let error = state.refused(&server.url()).await;
    assert!(error.to_string().contains("some that exist: other"), "{error}");
}

#[tokio::test]
async fn files_that_cannot_be_manifests_are_refused_one_by_one() {
    let (repo, state) = (repo(), state());
    let at = |path: &str| repo.path().join(path);
    std::fs::write(at("env/large.yaml"), vec![b'x'; 50 << 20]).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", at("env/escape.yaml")).unwrap();
    std::os::unix::fs::symlink("../e.md", at("env/up.yaml")).unwrap();
    std::os::unix::fs::symlink("a.yaml", at("env/inside.yaml")).unwrap();
    let strange = std::ffi::OsStr::from_bytes(b"env/bad\xff.yaml");
    std::fs::write(repo.path().join(strange), "x").unwrap();
    repo.git(&["add", "-A"]);
    let submodule = format!("160000,{},env/module", repo.git(&["rev-parse", "HEAD"]));
    repo.git(&["update-index", "--add", "--cacheinfo", &submodule]);
    repo.git(&["commit", "-q", "-m", "strange"]);
    let url = repo.path().display().to_string();
    let tree = state.read_at(&url, Some("main"), "env").await.unwrap();
    assert_eq!(text(&tree, "env/a.yaml"), "a");
    assert_eq!(text(&tree, "env/inside.yaml"), "a");
    assert!(refusal(&tree, "env/large.yaml").contains("52428800 bytes"));
    assert!(refusal(&tree, "env/escape.yaml").contains("outside the folder"));
    assert!(refusal(&tree, "env/up.yaml").contains("outside the folder"));
    assert!(refusal(&tree, "env/module").contains("submodule"));
    assert!(refusal(&tree, "env/bad\\xff.yaml").contains("UTF-8"));
}

#[tokio::test]
async fn a_branch_whose_name_is_not_text_does_not_stop_the_others() {
    let (repo, state) = (repo(), state());
    let commit = repo.git(&["rev-parse", "HEAD"]);
    let packed =
        [b"# pack-refs with: peeled fully-peeled \n", commit.as_bytes(), b" refs/heads/\xff\n"];
    std::fs::write(repo.path().join(".git/packed-refs"), packed.concat()).unwrap();
    let server = HttpServer::start(repo.root(), Behaviour::Serve);
    assert_eq!(text(&state.read(&server.url()).await.unwrap(), "env/a.yaml"), "a");
}

#[tokio::test]
async fn a_mirror_that_is_broken_heals_by_itself() {
    let (repo, state) = (repo(), state());
    let server = HttpServer::start(repo.root(), Behaviour::Serve);
    let first = state.read(&server.url()).await.unwrap();
    let truncate = || {
        for pack in state.packs() {
            std::fs::remove_file(&pack).unwrap();
            std::fs::write(&pack, b"PACK").unwrap();
        }
    };
    truncate();
    assert_eq!(state.read(&server.url()).await.unwrap(), first, "the tip did not move");
    truncate();
    repo.commit(&[("env/a.yaml", "new")]);
    assert_eq!(text(&state.read(&server.url()).await.unwrap(), "env/a.yaml"), "new");
    for lock in ["shallow.lock", "HEAD.lock", "config.lock", "refs/levelset/tip.lock"] {
        std::fs::write(state.mirror().join(lock), "").unwrap();
    }
    repo.commit(&[("env/a.yaml", "newer")]);
    assert_eq!(text(&state.read(&server.url()).await.unwrap(), "env/a.yaml"), "newer");
    for gone in ["HEAD", "config", "objects", "refs/levelset/tip"] {
        let path = state.mirror().join(gone);
        if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }
            .unwrap();
        let tree = state.read(&server.url()).await.unwrap();
        assert_eq!(text(&tree, "env/a.yaml"), "newer", "without {gone}");
    }
    std::fs::write(state.mirror().join("refs/levelset/tip"), "garbage").unwrap();
    assert_eq!(text(&state.read(&server.url()).await.unwrap(), "env/a.yaml"), "newer");
}

#[tokio::test]
async fn sixty_pushes_keep_the_mirror_small() {
    let (repo, state) = (repo(), state());
    let server = HttpServer::start(repo.root(), Behaviour::Serve);
    for n in 0..60 {
        repo.commit(&[("env/a.yaml", &n.to_string())]);
        let tree = state.read(&server.url()).await.unwrap();
        assert_eq!(text(&tree, "env/a.yaml"), n.to_string());
        assert!(state.packs().len() <= 50);
    }
    assert!(state.packs().len() < 15, "{} packs", state.packs().len());
    let shallow = std::fs::read_to_string(state.mirror().join("shallow")).unwrap();
    assert!(shallow.lines().count() < 15);
}

#[tokio::test]
async fn a_fetch_that_is_killed_in_its_middle_leaves_nothing_that_stops_the_next() {
    let (repo, state) = (repo(), state());
    let server = HttpServer::start(repo.root(), Behaviour::Serve);
    state.read(&server.url()).await.unwrap();
    repo.commit(&[("env/a.yaml", "new")]);
    server.behave(Behaviour::TricklePack);
    let url = server.url();
    let (killed, ()) = tokio::join!(state.read(&url), kill_the_child(state.folder.path()));
    let error = killed.unwrap_err();
    assert_eq!(error.code(), "ChildFailed", "{error}");
    server.behave(Behaviour::Serve);
    assert_eq!(text(&state.read(&url).await.unwrap(), "env/a.yaml"), "new");
}

async fn kill_the_child(state: &Path) {
    let child = loop {
        if let [child] = processes_with(state)[..] {
            break child;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    tokio::time::sleep(Duration::from_millis(500)).await;
    let status = std::process::Command::new("kill").args(["-9", &child.to_string()]).status();
    assert!(status.unwrap().success());
}

#[tokio::test]
async fn a_reading_that_is_dropped_takes_its_child_with_it() {
    let (repo, state) = (repo(), state());
    let server = HttpServer::start(repo.root(), Behaviour::Silent);
    let url = server.url();
    let reading = tokio::time::timeout(Duration::from_millis(500), state.read(&url)).await;
    assert!(reading.is_err());
    while !processes_with(state.folder.path()).is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_program_that_is_not_ours_is_reported() {
    let (repo, mut state) = (repo(), state());
    let url = repo.path().display().to_string();
    for program in ["/bin/false", "/bin/echo", "/nonexistent"] {
        state.access.program = PathBuf::from(program);
        assert_eq!(state.refused(&url).await.code(), "ChildFailed", "{program}");
    }
}

#[tokio::test]
async fn a_state_directory_that_cannot_be_written_is_reported() {
    let (repo, mut state) = (repo(), state());
    let file = state.folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    state.access.state = file;
    let error = state.refused(&repo.path().display().to_string()).await;
    assert_eq!(error.code(), "MirrorUnusable", "{error}");
}

/// Writes a commit of `count` files in folders of a hundred, and returns the repository.
fn large_repo(count: usize) -> Repo {
    use std::fmt::Write as _;
    let repo = Repo::empty();
    let mut stream =
        "commit refs/heads/main\ncommitter a <a@example.com> 0 +0000\ndata 1\nx\n".to_owned();
    for n in 0..count {
        let text = format!("apiVersion: v1\nkind: Workspace\nmetadata:\n  name: team-{n}\n");
        let path = format!("env/group-{:03}/team-{n:05}.yaml", n / 100);
        write!(stream, "M 100644 inline {path}\ndata {}\n{text}\n", text.len()).unwrap();
    }
    git_with(&repo.path(), &["fast-import", "--quiet"], stream.as_bytes());
    repo.git(&["reset", "-q", "--hard"]);
    repo
}

#[tokio::test]
async fn ten_thousand_files_are_read_over_file_and_http() {
    let (repo, state) = (large_repo(10_000), state());
    let server = HttpServer::start(repo.root(), Behaviour::Serve);
    for url in [repo.path().display().to_string(), server.url()] {
        let location = Location::parse(&url, Some("main"), "env").unwrap();
        let begin = Instant::now();
        let (tree, cost) = read_with_cost(&location, &state.access).await.unwrap();
        println!("{}: {} files, {:?}, cold {:?}", url, tree.entries.len(), cost, begin.elapsed());
        assert_eq!(tree.entries.len(), 10_000);
        assert_eq!((cost.trees, cost.blobs), (101, 10_000));
    }
}

struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::UNIX_EPOCH
    }
}

/// Starts a watcher that only triggers wake: its polls are an hour apart.
fn watch(url: &str, state: &State, cancel: &CancellationToken) -> Watched {
    let location = Location::parse(url, Some("main"), "").unwrap();
    let hour = Duration::from_secs(3600);
    let pace = Pace { poll: hour, relist: hour, ..Pace::default() };
    let rng = StdRng::seed_from_u64(1);
    let (watcher, watched) =
        Watcher::new(location, state.access.clone(), pace, Arc::new(Fixed), rng);
    #[expect(clippy::disallowed_methods, reason = "the runtime of the test ends the task")]
    tokio::spawn(watcher.run(cancel.clone()));
    watched
}

#[tokio::test]
async fn a_commit_to_a_local_repository_is_seen_without_a_poll() {
    let (repo, state, cancel) = (large_repo(10_000), state(), CancellationToken::new());
    let mut watched = watch(&repo.path().display().to_string(), &state, &cancel);
    assert!(watched.changes.recv().await.unwrap().full);
    for n in 0..3 {
        // The watch is armed before each fetch; git writes the reference by a rename.
        let commit = repo.commit(&[("env/group-042/team-04242.yaml", &format!("n: {n}"))]);
        let begin = Instant::now();
        let changes = watched.changes.recv().await.unwrap();
        println!("one file of 10,000 by file watch: {:?}", begin.elapsed());
        assert_eq!(changes.revision.as_str(), commit);
        assert_eq!(changes.changed.len(), 1);
        assert!(!changes.full);
    }
    cancel.cancel();
}

#[tokio::test]
async fn a_commit_to_a_remote_repository_is_seen_by_a_poke() {
    let (repo, state, cancel) = (large_repo(10_000), state(), CancellationToken::new());
    let server = HttpServer::start(repo.root(), Behaviour::Serve);
    let mut watched = watch(&server.url(), &state, &cancel);
    assert!(watched.changes.recv().await.unwrap().full);
    repo.commit(&[("env/group-042/team-04242.yaml", "changed")]);
    let begin = Instant::now();
    watched.poke.poke();
    let changes = watched.changes.recv().await.unwrap();
    println!("one file of 10,000 over http by poke: {:?}", begin.elapsed());
    assert_eq!(changes.changed.len(), 1);
    server.behave(Behaviour::Status(500));
    watched.poke.poke();
    watched.health.wait_for(|health| health.trouble.is_some()).await.unwrap();
    let health = watched.health.borrow().clone();
    assert_eq!(health.trouble.unwrap().0, "ServerError");
    assert_eq!(health.revision, Some(changes.revision));
    cancel.cancel();
}

#[test]
fn a_child_whose_parent_was_killed_ends_by_itself() {
    use std::io::Write as _;
    let (repo, state) = (repo(), state());
    let server = HttpServer::start(repo.root(), Behaviour::Silent);
    let request = serde_json::json!({
        "url": server.url(), "shown": server.url(), "branch": "main", "rebuild": false,
        "server": {"host": "127.0.0.1", "port": server.port(), "user": null},
        "mirror": state.folder.path().join("mirror/m"), "server_timeout_ms": 600_000,
        "known_hosts": null, "ca_file": null, "credentials": "None",
    });
    let mut child = std::process::Command::new(&state.access.program)
        .arg("__fetch")
        .env("HOME", state.folder.path())
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "{request}").unwrap();
    std::thread::sleep(Duration::from_millis(500));
    assert!(child.try_wait().unwrap().is_none(), "it waits for the server");
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(75));
}
