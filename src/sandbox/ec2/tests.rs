//! What EC2 does with security groups, and what it refuses.

mod network;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::model::{AccountId, Call, CallError, Clock, ErrorClass, Region, Scope};
use crate::sandbox::{Sandbox, Settings};

struct Noon;

impl Clock for Noon {
    fn now(&self) -> jiff::Timestamp {
        "2026-11-25T12:00:00Z".parse().unwrap()
    }
}

struct Lab {
    cloud: Sandbox,
    vpc: String,
}

fn scope() -> Scope {
    Scope { account: AccountId::new("123456789012"), region: Region::new("eu-west-1") }
}

fn lab() -> Lab {
    let cloud = Sandbox::new(Arc::new(Noon), Settings::real(7));
    let vpc = cloud.seed_vpc(&scope(), "shared", "10.0.0.0/16", &["a", "b"]).vpc_id;
    Lab { cloud, vpc }
}

impl Lab {
    fn call(&self, operation: &'static str, params: Value) -> Result<Value, CallError> {
        let mut call = Call::new("ec2", operation);
        call.params = params.as_object().unwrap().clone();
        self.cloud.ask(&scope(), &call)
    }

    fn ask(&self, operation: &'static str, params: Value) -> Value {
        self.call(operation, params).unwrap()
    }

    fn code(&self, operation: &'static str, params: Value) -> String {
        self.call(operation, params).unwrap_err().code
    }

    fn group(&self, name: &str) -> String {
        let params = json!({"GroupName": name, "Description": "d", "VpcId": self.vpc});
        self.ask("CreateSecurityGroup", params)["GroupId"].as_str().unwrap().to_owned()
    }

    fn rules(&self, id: &str) -> Value {
        let groups = self.ask("DescribeSecurityGroups", json!({"GroupIds": [id]}));
        groups["SecurityGroups"][0]["IpPermissions"].clone()
    }
}

fn tcp(id: &str, port: u16, cidr: &str) -> Value {
    let rule = json!({"IpProtocol": "6", "FromPort": port, "ToPort": port,
        "IpRanges": [{"CidrIp": cidr}]});
    json!({"GroupId": id, "IpPermissions": [rule]})
}

#[test]
fn a_new_group_lets_nothing_in_and_everything_out() {
    let lab = lab();
    let id = lab.group("a");
    let group = &lab.ask("DescribeSecurityGroups", json!({"GroupIds": [id]}))["SecurityGroups"][0];
    assert_eq!(group["IpPermissions"], json!([]));
    let out = &group["IpPermissionsEgress"][0];
    assert_eq!(
        (&out["IpProtocol"], &out["IpRanges"][0]["CidrIp"]),
        (&json!("-1"), &json!("0.0.0.0/0"))
    );
    assert_eq!(out.get("FromPort"), None);
}

#[test]
fn names_are_one_in_a_vpc_whatever_their_case_and_some_are_reserved() {
    let lab = lab();
    lab.group("App");
    let named = |name: &str, vpc: &str| {
        lab.code(
            "CreateSecurityGroup",
            json!({"GroupName": name, "Description": "d", "VpcId": vpc}),
        )
    };
    assert_eq!(named("app", &lab.vpc), "InvalidGroup.Duplicate");
    assert_eq!(named("default", &lab.vpc), "InvalidGroup.Reserved");
    assert_eq!(named("sg-app", &lab.vpc), "InvalidParameterValue");
    assert_eq!(named("app", "vpc-0"), "InvalidVpcID.NotFound");
    let other = lab.cloud.seed_vpc(&scope(), "other", "10.1.0.0/16", &["a"]).vpc_id;
    let params = json!({"GroupName": "app", "Description": "d", "VpcId": other});
    assert!(lab.call("CreateSecurityGroup", params).is_ok(), "another VPC has names of its own");
}

#[test]
fn rules_are_kept_in_the_canonical_form_and_put_together() {
    let lab = lab();
    let id = lab.group("a");
    lab.ask("AuthorizeSecurityGroupIngress", tcp(&id, 22, "10.0.0.1/24"));
    lab.ask("AuthorizeSecurityGroupIngress", tcp(&id, 22, "192.168.0.0/16"));
    let rules = lab.rules(&id);
    assert_eq!(rules.as_array().unwrap().len(), 1);
    assert_eq!(rules[0]["IpProtocol"], "tcp");
    assert_eq!(
        rules[0]["IpRanges"],
        json!([{"CidrIp": "10.0.0.0/24"}, {"CidrIp": "192.168.0.0/16"}])
    );
}

#[test]
fn a_call_of_which_one_rule_is_refused_changes_nothing() {
    let lab = lab();
    let id = lab.group("a");
    lab.ask("AuthorizeSecurityGroupIngress", tcp(&id, 22, "10.0.0.0/8"));
    let both = json!({"GroupId": id, "IpPermissions": [
        {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22,
         "IpRanges": [{"CidrIp": "10.0.0.0/8"}, {"CidrIp": "10.1.0.0/16"}]},
    ]});
    let error = lab.call("AuthorizeSecurityGroupIngress", both.clone()).unwrap_err();
    assert_eq!((error.class, &*error.code), (ErrorClass::NotReady, "InvalidPermission.Duplicate"));
    let error = lab.call("RevokeSecurityGroupIngress", both.clone()).unwrap_err();
    assert_eq!((error.class, &*error.code), (ErrorClass::NotFound, "InvalidPermission.NotFound"));
    assert_eq!(
        lab.code("UpdateSecurityGroupRuleDescriptionsIngress", both),
        "InvalidPermission.NotFound"
    );
    assert_eq!(lab.rules(&id)[0]["IpRanges"], json!([{"CidrIp": "10.0.0.0/8"}]));
}

#[test]
fn what_a_rule_lacks_or_has_too_much_is_refused() {
    let lab = lab();
    let id = lab.group("a");
    let rule = |rule: Value| json!({"GroupId": id, "IpPermissions": [rule]});
    let range = json!([{"CidrIp": "10.0.0.0/8"}]);
    let authorize = |value: Value| lab.code("AuthorizeSecurityGroupIngress", rule(value));
    let refused = "InvalidParameterValue";
    assert_eq!(authorize(json!({"IpProtocol": "tcp", "IpRanges": range})), refused);
    assert_eq!(authorize(json!({"IpProtocol": "esp", "IpRanges": range})), refused);
    assert_eq!(
        authorize(json!({"IpProtocol": "-1", "IpRanges": [{"CidrIp": "10.0.0.1"}]})),
        refused
    );
    assert_eq!(authorize(json!({"IpProtocol": "-1"})), "MissingParameter");
    let unknown = json!([{"GroupId": "sg-0"}]);
    let of_group = json!({"IpProtocol": "-1", "UserIdGroupPairs": unknown});
    assert_eq!(authorize(of_group), "InvalidGroup.NotFound");
    let all = json!({"IpProtocol": "-1", "FromPort": 1, "ToPort": 1, "IpRanges": range});
    lab.ask("AuthorizeSecurityGroupIngress", rule(all.clone()));
    assert_eq!(lab.code("UpdateSecurityGroupRuleDescriptionsIngress", rule(all)), refused);
    for number in 0..59 {
        lab.ask("AuthorizeSecurityGroupIngress", tcp(&id, 22, &format!("10.{number}.0.0/16")));
    }
    let one_more = tcp(&id, 22, "10.60.0.0/16");
    let limit = "RulesPerSecurityGroupLimitExceeded";
    assert_eq!(lab.code("AuthorizeSecurityGroupIngress", one_more), limit);
}

#[test]
fn a_group_in_use_and_the_default_one_are_not_deleted() {
    let lab = lab();
    let (a, b) = (lab.group("a"), lab.group("b"));
    let lets_in = json!({"GroupId": b, "IpPermissions": [
        {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": a}, {"GroupId": b}]},
    ]});
    lab.ask("AuthorizeSecurityGroupIngress", lets_in);
    let error = lab.call("DeleteSecurityGroup", json!({"GroupId": a})).unwrap_err();
    assert_eq!((error.class, &*error.code), (ErrorClass::NotReady, "DependencyViolation"));
    lab.ask("DeleteSecurityGroup", json!({"GroupId": b}));
    lab.ask("DeleteSecurityGroup", json!({"GroupId": a}));
    assert_eq!(lab.code("DeleteSecurityGroup", json!({"GroupId": a})), "InvalidGroup.NotFound");
    let filter = json!({"Filters": [{"Name": "group-name", "Values": ["default"]}]});
    let default = lab.ask("DescribeSecurityGroups", filter)["SecurityGroups"][0].clone();
    let delete = json!({"GroupId": default["GroupId"]});
    assert_eq!(lab.code("DeleteSecurityGroup", delete), "CannotDelete");
}
