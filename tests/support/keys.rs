//! Keys of SSH and OpenPGP made by their own programs, and commits signed with them by `git`.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::git::{Repo, git_with};

/// Runs a program and returns what it prints.
fn run(program: &str, arguments: &[&str], home: &Path) -> String {
    let mut command = Command::new(program);
    let output = command.args(arguments).env("GNUPGHOME", home).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Holds a key of SSH.
pub(crate) struct SshKey {
    folder: TempDir,
}

impl SshKey {
    /// Makes a key of a type and a number of bits, as `ssh-keygen -t TYPE -b BITS` does.
    pub(crate) fn make(kind: &str, bits: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let path = path.to_str().unwrap();
        let arguments = ["-q", "-t", kind, "-b", bits, "-N", "", "-C", "a comment", "-f", path];
        run("ssh-keygen", &arguments, folder.path());
        Self { folder }
    }

    pub(crate) fn ed25519() -> Self {
        Self::make("ed25519", "256")
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("key")
    }

    /// Returns a line of `allowed_signers`.
    pub(crate) fn line(&self, name: &str, options: &str) -> String {
        let public = std::fs::read_to_string(self.path().with_extension("pub")).unwrap();
        format!("{name} {options} {public}")
    }

    /// Returns the options of `git` that sign with the key.
    pub(crate) fn options(&self) -> Vec<String> {
        let key = format!("user.signingkey={}", self.path().display());
        ["-c", "gpg.format=ssh", "-c", &key].map(str::to_owned).to_vec()
    }

    /// Signs a file for a namespace; returns the armored signature.
    pub(crate) fn sign(&self, namespace: &str, bytes: &[u8]) -> String {
        let file = self.folder.path().join("signed");
        std::fs::write(&file, bytes).unwrap();
        let _ = std::fs::remove_file(file.with_extension("sig"));
        let (key, path) = (self.path(), file.to_str().unwrap());
        let arguments = ["-Y", "sign", "-q", "-n", namespace, "-f", key.to_str().unwrap(), path];
        run("ssh-keygen", &arguments, self.folder.path());
        std::fs::read_to_string(file.with_extension("sig")).unwrap()
    }
}

/// Holds a home of `gpg` with secret keys, whose agent ends with it.
pub(crate) struct Gpg {
    home: TempDir,
}

impl Drop for Gpg {
    fn drop(&mut self) {
        let home = self.home.path().to_str().unwrap();
        let _ = Command::new("gpgconf").args(["--homedir", home, "--kill", "gpg-agent"]).output();
    }
}

impl Gpg {
    pub(crate) fn start() -> Self {
        // The sockets of its agent do not fit into a long path.
        Self { home: tempfile::tempdir_in("/tmp").unwrap() }
    }

    pub(crate) fn gpg(&self, arguments: &[&str]) -> String {
        let all = [&["--batch", "--pinentry-mode", "loopback", "--passphrase", ""], arguments];
        run("gpg", &all.concat(), self.home.path())
    }

    /// Makes a key that is valid for some days; returns its fingerprint.
    pub(crate) fn key(&self, name: &str, days: &str) -> String {
        self.gpg(&["--quick-gen-key", name, "ed25519", "sign", days]);
        let listed = self.gpg(&["--with-colons", "--list-keys", name]);
        let print = listed.lines().find(|line| line.starts_with("fpr")).unwrap();
        print.split(':').nth(9).unwrap().to_owned()
    }

    /// Returns public keys as they are exported.
    pub(crate) fn export(&self, prints: &[&str]) -> String {
        self.gpg(&[&["--armor", "--export"], prints].concat())
    }

    /// Revokes a key, with the certificate that was made together with it.
    pub(crate) fn revoke(&self, print: &str) {
        let made = self.home.path().join(format!("openpgp-revocs.d/{print}.rev"));
        // A colon protects it from being imported by accident.
        let text = std::fs::read_to_string(&made).unwrap().replace(":---", "---");
        let usable = self.home.path().join("revoke");
        std::fs::write(&usable, text).unwrap();
        self.gpg(&["--import", usable.to_str().unwrap()]);
    }

    /// Returns the options of `git` that sign with a key.
    pub(crate) fn options(&self, print: &str) -> Vec<String> {
        // Git takes a program and not a program with options.
        let program = self.home.path().join("sign");
        let home = self.home.path().display();
        std::fs::write(&program, format!("#!/bin/sh\nexec gpg --homedir {home} \"$@\"\n")).unwrap();
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let program = format!("gpg.program={}", program.display());
        let key = format!("user.signingkey={print}");
        ["-c", &program, "-c", &key].map(str::to_owned).to_vec()
    }
}

/// Runs `git` with options that sign.
pub(crate) fn signed_git(repo: &Repo, options: &[String], arguments: &[&str]) -> String {
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    repo.git(&[&options, arguments].concat())
}

/// Commits one file, signed; returns the commit.
pub(crate) fn commit(repo: &Repo, options: &[String], text: &str) -> String {
    std::fs::write(repo.path().join("a.yaml"), text).unwrap();
    repo.git(&["add", "-A"]);
    signed_git(repo, options, &["commit", "-q", "-S", "--allow-empty", "-m", text]);
    repo.git(&["rev-parse", "HEAD"])
}

/// Puts a commit object that `git` would not make at the tip; returns the commit.
pub(crate) fn plant(repo: &Repo, object: &str) -> String {
    let folder = repo.path();
    let arguments = ["hash-object", "-t", "commit", "-w", "--stdin"];
    let id = git_with(&folder, &arguments, object.as_bytes());
    repo.git(&["reset", "-q", "--hard", &id]);
    id
}
