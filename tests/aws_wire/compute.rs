//! The life of a launch template and of an Auto Scaling group on two emulators.
//!
//! Moto makes every version of what the request says alone, whatever `SourceVersion` is; ministack lists
//! no versions of all templates, only of one. So the lists and what moves the default version are held
//! on moto, and what a version has of the one before on ministack. Neither has a group that is busy,
//! refuses to delete one with instances, or knows in an update what a new group takes (the launch
//! template on ministack; termination policies, rebalancing and lifetime on both); moto wants target
//! groups to exist, ministack knows none. That is held on the sandbox.

use levelset::kinds::autoscaling_group::spec::{Group, Placement as GroupPlacement};
use levelset::kinds::launch_template::spec::{Placement as TemplatePlacement, Template};
use levelset::kinds::{autoscaling_group, launch_template, vpc};
use levelset::model::ErrorClass::{AlreadyExists, Invalid, NotFound};
use levelset::model::kind::Lists;
use levelset::model::{KindName, Resource};
use levelset::observe::observed;

use super::*;
use crate::support::emulators::{ministack, moto, region};

const OWNER: &str = "wire/Workspace/team-a";

/// Binds a resource, with what refers to its template given.
fn bound(resource: Resource, template: Option<&str>) -> Bound {
    let known = |(field, input): (_, Input)| match (input, template) {
        (Input::Known(value), _) => (field, value),
        (Input::Template { .. }, Some(id)) => {
            let value = if field == "launchTemplate" { json!(id) } else { json!(1) };
            (field, value)
        }
        (other, _) => panic!("{other:?} is not known"),
    };
    Bound {
        id: resource.id,
        fields: resource.fields.into_iter().map(known).collect(),
        initial: resource.initial,
        owner: resource.owner,
        adopt: false,
    }
}

fn template(scope: &Scope, name: &str, instance_type: &str, user_data: Option<&str>) -> Bound {
    let template = Template {
        image: "resolve:ssm:/aws/service/ami-amazon-linux-latest/al2023",
        instance_type,
        user_data,
        security_groups: Some(Input::Known(json!(["sg-0a1", "sg-0b2"]))),
        ..Template::default()
    };
    let section = "compute.web";
    let placement = TemplatePlacement { scope, name, section, owner: OWNER, adopt: false };
    bound(launch_template::spec::resource(&template, &placement), None)
}

/// Sends a call of one kind, whatever becomes of it.
async fn call(agent: &Agent, scope: &Scope, call: Call) -> Result<Value, CallError> {
    let target = Target { scope: scope.clone(), kind: agent.kind.name(), cause: Cause::List };
    agent.cloud.call(&target, &call).await
}

/// Looks at a template by its name, as the agent joins it from its lists.
async fn seen(agent: &Agent, desired: &Bound) -> Option<Observed> {
    let scope = &desired.id.scope;
    let templates = call(agent, scope, Call::new("ec2", "DescribeLaunchTemplates")).await.unwrap();
    let versions = match call(agent, scope, agent.kind.confirm(&desired.id.name).unwrap()).await {
        Ok(versions) => versions,
        Err(error) => {
            assert_eq!(error.class, NotFound, "{error}");
            return None;
        }
    };
    let list = |answer: &Value, name: &str| answer[name].as_array().unwrap().clone();
    let lists = Lists::from([
        ("LaunchTemplates", list(&templates, "LaunchTemplates")),
        ("LaunchTemplateVersions", list(&versions, "LaunchTemplateVersions")),
    ]);
    let mut all = agent.kind.assemble(lists).into_iter();
    let (_, members) = all.find(|(name, _)| **name == *desired.id.name)?;
    Some(observed(members, Timestamp::UNIX_EPOCH))
}

/// Mends what differs in what was looked at by name, and returns the operations.
async fn mend(agent: &Agent, desired: &Bound) -> Vec<String> {
    let actual = seen(agent, desired).await.expect("the template is there");
    let ready = levelset::model::Readiness::Ready;
    let found = levelset::diff::diff(agent.kind.rules(), desired, &actual, &ready, &[]);
    assert!(found.waits.is_empty() && found.refusals.is_empty(), "{found:?}");
    let calls = agent.kind.update(desired, &actual, &found.deltas);
    let names = calls.iter().map(|call| call.operation.to_string()).collect();
    agent.send(desired, calls).await;
    names
}

#[tokio::test]
async fn a_template_lives_on_ministack() {
    let number = "100000000081";
    let account = account_at(&ministack().url, number, "eu-central-1", number);
    let scope = account.scope.clone();
    let agent = Agent::of(account, &launch_template::KIND);
    let desired = template(&scope, "wire-web", "t4g.small", Some("#!/bin/sh\necho ü\n"));
    assert!(seen(&agent, &desired).await.is_none());
    agent.send(&desired, agent.kind.create(&desired)).await;
    assert_eq!(mend(&agent, &desired).await, [""; 0], "what was made is what is declared");
    let made = seen(&agent, &desired).await.unwrap();
    assert!(desired.is_owned(&made), "{made:?}");
    let again = call(&agent, &scope, agent.kind.create(&desired).remove(0)).await.unwrap_err();
    assert_eq!(again.class, AlreadyExists);

    // User data that Git does not declare any more stay, in a version that is made from the one before.
    let larger = template(&scope, "wire-web", "t4g.large", None);
    assert_eq!(mend(&agent, &larger).await, ["CreateLaunchTemplateVersion"]);
    assert_eq!(mend(&agent, &larger).await, ["ModifyLaunchTemplate"]);
    assert_eq!(mend(&agent, &larger).await, [""; 0]);
    let changed = seen(&agent, &larger).await.unwrap();
    assert_eq!(changed.text("UserDataText"), Some("#!/bin/sh\necho ü\n"));
    assert_eq!(changed.member("DefaultVersionNumber"), Some(&json!(2)));
    assert_eq!(changed.text("LaunchTemplateData.MetadataOptions.HttpTokens"), Some("required"));

    // Somebody goes back to the first version: ours is put into force again.
    let id = changed.text("LaunchTemplateId").unwrap().to_owned();
    let back = Call::new("ec2", "ModifyLaunchTemplate").with("LaunchTemplateId", id.as_str());
    call(&agent, &scope, back.with("DefaultVersion", "1")).await.unwrap();
    assert_eq!(mend(&agent, &larger).await, ["ModifyLaunchTemplate"]);
    assert_eq!(mend(&agent, &larger).await, [""; 0]);

    let actual = seen(&agent, &larger).await.unwrap();
    agent.send(&larger, agent.kind.own(&larger.id, &actual, "retained:x")).await;
    agent.send(&larger, agent.kind.delete(&larger.id, &actual, None).calls).await;
    assert!(seen(&agent, &larger).await.is_none());
}

#[tokio::test]
async fn a_template_lives_on_moto() {
    let account = account_at(&moto().url, MOTO_ACCOUNT, region(), "test");
    let scope = account.scope.clone();
    let agent = Agent::of(account, &launch_template::KIND);
    let desired = template(&scope, "wire-web", "t4g.small", Some("#!/bin/sh\n"));
    assert_eq!(agent.look(&desired).await, Observation::Absent);
    agent.send(&desired, agent.kind.create(&desired)).await;
    assert_eq!(agent.mend(&desired).await, [""; 0], "what was made is what is declared");
    let made = agent.present(&desired).await;
    let id = made.text("LaunchTemplateId").unwrap().to_owned();

    // Somebody puts another version into force, whose every setting but one is as declared.
    let mut data = agent.kind.create(&desired).remove(0).params["LaunchTemplateData"].clone();
    data["InstanceType"] = json!("m7g.large");
    let theirs = Call::new("ec2", "CreateLaunchTemplateVersion")
        .with("LaunchTemplateId", id.as_str())
        .with("LaunchTemplateData", data.clone());
    let modify = Call::new("ec2", "ModifyLaunchTemplate").with("LaunchTemplateId", id.as_str());
    agent.send(&desired, vec![theirs, modify.clone().with("DefaultVersion", "2")]).await;
    assert_eq!(agent.mend(&desired).await, ["CreateLaunchTemplateVersion"]);
    let incomplete = agent.present(&desired).await;
    assert_eq!(incomplete.text("LaunchTemplateData.InstanceType"), Some("t4g.small"));
    assert!(incomplete.text("LaunchTemplateData.ImageId").is_none(), "moto copies nothing");

    // A version that is complete, and says that it replaces the one in force, is put into force.
    data["InstanceType"] = json!("t4g.small");
    let ours = Call::new("ec2", "CreateLaunchTemplateVersion")
        .with("LaunchTemplateId", id.as_str())
        .with("VersionDescription", "levelset: replaces version 2")
        .with("LaunchTemplateData", data);
    agent.send(&desired, vec![ours]).await;
    assert_eq!(agent.mend(&desired).await, ["ModifyLaunchTemplate"]);
    assert_eq!(agent.mend(&desired).await, [""; 0]);
    let actual = agent.present(&desired).await;
    assert_eq!(actual.member("DefaultVersionNumber"), Some(&json!(4)));
    agent.send(&desired, agent.kind.delete(&desired.id, &actual, None).calls).await;
    assert_eq!(agent.look(&desired).await, Observation::Absent);
}

fn group(scope: &Scope, template: &str, section: Value) -> Bound {
    let mut all = json!({"image": "ami-12c6146b", "instanceType": "t4g.small", "minSize": 1,
        "maxSize": 3});
    let members = section.as_object().unwrap().clone();
    all.as_object_mut().unwrap().extend(members);
    let section: Group = serde_json::from_value(all).unwrap();
    let of = launch_template::spec::resource_id(scope, "wire-web");
    let placement = GroupPlacement {
        scope,
        workspace: "wire",
        owner: OWNER,
        template: &of,
        subnets: None,
        adopt: false,
    };
    bound(autoscaling_group::spec::resource("web", &section, &placement), Some(template))
}

/// Makes a template for a group and returns its id, with two subnets of the default VPC.
async fn surroundings(agent: &Agent, scope: &Scope) -> (String, Vec<String>) {
    let of = |name: KindName| Target { scope: scope.clone(), kind: name, cause: Cause::List };
    let subnets = Call::new("ec2", "DescribeSubnets");
    let subnets = agent.cloud.call(&of(vpc::NAME), &subnets).await.unwrap();
    let subnets = subnets["Subnets"].as_array().unwrap().iter().take(2);
    let subnets = subnets.map(|it| it["SubnetId"].as_str().unwrap().to_owned()).collect();
    let create =
        Call::new("ec2", "CreateLaunchTemplate").with("LaunchTemplateName", "wire-group").with(
            "LaunchTemplateData",
            json!({"ImageId": "ami-12c6146b", "InstanceType": "t4g.small"}),
        );
    let made = agent.cloud.call(&of(launch_template::NAME), &create).await.unwrap();
    (made["LaunchTemplate"]["LaunchTemplateId"].as_str().unwrap().to_owned(), subnets)
}

/// Takes a group through its life; `is_moto` tells at which emulator.
async fn a_group_lives(account: Account, is_moto: bool) {
    let scope = account.scope.clone();
    let agent = Agent::of(account, &autoscaling_group::KIND);
    let (id, subnets) = surroundings(&agent, &scope).await;
    let first = json!({"subnets": subnets, "healthCheck": {"types": [], "gracePeriodSeconds": 90},
        "tags": {"team": "a"}, "propagateTags": true});
    let desired = group(&scope, &id, first);
    assert_eq!(agent.look(&desired).await, Observation::Absent);
    agent.send(&desired, agent.kind.create(&desired)).await;
    assert_eq!(agent.mend(&desired).await, [""; 0], "what was made is what is declared");
    let made = agent.present(&desired).await;
    assert!(desired.is_owned(&made), "{made:?}");
    assert_eq!(made.member("DesiredCapacity"), Some(&json!(1)));

    // A person, or a policy, says how many there are: that is no drift; the bounds are.
    let moved = update(&desired).with("DesiredCapacity", 2).with("MaxSize", 5);
    agent.send(&desired, vec![template_of(moved, &id, is_moto)]).await;
    assert_eq!(agent.present(&desired).await.member("DesiredCapacity"), Some(&json!(2)));
    let mended = agent.mend(&desired).await;
    assert_eq!(mended, ["UpdateAutoScalingGroup"]);
    assert_eq!(agent.present(&desired).await.member("MaxSize"), Some(&json!(3)));

    let second = json!({"subnets": [subnets[1]], "healthCheck": {"types": ["ELB"]}, "minSize": 2,
        "desiredCapacity": 3, "tags": {"team": "b"}, "propagateTags": false});
    let desired = group(&scope, &id, second);
    let mended = agent.mend(&desired).await;
    assert_eq!(mended, ["UpdateAutoScalingGroup", "CreateOrUpdateTags"]);
    assert_eq!(agent.mend(&desired).await, [""; 0], "what was changed is what is declared");
    let actual = agent.present(&desired).await;
    assert_eq!(
        actual.member("PropagatedTags"),
        Some(&json!({"levelset:owner": false, "team": false}))
    );

    refusals(&agent, &desired, is_moto).await;
    agent.send(&desired, agent.kind.own(&desired.id, &actual, "retained:x")).await;
    let left = agent.present(&desired).await;
    assert_eq!(left.tags.as_ref().unwrap()["levelset:owner"], "retained:x");
    let deletion = agent.kind.delete(&desired.id, &left, None).calls;
    assert_eq!(deletion.len(), 2);
    agent.send(&desired, deletion).await;
    assert_eq!(agent.look(&desired).await, Observation::Absent);
}

fn update(desired: &Bound) -> Call {
    Call::new("autoscaling", "UpdateAutoScalingGroup")
        .with("AutoScalingGroupName", desired.id.name.as_ref())
}

/// Moto takes an update for one that takes the template away, unless it names it.
fn template_of(call: Call, id: &str, is_moto: bool) -> Call {
    match is_moto {
        true => call.with("LaunchTemplate", json!({"LaunchTemplateId": id, "Version": "$Default"})),
        false => call,
    }
}

/// What AWS refuses says what it means by its code: one that stands for a group that does not exist
/// stands for every mistake.
async fn refusals(agent: &Agent, desired: &Bound, is_moto: bool) {
    let scope = &desired.id.scope;
    // Moto makes a second group of the name in the place of the first.
    if !is_moto {
        let again = call(agent, scope, agent.kind.create(desired).remove(0)).await.unwrap_err();
        assert_eq!((again.class, &*again.code), (AlreadyExists, "AlreadyExists"));
    }
    let nobody = Call::new("autoscaling", "UpdateAutoScalingGroup")
        .with("AutoScalingGroupName", "nobody")
        .with("MinSize", 1);
    let error = call(agent, scope, nobody).await.unwrap_err();
    assert_eq!((error.class, &*error.code), (Invalid, "ValidationError"));
}

#[tokio::test]
async fn a_group_lives_on_moto() {
    a_group_lives(account_at(&moto().url, MOTO_ACCOUNT, region(), "test"), true).await;
}

#[tokio::test]
async fn a_group_lives_on_ministack() {
    let number = "100000000082";
    let account = account_at(&ministack().url, number, "eu-central-1", number);
    a_group_lives(account, false).await;
}
