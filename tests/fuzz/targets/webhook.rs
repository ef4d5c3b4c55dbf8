//! A webhook: the host, the headers one a line, an empty line, the body.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use levelset::forge::webhook::{Followed, Receiver, Secrets};
use levelset::model::Clock;
use levelset::model::webhook::{Bell, Host, Receipt, Webhook, Webhooks as _};
use sha2::Sha256;

const KEY: &str = "a secret that no input holds by chance";

struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
}

/// Counts rings.
#[derive(Default)]
struct Rings(AtomicUsize);

impl Bell for Rings {
    fn branch(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn pull_request(&self, _: u64) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Whatever arrives: without a proof nothing happens; with one, a ring is what the receipt says, and
/// the same once more rings nobody.
pub(super) fn run(bytes: &[u8]) {
    let (head, body) = split(bytes);
    let Ok(head) = std::str::from_utf8(head) else { return };
    let mut lines = head.lines();
    let Some(host) = Host::of(lines.next().unwrap_or_default()) else { return };
    let headers: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(':')).collect();
    let (receiver, rings) = receiver();
    let webhook = Webhook { host, headers, body };
    let receipt = receiver.receive(&webhook);
    assert!(matches!(receipt, Receipt::Refused | Receipt::Unread), "{receipt:?} without a proof");
    assert_eq!(rings.0.load(Ordering::SeqCst), 0);
    proven(&receiver, &rings, &webhook);
}

fn proven(receiver: &Receiver, rings: &Rings, bare: &Webhook<'_>) {
    let (name, proof) = proof(bare.host, bare.body);
    let mut webhook = bare.clone();
    webhook.headers.insert(0, (name, &proof));
    let receipt = receiver.receive(&webhook);
    let is_told = matches!(receipt, Receipt::Woken | Receipt::PullRequest);
    assert_eq!(rings.0.load(Ordering::SeqCst), usize::from(is_told), "{receipt:?}");
    webhook.headers.insert(0, (delivery(webhook.host), "once"));
    let (first, again) = (receiver.receive(&webhook), receiver.receive(&webhook));
    assert_eq!(again, if first == Receipt::Unread { first } else { Receipt::Duplicate });
}

fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.windows(2).position(|two| two == b"\n\n");
    end.map_or((bytes, &[]), |end| (&bytes[..end], &bytes[end + 2..]))
}

fn receiver() -> (Receiver, Arc<Rings>) {
    let secrets = Secrets::new([KEY.into()]).unwrap();
    let all = Host::ALL.map(|host| (host, secrets.clone())).into();
    let rings = Arc::new(Rings::default());
    let followed = Followed::new(Some("acme/environments"), Some("main"));
    (Receiver::new(all, followed, rings.clone(), Arc::new(Fixed)), rings)
}

fn proof(host: Host, body: &[u8]) -> (&'static str, String) {
    let mut mac = Hmac::<Sha256>::new_from_slice(KEY.as_bytes()).unwrap();
    mac.update(body);
    let signature = hex::encode(mac.finalize().into_bytes());
    match host {
        Host::GitHub => ("x-hub-signature-256", format!("sha256={signature}")),
        Host::GitLab => ("x-gitlab-token", KEY.to_owned()),
        Host::Gitea => ("x-forgejo-signature", signature),
        Host::Bitbucket => ("x-hub-signature", format!("sha256={signature}")),
    }
}

fn delivery(host: Host) -> &'static str {
    match host {
        Host::GitHub => "x-github-delivery",
        Host::GitLab => "webhook-id",
        Host::Gitea => "x-forgejo-delivery",
        Host::Bitbucket => "x-request-uuid",
    }
}
