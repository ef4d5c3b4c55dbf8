//! The known cases that need an answer or a memory, and not an observation alone: what the pass makes
//! of answers that lag, refuse for a while, or are lost. Each names its number among the cases.

use super::*;
use crate::model::ResourceStatus;

const ROLE: &str = r#"apiVersion: platform.kby.io/v1alpha1
kind: Workspace
metadata: {name: team-payments-prod}
spec:
  environment: production
  resources:
    iam:
      roles:
        api: {trust: {services: [codebuild.amazonaws.com]}}
  reconcilePolicy: {maxRetries: 3, maxBackoffSeconds: 60}
"#;

/// The manifest of the design, with a class that changes at once and this ceiling of failures.
fn database(class: &str, retries: u32) -> String {
    let policy =
        format!("maxBackoffSeconds: 60\n    maxRetries: {retries}\n    disruption: immediate");
    MANIFEST.replace("db.r6g.large", class).replace("maxBackoffSeconds: 900", &policy)
}

impl Scene {
    /// Makes passes when they are due, for a while.
    async fn live(&self, time: SignedDuration) {
        let end = self.clock.now() + time;
        while self.clock.now() < end {
            let Some((_, at)) = self.pass().await.next.due else { return };
            self.wait(at.duration_since(self.clock.now()));
        }
    }

    /// Counts the calls of an operation that arrived, refused or not.
    fn sent(&self, operation: &str) -> usize {
        let calls = self.sandbox.calls_since(0);
        calls.iter().filter(|call| call.operation == operation && &*call.by == "agent").count()
    }

    /// Another process, with what the store holds.
    fn restarted(self) -> Self {
        let before = &self.engine;
        let (store, fence) = (Arc::clone(&before.store), Arc::clone(&before.fence));
        let ports = Ports {
            cloud: Arc::new(self.sandbox.clone()),
            store,
            fence,
            clock: self.clock.clone(),
        };
        let engine = Engine {
            environments: before.environments.clone(),
            ..Engine::new(ports, self.cache.reader(), SignedDuration::from_secs(5))
        };
        Self { engine: Arc::new(engine), ..self }
    }

    async fn last(&self) -> ResourceStatus {
        self.status().await.resources.pop().unwrap()
    }

    async fn failures(&self) -> u32 {
        self.engine.store.get(&key()).await.unwrap().unwrap().memory.failures
    }
}

/// B20: the describe answer lags behind the modify.
#[tokio::test]
async fn a_change_that_is_not_to_be_seen_yet_is_waited_for_and_not_sent_again() {
    let mut scene = Scene::new(&database("db.r6g.large", 3)).await;
    scene.converge().await;
    scene.wait(SignedDuration::from_mins(15));
    scene.commit(Some(&database("db.r6g.xlarge", 3)));
    let lag = Effect::Stale(Duration::from_secs(50));
    scene.sandbox.inject(Rule::new(lag).operation("DescribeDBInstances"));
    scene.live(SignedDuration::from_secs(40)).await;
    let row = scene.last().await;
    assert_eq!(
        (row.state.as_str(), row.waits[0].code.as_str()),
        ("Waiting", "ReadbackLag"),
        "{row:?}"
    );
    scene.live(SignedDuration::from_mins(10)).await;
    assert_eq!(scene.sent("ModifyDBInstance"), 1);
    scene.converge().await;
    assert_eq!(scene.instance()["DBInstanceClass"], "db.r6g.xlarge");
    assert_eq!(scene.sent("ModifyDBInstance"), 1);
}

/// B23: AWS says that nothing was to be modified, so the difference is none.
#[tokio::test]
async fn a_change_that_aws_calls_none_is_no_loop_and_tells_what_differs() {
    let mut scene = Scene::new(&database("db.r6g.large", 3)).await;
    scene.converge().await;
    scene.commit(Some(&database("db.r6g.xlarge", 3)));
    let none = Effect::Refuse("InvalidParameterCombination");
    scene.sandbox.inject(Rule::new(none).operation("ModifyDBInstance"));
    scene.live(SignedDuration::from_hours(24)).await;
    assert_eq!(scene.sent("ModifyDBInstance"), 3, "as often as maxRetries says");
    let status = scene.status().await;
    let failed = status.condition(Condition::FAILED).unwrap();
    assert_eq!(failed.reason, "RetriesExhausted");
    assert!(failed.message.contains("InvalidParameterCombination"), "{failed:?}");
    let row = scene.last().await;
    assert_eq!(row.deltas[0].field, "sizeClass", "{row:?}");
}

/// B50: a role that was made seconds ago is not known to RDS yet.
#[tokio::test]
async fn a_role_that_is_not_known_yet_is_tried_for_again_and_not_for_ever() {
    let unknown =
        || Rule::new(Effect::Refuse("InvalidParameterValue")).operation("CreateDBInstance");
    let scene = Scene::new(&database("db.r6g.large", 4)).await;
    scene.sandbox.inject(unknown().times(2));
    scene.converge().await;
    assert_eq!(scene.sent("CreateDBInstance"), 3);

    let scene = Scene::new(&database("db.r6g.large", 4)).await;
    scene.sandbox.inject(unknown());
    scene.live(SignedDuration::from_hours(24)).await;
    assert_eq!(scene.sent("CreateDBInstance"), 4);
}

/// B85: a principal that is not known yet; what Git names is waited for before the call is made.
#[tokio::test]
async fn a_principal_that_is_not_there_yet_is_tried_for_again_and_not_for_ever() {
    let unknown = || Rule::new(Effect::Refuse("MalformedPolicyDocument")).operation("CreateRole");
    let scene = Scene::new(ROLE).await;
    scene.sandbox.inject(unknown().times(2));
    scene.converge().await;
    assert_eq!(scene.sent("CreateRole"), 3);

    let scene = Scene::new(ROLE).await;
    scene.sandbox.inject(unknown());
    scene.live(SignedDuration::from_hours(24)).await;
    assert_eq!(scene.sent("CreateRole"), 3);
    let status = scene.status().await;
    let failed = status.condition(Condition::FAILED).unwrap();
    assert!(failed.message.contains("MalformedPolicyDocument"), "{failed:?}");
}

/// B91: what has just been made is not found.
#[tokio::test]
async fn what_was_made_and_is_not_found_yet_is_waited_for_and_made_once() {
    let scene = Scene::new(ROLE).await;
    let _ = scene.pass().await;
    assert_eq!(scene.sent("CreateRole"), 1);
    for operation in ["GetRole", "GetAccountAuthorizationDetails"] {
        let lag = Effect::Stale(Duration::from_secs(120));
        scene.sandbox.inject(Rule::new(lag).operation(operation).times(4));
    }
    scene.converge().await;
    assert_eq!(scene.sent("CreateRole"), 1);
    assert_eq!(scene.failures().await, 0);
}

/// B119: whether a create arrived is not known, and the process died meanwhile.
#[tokio::test]
async fn a_create_of_unknown_outcome_is_looked_for_after_a_restart_and_not_made_again() {
    for (effect, creates) in [(Effect::LoseAnswer, 1), (Effect::LoseRequest, 2)] {
        let scene = Scene::new(ROLE).await;
        scene.sandbox.inject(Rule::new(effect).operation("CreateRole").times(1));
        let _ = scene.pass().await;
        let scene = scene.restarted();
        scene.converge().await;
        assert_eq!(scene.sent("CreateRole"), creates, "{effect:?}");
    }
}

/// B121: the permission is given after the first attempts of the same commit.
#[tokio::test]
async fn what_was_denied_is_tried_again_for_the_same_commit() {
    let scene = Scene::new(ROLE).await;
    scene.sandbox.inject(Rule::new(Effect::Deny).operation("CreateRole").times(2));
    let status = scene.converge().await;
    assert_eq!(scene.sent("CreateRole"), 3);
    assert_eq!(status.observed_generation.0, 1, "no new commit was needed");
    assert_eq!(scene.failures().await, 0);
}

/// B46: the parameter group of another family goes in the one call that upgrades, window or not.
#[tokio::test]
async fn a_major_upgrade_and_the_group_of_its_family_are_one_call() {
    let with = |version: &str| {
        let fields = format!(
            "version: \"{version}\"\n      allowMajorVersionUpgrade: true\n      \
             parameters: {{work_mem: 8192}}"
        );
        MANIFEST.replace("version: \"15\"", &fields)
    };
    let mut scene = Scene::new(&with("15")).await;
    scene.converge().await;
    scene.wait(SignedDuration::from_mins(15));
    scene.commit(Some(&with("16")));
    scene.live(SignedDuration::from_hours(1)).await;
    let calls = scene.sandbox.calls_since(0);
    let upgrades: Vec<_> =
        calls.iter().filter(|call| call.params.contains_key("EngineVersion")).collect();
    let [create, upgrade] = upgrades.as_slice() else { panic!("{upgrades:#?}") };
    assert_eq!(&*create.operation, "CreateDBInstance");
    let group = upgrade.params.get("DBParameterGroupName").and_then(Value::as_str);
    assert!(group.is_some_and(|group| group.ends_with("postgres16")), "{upgrade:#?}");
    assert!(upgrade.applied, "{upgrade:#?}");
}
