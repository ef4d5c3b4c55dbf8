//! Commits that have to be signed: real keys, real `git` and `gpg`, over file and http.

mod openpgp;

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use levelset::model::Clock;
use levelset::model::tree::SourceHealth;
use levelset::source::{Location, Pace, Signatures, Watcher, read_once};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tokio_util::sync::CancellationToken;

use super::{State, state};
use crate::support::git::{Behaviour, HttpServer, Repo};
use crate::support::keys::{SshKey, commit, plant, signed_git};

/// Tells a time so far from the machine's.
struct Ahead(SignedDuration);

impl Clock for Ahead {
    #[expect(clippy::disallowed_methods, reason = "keys are made by programs with this clock")]
    fn now(&self) -> Timestamp {
        Timestamp::now() + self.0
    }
}

const NOW: SignedDuration = SignedDuration::ZERO;

/// A repository whose commits have to be signed by the keys in a folder.
struct Scene {
    repo: Repo,
    state: State,
    server: HttpServer,
}

impl Scene {
    /// Starts with the lines of `allowed_signers`.
    fn new(signers: &str) -> Self {
        let (repo, state) = (Repo::empty(), state());
        let server = HttpServer::start(repo.root(), Behaviour::Serve);
        let mut scene = Self { repo, state, server };
        scene.signers(signers);
        let file = scene.state.folder.path().join("allowed_signers");
        scene.state.access.signatures = Some(Signatures {
            allowed_signers: Some(file),
            openpgp_keys: None,
            since: None,
            clock: Arc::new(Ahead(NOW)),
        });
        scene
    }

    fn of_openpgp(keys: &str, ahead: SignedDuration) -> Self {
        let mut scene = Self::new("");
        let file = scene.state.folder.path().join("keys.asc");
        std::fs::write(&file, keys).unwrap();
        scene.state.access.signatures = Some(Signatures {
            allowed_signers: None,
            openpgp_keys: Some(file),
            since: None,
            clock: Arc::new(Ahead(ahead)),
        });
        scene
    }

    fn signers(&self, lines: &str) {
        std::fs::write(self.state.folder.path().join("allowed_signers"), lines).unwrap();
    }

    fn since(&mut self, commit: &str) {
        self.state.access.signatures.as_mut().unwrap().since = Some(commit.to_owned());
    }

    fn head(&self) -> String {
        self.repo.git(&["rev-parse", "HEAD"])
    }

    /// Starts an agent's watcher anew at a URL; returns the revision that it delivers, if any, and its health.
    async fn look_at(&self, url: &str) -> (Option<String>, SourceHealth) {
        let location = Location::parse(url, Some("main"), "").unwrap();
        let hour = Duration::from_secs(3600);
        let pace = Pace { poll: hour, relist: hour, ..Pace::default() };
        let rng = StdRng::seed_from_u64(1);
        let access = self.state.access.clone();
        let (watcher, mut watched) =
            Watcher::new(location, access, pace, Arc::new(Ahead(NOW)), rng);
        let cancel = CancellationToken::new();
        let looking = async {
            let seen =
                |health: &SourceHealth| health.trouble.is_some() || health.confirmed_at.is_some();
            let health = watched.health.wait_for(seen).await.unwrap().clone();
            cancel.cancel();
            health
        };
        let ((), health) = tokio::join!(watcher.run(cancel.clone()), looking);
        let delivered = watched.changes.try_recv().ok();
        assert!(delivered.as_ref().is_none_or(|changes| changes.full));
        (delivered.map(|changes| changes.revision.as_str().to_owned()), health)
    }

    async fn look(&self) -> (Option<String>, SourceHealth) {
        self.look_at(&self.server.url()).await
    }

    /// Looks over http and on this machine: the tip is applied.
    async fn applies_the_tip(&self) {
        let (delivered, health) = self.look().await;
        assert_eq!((health.trouble, health.refused), (None, None));
        assert_eq!(delivered, Some(self.head()));
    }

    /// The tip is not applied, and the last good commit stays; returns why.
    async fn holds(&self, good: &str) -> String {
        let (delivered, health) = self.look().await;
        assert_eq!(health.trouble, None, "Git is not away");
        assert!(health.confirmed_at.is_some());
        let refused = health.refused.unwrap();
        assert_eq!(refused.revision.as_str(), self.head());
        assert_eq!(delivered.as_deref(), Some(good), "{}", refused.message);
        assert_eq!(refused.code, "RevisionUnverified");
        refused.message
    }

    /// Does what a message says that a person should do, as far as it is commands of `git`.
    fn obey(&self, message: &str, options: &[String]) {
        let (_, commands) = message.split_once("git checkout ").expect("it names commands");
        let (from, merge) = commands.split_once(" && git ").unwrap();
        self.repo.git(&["checkout", "-q", "--detach", from]);
        let merge: Vec<&str> = merge.split(' ').collect();
        signed_git(&self.repo, options, &[&merge[..], &["-q", "-m", "vouched"]].concat());
        self.repo.git(&["branch", "-f", "main", "HEAD"]);
        self.repo.git(&["checkout", "-q", "main"]);
    }
}

#[tokio::test]
async fn every_type_of_ssh_key_signs() {
    let kinds = [
        ("ed25519", "256"),
        ("ecdsa", "256"),
        ("ecdsa", "384"),
        ("ecdsa", "521"),
        ("rsa", "2048"),
        ("rsa", "3072"),
    ];
    let keys = kinds.map(|(kind, bits)| SshKey::make(kind, bits));
    let lines = keys.iter().map(|key| key.line("a@example.com", "namespaces=\"git\""));
    let scene = Scene::new(&lines.collect::<String>());
    for (key, kind) in keys.iter().zip(kinds) {
        commit(&scene.repo, &key.options(), &format!("{kind:?}"));
        scene.applies_the_tip().await;
    }
    let path = scene.repo.path().display().to_string();
    let (delivered, health) = scene.look_at(&path).await;
    assert_eq!((delivered, health.refused), (Some(scene.head()), None), "on this machine");
}

#[tokio::test]
async fn what_is_not_signed_holds_the_last_good_commit_until_a_signed_merge_vouches_for_it() {
    let key = SshKey::ed25519();
    let scene = Scene::new(&key.line("ann", ""));
    let good = commit(&scene.repo, &key.options(), "good");
    scene.applies_the_tip().await;
    let unsigned = scene.repo.commit(&[("a.yaml", "unsigned")]);
    let told = scene.holds(&good).await;
    assert!(told.contains("it is not signed") && told.contains(&unsigned), "{told}");
    commit(&scene.repo, &key.options(), "signed on top");
    let told = scene.holds(&good).await;
    assert!(told.contains(&format!("commit {unsigned} before it is not signed")), "{told}");
    scene.obey(&told, &key.options());
    scene.applies_the_tip().await;
    commit(&scene.repo, &key.options(), "and on");
    scene.applies_the_tip().await;
}

#[tokio::test]
async fn signed_commits_below_one_that_is_not_are_applied() {
    let key = SshKey::ed25519();
    let scene = Scene::new(&key.line("ann", ""));
    commit(&scene.repo, &key.options(), "first");
    scene.applies_the_tip().await;
    let second = commit(&scene.repo, &key.options(), "second");
    scene.repo.commit(&[("a.yaml", "unsigned")]);
    scene.holds(&second).await;
}

#[tokio::test]
async fn a_signature_that_does_not_count_is_told_with_its_reason() {
    let (key, other, old) = (SshKey::ed25519(), SshKey::ed25519(), SshKey::ed25519());
    let files = SshKey::ed25519();
    let scene = Scene::new(
        &[
            key.line("ann", ""),
            old.line("bob@example.com", "valid-before=\"20200101Z\""),
            files.line("carol", "namespaces=\"file\""),
        ]
        .concat(),
    );
    let good = commit(&scene.repo, &key.options(), "good");
    scene.applies_the_tip().await;
    for (who, says) in [
        (&other, "which is not listed"),
        (&old, "which is listed for bob@example.com, and expired"),
        (&files, "which is listed for carol, and not for commits"),
    ] {
        commit(&scene.repo, &who.options(), "bad");
        let told = scene.holds(&good).await;
        assert!(told.contains(says) && told.contains("SHA256:"), "{told}");
        scene.repo.git(&["reset", "-q", "--hard", &good]);
    }
    commit(&scene.repo, &key.options(), "mine");
    let object = format!("{}\n", scene.repo.git(&["cat-file", "commit", "HEAD"]));
    plant(&scene.repo, &object.replace("\n\nmine", "\n\nyours"));
    assert!(scene.holds(&good).await.contains("is not what the SSH key SHA256:"));
    let (head, _) = object.split_once("gpgsig").unwrap();
    let payload = format!("{head}\nfor a file\n");
    let signature = key.sign("file", payload.as_bytes());
    let header = format!("gpgsig {}\n", signature.trim().replace('\n', "\n "));
    plant(&scene.repo, &format!("{head}{header}\nfor a file\n"));
    assert!(scene.holds(&good).await.contains("was made for \"file\""));
}

#[tokio::test]
async fn a_key_that_is_taken_off_the_list_signs_nothing_new_and_what_it_signed_stays() {
    let (ann, bob) = (SshKey::ed25519(), SshKey::ed25519());
    let scene = Scene::new(&[ann.line("ann", ""), bob.line("bob", "")].concat());
    let good = commit(&scene.repo, &bob.options(), "bob's");
    scene.applies_the_tip().await;
    scene.signers(&ann.line("ann", ""));
    scene.applies_the_tip().await;
    commit(&scene.repo, &bob.options(), "bob's again");
    assert!(scene.holds(&good).await.contains("not listed"));
    scene.signers("not a key");
    let (delivered, health) = scene.look().await;
    let (code, message) = health.trouble.unwrap();
    assert_eq!((delivered, code.as_str()), (None, "KeysUnusable"));
    assert!(message.contains("allowed_signers: line 1"), "{message}");
}

#[tokio::test]
async fn a_merge_counts_by_its_own_signature() {
    let key = SshKey::ed25519();
    let scene = Scene::new(&key.line("the-host", ""));
    let base = commit(&scene.repo, &key.options(), "base");
    scene.applies_the_tip().await;
    let branch = |name: &str| scene.repo.git(&["checkout", "-q", "-b", name, &base]);
    branch("unsigned");
    scene.repo.commit(&[("b.yaml", "b")]);
    scene.repo.git(&["checkout", "-q", "main"]);
    signed_git(&scene.repo, &key.options(), &["merge", "-q", "-S", "--no-ff", "unsigned"]);
    let good = scene.head();
    scene.applies_the_tip().await;
    branch("signed");
    std::fs::write(scene.repo.path().join("c.yaml"), "c").unwrap();
    scene.repo.git(&["add", "-A"]);
    signed_git(&scene.repo, &key.options(), &["commit", "-q", "-S", "-m", "c"]);
    scene.repo.git(&["checkout", "-q", "main"]);
    scene.repo.git(&["merge", "-q", "--no-ff", "signed"]);
    assert!(scene.holds(&good).await.contains("it is not signed"));
}

#[tokio::test]
async fn no_force_push_leads_back_to_an_older_commit_or_aside() {
    let key = SshKey::ed25519();
    let scene = Scene::new(&key.line("ann", ""));
    let old = commit(&scene.repo, &key.options(), "old");
    let good = commit(&scene.repo, &key.options(), "good");
    scene.applies_the_tip().await;
    scene.repo.git(&["reset", "-q", "--hard", &old]);
    let told = scene.holds(&good).await;
    assert!(told.contains("does not come after the last good commit"), "{told}");
    // The mirror is made anew, and the repository has the commit no longer.
    scene.repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    scene.repo.git(&["gc", "-q", "--prune=now"]);
    let packs = scene.state.mirror().join("objects/pack");
    for number in 0..60 {
        std::fs::write(packs.join(format!("pack-{number}.pack")), "").unwrap();
    }
    scene.holds(&good).await;
    assert!(scene.state.packs().len() < 10, "it was made anew");
    commit(&scene.repo, &key.options(), "aside");
    scene.holds(&good).await;
    std::fs::remove_dir_all(scene.state.mirror()).unwrap();
    let (delivered, health) = scene.look().await;
    let told = health.refused.unwrap().message;
    assert_eq!(delivered, None, "what is not known is not replaced by something older");
    assert!(told.contains("is not in the repository any more"), "{told}");
}

#[tokio::test]
async fn a_history_that_was_written_anew_is_joined_by_a_signed_merge() {
    let key = SshKey::ed25519();
    let scene = Scene::new(&key.line("ann", ""));
    commit(&scene.repo, &key.options(), "base");
    let good = commit(&scene.repo, &key.options(), "good");
    scene.applies_the_tip().await;
    signed_git(&scene.repo, &key.options(), &["commit", "-q", "-S", "--amend", "-m", "amended"]);
    let told = scene.holds(&good).await;
    scene.obey(&told, &key.options());
    scene.applies_the_tip().await;
    assert_eq!(scene.repo.git(&["show", "HEAD:a.yaml"]), "good");
}

#[tokio::test]
async fn the_first_start_begins_with_a_signed_tip_or_with_the_commit_of_the_settings() {
    let key = SshKey::ed25519();
    let mut scene = Scene::new(&key.line("ann", ""));
    let start = scene.repo.commit(&[("a.yaml", "before anybody signed")]);
    let (delivered, health) = scene.look().await;
    assert_eq!(delivered, None);
    assert!(health.refused.unwrap().message.contains("repository.signatures.since"));
    assert!(health.confirmed_at.is_some() && health.trouble.is_none());
    scene.since(&start);
    scene.applies_the_tip().await;
    let signed = commit(&scene.repo, &key.options(), "signed");
    scene.applies_the_tip().await;
    let unsigned = scene.repo.commit(&[("a.yaml", "unsigned")]);
    let records = scene.state.folder.path().join("verified");
    std::fs::remove_dir_all(&records).unwrap();
    scene.holds(&signed).await;
    commit(&scene.repo, &key.options(), "on top");
    std::fs::remove_dir_all(&records).unwrap();
    assert!(scene.holds(&signed).await.contains(&unsigned));
    // A person who has looked at it moves the beginning.
    scene.since(&unsigned);
    scene.applies_the_tip().await;
}

#[tokio::test]
async fn a_damaged_record_of_the_last_good_commit_is_not_taken_for_a_first_start() {
    let key = SshKey::ed25519();
    let scene = Scene::new(&key.line("ann", ""));
    commit(&scene.repo, &key.options(), "good");
    scene.applies_the_tip().await;
    let folder = scene.state.folder.path().join("verified");
    let record = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&record, "").unwrap();
    let (delivered, health) = scene.look().await;
    assert_eq!((delivered, health.trouble.unwrap().0.as_str()), (None, "KeysUnusable"));
}

#[tokio::test]
async fn one_reading_takes_the_signed_tip_or_nothing() {
    let key = SshKey::ed25519();
    let scene = Scene::new(&key.line("ann", ""));
    let good = commit(&scene.repo, &key.options(), "good");
    let location = Location::parse(&scene.server.url(), Some("main"), "").unwrap();
    let tree = read_once(&location, &scene.state.access).await.unwrap();
    assert_eq!(tree.revision.as_str(), good);
    scene.repo.commit(&[("a.yaml", "unsigned")]);
    let error = read_once(&location, &scene.state.access).await.unwrap_err();
    assert_eq!(error.code(), "RevisionUnverified");
}

#[test]
fn sync_holds_what_is_not_signed_and_takes_no_folder() {
    let (key, repo) = (SshKey::ed25519(), Repo::with(&[("a.yaml", "# unsigned\n")]));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("signers"), key.line("ann", "")).unwrap();
    let path = repo.path().display().to_string();
    let settings = format!(
        "repository: {{path: \"{path}\", signatures: {{allowedSignersFile: signers}}}}\n\
         stateDirectory: state\n"
    );
    std::fs::write(folder.path().join("levelset.yaml"), settings).unwrap();
    let sync = |more: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_levelset"));
        command.arg("sync").args(more).env_clear().current_dir(folder.path());
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, told) = sync(&[]);
    assert_eq!(code, Some(1));
    assert!(told.contains("is not applied: it is not signed"), "{told}");
    let (code, told) = sync(&[&path]);
    assert_eq!(code, Some(1));
    assert!(told.contains("repository.signatures: only signed commits are applied"), "{told}");
    std::fs::write(folder.path().join("signers"), "").unwrap();
    let (code, told) = sync(&[]);
    assert_eq!(code, Some(1));
    assert!(told.contains("signers: it lists no key"), "{told}");
}
