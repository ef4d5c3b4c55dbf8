//! The pass with security groups, which let each other in and are guarded by nothing but themselves.

use super::*;
use crate::model::{ObjectKind, ResourceStatus};

/// Asks for nothing; the last object of a repository is never taken for removed.
const REST: &str = "apiVersion: platform.kby.io/v1alpha1\nkind: Workspace\nmetadata: {name: rest}\n\
    spec: {environment: production, resources: {}}\n";

fn workspace(name: &str, network: &str, more: &str) -> String {
    format!(
        "---\napiVersion: platform.kby.io/v1alpha1\nkind: Workspace\nmetadata: {{name: {name}}}\nspec:\n  \
         environment: production\n  resources:\n    network: {{vpcRef: shared-prod-vpc, {network}}}\n{more}"
    )
}

const LETS_IN_B: &str = "ingress: [{port: 443, workspace: b}, {port: 22, cidr: 10.0.0.0/8}]";

fn ec2(operation: &'static str) -> Call {
    Call::new("ec2", operation)
}

fn open(port: u16, cidr: &str) -> Value {
    json!([{"IpProtocol": "tcp", "FromPort": port, "ToPort": port, "IpRanges": [{"CidrIp": cidr}]}])
}

impl Scene {
    /// Delivers these manifests.
    async fn of(manifests: &[String]) -> Self {
        Self::new(&[REST.to_owned()].iter().chain(manifests).cloned().collect::<String>()).await
    }

    /// Makes passes of all of these, so many times.
    async fn rounds(&self, names: &[&str], count: usize) {
        for _ in 0..count {
            for name in names {
                let _ = pass(&self.engine, &Key::workspace(*name)).await.unwrap();
            }
            self.wait(SignedDuration::from_secs(30));
        }
    }

    /// Makes passes of all of these until each of them is as declared.
    async fn settle(&self, names: &[&str]) {
        for _ in 0..40 {
            self.rounds(names, 1).await;
            let mut ready = true;
            for name in names {
                ready &= self.status_of(name).await.is_ready();
            }
            if ready {
                return;
            }
        }
        panic!("no convergence of {names:?}: {:#?}", self.status_of(names[0]).await);
    }

    async fn status_of(&self, name: &str) -> ObjectStatus {
        self.engine.store.get(&Key::workspace(name)).await.unwrap().unwrap().status
    }

    async fn group_of(&self, name: &str) -> ResourceStatus {
        let rows = self.status_of(name).await.resources;
        rows.into_iter().find(|row| row.id.kind.as_str() == "security_group").unwrap()
    }

    /// Asks past the agent.
    fn aws(&self, call: Call) -> Value {
        self.sandbox.door("console").ask(&scope(), &call).unwrap()
    }

    /// Returns a group as AWS has it.
    fn group(&self, name: &str) -> Value {
        let filter = json!([{"Name": "group-name", "Values": [name]}]);
        self.aws(ec2("DescribeSecurityGroups").with("Filters", filter))["SecurityGroups"][0].clone()
    }

    fn id(&self, name: &str) -> String {
        self.group(name)["GroupId"].as_str().unwrap_or_default().to_owned()
    }

    fn refused_by_ec2(&self) -> Vec<String> {
        let counters = self.sandbox.counters();
        let refused = counters.iter().filter(|(_, count)| count.refused > 0);
        refused.map(|(name, _)| name.clone()).filter(|name| name.starts_with("ec2")).collect()
    }

    /// Lists what the agent writes in some rounds from now on.
    async fn written(&self, names: &[&str], rounds: usize) -> Vec<String> {
        let before = self.writes().len();
        self.rounds(names, rounds).await;
        self.writes().split_off(before)
    }
}

#[tokio::test]
async fn two_workspaces_let_each_other_in_and_neither_has_to_be_first() {
    let scene = Scene::of(&[
        workspace("a", LETS_IN_B, ""),
        workspace("b", "ingress: [{port: 443, workspace: a}], egress: []", ""),
    ])
    .await;
    scene.settle(&["a", "b"]).await;
    assert_eq!(scene.refused_by_ec2(), [""; 0]);
    let creates = scene.writes().iter().filter(|name| *name == "CreateSecurityGroup").count();
    assert_eq!(creates, 2);
    let (a, b) = (scene.group("levelset-a"), scene.group("levelset-b"));
    let peer = |group: &Value, port: u16| {
        let rules = group["IpPermissions"].as_array().unwrap().clone();
        let rule = rules.into_iter().find(|rule| rule["FromPort"] == port).unwrap();
        rule["UserIdGroupPairs"][0]["GroupId"].clone()
    };
    assert_eq!((peer(&a, 443), peer(&b, 443)), (b["GroupId"].clone(), a["GroupId"].clone()));
    assert_eq!(b["IpPermissionsEgress"], json!([]), "the rule that AWS makes is not declared");
    assert_eq!(scene.written(&["a", "b"], 50).await, [""; 0], "what is converged is left alone");
}

#[tokio::test]
async fn what_somebody_lets_in_is_shut_at_once_whatever_else_waits() {
    let scene = Scene::of(&[workspace("a", LETS_IN_B, "")]).await;
    scene.rounds(&["a"], 10).await;
    assert_eq!(scene.group_of("a").await.state, "Blocked", "b is not there");
    let group = scene.id("levelset-a");
    let world = ec2("AuthorizeSecurityGroupIngress").with("GroupId", group.as_str());
    scene.aws(world.with("IpPermissions", open(22, "0.0.0.0/0")));
    assert_eq!(scene.written(&["a"], 3).await, ["RevokeSecurityGroupIngress"]);
    let taken = ec2("RevokeSecurityGroupIngress").with("GroupId", group.as_str());
    scene.aws(taken.with("IpPermissions", open(22, "10.0.0.0/8")));
    assert_eq!(scene.written(&["a"], 3).await, ["AuthorizeSecurityGroupIngress"]);
}

#[tokio::test]
async fn a_mass_of_opened_groups_is_shut_and_a_mass_of_closed_ones_is_asked_about() {
    let names: Vec<String> = (0..12).map(|number| format!("w{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let ingress = "ingress: [{port: 22, cidr: 10.0.0.0/8}]";
    let manifests: Vec<String> = names.iter().map(|name| workspace(name, ingress, "")).collect();
    let scene = Scene::of(&manifests).await;
    scene.settle(&names).await;
    let each = |operation: &'static str, cidr: &str| {
        for name in &names {
            let id = scene.id(&format!("levelset-{name}"));
            scene.aws(ec2(operation).with("GroupId", id).with("IpPermissions", open(22, cidr)));
        }
    };
    each("AuthorizeSecurityGroupIngress", "0.0.0.0/0");
    assert_eq!(scene.written(&names, 2).await.len(), 12);
    each("RevokeSecurityGroupIngress", "10.0.0.0/8");
    assert_eq!(scene.written(&names, 3).await.len(), 5, "as many as may drift by themselves");
    assert_eq!(scene.engine.mass_drift().frozen().len(), 7);
}

#[tokio::test]
async fn a_stranger_of_another_workspaces_name_is_let_in_nowhere() {
    let scene = Scene::of(&[workspace("a", LETS_IN_B, "")]).await;
    scene.rounds(&["a"], 4).await;
    let vpc = scene.group("levelset-a")["VpcId"].clone();
    let stranger = ec2("CreateSecurityGroup").with("GroupName", "levelset-b").with("VpcId", vpc);
    scene.aws(stranger.with("Description", "mine"));
    assert_eq!(scene.written(&["a"], 5).await, [""; 0]);
    let row = scene.group_of("a").await;
    assert!(row.message.contains("does not belong to levelset/Workspace/b"), "{row:?}");
}

const DATABASE: &str =
    "    database: {engine: postgres, version: \"15\", sizeClass: db.r6g.large}\n";

#[tokio::test]
async fn a_database_has_the_workspaces_group_and_loses_one_that_somebody_attaches() {
    let scene = Scene::of(&[workspace("a", "ingress: []", DATABASE)]).await;
    scene.rounds(&["a"], 60).await;
    assert!(scene.status_of("a").await.is_ready(), "{:#?}", scene.status_of("a").await);
    let id = scene.id("levelset-a");
    let attached = || scene.instance()["VpcSecurityGroups"].clone();
    assert_eq!(attached(), json!([{"VpcSecurityGroupId": id, "Status": "active"}]));
    let modify = Call::new("rds", "ModifyDBInstance").with("DBInstanceIdentifier", "a");
    scene.console(modify.with("VpcSecurityGroupIds", json!([id, "sg-0123456789abcdef0"])));
    scene.wait(SignedDuration::from_mins(10));
    assert_eq!(scene.written(&["a"], 4).await, ["ModifyDBInstance"]);
    scene.rounds(&["a"], 20).await;
    assert_eq!(attached(), json!([{"VpcSecurityGroupId": id, "Status": "active"}]));
}

#[tokio::test]
async fn groups_that_let_each_other_in_are_deleted_together_after_the_database() {
    let policy = "  reconcilePolicy: {deletion: delete}\n";
    let database = DATABASE.replace("db.r6g.large", "db.r6g.large, deletionProtection: false");
    let mut scene = Scene::of(&[
        workspace("a", LETS_IN_B, &format!("{database}{policy}")),
        workspace("b", "ingress: [{port: 443, workspace: a}]", policy),
    ])
    .await;
    scene.rounds(&["a", "b"], 60).await;
    assert!(scene.status_of("a").await.is_ready() && scene.status_of("b").await.is_ready());
    let before = scene.writes().len();
    scene.commit(Some(REST));
    for _ in 0..30 {
        scene.rounds(&["a", "b"], 1).await;
        scene.wait(SignedDuration::from_mins(10));
    }
    let writes = scene.writes().split_off(before);
    let at = |name: &str| writes.iter().position(|write| write == name);
    assert!(at("DeleteDBInstance") < at("DeleteSecurityGroup"), "{writes:?}");
    assert_eq!(scene.group("levelset-a"), Value::Null, "{writes:?}");
    assert_eq!(scene.group("levelset-b"), Value::Null, "{writes:?}");
    let removed = scene.engine.store.get(&Key::new(ObjectKind::Workspace, "b")).await.unwrap();
    assert!(removed.is_none_or(|record| record.memory.failures == 0), "waiting is no failure");
}

#[tokio::test]
async fn a_create_whose_answer_is_lost_makes_no_second_group() {
    let scene = Scene::of(&[workspace("a", "ingress: []", "")]).await;
    scene.sandbox.inject(Rule::new(Effect::LoseAnswer).operation("CreateSecurityGroup").times(1));
    scene.settle(&["a"]).await;
    let creates = scene.writes().iter().filter(|name| *name == "CreateSecurityGroup").count();
    assert_eq!(creates, 1);
}

#[tokio::test]
async fn half_a_list_of_groups_makes_no_second_one() {
    let scene = Scene::of(&[workspace("a", "ingress: []", "")]).await;
    scene.settle(&["a"]).await;
    let half = Rule::new(Effect::PartialPage(0)).operation("DescribeSecurityGroups").times(1);
    scene.sandbox.inject(half);
    assert_eq!(scene.written(&["a"], 3).await, [""; 0], "its name is searched before it is absent");
}

#[tokio::test]
async fn a_group_of_somebody_else_is_never_touched() {
    let scene = Scene::of(&[workspace("a", "ingress: []", "")]).await;
    let vpcs = scene.aws(ec2("DescribeVpcs"))["Vpcs"].as_array().unwrap().clone();
    let shared = vpcs.iter().find(|vpc| vpc["IsDefault"] == false).unwrap();
    let create = ec2("CreateSecurityGroup").with("GroupName", "levelset-a");
    scene.aws(create.with("VpcId", shared["VpcId"].clone()).with("Description", "mine"));
    assert_eq!(scene.written(&["a"], 5).await, [""; 0]);
    assert_eq!(scene.group_of("a").await.state, "Refused");
}
