//! The pass with resources of the Cloud Control API, whose requests take a while.

use super::*;
use crate::model::handle::Handle;

const QUEUE: &str = r#"apiVersion: platform.kby.io/v1alpha1
kind: Workspace
metadata: {name: team-payments-prod}
spec:
  environment: production
  resources:
    custom:
      jobs:
        type: AWS::SQS::Queue
        properties: {QueueName: jobs, VisibilityTimeout: 60}
"#;

const URL: &str = "https://sqs.eu-west-1.amazonaws.com/123456789012/jobs";

fn custom(operation: &'static str) -> Call {
    Call::new("cloudcontrolapi", operation)
        .with("TypeName", "AWS::SQS::Queue")
        .with("Identifier", URL)
}

impl Scene {
    fn queue(&self) -> Value {
        let all = self.sandbox.inspect_custom(&scope());
        all.get(URL).cloned().map_or(Value::Null, Value::Object)
    }

    /// Changes the queue behind the agent's back.
    fn patch(&self, path: &str, value: Value) {
        self.wait(SignedDuration::from_mins(15));
        let patch = json!([{"op": "replace", "path": path, "value": value}]).to_string();
        let call = custom("UpdateResource").with("PatchDocument", patch);
        self.sandbox.door("console").ask(&scope(), &call).unwrap();
        self.wait(SignedDuration::from_mins(15));
    }

    async fn handle(&self) -> Handle {
        let record = self.engine.store.get(&key()).await.unwrap().unwrap();
        record.memory.resources.into_values().next().unwrap_or_default().handle
    }

    /// Makes passes when they are due.
    pub(super) async fn passes(&self, number: usize) -> ObjectStatus {
        for _ in 0..number {
            let passed = self.pass().await;
            let (_, at) = passed.next.due.expect("the object is due again");
            self.wait(at.duration_since(self.clock.now()));
        }
        self.status().await
    }
}

#[tokio::test]
async fn a_queue_is_made_once_and_then_left_alone() {
    let scene = Scene::new(QUEUE).await;
    scene.converge().await;
    assert_eq!(scene.writes(), ["CreateResource"]);
    assert_eq!(scene.queue()["VisibilityTimeout"], 60);
    let owner =
        json!([{"Key": "levelset:owner", "Value": "levelset/Workspace/team-payments-prod"}]);
    assert_eq!(scene.queue()["Tags"], owner);
    let handle = scene.handle().await;
    assert_eq!(handle.identifier.as_deref(), Some(URL));
    let before = scene.sandbox.counters();
    scene.passes(12).await;
    assert_eq!(scene.writes(), ["CreateResource"]);
    let after = scene.sandbox.counters();
    let calls = |name: &str| after[name].calls - before.get(name).map_or(0, |it| it.calls);
    assert_eq!(calls("cloudcontrolapi:GetResource"), 12, "one read a pass");
    assert_eq!(calls("cloudformation:DescribeType"), 0, "the schema is kept");
    assert!(scene.handle().await.ticket.is_none());
}

#[tokio::test]
async fn a_change_in_the_console_is_put_back_by_a_patch_of_what_differs() {
    let scene = Scene::new(QUEUE).await;
    scene.converge().await;
    scene.patch("/VisibilityTimeout", json!(5));
    let status = scene.pass().await.status.unwrap();
    assert_eq!(status.drift[0].field, "properties.VisibilityTimeout");
    scene.converge().await;
    assert_eq!(scene.writes(), ["CreateResource", "UpdateResource"]);
    assert_eq!(scene.queue()["VisibilityTimeout"], 60);
    let calls = scene.sandbox.calls_since(0);
    let patch = calls.iter().rfind(|call| call.operation == "UpdateResource").unwrap();
    let expected = r#"[{"op":"replace","path":"/VisibilityTimeout","value":60}]"#;
    assert_eq!(patch.params["PatchDocument"], expected);
}

#[tokio::test]
async fn a_create_whose_answer_is_lost_is_repeated_under_its_token_and_makes_no_second_one() {
    let manifest =
        QUEUE.replace("AWS::SQS::Queue", "AWS::KMS::Key").replace("QueueName: jobs, ", "");
    let scene = Scene::new(&manifest).await;
    scene.sandbox.inject(Rule::new(Effect::LoseAnswer).operation("CreateResource").times(1));
    scene.converge().await;
    let calls = scene.sandbox.calls_since(0);
    let creates = calls.iter().filter(|call| call.operation == "CreateResource");
    let tokens: Vec<&Value> = creates.map(|call| &call.params["ClientToken"]).collect();
    assert_eq!(tokens.len(), 2, "{tokens:?}");
    assert_eq!(tokens[0], tokens[1]);
    assert_eq!(scene.sandbox.inspect_custom(&scope()).len(), 1);
}

#[tokio::test]
async fn a_request_that_fails_is_told_and_not_repeated_until_it_may_help() {
    let mut scene =
        Scene::new(&QUEUE.replace("QueueName: jobs", "QueueName: jobs, Arn: mine")).await;
    let start = scene.clock.now();
    let mut refused = None;
    for _ in 0..20 {
        let row = scene.passes(1).await.resources.remove(0);
        refused = Some(row).filter(|row| row.state == "Refused").or(refused);
    }
    let message = refused.expect("it is told").message;
    assert!(message.contains("InvalidRequest"), "{message}");
    let quarters = scene.clock.now().duration_since(start).as_mins() / 15;
    let creates = || i64::try_from(scene.writes().len()).unwrap();
    assert!(creates() <= quarters + 1, "{} creates in {quarters} quarters of an hour", creates());
    let before = creates();
    scene.commit(Some(QUEUE));
    scene.converge().await;
    assert_eq!(
        i64::try_from(scene.writes().len()).unwrap(),
        before + 1,
        "Git changed, so it is tried at once"
    );
}

#[tokio::test]
async fn somebody_elses_resource_is_refused_and_taken_over_only_by_the_manifests_word() {
    let group = QUEUE.replace("AWS::SQS::Queue", "AWS::Logs::LogGroup").replace(
        "QueueName: jobs, VisibilityTimeout: 60",
        "LogGroupName: jobs, RetentionInDays: 7",
    );
    let mut scene = Scene::new(&group).await;
    let desired = json!({"LogGroupName": "jobs", "RetentionInDays": 30}).to_string();
    let make = Call::new("cloudcontrolapi", "CreateResource")
        .with("TypeName", "AWS::Logs::LogGroup")
        .with("DesiredState", desired);
    scene.sandbox.door("console").ask(&scope(), &make).unwrap();
    scene.wait(SignedDuration::from_mins(1));
    let status = scene.passes(5).await;
    assert_eq!(status.resources[0].state, "Refused");
    assert!(scene.writes().is_empty(), "{:?}", scene.writes());
    scene.commit(Some(&group.replace("        type:", "        adopt: true\n        type:")));
    scene.converge().await;
    assert_eq!(scene.writes(), ["UpdateResource", "UpdateResource"], "the tag, then the retention");
    let there = scene.sandbox.inspect_custom(&scope());
    assert_eq!(there["jobs"]["RetentionInDays"], 7);
}

#[tokio::test]
async fn a_type_without_tags_is_owned_by_what_was_recorded() {
    let board = QUEUE.replace("AWS::SQS::Queue", "AWS::CloudWatch::Dashboard").replace(
        "QueueName: jobs, VisibilityTimeout: 60",
        "DashboardName: jobs, DashboardBody: '{}'",
    );
    let scene = Scene::new(&board).await;
    scene.converge().await;
    scene.passes(3).await;
    assert_eq!(scene.writes(), ["CreateResource"]);
    let handle = scene.handle().await;
    assert_eq!(handle.identifier.as_deref(), Some("jobs"));
}

#[tokio::test]
async fn a_type_that_the_settings_do_not_allow_is_refused_before_any_write() {
    let user = QUEUE.replace("AWS::SQS::Queue", "AWS::IAM::User");
    let scene = Scene::new(&user).await;
    let status = scene.passes(3).await;
    assert!(scene.writes().is_empty());
    let row = &status.resources[0];
    assert_eq!(row.state, "Refused", "{row:?}");
    assert!(row.message.contains("do not allow the type AWS::IAM::User"), "{}", row.message);
}

#[tokio::test]
async fn a_schema_that_may_not_be_read_is_said_and_costs_no_property() {
    let scene = Scene::new(QUEUE).await;
    scene.sandbox.inject(Rule::new(Effect::Deny).service("cloudformation"));
    let status = scene.passes(12).await;
    assert_eq!(scene.writes(), ["CreateResource"]);
    assert_eq!(scene.queue()["VisibilityTimeout"], 60);
    let row = &status.resources[0];
    assert_eq!(row.state, "Converged", "{row:?}");
}

#[tokio::test]
async fn an_output_of_a_custom_resource_feeds_another() {
    let more = "      board:\n        type: AWS::CloudWatch::Dashboard\n        properties:\n          \
        DashboardName: board\n          DashboardBody: \"queue ${custom.jobs.Arn} at \
        ${custom.jobs.identifier}\"\n";
    let scene = Scene::new(&format!("{QUEUE}{more}")).await;
    scene.converge().await;
    let there = scene.sandbox.inspect_custom(&scope());
    let expected = format!("queue arn:aws:sqs:eu-west-1:123456789012:jobs at {URL}");
    assert_eq!(there["board"]["DashboardBody"], expected.as_str());
}
