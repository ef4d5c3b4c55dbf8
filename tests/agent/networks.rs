//! A network with a VPC of its own, from nothing to nothing.

use std::time::Duration;

use levelset::aws::Budgets;
use levelset::model::{Call, Key, ObjectKind};
use levelset::sandbox::Settings;
use levelset::sandbox::faults::{Effect, Rule};
use serde_json::{Value, json};

use super::stage::{Stage, network, scope, workspace};

/// A database is made in 5 to 10 minutes, and then backed up.
const LONG: Duration = Duration::from_secs(3600);

/// Lets time pass until something holds, in steps that leave the EC2 API its rate; a deletion waits for an
/// hour.
async fn patiently(holds: impl AsyncFn() -> bool) {
    for _ in 0..1000 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_secs(10)).await;
    }
    panic!("it did not come about");
}

const SUBNETS: &str = "{a: {zone: a, cidr: 10.20.1.0/24, mapPublicIp: false}, \
    b: {zone: b, cidr: 10.20.2.0/24}}";

fn own(subnets: &str) -> String {
    let spec = format!("  vpc: {{cidr: 10.20.0.0/16, dnsHostnames: true, subnets: {subnets}}}\n");
    network("shop") + &spec + "  reconcilePolicy: {deletion: delete, resyncIntervalSeconds: 60}\n"
}

fn in_shop() -> String {
    workspace("orders", "")
        .replace("vpcRef: core", "vpcRef: shop, ingress: [{port: 5432, self: true}]")
}

fn shop() -> Key {
    Key::new(ObjectKind::Network, "shop")
}

fn console(stage: &Stage, operation: &'static str, params: Value) -> Value {
    let mut call = Call::new("ec2", operation);
    call.params = params.as_object().unwrap().clone();
    stage.sandbox.door("console").ask(&scope(), &call).unwrap()
}

/// Lists what the VPCs or subnets of a name are, by the tag of Levelset.
fn ours(stage: &Stage, operation: &'static str, list: &str, name: &str) -> Vec<Value> {
    let filter = json!({"Filters": [{"Name": "tag:levelset:name", "Values": [name]}]});
    console(stage, operation, filter)[list].as_array().unwrap().clone()
}

fn vpc_id(stage: &Stage) -> Value {
    ours(stage, "DescribeVpcs", "Vpcs", "shop")[0]["VpcId"].clone()
}

#[tokio::test(start_paused = true)]
async fn everything_is_made_once_and_in_its_order_and_a_lost_answer_makes_no_second_vpc() {
    let stage = Stage::begin(Settings::real(3), Budgets::default()).await;
    for operation in ["CreateVpc", "CreateSubnet"] {
        stage.sandbox.inject(Rule::new(Effect::LoseAnswer).operation(operation).times(1));
    }
    stage.commit(&[("n.yaml", own(SUBNETS)), ("w.yaml", in_shop())]);
    stage.ready(&Key::workspace("orders"), LONG).await;
    stage.ready(&shop(), LONG).await;
    for (operation, times) in [
        ("CreateVpc", 1),
        ("CreateSubnet", 2),
        ("ModifyVpcAttribute", 1),
        ("ModifySubnetAttribute", 0),
        ("CreateDBSubnetGroup", 1),
        ("CreateSecurityGroup", 1),
        ("CreateDBInstance", 1),
    ] {
        assert_eq!(stage.calls(operation).len(), times, "{operation}");
    }
    assert_eq!(ours(&stage, "DescribeVpcs", "Vpcs", "shop").len(), 1);
    assert_eq!(stage.calls("CreateSecurityGroup")[0].params["VpcId"], vpc_id(&stage));
    let group = &stage.calls("CreateDBSubnetGroup")[0];
    assert_eq!(group.params["SubnetIds"].as_array().unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_somebody_does_in_the_console_is_taken_back_or_left() {
    let stage = Stage::begin(Settings::real(3), Budgets::default()).await;
    stage.commit(&[("n.yaml", own(SUBNETS))]);
    stage.ready(&shop(), LONG).await;
    let vpc = vpc_id(&stage);
    let subnet = ours(&stage, "DescribeSubnets", "Subnets", "shop/a")[0]["SubnetId"].clone();
    let extra =
        json!({"VpcId": vpc, "CidrBlock": "10.20.9.0/24", "AvailabilityZone": "eu-west-1c"});
    console(&stage, "CreateSubnet", extra);
    let renamed = json!([{"Key": "Name", "Value": "mine"}]);
    console(&stage, "CreateTags", json!({"Resources": [vpc, subnet], "Tags": renamed}));
    let public = json!({"SubnetId": subnet, "MapPublicIpOnLaunch": {"Value": true}});
    console(&stage, "ModifySubnetAttribute", public);
    let off = json!({"VpcId": vpc, "EnableDnsHostnames": {"Value": false}});
    console(&stage, "ModifyVpcAttribute", off);
    let is_mended = async || {
        let subnet = &ours(&stage, "DescribeSubnets", "Subnets", "shop/a")[0];
        let named = json!({"Filters": [{"Name": "tag:Name", "Values": ["shop"]}]});
        let named = console(&stage, "DescribeVpcs", named)["Vpcs"].as_array().unwrap().len();
        let read = json!({"VpcId": vpc, "Attribute": "enableDnsHostnames"});
        let dns = console(&stage, "DescribeVpcAttribute", read)["EnableDnsHostnames"].clone();
        subnet["MapPublicIpOnLaunch"] == false && named == 1 && dns["Value"] == true
    };
    patiently(is_mended).await;
    stage.ready(&shop(), LONG).await;
    assert_eq!(stage.calls("CreateVpc").len() + stage.calls("CreateSubnet").len(), 3);
    assert_eq!(stage.calls("ModifyDBSubnetGroup").len(), 0, "the new subnet carries no database");
}

#[tokio::test(start_paused = true)]
async fn a_vpc_of_its_name_that_is_not_ours_is_left_alone() {
    let stage = Stage::begin(Settings::real(3), Budgets::default()).await;
    stage.sandbox.seed_vpc(&scope(), "shop", "10.20.0.0/16", &["a"]);
    stage.commit(&[("n.yaml", own("{c: {zone: c, cidr: 10.20.7.0/24}}"))]);
    let is_refused = async || {
        let status = stage.status(&shop()).await.unwrap_or_default();
        format!("{status:?}").contains("NotOwned")
    };
    patiently(is_refused).await;
    tokio::time::sleep(Duration::from_secs(600)).await;
    for operation in ["CreateVpc", "CreateSubnet", "CreateTags", "ModifyVpcAttribute"] {
        assert_eq!(stage.calls(operation).len(), 0, "{operation}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_subnet_that_left_git_goes_after_the_group_let_it_go_and_everything_in_reverse_order() {
    let stage = Stage::begin(Settings::real(3), Budgets::default()).await;
    let three = SUBNETS.replace("}}", "}, c: {zone: c, cidr: 10.20.3.0/24}}");
    let other = ("o.yaml", network("core"));
    stage.commit(&[("n.yaml", own(&three)), other.clone()]);
    stage.ready(&shop(), LONG).await;
    stage.commit(&[("n.yaml", own(SUBNETS)), other.clone()]);
    let is_gone = async || ours(&stage, "DescribeSubnets", "Subnets", "shop/c").is_empty();
    patiently(is_gone).await;
    let (changed, deleted) =
        (&stage.calls("ModifyDBSubnetGroup")[0], &stage.calls("DeleteSubnet")[0]);
    assert!(changed.at < deleted.at);
    assert_eq!(ours(&stage, "DescribeSubnets", "Subnets", "shop/*").len(), 2);

    let vpc = vpc_id(&stage);
    let made = json!({"GroupName": "mine", "Description": "d", "VpcId": vpc});
    let group = console(&stage, "CreateSecurityGroup", made)["GroupId"].clone();
    stage.commit(&[other]);
    let is_tried = async || !stage.calls("DeleteVpc").is_empty();
    patiently(is_tried).await;
    let told = async || {
        let status = stage.status(&shop()).await.unwrap_or_default();
        format!("{status:?}").contains("DependencyViolation")
    };
    patiently(told).await;
    assert_eq!(ours(&stage, "DescribeVpcs", "Vpcs", "shop").len(), 1);
    console(&stage, "DeleteSecurityGroup", json!({ "GroupId": group }));
    let is_gone = async || ours(&stage, "DescribeVpcs", "Vpcs", "shop").is_empty();
    patiently(is_gone).await;
    let first = |operation: &str| stage.calls(operation)[0].at;
    let last = stage.calls("DeleteSubnet").last().unwrap().at;
    assert_eq!(stage.calls("DeleteSubnet").len(), 3);
    assert!(first("DeleteDBSubnetGroup") < last && last < first("DeleteVpc"));
}
