//! `levelset plan`: what a pass would change, field by field; it changes nothing.
//!
//! With `--observed FILE` it plans against saved answers of the AWS CLI instead of the cloud, with
//! the same stages as the agent, so that a decision can be made again anywhere.

use std::path::PathBuf;
use std::sync::Arc;

use clap::ValueEnum;
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use super::clock::chosen;
use super::engine::{OnlyLooks, engine};
use super::error::Error;
use super::manifests;
use super::output::Output;
use super::saved::{assume, memory, saved};
use super::settings::Flags;
use super::{Exit, cloud, runtime};
use crate::aws::Budgets;
use crate::model::{Cloud, Plan};
use crate::reconcile::engine::{Engine, Ports};
use crate::reconcile::preview::preview;
use crate::reconcile::removal::preview_removal;
use crate::report::{Style, Summary, awscli, json, text};
use crate::status::Record;

/// How long a list may be shared: longer than any plan takes.
const FRESH: SignedDuration = SignedDuration::from_hours(1);

/// Show what a pass would change, field by field, and what that disrupts; changes nothing
///
/// Exit code 0: nothing to do; 2: something is not as declared, or not known; 1: an error.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The folder that holds the manifests, or one file
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Plan against saved AWS CLI answers instead of the cloud
    ///
    /// One JSON object of lists, as the AWS CLI prints them: {"DBInstances": [...], "Vpcs": [...]}.
    /// A list that is there and lacks a resource means that it does not exist; a list that is
    /// missing means that nothing is known.
    #[arg(long, value_name = "FILE")]
    observed: Option<PathBuf>,
    /// Also plan the removal of what the agent on this machine knows and PATH does not declare
    ///
    /// For a PATH that holds everything that the agent reads: in one that holds a part of it,
    /// everything else would look removed.
    #[arg(long, conflicts_with = "observed")]
    removed: bool,
    /// The time to plan for, for example 2026-12-01T03:00:00Z [default: now]
    #[arg(long, value_name = "TIME")]
    at: Option<Timestamp>,
    /// The form of the plan; `awscli` is the commands that do the same
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    output: Form,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Form {
    Text,
    Json,
    Awscli,
}

pub(super) fn run(
    arguments: &Arguments,
    flags: &Flags,
    output: &mut Output,
) -> Result<Exit, Error> {
    let read = manifests::read(&arguments.path)?;
    if !read.problems.is_empty() {
        output.note(text::problems(&read.problems, output.note_style()).trim_end());
    }
    if read.is_broken() {
        return Ok(Exit::Wrong);
    }
    let config = flags.load(&[])?;
    let clock = chosen(arguments.at);
    let cloud: Arc<dyn Cloud> = match &arguments.observed {
        Some(path) => Arc::new(saved(path)?),
        None => cloud::guarded(cloud::aws(&config, &clock), Budgets::default()).0,
    };
    let plans = runtime()?.block_on(async {
        let store = memory(&config, arguments.observed.is_some()).await?;
        let ports = Ports { cloud, store, fence: Arc::new(OnlyLooks), clock };
        let stopping = CancellationToken::new();
        let mut engine = engine(&config, read.desired.clone(), ports, FRESH, stopping);
        if arguments.observed.is_some() {
            assume(&mut engine, &read.snapshot(), output);
        }
        let mut plans = plans(&engine, output).await?;
        if arguments.removed {
            plans.extend(removals(&engine).await?);
        }
        Ok::<_, Error>(plans)
    })?;
    output.print(&render(&plans, arguments.output, output.style()))?;
    let differs = Summary::of(&plans).has_differences();
    Ok(if differs { Exit::Different } else { Exit::Done })
}

/// Plans every object, networks before the workspaces that name them.
pub(super) async fn plans(engine: &Engine, output: &Output) -> Result<Vec<Plan>, Error> {
    let snapshot = engine.desired.snapshot();
    let progress = output.progress("reading AWS", snapshot.objects.len());
    let mut plans = Vec::with_capacity(snapshot.objects.len());
    for (key, entry) in snapshot.objects.iter() {
        let record = engine.store.get(key).await.map_err(Error::Store)?;
        plans.push(preview(engine, entry, record).await.map_err(Error::Plan)?);
        progress.advance();
    }
    progress.finish();
    Ok(plans)
}

/// Plans the removal of every object that the store knows and no manifest declares.
async fn removals(engine: &Engine) -> Result<Vec<Plan>, Error> {
    let snapshot = engine.desired.snapshot();
    let records = engine.store.all().await.map_err(Error::Store)?;
    let is_gone = |record: &&Record| !snapshot.objects.contains_key(&record.key);
    let mut plans = Vec::new();
    for record in records.iter().filter(is_gone) {
        plans.push(preview_removal(engine, record).await.map_err(Error::Store)?);
    }
    Ok(plans)
}

fn render(plans: &[Plan], form: Form, style: Style) -> String {
    match form {
        Form::Text => text::plan(plans, style),
        Form::Json => json::plan(plans),
        Form::Awscli => awscli::calls(plans),
    }
}
