//! What an import came to, for people and for programs.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::prove::{Written, file};
use super::site::Site;
use crate::import::Left;
use crate::model::{Doubt, KindName};

/// How many names of one reason are told before the rest is counted.
const TOLD: usize = 6;

/// Holds what an import came to.
pub(super) struct Outcome {
    pub(super) site: Site,
    pub(super) documents: Vec<Written>,
    pub(super) left: Vec<Left>,
    pub(super) unread: Vec<(String, Doubt)>,
    pub(super) not_yet: Vec<KindName>,
    /// How many resources were read.
    pub(super) read: usize,
}

/// Renders an outcome for people.
pub(super) fn text(outcome: &Outcome) -> String {
    let Outcome { site, documents, left, unread, not_yet, read } = outcome;
    let taken: usize = documents.iter().map(|(document, _)| document.members.len()).sum();
    let mut lines = vec![format!(
        "{read} resources read in {}, {taken} of them in {} manifests that plan to no change",
        site.scope,
        documents.len()
    )];
    for (document, _) in documents {
        let members: Vec<String> =
            document.members.iter().map(|member| member.id.to_string()).collect();
        lines.push(format!("  {}: {}", document.key, members.join(", ")));
    }
    if !left.is_empty() {
        lines.push(format!("{} left out", left.len()));
        lines.extend(by_reason(left).into_iter().map(|line| format!("  {line}")));
    }
    for (what, doubt) in unread {
        lines.push(format!("not read: {what}: {doubt}"));
    }
    for kind in not_yet {
        lines.push(format!("{kind}: cannot be imported yet"));
    }
    if site.is_new {
        let (name, scope) = (&site.name, &site.scope);
        lines.push(format!(
            "the settings need environments.{name}: {{account: \"{}\", region: {}}}",
            scope.account, scope.region
        ));
    }
    // A name in AWS may hold a line end; it makes no line of its own here.
    let plain = |line: &String| line.replace(char::is_control, " ");
    lines.iter().map(plain).collect::<Vec<_>>().join("\n") + "\n"
}

/// Tells what was left out, one line for each reason.
fn by_reason(left: &[Left]) -> Vec<String> {
    let mut reasons: BTreeMap<(String, &str), Vec<&str>> = BTreeMap::new();
    for one in left {
        let kind = one.resource.kind.to_string();
        reasons.entry((kind, &one.reason)).or_default().push(&one.resource.name);
    }
    let line = |((kind, reason), names): ((String, &str), Vec<&str>)| {
        let told = names.iter().take(TOLD).copied().collect::<Vec<_>>().join(", ");
        match names.len().saturating_sub(TOLD) {
            0 => format!("{kind}/{told}: {reason}"),
            more => format!("{kind}/{told} and {more} more: {reason}"),
        }
    };
    reasons.into_iter().map(line).collect()
}

/// Renders an outcome for programs: `{"environment", "account", "region", "read", "objects": [{"object",
/// "file", "resources", "text"}], "left": [{"kind", "name", "reason"}], "unread": [{"what", "reason"}],
/// "notYet": [...]}`; `text` stands there when no file was written.
pub(super) fn json(outcome: &Outcome, is_written: bool) -> String {
    let object = |(document, rendered): &Written| {
        let members: Vec<String> =
            document.members.iter().map(|member| member.id.to_string()).collect();
        let mut object = json!({
            "object": document.key.to_string(), "file": file(&document.key), "resources": members,
        });
        if !is_written {
            object["text"] = Value::from(rendered.text.as_str());
        }
        object
    };
    let left = |it: &Left| json!({"kind": it.resource.kind.as_str(), "name": &*it.resource.name, "reason": it.reason});
    let unread =
        |(what, doubt): &(String, Doubt)| json!({"what": what, "reason": doubt.to_string()});
    let document = json!({
        "environment": outcome.site.name,
        "account": outcome.site.scope.account.as_str(),
        "region": outcome.site.scope.region.as_str(),
        "read": outcome.read,
        "objects": outcome.documents.iter().map(object).collect::<Vec<_>>(),
        "left": outcome.left.iter().map(left).collect::<Vec<_>>(),
        "unread": outcome.unread.iter().map(unread).collect::<Vec<_>>(),
        "notYet": outcome.not_yet.iter().map(KindName::as_str).collect::<Vec<_>>(),
    });
    format!("{document:#}\n")
}
