//! The secrets by which webhooks of one host are proven.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use secrecy::{ExposeSecret as _, SecretSlice, SecretString};

/// What GitLab puts before a signing token, after the scheme of Standard Webhooks.
const SIGNING: &str = "whsec_";

/// Holds the secrets of one host: one, or two while one takes over from the other.
#[derive(Debug, Clone)]
pub struct Secrets {
    plain: Vec<SecretString>,
    signing: Vec<SecretSlice<u8>>,
}

/// Says why a secret proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// Anybody could sign with it.
    #[error("the secret is empty")]
    Empty,
    /// It begins as a signing token and goes on otherwise.
    #[error("the secret begins with {SIGNING}, but no Base64 follows")]
    Encoding,
}

impl Secrets {
    /// Takes secrets, each of which proves a webhook.
    ///
    /// One that begins with `whsec_` is a signing token.
    ///
    /// # Errors
    ///
    /// When there is none, or one of them proves nothing.
    pub fn new(secrets: impl IntoIterator<Item = SecretString>) -> Result<Self, Unusable> {
        let mut found = Self { plain: Vec::new(), signing: Vec::new() };
        for secret in secrets {
            found.add(secret)?;
        }
        if found.plain.is_empty() && found.signing.is_empty() {
            return Err(Unusable::Empty);
        }
        Ok(found)
    }

    fn add(&mut self, secret: SecretString) -> Result<(), Unusable> {
        let text = secret.expose_secret();
        if text.trim().is_empty() {
            return Err(Unusable::Empty);
        }
        let Some(encoded) = text.strip_prefix(SIGNING) else {
            self.plain.push(secret);
            return Ok(());
        };
        match STANDARD.decode(encoded) {
            Ok(key) if key.is_empty() => Err(Unusable::Empty),
            Ok(key) => {
                self.signing.push(key.into());
                Ok(())
            }
            Err(_) => Err(Unusable::Encoding),
        }
    }

    /// Returns the secrets that are shared as they are.
    pub(in crate::forge) fn plain(&self) -> impl Iterator<Item = &[u8]> {
        self.plain.iter().map(|secret| secret.expose_secret().as_bytes())
    }

    /// Returns the keys of the signing tokens.
    pub(in crate::forge) fn signing(&self) -> impl Iterator<Item = &[u8]> {
        self.signing.iter().map(|key| key.expose_secret())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(texts: &[&str]) -> Result<Secrets, Unusable> {
        Secrets::new(texts.iter().map(|text| SecretString::from(*text)))
    }

    #[test]
    fn a_secret_that_proves_nothing_is_refused() {
        for texts in [&[][..], &[""], &["good", " \n"], &["whsec_"]] {
            assert_eq!(secrets(texts).unwrap_err(), Unusable::Empty, "{texts:?}");
        }
        assert_eq!(secrets(&["whsec_%"]).unwrap_err(), Unusable::Encoding);
    }

    #[test]
    fn no_trait_prints_a_secret() {
        let shown = format!("{:?}", secrets(&["hunter2", "whsec_aHVudGVyMg=="]).unwrap());
        assert!(!shown.contains("hunter2") && !shown.contains("104"), "{shown}");
    }
}
