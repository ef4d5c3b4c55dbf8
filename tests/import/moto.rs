//! A messy account at moto, made with boto3, imported with the built program and then taken over.

use super::*;
use crate::support::emulators::own_moto;
use crate::support::python;

const REGION: &str = "eu-west-1";

/// What is taken over of the account.
const TAKEN: [&str; 18] = [
    "db_instance/orders-db",
    "db_instance/legacy",
    "db_cluster/catalog",
    "db_subnet_group/data-subnets",
    "db_parameter_group/orders-params",
    "db_cluster_parameter_group/catalog-cluster",
    "security_group/orders-db-access",
    "iam_role/ordersmonitoring",
    "secret/orders-db/api-key",
    "route53_record_set/example.com/db.example.com/CNAME",
    "s3_bucket/orders-db-exports",
    "s3_bucket/ledger.archive",
    "s3_bucket/www.example.com",
    "launch_template/Shop-Web_v2",
    "autoscaling_group/shop-web",
    "launch_template/nightly",
    "autoscaling_group/nightly",
    "security_group/shop-web",
];

/// Runs the program with the credentials of a test.
fn at(url: &str, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_levelset"));
    command.args(words).env_clear().stdin(Stdio::null());
    command.env("AWS_ACCESS_KEY_ID", "test").env("AWS_SECRET_ACCESS_KEY", "test");
    command.env("AWS_ENDPOINT_URL", url).output().unwrap()
}

#[tokio::test]
async fn a_messy_account_is_imported_and_then_taken_over_without_a_change() {
    let moto = own_moto();
    let url = moto.url.as_str().trim_end_matches('/').to_owned();
    python::run("messy_account.py", &[&url, REGION]).await;
    // Before, a role is as new as the test, and nobody relies on one.
    tokio::time::sleep(std::time::Duration::from_secs(16)).await;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let settings = format!(
        "environments:\n  production: {{account: \"123456789012\", region: {REGION}, \
         endpointUrl: \"{url}\"}}\nstateDirectory: {}\n",
        path("state")
    );
    fs::write(path("levelset.yaml"), settings).unwrap();
    let (config, manifests) = (path("levelset.yaml"), path("out"));
    let words = ["import", "--config", &config, "--out", &manifests, "-o", "json"];
    let output = at(&url, &words);
    assert_eq!(code(&output), 0, "{}{}", out(&output), err(&output));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let taken: Vec<String> = told["objects"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|object| object["resources"].as_array().unwrap().clone())
        .map(|it| it.as_str().unwrap().to_owned())
        .collect();
    for expected in TAKEN {
        assert!(taken.iter().any(|it| it == expected), "{expected} is not in {taken:#?}\n{told:#}");
    }
    let plan = at(&url, &["plan", &manifests, "--config", &config, "-o", "json"]);
    let plan: Value = serde_json::from_slice(&plan.stdout).unwrap();
    assert_eq!(changes(&plan), [""; 0]);
    // A tag that a launch template got after its creation is in no answer of moto's: that one is ours
    // now, nobody would ever see.
    without_compute(&manifests);
    let before = python_state(&url).await;
    let synced = at(&url, &["sync", &manifests, "--config", &config]);
    assert_eq!(code(&synced), 0, "{}{}", out(&synced), err(&synced));
    let after = python_state(&url).await;
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let (before, after) = (lines(&before), lines(&after));
    let changed = before.iter().zip(&after).find(|(one, other)| one != other);
    assert_eq!((changed, after.len()), (None, before.len()), "nothing but tags has changed");
    let again = at(&url, &["import", "--config", &config, "-o", "json"]);
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    let objects = again["objects"].as_array().unwrap().iter();
    let objects: Vec<&str> = objects.map(|object| object["object"].as_str().unwrap()).collect();
    let left_out = ["Workspace/nightly", "Workspace/shop"];
    assert_eq!(objects, left_out, "what is Levelset's is not imported again: {again:#}");
}

/// Takes away the manifests that declare Auto Scaling groups.
fn without_compute(manifests: &str) {
    for entry in fs::read_dir(manifests).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() && read(&path).contains("\n    compute:\n") {
            fs::remove_file(path).unwrap();
        }
    }
}

/// Returns everything but tags, as boto3 sees it.
async fn python_state(url: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.json");
    python::run("messy_account.py", &[url, REGION, file.to_str().unwrap()]).await;
    read(&file)
}
