//! The life of a role on two emulators.

use levelset::kinds::iam_role;
use levelset::kinds::iam_role::spec::{Iam, Placement as RolePlacement, resources};
use levelset::model::ErrorClass::{AlreadyExists, NotFound};
use levelset::model::{Cause, Observation};

use super::*;
use crate::support::emulators::{ministack, moto};

/// Returns a role as its manifest declares it.
fn declared(scope: &Scope, workspace: &str, more: &Value) -> Bound {
    let mut role = json!({"trust": {"services": ["ecs-tasks.amazonaws.com"]}, "inline": {}});
    role.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let iam: Iam = serde_json::from_value(json!({"roles": {"api": role}})).unwrap();
    let placement = RolePlacement {
        environment: scope,
        workspace,
        owner: "test/Workspace/a",
        database: None,
        adopt: false,
    };
    let resource = resources(&iam, &placement).remove(0);
    let known = |(field, input)| match input {
        Input::Known(value) | Input::Template { value, .. } => (field, value),
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

/// Makes a managed policy, which no kind does, and returns its ARN.
async fn managed_policy(url: &Url, key: &str, name: &str) -> String {
    let credential = format!(
        "AWS4-HMAC-SHA256 Credential={key}/20261129/us-east-1/iam/aws4_request, \
         SignedHeaders=host, Signature=0"
    );
    let statement = json!({"Effect": "Allow", "Action": "s3:ListBucket", "Resource": "*"});
    let document = json!({"Version": "2012-10-17", "Statement": [statement]}).to_string();
    let form = [
        ("Action", "CreatePolicy"),
        ("Version", "2010-05-08"),
        ("PolicyName", name),
        ("PolicyDocument", &document),
    ];
    let request =
        reqwest::Client::new().post(url.clone()).header("Authorization", credential).form(&form);
    let answer = request.send().await.unwrap().text().await.unwrap();
    let (_, rest) = answer.split_once("<Arn>").unwrap_or_else(|| panic!("{answer}"));
    rest.split_once('<').unwrap().0.to_owned()
}

/// Takes a role through its life at an emulator; `text` is what its XML is able to carry.
async fn a_role_lives(url: &Url, number: &str, key: &str, text: &str) {
    let account = account_at(url, number, "eu-west-1", key);
    let workspace = "wire";
    let agent = Agent::of(account.clone(), &iam_role::KIND);
    let first = managed_policy(url, key, "levelset-first").await;
    let second = managed_policy(url, key, "levelset-second").await;
    let more = json!({"description": "before", "maxSessionDurationSeconds": 7200,
        "tags": {"team": "a"}, "policies": [first]});
    let desired = declared(&account.scope, workspace, &more);
    assert_eq!(agent.look(&desired).await, Observation::Absent);
    agent.send(&desired, iam_role::KIND.create(&desired)).await;
    assert_eq!(agent.mend(&desired).await, [""; 0], "what was made is what is declared");
    let actual = agent.present(&desired).await;
    assert_eq!(actual.tags.as_ref().unwrap()["levelset:owner"], "test/Workspace/a");
    assert!(actual.member("AssumeRolePolicyDocument").unwrap().is_object());

    let statement =
        json!({"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::é/*"});
    let more = json!({"description": text, "maxSessionDurationSeconds": 3600,
        "tags": {"team": "b"}, "policies": [second],
        "inline": {"bucket": {"Version": "2012-10-17", "Statement": statement}},
        "trust": {"accounts": ["210987654321"]}});
    let desired = declared(&account.scope, workspace, &more);
    let expected = [
        "UpdateAssumeRolePolicy",
        "AttachRolePolicy",
        "DetachRolePolicy",
        "PutRolePolicy",
        "UpdateRole",
        "TagRole",
    ];
    assert_eq!(agent.mend(&desired).await, expected);
    assert_eq!(agent.mend(&desired).await, [""; 0], "what was changed is what is declared");

    let target =
        Target { scope: desired.id.scope.clone(), kind: iam_role::NAME, cause: Cause::List };
    let again = iam_role::KIND.create(&desired).remove(0);
    let error = agent.cloud.call(&target, &again).await.unwrap_err();
    assert_eq!((error.class, &*error.code), (AlreadyExists, "EntityAlreadyExists"));
    let other = Call::new("iam", "GetRole").with("RoleName", "nobody");
    let error = agent.cloud.call(&target, &other).await.unwrap_err();
    assert_eq!((error.class, &*error.code), (NotFound, "NoSuchEntity"));
}

#[tokio::test]
async fn a_role_lives_on_moto() {
    a_role_lives(&moto().url, MOTO_ACCOUNT, "test", "after, & <more>").await;
}

#[tokio::test]
async fn a_role_lives_on_ministack() {
    // ministack writes `&` and `<` into its XML as they are, which no reader takes.
    let account = "100000000077";
    a_role_lives(&ministack().url, account, account, "after").await;
}

/// The environments agree on the role, so either of them may reach what both have.
#[tokio::test]
async fn two_regions_of_an_account_have_the_same_roles() {
    let regions = ["eu-west-1", "us-west-2"];
    let accounts: Vec<Account> =
        regions.map(|region| account_at(&moto().url, MOTO_ACCOUNT, region, "test")).into();
    let homes: Vec<Scope> =
        accounts.iter().map(|account| iam_role::KIND.home(&account.scope)).collect();
    assert_eq!(homes[0], homes[1]);
    let cloud = Aws::new(
        Accounts { accounts: accounts.clone(), timeouts: Timeouts::default() },
        Arc::new(WallClock),
    );
    let target = Target { scope: homes[0].clone(), kind: iam_role::NAME, cause: Cause::List };
    let list = Call::new("iam", "ListRoles");
    assert!(cloud.call(&target, &list).await.unwrap()["Roles"].is_array());

    let mut apart = accounts;
    let role = |name: &str| levelset::aws::Role {
        arn: format!("arn:aws:iam::{MOTO_ACCOUNT}:role/{name}"),
        external_id: None,
        session_name: "levelset".to_owned(),
    };
    for (account, name) in apart.iter_mut().zip(["one", "other"]) {
        account.role = Some(role(name));
    }
    let ask = async |accounts: &[Account]| {
        let accounts = Accounts { accounts: accounts.to_vec(), timeouts: Timeouts::default() };
        Aws::new(accounts, Arc::new(WallClock)).call(&target, &list).await
    };
    let error = ask(&apart).await.unwrap_err();
    assert_eq!((error.class, &*error.code), (levelset::model::ErrorClass::Denied, "AmbiguousRole"));
    for account in &mut apart {
        account.roles.insert("iam".to_owned(), role("roles"));
    }
    assert!(ask(&apart).await.is_ok());
}
