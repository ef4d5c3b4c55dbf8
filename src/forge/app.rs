//! A GitHub App: its key, the proof that it makes, and the token that it gets for it.
//!
//! Source: "Authenticating as a GitHub App installation" and "Generating a JSON Web Token (JWT) for a
//! GitHub App" in GitHub's documentation. A token is taken as it comes: of any length and form.
//!
//! Invariants: the key is read at each use and kept nowhere; a token is renewed while it is still good.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::{SignedDuration, Timestamp};
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject as _;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Mutex;
use url::Url;

use super::credentials::{ReadSecret, scheme};
use super::refusal::Refusal;
use super::wire::{Answer, Method, Request, Wire};

/// A proof begins so many seconds ago, for the sake of clocks that differ.
const BEFORE: i64 = 60;

/// A proof is good for so many seconds; GitHub takes up to 600.
const GOOD_FOR: i64 = 540;

/// A token is renewed so long before it ends.
const EARLY: SignedDuration = SignedDuration::from_mins(5);

/// Gets tokens for the installation of an app in a repository.
pub struct App {
    id: String,
    key: ReadSecret,
    token: Mutex<Option<Token>>,
}

struct Token {
    text: SecretString,
    ends: Timestamp,
}

#[derive(Deserialize)]
struct Installation {
    id: u64,
}

#[derive(Deserialize)]
struct Granted {
    token: SecretString,
    expires_at: Timestamp,
}

impl App {
    /// Makes the app of an id, or of a client id, that signs with a PEM key.
    pub fn new(id: impl Into<String>, key: ReadSecret) -> Self {
        Self { id: id.into(), key, token: Mutex::new(None) }
    }

    /// Forgets the token, because the host no longer takes it.
    pub(super) async fn renew(&self) {
        *self.token.lock().await = None;
    }

    /// Returns a token for the repository at `base` (`https://api.github.com/repos/OWNER/NAME`).
    ///
    /// # Errors
    ///
    /// When the key cannot be used, or the host gives no token.
    pub(super) async fn token(
        &self,
        wire: &dyn Wire,
        repository: &Url,
        now: Timestamp,
    ) -> Result<SecretString, Refusal> {
        let mut kept = self.token.lock().await;
        if let Some(token) = kept.as_ref().filter(|token| now < token.ends - EARLY) {
            return Ok(token.text.clone());
        }
        let granted = self.grant(wire, repository, now).await?;
        *kept = Some(Token { text: granted.token.clone(), ends: granted.expires_at });
        Ok(granted.token)
    }

    /// Returns the header by which the app is known as itself.
    pub(super) fn credentials(
        &self,
        now: Timestamp,
    ) -> Result<(&'static str, SecretString), Refusal> {
        Ok(("authorization", scheme("Bearer", &self.proof(now)?)))
    }

    async fn grant(
        &self,
        wire: &dyn Wire,
        repository: &Url,
        now: Timestamp,
    ) -> Result<Granted, Refusal> {
        let proof = self.credentials(now)?;
        let ask = |request: Request| Request {
            credentials: Some(proof.clone()),
            headers: vec![("accept", "application/vnd.github+json".to_owned())],
            ..request
        };
        let of = below(repository, &["installation"])?;
        let answer = send(wire, ask(Request::get(of)), now).await?;
        let installation: Installation = read(&answer, "installation of an app")?;
        let id = installation.id.to_string();
        let url = beside(repository, &["app", "installations", &id, "access_tokens"])?;
        // The token is for this repository alone.
        let name = repository.path().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let body = json!({ "repositories": [name] });
        let answer = send(wire, ask(Request::write(Method::Post, url, body)), now).await?;
        read(&answer, "access token")
    }

    /// Makes a JSON Web Token, signed with RS256 (RFC 7519, RFC 7518).
    fn proof(&self, now: Timestamp) -> Result<SecretString, Refusal> {
        let pem = (self.key)().map_err(|error| unusable(&format!("cannot be read: {error}")))?;
        let key = key(&pem)?;
        let now = now.as_second();
        let claims = json!({ "iat": now - BEFORE, "exp": now + GOOD_FOR, "iss": self.id });
        let part = |value: serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let text = format!("{}.{}", part(json!({ "alg": "RS256", "typ": "JWT" })), part(claims));
        let mut signature = vec![0; key.public_modulus_len()];
        key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature)
            .map_err(|_| unusable("does not sign"))?;
        Ok(SecretString::from(format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))))
    }
}

/// Reads a key in PEM, in the older form that GitHub gives (PKCS #1) or the newer one (PKCS #8).
fn key(pem: &SecretString) -> Result<RsaKeyPair, Refusal> {
    let der = PrivateKeyDer::from_pem_slice(pem.expose_secret().as_bytes())
        .map_err(|_| unusable("is no PEM file with a private key"))?;
    let key = match &der {
        PrivateKeyDer::Pkcs1(der) => RsaKeyPair::from_der(der.secret_pkcs1_der()),
        PrivateKeyDer::Pkcs8(der) => RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()),
        _ => return Err(unusable("is not for RSA")),
    };
    key.map_err(|_| unusable("is no RSA key of 2048 to 8192 bits"))
}

fn unusable(what: &str) -> Refusal {
    Refusal::Denied { status: 0, said: format!("the key of the GitHub App {what}") }
}

async fn send(wire: &dyn Wire, request: Request, now: Timestamp) -> Result<Answer, Refusal> {
    let answer = wire.send(request).await.map_err(|no| Refusal::Unavailable(no.to_string()))?;
    Refusal::of(&answer, now).map_or(Ok(answer), Err)
}

fn read<'a, T: Deserialize<'a>>(answer: &'a Answer, what: &str) -> Result<T, Refusal> {
    serde_json::from_slice(&answer.body).map_err(|_| Refusal::unreadable(what))
}

/// Returns a URL with further segments.
pub(super) fn below(url: &Url, segments: &[&str]) -> Result<Url, Refusal> {
    let mut url = url.clone();
    match url.path_segments_mut() {
        Ok(mut path) => {
            path.pop_if_empty().extend(segments);
        }
        Err(()) => return Err(Refusal::Unavailable("its URL takes no path".to_owned())),
    }
    Ok(url)
}

/// Returns a URL with `repos/OWNER/NAME` at its end replaced.
fn beside(repository: &Url, segments: &[&str]) -> Result<Url, Refusal> {
    let mut url = repository.clone();
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().pop().pop().pop();
    }
    below(&url, segments)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex as Cell};

    use aws_lc_rs::encoding::AsDer as _;
    use aws_lc_rs::rsa::{KeyPair, KeySize};
    use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
    use base64::engine::general_purpose::STANDARD;
    use serde_json::Value;

    use super::*;
    use crate::forge::wire::WireFuture;

    /// Plays GitHub: checks proofs by the public key, and gives tokens that end after an hour.
    struct Host {
        public: Vec<u8>,
        now: Cell<Timestamp>,
        granted: Cell<u32>,
        asked: Cell<Vec<String>>,
    }

    impl Host {
        fn is_proven(&self, request: &Request) -> bool {
            let (name, value) = request.secret().unwrap();
            assert_eq!(name, "authorization");
            let proof = value.strip_prefix("Bearer ").unwrap();
            let (text, signature) = proof.rsplit_once('.').unwrap();
            let (_, claims) = text.split_once('.').unwrap();
            let claims: Value =
                serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap();
            let (now, number) =
                (self.now.lock().unwrap().as_second(), |name: &str| claims[name].as_i64());
            assert_eq!((number("iat"), number("exp")), (Some(now - 60), Some(now + 540)));
            assert_eq!(claims["iss"], "12345");
            let key = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, &self.public);
            let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
            key.verify(text.as_bytes(), &signature).is_ok()
        }
    }

    impl Wire for Host {
        fn send(&self, request: Request) -> WireFuture<'_> {
            self.asked.lock().unwrap().push(request.to_string());
            let body = match request.method {
                _ if !self.is_proven(&request) => json!({ "message": "Bad credentials" }),
                Method::Get => json!({ "id": 7, "account": {} }),
                _ => {
                    assert_eq!(request.json(), Some(&json!({ "repositories": ["environments"] })));
                    let mut granted = self.granted.lock().unwrap();
                    *granted += 1;
                    let ends = *self.now.lock().unwrap() + SignedDuration::from_hours(1);
                    json!({ "token": format!("ghs_12345_{}.{granted}", "j".repeat(400)), "expires_at": ends })
                }
            };
            let (status, body) = (200, body.to_string().into_bytes());
            Box::pin(async move { Ok(Answer { status, headers: Vec::new(), body }) })
        }
    }

    fn made() -> (App, Host) {
        let pair = KeyPair::generate(KeySize::Rsa2048).unwrap();
        let der: aws_lc_rs::encoding::Pkcs8V1Der<'_> = pair.as_der().unwrap();
        let text = STANDARD.encode(der.as_ref());
        let pem = format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n");
        let key = move || Ok(SecretString::from(pem.clone()));
        let host = Host {
            public: pair.public_key().as_ref().to_vec(),
            now: Cell::new("2026-11-30T12:00:00Z".parse().unwrap()),
            granted: Cell::default(),
            asked: Cell::default(),
        };
        (App::new("12345", Arc::new(key)), host)
    }

    async fn token(app: &App, host: &Host) -> String {
        let now = *host.now.lock().unwrap();
        let repository = Url::parse("https://api.github.com/repos/acme/environments").unwrap();
        app.token(host, &repository, now).await.unwrap().expose_secret().to_owned()
    }

    #[tokio::test]
    async fn a_token_is_got_once_kept_while_it_is_good_and_renewed_before_it_ends() {
        let (app, host) = made();
        let first = token(&app, &host).await;
        assert_eq!(
            *host.asked.lock().unwrap(),
            [
                "GET https://api.github.com/repos/acme/environments/installation",
                "POST https://api.github.com/app/installations/7/access_tokens",
            ]
        );
        let wait = |minutes| {
            let mut now = host.now.lock().unwrap();
            *now += SignedDuration::from_mins(minutes);
        };
        wait(54);
        assert_eq!(token(&app, &host).await, first);
        wait(2);
        assert_ne!(token(&app, &host).await, first);
        app.renew().await;
        token(&app, &host).await;
        assert_eq!(*host.granted.lock().unwrap(), 3);
    }

    #[tokio::test]
    async fn a_key_that_is_none_is_a_denial_without_its_text() {
        let (_, host) = made();
        let texts =
            ["", "hunter2", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"];
        for text in texts {
            let app = App::new("1", Arc::new(move || Ok(SecretString::from(text))));
            let url = Url::parse("https://a/repos/b/c").unwrap();
            let error = app.token(&host, &url, Timestamp::UNIX_EPOCH).await.unwrap_err();
            assert_eq!(error.as_str(), "denied");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
        assert!(host.asked.lock().unwrap().is_empty());
    }
}
