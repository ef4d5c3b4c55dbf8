//! Whether a commit is signed by a key that the agent's settings list.
//!
//! In: the bytes of a commit object, and the key files that the settings name. Out: who signed it, or
//! why it does not count. [`Gate`] decides by that which commit of a branch is applied.
//!
//! Invariants: the keys come from the settings alone and never from the repository; they are read anew
//! for every decision, so that a key that is taken off the list counts no longer; all bytes of the commit
//! but its signature are what has to be signed; a key that has expired or was revoked counts no longer
//! whatever date the commit bears, since whoever has the key writes that date.
//!
//! SSH signatures are verified here ([PROTOCOL.sshsig]), those of OpenPGP by `gpg`. X.509 and
//! certificates of SSH are refused.
//!
//! [PROTOCOL.sshsig]: https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.sshsig

mod allowed;
mod commit;
mod gate;
mod openpgp;
mod record;
mod ssh;
mod wire;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

pub(crate) use gate::{Failure, Gate, Ruling};

use self::allowed::AllowedSigners;
use self::openpgp::Keyring;
use super::SourceError;
use crate::model::Clock;

/// Says which signatures make a commit one that is applied.
#[derive(Clone)]
pub struct Signatures {
    /// Keys of SSH, in the format of OpenSSH's `allowed_signers` (ssh-keygen(1)).
    pub allowed_signers: Option<PathBuf>,
    /// Keys of OpenPGP, armored, any number of them.
    pub openpgp_keys: Option<PathBuf>,
    /// A commit that is trusted by its id, and after which all have to be signed.
    pub since: Option<String>,
    /// The time at which keys have to be valid.
    pub clock: Arc<dyn Clock>,
}

impl fmt::Debug for Signatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signatures")
            .field("allowed_signers", &self.allowed_signers)
            .field("openpgp_keys", &self.openpgp_keys)
            .field("since", &self.since)
            .finish_non_exhaustive()
    }
}

impl Signatures {
    /// Reads the key files, to see whether they can be used.
    ///
    /// # Errors
    ///
    /// `KeysUnusable` with the file, the line and what to do.
    pub fn check(&self) -> Result<(), SourceError> {
        Keys::load(self).map(drop)
    }
}

/// Holds the keys whose signatures count.
struct Keys {
    ssh: AllowedSigners,
    openpgp: Option<Keyring>,
    now: Timestamp,
}

/// No list of keys is longer than this, in bytes.
const LONGEST: u64 = 1 << 20;

/// Reads a list of keys: of a pipe the end may never come, and of a device there may be none.
fn read(path: &Path) -> Result<String, String> {
    let file = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !file.is_file() {
        return Err("it is no regular file".to_owned());
    }
    if file.len() > LONGEST {
        return Err(format!("it has more than {LONGEST} bytes"));
    }
    std::fs::read_to_string(path).map_err(|error| error.to_string())
}

/// Says why the signature of a commit does not count, as a clause that follows "it".
type Doubt = String;

impl Keys {
    fn load(signatures: &Signatures) -> Result<Self, SourceError> {
        let unusable =
            |path: &Path, detail| SourceError::KeysUnusable { path: path.to_owned(), detail };
        let ssh = match &signatures.allowed_signers {
            None => AllowedSigners::default(),
            Some(path) => read(path)
                .and_then(|text| AllowedSigners::parse(&text))
                .map_err(|detail| unusable(path, detail))?,
        };
        let now = signatures.clock.now();
        let open =
            |path: &PathBuf| Keyring::open(path, now).map_err(|detail| unusable(path, detail));
        let openpgp = signatures.openpgp_keys.as_ref().map(open).transpose()?;
        Ok(Self { ssh, openpgp, now })
    }

    /// Judges the bytes of a commit object.
    fn judge(&self, raw: &[u8]) -> Result<(), Doubt> {
        let commit = commit::split(raw)?;
        let Some(signature) = &commit.signature else {
            return Err("is not signed".to_owned());
        };
        if signature.starts_with(ssh::BEGIN) {
            return self.ssh.judge(&commit.payload, signature, self.now);
        }
        if signature.starts_with("-----BEGIN PGP ") {
            let none = "is signed with OpenPGP, of which no key is listed";
            let keyring = self.openpgp.as_ref().ok_or_else(|| none.to_owned())?;
            return keyring.judge(&commit.payload, signature);
        }
        let form = signature.lines().next().unwrap_or_default().escape_debug();
        Err(format!("has a signature of another form than SSH and OpenPGP (\"{form}\")"))
    }
}

#[cfg(test)]
mod tests;
