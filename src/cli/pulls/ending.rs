//! What became of pull requests that are no longer open.

use jiff::{SignedDuration, Timestamp};

use super::look::merged;
use super::{Following, Trouble};
use crate::desired::Snapshot;
use crate::forge::pulls::Over;
use crate::model::review::{Ending, Standing};
use crate::model::status::Truth;
use crate::model::{Condition, Key, ObjectStatus, Revision};
use crate::report::review::ending;
use crate::source::{Heads, Merged};

/// What was merged is told about for so long.
const FOLLOWED: SignedDuration = SignedDuration::from_hours(24);

/// The agent has read what was merged after this long, even if the tip has moved on meanwhile.
const READ: SignedDuration = SignedDuration::from_mins(5);

/// Reasons of an object that is not ready and does not become so by itself.
const STUCK: [&str; 4] = ["Failed", "Refused", "Blocked", "EnvironmentUnknown"];

/// Remembers what was merged.
#[derive(Debug, Clone)]
pub(super) struct Ended {
    keys: Vec<Key>,
    /// The tip that has it.
    tip: Revision,
    since: Timestamp,
}

impl Following {
    /// Notes that a pull request is over; what nobody was told about is passed over.
    pub(super) async fn end(
        &mut self,
        heads: &Heads,
        number: u64,
        head: &Revision,
        over: Over,
    ) -> Result<(), Trouble> {
        let Some(keys) = self.touched.remove(&number) else { return Ok(()) };
        if over == Over::Elsewhere {
            return self.want(Vec::new(), number, &ending(&Ending::Elsewhere)).await;
        }
        // Merged in whatever way (also squashed or rebased), it changes nothing any more.
        let is_merged = match merged(&heads.checkout, &heads.tip, head).await {
            Ok(proposal) => match proposal.merged {
                Merged::Files(files) => files.changed.is_empty() && files.removed.is_empty(),
                Merged::Conflicts(_) | Merged::Refused(_) => false,
            },
            // Its head is gone with its branch: nobody can tell.
            Err(_) => return Ok(()),
        };
        if !is_merged {
            return self.want(Vec::new(), number, &ending(&Ending::Closed)).await;
        }
        let (tip, since) = (heads.tip.clone(), self.now());
        self.ended.insert(number, Ended { keys, tip, since });
        Ok(())
    }

    /// Tells how what was merged stands, until all of it is as declared.
    pub(super) async fn tell_ended(&mut self, now: Timestamp) -> Result<(), Trouble> {
        let snapshot = self.ports.agent.desired.snapshot();
        let mut over = Vec::new();
        for (number, ended) in &self.ended {
            let age = now.duration_since(ended.since);
            if snapshot.revision.as_ref() != Some(&ended.tip) && age < READ {
                continue;
            }
            let standings = self.standings(&snapshot, &ended.keys).await?;
            let is_done = standings.iter().all(|(_, it)| *it == Standing::Converged);
            self.want(Vec::new(), *number, &ending(&Ending::Merged(standings))).await?;
            over.extend((is_done || age >= FOLLOWED).then_some(*number));
        }
        self.ended.retain(|number, _| !over.contains(number));
        Ok(())
    }

    async fn standings(
        &self,
        snapshot: &Snapshot,
        keys: &[Key],
    ) -> Result<Vec<(Key, Standing)>, Trouble> {
        let mut standings = Vec::with_capacity(keys.len());
        for key in keys {
            let record = self.ports.agent.store.get(key).await?;
            let declared = snapshot.get(key).filter(|entry| entry.removed.is_none());
            let standing = match (declared, record) {
                (None, None) => Standing::Converged,
                (None, Some(_)) => Standing::Working("Removed".to_owned()),
                (Some(entry), Some(record))
                    if record.status.observed_generation == entry.generation =>
                {
                    standing(&record.status)
                }
                (Some(_), _) => Standing::Working("Pending".to_owned()),
            };
            standings.push((key.clone(), standing));
        }
        Ok(standings)
    }
}

fn standing(status: &ObjectStatus) -> Standing {
    let Some(ready) = status.condition(Condition::READY) else {
        return Standing::Working("Pending".to_owned());
    };
    let reason = ready.reason.clone();
    match ready.status {
        Truth::True => Standing::Converged,
        _ if STUCK.contains(&reason.as_str()) => Standing::Stuck(reason),
        _ => Standing::Working(reason),
    }
}
