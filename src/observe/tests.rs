//! Reading on the sandbox: what it costs, and what it may conclude.

use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};

use super::*;
use crate::kinds;
use crate::model::{AccountId, Call, Region};
use crate::sandbox::faults::{Effect, Rule};
use crate::sandbox::{Sandbox, Settings};

const FRESH: SignedDuration = SignedDuration::from_secs(15);

struct VirtualClock(Mutex<Timestamp>);

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

/// A cloud with databases `db-0`, `db-1`, ... and somebody who reads them.
struct Scene {
    clock: Arc<VirtualClock>,
    sandbox: Sandbox,
    observer: Observer,
}

fn scope() -> Scope {
    Scope { account: AccountId::new("123456789012"), region: Region::new("eu-west-1") }
}

fn database(number: usize) -> ResourceId {
    let kind = KindName::new("db_instance");
    ResourceId { kind, scope: scope(), name: format!("db-{number}").into() }
}

impl Scene {
    fn with(databases: usize) -> Self {
        let start: Timestamp = "2026-11-25T12:00:00Z".parse().unwrap();
        let clock = Arc::new(VirtualClock(Mutex::new(start)));
        let sandbox = Sandbox::new(clock.clone(), Settings::fast(1));
        let scene = Self {
            observer: Observer::new(Arc::new(sandbox.clone()), clock.clone(), FRESH),
            clock,
            sandbox,
        };
        (0..databases).for_each(|number| scene.create(number));
        scene
    }

    fn create(&self, number: usize) {
        let call = Call::new("rds", "CreateDBInstance")
            .with("DBInstanceIdentifier", &*database(number).name)
            .with("Engine", "postgres")
            .with("DBInstanceClass", "db.t4g.micro")
            .with("AllocatedStorage", 20)
            .with("MasterUsername", "app")
            .with("ManageMasterUserPassword", true);
        self.sandbox.door("console").ask(&scope(), &call).unwrap();
    }

    fn wait(&self, time: SignedDuration) {
        let mut now = self.clock.0.lock().unwrap();
        *now = now.checked_add(time).unwrap();
    }

    async fn look(&self, number: usize) -> Observation {
        let id = database(number);
        self.observer.observe(kinds::find(&id.kind).unwrap(), &id).await
    }

    /// The reads so far, whole lists and single names.
    fn reads(&self) -> (usize, usize) {
        let calls = self.sandbox.calls_since(0);
        let reads = calls.iter().filter(|call| call.operation == "DescribeDBInstances");
        let (single, pages): (Vec<_>, Vec<_>) =
            reads.partition(|call| call.params.contains_key("DBInstanceIdentifier"));
        (pages.len(), single.len())
    }
}

#[tokio::test]
async fn many_resources_cost_as_many_calls_as_their_list_has_pages() {
    let scene = Scene::with(250);
    for number in 0..250 {
        assert!(matches!(scene.look(number).await, Observation::Present(_)));
    }
    assert_eq!(scene.reads(), (3, 0));
}

#[tokio::test]
async fn readers_at_the_same_time_share_one_list() {
    let scene = Scene::with(20);
    let looks = (0..20).map(|number| scene.look(number));
    futures_util::future::join_all(looks).await;
    assert_eq!(scene.reads(), (1, 0));
}

/// A cloud that takes its time for every page.
struct Slow {
    clock: Arc<VirtualClock>,
    sandbox: Sandbox,
    page: SignedDuration,
}

impl Cloud for Slow {
    fn call<'a>(
        &'a self,
        target: &'a Target,
        call: &'a Call,
    ) -> crate::model::cloud::CallFuture<'a> {
        let mut now = self.clock.0.lock().unwrap();
        *now = now.checked_add(self.page).unwrap();
        drop(now);
        self.sandbox.call(target, call)
    }
}

#[tokio::test]
async fn a_list_that_takes_longer_than_it_is_fresh_is_read_once_for_all_that_come_soon_after() {
    let mut scene = Scene::with(1_000);
    let (clock, page) = (scene.clock.clone(), SignedDuration::from_secs(6));
    let slow = Slow { clock: clock.clone(), sandbox: scene.sandbox.clone(), page };
    scene.observer = Observer::new(Arc::new(slow), clock, FRESH);
    for number in 0..1_000 {
        assert!(matches!(scene.look(number).await, Observation::Present(_)));
        scene.wait(SignedDuration::from_millis(39));
    }
    assert_eq!(scene.reads(), (10, 0), "in 39 seconds");
    scene.wait(SignedDuration::from_secs(2));
    scene.look(0).await;
    assert_eq!(scene.reads(), (20, 0));
}

#[tokio::test]
async fn a_list_is_shared_while_it_is_fresh_and_read_anew_after() {
    let scene = Scene::with(1);
    scene.look(0).await;
    scene.wait(FRESH);
    scene.look(0).await;
    assert_eq!(scene.reads(), (1, 0));
    scene.wait(SignedDuration::from_secs(1));
    scene.look(0).await;
    assert_eq!(scene.reads(), (2, 0));
}

#[tokio::test]
async fn a_list_that_nobody_may_share_any_more_is_not_held() {
    let scene = Scene::with(1);
    let Observation::Present(seen) = scene.look(0).await else { panic!("it is there") };
    let held = Arc::downgrade(&seen);
    drop(seen);
    assert!(held.upgrade().is_some());
    scene.wait(FRESH + SignedDuration::from_secs(1));
    let group = ResourceId { kind: KindName::new("db_subnet_group"), ..database(0) };
    scene.observer.observe(kinds::find(&group.kind).unwrap(), &group).await;
    assert!(held.upgrade().is_none());
}

#[tokio::test]
async fn absence_takes_a_complete_list_and_a_read_of_the_name() {
    let scene = Scene::with(3);
    assert_eq!(scene.look(7).await, Observation::Absent);
    assert_eq!(scene.reads(), (1, 1));
}

#[tokio::test]
async fn a_resource_that_a_stale_list_lacks_is_found_by_its_name() {
    let scene = Scene::with(1);
    scene.look(0).await;
    scene.create(1);
    assert!(matches!(scene.look(1).await, Observation::Present(_)));
    assert_eq!(scene.reads(), (1, 1));
}

#[tokio::test]
async fn a_failed_page_makes_the_whole_list_unknown() {
    for effect in [Effect::Throttle, Effect::ServerError, Effect::Deny, Effect::LoseAnswer] {
        let scene = Scene::with(150);
        scene.sandbox.inject(Rule::new(effect).operation("DescribeDBInstances").skip(1).times(1));
        for number in [0, 149, 999] {
            let seen = scene.look(number).await;
            assert!(matches!(seen, Observation::Unknown(_)), "{effect:?}: {seen:?}");
        }
        assert_eq!(scene.reads(), (2, 0), "a failed read is not repeated while it is fresh");
    }
}

#[tokio::test]
async fn a_doubtful_confirmation_is_no_proof_of_absence() {
    let scene = Scene::with(1);
    scene.sandbox.inject(Rule::new(Effect::Deny).operation("DescribeDBInstances").skip(1));
    assert!(matches!(scene.look(7).await, Observation::Unknown(Doubt::Denied(_))));
}

#[tokio::test]
async fn an_empty_answer_to_the_read_of_a_name_is_no_proof_of_absence() {
    let scene = Scene::with(1);
    scene.sandbox.inject(Rule::new(Effect::PartialPage(0)).operation("DescribeDBInstances"));
    assert!(matches!(scene.look(0).await, Observation::Unknown(Doubt::Failed(_))));
}

#[tokio::test]
async fn what_was_written_is_read_again_by_its_name() {
    let scene = Scene::with(5);
    scene.look(0).await;
    scene.observer.written(&database(0));
    scene.look(0).await;
    scene.look(1).await;
    assert_eq!(scene.reads(), (1, 1));
    scene.look(0).await;
    assert_eq!(scene.reads(), (1, 1));
}

#[tokio::test]
async fn many_writes_are_looked_after_with_a_new_list() {
    let scene = Scene::with(5);
    scene.look(0).await;
    (0..5).for_each(|number| scene.observer.written(&database(number)));
    for number in 0..5 {
        scene.look(number).await;
    }
    assert_eq!(scene.reads(), (2, 0));
}

#[test]
fn saved_answers_with_a_page_missing_are_refused() {
    let kinds = kinds::all();
    for text in [
        "[]",
        "{",
        r#"{"DBInstances": {}}"#,
        r#"{"DBInstances": [], "Marker": "x"}"#,
        r#"{"DbInstance": []}"#,
    ] {
        assert!(saved::Saved::parse(text, kinds).is_err(), "{text}");
    }
}

#[tokio::test]
async fn a_list_that_was_not_saved_is_unknown_and_one_that_lacks_a_name_means_absent() {
    let scene = Scene::with(0);
    let look = async |text: &str| {
        let saved = saved::Saved::parse(text, kinds::all()).unwrap();
        let observer = Observer::new(Arc::new(saved), scene.clock.clone(), FRESH);
        let id = database(0);
        observer.observe(kinds::find(&id.kind).unwrap(), &id).await
    };
    assert!(matches!(look("{}").await, Observation::Unknown(Doubt::NotRecorded(_))));
    assert_eq!(look(r#"{"DBInstances": []}"#).await, Observation::Absent);
    let nameless = look(r#"{"DBInstances": [{"Engine": "postgres"}]}"#).await;
    assert!(matches!(nameless, Observation::Unknown(Doubt::Failed(_))), "{nameless:?}");
    let text = r#"{"DBInstances": [{"DBInstanceIdentifier": "db-0"}]}"#;
    assert!(matches!(look(text).await, Observation::Present(_)));
}

#[tokio::test]
async fn a_role_that_only_one_of_two_lists_shows_is_neither_there_nor_absent() {
    let role = r#"{"RoleName": "api", "Path": "/"}"#;
    let both = format!(r#"{{"RoleDetailList": [{role}], "Roles": [{role}]}}"#);
    let one = format!(r#"{{"RoleDetailList": [{role}], "Roles": []}}"#);
    let other = format!(r#"{{"RoleDetailList": [], "Roles": [{role}]}}"#);
    let none = r#"{"RoleDetailList": [], "Roles": [], "IsTruncated": false}"#.to_owned();
    let mut seen = Vec::new();
    for text in [both, one, other, none] {
        let saved = saved::Saved::parse(&text, kinds::all()).unwrap();
        let observer = Observer::new(Arc::new(saved), Scene::with(0).clock, FRESH);
        let kind = kinds::find(&kinds::iam_role::NAME).unwrap();
        let id = ResourceId { kind: kind.name(), scope: kind.home(&scope()), name: "api".into() };
        seen.push(observer.observe(kind, &id).await);
    }
    assert!(matches!(seen[0], Observation::Present(_)), "{:?}", seen[0]);
    for half in &seen[1..3] {
        assert!(matches!(half, Observation::Unknown(Doubt::Failed(_))), "{half:?}");
    }
    assert_eq!(seen[3], Observation::Absent);
}

fn secret(name: &str) -> ResourceId {
    ResourceId { kind: kinds::secret::NAME, scope: scope(), name: name.into() }
}

#[tokio::test]
async fn what_was_written_of_a_list_that_lags_is_read_by_its_name_however_much_it_is() {
    let scene = Scene::with(0);
    let kind = kinds::find(&kinds::secret::NAME).unwrap();
    let look = async |name: &str| scene.observer.observe(kind, &secret(name)).await;
    assert_eq!(look("0").await, Observation::Absent);
    for name in ["0", "1", "2", "3", "4"] {
        let token = "0".repeat(32);
        let create = Call::new("secretsmanager", "CreateSecret").with("Name", name);
        scene.sandbox.ask(&scope(), &create.with("ClientRequestToken", token)).unwrap();
        scene.observer.written(&secret(name));
    }
    for name in ["0", "1", "2", "3", "4"] {
        assert!(matches!(look(name).await, Observation::Present(_)), "{name}");
    }
    let counters = scene.sandbox.counters();
    let calls = |name: &str| counters[&format!("secretsmanager:{name}")].calls;
    assert_eq!((calls("ListSecrets"), calls("DescribeSecret")), (1, 6));
}

#[tokio::test]
async fn saved_answers_say_whether_a_secret_has_a_policy_or_nothing_is_known_of_it() {
    let call = |operation| Call::new("secretsmanager", operation).with("SecretId", "a");
    let ask = async |secret: &str, operation| {
        let text = format!(r#"{{"SecretList": [{{"Name": "b"}}, {secret}]}}"#);
        let saved = saved::Saved::parse(&text, kinds::all()).unwrap();
        let target = Target { scope: scope(), kind: kinds::secret::NAME, cause: Cause::Detail };
        saved.call(&target, &call(operation)).await
    };
    let policy = "GetResourcePolicy";
    let none = ask(r#"{"Name": "a", "ResourcePolicy": null}"#, policy).await.unwrap();
    assert!(none["ResourcePolicy"].is_null());
    let some = ask(r#"{"Name": "a", "ResourcePolicy": "{}"}"#, policy).await.unwrap();
    assert_eq!(some["ResourcePolicy"], "{}");
    let unknown = ask(r#"{"Name": "a"}"#, policy).await.unwrap_err();
    assert_eq!(unknown.code, saved::NOT_RECORDED);
    let absent = ask(r#"{"Name": "c"}"#, "DescribeSecret").await.unwrap_err();
    assert_eq!(absent.class, ErrorClass::NotFound);
}
