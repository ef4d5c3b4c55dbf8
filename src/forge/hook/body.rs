//! What a hook is told, in its two forms.
//!
//! In: news. Out: JSON. Pure. Neither has an account number.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::forge::commit::cut;
use crate::model::Key;
use crate::model::alert::{Drift, News, Reverted, Trouble};
use crate::model::trail::Changed;

/// How many lines a text has at most; the JSON has all of it.
const MOST_LINES: usize = 20;

/// Longer values and sentences are cut in a text, in bytes. Slack takes 40,000 characters and asks for
/// 4,000 at most ("Truncating really long messages" in its changelog).
const LONGEST: (usize, usize) = (80, 300);

/// Makes the body for programs, in the shape that Standard Webhooks asks for: type, time, data.
pub(super) fn json(agent: &str, object: &Key, at: Timestamp, news: &News<'_>) -> Value {
    let state = if news.drift.is_empty() && news.conditions.is_empty() { "clear" } else { "open" };
    json!({
        "type": "levelset.alert",
        "timestamp": at,
        "data": {
            "agent": agent,
            "object": object,
            "state": state,
            "drift": news.drift,
            "conditions": news.conditions,
            "reverted": news.reverted,
        },
    })
}

/// Makes the body for people.
pub(super) fn slack(agent: &str, object: &Key, news: &News<'_>) -> Value {
    let mut lines: Vec<String> = news.conditions.iter().map(trouble).collect();
    lines.extend(news.reverted.iter().map(|it| reverted(it)));
    lines.extend(news.drift.iter().map(drift));
    if news.is_resolved {
        lines.push("• no drift and no trouble is left".to_owned());
    }
    let more = lines.len().saturating_sub(MOST_LINES);
    lines.truncate(MOST_LINES);
    if more > 0 {
        lines.push(format!("• and {more} more: `levelset status`"));
    }
    let title = format!("*{}* (agent {})", words(&object.to_string()), words(agent));
    json!({ "text": format!("{title}\n{}", lines.join("\n")) })
}

fn trouble(it: &Trouble) -> String {
    format!("• *{}*: {}", words(&it.kind), words(&cut(&it.message, LONGEST.1)))
}

fn reverted(it: &Reverted) -> String {
    let (from, to) = (code(&it.actual), code(&it.declared));
    let who = who(it.changed_by.as_ref());
    format!("• *Reverted* {} from {from} to {to}{who}", place(&it.resource, &it.field))
}

fn drift(row: &Drift) -> String {
    let (actual, declared) = (code(&row.actual), code(&row.declared));
    let place = place(&row.resource, &row.field);
    let (who, done) = (who(row.changed_by.as_ref()), words(&row.disposition));
    format!("• *Drift* {place} is {actual}, Git declares {declared} ({done}){who}")
}

/// Names who made it, where that is known.
fn who(changed: Option<&Changed>) -> String {
    let told = |it: &Changed| format!(", {}", words(&format!("{} by {}", it.event, it.name())));
    changed.map(told).unwrap_or_default()
}

fn place(resource: &str, field: &str) -> String {
    words(&format!("{resource} {field}"))
}

/// Writes a value so that it is neither a mention nor a link: Slack and others leave code alone.
fn code(value: &Value) -> String {
    let text = match value {
        Value::Null => return "absent".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    format!("`{}`", words(&cut(&text, LONGEST.0)))
}

/// Escapes what begins a mention, a link or an entity ("Formatting text" in Slack's documentation); a
/// sign before a name is parted from it for those that take it for a mention as it is.
fn words(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '`' => escaped.push('\''),
            '@' => escaped.push_str("@\u{2060}"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::alert::Alert;

    fn row(field: &str, actual: Value) -> Drift {
        Drift {
            resource: "db_instance/a".to_owned(),
            field: field.to_owned(),
            actual,
            declared: json!(14),
            first_seen: Timestamp::UNIX_EPOCH,
            disposition: "Reported".to_owned(),
            changed_by: None,
        }
    }

    fn text(before: &Alert, now: &Alert) -> String {
        let news = News::of(before, now).unwrap();
        let body = slack("prod", &Key::workspace("a"), &news);
        body["text"].as_str().unwrap().to_owned()
    }

    #[test]
    fn a_text_says_what_stands_what_was_reverted_and_that_nothing_is_left() {
        let at = Timestamp::UNIX_EPOCH;
        let back = Reverted {
            resource: "db_instance/a".to_owned(),
            field: "port".to_owned(),
            actual: json!(1),
            declared: json!(5432),
            at,
            changed_by: None,
        };
        let held = Trouble {
            kind: "Stalled".to_owned(),
            reason: "NoEffect".to_owned(),
            message: "x & y".to_owned(),
            since: at,
        };
        let drift = vec![row("backups.retentionDays", json!(1))];
        let open = Alert { drift, conditions: vec![held], reverted: vec![back] };
        let expected = "*Workspace/a* (agent prod)\n\
            • *Stalled*: x &amp; y\n\
            • *Reverted* db_instance/a port from `1` to `5432`\n\
            • *Drift* db_instance/a backups.retentionDays is `1`, Git declares `14` (Reported)";
        assert_eq!(text(&Alert::default(), &open), expected);
        let clear = Alert { reverted: open.reverted.clone(), ..Alert::default() };
        let expected = "*Workspace/a* (agent prod)\n• no drift and no trouble is left";
        assert_eq!(text(&open, &clear), expected);
    }

    #[test]
    fn a_value_mentions_nobody_and_links_nothing() {
        let now = Alert {
            drift: vec![row("tags", json!("<!channel> `@here` <https://evil.example|ok>"))],
            ..Alert::default()
        };
        let told = text(&Alert::default(), &now);
        assert!(
            !told.contains("<!") && !told.contains("@here") && !told.contains("<http"),
            "{told}"
        );
        assert_eq!(told.matches('`').count(), 4, "{told}");
    }

    #[test]
    fn a_text_stays_short_and_says_what_it_leaves_out() {
        let drift = (0..500).map(|field| row(&format!("f{field}"), json!("ä".repeat(500))));
        let now = Alert { drift: drift.collect(), ..Alert::default() };
        let told = text(&Alert::default(), &now);
        assert!(told.len() < 4_000, "{}", told.len());
        assert!(told.ends_with("• and 480 more: `levelset status`"), "{told}");
    }
}
