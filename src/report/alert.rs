//! What a person should know of an object, as the page of an issue.
//!
//! In: an [`Alert`]. Out: a title and a [`Page`]. Whoever reads the repository may read it, so neither
//! account numbers nor the names of roles are told.

use serde_json::Value;

use crate::model::alert::{Alert, Drift};
use crate::model::{Difference, Key};
use crate::report::page::{Block, Line, Mark, Page};

/// So many differences are shown.
const MOST: usize = 100;

/// Says in a few words what is the matter with an object.
pub fn title(object: &Key, alert: &Alert) -> String {
    let kinds: Vec<&str> = alert.conditions.iter().map(|it| it.kind.as_str()).collect();
    match kinds.is_empty() {
        true => format!("{object}: drift"),
        false => format!("{object}: {}", kinds.join(", ")),
    }
}

/// Makes the page of an issue.
pub fn page(agent: &str, object: &Key, alert: &Alert) -> Page {
    let mark = if alert.conditions.is_empty() { Mark::Look } else { Mark::Bad };
    let mut head = Vec::new();
    if !alert.conditions.is_empty() {
        let line = |kind: &str, message: &str| Line::new().strong(kind).text(": ").text(message);
        let held = alert.conditions.iter().map(|it| line(&it.kind, &public(&it.message)));
        head.push(Block::Items(held.collect()));
    }
    if !alert.drift.is_empty() {
        head.push(table(object, &alert.drift));
    }
    let foot = Line::new()
        .faint("Kept up to date by the agent ")
        .code(agent)
        .faint(", and closed when nothing of it is left. ")
        .code(format!("levelset explain {object}"))
        .faint(" says more.");
    Page {
        title: Line::new().mark(mark).code(object.to_string()).text(" is not as Git declares"),
        head,
        foot: vec![Block::Text(foot)],
        ..Page::default()
    }
}

/// Makes the page of a pull request that declares what AWS has: member, what Git declared, what AWS has.
pub fn accepted(object: &Key, fields: &[(String, Value, Value)]) -> Page {
    let names = ["Field", "Git declared", "AWS has"];
    let row = |(member, declared, actual): &(String, Value, Value)| {
        vec![Line::new().code(member), value(declared), value(actual)]
    };
    let head = names.map(|name| Line::new().text(name)).to_vec();
    let rows = fields.iter().map(row).collect();
    let why = Line::new().text(
        "Merging it accepts the drift: Git then declares what AWS has, and nothing \
                                is changed in AWS.",
    );
    Page {
        title: Line::new().text("Accept the drift of ").code(object.to_string()),
        head: vec![Block::Table { head, rows }, Block::Text(why)],
        ..Page::default()
    }
}

fn table(object: &Key, drift: &[Drift]) -> Block {
    let is_traced = drift.iter().any(|row| row.changed_by.is_some());
    let names = [
        "Resource",
        "Field",
        "AWS has",
        "Git declares",
        "Since",
        "Who",
        "What is done",
        "To keep it",
    ];
    let names: Vec<&str> = names.into_iter().filter(|it| *it != "Who" || is_traced).collect();
    let shown = drift.iter().take(MOST);
    let mut rows: Vec<Vec<Line>> = shown.map(|it| row(object, it, is_traced)).collect();
    if drift.len() > MOST {
        let mut more = vec![Line::new().faint(format!("and {} more", drift.len() - MOST))];
        more.resize(names.len(), Line::new());
        rows.push(more);
    }
    Block::Table { head: names.into_iter().map(|name| Line::new().text(name)).collect(), rows }
}

fn row(object: &Key, row: &Drift, is_traced: bool) -> Vec<Line> {
    let accept = match row.field.as_str() {
        Difference::EXISTENCE => Line::new(),
        field => Line::new().code(format!("levelset accept {} {field}", object.name)),
    };
    let seen = row.first_seen.strftime("%Y-%m-%d %H:%M UTC").to_string();
    let mut cells = vec![
        Line::new().code(&row.resource),
        Line::new().code(&row.field),
        value(&row.actual),
        value(&row.declared),
        Line::new().text(seen),
    ];
    if is_traced {
        cells.push(who(row));
    }
    cells.extend([Line::new().text(done(&row.disposition)), accept]);
    cells
}

/// Names a person or a service, and neither an account nor a role.
fn who(row: &Drift) -> Line {
    match &row.changed_by {
        Some(changed) => Line::new().text(public(changed.name())),
        None => Line::new().faint("unknown"),
    }
}

fn value(value: &Value) -> Line {
    match value {
        Value::Null => Line::new().faint("absent"),
        Value::String(text) => Line::new().code(public(text)),
        other => Line::new().code(public(&other.to_string())),
    }
}

/// Says what becomes of a difference, for the words of a status.
fn done(disposition: &str) -> &str {
    match disposition {
        "Reported" => "left, as the manifest says",
        "Frozen" => "left until a person confirms it",
        "Refused" => "left: it never changes by itself",
        "Deferred" => "reverted later",
        other => other,
    }
}

/// Leaves out the numbers of accounts, and names in which there are any.
fn public(text: &str) -> String {
    let is_told = |word: &str| !word.contains("arn:") && !has_account(word);
    let words = text.split(' ').map(|word| if is_told(word) { word } else { "(left out)" });
    words.collect::<Vec<_>>().join(" ")
}

fn has_account(word: &str) -> bool {
    let runs = word.split(|letter: char| !letter.is_ascii_digit());
    runs.into_iter().any(|run| run.len() == 12)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::model::alert::Trouble;
    use crate::model::webhook::Host;
    use crate::report::markdown::markdown;

    fn drift(field: &str, actual: Value) -> Drift {
        Drift {
            resource: "db_instance/a".to_owned(),
            field: field.to_owned(),
            actual,
            declared: json!(14),
            first_seen: "2026-11-30T12:00:00Z".parse().unwrap(),
            disposition: "Reported".to_owned(),
            changed_by: None,
        }
    }

    fn failed(message: &str) -> Trouble {
        Trouble {
            kind: "Failed".to_owned(),
            reason: "RetriesExhausted".to_owned(),
            message: message.to_owned(),
            since: Timestamp::UNIX_EPOCH,
        }
    }

    fn rendered(alert: &Alert) -> String {
        markdown(&page("prod", &Key::workspace("a"), alert), Host::GitHub, None)
    }

    #[test]
    fn an_issue_names_who_made_drift_by_neither_account_nor_role() {
        let changed = crate::model::trail::Changed {
            by: "arn:aws:sts::111122223333:assumed-role/Admin/alice".to_owned(),
            at: Timestamp::UNIX_EPOCH,
            event: "ModifyDBInstance".to_owned(),
        };
        let traced = Drift { changed_by: Some(changed), ..drift("port", json!(1)) };
        let alert = Alert { drift: vec![traced, drift("iops", json!(1))], ..Alert::default() };
        let text = rendered(&alert);
        assert!(text.contains("| Since | Who | What is done |"), "{text}");
        assert!(text.contains("12:00 UTC | alice |"), "{text}");
        assert!(!text.contains("Admin") && !text.contains("111122223333"), "{text}");
    }

    #[test]
    fn an_issue_says_what_differs_and_what_is_done_about_it() {
        let rows = vec![drift("backups.retentionDays", json!(1))];
        let alert = Alert { drift: rows, ..Alert::default() };
        assert_eq!(title(&Key::workspace("a"), &alert), "Workspace/a: drift");
        let expected = "### ⚠️\u{a0}`Workspace/a` is not as Git declares\n\n\
            | Resource | Field | AWS has | Git declares | Since | What is done | To keep it |\n\
            |:--|:--|:--|:--|:--|:--|:--|\n\
            | `db_instance/a` | `backups.retentionDays` | `1` | `14` | 2026-11-30 12:00 UTC | \
            left, as the manifest says | `levelset accept a backups.retentionDays` |\n";
        let text = rendered(&alert);
        assert!(text.starts_with(expected), "{text}");
        assert!(text.contains("levelset explain Workspace/a"), "{text}");
    }

    #[test]
    fn trouble_is_named_in_the_title_and_no_account_is_told() {
        let why = "db_instance/a: User: arn:aws:sts::111122223333:assumed-role/levelset/x is not \
                   authorized in 111122223333";
        let rows = vec![drift("monitoring.roleArn", json!("arn:aws:iam::111122223333:role/x"))];
        let alert = Alert { drift: rows, conditions: vec![failed(why)], ..Alert::default() };
        assert_eq!(title(&Key::workspace("a"), &alert), "Workspace/a: Failed");
        let text = rendered(&alert);
        assert!(!text.contains("111122223333") && !text.contains("role/"), "{text}");
        assert!(text.contains("is not authorized"), "{text}");
    }
}
