//! The whole life of a subnet group, a parameter group and an instance, on two emulators.

use levelset::aws::{Budgeted, Budgets, Outcome};
use levelset::model::ErrorClass::{AlreadyExists, NotFound};

use super::*;
use crate::support::emulators::{ministack, moto, region};

#[tokio::test]
async fn vpcs_and_subnets_are_listed_as_the_aws_cli_lists_them() {
    let ministack = &ministack().url;
    let places = [Here::moto(&moto().url, region()), of_ministack(ministack, "100000000001")];
    for here in places {
        let vpcs = here.ask(Call::new("ec2", "DescribeVpcs")).await;
        let vpc = vpcs["Vpcs"][0].as_object().unwrap();
        assert_eq!(vpc["CidrBlock"], "172.31.0.0/16");
        assert_eq!(vpc["IsDefault"], true);
        assert!(vpc["VpcId"].as_str().unwrap().starts_with("vpc-"));
        let filters = json!([{"Name": "vpc-id", "Values": [vpc["VpcId"]]}]);
        let subnets = here.ask(Call::new("ec2", "DescribeSubnets").with("Filters", filters)).await;
        let subnet = &subnets["Subnets"][0];
        assert_eq!(subnet["VpcId"], vpc["VpcId"]);
        assert!(subnet["AvailableIpAddressCount"].as_i64().unwrap() > 1_000, "{subnet}");
        assert_eq!(subnet["AvailabilityZone"], format!("{}a", here.scope.region));
        let none = json!([{"Name": "vpc-id", "Values": ["vpc-0"]}]);
        let subnets = here.ask(Call::new("ec2", "DescribeSubnets").with("Filters", none)).await;
        assert_eq!(subnets, json!({"Subnets": []}));
    }
}

#[tokio::test]
async fn a_database_lives_from_its_groups_to_its_deletion_on_moto() {
    let here = Here::moto(&moto().url, region());
    let subnets = subnets(&here).await;
    make_subnet_group(&here, &subnets, "by a test, & <more>").await;
    // moto loses a subnet group when it is modified, and has no ResetDBParameterGroup: both are
    // looked at on ministack.
    make_parameter_group(&here).await;
    make_instance(&here).await;
    let modified = modify_instance(&here).await;
    // moto applies every change at once, whatever ApplyImmediately says.
    assert_eq!(modified["AllocatedStorage"], 30);
    assert_eq!(modified["BackupRetentionPeriod"], 7);
    tags_come_and_go(&here).await;
    delete_and_restore(&here).await;
    remove_groups(&here).await;
}

#[tokio::test]
async fn a_database_lives_from_its_groups_to_its_deletion_on_ministack() {
    let here = of_ministack(&ministack().url, "100000000002");
    let subnets = subnets(&here).await;
    // ministack writes `&` and `<` into its XML as they are, which no reader takes.
    make_subnet_group(&here, &subnets, "by a test").await;
    let call = rds("ModifyDBSubnetGroup")
        .with("DBSubnetGroupName", "g")
        .with("SubnetIds", json!(subnets[..3]));
    here.ask(call).await;
    assert_eq!(subnet_ids(&here).await, subnets[..3]);
    make_parameter_group(&here).await;
    let reset = rds("ResetDBParameterGroup")
        .with("DBParameterGroupName", "p")
        .with("Parameters", json!([{"ParameterName": "work_mem", "ApplyMethod": "immediate"}]));
    assert_eq!(here.ask(reset).await, json!({"DBParameterGroupName": "p"}));
    make_instance(&here).await;
    let modified = modify_instance(&here).await;
    // ministack queues the change, as AWS does without ApplyImmediately.
    assert_eq!(modified["AllocatedStorage"], 20);
    assert_eq!(modified["PendingModifiedValues"]["AllocatedStorage"], 30);
    tags_come_and_go(&here).await;
    delete_and_restore(&here).await;
    remove_groups(&here).await;
}

/// Five calls, as AWS's largest page is 100: what a pass over 500 databases costs.
#[tokio::test]
async fn a_listing_of_five_hundred_instances_is_five_calls() {
    let moto = Here::moto(&moto().url, region());
    // One after the other: moto's bookkeeping of managed passwords fails under concurrent creates.
    for number in 0..500 {
        moto.ask(create(&format!("db-{number:03}"))).await;
    }
    let here = Here { cloud: Budgeted::new(moto.cloud, Budgets::default()), scope: moto.scope };
    let mut names = Vec::new();
    let mut next = rds("DescribeDBInstances").with("MaxRecords", 100);
    loop {
        let page = here.ask(next.clone()).await;
        let instances = page["DBInstances"].as_array().unwrap();
        names.extend(instances.iter().map(|one| one["DBInstanceIdentifier"].to_string()));
        let Some(marker) = page.get("Marker") else { break };
        next = next.with("Marker", marker.clone());
    }
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 500);
    let ledger = here.cloud.take_ledger();
    assert_eq!(ledger.len(), 1);
    assert_eq!((ledger[0].outcome, ledger[0].calls), (Outcome::Accepted, 5));
}

fn of_ministack(url: &Url, account: &str) -> Here {
    let account = account_at(url, account, "eu-west-1", account);
    Here { scope: account.scope.clone(), cloud: aws(account, Timeouts::default()) }
}

async fn subnets(here: &Here) -> Vec<Value> {
    let answer = here.ask(Call::new("ec2", "DescribeSubnets")).await;
    let subnets = answer["Subnets"].as_array().unwrap();
    subnets.iter().map(|subnet| subnet["SubnetId"].clone()).collect()
}

async fn subnet_ids(here: &Here) -> Vec<Value> {
    let call = rds("DescribeDBSubnetGroups").with("DBSubnetGroupName", "g");
    let answer = here.ask(call).await;
    let subnets = answer["DBSubnetGroups"][0]["Subnets"].as_array().unwrap().clone();
    subnets.iter().map(|subnet| subnet["SubnetIdentifier"].clone()).collect()
}

async fn make_subnet_group(here: &Here, subnets: &[Value], description: &str) {
    let missing = here.refused(rds("DescribeDBSubnetGroups").with("DBSubnetGroupName", "g")).await;
    assert_eq!((missing.class, &*missing.code), (NotFound, "DBSubnetGroupNotFoundFault"));
    let call = rds("CreateDBSubnetGroup")
        .with("DBSubnetGroupName", "g")
        .with("DBSubnetGroupDescription", description)
        .with("SubnetIds", json!(subnets[..2]))
        .with("Tags", json!([{"Key": "team", "Value": "payments"}]));
    let made = here.ask(call).await;
    let group = &made["DBSubnetGroup"];
    assert_eq!(group["DBSubnetGroupDescription"], description);
    assert!(group["VpcId"].as_str().unwrap().starts_with("vpc-"));
    assert_eq!(subnet_ids(here).await, subnets[..2]);
    let arn = group["DBSubnetGroupArn"].clone();
    let tags = here.ask(rds("ListTagsForResource").with("ResourceName", arn)).await;
    assert_eq!(tags, json!({"TagList": [{"Key": "team", "Value": "payments"}]}));
}

async fn make_parameter_group(here: &Here) {
    let call = rds("CreateDBParameterGroup")
        .with("DBParameterGroupName", "p")
        .with("DBParameterGroupFamily", "postgres15")
        .with("Description", "by a test");
    let made = here.ask(call).await;
    assert_eq!(made["DBParameterGroup"]["DBParameterGroupFamily"], "postgres15");
    let call = rds("ModifyDBParameterGroup").with("DBParameterGroupName", "p").with(
        "Parameters",
        json!([
            {"ParameterName": "work_mem", "ParameterValue": "65536", "ApplyMethod": "immediate"},
            {"ParameterName": "max_connections", "ParameterValue": "200",
             "ApplyMethod": "pending-reboot"},
        ]),
    );
    assert_eq!(here.ask(call).await, json!({"DBParameterGroupName": "p"}));
    let answer = here.ask(rds("DescribeDBParameters").with("DBParameterGroupName", "p")).await;
    let parameters = answer["Parameters"].as_array().unwrap();
    let value = |name: &str| {
        let found = parameters.iter().find(|parameter| parameter["ParameterName"] == name);
        found.map(|parameter| parameter["ParameterValue"].clone())
    };
    assert_eq!(value("work_mem"), Some(json!("65536")));
    assert_eq!(value("max_connections"), Some(json!("200")));
}

async fn make_instance(here: &Here) {
    let missing = here.refused(describe("one")).await;
    assert_eq!((missing.class, &*missing.code), (NotFound, "DBInstanceNotFound"));
    let call = create("one")
        .with("DBSubnetGroupName", "g")
        .with("DBParameterGroupName", "p")
        .with("BackupRetentionPeriod", 3)
        .with("StorageEncrypted", true)
        .with("EnableCloudwatchLogsExports", json!(["postgresql"]));
    let made = here.ask(call).await;
    assert_eq!(made["DBInstance"]["DBInstanceIdentifier"], "one");
    let again = here.refused(create("one")).await;
    assert_eq!((again.class, &*again.code), (AlreadyExists, "DBInstanceAlreadyExists"));
    let instance = the_instance(here).await;
    let owner = json!({"Key": "levelset:owner", "Value": "test/Workspace/a"});
    assert_eq!(instance["TagList"], json!([owner]));
    assert_eq!(instance["DBSubnetGroup"]["DBSubnetGroupName"], "g");
    assert_eq!(instance["DBParameterGroups"][0]["DBParameterGroupName"], "p");
    assert_eq!(instance["StorageEncrypted"], true);
    assert_eq!(instance["BackupRetentionPeriod"], 3);
    let born = instance["InstanceCreateTime"].as_str().unwrap();
    assert!(born.parse::<Timestamp>().is_ok() && born.ends_with("+00:00"), "{born}");
    assert!(!instance.as_object().unwrap().values().any(Value::is_null), "{instance}");
}

async fn the_instance(here: &Here) -> Value {
    let answer = here.ask(describe("one")).await;
    assert_eq!(answer["DBInstances"].as_array().unwrap().len(), 1);
    answer["DBInstances"][0].clone()
}

async fn modify_instance(here: &Here) -> Value {
    let call = rds("ModifyDBInstance")
        .with("DBInstanceIdentifier", "one")
        .with("AllocatedStorage", 30)
        .with("BackupRetentionPeriod", 7);
    here.ask(call).await;
    the_instance(here).await
}

async fn tags_come_and_go(here: &Here) {
    let arn = the_instance(here).await["DBInstanceArn"].clone();
    let add = rds("AddTagsToResource")
        .with("ResourceName", arn.clone())
        .with("Tags", json!([{"Key": "cost", "Value": "42"}, {"Key": "empty", "Value": ""}]));
    assert_eq!(here.ask(add).await, json!({}));
    let remove = rds("RemoveTagsFromResource")
        .with("ResourceName", arn.clone())
        .with("TagKeys", json!(["levelset:owner"]));
    here.ask(remove).await;
    let tags = here.ask(rds("ListTagsForResource").with("ResourceName", arn)).await;
    let expected = json!([{"Key": "cost", "Value": "42"}, {"Key": "empty", "Value": ""}]);
    assert_eq!(tags["TagList"], expected);
}

async fn delete_and_restore(here: &Here) {
    let call = rds("DeleteDBInstance")
        .with("DBInstanceIdentifier", "one")
        .with("FinalDBSnapshotIdentifier", "last");
    here.ask(call).await;
    assert_eq!(here.refused(describe("one")).await.code, "DBInstanceNotFound");
    let call = rds("RestoreDBInstanceFromDBSnapshot")
        .with("DBInstanceIdentifier", "one")
        .with("DBSnapshotIdentifier", "last")
        .with("DBInstanceClass", "db.t4g.micro");
    let restored = here.ask(call).await;
    assert_eq!(restored["DBInstance"]["Engine"], "postgres");
    let call =
        rds("DeleteDBInstance").with("DBInstanceIdentifier", "one").with("SkipFinalSnapshot", true);
    here.ask(call).await;
}

async fn remove_groups(here: &Here) {
    here.ask(rds("DeleteDBSubnetGroup").with("DBSubnetGroupName", "g")).await;
    here.ask(rds("DeleteDBParameterGroup").with("DBParameterGroupName", "p")).await;
    let missing = here.refused(rds("DeleteDBSubnetGroup").with("DBSubnetGroupName", "g")).await;
    assert_eq!(missing.class, NotFound, "{missing}");
}
