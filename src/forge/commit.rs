//! Which statuses a commit should have.
//!
//! In: the mistakes in the files of a commit, and how the objects stand that it touched. Out: the
//! [`Content`] of each status. Pure; the words hold no duration, so that the same state has the same
//! words, and nothing is sent for it twice.
//!
//! A commit has `levelset/NAME/validate` (its files) and `levelset/NAME/sync` (the cloud); the heads of
//! pull requests may have others, which are made where the plan of a pull request is.

use serde::{Deserialize, Serialize};

use super::api::{Annotation, LONGEST_DESCRIPTION, MOST_ANNOTATIONS, State};
use crate::model::status::Truth;
use crate::model::{Condition, Generation, Key, ObjectStatus, Problem, Revision, Severity};

/// Reasons of an object that is not ready and does not become so by itself.
const STUCK: [&str; 4] = ["Failed", "Refused", "Blocked", "EnvironmentUnknown"];

/// Holds what a status says: what is kept in the outbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// How the commit stands.
    pub state: State,
    /// A clause for people of up to [`LONGEST_DESCRIPTION`] bytes.
    pub description: String,
    /// The branch that the commit is on, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Where more is told; without one, where all statuses of the agent lead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// What is said about lines, for a status that is about lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Vec<Annotation>>,
}

impl Content {
    /// Makes a content; a clause that is too long is cut.
    pub fn new(state: State, description: impl AsRef<str>) -> Self {
        let description = cut(description.as_ref(), LONGEST_DESCRIPTION);
        Self { state, description, branch: None, link: None, annotations: None }
    }

    /// Writes it as the outbox keeps it.
    pub fn to_text(&self) -> String {
        // A struct of two texts is always written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads what the outbox keeps.
    pub fn from_text(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

/// Names a status of an agent: `levelset/NAME/sync`.
pub fn context(agent: &str, what: &str) -> String {
    format!("levelset/{agent}/{what}")
}

/// Says how an object stands to what a commit declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It is as declared.
    Converged,
    /// The agent works on it, or waits.
    Converging,
    /// It does not become as declared by itself, and why.
    Stuck(String),
}

impl Standing {
    /// Reads a status with regard to a generation; one of an earlier generation says nothing yet.
    pub fn of(status: &ObjectStatus, generation: Generation) -> Self {
        if status.observed_generation != generation || status.last_reconciled_time.is_none() {
            return Self::Converging;
        }
        let Some(ready) = status.condition(Condition::READY) else { return Self::Converging };
        let given_up = [Condition::FAILED, Condition::STALLED];
        let mut given_up = given_up.into_iter().filter_map(|kind| status.condition(kind));
        let given_up = given_up.find(|condition| condition.status == Truth::True);
        match (ready.status, given_up) {
            (Truth::True, _) => Self::Converged,
            (_, Some(why)) => Self::Stuck(why.message.clone()),
            _ if STUCK.contains(&ready.reason.as_str()) => Self::Stuck(ready.message.clone()),
            _ => Self::Converging,
        }
    }
}

/// Says how the files of a commit stand; `objects` is how many of them are in force.
pub fn validate<'a>(problems: impl Iterator<Item = &'a Problem>, objects: usize) -> Content {
    let mut errors: Vec<&Problem> =
        problems.filter(|problem| problem.severity == Severity::Error).collect();
    errors.sort();
    let shown = errors.iter().take(MOST_ANNOTATIONS).map(|problem| annotation(problem));
    let annotations = Some(shown.collect());
    let Some(first) = errors.first() else {
        let description = format!("no mistake in {}", counted(objects));
        return Content { annotations, ..Content::new(State::Success, description) };
    };
    let at = &first.position;
    let place = format!("{}:{}:{}: {}", at.path, at.line, at.column, first.message);
    let description = with_more(&place, errors.len() - 1);
    Content { annotations, ..Content::new(State::Failure, description) }
}

fn annotation(problem: &Problem) -> Annotation {
    let hint = problem.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
    Annotation {
        path: problem.position.path.to_string(),
        line: problem.position.line,
        title: cut(&problem.message, LONGEST_DESCRIPTION),
        message: format!("{}{hint}", problem.message),
    }
}

/// Says how the cloud stands to what a commit touched.
pub fn sync<'a>(touched: impl Iterator<Item = (&'a Key, &'a Standing)>) -> Content {
    let touched: Vec<_> = touched.collect();
    let mut stuck = touched.iter().filter_map(|(key, standing)| match standing {
        Standing::Stuck(why) => Some((key, why)),
        Standing::Converged | Standing::Converging => None,
    });
    if let Some((key, why)) = stuck.next() {
        return Content::new(State::Failure, with_more(&format!("{key}: {why}"), stuck.count()));
    }
    let count = touched.len();
    if touched.iter().any(|(_, standing)| **standing == Standing::Converging) {
        return Content::new(State::Pending, format!("{} to converge", counted(count)));
    }
    match count {
        0 => Content::new(State::Success, "it touches no object"),
        count => Content::new(State::Success, format!("{} as declared", counted(count))),
    }
}

/// How the clause about a commit that is not applied begins.
const REFUSED: &str = "not applied: ";

/// Says that a commit is not applied, and why.
pub fn refused(cause: &str) -> Content {
    Content::new(State::Failure, format!("{REFUSED}{cause}"))
}

/// Tells whether a content is one of [`refused`].
pub fn is_refused(content: &Content) -> bool {
    content.state == State::Failure && content.description.starts_with(REFUSED)
}

/// Says that another commit took the place of one before all that it touched converged.
pub fn superseded(by: &Revision) -> Content {
    let description = format!("changed again by {} before all of it converged", by.short());
    Content::new(State::Superseded, description)
}

fn counted(objects: usize) -> String {
    match objects {
        1 => "1 object".to_owned(),
        count => format!("{count} objects"),
    }
}

/// Joins the first of several to the number of the others, which is what a cut leaves.
fn with_more(first: &str, more: usize) -> String {
    match more {
        0 => first.to_owned(),
        more => {
            let end = format!(" (and {more} more)");
            format!("{}{end}", cut(first, LONGEST_DESCRIPTION - end.len()))
        }
    }
}

/// Cuts a text to so many bytes, at a character and with an ellipsis; line breaks become spaces.
pub(super) fn cut(text: &str, bytes: usize) -> String {
    const MORE: &str = "…";
    let line: String = text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    if line.len() <= bytes {
        return line;
    }
    let end = (0..=bytes.saturating_sub(MORE.len())).rev().find(|end| line.is_char_boundary(*end));
    format!("{}{MORE}", &line[..end.unwrap_or(0)])
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::model::Position;

    fn problem(line: u32, message: &str) -> Problem {
        Problem {
            position: Position { path: "teams/a.yaml".into(), line, column: 5 },
            severity: Severity::Error,
            code: "UnknownField".to_owned(),
            message: message.to_owned(),
            hint: None,
            source_line: String::new(),
            length: 1,
        }
    }

    fn status(generation: u64, truth: Truth, reason: &str) -> ObjectStatus {
        let ready = Condition {
            kind: Condition::READY.to_owned(),
            status: truth,
            reason: reason.to_owned(),
            message: "why".to_owned(),
            last_transition_time: Timestamp::UNIX_EPOCH,
        };
        ObjectStatus {
            observed_generation: Generation(generation),
            last_reconciled_time: Some(Timestamp::UNIX_EPOCH),
            conditions: vec![ready],
            ..ObjectStatus::default()
        }
    }

    fn synced(standings: &[Standing]) -> Content {
        let keys: Vec<Key> =
            (0..standings.len()).map(|number| Key::workspace(format!("w{number}"))).collect();
        sync(keys.iter().zip(standings))
    }

    #[test]
    fn a_status_speaks_for_its_own_generation_alone() {
        let ready = status(2, Truth::True, "Converged");
        assert_eq!(Standing::of(&ready, Generation(2)), Standing::Converged);
        assert_eq!(Standing::of(&ready, Generation(3)), Standing::Converging);
        assert_eq!(Standing::of(&ObjectStatus::default(), Generation(0)), Standing::Converging);
    }

    #[test]
    fn what_settles_by_itself_is_no_failure() {
        let of = |reason| Standing::of(&status(1, Truth::False, reason), Generation(1));
        for reason in ["Waiting", "Deferred", "Created", "Frozen", "Reported", "Unknown"] {
            assert_eq!(of(reason), Standing::Converging, "{reason}");
        }
        for reason in STUCK {
            assert_eq!(of(reason), Standing::Stuck("why".to_owned()), "{reason}");
        }
    }

    #[test]
    fn a_commit_has_converged_when_all_that_it_touched_has() {
        let (done, busy) = (Standing::Converged, Standing::Converging);
        let stuck = Standing::Stuck("db_instance/a: no".to_owned());
        let text = |standings: &[Standing]| {
            let content = synced(standings);
            (content.state, content.description)
        };
        let expected = |state, text: &str| (state, text.to_owned());
        assert_eq!(text(&[]), expected(State::Success, "it touches no object"));
        let both = [done.clone(), done.clone()];
        assert_eq!(text(&both), expected(State::Success, "2 objects as declared"));
        assert_eq!(
            text(&[done.clone(), busy.clone()]),
            expected(State::Pending, "2 objects to converge")
        );
        let first = "Workspace/w1: db_instance/a: no (and 1 more)";
        assert_eq!(text(&[busy, stuck.clone(), stuck]), expected(State::Failure, first));
    }

    #[test]
    fn progress_changes_no_word_until_the_last_object_is_done() {
        let (done, busy) = (Standing::Converged, Standing::Converging);
        let one = synced(&[done.clone(), busy.clone(), busy.clone()]);
        assert_eq!(one, synced(&[done.clone(), done, busy]));
    }

    #[test]
    fn the_first_mistake_is_told_with_its_place_and_each_at_its_line() {
        let notice = Problem { severity: Severity::Notice, ..problem(1, "a notice") };
        let told = |content: Content| (content.state, content.description);
        let none = validate([&notice].into_iter(), 3);
        assert_eq!(none.annotations, Some(Vec::new()));
        assert_eq!(told(none), (State::Success, "no mistake in 3 objects".to_owned()));
        let (late, early) = (problem(9, "late"), problem(3, "there is no field foo"));
        let found = validate([&late, &notice, &early].into_iter(), 3);
        let shown = found.annotations.clone().unwrap();
        assert_eq!(shown.iter().map(|it| it.line).collect::<Vec<_>>(), [3, 9]);
        let text = "teams/a.yaml:3:5: there is no field foo (and 1 more)";
        assert_eq!(told(found), (State::Failure, text.to_owned()));
        let many: Vec<Problem> = (1..200).map(|line| problem(line, "x")).collect();
        let found = validate(many.iter(), 3).annotations.unwrap();
        assert_eq!(found.len(), MOST_ANNOTATIONS);
    }

    #[test]
    fn a_long_reason_is_cut_at_a_character_and_keeps_the_count() {
        let why = "ä".repeat(200);
        let stuck = vec![Standing::Stuck(why); 12];
        let told = synced(&stuck).description;
        assert!(told.len() <= LONGEST_DESCRIPTION && told.ends_with("ä… (and 11 more)"), "{told}");
        let line = Content::new(State::Failure, "a\nb\tc").description;
        assert_eq!(line, "a b c");
    }

    #[test]
    fn a_content_is_read_as_it_is_written() {
        let content = Content::new(State::Superseded, "x");
        assert_eq!(Content::from_text(&content.to_text()), Some(content));
        assert_eq!(Content::from_text("{}"), None);
    }
}
