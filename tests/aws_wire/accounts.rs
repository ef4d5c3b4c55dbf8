//! Whose credentials a call carries, and what they may do.

use levelset::aws::{Asserted, Role};
use levelset::model::ErrorClass;

use super::records::zone;
use super::*;
use crate::support::emulators::{ministack, moto, own_moto, region};

fn whoami() -> Call {
    Call::new("sts", "GetCallerIdentity")
}

fn with_role(url: &Url, account: &str, region: &str, role: &str) -> Account {
    let role = Role {
        arn: role.to_owned(),
        external_id: Some("shared secret".to_owned()),
        session_name: "levelset-test".to_owned(),
    };
    Account { role: Some(role), ..account_at(url, account, region, "test") }
}

#[tokio::test]
async fn a_role_is_assumed_and_its_account_is_where_the_calls_go() {
    let (url, region) = (&moto().url, region());
    let base = Here::moto(url, region);
    let arn = "arn:aws:iam::222222222222:role/levelset";
    let account = with_role(url, "222222222222", region, arn);
    let scope = account.scope.clone();
    let there = Here { cloud: Asserted::new(aws(account, Timeouts::default())), scope };
    let identity = there.ask(whoami()).await;
    assert_eq!(identity["Account"], "222222222222");
    let expected = "arn:aws:sts::222222222222:assumed-role/levelset/levelset-test";
    assert_eq!(identity["Arn"], expected);
    there.ask(create("there")).await;
    assert_eq!(there.ask(describe("there")).await["DBInstances"][0]["Engine"], "postgres");
    assert_eq!(base.refused(describe("there")).await.code, "DBInstanceNotFound");
    // The EC2 client signs with the same role: it sees the VPC of the role's account.
    let owner = there.ask(Call::new("ec2", "DescribeVpcs")).await["Vpcs"][0]["OwnerId"].clone();
    assert_eq!(owner, "222222222222");
}

#[tokio::test]
async fn a_role_of_another_account_than_the_declared_one_does_nothing() {
    let (url, region) = (&moto().url, region());
    let account = with_role(url, "333333333333", region, "arn:aws:iam::444444444444:role/levelset");
    let scope = account.scope.clone();
    let here = Here { cloud: Asserted::new(aws(account, Timeouts::default())), scope };
    let error = here.refused(create("lost")).await;
    assert_eq!((error.class, &*error.code), (ErrorClass::Denied, "AccountMismatch"));
    assert!(error.message.contains("333333333333") && error.message.contains("444444444444"));
    let error = here.refused(rds("DescribeDBInstances")).await;
    assert_eq!(&*error.code, "AccountMismatch", "nor is the wrong account taken for the right one");
}

#[tokio::test]
async fn several_accounts_of_one_agent_do_not_see_each_other() {
    let url = &ministack().url;
    let numbers = ["200000000001", "200000000002"];
    let accounts = numbers.map(|number| account_at(url, number, "eu-west-1", number));
    let scopes = accounts.clone().map(|account| account.scope);
    let accounts = Accounts { accounts: accounts.into(), timeouts: Timeouts::default() };
    let cloud = Arc::new(Aws::new(accounts, Arc::new(WallClock)));
    for (scope, number) in scopes.iter().zip(numbers) {
        let ask = async |call: Call| cloud.call(&target(scope, &call), &call).await;
        assert_eq!(ask(whoami()).await.unwrap()["Account"], number);
        let list = ask(rds("DescribeDBInstances")).await.unwrap();
        assert_eq!(list, json!({"DBInstances": []}));
        let made = ask(create("same-name")).await.unwrap();
        let arn = made["DBInstance"]["DBInstanceArn"].as_str().unwrap().to_owned();
        assert_eq!(arn, format!("arn:aws:rds:eu-west-1:{number}:db:same-name"));
    }
}

#[tokio::test]
async fn a_scope_without_an_account_entry_is_refused_by_name() {
    let mut here = Here::moto(&moto().url, "eu-west-1");
    here.scope.account = AccountId::new("999999999999");
    let error = here.refused(rds("DescribeDBInstances")).await;
    assert_eq!((error.class, &*error.code), (ErrorClass::Invalid, "UnknownAccount"));
    assert!(error.message.contains("999999999999/eu-west-1"), "{error}");
}

/// moto checks signatures and policies here: an independent judge of the clients.
#[tokio::test]
async fn signatures_are_right_and_a_policy_decides_what_they_open() {
    let moto = own_moto();
    let actions =
        ["rds:DescribeDBInstances", "ec2:DescribeVpcs", "route53:ChangeResourceRecordSets"];
    let (key, secret) = user_who_may(&moto.url, &actions).await;
    let zone = zone(&moto.url, "test", "signed.example").await;
    let enforce = moto.url.join("/moto-api/reset-auth").unwrap();
    let answer = reqwest::Client::new().post(enforce).body("0").send().await.unwrap();
    assert!(answer.status().is_success());

    let right = user(&moto.url, &key, &secret);
    right.ask(rds("DescribeDBInstances").with("MaxRecords", 20)).await;
    let filters = json!([{"Name": "tag:Name", "Values": ["a b", "ä+/=&"]}]);
    let vpcs = right.ask(Call::new("ec2", "DescribeVpcs").with("Filters", filters)).await;
    assert_eq!(vpcs, json!({"Vpcs": []}));

    // moto takes what it read from the query of a GET for its body, so only a POST is its to judge.
    let text = json!({"Name": "t.signed.example.", "Type": "TXT", "TTL": 60,
        "ResourceRecords": [{"Value": "\"a <b> & 'c'\""}]});
    let batch = json!({"Changes": [{"Action": "CREATE", "ResourceRecordSet": text}]});
    let change = Call::new("route53", "ChangeResourceRecordSets")
        .with("HostedZoneId", zone)
        .with("ChangeBatch", batch);
    right.ask(change.clone()).await;

    for call in [create("no"), Call::new("ec2", "DescribeSubnets")] {
        let error = right.refused(call).await;
        assert_eq!(error.class, ErrorClass::Denied, "{error}");
    }
    let wrong = user(&moto.url, &key, "another secret");
    for call in [rds("DescribeDBInstances"), Call::new("ec2", "DescribeVpcs"), change] {
        let error = wrong.refused(call).await;
        assert_eq!(error.class, ErrorClass::Denied, "{error}");
    }
}

fn user(url: &Url, key: &str, secret: &str) -> Here {
    let account = Account {
        credentials: Some(SharedCredentialsProvider::new(Credentials::new(
            key, secret, None, None, "test",
        ))),
        ..account_at(url, MOTO_ACCOUNT, "us-east-1", key)
    };
    Here { scope: account.scope.clone(), cloud: aws(account, Timeouts::default()) }
}

/// Makes a user with one policy, while moto still lets everybody in; returns the access key.
async fn user_who_may(url: &Url, actions: &[&str]) -> (String, String) {
    let policy = json!({
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": actions, "Resource": "*"}],
    });
    iam(url, &[("Action", "CreateUser"), ("UserName", "u")]).await;
    let document = policy.to_string();
    iam(
        url,
        &[
            ("Action", "PutUserPolicy"),
            ("UserName", "u"),
            ("PolicyName", "p"),
            ("PolicyDocument", &document),
        ],
    )
    .await;
    let answer = iam(url, &[("Action", "CreateAccessKey"), ("UserName", "u")]).await;
    let part = |name: &str| {
        let (_, rest) = answer.split_once(&format!("<{name}>")).unwrap();
        rest.split_once('<').unwrap().0.to_owned()
    };
    (part("AccessKeyId"), part("SecretAccessKey"))
}

async fn iam(url: &Url, fields: &[(&str, &str)]) -> String {
    let credential = "AWS4-HMAC-SHA256 Credential=a/20261129/us-east-1/iam/aws4_request, \
                      SignedHeaders=host, Signature=0";
    let mut form = vec![("Version", "2010-05-08")];
    form.extend(fields);
    let request =
        reqwest::Client::new().post(url.clone()).header("Authorization", credential).form(&form);
    let answer = request.send().await.unwrap();
    assert!(answer.status().is_success(), "{}", answer.text().await.unwrap());
    answer.text().await.unwrap()
}
