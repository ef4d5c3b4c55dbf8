//! Webhooks of the four hosts, in the shapes that their documentation shows.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use sha2::Sha256;

use super::*;

const NOW: i64 = 1_795_910_400;
const KEY: &str = "s3cret";
const OLD: &str = "older";
const SIGNING: &str = "whsec_c2lnbmluZw==";

struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(NOW).unwrap()
    }
}

/// Counts rings.
#[derive(Default)]
struct Counting {
    branch: AtomicUsize,
    request: AtomicU64,
}

impl Bell for Counting {
    fn branch(&self) {
        self.branch.fetch_add(1, Ordering::SeqCst);
    }

    fn pull_request(&self, number: u64) {
        self.request.store(number, Ordering::SeqCst);
    }
}

/// A receiver that follows `main` of `acme/environments`, and its bell.
struct Door {
    receiver: Receiver,
    bell: Arc<Counting>,
}

impl Door {
    fn new() -> Self {
        Self::knowing(&[KEY, OLD])
    }

    fn knowing(texts: &[&str]) -> Self {
        let secrets = Secrets::new(texts.iter().map(|text| (*text).into())).unwrap();
        let all = Host::ALL.map(|host| (host, secrets.clone())).into();
        let bell = Arc::new(Counting::default());
        let followed = Followed::new(Some("acme/environments.git"), Some("main"));
        let receiver = Receiver::new(all, followed, bell.clone(), Arc::new(Fixed));
        Self { receiver, bell }
    }

    fn take(&self, sent: &Sent) -> Receipt {
        let headers = sent.headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        self.receiver.receive(&Webhook { host: sent.host, headers, body: sent.body.as_bytes() })
    }

    fn rings(&self) -> usize {
        self.bell.branch.load(Ordering::SeqCst)
    }
}

/// A request as a host sends it.
#[derive(Clone)]
struct Sent {
    host: Host,
    headers: Vec<(String, String)>,
    body: String,
}

impl Sent {
    fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self
    }
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

/// Names the headers of a host: of the signature, with what stands before it, of the event and of
/// the delivery.
fn names(host: Host) -> (&'static str, &'static str, &'static str, &'static str) {
    match host {
        Host::GitHub => ("x-hub-signature-256", "sha256=", "x-github-event", "x-github-delivery"),
        Host::GitLab => ("x-gitlab-token", "", "x-gitlab-event", "idempotency-key"),
        Host::Gitea => ("x-gitea-signature", "", "x-gitea-event", "x-gitea-delivery"),
        Host::Bitbucket => ("x-hub-signature", "sha256=", "x-event-key", "x-request-uuid"),
    }
}

/// Makes what a host sends, proven by the key.
fn sent(host: Host, key: &str, event: &str, body: &str) -> Sent {
    let (signature, before, kind, delivery) = names(host);
    let proof = match host {
        Host::GitLab => key.to_owned(),
        _ => format!("{before}{}", hex::encode(mac(key.as_bytes(), body))),
    };
    Sent { host, headers: Vec::new(), body: body.to_owned() }
        .with("content-type", "application/json")
        .with(signature, &proof)
        .with(kind, event)
        .with(delivery, "d1")
}

const COMMIT: &str = "6113728f27ae82c7b1a177c8d03f9e96e0adf246";

/// Makes a push to a branch of a repository; no commit means that the branch was deleted.
fn push(host: Host, repository: &str, branch: &str, commit: Option<&str>) -> Sent {
    let after = commit.map_or("0".repeat(40), str::to_owned);
    let shared = format!(
        "{{\"ref\":\"refs/heads/{branch}\",\"before\":\"{COMMIT}\",\"after\":\"{after}\",\
         \"repository\":{{\"full_name\":\"{repository}\",\"default_branch\":\"main\"}},\"commits\":[]}}"
    );
    let (event, body) = match host {
        Host::GitHub | Host::Gitea => ("push", shared),
        Host::GitLab => (
            "Push Hook",
            format!(
                "{{\"object_kind\":\"push\",\"ref\":\"refs/heads/{branch}\",\"after\":\"{after}\",\
                 \"project\":{{\"path_with_namespace\":\"{repository}\",\"default_branch\":\"main\"}}}}"
            ),
        ),
        Host::Bitbucket => {
            let new = match commit {
                Some(_) => format!("{{\"type\":\"branch\",\"name\":\"{branch}\"}}"),
                None => "null".to_owned(),
            };
            let body = format!(
                "{{\"push\":{{\"changes\":[{{\"new\":{new},\"old\":null}}]}},\
                 \"repository\":{{\"full_name\":\"{repository}\"}}}}"
            );
            ("repo:push", body)
        }
    };
    sent(host, KEY, event, &body)
}

fn ours(host: Host) -> Sent {
    push(host, "Acme/Environments", "main", Some(COMMIT))
}

fn pull_request(host: Host) -> Sent {
    let named = "\"repository\":{\"full_name\":\"acme/environments\"}";
    let (event, body) = match host {
        Host::GitHub | Host::Gitea => {
            ("pull_request", format!("{{\"action\":\"opened\",\"number\":7,{named}}}"))
        }
        Host::GitLab => (
            "Merge Request Hook",
            "{\"object_attributes\":{\"iid\":7,\"action\":\"open\"}}".to_owned(),
        ),
        Host::Bitbucket => {
            ("pullrequest:created", format!("{{\"pullrequest\":{{\"id\":7}},{named}}}"))
        }
    };
    sent(host, KEY, event, &body)
}

#[test]
fn a_push_to_the_branch_wakes_by_either_secret() {
    for host in Host::ALL {
        let door = Door::new();
        assert_eq!(door.take(&ours(host)), Receipt::Woken, "{host}");
        let (.., kind, delivery) = names(host);
        let newer = ours(host);
        let event = newer.headers.iter().find(|(name, _)| name == kind).unwrap();
        let older = sent(host, OLD, &event.1, &newer.body).with(delivery, "d2");
        assert_eq!(door.take(&older), Receipt::Woken, "{host}");
        assert_eq!(door.rings(), 2);
    }
}

#[test]
fn what_is_not_proven_is_refused_and_leaves_no_trace() {
    for host in Host::ALL {
        let door = Door::new();
        let (signature, before, ..) = names(host);
        let good = ours(host);
        let of_another_body = sent(host, KEY, "push", "{}");
        let foreign = of_another_body.headers.iter().find(|(name, _)| name == signature).unwrap();
        let mut wrong = vec![
            good.clone().without(signature),
            good.clone().with(signature, ""),
            good.clone().with(signature, before),
            good.clone().with(signature, "sha256=zz"),
            good.clone().with(signature, &"0".repeat(64)),
            sent(host, "other", "push", &good.body),
        ];
        if host != Host::GitLab {
            wrong.push(good.clone().with(signature, &foreign.1));
            wrong.push(Sent { body: good.body.replace("main", "Main"), ..good.clone() });
        }
        for sent in &wrong {
            assert_eq!(door.take(sent), Receipt::Refused, "{host} {:?}", sent.headers);
        }
        assert_eq!(door.rings(), 0);
        assert_eq!(door.take(&good), Receipt::Woken, "{host}: its id was not remembered");
    }
}

#[test]
fn a_delivery_that_comes_again_wakes_nobody() {
    for host in Host::ALL {
        let door = Door::new();
        assert_eq!(door.take(&ours(host)), Receipt::Woken);
        assert_eq!(door.take(&ours(host)), Receipt::Duplicate, "{host}");
        assert_eq!(door.rings(), 1);
        let (.., delivery) = names(host);
        let without = ours(host).without(delivery);
        assert_eq!(door.take(&without), Receipt::Woken, "{host}: without an id each is new");
        assert_eq!(door.take(&without), Receipt::Woken, "{host}");
    }
}

#[test]
fn other_branches_other_repositories_and_deletions_wake_nobody() {
    for host in Host::ALL {
        let door = Door::new();
        for (number, sent) in [
            push(host, "acme/environments", "dev", Some(COMMIT)),
            push(host, "acme/other", "main", Some(COMMIT)),
            push(host, "acme/environments", "main", None),
        ]
        .into_iter()
        .enumerate()
        {
            let sent = sent.with(names(host).3, &format!("d{number}"));
            assert_eq!(door.take(&sent), Receipt::Unrelated, "{host} {}", sent.body);
        }
        assert_eq!(door.rings(), 0);
    }
}

#[test]
fn a_pull_request_is_told_by_its_number_and_does_not_wake_the_branch() {
    for host in Host::ALL {
        let door = Door::new();
        assert_eq!(door.take(&pull_request(host)), Receipt::PullRequest, "{host}");
        assert_eq!(door.bell.request.load(Ordering::SeqCst), 7);
        assert_eq!(door.rings(), 0);
    }
}

#[test]
fn an_event_that_nobody_needs_is_taken_and_does_nothing() {
    for (host, event) in [
        (Host::GitHub, "ping"),
        (Host::GitHub, "star"),
        (Host::GitLab, "Note Hook"),
        (Host::GitLab, "Tag Push Hook"),
        (Host::Gitea, "issues"),
        (Host::Bitbucket, "repo:fork"),
    ] {
        let door = Door::new();
        let body = "{\"ref\":\"refs/heads/main\",\"zen\":\"Keep it logically awesome.\"}";
        assert_eq!(door.take(&sent(host, KEY, event, body)), Receipt::Ignored, "{event}");
        assert_eq!(door.rings(), 0);
    }
}

#[test]
fn a_push_that_cannot_be_read_wakes_because_a_look_costs_little() {
    for (host, event) in [
        (Host::GitHub, "push"),
        (Host::GitLab, "Push Hook"),
        (Host::Gitea, "push"),
        (Host::Bitbucket, "repo:push"),
    ] {
        let door = Door::new();
        assert_eq!(door.take(&sent(host, KEY, event, "<html>")), Receipt::Woken, "{host}");
    }
}

#[test]
fn a_form_is_taken_from_github_and_refused_clearly_from_the_others() {
    let payload: String = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("payload", &ours(Host::GitHub).body)
        .finish();
    for host in Host::ALL {
        let form = sent(host, KEY, "push", &payload)
            .with("content-type", "application/x-www-form-urlencoded; charset=utf-8");
        let expected = if host == Host::GitHub { Receipt::Woken } else { Receipt::Unread };
        assert_eq!(Door::new().take(&form), expected, "{host}");
    }
    let dev = payload.replace("main", "dev");
    let form = sent(Host::GitHub, KEY, "push", &dev)
        .with("content-type", "application/x-www-form-urlencoded");
    assert_eq!(Door::new().take(&form), Receipt::Unrelated);
}

#[test]
fn the_names_of_forgejo_come_before_those_of_gitea() {
    let good = ours(Host::Gitea);
    let signature = good.headers.iter().find(|(name, _)| name == "x-gitea-signature").unwrap();
    let forgejo = good
        .clone()
        .with("x-forgejo-signature", &signature.1)
        .with("x-gitea-signature", "0")
        .with("x-forgejo-event", "issues");
    assert_eq!(Door::new().take(&forgejo), Receipt::Ignored);
}

/// Makes a push of GitLab with a signing token.
fn signed_by_gitlab(seconds: i64) -> Sent {
    let good = ours(Host::GitLab).without("x-gitlab-token");
    let text = format!("msg_1.{seconds}.{}", good.body);
    let signature = STANDARD.encode(mac(b"signing", &text));
    good.with("webhook-id", "msg_1")
        .with("webhook-timestamp", &seconds.to_string())
        .with("webhook-signature", &format!("v1,{} v1a,x v1,{signature}", STANDARD.encode("other")))
}

#[test]
fn a_signing_token_of_gitlab_proves_id_time_and_body_within_five_minutes() {
    let door = || Door::knowing(&[SIGNING]);
    assert_eq!(door().take(&signed_by_gitlab(NOW)), Receipt::Woken);
    for away in [-300, 300] {
        assert_eq!(door().take(&signed_by_gitlab(NOW + away)), Receipt::Woken);
        assert_eq!(door().take(&signed_by_gitlab(NOW + away + away.signum())), Receipt::Refused);
    }
    let good = signed_by_gitlab(NOW);
    for wrong in [
        good.clone().with("webhook-id", "msg_2"),
        good.clone().with("webhook-timestamp", &(NOW + 1).to_string()),
        good.clone().with("webhook-timestamp", "soon"),
        good.clone().with("webhook-signature", "v1,"),
        good.clone().without("webhook-signature").with("x-gitlab-token", SIGNING),
        Sent { body: good.body.replace("main", "dev"), ..good.clone() },
    ] {
        assert_eq!(door().take(&wrong), Receipt::Refused, "{:?}", wrong.headers);
    }
}

#[test]
fn while_gitlab_changes_from_a_plain_token_to_a_signing_one_both_prove() {
    let door = Door::knowing(&[SIGNING, KEY]);
    assert_eq!(door.take(&signed_by_gitlab(NOW)), Receipt::Woken);
    assert_eq!(door.take(&ours(Host::GitLab)), Receipt::Woken);
    assert_eq!(door.take(&signed_by_gitlab(NOW)), Receipt::Duplicate);
}
