//! The policies of `levelset iam-policy` and `deploy/iam`: enough for every call, and no more.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use levelset::cli::clock::SystemClock;
use levelset::kinds;
use levelset::model::{AccountId, Call, Cause, Cloud, ErrorClass, Kind, Region, Scope, Target};
use levelset::report::policy::{policy, trail_policy};
use levelset::sandbox::{Sandbox, Settings};
use serde_json::{Value, json};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The first words of operations; after one of them comes a capital.
const VERBS: [&str; 28] = [
    "Add",
    "Attach",
    "Authorize",
    "Cancel",
    "Change",
    "Create",
    "Delete",
    "Describe",
    "Detach",
    "Disassociate",
    "Get",
    "List",
    "Modify",
    "Put",
    "Reboot",
    "Remove",
    "Replicate",
    "Reset",
    "Restore",
    "Revoke",
    "Rotate",
    "Start",
    "Stop",
    "Tag",
    "Untag",
    "Update",
    "Enable",
    "Disable",
];

/// Lists the texts of a kind's code that could name an operation: what its `sdk.rs` knows how to
/// send is not looked at, for a call is made elsewhere.
fn operations_in_code(kind: &dyn Kind) -> BTreeSet<String> {
    let folder = root().join("src/kinds").join(kind.name().as_str());
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_code = |path: &Path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.ends_with(".rs") && !["sdk.rs", "permissions.rs", "rules.rs"].contains(&name)
    };
    let sendable =
        fs::read_to_string(root().join("src/kinds").join(kind.name().as_str()).join("sdk.rs"));
    let shared = fs::read_to_string(root().join("src/kinds/sdk/rds.rs")).unwrap();
    let sendable = sendable.unwrap() + &shared;
    files
        .filter(|path| is_code(path))
        .flat_map(|path| texts(&fs::read_to_string(path).unwrap()))
        .filter(|text| is_operation(text) && is_sendable(text, &sendable))
        .collect()
}

/// Tells whether an operation is an arm or a row of the bridge to AWS.
fn is_sendable(operation: &str, bridge: &str) -> bool {
    let quoted = format!("\"{operation}\"");
    // One row a line, whatever the row's maker is called.
    let before = [
        "name: ",
        "operation(",
        "operation(\n        ",
        "read(",
        "read(\n        ",
        "write(",
        "write(\n        ",
        "remove(",
        "part(\"PUT\", ",
    ];
    bridge.contains(&format!("{quoted} =>"))
        || before.iter().any(|before| bridge.contains(&format!("{before}{quoted}")))
}

fn texts(code: &str) -> Vec<String> {
    code.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

fn is_operation(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_alphanumeric())
        && VERBS.iter().any(|verb| {
            text.strip_prefix(verb)
                .is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_uppercase()))
        })
}

#[test]
fn every_call_that_a_kinds_code_can_make_has_its_permission_and_no_permission_is_idle() {
    for kind in kinds::all() {
        let made = operations_in_code(*kind);
        let allowed: BTreeSet<String> =
            kind.permissions().iter().map(|it| it.operation.to_owned()).collect();
        assert!(!made.is_empty(), "no call of {} was found", kind.name());
        assert_eq!(allowed, made, "{}: left: permissions.rs; right: its code", kind.name());
        for list in kind.lists() {
            assert!(allowed.contains(list.operation), "{}: {}", kind.name(), list.operation);
        }
    }
}

/// The operations of S3 whose actions have other names, from the Service Authorization Reference.
const RENAMED: [(&str, &str); 8] = [
    ("ListBuckets", "ListAllMyBuckets"),
    ("GetBucketEncryption", "GetEncryptionConfiguration"),
    ("PutBucketEncryption", "PutEncryptionConfiguration"),
    ("GetPublicAccessBlock", "GetBucketPublicAccessBlock"),
    ("PutPublicAccessBlock", "PutBucketPublicAccessBlock"),
    ("GetBucketLifecycleConfiguration", "GetLifecycleConfiguration"),
    ("PutBucketLifecycleConfiguration", "PutLifecycleConfiguration"),
    ("DeleteBucketLifecycle", "PutLifecycleConfiguration"),
];

fn action_of(operation: &str) -> &str {
    let renamed = RENAMED.iter().find(|(known, _)| *known == operation);
    renamed.map_or(operation, |(_, action)| action)
}

#[test]
fn a_permission_allows_the_action_of_its_operation() {
    for kind in kinds::all() {
        for permission in kind.permissions() {
            // The Cloud Control API's actions are named as CloudFormation's.
            let service = kind.service().replace("cloudcontrolapi", "cloudformation");
            let action = format!("{service}:{}", action_of(permission.operation));
            let mut actions = permission.grants.iter().flat_map(|grant| grant.actions);
            assert!(actions.any(|allowed| *allowed == action), "{action} is not allowed");
        }
    }
}

#[test]
fn the_files_of_deploy_are_what_the_command_prints() {
    let folder = root().join("deploy/iam");
    let mut expected: Vec<(String, Vec<&dyn Kind>)> = kinds::all()
        .iter()
        .map(|kind| (format!("{}.json", kind.name()), vec![*kind as &dyn Kind]))
        .collect();
    expected.push(("all.json".to_owned(), kinds::all().iter().map(|k| *k as &dyn Kind).collect()));
    let mut found: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    let trail = "cloudtrail.json".to_owned();
    let mut names: Vec<&String> = expected.iter().map(|(name, _)| name).chain([&trail]).collect();
    names.sort();
    assert_eq!(found.iter().collect::<Vec<_>>(), names);
    let file = fs::read_to_string(folder.join(&trail)).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&file).unwrap(), trail_policy());
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_levelset"));
    let printed = command.args(["iam-policy", "cloudtrail"]).env_clear().output().unwrap().stdout;
    assert_eq!(String::from_utf8(printed).unwrap(), file);
    for (name, kinds) in &expected {
        let kind = name.trim_end_matches(".json").replace("all", "");
        let file: Value =
            serde_json::from_str(&fs::read_to_string(folder.join(name)).unwrap()).unwrap();
        assert_eq!(
            file,
            policy(kinds),
            "write it anew: levelset iam-policy {kind} > deploy/iam/{name}"
        );
    }
}

fn scope() -> Scope {
    Scope { account: AccountId::new("111122223333"), region: Region::new("eu-west-1") }
}

/// Makes a role that has the policy of a kind, and returns the door of whoever took it on.
fn door_of(sandbox: &Sandbox, kind: &dyn Kind) -> Sandbox {
    let name = kind.name().to_string();
    let trust = json!({"Statement": {"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"},
        "Action": "sts:AssumeRole"}});
    let ask = |call: Call| sandbox.ask(&scope(), &call).unwrap();
    let role = |operation| Call::new("iam", operation).with("RoleName", name.as_str());
    ask(role("CreateRole").with("AssumeRolePolicyDocument", trust.to_string()));
    let document = policy(&[kind]).to_string();
    ask(role("PutRolePolicy").with("PolicyName", "levelset").with("PolicyDocument", document));
    let arn = format!("arn:aws:iam::{}:role/{name}", scope().account);
    let assume =
        Call::new("sts", "AssumeRole").with("RoleArn", arn).with("RoleSessionName", "levelset");
    let credentials = ask(assume)["Credentials"].clone();
    sandbox.door(credentials["AccessKeyId"].as_str().unwrap())
}

#[tokio::test]
async fn the_credentials_of_a_kind_read_its_lists_and_are_refused_elsewhere() {
    let settings = Settings { enforce_policies: true, ..Settings::fast(5) };
    let sandbox = Sandbox::new(Arc::new(SystemClock), settings);
    let first_list = |kind: &dyn Kind| {
        let Some(list) = kind.lists().first() else {
            return Call::new("cloudformation", "DescribeType")
                .with("Type", "RESOURCE")
                .with("TypeName", "AWS::SQS::Queue");
        };
        let call = Call::new(kind.service(), list.operation);
        match list.only {
            Some((parameter, values)) => call.with(parameter, values),
            None => call,
        }
    };
    let mut refused = Vec::new();
    for own in kinds::all() {
        let door = door_of(&sandbox, *own);
        let actions: Vec<&str> = own
            .permissions()
            .iter()
            .flat_map(|permission| permission.grants)
            .flat_map(|grant| grant.actions.iter().copied())
            .collect();
        for other in kinds::all() {
            let target = Target { scope: scope(), kind: other.name(), cause: Cause::List };
            let call = first_list(*other);
            let answer = door.call(&target, &call).await;
            let action = format!("{}:{}", call.service, action_of(&call.operation));
            if actions.contains(&action.as_str()) {
                assert!(answer.is_ok(), "{} calls {call}: {answer:?}", own.name());
                continue;
            }
            let error = answer.unwrap_err();
            assert_eq!(error.class, ErrorClass::Denied, "{} calls {call}: {error}", own.name());
            refused.push((own.name().to_string(), call.to_string()));
        }
    }
    for elsewhere in ["iam:GetAccountAuthorizationDetails", "ec2:DescribeVpcs"] {
        let of_databases = ("db_instance".to_owned(), elsewhere.to_owned());
        assert!(refused.contains(&of_databases), "{refused:?}");
    }
}
