//! How a repository is reached: state directory, limits, credentials, trust.
//!
//! In: settings. Out: an [`Access`], and the JSON request that carries it to the fetch child.
//!
//! Invariants: secrets are exposed in one place, [`FetchRequest::to_line`], which writes them into
//! the pipe of the child; no type with a secret prints it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretSlice, SecretString};
use serde::{Deserialize, Serialize, Serializer};

use super::SourceError;
use super::location::{Location, Transport};
use super::signature::{Gate, Signatures};

/// Holds what the server asks for.
#[derive(Debug, Clone, Default)]
pub enum Credentials {
    /// Nothing: public repositories and repositories on this machine.
    #[default]
    None,
    /// A user and a password or token, for HTTP and for SSH servers that take passwords.
    Password {
        /// The user; hosts that take tokens accept any word, for example `x-access-token`.
        username: String,
        /// The password or token.
        password: SecretString,
    },
    /// An SSH key pair; the public half is derived.
    SshKey {
        /// The private key in OpenSSH or PEM form.
        private_key: SecretString,
        /// The passphrase that protects it.
        passphrase: Option<SecretString>,
    },
}

/// Says how repositories are reached, and what the reading of them may cost.
#[derive(Debug, Clone)]
pub struct Access {
    /// The state directory; mirrors live in its folder `mirror`.
    pub state: PathBuf,
    /// The program that answers to `__fetch`: our own.
    pub program: PathBuf,
    /// After this the fetch is killed, whatever it does.
    pub deadline: Duration,
    /// A server that sends nothing for this long is given up.
    pub server_timeout: Duration,
    /// What the server asks for.
    pub credentials: Credentials,
    /// The OpenSSH known hosts file; without one, no SSH host is trusted.
    pub known_hosts: Option<PathBuf>,
    /// A PEM file with certificate authorities to trust besides the system's.
    pub ca_file: Option<PathBuf>,
    /// Files with more bytes than this are refused.
    pub max_file_bytes: u64,
    /// Which signatures a commit needs to be applied; `None` for none at all.
    pub signatures: Option<Signatures>,
}

impl Access {
    /// Makes the access with a state directory and the defaults: deadline 60 s, 30 s of silence,
    /// files up to 1 MiB, no credentials, our own program.
    ///
    /// # Errors
    ///
    /// `ReadFailed` when the path of the running program cannot be found.
    pub fn new(state: impl Into<PathBuf>) -> Result<Self, SourceError> {
        let program = own_program().map_err(|error| SourceError::ReadFailed {
            path: PathBuf::from("the running program"),
            detail: error.to_string(),
        })?;
        Ok(Self {
            state: state.into(),
            program,
            deadline: Duration::from_secs(60),
            server_timeout: Duration::from_secs(30),
            credentials: Credentials::None,
            known_hosts: None,
            ca_file: None,
            max_file_bytes: 1 << 20,
            signatures: None,
        })
    }

    /// Returns the folder of the mirror of a location; that of signed commits holds history.
    pub(crate) fn mirror(&self, location: &Location) -> PathBuf {
        let end = if self.signatures.is_some() { "-signed" } else { "" };
        self.state.join("mirror").join(format!("{}{end}", location.mirror_name()))
    }

    /// Returns the folder of the mirror of a location that holds history.
    pub(crate) fn history(&self, location: &Location) -> PathBuf {
        self.state.join("mirror").join(format!("{}-history", location.mirror_name()))
    }
}

/// Returns the program to start for a fetch.
///
/// On Linux it is the running program itself, even after its file was replaced by an upgrade: an
/// old parent and a new child may not understand each other.
fn own_program() -> std::io::Result<PathBuf> {
    let running = PathBuf::from("/proc/self/exe");
    if running.exists() { Ok(running) } else { std::env::current_exe() }
}

/// Holds the server's name for the messages and checks of the child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Server {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) user: Option<String>,
}

/// Tells the fetch child what to fetch, one line of JSON on its standard input.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FetchRequest {
    pub(crate) url: String,
    pub(crate) shown: String,
    /// `None` for a repository on this machine.
    pub(crate) server: Option<Server>,
    pub(crate) branch: Option<String>,
    /// References that are fetched beside the branch, as far as they are there.
    #[serde(default)]
    pub(crate) heads: Vec<String>,
    /// True when everything is fetched with its history.
    #[serde(default)]
    pub(crate) history: bool,
    /// A commit that a mirror which is made anew takes over from the one before it.
    #[serde(default)]
    pub(crate) keep: Option<String>,
    pub(crate) mirror: PathBuf,
    /// True to make the mirror anew whatever its state.
    pub(crate) rebuild: bool,
    pub(crate) server_timeout_ms: u32,
    pub(crate) known_hosts: Option<PathBuf>,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) credentials: WireCredentials,
}

/// Tells the parent what was fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fetched {
    /// The commit at the tip of the branch, in hexadecimal.
    pub commit: String,
    /// The branch that was fetched.
    pub branch: String,
    /// The commits of the references that were fetched beside it.
    #[serde(default)]
    pub heads: BTreeMap<String, String>,
    /// Why the mirror was made anew, if it was.
    pub rebuilt: Option<String>,
}

/// Carries the answer of the child, one line of JSON on its standard output.
pub(crate) type FetchReply = Result<Fetched, SourceError>;

/// Holds the credentials in the form that crosses the pipe.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) enum WireCredentials {
    #[default]
    None,
    Password {
        username: String,
        #[serde(serialize_with = "expose")]
        password: SecretString,
    },
    SshKey {
        #[serde(serialize_with = "expose")]
        private_key: SecretString,
        #[serde(serialize_with = "expose")]
        passphrase: SecretString,
    },
}

fn expose<S: Serializer>(secret: &SecretString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(secret.expose_secret())
}

impl From<&Credentials> for WireCredentials {
    fn from(credentials: &Credentials) -> Self {
        match credentials.clone() {
            Credentials::None => Self::None,
            Credentials::Password { username, password } => Self::Password { username, password },
            Credentials::SshKey { private_key, passphrase } => {
                Self::SshKey { private_key, passphrase: passphrase.unwrap_or_default() }
            }
        }
    }
}

impl FetchRequest {
    pub(crate) fn new(location: &Location, access: &Access, rebuild: bool) -> Self {
        let server = match location.transport() {
            Transport::Local(_) => None,
            Transport::Http(at) | Transport::Ssh(at) => {
                Some(Server { host: at.host.clone(), port: at.port, user: at.user.clone() })
            }
        };
        Self {
            url: location.url().to_owned(),
            shown: location.shown().to_owned(),
            server,
            branch: location.branch().map(str::to_owned),
            heads: Vec::new(),
            history: access.signatures.is_some(),
            keep: Gate::of(location, access).and_then(|gate| gate.kept()),
            mirror: access.mirror(location),
            rebuild,
            server_timeout_ms: u32::try_from(access.server_timeout.as_millis()).unwrap_or(u32::MAX),
            known_hosts: access.known_hosts.clone(),
            ca_file: access.ca_file.clone(),
            credentials: WireCredentials::from(&access.credentials),
        }
    }

    /// Makes a request for references beside the branch, into a mirror that holds history.
    pub(crate) fn with_heads(
        location: &Location,
        access: &Access,
        heads: &[String],
        rebuild: bool,
    ) -> Self {
        let mirror = access.history(location);
        let heads = heads.to_vec();
        Self { heads, history: true, keep: None, mirror, ..Self::new(location, access, rebuild) }
    }

    /// Writes the request as one line; the buffer is wiped when it is dropped.
    pub(crate) fn to_line(&self) -> Result<SecretSlice<u8>, serde_json::Error> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        Ok(SecretSlice::from(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_reaches_the_child_with_its_secret_and_prints_without_it() {
        let location = Location::parse("https://git.example/r", Some("main"), "").unwrap();
        let mut access = Access::new("/state").unwrap();
        access.credentials = Credentials::Password {
            username: "bot".to_owned(),
            password: SecretString::from("hunter2"),
        };
        let request = FetchRequest::new(&location, &access, false);
        assert!(!format!("{request:?} {access:?}").contains("hunter2"));
        let line = request.to_line().unwrap();
        let read: FetchRequest = serde_json::from_slice(line.expose_secret()).unwrap();
        let WireCredentials::Password { username, password } = read.credentials else {
            panic!("no password")
        };
        assert_eq!((username.as_str(), password.expose_secret()), ("bot", "hunter2"));
    }
}
