//! Data-only cases: a manifest and saved answers in, calls and reasons out.
//!
//! A case is a folder `src/kinds/<kind>/cases/<name>/` with three files: `manifest.yaml` (an object
//! as it stands in Git), `observed.json` (answers as `plan --observed` takes them) and
//! `expected.json`: what comes out for the resource of that kind. What `expected.json` leaves out
//! is expected to be empty.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::SignedDuration;
use levelset::diff::diff;
use levelset::kinds;
use levelset::manifest::expand::{Alone, Place, expand};
use levelset::manifest::{Object, parse};
use levelset::model::handle::Handle;
use levelset::model::kind::Lists;
use levelset::model::policy::DisruptionPolicy;
use levelset::model::status::Owned;
use levelset::model::within::Surroundings;
use levelset::model::{
    AccountId, Bound, Call, Clock, Diff, Kind, Observation, Observed, Readiness, Region, Resource,
    ResourceId, Scope, Severity, Timing, Verdict, Wait,
};
use levelset::observe::saved::Saved;
use levelset::observe::singly::Wanted;
use levelset::observe::{Observer, observed};
use levelset::plan::removal::{Departure, Leaving, steps};
use serde::Deserialize;
use serde_json::{Map, Value};

/// What a case expects of the resource of its kind.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Expected {
    /// True when the manifest is removed: then `calls` is what becomes of the resource.
    removed: bool,
    /// The codes of the errors for which the manifest is not taken; then nothing else happens.
    problems: BTreeSet<String>,
    /// The calls, in order.
    calls: Vec<ExpectedCall>,
    /// `field: code` of what waits.
    waits: BTreeSet<String>,
    /// `field: code` of what is refused.
    refusals: BTreeSet<String>,
    /// `field: code` of what is told.
    notices: BTreeSet<String>,
}

/// One call, without the service.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedCall {
    operation: String,
    params: Map<String, Value>,
}

const FILES: [&str; 3] = ["expected.json", "manifest.yaml", "observed.json"];

/// The known faults of these kinds, each of which has a case that starts with its number.
const KNOWN_FAULTS: &[&str] = &[
    "b01", "b02", "b04", "b05", "b07", "b08", "b10", "b11", "b13", "b14", "b16", "b17", "b19",
    "b22", "b25", "b26", "b28", "b29", "b31", "b32", "b34", "b35", "b37", "b38", "b40", "b41",
    "b43", "b44", "b46", "b47", "b49", "b52", "b53", "b55", "b56", "b58", "b59", "b61", "b62",
    "b64", "b65", "b67", "b68", "b70", "b71", "b73", "b74", "b76", "b77", "b79", "b80", "b82",
    "b83", "b86", "b89", "b92", "b94", "b95", "b97", "b98", "b100", "b101", "b103", "b104", "b112",
    "b113", "b115", "b116", "b118",
];

fn folders() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/kinds");
    let mut found = Vec::new();
    for kind in list(&root) {
        for case in list(&kind.join("cases")) {
            found.push((name(&kind), case));
        }
    }
    found
}

fn list(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn every_case_comes_out_as_expected() {
    let folders = folders();
    assert!(folders.len() > 50, "only {} cases were found", folders.len());
    let failures: Vec<String> = folders
        .iter()
        .filter_map(|(kind, case)| check(kind, case).err().map(|text| format!("{case:?}\n{text}")))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn every_folder_of_cases_belongs_to_a_kind_and_every_case_is_complete() {
    for (kind, case) in folders() {
        let known = kinds::all().iter().any(|known| known.name().as_str() == kind);
        assert!(known, "{case:?} belongs to no kind");
        let files: Vec<String> = list(&case).iter().map(|path| name(path)).collect();
        assert_eq!(files, FILES, "{case:?}");
    }
}

#[test]
fn every_known_fault_of_these_kinds_has_a_case() {
    let cases: Vec<String> = folders().iter().map(|(_, case)| name(case)).collect();
    for fault in KNOWN_FAULTS {
        let prefix = format!("{fault}_");
        assert!(cases.iter().any(|case| case.starts_with(&prefix)), "{fault} has no case");
    }
}

/// Runs one case from the manifest to the calls.
fn check(kind: &str, case: &Path) -> Result<(), String> {
    let read = |file: &str| std::fs::read_to_string(case.join(file)).unwrap();
    let expected: Expected =
        serde_json::from_str(&read("expected.json")).map_err(|error| error.to_string())?;
    let answers: Map<String, Value> =
        serde_json::from_str(&read("observed.json")).map_err(|error| error.to_string())?;
    let found = run(kind, &read("manifest.yaml"), &answers, expected.removed)?;
    if found == expected {
        return Ok(());
    }
    Err(format!("expected {expected:#?}\nfound {found:#?}"))
}

fn run(
    kind: &str,
    manifest: &str,
    answers: &Map<String, Value>,
    removed: bool,
) -> Result<Expected, String> {
    let parsed = parse("case.yaml", manifest.as_bytes());
    if parsed.is_broken() {
        let errors = parsed.problems.into_iter().filter(|p| p.severity == Severity::Error);
        let problems = errors.map(|problem| problem.code).collect();
        return Ok(Expected { problems, ..Expected::default() });
    }
    let object = parsed.objects.first().ok_or("the manifest holds no object")?;
    let resources = expand(object, &place(), &Alone);
    let outside = resources.iter().find(|it| it.id.scope != home(it));
    assert!(outside.is_none(), "{outside:?} is not where its kind lives");
    let mut seen = observe(answers);
    observe_singly(&resources, answers, removed, &mut seen);
    let around = observe_within(&resources, answers, &mut seen);
    let resource = resources
        .iter()
        .find(|resource| resource.id.kind.as_str() == kind)
        .ok_or("the manifest asks for no resource of this kind")?;
    if removed {
        return remove(object, resource, &seen);
    }
    compare(object, resource, (&seen, answers), around.get(&resource.id))
}

/// Decides what becomes of one resource when its manifest has been removed for long enough.
fn remove(
    object: &Object,
    resource: &Resource,
    seen: &BTreeMap<ResourceId, Observed>,
) -> Result<Expected, String> {
    let owned = Owned {
        id: resource.id.clone(),
        section: resource.section.to_string(),
        owner: resource.owner.clone(),
        policy: object.policy().deletion,
        left: None,
        handle: Handle::default(),
        needs: BTreeSet::new(),
    };
    let found = seen.get(&resource.id).cloned().map(Arc::new);
    let found = found.map_or(Observation::Absent, Observation::Present);
    let since = jiff::Timestamp::from_second(1_796_000_000).unwrap();
    let leaving = Leaving {
        kind: kinds::find(&resource.id.kind).ok_or("unknown kind")?,
        owned: &owned,
        since,
        is_recorded: true,
        seen: &found,
        created: None,
        claim: None,
        part: None,
        user: None,
        used: Ok(user(resource, seen)),
    };
    let mut steps = steps(&Departure {
        policy: object.policy().deletion,
        suspended: object.holds().is_suspended(),
        grace: SignedDuration::ZERO,
        halt: None,
        now: since,
        leaving: vec![leaving],
    });
    let step = steps.remove(0);
    let waits = match step.verdict {
        Verdict::Waiting { code, on } => vec![Wait { field: String::new(), code, reason: on }],
        _ => Vec::new(),
    };
    let diff = Diff { waits, refusals: step.refusals, ..Diff::default() };
    Ok(Expected { removed: true, ..outcome(step.calls, &diff, step.notices) })
}

/// Returns a resource that is seen to use another one.
fn user<'a>(used: &Resource, seen: &'a BTreeMap<ResourceId, Observed>) -> Option<&'a ResourceId> {
    let actual = seen.get(&used.id)?;
    let uses = |(id, user): &(&ResourceId, &Observed)| {
        let usages = kinds::find(&id.kind).map_or(&[][..], Kind::usages);
        let mut of = usages.iter().filter(|usage| usage.of == used.id.kind);
        of.any(|usage| usage.is_seen(user, &used.id.name, actual))
    };
    seen.iter().find(uses).map(|(id, _)| id)
}

/// Compares one resource as a pass does, up to the calls.
fn compare(
    object: &Object,
    resource: &Resource,
    (seen, answers): (&BTreeMap<ResourceId, Observed>, &Map<String, Value>),
    around: Option<&Surroundings>,
) -> Result<Expected, String> {
    let kind = kinds::find(&resource.id.kind).ok_or("unknown kind")?;
    let mut bound = bind(resource, seen)?;
    let Some(actual) = seen.get(&resource.id) else {
        if let Some(within) = kind.within() {
            let refusals = within.prepare(&mut bound, around.unwrap_or(&Surroundings::default()));
            let calls = if refusals.is_empty() { kind.create(&bound) } else { Vec::new() };
            let refused = Diff { refusals, ..Diff::default() };
            return Ok(outcome(calls, &refused, Vec::new()));
        }
        if let Some(kind) = kind.singly() {
            let facts = answers.get("Types").map_or(Value::Null, |types| types[0].clone());
            kind.prepare(&mut bound, &kind.facts(&facts).unwrap_or_default());
        }
        return Ok(outcome(kind.create(&bound), &Diff::default(), Vec::new()));
    };
    let readiness = kind.readiness(actual);
    if let Some(wait) = unsettled(&readiness) {
        let found = Diff { waits: vec![wait], ..Diff::default() };
        return Ok(outcome(Vec::new(), &found, kind.notices(&bound, actual)));
    }
    let ignore = resource.ignored(&object.policy().ignore);
    let mut found = diff(kind.rules(), &bound, actual, &readiness, &ignore);
    if object.policy().disruption == DisruptionPolicy::Immediate {
        found.deltas.iter_mut().for_each(|delta| delta.timing = Timing::Immediate);
    }
    let objections = kind.objections(&bound, actual);
    if !objections.is_empty() {
        found.deltas.clear();
        found.refusals.extend(objections);
    }
    let calls = match found.deltas.as_slice() {
        [] => Vec::new(),
        deltas => kind.update(&bound, actual, deltas),
    };
    let notices = kind.notices(&bound, actual);
    Ok(outcome(calls, &found, notices))
}

/// What AWS is still working on, or gave up on, is not compared, nor what is not ours to change; few
/// kinds have cases of that.
fn unsettled(readiness: &Readiness) -> Option<Wait> {
    let (code, reason) = match readiness {
        Readiness::Waiting { code, reason } | Readiness::Broken { code, reason } => (code, reason),
        Readiness::Ready | Readiness::Limited { .. } => return None,
    };
    let told = ["InProgress", "UnknownType", "RequestFailed", "ManagedByService", "CopyOfAnother"];
    let is_ours = told.contains(&code.as_str()) || reason.starts_with("AWS could not");
    is_ours.then(|| Wait { field: String::new(), code: code.clone(), reason: reason.clone() })
}

fn outcome(calls: Vec<Call>, diff: &Diff, notices: Vec<levelset::model::Notice>) -> Expected {
    let line = |field: &str, code: &str| format!("{field}: {code}");
    Expected {
        removed: false,
        problems: BTreeSet::new(),
        calls: calls
            .into_iter()
            .map(|call| ExpectedCall {
                operation: call.operation.into_owned(),
                params: call.params,
            })
            .collect(),
        waits: diff.waits.iter().map(|wait| line(&wait.field, &wait.code)).collect(),
        refusals: diff.refusals.iter().map(|refusal| line(&refusal.field, &refusal.code)).collect(),
        notices: diff
            .notices
            .iter()
            .chain(&notices)
            .map(|notice| line(&notice.field, &notice.code))
            .collect(),
    }
}

pub(crate) fn place() -> Place {
    let scope = Scope { account: AccountId::new("123456789012"), region: Region::new("eu-west-1") };
    Place { scope, agent: "levelset".to_owned(), production: false }
}

/// Assembles every resource of the saved answers.
fn observe(answers: &Map<String, Value>) -> BTreeMap<ResourceId, Observed> {
    let mut seen = BTreeMap::new();
    for kind in kinds::all() {
        for (name, members) in kind.assemble(lists(*kind, answers)) {
            let scope = kind.home(&place().scope);
            let id = ResourceId { kind: kind.name(), scope, name: name.into() };
            seen.insert(id, observed(members, jiff::Timestamp::UNIX_EPOCH));
        }
    }
    seen
}

/// Reads what no list holds, in the order of the resources; `Handles` is what the agent remembers
/// of the one of that kind.
fn observe_singly(
    resources: &[Resource],
    answers: &Map<String, Value>,
    removed: bool,
    seen: &mut BTreeMap<ResourceId, Observed>,
) {
    let handle = answers.get("Handles").map(|handles| handles[0].clone());
    let handle: Handle = handle.map(|it| serde_json::from_value(it).unwrap()).unwrap_or_default();
    let saved = Saved::parse(&Value::Object(answers.clone()).to_string(), kinds::all()).unwrap();
    let observer = Observer::new(Arc::new(saved), Arc::new(Noon), SignedDuration::from_hours(1));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for resource in resources {
        let Some(kind) = kinds::find(&resource.id.kind).and_then(|kind| kind.singly()) else {
            continue;
        };
        let Ok(bound) = bind(resource, seen) else { continue };
        let (id, owner) = (&resource.id, resource.owner.as_str());
        let declared = (!removed).then_some(&bound);
        let wanted = Wanted { id, declared, handle: &handle, owner };
        match runtime.block_on(observer.observe_singly(kind, &wanted)) {
            Observation::Present(observed) => drop(seen.insert(id.clone(), (*observed).clone())),
            Observation::Absent => {}
            Observation::Unknown(doubt) => panic!("{id}: {doubt}"),
        }
    }
}

/// Reads what is listed by what it is in, and what those that are not there would find around them.
fn observe_within(
    resources: &[Resource],
    answers: &Map<String, Value>,
    seen: &mut BTreeMap<ResourceId, Observed>,
) -> BTreeMap<ResourceId, Surroundings> {
    let saved = Saved::parse(&Value::Object(answers.clone()).to_string(), kinds::all()).unwrap();
    let observer = Observer::new(Arc::new(saved), Arc::new(Noon), SignedDuration::from_hours(1));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut around = BTreeMap::new();
    for Resource { id, .. } in resources {
        let kind = kinds::find(&id.kind).unwrap();
        let Some(within) = kind.within() else { continue };
        match runtime.block_on(observer.observe(kind, id)) {
            Observation::Present(observed) => drop(seen.insert(id.clone(), (*observed).clone())),
            Observation::Absent => {
                let found = runtime.block_on(observer.surroundings(kind, within, id)).unwrap();
                around.insert(id.clone(), found);
            }
            Observation::Unknown(doubt) => panic!("{id}: {doubt}"),
        }
    }
    around
}

/// Stands still.
struct Noon;

impl Clock for Noon {
    fn now(&self) -> jiff::Timestamp {
        "2026-11-25T12:00:00Z".parse().unwrap()
    }
}

fn home(resource: &Resource) -> Scope {
    kinds::find(&resource.id.kind).unwrap().home(&place().scope)
}

fn lists(kind: &dyn Kind, answers: &Map<String, Value>) -> Lists {
    kind.lists()
        .iter()
        .filter_map(|list| Some((list.answer, answers.get(list.answer)?.as_array()?.clone())))
        .collect()
}

pub(crate) fn bind(
    resource: &Resource,
    seen: &BTreeMap<ResourceId, Observed>,
) -> Result<Bound, String> {
    let ready = |id: &ResourceId| {
        let observed = seen.get(id)?;
        let broken = kinds::find(&id.kind)?.readiness(observed);
        (!matches!(broken, Readiness::Broken { .. })).then_some(observed)
    };
    let mut fields = BTreeMap::new();
    for (field, input) in &resource.fields {
        let value = input.resolve(ready).map_err(|error| error.to_string())?;
        fields.insert(field.clone(), value);
    }
    Ok(Bound {
        id: resource.id.clone(),
        fields,
        initial: resource.initial.clone(),
        owner: resource.owner.clone(),
        adopt: resource.adopt,
    })
}
