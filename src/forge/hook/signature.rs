//! How a receiver knows that a message is ours and new.
//!
//! Source: the specification of Standard Webhooks (<https://www.standardwebhooks.com>): the headers
//! `webhook-id`, `webhook-timestamp` (seconds) and `webhook-signature`, which is `v1,` and the Base64 of
//! the HMAC-SHA256 of `ID.TIMESTAMP.BODY`. Libraries of many languages verify it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use secrecy::SecretString;
use sha2::Sha256;

use crate::forge::webhook::Secrets;
pub use crate::forge::webhook::Unusable;

/// Signs; prints nothing of itself.
pub struct Key(Secrets);

impl Key {
    /// Takes a secret: `whsec_` and Base64, or any other text as it is.
    ///
    /// # Errors
    ///
    /// When anybody could sign with it, or its Base64 is none.
    pub fn of(secret: &SecretString) -> Result<Self, Unusable> {
        Secrets::new([secret.clone()]).map(Self)
    }

    /// Returns the headers that prove a body.
    pub(super) fn headers(
        &self,
        id: &str,
        now: Timestamp,
        body: &[u8],
    ) -> [(&'static str, String); 3] {
        let time = now.as_second().to_string();
        let signature = self.sign(&[id.as_bytes(), b".", time.as_bytes(), b".", body]);
        [
            ("webhook-id", id.to_owned()),
            ("webhook-timestamp", time),
            ("webhook-signature", format!("v1,{signature}")),
        ]
    }

    fn sign(&self, parts: &[&[u8]]) -> String {
        let key = self.0.signing().chain(self.0.plain()).next().unwrap_or_default();
        // HMAC takes a key of any length.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return String::new() };
        parts.iter().for_each(|part| mac.update(part));
        STANDARD.encode(mac.finalize().into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: the example in the reference libraries of Standard Webhooks.
    #[test]
    fn the_example_of_the_specification_is_signed_as_it_says() {
        let key = Key::of(&"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".into()).unwrap();
        let time = Timestamp::from_second(1_614_265_330).unwrap();
        let headers = key.headers("msg_p5jXN8AQM9LWM0D4loKWxJek", time, br#"{"test": 2432232314}"#);
        let expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        assert_eq!(headers[2], ("webhook-signature", expected.to_owned()));
        assert_eq!(headers[1].1, "1614265330");
    }

    #[test]
    fn a_secret_that_anybody_knows_signs_nothing() {
        assert!(Key::of(&" ".into()).is_err() && Key::of(&"whsec_".into()).is_err());
    }
}
