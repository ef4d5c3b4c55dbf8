//! The pass with secrets: a value that nobody reads, a list that lags, and deletions that wait.

use super::*;

const SECRET: &str = r#"apiVersion: platform.kby.io/v1alpha1
kind: Workspace
metadata: {name: team-payments-prod}
spec:
  environment: production
  resources:
    secrets:
      api:
        description: before
        generate: {length: 24}
        recoveryWindowDays: 7
  reconcilePolicy: {deletion: delete}
"#;

const NAME: &str = "team-payments-prod/api";

fn secret(operation: &'static str) -> Call {
    Call::new("secretsmanager", operation).with("SecretId", NAME)
}

impl Scene {
    fn secret(&self) -> Value {
        self.sandbox.inspect_secrets(&scope()).remove(NAME).unwrap_or_default()
    }

    /// Changes a secret behind the agent's back, and lets the list show it.
    fn meddle(&self, call: Call) {
        self.console(call);
        self.wait(SignedDuration::from_mins(6));
    }

    fn count(&self, operation: &str) -> u64 {
        let counters = self.sandbox.counters();
        counters.get(&format!("secretsmanager:{operation}")).map_or(0, |it| it.calls)
    }

    /// Makes passes when they are due, and returns how many secrets were described meanwhile.
    async fn look_on(&self, passes: usize) -> u64 {
        let before = self.count("DescribeSecret");
        for _ in 0..passes {
            let passed = self.pass().await;
            let (_, at) = passed.next.due.expect("the object is due again");
            self.wait(at.duration_since(self.clock.now()));
        }
        self.count("DescribeSecret") - before
    }
}

#[tokio::test]
async fn a_secret_is_made_once_with_a_value_that_is_never_read() {
    let scene = Scene::new(SECRET).await;
    scene.converge().await;
    assert_eq!(scene.writes(), ["CreateSecret"]);
    let calls = scene.sandbox.calls_since(0);
    let create = calls.iter().find(|call| call.operation == "CreateSecret").unwrap();
    let recipe = json!({"PasswordLength": 24, "RequireEachIncludedType": true});
    assert_eq!(create.params["GenerateSecretString"], recipe);
    assert_eq!(create.params["ClientRequestToken"].as_str().unwrap().len(), 32);
    let tags = scene.secret()["Tags"].to_string();
    assert!(tags.contains("levelset/Workspace/team-payments-prod"), "{tags}");
    scene.wait(SignedDuration::from_mins(10));
    scene.look_on(1).await;
    assert_eq!(scene.look_on(10).await, 0, "the list is enough once it shows the secret");
    assert_eq!(scene.writes(), ["CreateSecret"]);
    assert_eq!(scene.count("GetSecretValue"), 0);
}

#[tokio::test]
async fn a_secret_that_waits_for_its_value_costs_no_read_of_its_own() {
    let scene = Scene::new(&SECRET.replace("        generate: {length: 24}\n", "")).await;
    scene.converge().await;
    scene.wait(SignedDuration::from_mins(10));
    scene.look_on(1).await;
    assert_eq!(scene.look_on(10).await, 0);
    let notices = &scene.status().await.resources[0].notices;
    assert_eq!(notices[0].code, "NoValue");
}

#[tokio::test]
async fn what_a_list_that_lags_shows_of_a_change_from_git_is_no_drift() {
    let mut scene = Scene::new(SECRET).await;
    scene.converge().await;
    scene.wait(SignedDuration::from_mins(10));
    scene.look_on(2).await;
    scene.commit(Some(&SECRET.replace("before", "after")));
    scene.converge().await;
    for _ in 0..12 {
        scene.wait(SignedDuration::from_secs(30));
        let passed = scene.pass().await;
        let status = passed.status.unwrap_or_default();
        assert!(status.drift.is_empty(), "{:?}", status.drift);
    }
    assert_eq!(scene.writes(), ["CreateSecret", "UpdateSecret"]);
    assert_eq!(scene.secret()["Description"], "after");
}

#[tokio::test]
async fn what_somebody_changes_is_put_back() {
    let scene = Scene::new(SECRET).await;
    scene.converge().await;
    scene.wait(SignedDuration::from_mins(10));
    scene.look_on(2).await;
    let token = "1".repeat(32);
    let update = secret("UpdateSecret").with("ClientRequestToken", token);
    scene.meddle(update.with("Description", "mine"));
    let status = scene.pass().await.status.unwrap();
    assert_eq!(status.drift[0].field, "description");
    scene.converge().await;
    assert_eq!(scene.secret()["Description"], "before");
    assert_eq!(scene.writes(), ["CreateSecret", "UpdateSecret"]);
}

#[tokio::test]
async fn a_secret_that_somebody_deletes_is_restored_with_its_value() {
    let scene = Scene::new(SECRET).await;
    scene.converge().await;
    scene.wait(SignedDuration::from_mins(10));
    scene.look_on(2).await;
    let arn = scene.secret()["ARN"].clone();
    scene.meddle(secret("DeleteSecret").with("RecoveryWindowInDays", 7));
    let status = scene.pass().await.status.unwrap();
    assert_eq!(status.drift[0].field, "deletionDate");
    scene.converge().await;
    assert_eq!(scene.writes(), ["CreateSecret", "RestoreSecret"]);
    assert_eq!(scene.secret()["ARN"], arn);
    assert!(scene.secret().get("DeletedDate").is_none());
}

#[tokio::test]
async fn a_secret_that_leaves_waits_out_its_window_and_comes_back_with_its_section() {
    let mut scene = Scene::new(SECRET).await;
    scene.converge().await;
    let arn = scene.secret()["ARN"].clone();
    let (before, section) = SECRET.split_once("    secrets:").unwrap();
    let (_, after) = section.split_once("  reconcilePolicy").unwrap();
    let without = format!(
        "{}  resources: {{}}\n  reconcilePolicy{after}",
        before.trim_end_matches("  resources:\n")
    );
    scene.commit(Some(&without));
    for _ in 0..4 {
        let _ = scene.pass().await;
        scene.wait(SignedDuration::from_hours(2));
    }
    assert_eq!(scene.writes(), ["CreateSecret", "DeleteSecret"]);
    let calls = scene.sandbox.calls_since(0);
    let delete = calls.iter().find(|call| call.operation == "DeleteSecret").unwrap();
    assert_eq!(delete.params["RecoveryWindowInDays"], 7);
    let record = scene.engine.store.get(&key()).await.unwrap().unwrap();
    assert!(record.memory.owned.is_empty(), "nothing is left to do: {:?}", record.memory.owned);
    scene.commit(Some(SECRET));
    scene.converge().await;
    assert_eq!(scene.writes(), ["CreateSecret", "DeleteSecret", "RestoreSecret"]);
    assert_eq!(scene.secret()["ARN"], arn);
}

#[tokio::test]
async fn rotation_waits_for_a_value_and_never_begins_at_once() {
    let manifest = SECRET.replace(
        "generate: {length: 24}",
        "rotation: {lambdaArn: \
        \"arn:aws:lambda:eu-west-1:123456789012:function:rotate\", everyDays: 30}",
    );
    let scene = Scene::new(&manifest).await;
    scene.look_on(6).await;
    assert_eq!(scene.writes(), ["CreateSecret"]);
    let row = scene.status().await.resources.remove(0);
    assert!(row.message.contains("no value yet"), "{row:?}");
    scene.meddle(secret("PutSecretValue"));
    scene.converge().await;
    assert_eq!(scene.writes(), ["CreateSecret", "RotateSecret"]);
    let calls = scene.sandbox.calls_since(0);
    let rotate = calls.iter().find(|call| call.operation == "RotateSecret").unwrap();
    assert_eq!(rotate.params["RotateImmediately"], false);
    assert_eq!(rotate.params["RotationRules"], json!({"AutomaticallyAfterDays": 30}));
}

#[tokio::test]
async fn copies_and_a_policy_are_read_one_by_one_and_kept() {
    let manifest = SECRET.replace(
        "recoveryWindowDays: 7",
        "replicas: {eu-central-1: {}}\n        \
        policy: {Version: \"2012-10-17\", Statement: [{Effect: Allow, Action: \
        \"secretsmanager:GetSecretValue\", Resource: \"*\", Principal: {AWS: \
        \"arn:aws:iam::210987654321:root\"}}]}",
    );
    let scene = Scene::new(&manifest).await;
    scene.converge().await;
    assert_eq!(scene.writes(), ["CreateSecret", "PutResourcePolicy"]);
    scene.wait(SignedDuration::from_mins(10));
    scene.look_on(2).await;
    let before = scene.count("GetResourcePolicy");
    assert_eq!(scene.look_on(5).await, 5, "one read by name a pass");
    assert_eq!(scene.count("GetResourcePolicy") - before, 5);
    let copies = json!(["eu-central-1"]);
    scene.meddle(secret("RemoveRegionsFromReplication").with("RemoveReplicaRegions", copies));
    scene.meddle(secret("DeleteResourcePolicy"));
    scene.converge().await;
    let writes = scene.writes();
    assert_eq!(writes[2..], ["PutResourcePolicy", "ReplicateSecretToRegions"]);
    assert_eq!(scene.secret()["ReplicationStatus"][0]["Region"], "eu-central-1");
}

#[tokio::test]
async fn the_secret_of_a_service_and_that_of_a_stranger_are_left_alone() {
    let scene = Scene::empty().await;
    let token = "0".repeat(32);
    let make = Call::new("secretsmanager", "CreateSecret").with("Name", NAME);
    scene.meddle(make.with("ClientRequestToken", token));
    let mut scene = scene;
    scene.commit(Some(SECRET));
    scene.look_on(3).await;
    let row = scene.status().await.resources.remove(0);
    assert_eq!((row.state.as_str(), scene.writes().len()), ("Refused", 0), "{row:?}");
    assert!(scene.sandbox.hand_secret_over(&scope(), NAME, "rds"));
    scene.wait(SignedDuration::from_mins(6));
    scene.commit(Some(&SECRET.replace("description:", "adopt: true\n        description:")));
    scene.look_on(3).await;
    let row = scene.status().await.resources.remove(0);
    assert!(row.message.contains("rds"), "{row:?}");
    assert_eq!(scene.writes().len(), 0);
}
