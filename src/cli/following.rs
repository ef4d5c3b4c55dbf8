//! The tasks that follow the repository and what people ask, watched: an agent without them must not
//! look alive.
//!
//! In: the handles of the task that reads commits, of the one that takes them over, and of the one
//! that looks for requests. Out: a [`Lost`] as soon as one of them ends, by itself or by a panic. It
//! ends nothing itself.

use std::fmt;
use std::time::Duration;

use tokio::task::{JoinError, JoinHandle};

/// How long the other task is waited for when one has ended: its panic may be the reason.
const REASON: Duration = Duration::from_secs(1);

/// Holds the tasks; each of them ends only when the agent stops.
#[derive(Debug)]
pub(super) struct Following {
    /// Reads the commits of the repository.
    pub(super) reading: JoinHandle<()>,
    /// Takes over what they changed.
    pub(super) taking: JoinHandle<()>,
    /// Looks for what people ask.
    pub(super) heeding: JoinHandle<()>,
}

/// Says which task ended although the agent was not stopping, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    task: &'static str,
    /// What its panic said; `None` when it ended by itself.
    panic: Option<String>,
}

impl Following {
    /// Waits until one of the tasks ends.
    ///
    /// When one panics, the other one loses its end of a channel and ends by itself, maybe sooner:
    /// the panic is what is told.
    pub(super) async fn lost(self) -> Lost {
        let (mut reading, mut taking) = (self.reading, self.taking);
        let mut heeding = self.heeding;
        let (first, (task, other)) = tokio::select! {
            ended = &mut reading => (Lost::new(READING, ended), (TAKING, taking)),
            ended = &mut taking => (Lost::new(TAKING, ended), (READING, reading)),
            ended = &mut heeding => return Lost::new(HEEDING, ended),
        };
        if first.panic.is_some() {
            return first;
        }
        match tokio::time::timeout(REASON, other).await {
            Ok(Err(error)) => Lost::new(task, Err(error)),
            _ => first,
        }
    }
}

const READING: &str = "the task that reads the repository";
const TAKING: &str = "the task that takes over commits";
const HEEDING: &str = "the task that looks for what people ask";

impl Lost {
    fn new(task: &'static str, ended: Result<(), JoinError>) -> Self {
        Self { task, panic: ended.err().map(said) }
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.panic {
            Some(panic) => write!(f, "{} panicked: {panic}", self.task),
            None => write!(f, "{} ended without being asked to", self.task),
        }
    }
}

/// Returns the text of a panic.
fn said(error: JoinError) -> String {
    let Ok(panic) = error.try_into_panic() else { return "it was cancelled".to_owned() };
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("it said nothing").to_owned()
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::sync::mpsc;
    use tokio_util::task::TaskTracker;

    use super::*;
    use crate::cli::error::{Error, render};
    use crate::report::Style;

    fn spawn(task: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        TaskTracker::new().spawn(task)
    }

    #[tokio::test(start_paused = true)]
    async fn a_panic_of_either_task_is_told_at_once() {
        let reading = spawn(async { panic!("the {} is gone", "clone") });
        let following = Following { reading, taking: spawn(pending()), heeding: spawn(pending()) };
        let lost = following.lost().await.to_string();
        assert_eq!(lost, "the task that reads the repository panicked: the clone is gone");
        let taking = spawn(async { panic!("no such key") });
        let following = Following { reading: spawn(pending()), taking, heeding: spawn(pending()) };
        let lost = following.lost().await.to_string();
        assert_eq!(lost, "the task that takes over commits panicked: no such key");
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_ends_by_itself_is_lost_too() {
        let following = Following {
            reading: spawn(pending()),
            taking: spawn(async {}),
            heeding: spawn(pending()),
        };
        let error = Error::Ended(following.lost().await);
        let expected = "\
error: the agent no longer follows the repository: the task that takes over commits ended without \
being asked to
  hint: start it again, and report it with the last lines of the log
";
        assert_eq!(render(&error, Style::Plain), expected);
    }

    #[tokio::test(start_paused = true)]
    async fn the_panic_is_told_also_when_the_other_task_ends_first() {
        let (sender, mut receiver) = mpsc::channel::<()>(1);
        let reading = spawn(async move {
            drop(sender);
            tokio::time::sleep(Duration::from_millis(10)).await;
            panic!("late");
        });
        let taking = spawn(async move { while receiver.recv().await.is_some() {} });
        let lost =
            Following { reading, taking, heeding: spawn(pending()) }.lost().await.to_string();
        assert_eq!(lost, "the task that reads the repository panicked: late");
    }
}
