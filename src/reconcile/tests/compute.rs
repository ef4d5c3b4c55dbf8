//! The pass with Auto Scaling groups and their launch templates: versions that are made and then put into
//! force, instances that nobody counts, and a removal that takes its time.

use super::*;
use crate::kinds::{self, autoscaling_group, launch_template};
use crate::model::{Observation, Observed, ResourceId};

const COMPUTE: &str = r#"apiVersion: platform.kby.io/v1alpha1
kind: Workspace
metadata: {name: team-payments-prod}
spec:
  environment: production
  resources:
    network: {vpcRef: shared-prod-vpc, ingress: []}
    compute:
      web:
        image: resolve:ssm:/aws/service/ami
        instanceType: t4g.small
        minSize: 1
        maxSize: 3
        tags: {team: payments}
  reconcilePolicy: {deletion: delete}
"#;

/// Asks for nothing; the last object of a repository is never taken for removed.
const REST: &str = "---\napiVersion: platform.kby.io/v1alpha1\nkind: Workspace\nmetadata: {name: rest}\n\
    spec: {environment: production, resources: {}}\n";

const NAME: &str = "team-payments-prod-web";

fn group(operation: &'static str) -> Call {
    Call::new("autoscaling", operation).with("AutoScalingGroupName", NAME)
}

fn template(operation: &'static str) -> Call {
    Call::new("ec2", operation).with("LaunchTemplateName", NAME)
}

impl Scene {
    async fn seen(&self, kind: &crate::model::KindName) -> Option<Observed> {
        let kind = kinds::find(kind).unwrap();
        let id = ResourceId { kind: kind.name(), scope: scope(), name: NAME.into() };
        let cloud = Arc::new(self.sandbox.door("test"));
        let clock: Arc<dyn Clock> = self.clock.clone();
        let observer = crate::observe::Observer::new(cloud, clock, SignedDuration::ZERO);
        match observer.observe(kind, &id).await {
            Observation::Present(actual) => Some((*actual).clone()),
            Observation::Absent => None,
            Observation::Unknown(doubt) => panic!("{doubt}"),
        }
    }

    async fn group_as_it_is(&self) -> Observed {
        self.seen(&autoscaling_group::NAME).await.expect("the group is there")
    }

    async fn template_as_it_is(&self) -> Observed {
        self.seen(&launch_template::NAME).await.expect("the template is there")
    }

    /// Returns what was written after so many calls that were.
    fn since(&self, before: usize) -> Vec<String> {
        self.writes().split_off(before)
    }
}

const MADE: [&str; 3] = ["CreateSecurityGroup", "CreateLaunchTemplate", "CreateAutoScalingGroup"];

#[tokio::test]
async fn a_group_comes_after_its_template_and_nobody_counts_its_instances() {
    let scene = Scene::new(COMPUTE).await;
    scene.converge().await;
    assert_eq!(scene.since(0).iter().filter(|call| !call.contains("Egress")).count(), 3);
    assert_eq!(scene.writes()[..3], MADE);
    let made = scene.group_as_it_is().await;
    assert_eq!(made.member("DesiredCapacity"), Some(&json!(1)));
    assert_eq!(made.member("Instances.0.LifecycleState"), Some(&json!("Pending")));
    scene.console(group("UpdateAutoScalingGroup").with("DesiredCapacity", 3));
    for _ in 0..50 {
        let passed = scene.pass().await;
        assert!(passed.status.unwrap().drift.is_empty());
        scene.wait(SignedDuration::from_mins(5));
    }
    assert_eq!(scene.writes().len(), MADE.len());
    assert_eq!(
        scene.group_as_it_is().await.member("Instances").unwrap().as_array().unwrap().len(),
        3
    );
}

#[tokio::test]
async fn a_change_makes_one_version_and_puts_it_into_force() {
    let mut scene = Scene::new(COMPUTE).await;
    scene.converge().await;
    // Somebody gives the template a key pair, in the way that AWS has for it.
    let data = json!({"KeyName": "ops"});
    let theirs = template("CreateLaunchTemplateVersion").with("SourceVersion", "1");
    scene.console(theirs.with("LaunchTemplateData", data));
    scene.console(template("ModifyLaunchTemplate").with("DefaultVersion", "2"));
    scene.converge().await;
    assert_eq!(scene.since(3), [""; 0], "Git says nothing of key pairs");
    scene.commit(Some(&COMPUTE.replace("t4g.small", "t4g.large")));
    scene.wait(SignedDuration::from_mins(1));
    scene.converge().await;
    assert_eq!(scene.since(3), ["CreateLaunchTemplateVersion", "ModifyLaunchTemplate"]);
    let changed = scene.template_as_it_is().await;
    assert_eq!(changed.member("DefaultVersionNumber"), Some(&json!(3)));
    assert_eq!(changed.text("LaunchTemplateData.InstanceType"), Some("t4g.large"));
    assert_eq!(
        changed.text("LaunchTemplateData.KeyName"),
        Some("ops"),
        "what is not declared stays"
    );
    let instances = scene.group_as_it_is().await;
    assert_eq!(instances.text("Instances.0.LaunchTemplate.Version"), Some("1"), "it runs on");
    let notices = scene.status().await.resources.last().unwrap().notices.clone();
    assert!(notices.iter().any(|notice| notice.code == "OlderVersionRuns"), "{notices:?}");
}

#[tokio::test]
async fn a_lost_answer_and_a_crash_make_no_second_version() {
    for effect in [Effect::LoseAnswer, Effect::LoseRequest, Effect::ServerErrorAfter] {
        let mut scene = Scene::new(COMPUTE).await;
        scene.converge().await;
        scene.sandbox.inject(Rule::new(effect).operation("CreateLaunchTemplateVersion").times(1));
        scene.commit(Some(&COMPUTE.replace("t4g.small", "t4g.large")));
        scene.wait(SignedDuration::from_mins(1));
        scene.converge().await;
        let newest = scene.template_as_it_is().await;
        assert_eq!(newest.member("LatestVersionNumber"), Some(&json!(2)));
        assert_eq!(newest.member("DefaultVersionNumber"), Some(&json!(2)));
    }
}

#[tokio::test]
async fn another_default_version_is_drift_that_is_taken_back() {
    let mut scene = Scene::new(COMPUTE).await;
    scene.converge().await;
    scene.commit(Some(&COMPUTE.replace("t4g.small", "t4g.large")));
    scene.wait(SignedDuration::from_mins(1));
    scene.converge().await;
    let before = scene.writes().len();
    scene.console(template("ModifyLaunchTemplate").with("DefaultVersion", "1"));
    let status = scene.pass().await.status.unwrap();
    assert_eq!(status.drift[0].field, "defaultVersion");
    scene.converge().await;
    assert_eq!(scene.since(before), ["ModifyLaunchTemplate"]);
    let pointed = json!({"LaunchTemplateId": scene.template_as_it_is().await.text("LaunchTemplateId"),
        "Version": "1"});
    scene.console(group("UpdateAutoScalingGroup").with("LaunchTemplate", pointed));
    scene.converge().await;
    assert_eq!(scene.since(before), ["ModifyLaunchTemplate", "UpdateAutoScalingGroup"]);
    assert_eq!(scene.group_as_it_is().await.text("LaunchTemplate.Version"), Some("$Default"));
}

#[tokio::test]
async fn half_a_list_makes_no_second_template_and_no_second_group() {
    let scene = Scene::new(COMPUTE).await;
    scene.converge().await;
    let before = scene.writes().len();
    for operation in
        ["DescribeLaunchTemplates", "DescribeLaunchTemplateVersions", "DescribeAutoScalingGroups"]
    {
        scene.sandbox.inject(Rule::new(Effect::PartialPage(0)).operation(operation).times(1));
        scene.wait(SignedDuration::from_mins(6));
        let _ = scene.pass().await;
        scene.wait(SignedDuration::from_mins(6));
        let _ = scene.pass().await;
    }
    assert_eq!(scene.since(before), [""; 0]);
}

#[tokio::test]
async fn a_removed_group_goes_when_its_instances_are_gone_and_then_what_it_used() {
    let mut scene = Scene::new(&format!("{COMPUTE}{REST}")).await;
    scene.converge().await;
    scene.wait(SignedDuration::from_mins(10));
    let _ = scene.pass().await;
    let before = scene.writes().len();
    scene.commit(Some(REST));
    for _ in 0..60 {
        let _ = pass(&scene.engine, &key()).await.unwrap();
        scene.wait(SignedDuration::from_mins(5));
    }
    let mut writes = scene.since(before);
    writes.dedup();
    let expected = [
        "UpdateAutoScalingGroup",
        "DeleteAutoScalingGroup",
        "DeleteLaunchTemplate",
        "DeleteSecurityGroup",
    ];
    assert_eq!(writes, expected);
    assert!(scene.seen(&autoscaling_group::NAME).await.is_none());
    assert!(scene.seen(&launch_template::NAME).await.is_none());
    let calls = scene.sandbox.calls_since(0);
    assert!(calls.iter().all(|call| !call.params.contains_key("ForceDelete")));
    let record = scene.engine.store.get(&key()).await.unwrap();
    assert!(record.is_none_or(|record| record.memory.failures == 0), "waiting is no failure");
}

#[tokio::test]
async fn a_group_is_never_made_from_the_template_of_somebody_else() {
    let mut scene = Scene::empty().await;
    let data = json!({"ImageId": "ami-1", "InstanceType": "t4g.small"});
    scene.console(template("CreateLaunchTemplate").with("LaunchTemplateData", data));
    scene.commit(Some(COMPUTE));
    for _ in 0..10 {
        let _ = scene.pass().await;
        scene.wait(SignedDuration::from_mins(2));
    }
    assert_eq!(scene.writes(), ["CreateSecurityGroup"]);
}

#[tokio::test]
async fn a_group_and_its_template_are_taken_over_together_and_by_their_tags_alone() {
    let mut scene = Scene::empty().await;
    let data = json!({"ImageId": "ami-1", "InstanceType": "t4g.small"});
    scene.console(template("CreateLaunchTemplate").with("LaunchTemplateData", data));
    let there = scene.template_as_it_is().await;
    let id = there.text("LaunchTemplateId").unwrap();
    let all = scene.sandbox.door("console").ask(&scope(), &Call::new("ec2", "DescribeSubnets"));
    let subnet = all.unwrap()["Subnets"][0]["SubnetId"].as_str().unwrap().to_owned();
    let made = Call::new("autoscaling", "CreateAutoScalingGroup")
        .with("AutoScalingGroupName", "web-2019")
        .with("LaunchTemplate", json!({"LaunchTemplateId": id, "Version": "$Default"}))
        .with("VPCZoneIdentifier", subnet.as_str());
    scene.console(made.with("MinSize", 1).with("MaxSize", 3));
    let declared = format!(
        "name: web-2019\n        launchTemplate: {NAME}\n        subnets: [{subnet}]\n        \
         adopt: true"
    );
    let manifest = COMPUTE
        .replace("    network: {vpcRef: shared-prod-vpc, ingress: []}\n", "")
        .replace("        tags: {team: payments}", &format!("        {declared}"))
        .replace("resolve:ssm:/aws/service/ami", "ami-1");
    scene.commit(Some(&manifest));
    scene.converge().await;
    assert_eq!(scene.writes(), ["CreateTags", "CreateOrUpdateTags"]);
}
