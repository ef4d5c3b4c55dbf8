//! A manifest, a zero byte, and saved answers of the AWS CLI: `plan --observed`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use levelset::desired::{Cache, Guard};
use levelset::kinds;
use levelset::manifest::parse;
use levelset::model::fence::Lost;
use levelset::model::tree::Content;
use levelset::model::{
    AccountId, Action, ChangeSet, Clock, Entry, Fence, Plan, Region, Revision, Scope, Step, Token,
    dns,
};
use levelset::observe::saved::Saved;
use levelset::reconcile::engine::{Engine, Environment, Ports};
use levelset::reconcile::preview::preview;
use levelset::report::{Style, awscli, json, text};
use levelset::status::InMemory;
use serde_json::Value;

use super::{files, root};

/// Which member of which list names a resource of a kind.
const NAMES: &[(&str, &str, &str)] = &[
    ("db_cluster", "DBClusters", "DBClusterIdentifier"),
    ("db_cluster_parameter_group", "DBClusterParameterGroups", "DBClusterParameterGroupName"),
    ("db_instance", "DBInstances", "DBInstanceIdentifier"),
    ("db_parameter_group", "DBParameterGroups", "DBParameterGroupName"),
    ("db_subnet_group", "DBSubnetGroups", "DBSubnetGroupName"),
    ("security_group", "SecurityGroups", "GroupName"),
    ("iam_role", "RoleDetailList", "RoleName"),
    ("iam_role", "Roles", "RoleName"),
    ("secret", "SecretList", "Name"),
    ("s3_bucket", "Buckets", "Name"),
    ("launch_template", "LaunchTemplates", "LaunchTemplateName"),
    ("autoscaling_group", "AutoScalingGroups", "AutoScalingGroupName"),
];

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let pair = |path: std::path::PathBuf| {
        let manifest = std::fs::read(path.with_file_name("manifest.yaml")).unwrap();
        [manifest, std::fs::read(path).unwrap()].join(&0)
    };
    files(&root().join("src/kinds"), "observed.json").into_iter().map(pair).collect()
}

/// Whatever the bytes are: there is a plan or a refusal, and nothing is created that the answers do
/// not prove to be absent.
pub(super) fn run(bytes: &[u8]) {
    let Some(at) = bytes.iter().position(|byte| *byte == 0) else { return };
    let (manifest, answers) = (&bytes[..at], &bytes[at + 1..]);
    let Ok(answers) = std::str::from_utf8(answers) else { return };
    let Ok(saved) = Saved::parse(answers, kinds::all()) else { return };
    // The cache would catch a panic of the reader.
    if parse("any.yaml", manifest).objects.is_empty() {
        return;
    }
    let plans = plans(manifest, saved);
    let answers: Value = serde_json::from_str(answers).unwrap();
    for step in plans.iter().flat_map(|plan| &plan.steps) {
        let kind = step.resource.kind.as_str();
        // An identifier that AWS assigns is in no saved answer under a name of ours: nothing proves
        // its absence but that nobody recorded it, and AWS refuses a name that is taken.
        if step.action == Action::Create && kind != "custom" {
            let is_absent = match kind {
                "route53_record_set" => record_is_absent(step, &answers),
                "vpc" => tag_is_absent(("Vpcs", "VpcId"), &step.resource.name, &answers),
                "subnet" => tag_is_absent(("Subnets", "SubnetId"), &step.resource.name, &answers),
                _ => is_absent(kind, &step.resource.name, &answers),
            };
            assert!(is_absent, "{step:#?}\n{answers:#}");
        }
    }
    let _ = (text::plan(&plans, Style::Plain), json::plan(&plans), awscli::calls(&plans));
}

/// Tells whether the answers hold the whole list of the zone that a record set is to be made in, of
/// which every item has another name, type or set identifier.
fn record_is_absent(step: &Step, answers: &Value) -> bool {
    let Some(zone) = step.calls.first().and_then(|call| call.text("HostedZoneId")) else {
        return true;
    };
    let items = match answers.get("ResourceRecordSets") {
        Some(Value::Object(zones)) => {
            let is_it = |id: &str| id.strip_prefix("/hostedzone/").unwrap_or(id) == zone;
            zones.iter().find(|(id, _)| is_it(id)).and_then(|(_, items)| items.as_array())
        }
        items => items.and_then(Value::as_array),
    };
    let mut parts = step.resource.name.splitn(4, '/').skip(1);
    let (name, record_type, set) = (parts.next(), parts.next(), parts.next());
    items.is_some_and(|items| {
        items.iter().all(|item| {
            let text = |member: &str| item.get(member).and_then(Value::as_str);
            text("Name").map(dns::name).as_deref() != name
                || text("Type") != record_type
                || text("SetIdentifier") != set
        })
    })
}

/// Tells whether the answers hold a whole list of what goes by its tag, of which every item has an id
/// and none our tag of this name.
fn tag_is_absent((list, id): (&str, &str), name: &str, answers: &Value) -> bool {
    let is_ours = |tag: &Value| tag["Key"] == "levelset:name" && tag["Value"] == name;
    let is_other = |item: &Value| {
        let mut tags = item.get("Tags").and_then(Value::as_array).into_iter().flatten();
        item.get(id).is_some_and(Value::is_string) && !tags.any(is_ours)
    };
    let items = answers.get(list).and_then(Value::as_array);
    items.is_some_and(|items| items.iter().all(is_other))
}

/// Tells whether the answers hold the whole lists of the kind, of which every item has another name.
fn is_absent(kind: &str, name: &str, answers: &Value) -> bool {
    let mut lists = NAMES.iter().filter(|(known, ..)| *known == kind).peekable();
    assert!(lists.peek().is_some(), "add the kind {kind} to NAMES");
    lists.all(|(_, list, member)| {
        let items = answers.get(list).and_then(Value::as_array);
        let is_other = |item: &Value| match item.get(member).and_then(Value::as_str) {
            // Letter case tells secrets apart, and nothing else.
            Some(there) if kind == "secret" => there != name,
            Some(there) => !there.eq_ignore_ascii_case(name),
            None => false,
        };
        items.is_some_and(|items| items.iter().all(is_other))
    })
}

fn plans(manifest: &[u8], saved: Saved) -> Vec<Plan> {
    let mut cache = Cache::new(Guard::default());
    let entry = Entry { blob: "blob".into(), content: Content::Bytes(manifest.into()) };
    let _ = cache.apply(&ChangeSet {
        revision: Revision::new("0123456789abcdef0123456789abcdef01234567"),
        changed: [("any.yaml".into(), entry)].into(),
        removed: Vec::new(),
        full: true,
    });
    let engine = engine(&cache, saved);
    let snapshot = cache.snapshot();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let mut plans = Vec::new();
        for entry in snapshot.objects.values() {
            plans.push(preview(&engine, entry, None).await.unwrap());
        }
        plans
    })
}

fn engine(cache: &Cache, saved: Saved) -> Engine {
    let scope = Scope { account: AccountId::new("123456789012"), region: Region::new("eu-west-1") };
    let snapshot = cache.snapshot();
    let named = snapshot.objects.values().map(|entry| entry.object.environment().to_owned());
    let environment = Environment { scope, production: true };
    let (cloud, clock) = (Arc::new(saved), Arc::new(Noon));
    let (store, fence) = (Arc::new(InMemory::new()), Arc::new(Nobody));
    let ports = Ports { cloud, store, fence, clock };
    Engine {
        environments: named.map(|name| (name, environment.clone())).collect::<BTreeMap<_, _>>(),
        ..Engine::new(ports, cache.reader(), SignedDuration::from_hours(1))
    }
}

struct Noon;

impl Clock for Noon {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(1_796_040_000).unwrap()
    }
}

struct Nobody;

impl Fence for Nobody {
    fn check(&self, _: Duration) -> Result<Token, Lost> {
        Err(Lost("a plan changes nothing".to_owned()))
    }
}
