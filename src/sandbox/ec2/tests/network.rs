//! What EC2 does with VPCs and subnets, and what it refuses.

use super::*;

/// Tells the time that it is set to.
#[derive(Default)]
struct Hand(std::sync::atomic::AtomicI64);

impl Clock for Hand {
    fn now(&self) -> jiff::Timestamp {
        let second = self.0.load(std::sync::atomic::Ordering::Relaxed);
        jiff::Timestamp::from_second(1_796_000_000 + second).unwrap()
    }
}

fn lab() -> (Lab, Arc<Hand>) {
    let clock = Arc::new(Hand::default());
    let cloud = Sandbox::new(clock.clone(), Settings::real(7));
    (Lab { cloud, vpc: String::new() }, clock)
}

fn pass(clock: &Hand) {
    clock.0.fetch_add(30, std::sync::atomic::Ordering::Relaxed);
}

/// Makes a VPC that is available.
fn vpc(lab: &Lab, clock: &Hand, cidr: &str) -> String {
    let made = lab.ask("CreateVpc", json!({ "CidrBlock": cidr }));
    pass(clock);
    made["Vpc"]["VpcId"].as_str().unwrap().to_owned()
}

fn subnet(vpc: &str, cidr: &str, zone: &str) -> Value {
    json!({"VpcId": vpc, "CidrBlock": cidr, "AvailabilityZone": zone})
}

#[test]
fn a_vpc_is_pending_and_then_has_a_group_and_answers_dns() {
    let (lab, clock) = lab();
    let tags = json!([{"ResourceType": "vpc", "Tags": [{"Key": "Name", "Value": "shop"}]}]);
    let params = json!({"CidrBlock": "10.20.1.9/16", "TagSpecifications": tags});
    let made = lab.ask("CreateVpc", params)["Vpc"].clone();
    assert_eq!((&made["State"], &made["CidrBlock"]), (&json!("pending"), &json!("10.20.0.0/16")));
    let id = made["VpcId"].as_str().unwrap();
    let within = lab.code("CreateSubnet", subnet(id, "10.20.1.0/24", "eu-west-1a"));
    assert_eq!(within, "IncorrectState");
    pass(&clock);
    let found =
        lab.ask("DescribeVpcs", json!({"Filters": [{"Name": "tag:Name", "Values": ["shop"]}]}));
    assert_eq!(found["Vpcs"][0]["State"], "available");
    let groups = json!({"Filters": [{"Name": "vpc-id", "Values": [id]}]});
    let groups = lab.ask("DescribeSecurityGroups", groups);
    assert_eq!(groups["SecurityGroups"][0]["GroupName"], "default");
    let read = |attribute: &str| {
        lab.ask("DescribeVpcAttribute", json!({"VpcId": id, "Attribute": attribute}))
    };
    assert_eq!(read("enableDnsSupport")["EnableDnsSupport"]["Value"], true);
    assert_eq!(read("enableDnsHostnames")["EnableDnsHostnames"]["Value"], false);
}

#[test]
fn an_attribute_is_changed_alone_and_names_take_dns() {
    let (lab, clock) = lab();
    let id = vpc(&lab, &clock, "10.20.0.0/16");
    let (on, off) = (json!({"Value": true}), json!({"Value": "false"}));
    let both = json!({"VpcId": id, "EnableDnsSupport": on, "EnableDnsHostnames": on});
    assert_eq!(lab.code("ModifyVpcAttribute", both), "InvalidParameterCombination");
    lab.ask("ModifyVpcAttribute", json!({"VpcId": id, "EnableDnsSupport": off}));
    let names = json!({"VpcId": id, "EnableDnsHostnames": on});
    assert_eq!(lab.code("ModifyVpcAttribute", names.clone()), "InvalidParameterCombination");
    lab.ask("ModifyVpcAttribute", json!({"VpcId": id, "EnableDnsSupport": on}));
    lab.ask("ModifyVpcAttribute", names);
    let read = json!({"VpcId": id, "Attribute": "enableDnsHostnames"});
    assert_eq!(lab.ask("DescribeVpcAttribute", read)["EnableDnsHostnames"]["Value"], true);
}

#[test]
fn what_is_no_block_of_a_vpc_or_subnet_is_refused_by_its_code() {
    let (lab, clock) = lab();
    let code = |cidr: &str| lab.code("CreateVpc", json!({ "CidrBlock": cidr }));
    assert_eq!(code("10.0.0.0/15"), "InvalidVpc.Range");
    assert_eq!(code("10.0.0.0"), "InvalidParameterValue");
    let id = vpc(&lab, &clock, "10.20.0.0/16");
    let made = lab.ask("CreateSubnet", subnet(&id, "10.20.1.0/24", "eu-west-1b"))["Subnet"].clone();
    assert_eq!(made["AvailabilityZoneId"], "euw1-az2");
    assert_eq!(made["AvailableIpAddressCount"], 251);
    for (cidr, zone, expected) in [
        ("10.20.1.128/25", "eu-west-1a", "InvalidSubnet.Conflict"),
        ("10.20.0.0/20", "eu-west-1a", "InvalidSubnet.Conflict"),
        ("10.21.0.0/24", "eu-west-1a", "InvalidSubnet.Range"),
        ("10.20.2.0/29", "eu-west-1a", "InvalidSubnet.Range"),
        ("10.20.2.0/24", "eu-west-1z", "InvalidParameterValue"),
    ] {
        assert_eq!(lab.code("CreateSubnet", subnet(&id, cidr, zone)), expected, "{cidr}");
    }
    assert_eq!(
        lab.code("CreateSubnet", subnet("vpc-1", "10.20.2.0/24", "a")),
        "InvalidVpcID.NotFound"
    );
}

#[test]
fn a_region_has_as_many_vpcs_as_its_quota() {
    let (lab, clock) = lab();
    (0..4).for_each(|at| drop(vpc(&lab, &clock, &format!("10.{at}.0.0/16"))));
    let code = lab.code("CreateVpc", json!({"CidrBlock": "10.9.0.0/16"}));
    assert_eq!(code, "VpcLimitExceeded");
}

#[test]
fn what_has_something_in_it_is_not_deleted() {
    let (mut lab, clock) = lab();
    lab.vpc = vpc(&lab, &clock, "10.20.0.0/16");
    let made = lab.ask("CreateSubnet", subnet(&lab.vpc, "10.20.1.0/24", "eu-west-1a"));
    let subnet = made["Subnet"]["SubnetId"].clone();
    let group = lab.group("app");
    let delete = json!({"VpcId": lab.vpc});
    let refused = lab.call("DeleteVpc", delete.clone()).unwrap_err();
    assert_eq!((&*refused.code, refused.class), ("DependencyViolation", ErrorClass::NotReady));
    lab.ask("DeleteSubnet", json!({ "SubnetId": subnet }));
    assert_eq!(lab.code("DeleteVpc", delete.clone()), "DependencyViolation");
    lab.ask("DeleteSecurityGroup", json!({ "GroupId": group }));
    lab.ask("DeleteVpc", delete.clone());
    assert_eq!(lab.code("DeleteVpc", delete), "InvalidVpcID.NotFound");
    let left = lab.ask("DescribeSecurityGroups", json!({}));
    assert_eq!(left["SecurityGroups"].as_array().unwrap().len(), 1, "that of the default VPC");
}

#[test]
fn tags_come_and_go_on_all_of_them_or_none() {
    let (lab, clock) = lab();
    let id = vpc(&lab, &clock, "10.20.0.0/16");
    let made = lab.ask("CreateSubnet", subnet(&id, "10.20.1.0/24", "eu-west-1a"));
    let subnet = made["Subnet"]["SubnetId"].clone();
    let tags = json!([{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}]);
    let nothing = json!({"Resources": [id, "vpc-1"], "Tags": tags});
    assert_eq!(lab.code("CreateTags", nothing), "InvalidVpcID.NotFound");
    lab.ask("CreateTags", json!({"Resources": [id, subnet], "Tags": tags}));
    let goes = json!([{"Key": "a"}, {"Key": "b", "Value": "another"}]);
    lab.ask("DeleteTags", json!({"Resources": [subnet], "Tags": goes}));
    let subnets = lab.ask("DescribeSubnets", json!({"SubnetIds": [subnet]}));
    assert_eq!(subnets["Subnets"][0]["Tags"], json!([{"Key": "b", "Value": "2"}]));
    let vpcs = lab.ask("DescribeVpcs", json!({"VpcIds": [id]}));
    assert_eq!(vpcs["Vpcs"][0]["Tags"], tags, "what was refused changed nothing");
}
