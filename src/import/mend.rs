//! Takes out of documents what they cannot say.
//!
//! In: the mistakes that a check found in their texts, or the plan that they lead to. Out: whether
//! anything was taken out, and what is in no document any more, with the reason. What is taken out is
//! said as a comment where it stood, and is not managed.

use serde_json::Value;

use super::compose::network_of;
use super::references::marker;
use super::render::Rendered;
use super::{Document, Left, Member};
use crate::model::plan::{Action, Plan, Step, Verdict};
use crate::model::sheet::Node;
use crate::model::{Key, ObjectKind, Problem, Severity};

/// Something that is not so in AWS.
struct Complaint {
    /// The field, or empty for all of the resource.
    field: String,
    reason: String,
    /// The keys of a mapping that it is about, where it is not about all of it.
    keys: Vec<String>,
    /// True where it follows from what is wrong with another resource.
    follows: bool,
}

/// The code of a wait for another resource.
const DEPENDENCY: &str = "Dependency";

/// Takes out what a check finds wrong; `Err` is why nothing is left of the document.
///
/// # Errors
///
/// The reason, where the mistake is not in what is declared.
pub fn by_problems(
    document: &mut Document,
    rendered: &Rendered,
    problems: &[Problem],
) -> Result<(bool, Vec<Left>), String> {
    let mut changed = false;
    let mut left = Vec::new();
    for problem in problems.iter().filter(|problem| problem.severity == Severity::Error) {
        let reason = problem.message.as_str();
        let Some(path) = rendered.path_at(problem.position.line) else {
            return Err(reason.to_owned());
        };
        if document.key.kind == ObjectKind::Network {
            return Err(reason.to_owned());
        }
        if document.sheet.get(path).is_some() || is_key(document, path) {
            let reason = told_before(document, path, reason).unwrap_or_else(|| reason.to_owned());
            take_out(document, path, &reason, &mut left);
            changed = true;
        }
    }
    Ok((changed, left))
}

/// Returns why a field is missing that the section at a path needs, if it was taken out.
fn told_before(document: &Document, path: &str, reason: &str) -> Option<String> {
    let Some(Node::Sheet(section)) = document.sheet.get(path) else { return None };
    let is_lack = reason.contains(" lacks the field ");
    let told = section.remarks.iter().rev().filter_map(|remark| remark.split_once(NOT_DECLARED));
    let mut told: Vec<(&str, &str)> = told.filter(|_| is_lack).collect();
    told.sort_by_key(|(field, _)| !reason.contains(&format!("\"{field}\"")));
    told.first().map(|(field, why)| format!("{field}: {why}"))
}

/// Takes out what a plan would change; `Err` is why nothing is left of the document. What only waits
/// for another resource is taken out where `follows` says so: when nothing else is wrong anywhere.
///
/// # Errors
///
/// The reason, where a network differs, of which nothing can be left out.
pub fn by_plan(
    document: &mut Document,
    plan: &Plan,
    follows: bool,
) -> Result<(bool, Vec<Left>), String> {
    let mut changed = false;
    let mut left = Vec::new();
    for step in &plan.steps {
        for complaint in complaints(step).into_iter().filter(|it| follows || !it.follows) {
            if document.key.kind == ObjectKind::Network {
                return Err(complaint.reason);
            }
            changed = true;
            answer(document, step, &complaint, &mut left);
        }
    }
    Ok((changed, left))
}

/// Takes the `network` out of workspaces whose network is not written.
pub fn without_networks(documents: &mut [Document]) -> Vec<Left> {
    let known: Vec<Key> = documents.iter().map(|document| document.key.clone()).collect();
    let mut left = Vec::new();
    for document in documents {
        let is_gone = |key: &Key| !known.contains(key) && document.sheet.get("database").is_some();
        if network_of(document).as_ref().is_some_and(is_gone) {
            let reason = "its DB subnet group is in no network that is declared";
            take_out(document, "network", reason, &mut left);
        }
    }
    left
}

/// Lists what a step would do beside taking its resource over, and what it waits for.
fn complaints(step: &Step) -> Vec<Complaint> {
    let whole = |reason: String, follows| Complaint {
        field: String::new(),
        reason,
        keys: Vec::new(),
        follows,
    };
    if step.action == Action::Create {
        return vec![whole(format!("{} would be made", step.resource), false)];
    }
    let mut found: Vec<Complaint> = Vec::new();
    found.extend(step.deltas.iter().map(|delta| Complaint {
        field: delta.field.clone(),
        reason: delta.why.clone(),
        keys: delta.to.as_object().map(keys).unwrap_or_default(),
        follows: false,
    }));
    found.extend(step.waits.iter().map(|wait| Complaint {
        field: wait.field.clone(),
        reason: wait.reason.clone(),
        keys: Vec::new(),
        follows: wait.code == DEPENDENCY,
    }));
    found.extend(step.refusals.iter().map(|refusal| Complaint {
        field: refusal.field.clone(),
        reason: refusal.message.clone(),
        keys: Vec::new(),
        follows: false,
    }));
    if !found.is_empty() {
        return found;
    }
    match &step.verdict {
        Verdict::Go => Vec::new(),
        Verdict::Waiting { on, code } => vec![whole(on.clone(), code == DEPENDENCY)],
        Verdict::Deferred { why, .. } => vec![whole(why.clone(), false)],
        Verdict::Blocked { by } => vec![whole(format!("{by} is not there"), true)],
        Verdict::Reported | Verdict::Refused => vec![whole("it is refused".to_owned(), false)],
    }
}

fn keys(members: &serde_json::Map<String, Value>) -> Vec<String> {
    members.keys().cloned().collect()
}

fn answer(document: &mut Document, step: &Step, complaint: &Complaint, left: &mut Vec<Left>) {
    let outermost = step.section.split('.').next().unwrap_or_default();
    let places = [step.section.as_str(), outermost];
    let field = complaint.field.as_str();
    let found = places.iter().find_map(|section| {
        let path = format!("{section}.{field}");
        declared(document, &path).filter(|_| !field.is_empty())
    });
    let Some(path) = found else {
        return drop_resource(document, step, complaint, left);
    };
    let is_part = |key: &&String| is_key(document, &format!("{path}.{key}"));
    let parts: Vec<String> =
        complaint.keys.iter().filter(is_part).map(|key| format!("{path}.{key}")).collect();
    let paths = if parts.is_empty() { vec![path] } else { parts };
    for path in paths {
        take_out(document, &path, &complaint.reason, left);
    }
}

/// Takes a resource out of its document: with a part of a section goes all of it.
fn drop_resource(
    document: &mut Document,
    step: &Step,
    complaint: &Complaint,
    left: &mut Vec<Left>,
) {
    let own = document.members.iter().find(|member| member.id == step.resource);
    let around = || {
        let within =
            |member: &&Member| member.paths.first().is_some_and(|it| step.section.starts_with(it));
        document.members.iter().find(within)
    };
    let path = own.or_else(around).and_then(|it| it.paths.first().cloned());
    let path = path.unwrap_or_else(|| step.section.clone());
    let reason = match complaint.field.as_str() {
        "" => complaint.reason.clone(),
        field => format!("{field}: {}", complaint.reason),
    };
    take_out(document, &path, &reason, left);
}

/// Returns the longest beginning of a path that is a value, or a mapping that it names whole.
fn declared(document: &Document, path: &str) -> Option<String> {
    if document.sheet.get(path).is_some() || is_key(document, path) {
        return Some(path.to_owned());
    }
    let mut start = path;
    while let Some((parent, _)) = start.rsplit_once('.') {
        match document.sheet.get(parent) {
            Some(Node::Value(Value::Object(_)) | Node::Sheet(_)) => return None,
            Some(Node::Value(_)) => return Some(parent.to_owned()),
            None => start = parent,
        }
    }
    None
}

/// Tells whether a path is a key in a value that is a mapping.
fn is_key(document: &Document, path: &str) -> bool {
    let mut end = path.len();
    while let Some(at) = path[..end].rfind('.') {
        if let Some(Node::Value(Value::Object(members))) = document.sheet.get(&path[..at]) {
            return members.contains_key(&path[at + 1..]);
        }
        end = at;
    }
    false
}

/// How a remark says what is not declared.
const NOT_DECLARED: &str = " is not declared: ";

/// Takes away what stands at a path, says so where it stood, and lists what is in the document no more.
fn take_out(document: &mut Document, path: &str, reason: &str, left: &mut Vec<Left>) {
    let Some(removed) = document.sheet.remove(path) else { return };
    let (gone, kept): (Vec<Member>, Vec<Member>) = std::mem::take(&mut document.members)
        .into_iter()
        .partition(|member| !member.paths.iter().all(|path| document.sheet.get(path).is_some()));
    document.members = kept;
    for path in gone.iter().flat_map(|member| &member.paths) {
        document.sheet.remove(path);
        forget(document, path);
    }
    if gone.is_empty() {
        remark(document, &removed, reason);
    }
    let reason = reason.to_owned();
    left.extend(gone.into_iter().map(|it| Left { resource: it.id, reason: reason.clone() }));
    tidy(document);
}

fn remark(document: &mut Document, removed: &str, reason: &str) {
    let (parent, name) = removed.rsplit_once('.').unwrap_or(("", removed));
    let text = format!("{name}{NOT_DECLARED}{reason}");
    let mut place = parent;
    while !place.is_empty() && !matches!(document.sheet.get(place), Some(Node::Sheet(_))) {
        place = place.rsplit_once('.').map_or("", |(before, _)| before);
    }
    document.sheet.remark(place, text);
}

/// Writes out again what references to a resource stood for that is declared no more.
fn forget(document: &mut Document, path: &str) {
    let start = format!("${{{}.", marker(path));
    let Document { sheet, originals, .. } = document;
    sheet.each_text(&mut |text, _| {
        if text.contains(&start)
            && let Some(original) = originals.get(text)
        {
            original.clone_into(text);
        }
    });
}

/// Takes away sections in which nothing is declared any more.
fn tidy(document: &mut Document) {
    if document.key.kind == ObjectKind::Network {
        return;
    }
    let used: Vec<String> = document
        .members
        .iter()
        .flat_map(|member| &member.paths)
        .filter_map(|path| path.split('.').next().map(str::to_owned))
        .collect();
    let is_used = |section: &str| used.iter().any(|it| it == section);
    let names_vpc = is_used("database") && document.sheet.get("network.vpcRef").is_some();
    let is_kept = |section: &str| is_used(section) || (section == "network" && names_vpc);
    document.sheet.entries.retain(|entry| is_kept(&entry.key));
}
