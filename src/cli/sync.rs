//! `levelset sync [PATH]`: converges once and exits.
//!
//! It is the agent for one commit: it ends when every object has come as far as it can get without
//! waiting for a window, a person or a new commit.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;

use super::agent::Agent;
use super::clock::system_clock;
use super::error::Error;
use super::manifests;
use super::output::Output;
use super::repository::remote;
use super::settings::Flags;
use super::{Exit, Format, cloud, logging, runtime};
use crate::config::Config;
use crate::model::status::Truth;
use crate::model::{ChangeSet, Condition, ObjectStatus};
use crate::reconcile::next::Pace;
use crate::report::{Told, json, text};
use crate::source::{self, read_once};
use crate::status::Record;
use crate::status::build::state::{BLOCKED, CREATED, FAILED, UNKNOWN, UPDATED, WAITING};

/// How often it is looked whether everything has come to rest.
const LOOK: Duration = Duration::from_millis(200);

/// Converge once and exit
///
/// Exit code 0: every object is as declared; 1: some object is not, or an error.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// A folder of manifests, or one file, instead of the repository
    path: Option<PathBuf>,
    /// The longest time to work, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    timeout: u64,
    /// The form of the report
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    output: Format,
}

pub(super) fn run(
    arguments: &Arguments,
    flags: &Flags,
    output: &mut Output,
) -> Result<Exit, Error> {
    let config = flags.load(&[])?;
    logging::start(&config.log);
    source::init();
    let records = runtime()?.block_on(async {
        let changes = commit(arguments, &config).await?;
        converge(&config, &changes, Duration::from_secs(arguments.timeout)).await
    })?;
    let told: Vec<Told<'_>> = records
        .iter()
        .map(|record| Told {
            key: &record.key,
            generation: record.generation,
            status: &record.status,
        })
        .collect();
    let report = match arguments.output {
        Format::Text => text::status(&told, output.style()),
        Format::Json => json::status(&told),
    };
    output.print(&report)?;
    let is_level = records.iter().all(|record| record.status.is_ready());
    Ok(if is_level { Exit::Done } else { Exit::Wrong })
}

/// Reads the folder that is named, or the tip of the repository.
async fn commit(arguments: &Arguments, config: &Config) -> Result<ChangeSet, Error> {
    if let Some(path) = &arguments.path {
        return manifests::commit(path);
    }
    let repository = config.repository().map_err(|problem| Error::Settings(vec![problem]))?;
    let remote = remote(repository, &config.state_directory.value)?;
    let tree = read_once(&remote.location, &remote.access).await.map_err(Error::Source)?;
    Ok(manifests::whole(tree))
}

async fn converge(
    config: &Config,
    changes: &ChangeSet,
    timeout: Duration,
) -> Result<Vec<Record>, Error> {
    let cloud = cloud::aws(config, &system_clock());
    let (agent, mut triggers) = Agent::open(config, cloud, Pace::default()).await?;
    let begun = agent.engine.clock.now();
    triggers.take(changes).await;
    agent.work(config.workers.value);
    let resting = tokio::time::timeout(timeout, rest(&agent, begun)).await;
    let records = match resting {
        Ok(records) => records,
        Err(_) => declared(&agent).await,
    };
    agent.close().await;
    records
}

/// Waits until every declared object has come to rest.
async fn rest(agent: &Agent, begun: Timestamp) -> Result<Vec<Record>, Error> {
    loop {
        let records = declared(agent).await?;
        let expected = agent.engine.desired.snapshot().objects.len();
        let resting = records.iter().filter(|record| is_resting(record, begun)).count();
        if resting == expected {
            return Ok(records);
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Returns what is known of the objects that are declared now.
async fn declared(agent: &Agent) -> Result<Vec<Record>, Error> {
    let snapshot = agent.engine.desired.snapshot();
    let mut records = agent.engine.store.all().await.map_err(Error::Store)?;
    records.retain(|record| snapshot.objects.contains_key(&record.key));
    Ok(records)
}

/// Tells whether this run has looked at the object and has nothing more to do about it.
fn is_resting(record: &Record, begun: Timestamp) -> bool {
    let status = &record.status;
    let is_seen = status.last_reconciled_time.is_some_and(|at| at >= begun)
        && status.observed_generation == record.generation;
    is_seen && !is_moving(status)
}

/// Tells whether the agent goes on by itself, without a window, a person or a new commit.
fn is_moving(status: &ObjectStatus) -> bool {
    let holds = |name| status.condition(name).is_some_and(|it| it.status == Truth::True);
    if holds(Condition::FAILED) || holds(Condition::SUSPENDED) {
        return false;
    }
    let moving = [CREATED, UPDATED, WAITING, BLOCKED, FAILED, UNKNOWN];
    status.resources.iter().any(|resource| moving.contains(&resource.state.as_str()))
}
