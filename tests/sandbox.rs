//! The sandbox's HTTP door, driven by clients that nobody here wrote: boto3 and the AWS SDK.

use std::sync::Arc;
use std::time::Duration;

use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use levelset::aws::{Account, Accounts, Aws, Endpoints, Role};
use levelset::cli::clock::SystemClock;
use levelset::kinds;
use levelset::model::{AccountId, Call, Cause, Cloud, ErrorClass, KindName, Region, Scope, Target};
use levelset::sandbox::faults::{Effect, Rule};
use levelset::sandbox::{Sandbox, Settings, http};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use url::Url;

use crate::support::python;

fn scope() -> Scope {
    Scope { account: AccountId::new("111122223333"), region: Region::new("eu-west-1") }
}

/// Serves a sandbox on a free port while boto3 plays a scenario, then stops it in order.
async fn play(scenario: &str, prepare: impl FnOnce(&Sandbox)) {
    play_with(Settings::fast(11), scenario, prepare).await;
}

async fn play_with(settings: Settings, scenario: &str, prepare: impl FnOnce(&Sandbox)) {
    let sandbox = Sandbox::new(Arc::new(SystemClock), settings);
    prepare(&sandbox);
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let (stop, stopped) = oneshot::channel::<()>();
    let server = http::serve(sandbox, listener, async {
        let _ = stopped.await;
    });
    let client = async {
        python::run("sandbox_boto3.py", &[&endpoint, scenario]).await;
        stop.send(()).unwrap();
    };
    let (served, ()) = tokio::join!(server, client);
    served.unwrap();
}

#[tokio::test]
async fn boto3_takes_an_instance_through_its_whole_life() {
    play("life", |_| {}).await;
}

#[tokio::test]
async fn boto3_pages_through_more_instances_than_fit_an_answer() {
    play("pages", |_| {}).await;
}

#[tokio::test]
async fn boto3_manages_subnet_groups_and_parameter_groups() {
    play("groups", |sandbox| {
        sandbox.seed_vpc(&scope(), "shared", "10.0.0.0/16", &["a", "b"]);
    })
    .await;
}

#[tokio::test]
async fn boto3_takes_an_aurora_cluster_through_its_whole_life() {
    play("aurora", |_| {}).await;
}

#[tokio::test]
async fn boto3_recognises_every_error_as_its_own_class() {
    let mut settings = Settings::fast(11);
    // Long enough to be met with, on the slowest machine.
    settings.durations.deleting = Duration::from_secs(3600);
    play_with(settings, "errors", |_| {}).await;
}

#[tokio::test]
async fn boto3_assumes_roles_and_finds_networks() {
    play("identities", |sandbox| {
        sandbox.seed_vpc(&scope(), "shared", "10.0.0.0/16", &["a", "b"]);
    })
    .await;
}

#[tokio::test]
async fn boto3_lets_traffic_into_security_groups_and_shuts_it_out() {
    play("security_groups", |sandbox| {
        sandbox.seed_vpc(&scope(), "shared", "10.0.0.0/16", &["a", "b"]);
    })
    .await;
}

#[tokio::test]
async fn boto3_meets_lost_answers_throttling_and_faults() {
    play("faults", |sandbox| {
        let inject = |effect, key| Rule::new(effect).by(key);
        sandbox.inject(inject(Effect::LoseAnswer, "555566667777").operation("Modify*").times(1));
        sandbox.inject(inject(Effect::Throttle, "666677778888"));
        sandbox.inject(inject(Effect::Throttle, "777788889999").times(1));
        sandbox.inject(inject(Effect::Deny, "888899990000"));
        sandbox.inject(inject(Effect::ServerErrorAfter, "999900001111"));
    })
    .await;
}

/// One model, two doors: what a caller gets through the SDK and what it gets in process.
struct Doors {
    sandbox: Sandbox,
    sdk: Aws,
}

impl Doors {
    /// Makes a read through both doors and expects one answer, or one error.
    async fn same(&self, kind: KindName, call: Call) {
        let target = Target { scope: scope(), kind, cause: Cause::List };
        let over_http = self.sdk.call(&target, &call).await;
        let in_process = self.sandbox.call(&target, &call).await;
        assert_eq!(over_http, in_process, "{call}");
    }

    async fn write(&self, kind: KindName, call: Call) {
        let target = Target { scope: scope(), kind, cause: Cause::List };
        self.sdk.call(&target, &call).await.unwrap();
    }
}

/// Describes an instance that uses most of what can be said about one.
fn rich_instance() -> Call {
    Call::new("rds", "CreateDBInstance")
        .with("DBInstanceIdentifier", "orders")
        .with("DBInstanceClass", "db.r6g.large")
        .with("Engine", "postgres")
        .with("EngineVersion", "15")
        .with("AllocatedStorage", 500)
        .with("Iops", 12000)
        .with("MaxAllocatedStorage", 1000)
        .with("MasterUsername", "app")
        .with("ManageMasterUserPassword", true)
        .with("StorageEncrypted", true)
        .with("DBSubnetGroupName", "net")
        .with("DBParameterGroupName", "params")
        .with("EnablePerformanceInsights", true)
        .with("EnableCloudwatchLogsExports", json!(["postgresql"]))
        .with("Tags", json!([{"Key": "levelset:owner", "Value": "main/Workspace/a&b <c>"}]))
}

async fn fill(doors: &Doors) {
    let vpc = doors.sandbox.seed_vpc(&scope(), "shared", "10.0.0.0/16", &["a", "b"]);
    let net = Call::new("rds", "CreateDBSubnetGroup")
        .with("DBSubnetGroupName", "net")
        .with("DBSubnetGroupDescription", "x")
        .with("SubnetIds", vpc.subnet_ids);
    doors.write(kinds::db_subnet_group::NAME, net).await;
    let group = Call::new("rds", "CreateDBParameterGroup")
        .with("DBParameterGroupName", "params")
        .with("DBParameterGroupFamily", "postgres15")
        .with("Description", "x");
    doors.write(kinds::db_parameter_group::NAME, group).await;
    let set = json!([
        {"ParameterName": "work_mem", "ParameterValue": "8192", "ApplyMethod": "immediate"},
    ]);
    let modify = Call::new("rds", "ModifyDBParameterGroup")
        .with("DBParameterGroupName", "params")
        .with("Parameters", set);
    doors.write(kinds::db_parameter_group::NAME, modify).await;
    doors.write(kinds::db_instance::NAME, rich_instance()).await;
}

async fn compare(doors: &Doors) {
    let (instance, params, net, vpc) = (
        kinds::db_instance::NAME,
        kinds::db_parameter_group::NAME,
        kinds::db_subnet_group::NAME,
        kinds::vpc::NAME,
    );
    let rds = |operation| Call::new("rds", operation);
    doors.same(instance.clone(), rds("DescribeDBInstances").with("MaxRecords", 100)).await;
    let missing = rds("DescribeDBInstances").with("DBInstanceIdentifier", "missing");
    doors.same(instance.clone(), missing).await;
    doors.same(instance.clone(), rds("DescribeDBInstances").with("MaxRecords", 5)).await;
    let nothing = rds("ModifyDBInstance").with("DBInstanceIdentifier", "orders");
    doors.same(instance.clone(), nothing.clone()).await;
    doors.same(instance.clone(), nothing.with("AllocatedStorage", 20)).await;
    doors.same(instance, rich_instance()).await;
    doors.same(net.clone(), rds("DescribeDBSubnetGroups")).await;
    doors.same(net, rds("DescribeDBSubnetGroups").with("DBSubnetGroupName", "no")).await;
    doors.same(params.clone(), rds("DescribeDBParameterGroups")).await;
    let list = rds("DescribeDBParameters").with("DBParameterGroupName", "params");
    doors.same(params.clone(), list).await;
    let no = rds("DescribeDBParameters").with("DBParameterGroupName", "no");
    doors.same(params, no).await;
    doors.same(vpc.clone(), Call::new("ec2", "DescribeVpcs")).await;
    let by_name = json!([{"Name": "tag:Name", "Values": ["shared*"]}]);
    doors.same(vpc.clone(), Call::new("ec2", "DescribeSubnets").with("Filters", by_name)).await;
    let absent = Call::new("ec2", "DescribeVpcs").with("VpcIds", json!(["vpc-0"]));
    doors.same(vpc, absent).await;
}

/// Every fault looks the same through both doors.
async fn compare_faults(doors: &Doors) {
    for effect in [
        Effect::LoseAnswer,
        Effect::LoseRequest,
        Effect::Throttle,
        Effect::Deny,
        Effect::ServerError,
        Effect::ServerErrorAfter,
    ] {
        doors.sandbox.clear_faults();
        doors.sandbox.inject(Rule::new(effect));
        for operation in ["DescribeDBInstances", "ModifyDBInstance"] {
            let call = Call::new("rds", operation).with("DBInstanceIdentifier", "orders");
            let target =
                Target { scope: scope(), kind: kinds::db_instance::NAME, cause: Cause::List };
            let over_http = doors.sdk.call(&target, &call).await.unwrap_err();
            let in_process = doors.sandbox.call(&target, &call).await.unwrap_err();
            assert_eq!(
                (over_http.class, over_http.code),
                (in_process.class, in_process.code),
                "{effect:?} {operation}"
            );
        }
    }
}

/// A role that uses most of what can be said about one.
async fn compare_roles(doors: &Doors) {
    let trust = json!({"Version": "2012-10-17", "Statement": [{
        "Effect": "Allow", "Principal": {"Service": "a.amazonaws.com"}, "Action": "sts:AssumeRole",
        "Condition": {"StringLike": {"a:b": "é + & <%>"}},
    }]});
    let iam = |operation| Call::new("iam", operation);
    let role = |operation| iam(operation).with("RoleName", "api");
    let create = role("CreateRole")
        .with("AssumeRolePolicyDocument", trust.to_string())
        .with("PermissionsBoundary", "arn:aws:iam::111122223333:policy/b")
        .with("Description", "x")
        .with("Tags", json!([{"Key": "levelset:owner", "Value": "main/Workspace/a&b <c>"}]));
    let rights = json!({"Statement": {"Effect": "Allow", "Action": "a:*", "Resource": "*"}});
    let put =
        role("PutRolePolicy").with("PolicyName", "p").with("PolicyDocument", rights.to_string());
    let attach = role("AttachRolePolicy").with("PolicyArn", "arn:aws:iam::aws:policy/A");
    for call in [create, put, attach] {
        doors.write(kinds::iam_role::NAME, call).await;
    }
    // A new role spreads for ten milliseconds here.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let details = iam("GetAccountAuthorizationDetails").with("Filter", json!(["Role"]));
    let missing = iam("GetRole").with("RoleName", "missing");
    let reads = [role("GetRole"), iam("ListRoles"), role("ListRoleTags"), details, missing];
    for call in reads {
        doors.same(kinds::iam_role::NAME, call).await;
    }
    doors.same(kinds::iam_role::NAME, role("PutRolePolicy").with("PolicyName", "q")).await;
}

/// Serves a sandbox while `play` uses it through the SDK, in the account of [`scope`].
async fn with_sdk(
    sandbox: Sandbox,
    account: impl FnOnce(Account) -> Account,
    play: impl AsyncFnOnce(&Doors),
) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let endpoint = Url::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
    let key = Credentials::new("111122223333", "any", None, None, "test");
    let account = account(Account {
        endpoints: Endpoints::all(endpoint),
        credentials: Some(SharedCredentialsProvider::new(key)),
        ..Account::new(scope())
    });
    let accounts = Accounts { accounts: vec![account], ..Accounts::default() };
    let doors = Doors { sandbox: sandbox.clone(), sdk: Aws::new(accounts, Arc::new(SystemClock)) };
    let (stop, stopped) = oneshot::channel::<()>();
    let server = http::serve(sandbox, listener, async {
        let _ = stopped.await;
    });
    let client = async {
        play(&doors).await;
        drop(doors);
        stop.send(()).unwrap();
    };
    let (served, ()) = tokio::join!(server, client);
    served.unwrap();
}

#[tokio::test]
async fn the_real_sdk_gets_what_a_caller_in_process_gets() {
    let mut settings = Settings::fast(3);
    // The instance does not change between the two reads that are compared.
    settings.durations.creating = Duration::from_secs(3600);
    let sandbox = Sandbox::new(Arc::new(SystemClock), settings);
    with_sdk(
        sandbox,
        |account| account,
        async |doors| {
            fill(doors).await;
            compare(doors).await;
            compare_roles(doors).await;
            compare_faults(doors).await;
        },
    )
    .await;
}

#[tokio::test]
async fn a_kind_whose_role_is_refused_is_denied_and_the_others_go_on() {
    let sandbox = Sandbox::new(Arc::new(SystemClock), Settings::fast(3));
    sandbox.inject(Rule::new(Effect::Deny).operation("AssumeRole"));
    let role = Role {
        arn: "arn:aws:iam::111122223333:role/roles".to_owned(),
        external_id: None,
        session_name: "levelset".to_owned(),
    };
    let with_role = |account| Account { roles: [("iam".to_owned(), role)].into(), ..account };
    with_sdk(sandbox, with_role, async |doors| {
        let ask = async |kind, call: Call| {
            doors.sdk.call(&Target { scope: scope(), kind, cause: Cause::List }, &call).await
        };
        let roles = ask(kinds::iam_role::NAME, Call::new("iam", "ListRoles")).await;
        let error = roles.unwrap_err();
        assert_eq!((error.class, &*error.code), (ErrorClass::Denied, "AccessDenied"), "{error}");
        let databases = Call::new("rds", "DescribeDBInstances");
        assert!(ask(kinds::db_instance::NAME, databases).await.is_ok());
    })
    .await;
}
