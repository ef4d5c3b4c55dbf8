//! Every folder of cases is an account: import its answers and plan what was written.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// Why something that a case shows is in no manifest: what the reason holds, and why that is right.
const LEFT: &[(&str, &str)] = &[
    ("it is declared with its cluster", "and it is: the plan of the cluster has it"),
    ("owns it", "it is somebody else's"),
    ("made it", "a service of AWS has it"),
    ("makes it", "a traffic policy has it"),
    ("it is the copy of a secret", "the other region has it"),
    ("its deletion is scheduled", "it is on its way out"),
    ("AWS is deleting the database", "it is on its way out"),
    ("the database has failed", "nobody can change it"),
    ("RDS cannot use the KMS key", "nobody can change it"),
    ("the database is stopped", "nothing is compared while it is"),
    ("the cluster is stopped", "nothing is compared while it is"),
    ("the database is modifying", "it is not settled"),
    ("the cluster is failing-over", "it is not settled"),
    ("RDS is making the secret", "it is not settled"),
    (
        "queued for the maintenance window",
        "what is to come is not what is, and the section needs it",
    ),
    ("would be made", "a cluster without a member cannot be declared"),
    ("groups of several VPCs have this name", "a name does not tell which one is meant"),
    ("its name has capitals", "AWS is asked for a group in lower case"),
    ("document: ", "a trust that lets in everybody is refused in a manifest"),
    ("nothing that is imported uses it", "what uses it is left out itself"),
    ("an entry a launch template", "an entry has no field for a launch configuration"),
    ("a mixed instances policy", "an entry has no field for it"),
    ("the one in force: say so in AWS", "an entry takes the version in force"),
    ("what instances need and not", "an entry has no field for it"),
    ("no Auto Scaling group starts", "an entry has both"),
    ("which goes with it, is left out", "a group and its template are one entry"),
    ("defaultVersion: differs", "a version that Levelset made is not in force yet"),
    ("AWS is deleting the group", "it is on its way out"),
    ("without its default version", "it is not settled"),
    ("levelset-database-access", "only Levelset makes a policy of this name"),
    // What follows is no account of AWS's: the cases show answers that lack something, or of which
    // somebody made the half only.
    ("is not known here", "an instance without an engine"),
    ("no cluster of the engine  can", "a cluster without an engine"),
    ("its cluster is not known", "an Aurora instance without a cluster"),
    ("cluster: AWS has", "a cluster that counts somebody else's instance"),
    ("maintenanceWindow: differs", "members without a window"),
    ("lacks the field \"sizeClass\"", "an instance without a class"),
    ("lacks the field \"vpcRef\"", "a group in a VPC that is not in the list"),
    ("is a text and no object", "an answer that cannot be read"),
    ("is an object and not a list", "an answer that cannot be read"),
    ("AWS answered no", "an answer that lacks a member"),
    ("family: AWS has", "a cluster with a group of another family"),
    ("was not found", "a group in a VPC that is not in the list"),
    ("is no id of a subnet", "short ids of the cases"),
    ("is not there, or not settled", "a network's own VPC without the tags by which it is known"),
    ("at least one subnet", "a group without subnets"),
];

/// The lists whose items AWS answers with tags of their own, or whose tags a case may leave out.
const GROUPS: [&str; 3] = ["DBSubnetGroups", "DBParameterGroups", "DBClusterParameterGroups"];

/// Returns a case's answers as of an account that Levelset does not know yet.
fn unowned(mut answers: Value) -> Value {
    let lists = answers.as_object_mut().unwrap();
    lists.remove("Handles");
    for (name, list) in lists.iter_mut() {
        for item in list.as_array_mut().into_iter().flatten() {
            for tags in ["TagList", "Tags", "TagSet"] {
                if let Some(tags) = item.get_mut(tags).and_then(Value::as_array_mut) {
                    tags.retain(|tag| {
                        !tag["Key"].as_str().unwrap_or_default().starts_with("levelset:")
                    });
                }
            }
            if GROUPS.contains(&name.as_str()) && item.get("TagList").is_none() {
                item["TagList"] = json!([]);
            }
            let is_parameters = name.ends_with("ParameterGroups");
            if is_parameters && item.get("Parameters").is_none() {
                item["Parameters"] = json!([]);
            }
        }
        if let Some(records) = list.as_array_mut().filter(|_| name == "ResourceRecordSets") {
            records.retain(|it| !it["Name"].as_str().unwrap_or_default().starts_with("_levelset-"));
        }
    }
    answers
}

/// Puts around what a case shows of groups a database that uses them, and members into its clusters:
/// in an account, nobody has one without the other.
fn peopled(mut answers: Value) -> Value {
    let list = |answers: &Value, name: &str| answers[name].as_array().cloned().unwrap_or_default();
    let mut instances = list(&answers, "DBInstances");
    for cluster in list(&answers, "DBClusters") {
        for member in cluster["DBClusterMembers"].as_array().into_iter().flatten() {
            let name = &member["DBInstanceIdentifier"];
            if instances.iter().any(|it| it["DBInstanceIdentifier"] == *name) {
                continue;
            }
            let mut instance = instance(name.as_str().unwrap());
            for same in ["Engine", "EngineVersion", "DBClusterIdentifier"] {
                instance[same] = cluster[same].clone();
            }
            instances.push(instance);
        }
    }
    let group = |name: &str| list(&answers, name).first().cloned();
    let (parameters, of_cluster, access) =
        (group("DBParameterGroups"), group("DBClusterParameterGroups"), group("SecurityGroups"));
    if instances.is_empty() && (parameters.is_some() || access.is_some()) {
        let mut user = instance("orders");
        if let Some(group) = &parameters {
            user["DBParameterGroups"] =
                json!([{"DBParameterGroupName": group["DBParameterGroupName"]}]);
            let family = group["DBParameterGroupFamily"].as_str().unwrap_or("postgres15");
            let digits = family.find(|c: char| c.is_ascii_digit()).unwrap_or(family.len());
            user["Engine"] = family[..digits].trim_end_matches('-').into();
            user["EngineVersion"] = format!("{}.4", &family[digits..]).into();
        }
        if let Some(group) = &access {
            user["VpcSecurityGroups"] = json!([{"VpcSecurityGroupId": group["GroupId"]}]);
            user["DBSubnetGroup"] = json!({"DBSubnetGroupName": "data", "VpcId": group["VpcId"]});
            answers["DBSubnetGroups"] = json!([{"DBSubnetGroupName": "data", "VpcId": group["VpcId"],
                "DBSubnetGroupArn": "arn:data", "TagList": [], "Subnets": [
                    {"SubnetIdentifier": "subnet-a"}, {"SubnetIdentifier": "subnet-b"}]}]);
            answers["Subnets"] = json!([{"SubnetId": "subnet-a", "VpcId": group["VpcId"]},
                {"SubnetId": "subnet-b", "VpcId": group["VpcId"]}]);
        }
        instances.push(user);
    }
    if let (Some(group), true) = (of_cluster, list(&answers, "DBClusters").is_empty()) {
        let mut member = instance("orders-1");
        member["DBClusterIdentifier"] = "orders".into();
        (member["Engine"], member["EngineVersion"]) = ("aurora-postgresql".into(), "16.4".into());
        answers["DBClusters"] = json!([{"DBClusterIdentifier": "orders", "Status": "available",
            "Engine": "aurora-postgresql", "EngineVersion": "16.4", "TagList": [],
            "DBClusterParameterGroup": group["DBClusterParameterGroupName"],
            "StorageEncrypted": true, "DBClusterMembers": [{"DBInstanceIdentifier": "orders-1"}]}]);
        instances.push(member);
    }
    answers["DBInstances"] = instances.into();
    with_a_group(answers)
}

/// Puts a group that starts instances from it beside what a case shows of a launch template.
fn with_a_group(mut answers: Value) -> Value {
    let template = answers["LaunchTemplates"].get(0).cloned();
    let groups = answers["AutoScalingGroups"].as_array();
    if let (Some(template), true) = (template, groups.is_none_or(Vec::is_empty)) {
        answers["AutoScalingGroups"] = json!([{"AutoScalingGroupName": "orders-web",
            "LaunchTemplate": {"LaunchTemplateId": template["LaunchTemplateId"],
                "Version": "$Default"},
            "MinSize": 1, "MaxSize": 3, "DesiredCapacity": 2,
            "VPCZoneIdentifier": "subnet-0a1,subnet-0b2", "Tags": []}]);
    }
    answers
}

fn instance(name: &str) -> Value {
    json!({"DBInstanceIdentifier": name, "DBInstanceStatus": "available", "Engine": "postgres",
        "EngineVersion": "15.4", "DBInstanceClass": "db.r6g.large", "AllocatedStorage": 20,
        "StorageType": "gp3", "StorageEncrypted": true, "TagList": []})
}

/// Imports one case; returns what is wrong, and what was left out.
fn check(case: &Path) -> Result<Vec<(String, String)>, String> {
    let answers: Value = serde_json::from_str(&read(&case.join("observed.json"))).unwrap();
    let saved = Saved::of(&unowned(peopled(answers)));
    let output = saved.import(&["-o", "json"]);
    if err(&output).contains("nothing could be read") {
        return Ok(Vec::new());
    }
    if code(&output) != 0 {
        return Err(format!("{}{}", out(&output), err(&output)));
    }
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let left = told["left"].as_array().unwrap().iter().map(|it| {
        let text = |member: &str| it[member].as_str().unwrap().to_owned();
        (text("kind"), text("reason"))
    });
    let left: Vec<(String, String)> = left.collect();
    if told["objects"] == json!([]) {
        return Ok(left);
    }
    match changes(&saved.plan()).as_slice() {
        [] => Ok(left),
        found => {
            let texts: Vec<String> = std::fs::read_dir(saved.path("out"))
                .unwrap()
                .filter_map(|it| fs::read_to_string(it.unwrap().path()).ok())
                .collect();
            Err(format!("{}\n{}", found.join("\n"), texts.join("---\n")))
        }
    }
}

fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/kinds");
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let kinds = entries(&root);
    let mut found: Vec<PathBuf> =
        kinds.iter().flat_map(|kind| entries(&kind.join("cases"))).collect();
    found.sort();
    found
}

#[test]
fn what_every_case_shows_is_imported_without_a_change() {
    let folders = folders();
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let reasons = Mutex::new(BTreeMap::<(String, String), Vec<String>>::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(case) = folders.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let name = format!("{case:?}");
                    match check(case) {
                        Err(text) => failures.lock().unwrap().push(format!("{name}\n{text}")),
                        Ok(left) => {
                            let mut reasons = reasons.lock().unwrap();
                            for one in left {
                                reasons.entry(one).or_default().push(name.clone());
                            }
                        }
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} failed\n{}", failures.len(), failures.join("\n\n"));
    let unknown: Vec<String> = reasons
        .into_inner()
        .unwrap()
        .into_iter()
        .filter(|((_, reason), _)| !LEFT.iter().any(|(known, _)| reason.contains(known)))
        .map(|((kind, reason), cases)| {
            format!("{kind}: {reason} ({} cases, {})", cases.len(), cases[0])
        })
        .collect();
    assert!(unknown.is_empty(), "left out without a word:\n{}", unknown.join("\n"));
}
