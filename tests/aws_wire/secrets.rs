//! The life of a secret on two emulators, and where its value is not.
//!
//! Moto keeps a description that is emptied, forgets the key when something else is updated, and does
//! not block public policies; ministack makes no copies with a secret, cannot remove them, rotates at once whatever it
//! is asked, and leaves key and rotation out of its list. So copies are held on moto and rotation on
//! ministack. Neither lags: that is held on the sandbox.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use levelset::diff::diff;
use levelset::kinds::secret;
use levelset::kinds::secret::spec::{Placement as SecretPlacement, Secret, resources};
use levelset::model::ErrorClass::{AlreadyExists, Invalid, NotFound};
use levelset::model::Observation;

use super::*;
use crate::support::emulators::{ministack, moto, region};

/// Returns a secret as its manifest declares it.
fn declared(scope: &Scope, section: Value) -> Bound {
    let secrets: BTreeMap<String, Secret> =
        BTreeMap::from([("api".to_owned(), serde_json::from_value(section).unwrap())]);
    let owner = "test/Workspace/wire";
    let placement = SecretPlacement { scope, workspace: "wire", owner, adopt: false };
    let resource = resources(&secrets, &placement).remove(0);
    assert!(resource.refusals.is_empty(), "{:?}", resource.refusals);
    let known = |(field, input)| match input {
        Input::Known(value) => (field, value),
        other => panic!("{other:?} is not known"),
    };
    Bound {
        id: resource.id,
        fields: resource.fields.into_iter().map(known).collect(),
        initial: resource.initial,
        owner: resource.owner,
        adopt: false,
    }
}

/// Looks at a secret by its name and at its policy, as a pass does.
async fn seen(agent: &Agent, desired: &Bound) -> Option<Arc<Observed>> {
    match agent.observer.observe_by_name(agent.kind, &desired.id).await {
        Observation::Present(actual) => {
            Some(agent.observer.details(agent.kind, desired, actual).await.unwrap())
        }
        Observation::Absent => None,
        Observation::Unknown(doubt) => panic!("{doubt}"),
    }
}

/// Returns the operations that mend what differs, after sending them.
async fn mend(agent: &Agent, desired: &Bound) -> Vec<String> {
    let actual = seen(agent, desired).await.expect("the secret is there");
    let readiness = agent.kind.readiness(&actual);
    let found = diff(agent.kind.rules(), desired, &actual, &readiness, &[]);
    assert!(found.refusals.is_empty(), "{found:?}");
    let calls = match found.deltas.as_slice() {
        [] => Vec::new(),
        deltas => agent.kind.update(desired, &actual, deltas),
    };
    let names = calls.iter().map(|call| call.operation.to_string()).collect();
    agent.send(desired, calls).await;
    names
}

/// Sends what the planner sends: the creating call has a token.
async fn make(agent: &Agent, desired: &Bound) {
    let mut calls = secret::KIND.create(desired);
    calls[0] = calls[0].clone().with("ClientRequestToken", "0123456789abcdef0123456789abcdef");
    agent.send(desired, calls).await;
}

fn policy(account: &str) -> Value {
    json!({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Resource": "*",
        "Action": "secretsmanager:GetSecretValue",
        "Principal": {"AWS": format!("arn:aws:iam::{account}:root")}}]})
}

/// Takes a secret through its life at an emulator.
async fn a_secret_lives(agent: &Agent, scope: &Scope, more: Value) {
    let before = json!({"description": "before, & <more> é", "tags": {"team": "a"},
        "generate": {"length": 24}, "policy": policy("210987654321"), "recoveryWindowDays": 7});
    let desired = declared(scope, before);
    assert!(seen(agent, &desired).await.is_none());
    assert_eq!(agent.look(&desired).await, Observation::Absent);
    make(agent, &desired).await;
    assert_eq!(mend(agent, &desired).await, [""; 0], "what was made is what is declared");
    let Observation::Present(listed) = agent.look(&desired).await else { panic!("not listed") };
    let tags = listed.tags.clone().unwrap();
    assert_eq!(tags["levelset:owner"], "test/Workspace/wire");
    assert_eq!(tags["levelset:recovery-window-days"], "7");
    assert_eq!(secret::KIND.outputs(&listed)["name"], "wire/api");

    let mut after = json!({"description": "after", "tags": {"team": "b"},
        "policy": policy("111122223333")});
    after.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let desired = declared(scope, after);
    let expected = ["PutResourcePolicy", "UpdateSecret", "TagResource"];
    assert_eq!(mend(agent, &desired).await, expected);
    assert_eq!(mend(agent, &desired).await, [""; 0], "what was changed is what is declared");
    let somebody = declared(scope, json!({"policy": {}, "description": "mine"}));
    mend(agent, &somebody).await;
    assert_eq!(mend(agent, &desired).await, expected[..2], "what somebody changed is put back");

    a_deletion_can_be_taken_back(agent, &desired).await;
    refusals_have_their_meaning(agent, &desired).await;
}

async fn a_deletion_can_be_taken_back(agent: &Agent, desired: &Bound) {
    let actual = seen(agent, desired).await.unwrap();
    agent.send(desired, secret::KIND.delete(&desired.id, &actual, None).calls).await;
    let leaving = seen(agent, desired).await.expect("it is there until its window is over");
    assert!(leaving.text("DeletedDate").unwrap().ends_with("+00:00"), "{leaving:?}");
    assert_eq!(secret::KIND.passing(&leaving).unwrap().code, "ScheduledForDeletion");
    let Observation::Present(listed) = agent.look(desired).await else { panic!("not listed") };
    assert!(listed.text("DeletedDate").is_some(), "the list has what is scheduled for deletion");
    assert_eq!(mend(agent, desired).await, ["RestoreSecret"]);
    assert_eq!(mend(agent, desired).await, [""; 0]);
}

async fn refusals_have_their_meaning(agent: &Agent, desired: &Bound) {
    let target =
        Target { scope: desired.id.scope.clone(), kind: secret::NAME, cause: Cause::Change };
    let ask = async |call: Call| agent.cloud.call(&target, &call).await.unwrap_err();
    let generated = declared(&desired.id.scope, json!({"generate": {}}));
    let again = secret::KIND.create(&generated).remove(0);
    let error = ask(again.with("ClientRequestToken", "f".repeat(32))).await;
    assert_eq!((error.class, &*error.code), (AlreadyExists, "ResourceExistsException"));
    assert!(error.message.contains("is left out"), "{error}");
    let gone = Call::new("secretsmanager", "DescribeSecret").with("SecretId", "wire/nobody");
    let error = ask(gone).await;
    assert_eq!((error.class, &*error.code), (NotFound, "ResourceNotFoundException"));
    let short = Call::new("secretsmanager", "DeleteSecret").with("SecretId", "wire/api");
    let error = ask(short.with("RecoveryWindowInDays", 1)).await;
    assert_eq!((error.class, &*error.code), (Invalid, "InvalidParameterException"));
}

#[tokio::test]
async fn a_secret_lives_on_moto_with_its_copies() {
    let account = account_at(&moto().url, MOTO_ACCOUNT, region(), "test");
    let agent = Agent::of(account.clone(), &secret::KIND);
    a_secret_lives(&agent, &account.scope, json!({})).await;
    let copies = |regions: Value| declared(&account.scope, json!({ "replicas": regions }));
    let two = copies(json!({"eu-south-1": {}, "eu-south-2": {}}));
    assert_eq!(mend(&agent, &two).await, ["ReplicateSecretToRegions"]);
    assert_eq!(mend(&agent, &two).await, [""; 0]);
    let other = copies(json!({"eu-south-2": {}, "me-south-1": {}}));
    let expected = ["ReplicateSecretToRegions", "RemoveRegionsFromReplication"];
    assert_eq!(mend(&agent, &other).await, expected);
    assert_eq!(mend(&agent, &other).await, [""; 0]);
}

#[tokio::test]
async fn a_secret_lives_on_ministack_with_its_rotation() {
    let number = "100000000088";
    let account = account_at(&ministack().url, number, "eu-west-1", number);
    let agent = Agent::of(account.clone(), &secret::KIND);
    let more = json!({"description": "", "kmsKey": "alias/wire"});
    a_secret_lives(&agent, &account.scope, more).await;
    let function = "arn:aws:lambda:eu-west-1:100000000088:function:rotate";
    let rotation = |more: Value| {
        let mut section = json!({"rotation": {"lambdaArn": function}});
        section["rotation"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        declared(&account.scope, section)
    };
    let days = rotation(json!({"everyDays": 30}));
    assert_eq!(mend(&agent, &days).await, ["RotateSecret"]);
    assert_eq!(mend(&agent, &days).await, [""; 0]);
    let weekly = rotation(json!({"schedule": "cron(0 4 ? * SUN *)", "duration": "3h"}));
    assert_eq!(mend(&agent, &weekly).await, ["RotateSecret"]);
    assert_eq!(mend(&agent, &weekly).await, [""; 0]);
}

const MANIFEST: &str = r#"apiVersion: platform.kby.io/v1alpha1
kind: Workspace
metadata: {name: quiet}
spec:
  environment: staging
  resources:
    secrets:
      plain: {generate: {length: 40}}
      login:
        generate: {template: {username: app}, key: password}
"#;

/// Runs the built program on moto, with everything in its log that it can log.
fn levelset(words: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_levelset"));
    command.args(words).env_clear().current_dir(folder).stdin(Stdio::null());
    command.envs([("AWS_ACCESS_KEY_ID", "test"), ("AWS_SECRET_ACCESS_KEY", "test")]);
    command.envs([("AWS_EC2_METADATA_DISABLED", "true"), ("LEVELSET_LOG_LEVEL", "trace")]);
    // By this variable the signing code of the SDK shows the bodies that it is given.
    command.env("LOG_SIGNABLE_BODY", "true").output().unwrap()
}

/// Asks moto for a value, which the program cannot do.
async fn value_of(url: &Url, region: &str, name: &str) -> String {
    let credential = format!(
        "AWS4-HMAC-SHA256 Credential=test/20261129/{region}/secretsmanager/aws4_request, \
         SignedHeaders=host, Signature=0"
    );
    let request = reqwest::Client::new()
        .post(url.clone())
        .header("Authorization", credential)
        .header("Content-Type", "application/x-amz-json-1.1")
        .header("X-Amz-Target", "secretsmanager.GetSecretValue")
        .body(json!({ "SecretId": name }).to_string());
    let answer: Value = request.send().await.unwrap().json().await.unwrap();
    answer["SecretString"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[tokio::test]
async fn a_value_is_in_no_log_no_plan_no_report_and_no_store() {
    let (url, region) = (&moto().url, region());
    let folder = tempfile::tempdir().unwrap();
    let settings = format!(
        "stateDirectory: state\nenvironments:\n  staging: {{account: \"{MOTO_ACCOUNT}\", region: \
         {region}, endpointUrl: \"{url}\"}}\n"
    );
    std::fs::create_dir(folder.path().join("teams")).unwrap();
    std::fs::write(folder.path().join("teams/quiet.yaml"), MANIFEST).unwrap();
    std::fs::write(folder.path().join("levelset.yaml"), settings).unwrap();
    let mut told = Vec::new();
    for words in [
        &["plan", "teams", "--output", "json"][..],
        &["plan", "teams", "--output", "awscli"],
        &["sync", "teams"],
        &["plan", "teams", "--output", "json"],
        &["status", "quiet", "--output", "json"],
        &["history", "quiet"],
    ] {
        let output = levelset(words, folder.path());
        let text = [output.stdout, output.stderr].concat();
        told.push(String::from_utf8_lossy(&text).into_owned());
    }
    let plain = value_of(url, region, "quiet/plain").await;
    assert_eq!(plain.chars().count(), 40, "it was made: {}", told[2]);
    let login = value_of(url, region, "quiet/login").await;
    let login: Value = serde_json::from_str(&login).unwrap();
    assert_eq!(login["username"], "app");
    let password = login["password"].as_str().unwrap();
    assert_eq!(password.chars().count(), 32);
    assert!(told[1].contains("get-random-password"), "{}", told[1]);
    assert!(told[2].contains("quiet/plain"), "the program said what it did: {}", told[2]);
    for path in files(folder.path()) {
        told.push(String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned());
    }
    assert!(told.iter().any(|text| text.contains("SQLite format")), "the store was looked at");
    for value in [&*plain, password] {
        // As it is, as JSON text within JSON text spells it, and in part.
        let spelled = Value::from(value).to_string();
        let twice = Value::from(&*spelled).to_string();
        for form in [value, spelled.trim_matches('"'), twice.trim_matches(['"', '\\'])] {
            let leak = told.iter().find(|text| text.contains(form) || text.contains(&form[..12]));
            assert!(leak.is_none(), "{value} is in {}", leak.unwrap());
        }
    }
}
