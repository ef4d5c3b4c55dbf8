//! What hooks are told of drift and trouble: the whole agent in virtual time, and over real HTTP.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use levelset::aws::Budgets;
use levelset::cli::alerts::Sink;
use levelset::cli::clock::SystemClock;
use levelset::forge::hook::{Form, Hook, Settings as HookSettings};
use levelset::forge::wire::{Answer, NoAnswer, Request, Wire, WireFuture};
use levelset::model::outbox::Outbox;
use levelset::model::{Call, Clock as _};
use levelset::sandbox::Settings;
use levelset::sandbox::faults::{Effect, Rule};
use serde_json::Value;
use sha2::Sha256;

use super::beside::{Beside, LONG, change, database, pass};
use super::host::DAY;
use crate::agent::stage::{Stage, scope};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// Verifies messages as a receiver does that knows the specification and nothing of the agent.
#[derive(Default)]
struct Verifier {
    seen: Mutex<BTreeSet<String>>,
}

impl Verifier {
    /// Returns the body of a message that is ours, recent and new.
    fn take(
        &self,
        header: impl Fn(&str) -> Option<String>,
        body: &[u8],
        now: i64,
    ) -> Option<Value> {
        let (id, time) = (header("webhook-id")?, header("webhook-timestamp")?);
        let sent = header("webhook-signature")?;
        let key = STANDARD.decode(SECRET.strip_prefix("whsec_").unwrap()).unwrap();
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
        mac.update(format!("{id}.{time}.").as_bytes());
        mac.update(body);
        let expected = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
        let is_recent = now.abs_diff(time.parse().ok()?) <= 300;
        let is_good = sent == expected && is_recent && self.seen.lock().unwrap().insert(id);
        is_good.then(|| serde_json::from_slice(body).unwrap())
    }
}

/// A receiver in memory.
#[derive(Default)]
struct Receiver {
    verifier: Verifier,
    got: Mutex<Vec<Value>>,
    attempts: Mutex<usize>,
    /// What it answers instead of taking a message: a status, or nothing at all.
    trouble: Mutex<Option<Option<u16>>>,
    clock: Mutex<Option<Arc<dyn levelset::model::Clock>>>,
}

impl Receiver {
    fn trouble(&self, trouble: Option<Option<u16>>) {
        *self.trouble.lock().unwrap() = trouble;
    }

    fn got(&self) -> Vec<Value> {
        self.got.lock().unwrap().clone()
    }

    fn attempts(&self) -> usize {
        *self.attempts.lock().unwrap()
    }

    fn answer(&self, request: &Request) -> Result<Answer, NoAnswer> {
        *self.attempts.lock().unwrap() += 1;
        let answer = |status| Answer { status, headers: Vec::new(), body: b"/T0/s3cret".to_vec() };
        match *self.trouble.lock().unwrap() {
            None => {}
            Some(None) => return Err(NoAnswer("connection refused".to_owned())),
            Some(Some(status)) => return Ok(answer(status)),
        }
        let header = |name: &str| {
            let mut named = request.headers.iter().filter(|(it, _)| *it == name);
            named.next().map(|(_, value)| value.clone())
        };
        let now = self.clock.lock().unwrap().as_ref().unwrap().now().as_second();
        let body = request.bytes().unwrap();
        let taken = self.verifier.take(header, &body, now).expect("a message that can be believed");
        self.got.lock().unwrap().push(taken);
        Ok(answer(200))
    }
}

impl Wire for Receiver {
    fn send(&self, request: Request) -> WireFuture<'_> {
        Box::pin(async move { self.answer(&request) })
    }
}

/// An agent, and a hook that it tells.
struct World {
    stage: Stage,
    receiver: Arc<Receiver>,
    beside: Beside,
}

impl World {
    async fn new() -> Self {
        let stage = Stage::begin(Settings::real(1), Budgets::default()).await;
        let receiver = Arc::new(Receiver::default());
        *receiver.clock.lock().unwrap() = Some(stage.engine.clock.clone());
        let world = Self { stage, receiver, beside: Beside::default() };
        world.tell();
        world
    }

    fn tell(&self) {
        let settings = HookSettings {
            name: "ops".to_owned(),
            agent: "prod".to_owned(),
            url: Arc::new(|| Ok("https://hooks.example/T0/s3cret".into())),
            form: Form::Json,
            secret: Some(Arc::new(|| Ok(SECRET.into()))),
        };
        let clock = self.stage.engine.clock.clone();
        let hook = Hook::new(settings, self.receiver.clone(), clock);
        self.beside.alert(&self.stage, Arc::new(hook), Sink::Hook("ops".to_owned()));
    }

    /// Ends both tasks and starts them on what the store has.
    async fn restart(&mut self) {
        self.beside.end(&self.stage).await;
        self.tell();
    }

    /// Declares a database with this policy, and waits until it is as declared.
    async fn declare(&self, policy: &str) {
        self.stage.commit(&[("a.yaml", database(policy))]);
        self.stage.ready(&levelset::model::Key::workspace("a"), LONG).await;
        pass(60).await;
    }
}

/// Returns the words of a message that a reader looks for: state, drift, conditions, reverts.
fn told(message: &Value) -> (String, Vec<String>, Vec<String>, Vec<String>) {
    let names = |list: &str, member: &str| {
        let list = message["data"][list].as_array().unwrap().iter();
        list.map(|it| it[member].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let state = message["data"]["state"].as_str().unwrap().to_owned();
    (state, names("drift", "field"), names("conditions", "type"), names("reverted", "field"))
}

const FIELD: &str = "backups.retentionDays";

#[tokio::test(start_paused = true)]
async fn drift_that_is_reported_is_told_once_whatever_restarts_and_once_when_it_is_gone() {
    let mut world = World::new().await;
    world.declare("drift: report, resyncIntervalSeconds: 300").await;
    assert_eq!(world.receiver.got(), [Value::Null; 0], "nobody needs to know that all is well");
    change(&world.stage, 1).await;
    pass(600).await;
    for _ in 0..6 {
        tokio::time::sleep(DAY / 6).await;
        world.restart().await;
    }
    let got = world.receiver.got();
    assert_eq!(got.len(), 1, "{got:#?}");
    let open = ("open".to_owned(), vec![FIELD.to_owned()], vec![], vec![]);
    assert_eq!(told(&got[0]), open);
    assert_eq!(
        (&got[0]["type"], &got[0]["data"]["object"]),
        (&"levelset.alert".into(), &"Workspace/a".into())
    );
    let row = &got[0]["data"]["drift"][0];
    assert_eq!((&row["actual"], &row["declared"]), (&1.into(), &14.into()));
    assert!(!got[0].to_string().contains(scope().account.as_str()), "no account number");
    change(&world.stage, 14).await;
    pass(1200).await;
    let got = world.receiver.got();
    assert_eq!(got.len(), 2, "{got:#?}");
    assert_eq!(told(&got[1]), ("clear".to_owned(), vec![], vec![], vec![]));
    assert_eq!(world.receiver.attempts(), 2);
}

#[tokio::test(start_paused = true)]
async fn each_revert_is_told_also_when_the_hook_was_down_meanwhile() {
    let mut world = World::new().await;
    world.declare("resyncIntervalSeconds: 300").await;
    world.receiver.trouble(Some(None));
    change(&world.stage, 1).await;
    pass(1800).await;
    world.restart().await;
    change(&world.stage, 2).await;
    pass(1800).await;
    let asked = world.receiver.attempts();
    assert!((5..=40).contains(&asked), "{asked} times in an hour");
    world.receiver.trouble(None);
    pass(600).await;
    let got = world.receiver.got();
    assert_eq!(got.len(), 1, "{got:#?}");
    let reverted = got[0]["data"]["reverted"].as_array().unwrap();
    let made: Vec<&Value> = reverted.iter().map(|it| &it["actual"]).collect();
    assert_eq!(made, [1, 2], "{got:#?}");
    change(&world.stage, 3).await;
    pass(900).await;
    let got = world.receiver.got();
    assert_eq!(told(&got[1]), ("clear".to_owned(), vec![], vec![], vec![FIELD.to_owned()]));
    assert_eq!(got.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_given_up_is_told_and_that_it_goes_on() {
    let world = World::new().await;
    world.declare("resyncIntervalSeconds: 60, maxRetries: 2, maxBackoffSeconds: 60").await;
    change(&world.stage, 1).await;
    world.stage.sandbox.inject(Rule::new(Effect::Deny).operation("ModifyDBInstance"));
    pass(1800).await;
    let got = world.receiver.got();
    let (state, drift, conditions, _) = told(got.last().unwrap());
    let expected = ("open", vec![FIELD.to_owned()], vec!["Failed".to_owned()]);
    assert_eq!((state.as_str(), drift, conditions), expected, "{got:#?}");
    assert!(got.len() <= 3, "{got:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_hook_in_any_trouble_does_not_delay_the_cloud_and_its_words_are_not_repeated() {
    let mut took = Vec::new();
    for trouble in
        [None, Some(None), Some(Some(500)), Some(Some(429)), Some(Some(403)), Some(Some(404))]
    {
        let world = World::new().await;
        world.receiver.trouble(trouble);
        world.declare("resyncIntervalSeconds: 300").await;
        change(&world.stage, 1).await;
        let is_back = async || !world.stage.calls("ModifyDBInstance").is_empty();
        took.push(world.stage.until(is_back, LONG).await);
        pass(2 * 3600).await;
        let posts = world.stage.store.posts().await.unwrap();
        assert!(!format!("{posts:?}").contains("s3cret"), "{posts:?}");
    }
    assert!(took.iter().all(|it| *it == took[0]), "{took:?}");
}

/// Serves a receiver on loopback; returns its address and what it takes.
async fn serve() -> (String, Arc<Mutex<Vec<Value>>>) {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (got, verifier) = (Arc::<Mutex<Vec<Value>>>::default(), Arc::new(Verifier::default()));
    let taken = got.clone();
    let routes = axum::Router::new().fallback(async move |request: axum::extract::Request| {
        let (head, body) = request.into_parts();
        let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
        let header = |name: &str| Some(head.headers.get(name)?.to_str().ok()?.to_owned());
        let now = SystemClock.now().as_second();
        let message = match head.uri.path() {
            "/services/T0/s3cret" => serde_json::from_slice(&body).ok(),
            _ => verifier.take(header, &body, now),
        };
        let is_taken = message.is_some();
        taken.lock().unwrap().extend(message);
        axum::http::StatusCode::from_u16(if is_taken { 204 } else { 401 }).unwrap()
    });
    tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
    (address, got)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_built_agent_tells_a_revert_to_a_program_and_to_a_chat_and_keeps_the_address_to_itself()
{
    let (address, got) = serve().await;
    let settings = "hooks:\n  ops: {urlFile: ops-url, secretFile: ops-secret}\n  \
                    chat: {urlFile: chat-url, format: slack}\n";
    let chat = format!("{address}/services/T0/s3cret\n");
    let files =
        [("ops-url", address.as_str()), ("ops-secret", SECRET), ("chat-url", chat.as_str())];
    let stage = super::stage::Stage::begin_with(settings, &files).await;
    let text = super::stage::manifest("team-a");
    let declared = |days: u8, note: &str| {
        let class = "sizeClass: db.r6g.large";
        text.replace(
            class,
            &format!("{class}, backups: {{retentionDays: {days}}}, tags: {{note: {note}}}"),
        )
    };
    stage.push_text("team-a", &declared(14, "one"));
    let is_kept = |stage: &super::stage::Stage| stage.is_ready("team-a");
    stage.until("convergence", is_kept);
    let call = Call::new("rds", "ModifyDBInstance")
        .with("DBInstanceIdentifier", "team-a")
        .with("BackupRetentionPeriod", 1)
        .with("ApplyImmediately", true);
    stage.until("a change in the console", |stage| {
        stage.cloud.door("console").ask(&super::stage::scope(), &call).is_ok()
    });
    stage.push_text("team-a", &declared(14, "two"));
    stage.until("two messages", |_| got.lock().unwrap().len() >= 2);
    let got = got.lock().unwrap().clone();
    let chat = got.iter().find_map(|it| it["text"].as_str()).unwrap();
    let line = "*Reverted* db_instance/team-a backups.retentionDays from `1` to `14`";
    assert!(chat.contains(line), "{chat}");
    let message = got.iter().find(|it| it["type"].is_string()).unwrap();
    assert_eq!(told(message).3, [FIELD]);
    let traces = String::from_utf8_lossy(&stage.traces()).into_owned();
    assert!(!traces.contains("s3cret") && !traces.contains("MfKQ9r8GKYqr"), "{traces}");
    let sent = stage.figure("levelset_hook_writes_total{hook=\"chat\",result=\"sent\"}");
    assert_eq!(sent.as_deref(), Some("1"));
}
