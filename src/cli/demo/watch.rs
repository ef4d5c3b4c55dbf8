//! What a spectator sees while the agent and AWS work: the agent's history of one object beside the
//! states through which AWS takes its database, each line when it happens.

use std::time::Duration;

use jiff::Timestamp;

use super::stage::{PATIENCE, Stage};
use crate::cli::error::Error;
use crate::cli::output::Output;
use crate::model::{Key, Scope};
use crate::report::style::Ink;
use crate::status::Record;

/// How often the spectator looks.
const LOOK: Duration = Duration::from_millis(50);

/// Follows one workspace and its database of the same name.
pub(super) struct Watch<'a> {
    stage: &'a Stage,
    scope: Scope,
    key: Key,
    /// How many lines of its history have been shown.
    told: usize,
    /// The last state of the database that was shown.
    state: Option<String>,
}

impl<'a> Watch<'a> {
    /// Begins to watch; what has happened before is not shown.
    pub(super) async fn begin(stage: &'a Stage, scope: Scope, name: &str) -> Result<Self, Error> {
        let key = Key::workspace(name);
        let told = stage.history(&key).await?.len();
        let state = stage.state(&scope, name);
        Ok(Self { stage, scope, key, told, state })
    }

    /// Shows what happens until the object's record is as `wanted`.
    ///
    /// # Errors
    ///
    /// [`Error::Untrue`] when it does not get there in time.
    pub(super) async fn until(
        &mut self,
        output: &mut Output,
        goal: &str,
        wanted: impl Fn(&Record) -> bool,
    ) -> Result<Record, Error> {
        let looking = async {
            loop {
                // Before the lines, so that every line that led there is shown.
                let record = self.stage.record(&self.key).await?.filter(&wanted);
                self.show(output).await?;
                match record {
                    Some(record) => return Ok(record),
                    None => tokio::time::sleep(LOOK).await,
                }
            }
        };
        let looked = tokio::time::timeout(PATIENCE, looking).await;
        looked.unwrap_or_else(|_| Err(Error::untimely(goal, PATIENCE)))
    }

    async fn show(&mut self, output: &mut Output) -> Result<(), Error> {
        let state = self.stage.state(&self.scope, &self.key.name);
        let news = state.as_ref().filter(|_| state != self.state);
        if let Some(news) = news {
            line(output, self.stage.now(), "aws", news, Ink::Faint, "")?;
        }
        self.state.clone_from(&state);
        let events = self.stage.history(&self.key).await?;
        for event in events.iter().skip(self.told) {
            let ink = ink(&event.reason);
            line(output, event.at, "agent", &event.reason, ink, &event.message)?;
        }
        self.told = events.len();
        Ok(())
    }
}

/// Prints one line of what happens: when, who, what.
pub(super) fn line(
    output: &mut Output,
    at: Timestamp,
    who: &str,
    what: &str,
    ink: Ink,
    message: &str,
) -> Result<(), Error> {
    let style = output.style();
    let time = style.paint(Ink::Faint, at.strftime("%H:%M:%S"));
    let what = if message.is_empty() { what.to_owned() } else { format!("{what:<10}") };
    let text = format!("  {time}  {who:<6} {} {message}", style.paint(ink, what));
    output.print(&format!("{}\n", text.trim_end()))
}

fn ink(reason: &str) -> Ink {
    match reason {
        "Converged" | "Created" | "Valid" => Ink::Added,
        "Drifted" | "Refused" | "Invalid" | "Failed" => Ink::Bad,
        "Reverted" | "Updated" => Ink::Changed,
        _ => Ink::Strong,
    }
}
