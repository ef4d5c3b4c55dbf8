//! `levelset resume OBJECT`: lifts what `suspend` and `snooze` asked for.

use super::Exit;
use super::clock::now;
use super::error::Error;
use super::output::Output;
use super::settings::Flags;
use super::store::{ask, find, read};
use crate::model::{Ask, Asked, Condition, ObjectStatus};
use crate::status::Store;

const WHAT: &str = "\
An annotation of the manifest is lifted in Git: while one still suspends or snoozes the object, the
exit code is 1 and the answer says where it stands.";

/// Lift the suspension and the snooze of an object that were set by command
#[derive(Debug, clap::Args)]
#[command(after_help = WHAT)]
pub(super) struct Arguments {
    /// The object: its name, or Workspace/NAME where the name is not enough
    object: String,
}

pub(super) fn run(
    arguments: &Arguments,
    flags: &Flags,
    output: &mut Output,
) -> Result<Exit, Error> {
    let record = find(flags, &arguments.object)?;
    let asked = read(flags, async |store| store.asked_of(&record.key).await)?;
    let lifted: Vec<&Asked> = asked.iter().filter(|asked| is_level(&asked.ask)).collect();
    let mut text = lifted.iter().map(|asked| line(asked)).collect::<String>();
    if lifted.is_empty() {
        text = format!("{} is neither suspended nor snoozed by command\n", record.key);
    } else {
        ask(flags, &[Ask::Resume { object: record.key.clone() }], now())?;
    }
    output.print(&text)?;
    let still = still_held(&record.status);
    still.iter().for_each(|message| output.note(&format!("but an annotation holds it: {message}")));
    Ok(if still.is_empty() { Exit::Done } else { Exit::Wrong })
}

fn is_level(ask: &Ask) -> bool {
    matches!(ask, Ask::Suspend { .. } | Ask::Snooze { .. })
}

fn line(asked: &Asked) -> String {
    let what = match asked.ask {
        Ask::Suspend { .. } => "suspension",
        _ => "snooze",
    };
    let of = asked.ask.subject();
    format!("the {what} of {of} by {} since {:.0} is lifted\n", asked.by, asked.at)
}

/// Returns what annotations say, as the last pass found them.
fn still_held(status: &ObjectStatus) -> Vec<String> {
    let held = [Condition::SUSPENDED, Condition::SNOOZED].into_iter();
    let conditions = held.filter_map(|kind| status.condition(kind));
    let by_git = conditions.filter(|condition| {
        [Condition::BY_ANNOTATION, Condition::BY_BOTH].contains(&condition.reason.as_str())
    });
    by_git.map(|condition| condition.message.clone()).collect()
}
