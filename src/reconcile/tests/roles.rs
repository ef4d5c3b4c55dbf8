//! The pass with IAM roles, which spread slowly, lean on each other and are the whole account's.

use super::*;

const ROLES: &str = r#"apiVersion: platform.kby.io/v1alpha1
kind: Workspace
metadata: {name: team-payments-prod}
spec:
  environment: production
  resources:
    iam:
      roles:
        api:
          trust: {roles: [deploy]}
          policies: ["arn:aws:iam::aws:policy/ReadOnlyAccess"]
          inline:
            bucket:
              Version: "2012-10-17"
              Statement: {Effect: Allow, Action: "s3:GetObject", Resource: "*"}
        deploy:
          trust: {services: [codebuild.amazonaws.com]}
  reconcilePolicy: {maxRetries: 3}
"#;

const API: &str = "team-payments-prod-api";

fn iam(operation: &'static str) -> Call {
    Call::new("iam", operation).with("RoleName", API)
}

impl Scene {
    fn role(&self, name: &str) -> Value {
        let call = Call::new("iam", "GetRole").with("RoleName", name);
        self.sandbox.door("reader").ask(&scope(), &call).unwrap()["Role"].clone()
    }

    fn write(&self, call: &Call) {
        self.wait(SignedDuration::from_mins(15));
        self.sandbox.door("console").ask(&scope(), call).unwrap();
    }

    /// Lists what the agent wrote since a moment, once everything is as declared again.
    async fn reverted(&self) -> Vec<String> {
        let before = self.writes().len();
        self.wait(SignedDuration::from_mins(10));
        self.converge().await;
        self.writes().split_off(before)
    }
}

#[tokio::test]
async fn a_role_waits_for_the_role_that_it_trusts_and_nothing_fails() {
    let scene = Scene::new(ROLES).await;
    scene.converge().await;
    let expected = ["CreateRole", "CreateRole", "AttachRolePolicy", "PutRolePolicy"];
    assert_eq!(scene.writes(), expected);
    let counters = scene.sandbox.counters();
    let refused: Vec<_> = counters
        .iter()
        .filter(|(name, count)| name.starts_with("iam:") && count.refused > 0)
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(refused, ["iam:GetRole"], "the reads that prove an absence, and nothing else");
    let principal = &scene.role(API)["AssumeRolePolicyDocument"]["Statement"][0]["Principal"];
    assert_eq!(principal["AWS"][0], "arn:aws:iam::123456789012:role/team-payments-prod-deploy");
}

#[tokio::test]
async fn a_converged_role_is_left_alone() {
    let scene = Scene::new(ROLES).await;
    scene.converge().await;
    let writes = scene.writes();
    for _ in 0..20 {
        scene.wait(SignedDuration::from_mins(5));
        assert!(scene.pass().await.status.unwrap().is_ready());
    }
    assert_eq!(scene.writes(), writes);
}

#[tokio::test]
async fn a_widened_trust_and_an_added_policy_are_taken_back_at_once() {
    let scene = Scene::new(ROLES).await;
    scene.converge().await;
    let anyone = json!({"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Principal": {"AWS": "999999999999"}, "Action": "sts:AssumeRole"}
    ]});
    scene.write(&iam("UpdateAssumeRolePolicy").with("PolicyDocument", anyone.to_string()));
    assert_eq!(scene.reverted().await, ["UpdateAssumeRolePolicy"]);
    let admin = "arn:aws:iam::aws:policy/AdministratorAccess";
    scene.write(&iam("AttachRolePolicy").with("PolicyArn", admin));
    assert_eq!(scene.reverted().await, ["DetachRolePolicy"]);
    let all = json!({"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}});
    let put = iam("PutRolePolicy").with("PolicyDocument", all.to_string());
    scene.write(&put.with("PolicyName", "mine"));
    assert_eq!(scene.reverted().await, ["DeleteRolePolicy"]);
}

#[tokio::test]
async fn a_trusted_role_that_was_made_anew_is_saved_again_once() {
    let scene = Scene::new(ROLES).await;
    scene.converge().await;
    let deploy = "team-payments-prod-deploy";
    scene.write(&Call::new("iam", "DeleteRole").with("RoleName", deploy));
    assert_eq!(scene.reverted().await, ["CreateRole", "UpdateAssumeRolePolicy"]);
    let principal = &scene.role(API)["AssumeRolePolicyDocument"]["Statement"][0]["Principal"];
    assert_eq!(principal["AWS"][0], format!("arn:aws:iam::123456789012:role/{deploy}"));
}

#[tokio::test]
async fn a_principal_that_does_not_exist_is_waited_for_without_a_call() {
    let elsewhere = "arn:aws:iam::123456789012:role/elsewhere";
    let manifest = ROLES.replace("[deploy]", &format!("[\"{elsewhere}\"]"));
    let scene = Scene::new(&manifest).await;
    for _ in 0..30 {
        let passed = scene.pass().await;
        let (_, at) = passed.next.due.expect("the object is due again");
        scene.wait(at.duration_since(scene.clock.now()));
    }
    assert_eq!(scene.writes(), ["CreateRole"], "only the role that leans on nobody");
    let status = scene.status().await;
    let row = status.resources.iter().find(|row| &*row.id.name == API).unwrap();
    assert_eq!(row.state, "Blocked", "{row:?}");
    assert!(row.message.contains("iam_role/elsewhere"), "{}", row.message);
    let trust =
        json!({"Statement": {"Effect": "Allow", "Principal": "*", "Action": "sts:AssumeRole"}});
    let create = Call::new("iam", "CreateRole").with("RoleName", "elsewhere");
    scene.write(&create.with("AssumeRolePolicyDocument", trust.to_string()));
    scene.wait(SignedDuration::from_mins(5));
    scene.converge().await;
    let trust = &scene.role(API)["AssumeRolePolicyDocument"]["Statement"][0];
    assert_eq!(trust["Principal"]["AWS"][0], elsewhere);
}

#[tokio::test]
async fn a_create_whose_answer_is_lost_makes_no_second_role() {
    let scene = Scene::new(ROLES).await;
    scene.sandbox.inject(Rule::new(Effect::LoseAnswer).operation("CreateRole").times(1));
    scene.converge().await;
    let created = scene.writes().iter().filter(|name| *name == "CreateRole").count();
    assert_eq!(created, 2);
}

#[tokio::test]
async fn a_role_of_somebody_else_is_never_touched() {
    let scene = Scene::new(ROLES).await;
    let trust =
        json!({"Statement": {"Effect": "Allow", "Principal": "*", "Action": "sts:AssumeRole"}});
    scene.write(&iam("CreateRole").with("AssumeRolePolicyDocument", trust.to_string()));
    scene.wait(SignedDuration::from_mins(1));
    for _ in 0..10 {
        let passed = scene.pass().await;
        let (_, at) = passed.next.due.expect("the object is due again");
        scene.wait(at.duration_since(scene.clock.now()));
    }
    assert_eq!(scene.writes(), ["CreateRole"], "the other role");
    let status = scene.status().await;
    let row = status.resources.iter().find(|row| &*row.id.name == API).unwrap();
    assert_eq!(row.state, "Refused", "{row:?}");
}

#[tokio::test]
async fn a_kind_whose_reads_are_denied_stops_no_other() {
    let database = "    database: {engine: postgres, version: \"15\", sizeClass: db.r6g.large}\n    \
        network: {vpcRef: shared-prod-vpc}\n    iam:";
    let scene = Scene::new(&ROLES.replace("    iam:", database)).await;
    scene.sandbox.inject(Rule::new(Effect::Deny).service("iam"));
    for _ in 0..40 {
        let passed = scene.pass().await;
        let (_, at) = passed.next.due.expect("the object is due again");
        scene.wait(at.duration_since(scene.clock.now()));
    }
    assert_eq!(scene.writes(), ["CreateDBSubnetGroup", "CreateDBInstance"]);
    let status = scene.status().await;
    let state = |kind: &str| {
        let row = status.resources.iter().find(|row| row.id.kind.as_str() == kind).unwrap();
        row.state.clone()
    };
    assert_eq!((&*state("db_instance"), &*state("iam_role")), ("Converged", "Unknown"));
}

#[tokio::test]
async fn two_environments_of_one_account_share_the_lists_of_roles() {
    let scene = Scene::new(ROLES).await;
    scene.converge().await;
    scene.wait(SignedDuration::from_mins(1));
    let lists = || scene.sandbox.counters()["iam:ListRoles"].calls;
    let before = lists();
    let kind = crate::kinds::find(&crate::kinds::iam_role::NAME).unwrap();
    for region in ["eu-west-1", "us-east-1"] {
        let environment = Scope { region: Region::new(region), ..scope() };
        let (kind_name, name) = (kind.name(), API.into());
        let id = crate::model::ResourceId { kind: kind_name, scope: kind.home(&environment), name };
        let seen = scene.engine.observer.observe(kind, &id).await;
        assert!(matches!(seen, crate::model::Observation::Present(_)), "{seen:?}");
    }
    assert_eq!(lists() - before, 1);
}

/// A database, and a role whose description names its endpoint if `is_referred`.
fn read_by_a_role(is_referred: bool) -> String {
    let role = "    iam: {roles: {api: {trust: {services: [ec2.amazonaws.com]}, description: \
        \"reads ${database.endpoint}\"}}}\n";
    let role = if is_referred { role } else { "" };
    MANIFEST
        .replace("r6g.large\n", "r6g.large\n      storage: {type: gp3, sizeGiB: 100}\n")
        .replace("  reconcilePolicy:", &format!("{role}  reconcilePolicy:"))
}

#[tokio::test]
async fn a_reference_to_a_database_of_which_something_else_is_refused_is_resolved() {
    for (from, to, is_made) in [
        ("sizeGiB: 100", "sizeGiB: 50", true),
        ("engine: postgres\n      version: \"15\"", "engine: mysql\n      version: \"8.0\"", false),
    ] {
        let mut scene = Scene::new(&read_by_a_role(false)).await;
        scene.converge().await;
        scene.commit(Some(&read_by_a_role(true).replace(from, to)));
        for _ in 0..5 {
            let _ = scene.pass().await;
            scene.wait(SignedDuration::from_mins(5));
        }
        let database = &scene.status().await.resources[2];
        assert_eq!(database.state, "Refused", "{to}: {database:#?}");
        assert_eq!(scene.writes().contains(&"CreateRole".to_owned()), is_made, "{to}");
        if is_made {
            let address = scene.instance()["Endpoint"]["Address"].as_str().unwrap().to_owned();
            let role = scene.role(API);
            assert_eq!(role["Description"], format!("reads {address}").as_str());
        }
    }
}

#[tokio::test]
async fn a_policy_that_waits_for_a_reference_is_not_one_that_git_does_not_speak_of() {
    let role = "    iam: {roles: {api: {trust: {services: [ec2.amazonaws.com]}, inline: {connect: \
        {Version: \"2012-10-17\", Statement: [{Effect: Allow, Action: \"rds-db:connect\", Resource: \
        \"arn:aws:rds-db:*:*:dbuser:${database.resourceId}/app\"}]}}}}}\n";
    let manifest = MANIFEST.replace("  reconcilePolicy:", &format!("{role}  reconcilePolicy:"));
    let mut scene = Scene::new(&manifest).await;
    scene.converge().await;
    let other = "engine: mysql\n      version: \"8.0\"";
    scene.commit(Some(&manifest.replace("engine: postgres\n      version: \"15\"", other)));
    let _ = scene.pass().await;
    let status = scene.status().await;
    let role = status.resources.iter().find(|row| row.id.kind.as_str() == "iam_role").unwrap();
    assert!(role.notices.is_empty(), "{:?}", role.notices);
    assert_eq!(role.waits[0].field, "inline", "{:?}", role.waits);
}
