//! Outputs of one resource in the texts of another.

use std::time::Duration;

use levelset::aws::Budgets;
use levelset::model::{Call, Key};
use levelset::sandbox::Settings;
use levelset::status::Store;
use serde_json::Value;

use super::stage::{Stage, network, scope, workspace};

/// A database is made in 5 to 10 minutes, and then backed up.
const LONG: Duration = Duration::from_secs(3600);

fn reader(text: &str) -> String {
    format!(
        "apiVersion: platform.kby.io/v1alpha1\nkind: Workspace\nmetadata: {{name: team-b}}\nspec:\n  \
         environment: production\n  resources:\n    iam:\n      roles:\n        api:\n          trust: \
         {{services: [ecs-tasks.amazonaws.com]}}\n          description: \"{text}\"\n"
    )
}

fn description(stage: &Stage) -> String {
    let call = Call::new("iam", "GetRole").with("RoleName", "team-b-api");
    let answer = stage.sandbox.door("auditor").ask(&scope(), &call).unwrap();
    answer["Role"]["Description"].as_str().map(str::to_owned).unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn a_text_waits_for_the_database_of_another_object_and_goes_on_when_it_is_there() {
    let stage = Stage::begin(Settings::real(1), Budgets::default()).await;
    let text = "reads ${Workspace/team-a.database.endpoint}:${Workspace/team-a.database.port}, \
        not $${database.endpoint}";
    stage.commit(&[("a.yaml", workspace("team-a", "")), ("b.yaml", reader(text))]);
    let key = Key::workspace("team-b");
    stage.ready(&key, LONG).await;
    let role = &stage.calls("CreateRole");
    assert_eq!(role.len(), 1, "{role:?}");
    let endpoint = stage.sandbox.inspect(&scope())[0]["Endpoint"].clone();
    let (address, port) = (endpoint["Address"].as_str().unwrap(), &endpoint["Port"]);
    assert!(port.is_number());
    assert_eq!(description(&stage), format!("reads {address}:{port}, not ${{database.endpoint}}"));
    let history = stage.store.history(&key, 100).await.unwrap();
    assert!(history.iter().all(|event| event.reason != "Failed"), "{history:?}");
}

#[tokio::test(start_paused = true)]
async fn a_text_that_names_a_network_follows_it_to_another_vpc() {
    let stage = Stage::begin(Settings::real(1), Budgets::default()).await;
    stage.sandbox.seed_vpc(&scope(), "edge", "10.1.0.0/16", &["a", "b"]);
    let text = "in ${Network/core.network.vpcId}";
    let files = |spec: &str| {
        let core = network("core").replace("environment", &format!("{spec}environment"));
        [("core.yaml", core), ("b.yaml", reader(text))]
    };
    stage.commit(&files(""));
    stage.ready(&Key::workspace("team-b"), LONG).await;
    let vpc = |name: &str| {
        let call = Call::new("ec2", "DescribeVpcs");
        let answer = stage.sandbox.door("auditor").ask(&scope(), &call).unwrap();
        let vpcs = answer["Vpcs"].as_array().unwrap().clone();
        let is_it = |vpc: &&Value| vpc["Tags"][0]["Value"] == name;
        vpcs.iter().find(is_it).unwrap()["VpcId"].as_str().unwrap().to_owned()
    };
    assert_eq!(description(&stage), format!("in {}", vpc("core")));
    stage.commit(&files("vpcName: edge\n  "));
    let followed = async || description(&stage) == format!("in {}", vpc("edge"));
    let took = stage.until(followed, LONG).await;
    assert!(took < Duration::from_secs(60), "{took:?}");
}
