//! Signatures of OpenPGP, verified by `gpg` with the listed keys and no others.
//!
//! In: a file of armored public keys; a signature and what it is over. Out: whether it counts.
//!
//! Invariants: `gpg` gets a home of its own, which holds the listed keys alone and is deleted with the
//! [`Keyring`]; it starts no other program and asks no server. Only its status lines are read (GnuPG,
//! doc/DETAILS): a signature counts when it is the only one, is called good, and its VALIDSIG names a
//! listed primary key in full; that of an expired or revoked key is not called good.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use jiff::Timestamp;
use tempfile::TempDir;

const BEGIN: &str = "-----BEGIN PGP PUBLIC KEY BLOCK-----";
/// One call takes some milliseconds.
const LIMIT: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(2);

/// Holds the listed keys in a home of `gpg`.
#[derive(Debug)]
pub(super) struct Keyring {
    home: TempDir,
    primaries: BTreeSet<String>,
    now: Timestamp,
}

impl Keyring {
    /// Reads the listed keys, to be valid at a time.
    ///
    /// # Errors
    ///
    /// When the file cannot be read or holds no key, or `gpg` cannot be started.
    pub(super) fn open(path: &Path, now: Timestamp) -> Result<Self, String> {
        let armored = super::read(path)?;
        if !armored.contains(BEGIN) {
            return Err(
                "it holds no armored public key; write it with gpg --armor --export".to_owned()
            );
        }
        let home = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut keyring = Self { home, primaries: BTreeSet::new(), now };
        let (status, _) = keyring.gpg(&["--import"], armored.as_bytes())?;
        // IMPORT_OK <reason> <fingerprint>
        let imported = status.lines().filter_map(|line| line.strip_prefix("[GNUPG:] IMPORT_OK "));
        keyring.primaries =
            imported.filter_map(|it| it.split(' ').nth(1)).map(str::to_owned).collect();
        match keyring.primaries.is_empty() {
            true => Err("gpg finds no usable public key in it".to_owned()),
            false => Ok(keyring),
        }
    }

    /// Judges an armored signature over a message.
    ///
    /// # Errors
    ///
    /// A clause that says why it does not count.
    pub(super) fn judge(&self, message: &[u8], signature: &str) -> Result<(), String> {
        let cannot = |why: String| format!("has a signature that cannot be verified: {why}");
        let file = self.home.path().join("signature");
        std::fs::write(&file, signature).map_err(|error| cannot(error.to_string()))?;
        let file = file.to_string_lossy();
        let (status, succeeded) = self.gpg(&["--verify", &file, "-"], message).map_err(cannot)?;
        read(&status, &self.primaries)?;
        match succeeded {
            true => Ok(()),
            false => Err(cannot("gpg failed".to_owned())),
        }
    }

    /// Runs `gpg`; returns its status lines and whether it succeeded.
    fn gpg(&self, arguments: &[&str], input: &[u8]) -> Result<(String, bool), String> {
        let mut command = Command::new("gpg");
        let home = self.home.path();
        command
            .env("GNUPGHOME", home)
            .env("HOME", home)
            .env("LC_ALL", "C")
            .args([
                "--no-options",
                "--batch",
                "--no-tty",
                "--no-autostart",
                "--trust-model",
                "always",
            ])
            .args(["--no-auto-key-retrieve", "--no-auto-key-locate", "--weak-digest", "SHA1"])
            .arg("--faked-system-time")
            .arg(self.now.as_second().to_string())
            .args(["--status-fd", "1"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let child = command.spawn().map_err(|error| {
            format!("gpg cannot be started ({error}); install GnuPG, which verifies OpenPGP")
        })?;
        exchange(child, input)
    }
}

/// Gives a child its input, and takes its output and whether it succeeded.
fn exchange(mut child: Child, input: &[u8]) -> Result<(String, bool), String> {
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // A child that reads no further has said why in its status.
            stdin.and_then(|mut stdin| stdin.write_all(input).ok())
        });
        let reading = scope.spawn(move || {
            let mut text = String::new();
            stdout.map(|mut stdout| stdout.read_to_string(&mut text));
            text
        });
        let mut waited = Duration::ZERO;
        let ended = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Ok(status.success()),
                Ok(None) if waited < LIMIT => {
                    std::thread::sleep(LOOK);
                    waited += LOOK;
                }
                Ok(None) => break Err("gpg does not end".to_owned()),
                Err(error) => break Err(error.to_string()),
            }
        };
        if ended.is_err() {
            // Its pipes close with it, which ends the two threads.
            let _ = child.kill();
            let _ = child.wait();
        }
        let text = reading.join().unwrap_or_default();
        ended.map(|succeeded| (text, succeeded))
    })
}

/// Reads the status lines of a verification.
fn read(status: &str, primaries: &BTreeSet<String>) -> Result<(), String> {
    let lines: Vec<Vec<&str>> = status
        .lines()
        .filter_map(|line| line.strip_prefix("[GNUPG:] "))
        .map(|line| line.split(' ').collect())
        .collect();
    let all = |keyword: &str| -> Vec<&Vec<&str>> {
        lines.iter().filter(|words| words[0] == keyword).collect()
    };
    if all("NEWSIG").len() > 1 {
        return Err("has more than one OpenPGP signature".to_owned());
    }
    let doubts = [
        ("BADSIG", "is not what the OpenPGP key KEY signed"),
        ("NO_PUBKEY", "is signed by the OpenPGP key KEY, which is not listed"),
        ("REVKEYSIG", "is signed by the OpenPGP key KEY, which was revoked"),
        ("EXPKEYSIG", "is signed by the OpenPGP key KEY, which has expired"),
        ("EXPSIG", "has a signature of the OpenPGP key KEY that has expired"),
        ("ERRSIG", "has a signature of the OpenPGP key KEY that cannot be verified"),
    ];
    for (keyword, clause) in doubts {
        if let Some(words) = all(keyword).first() {
            return Err(clause.replace("KEY", words.get(1).copied().unwrap_or("unknown")));
        }
    }
    let (good, valid) = (all("GOODSIG"), all("VALIDSIG"));
    let ([_], [valid]) = (good.as_slice(), valid.as_slice()) else {
        return Err("has an OpenPGP signature that cannot be verified".to_owned());
    };
    // VALIDSIG <fingerprint> .. <class> <fingerprint of the primary key>
    let (class, primary) = (valid.get(9), valid.get(10));
    if class != Some(&"00") && class != Some(&"01") {
        return Err("has an OpenPGP signature that is not over a document".to_owned());
    }
    match primary {
        Some(primary) if primaries.contains(*primary) => Ok(()),
        _ => Err("is signed by an OpenPGP key that is not listed".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIMARY: &str = "0BCE790D275E0B57DAF922C423D76DD44020C000";
    const GOOD: &str = "[GNUPG:] NEWSIG\n[GNUPG:] GOODSIG 23D76DD44020C000 Ann <a@e.com>\n";

    fn valid(class: &str, primary: &str) -> String {
        format!("[GNUPG:] VALIDSIG {PRIMARY} 2026-11-30 1796068305 0 4 0 22 8 {class} {primary}\n")
    }

    fn verdict(status: &str) -> Result<(), String> {
        read(status, &BTreeSet::from([PRIMARY.to_owned()]))
    }

    #[test]
    fn a_signature_counts_when_it_is_good_and_its_primary_key_is_listed() {
        let listed = valid("00", PRIMARY);
        assert_eq!(verdict(&format!("{GOOD}{listed}")), Ok(()));
        assert!(verdict(GOOD).is_err(), "GOODSIG alone says nothing of whose key it is");
        assert!(verdict(&listed).is_err(), "VALIDSIG comes with expired and revoked keys too");
        assert!(verdict("").is_err());
        let other = valid("00", &PRIMARY.replace('0', "1"));
        assert!(verdict(&format!("{GOOD}{other}")).unwrap_err().contains("not listed"));
        let of_a_key = valid("10", PRIMARY);
        assert!(verdict(&format!("{GOOD}{of_a_key}")).unwrap_err().contains("not over a document"));
        let twice = format!("{GOOD}{listed}{GOOD}{listed}");
        assert!(verdict(&twice).unwrap_err().contains("more than one"));
    }

    #[test]
    fn what_speaks_against_a_signature_outweighs_what_speaks_for_it() {
        for (line, says) in [
            ("EXPKEYSIG 23D7 Ann", "23D7, which has expired"),
            ("REVKEYSIG 23D7 Ann", "23D7, which was revoked"),
            ("EXPSIG 23D7 Ann", "23D7 that has expired"),
            ("BADSIG 23D7 Ann", "not what the OpenPGP key 23D7 signed"),
        ] {
            let status = format!("{GOOD}[GNUPG:] {line}\n{}", valid("00", PRIMARY));
            assert!(verdict(&status).unwrap_err().contains(says), "{line}");
        }
    }
}
