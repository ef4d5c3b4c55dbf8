//! `levelset sync [PATH]`: converges once and exits.
//!
//! It is the agent for one commit: it ends when every object, of the repository also one whose manifest
//! is gone, has come as far as it can get without waiting for a window, a grace period, a person or a new
//! commit. What can only be helped from outside (AWS cannot
//! be read, a call is refused, a VPC is missing) is tried for [`HOPE`] after the rest has come to
//! rest, because until then the rest may help.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use super::agent::Agent;
use super::clock::system_clock;
use super::error::Error;
use super::manifests;
use super::output::Output;
use super::repository::remote;
use super::settings::Flags;
use super::standing::Standing;
use super::store::told;
use super::{Exit, Format, cloud, logging, runtime};
use crate::aws::Budgets;
use crate::config::{Config, ConfigProblem};
use crate::desired::Snapshot;
use crate::model::{ChangeSet, Freeze, Key, Problem, Severity};
use crate::queue::Lane;
use crate::reconcile::next::Pace;
use crate::report::{Style, Told, json, text};
use crate::source::{self, read_once};
use crate::status::Record;

/// How often it is looked whether everything has come to rest.
const LOOK: Duration = Duration::from_millis(200);

/// How long what is stuck is tried once nothing else moves: about three looks and five retries.
const HOPE: Duration = Duration::from_secs(30);

const ENDS: &str = "\
Of the repository, but not of a PATH, also what its manifests declare no longer is left or deleted, as
they said before. It ends when nothing more can be done now. What cannot be read, is refused by AWS with an error, or
needs something that does not exist is tried for another 30 seconds after that.

Exit codes:
  0  every object is as declared, or as far as its own manifest lets it be: a change waits for the
     maintenance window or a deletion for its grace period, drift is reported only, the object is
     suspended
  1  an object could not be read or changed, is refused, given up, invalid or without a configured
     environment, or was not done in time; the report says which and why";

/// Converge once and exit
#[derive(Debug, clap::Args)]
#[command(after_help = ENDS)]
pub(super) struct Arguments {
    /// A folder of manifests, or one file, instead of the repository
    path: Option<PathBuf>,
    /// The longest time to work, in seconds; a large database takes AWS half an hour
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    timeout: u64,
    /// The form of the report
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    output: Format,
}

/// Holds what a run came to.
struct Synced {
    records: Vec<Record>,
    /// What waits for `levelset confirm`.
    freezes: Vec<Freeze>,
    problems: Vec<Problem>,
    /// When the run began: a status from before says nothing of it.
    begun: Timestamp,
    /// False when the time was up before everything had come to rest.
    in_time: bool,
}

pub(super) fn run(
    arguments: &Arguments,
    flags: &Flags,
    output: &mut Output,
) -> Result<Exit, Error> {
    let config = flags.load(&[])?;
    logging::start(&config.log);
    source::init();
    let synced = runtime()?.block_on(async {
        let changes = commit(arguments, &config).await?;
        converge(&config, &changes, Duration::from_secs(arguments.timeout)).await
    })?;
    output.print(&report(&synced, arguments.output, output.style()))?;
    if !synced.problems.is_empty() {
        output.note(text::problems(&synced.problems, output.note_style()).trim_end());
    }
    if !synced.in_time {
        let unfinished = synced.unfinished().join(", ");
        output.note(&format!("not done within {} seconds: {unfinished}", arguments.timeout));
    }
    Ok(if synced.is_good() { Exit::Done } else { Exit::Wrong })
}

fn report(synced: &Synced, format: Format, style: Style) -> String {
    let told: Vec<Told<'_>> = synced.records.iter().map(told).collect();
    match format {
        Format::Text => text::status(&told, &synced.freezes, style),
        Format::Json => json::status(&told, &synced.freezes),
    }
}

impl Synced {
    /// Tells whether every manifest is good and every object is where its manifest wants it now.
    fn is_good(&self) -> bool {
        let broken = self.problems.iter().any(|problem| problem.severity == Severity::Error);
        !broken && self.records.iter().all(|record| standing(record, self.begun).is_good())
    }

    fn unfinished(&self) -> Vec<String> {
        let moving = |record: &&Record| {
            matches!(standing(record, self.begun), Standing::Moving | Standing::Stuck)
        };
        self.records.iter().filter(moving).map(|record| record.key.to_string()).collect()
    }
}

/// Reads the folder that is named, or the tip of the repository.
async fn commit(arguments: &Arguments, config: &Config) -> Result<ChangeSet, Error> {
    // A folder that is named may be a part of what the agent reads: what it lacks is not removed.
    if let Some(path) = &arguments.path {
        refuse_unsigned(config)?;
        return Ok(ChangeSet { full: false, ..manifests::commit(path)? });
    }
    let repository = config.repository().map_err(|problem| Error::Settings(vec![problem]))?;
    let remote = remote(repository, &config.state_directory.value)?;
    let tree = read_once(&remote.location, &remote.access).await.map_err(Error::Source)?;
    Ok(manifests::whole(tree))
}

/// A folder on disk has no signature: where commits need one, it is not applied.
fn refuse_unsigned(config: &Config) -> Result<(), Error> {
    let signatures = config.repository.as_ref().and_then(|it| it.signatures.as_ref());
    let files = signatures.and_then(|it| it.allowed_signers.as_ref().or(it.openpgp_keys.as_ref()));
    let Some(file) = files else { return Ok(()) };
    let message = "only signed commits are applied, and a folder has no signature";
    let hint = "leave out PATH to converge to the newest commit of the repository, or use settings \
                without repository.signatures";
    Err(Error::Settings(vec![ConfigProblem {
        setting: "repository.signatures".to_owned(),
        source: file.source.clone(),
        message: message.to_owned(),
        hint: Some(hint.to_owned()),
    }]))
}

async fn converge(
    config: &Config,
    changes: &ChangeSet,
    timeout: Duration,
) -> Result<Synced, Error> {
    let cloud = cloud::aws(config, &system_clock());
    let (agent, mut triggers) =
        Agent::open(config, cloud, Budgets::default(), Pace::default()).await?;
    let begun = agent.engine.clock.now();
    triggers.take(changes).await;
    triggers.confirm_asked().await;
    wake(&agent);
    agent.work(config.workers.value);
    let resting = tokio::time::timeout(timeout, rest(&agent, begun)).await;
    let in_time = resting.is_ok();
    let records = match resting {
        Ok(records) => records,
        Err(_) => concerned(&agent).await,
    };
    let snapshot = agent.engine.desired.snapshot();
    triggers.dismiss().await;
    triggers.tell_frozen().await;
    let freezes = agent.engine.store.freezes().await.map_err(Error::Store);
    agent.close().await;
    let problems = snapshot.problems.values().flatten().cloned().collect();
    Ok(Synced { records: records?, freezes: freezes?, problems, begun, in_time })
}

/// Asks for a pass of every object now, also of one that an agent has found as declared a while ago.
fn wake(agent: &Agent) {
    for key in keys(&agent.engine.desired.snapshot()) {
        agent.queue.add_now(key.clone(), Lane::Change);
    }
}

/// Lists the objects that are looked at: those that Git declares, and once all of it has been read,
/// those that it declares no longer.
fn keys(snapshot: &Snapshot) -> impl Iterator<Item = &Key> {
    let gone = snapshot.orphans.keys().filter(|_| snapshot.synced);
    snapshot.objects.keys().chain(gone)
}

/// Waits until every object that is looked at has come to rest, or cannot be helped.
async fn rest(agent: &Agent, begun: Timestamp) -> Result<Vec<Record>, Error> {
    let mut moved = Instant::now();
    let mut before: Vec<Standing> = Vec::new();
    loop {
        let records = concerned(agent).await?;
        let standings: Vec<Standing> =
            records.iter().map(|record| standing(record, begun)).collect();
        let all_known = records.len() == keys(&agent.engine.desired.snapshot()).count();
        let worst = standings.iter().max().copied().unwrap_or(Standing::Level);
        if !all_known || worst == Standing::Moving || standings != before {
            moved = Instant::now();
        }
        let is_hopeless = worst == Standing::Stuck && moved.elapsed() >= HOPE;
        if all_known && (worst < Standing::Stuck || is_hopeless) {
            return Ok(records);
        }
        before = standings;
        tokio::time::sleep(LOOK).await;
    }
}

/// Returns what is known of the objects that are looked at.
async fn concerned(agent: &Agent) -> Result<Vec<Record>, Error> {
    let snapshot = agent.engine.desired.snapshot();
    let mut records = agent.engine.store.all().await.map_err(Error::Store)?;
    let keys: BTreeSet<&Key> = keys(&snapshot).collect();
    records.retain(|record| keys.contains(&record.key));
    Ok(records)
}

/// Judges an object; one that this run has not looked at yet is still moving.
fn standing(record: &Record, begun: Timestamp) -> Standing {
    let status = &record.status;
    let is_seen = status.last_reconciled_time.is_some_and(|at| at >= begun)
        && status.observed_generation == record.generation;
    if is_seen { Standing::of(status) } else { Standing::Moving }
}
