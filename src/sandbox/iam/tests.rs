//! What IAM does by itself: a new role spreads, a deleted one leaves its id, keys have no case.

use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::model::{AccountId, Call, CallError, Clock, ErrorClass, Region, Scope};
use crate::sandbox::{Sandbox, Settings};

/// A clock that stands still until it is moved.
struct Hand(Mutex<Timestamp>);

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

struct Lab {
    hand: Arc<Hand>,
    cloud: Sandbox,
}

fn scope(region: &str) -> Scope {
    Scope { account: AccountId::new("123456789012"), region: Region::new(region) }
}

fn lab() -> Lab {
    let hand = Arc::new(Hand(Mutex::new("2026-11-25T12:00:00Z".parse().unwrap())));
    let settings = Settings { enforce_policies: true, ..Settings::real(7) };
    let cloud = Sandbox::new(Arc::clone(&hand) as Arc<dyn Clock>, settings);
    Lab { hand, cloud }
}

impl Lab {
    fn pass(&self, seconds: i64) {
        let mut now = self.hand.0.lock().unwrap();
        *now = now.checked_add(SignedDuration::from_secs(seconds)).unwrap();
    }

    fn call(&self, operation: &'static str, params: Value) -> Result<Value, CallError> {
        let mut call = Call::new("iam", operation);
        call.params = params.as_object().unwrap().clone();
        self.cloud.ask(&scope("eu-west-1"), &call)
    }

    fn code(&self, operation: &'static str, params: Value) -> String {
        self.call(operation, params).unwrap_err().code
    }

    /// Makes a role that trusts a principal, and waits until everybody knows it.
    fn role(&self, name: &str, principal: Value) {
        let params = json!({"RoleName": name, "AssumeRolePolicyDocument": trust(principal)});
        self.call("CreateRole", params).unwrap();
        self.pass(60);
    }

    fn principal(&self, name: &str) -> Value {
        let role = self.call("GetRole", json!({"RoleName": name})).unwrap();
        role["Role"]["AssumeRolePolicyDocument"]["Statement"][0]["Principal"]["AWS"].clone()
    }
}

fn trust(principal: Value) -> String {
    let statement =
        json!([{"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole"}]);
    json!({"Version": "2012-10-17", "Statement": statement}).to_string()
}

fn ecs() -> Value {
    json!({"Service": "ecs-tasks.amazonaws.com"})
}

#[test]
fn a_new_role_is_not_read_or_trusted_until_it_has_spread() {
    let lab = lab();
    let name = json!({"RoleName": "a"});
    let params = json!({"RoleName": "a", "AssumeRolePolicyDocument": trust(ecs())});
    let arn = lab.call("CreateRole", params.clone()).unwrap()["Role"]["Arn"].clone();
    assert_eq!(lab.code("GetRole", name.clone()), "NoSuchEntity");
    assert_eq!(lab.call("ListRoles", json!({})).unwrap()["Roles"], json!([]));
    assert_eq!(lab.code("CreateRole", params), "EntityAlreadyExists");
    let other = json!({"RoleName": "b", "AssumeRolePolicyDocument": trust(json!({"AWS": arn}))});
    let error = lab.call("CreateRole", other.clone()).unwrap_err();
    assert_eq!((error.class, &*error.code), (ErrorClass::Invalid, "MalformedPolicyDocument"));
    lab.pass(6);
    assert!(lab.call("GetRole", name).is_ok());
    assert!(lab.call("CreateRole", other).is_ok());
}

#[test]
fn an_account_has_its_roles_once_and_not_in_every_region() {
    let lab = lab();
    lab.role("a", ecs());
    let list = Call::new("iam", "ListRoles");
    let in_other_region = lab.cloud.ask(&scope("us-west-2"), &list).unwrap();
    assert_eq!(in_other_region["Roles"].as_array().unwrap().len(), 1);
    let in_china = lab.cloud.ask(&scope("cn-north-1"), &list).unwrap();
    assert_eq!(in_china["Roles"], json!([]));
}

#[test]
fn a_deleted_role_leaves_its_id_where_it_was_trusted() {
    let lab = lab();
    lab.role("ci", ecs());
    let arn = "arn:aws:iam::123456789012:role/ci";
    lab.role("b", json!({"AWS": arn}));
    assert_eq!(lab.principal("b"), arn);
    lab.call("DeleteRole", json!({"RoleName": "ci"})).unwrap();
    assert!(lab.principal("b").as_str().unwrap().starts_with("AROA"));
    lab.role("ci", ecs());
    assert!(lab.principal("b").as_str().unwrap().starts_with("AROA"), "until it is saved again");
    let saved = json!({"RoleName": "b", "PolicyDocument": trust(json!({"AWS": arn}))});
    lab.call("UpdateAssumeRolePolicy", saved).unwrap();
    assert_eq!(lab.principal("b"), arn);
}

#[test]
fn names_and_tag_keys_have_no_letter_case() {
    let lab = lab();
    lab.role("Api", ecs());
    let again = json!({"RoleName": "api", "AssumeRolePolicyDocument": trust(ecs())});
    assert_eq!(lab.code("CreateRole", again), "EntityAlreadyExists");
    for (key, value) in [("team", "a"), ("Team", "b")] {
        let tags = json!({"RoleName": "api", "Tags": [{"Key": key, "Value": value}]});
        lab.call("TagRole", tags).unwrap();
    }
    let tags = lab.call("ListRoleTags", json!({"RoleName": "api"})).unwrap()["Tags"].clone();
    assert_eq!(tags, json!([{"Key": "Team", "Value": "b"}]));
    let twice = json!([{"Key": "a", "Value": "1"}, {"Key": "A", "Value": "2"}]);
    let params = json!({"RoleName": "x", "AssumeRolePolicyDocument": trust(ecs()), "Tags": twice});
    assert_eq!(lab.code("CreateRole", params), "InvalidInput");
}

#[test]
fn a_description_alone_puts_the_duration_back() {
    let lab = lab();
    lab.role("a", ecs());
    let update = |params: Value| lab.call("UpdateRole", params).unwrap();
    update(json!({"RoleName": "a", "MaxSessionDuration": 7200, "Description": "x"}));
    let role = || lab.call("GetRole", json!({"RoleName": "a"})).unwrap()["Role"].clone();
    assert_eq!(
        (&role()["MaxSessionDuration"], &role()["Description"]),
        (&json!(7200), &json!("x"))
    );
    update(json!({"RoleName": "a", "Description": "y"}));
    assert_eq!(role()["MaxSessionDuration"], 3600);
}

#[test]
fn what_iam_refuses_changes_nothing() {
    let lab = lab();
    lab.role("a", ecs());
    let put = |document: Value| {
        let document = document.to_string();
        json!({"RoleName": "a", "PolicyName": "p", "PolicyDocument": document})
    };
    let malformed = [
        json!({"Statement": []}),
        json!({"Statement": {"Effect": "allow", "Action": "a:b", "Resource": "*"}}),
        json!({"Statement": {"Effect": "Allow", "Action": "a:b", "Principal": "*"}}),
    ];
    for document in malformed {
        assert_eq!(lab.code("PutRolePolicy", put(document)), "MalformedPolicyDocument");
    }
    let good = json!({"Statement": {"Effect": "Allow", "Action": "a:b", "Resource": "*"}});
    lab.call("PutRolePolicy", put(good)).unwrap();
    assert_eq!(lab.code("DeleteRole", json!({"RoleName": "a"})), "DeleteConflict");
    for number in 0..10 {
        let arn = format!("arn:aws:iam::aws:policy/P{number}");
        lab.call("AttachRolePolicy", json!({"RoleName": "a", "PolicyArn": arn})).unwrap();
    }
    let eleventh = json!({"RoleName": "a", "PolicyArn": "arn:aws:iam::aws:policy/Q"});
    assert_eq!(lab.code("AttachRolePolicy", eleventh.clone()), "LimitExceeded");
    assert_eq!(lab.code("DetachRolePolicy", eleventh), "NoSuchEntity");
    let filter = json!({"Filter": ["User"]});
    assert_eq!(lab.code("GetAccountAuthorizationDetails", filter), "NotModelled");
}

#[test]
fn an_assumed_role_may_do_what_its_policies_say_and_nothing_else() {
    let lab = lab();
    lab.role("databases", ecs());
    let statement = json!([{"Effect": "Allow", "Action": "rds:Describe*", "Resource": "*"}]);
    let document = json!({"Statement": statement}).to_string();
    let policy = json!({"RoleName": "databases", "PolicyName": "p", "PolicyDocument": document});
    lab.call("PutRolePolicy", policy).unwrap();
    let assume = Call::new("sts", "AssumeRole")
        .with("RoleArn", "arn:aws:iam::123456789012:role/databases")
        .with("RoleSessionName", "levelset");
    let answer = lab.cloud.ask(&scope("eu-west-1"), &assume).unwrap();
    let door = lab.cloud.door(answer["Credentials"]["AccessKeyId"].as_str().unwrap());
    let ask = |service, operation| door.ask(&scope("eu-west-1"), &Call::new(service, operation));
    assert!(ask("rds", "DescribeDBInstances").is_ok());
    assert!(ask("sts", "GetCallerIdentity").is_ok());
    for (service, operation) in
        [("rds", "DeleteDBInstance"), ("iam", "ListRoles"), ("ec2", "DescribeVpcs")]
    {
        let error = ask(service, operation).unwrap_err();
        assert_eq!(error.class, ErrorClass::Denied, "{service}:{operation}");
    }
}
