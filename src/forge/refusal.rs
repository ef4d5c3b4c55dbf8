//! What a host's answer means when it is not the one that was hoped for.
//!
//! In: an answer. Out: a [`Refusal`], whose kind says when to try again. It is told by the status and
//! the headers alone, never by the words of a message: hosts change those.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::wire::Answer;

/// How much of a host's own words is repeated.
const LONGEST_WORDS: usize = 200;

/// The longest that a host may tell us to wait.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// Says why a host did not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It did not answer, or is in trouble: everything for it waits a while.
    #[error("the host is not available: {0}")]
    Unavailable(String),
    /// We ask too much: everything for it waits, as long as it says or for a minute and longer.
    #[error("the host asks us to slow down")]
    Throttled {
        /// How long it says.
        wait: Option<Duration>,
    },
    /// The credentials are not good, or not for this: everything waits for a minute and longer.
    #[error("the host refuses our credentials ({status}): {said}")]
    Denied {
        /// The status of HTTP.
        status: u16,
        /// The host's words, and the permission that it names.
        said: String,
    },
    /// It is not there, or not shown to us; another time it may be.
    #[error("the host knows nothing of it: {said}")]
    Missing {
        /// The host's words.
        said: String,
    },
    /// It is never taken as it is.
    #[error("the host refuses it ({status}): {said}")]
    Refused {
        /// The status of HTTP.
        status: u16,
        /// The host's words.
        said: String,
    },
}

impl Refusal {
    /// Returns the one word for it, for metrics.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Unavailable(_) => "unavailable",
            Self::Throttled { .. } => "throttled",
            Self::Denied { .. } => "denied",
            Self::Missing { .. } => "missing",
            Self::Refused { .. } => "refused",
        }
    }

    /// Reads an answer; `None` when it is a success.
    pub fn of(answer: &Answer, now: Timestamp) -> Option<Self> {
        let status = answer.status;
        let said = said(answer);
        Some(match status {
            200..=299 => return None,
            429 => Self::Throttled { wait: wait(answer, now) },
            403 if wait(answer, now).is_some() => Self::Throttled { wait: wait(answer, now) },
            401 | 403 => Self::Denied { status, said: with_permission(said, answer) },
            404 => Self::Missing { said },
            408 | 500..=599 => Self::Unavailable(format!("it answers {status}")),
            _ => Self::Refused { status, said },
        })
    }

    /// Says that a list goes on beyond what is read of one: what needs it is never taken.
    pub fn endless() -> Self {
        Self::Refused { status: 0, said: "its list is too long to be read".to_owned() }
    }

    /// Says that an answer is not what the host's API promises.
    pub fn unreadable(what: &str) -> Self {
        Self::Unavailable(format!("its answer is no {what}"))
    }
}

/// Returns how long the host says that we should wait.
///
/// Source: "Rate limits for the REST API" in GitHub's documentation, and "Rate limits" in GitLab's.
fn wait(answer: &Answer, now: Timestamp) -> Option<Duration> {
    let number = |name: &str| answer.header(name)?.trim().parse::<i64>().ok();
    let until = |reset: i64| reset.saturating_sub(now.as_second());
    let is_spent = |prefix: &str| number(&format!("{prefix}-remaining")) == Some(0);
    let reset = ["x-ratelimit", "ratelimit"].into_iter().filter(|prefix| is_spent(prefix));
    let reset = reset.into_iter().find_map(|prefix| number(&format!("{prefix}-reset")));
    let seconds = number("retry-after").or_else(|| reset.map(until))?;
    let wait = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    Some(wait.clamp(Duration::from_secs(1), LONGEST_WAIT))
}

/// Takes the host's own words out of an answer, as one short line.
fn said(answer: &Answer) -> String {
    let text = match serde_json::from_slice::<Value>(&answer.body) {
        Ok(value) => words(&value),
        Err(_) => String::new(),
    };
    let line: String = text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    match line.char_indices().nth(LONGEST_WORDS) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None if line.is_empty() => "without a reason".to_owned(),
        None => line,
    }
}

/// Finds the message: `message` in GitHub, GitLab and Gitea, `error.message` in Bitbucket.
fn words(value: &Value) -> String {
    let message = value.get("message").or_else(|| value.pointer("/error/message"));
    let message = message.or_else(|| value.get("error"));
    match message {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

/// GitHub names the permission that would do.
fn with_permission(said: String, answer: &Answer) -> String {
    match answer.header("x-accepted-github-permissions") {
        Some(needed) => format!("{said}; it takes {needed}"),
        None => said,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Answer {
        let headers =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Answer { status, headers, body: body.as_bytes().to_vec() }
    }

    fn refusal(status: u16, headers: &[(&str, &str)], body: &str) -> Option<Refusal> {
        Refusal::of(&answer(status, headers, body), Timestamp::from_second(1_000).unwrap())
    }

    fn throttled(seconds: u64) -> Option<Refusal> {
        Some(Refusal::Throttled { wait: Some(Duration::from_secs(seconds)) })
    }

    #[test]
    fn a_rate_limit_is_told_with_403_or_429_and_three_kinds_of_headers() {
        for status in [403, 429] {
            assert_eq!(refusal(status, &[("retry-after", "30")], ""), throttled(30));
            let spent = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "1090")];
            assert_eq!(refusal(status, &spent, ""), throttled(90));
            let gitlab = [("ratelimit-remaining", "0"), ("ratelimit-reset", "1010")];
            assert_eq!(refusal(status, &gitlab, ""), throttled(10));
            assert_eq!(refusal(status, &[("retry-after", "999999")], ""), throttled(3600));
            let past = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", "5")];
            assert_eq!(refusal(status, &past, ""), throttled(1));
        }
        assert_eq!(refusal(429, &[], ""), Some(Refusal::Throttled { wait: None }));
        let left = [("x-ratelimit-remaining", "10"), ("x-ratelimit-reset", "1090")];
        assert!(matches!(refusal(403, &left, ""), Some(Refusal::Denied { .. })));
    }

    #[test]
    fn a_denial_names_the_permission_that_would_do() {
        let needed = [("x-accepted-github-permissions", "statuses=write")];
        let body = r#"{"message":"Resource not accessible by integration"}"#;
        let denied = refusal(403, &needed, body).unwrap().to_string();
        let expected = "the host refuses our credentials (403): Resource not accessible by \
                        integration; it takes statuses=write";
        assert_eq!(denied, expected);
    }

    #[test]
    fn the_words_of_every_host_are_found_and_kept_short() {
        for body in [r#"{"message":"no"}"#, r#"{"error":{"message":"no"}}"#, r#"{"error":"no"}"#] {
            assert_eq!(refusal(404, &[], body), Some(Refusal::Missing { said: "no".to_owned() }));
        }
        let list = r#"{"message":{"state":["is invalid"]}}"#;
        assert!(refusal(400, &[], list).unwrap().to_string().contains("is invalid"));
        let long = format!(r#"{{"message":"{}\n"}}"#, "ä".repeat(300));
        let said = refusal(422, &[], &long).unwrap().to_string();
        assert!(said.ends_with("ä...") && said.len() < 450, "{said}");
        assert!(refusal(400, &[], "<html>").unwrap().to_string().ends_with("without a reason"));
    }

    #[test]
    fn every_other_answer_has_its_kind() {
        assert_eq!(refusal(201, &[], ""), None);
        assert_eq!(refusal(503, &[], "").unwrap().as_str(), "unavailable");
        assert_eq!(refusal(408, &[], "").unwrap().as_str(), "unavailable");
        assert_eq!(refusal(401, &[], "").unwrap().as_str(), "denied");
        for status in [301, 400, 409, 422] {
            assert_eq!(refusal(status, &[], "").unwrap().as_str(), "refused");
        }
    }
}
