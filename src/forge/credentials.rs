//! Who we are to a host.

use std::fmt;
use std::io;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use secrecy::{ExposeSecret as _, SecretString};

use super::app::App;

/// Reads a secret anew, so that one that was changed is taken up.
pub type ReadSecret = Arc<dyn Fn() -> io::Result<SecretString> + Send + Sync>;

/// Holds what proves to a host who we are; prints none of it.
#[derive(Clone)]
pub enum Credentials {
    /// A token: of a person or a bot, of a project, or of a repository.
    Token(ReadSecret),
    /// A user and a password or API token, which Bitbucket wants for some kinds of tokens.
    Basic {
        /// The user, or the address that Atlassian knows.
        username: String,
        /// The password or token.
        password: ReadSecret,
    },
    /// A GitHub App.
    App(Arc<App>),
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Token(_) => "Token",
            Self::Basic { .. } => "Basic",
            Self::App(_) => "App",
        })
    }
}

/// Makes the value of a header from a scheme and a secret.
pub(super) fn scheme(scheme: &str, secret: &SecretString) -> SecretString {
    SecretString::from(format!("{scheme} {}", secret.expose_secret().trim()))
}

/// Makes the value of the header of basic authentication (RFC 7617).
pub(super) fn basic(username: &str, password: &SecretString) -> SecretString {
    let pair = SecretString::from(format!("{username}:{}", password.expose_secret().trim()));
    scheme("Basic", &SecretString::from(STANDARD.encode(pair.expose_secret())))
}
