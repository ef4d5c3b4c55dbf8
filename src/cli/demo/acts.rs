//! What happens in the demo, act by act.

use crate::cli::error::Error;
use crate::cli::output::Output;
use crate::model::status::Truth;
use crate::model::{Call, Condition, Key};
use crate::report::{Told, awscli, text};
use crate::status::Record;

use super::stage::Stage;

const WORKSPACE: &str = "\
apiVersion: platform.kby.io/v1alpha1
kind: Workspace
metadata:
  name: team-payments-staging
spec:
  environment: staging
  resources:
    database:
      engine: postgres
      version: \"15\"
      sizeClass: db.t4g.medium
      backups:
        retentionDays: 7
    network:
      vpcRef: shared-vpc
  reconcilePolicy:
    resyncIntervalSeconds: 10
    disruption: immediate
";

const FILE: &str = "payments.yaml";

/// Plays every act.
pub(super) async fn play(stage: &Stage, output: &mut Output) -> Result<(), Error> {
    let key = Key::workspace("team-payments-staging");
    declare(stage, output, &key).await?;
    drift(stage, output, &key).await?;
    change(stage, output, &key).await?;
    mistake(stage, output, &key).await?;
    end(stage, output, &key).await
}

async fn declare(stage: &Stage, output: &mut Output, key: &Key) -> Result<(), Error> {
    title(output, "1. A team declares a database in Git, in an account that has none")?;
    output.print(WORKSPACE)?;
    stage.edit(FILE, WORKSPACE)?;
    show_plan(stage, output, "What a pull request would be told:").await?;
    stage.commit("a database for payments")?;
    say(output, "Merged. The agent makes it, and waits for what AWS does by itself:")?;
    let record = stage.until(key, |record| record.status.is_ready()).await?;
    show_events(stage, output, key, 0).await?;
    say(output, "levelset status:")?;
    show(output, &record)
}

async fn drift(stage: &Stage, output: &mut Output, key: &Key) -> Result<(), Error> {
    title(output, "2. Somebody changes the database in the console")?;
    let call = Call::new("rds", "ModifyDBInstance")
        .with("DBInstanceIdentifier", &*key.name)
        .with("DBInstanceClass", "db.r6g.4xlarge")
        .with("ApplyImmediately", true);
    output.print(&format!("{}\n", awscli::command(&call, "eu-west-1")))?;
    let before = stage.history(key).await?.len();
    stage.console(&call).await?;
    say(output, "The agent sees it on its next look, and puts the declared value back:")?;
    let record = stage.until(key, |record| !record.status.drift.is_empty()).await?;
    show(output, &record)?;
    output.print("\n")?;
    stage.until(key, |record| record.status.drift.is_empty() && record.status.is_ready()).await?;
    show_events(stage, output, key, before).await
}

async fn change(stage: &Stage, output: &mut Output, key: &Key) -> Result<(), Error> {
    title(output, "3. The team changes its manifest")?;
    let larger = WORKSPACE.replace("db.t4g.medium", "db.t4g.large");
    stage.edit(FILE, &larger)?;
    show_plan(stage, output, "What the pull request is told:").await?;
    let before = stage.history(key).await?.len();
    stage.commit("payments needs more memory")?;
    say(output, "Merged:")?;
    let is_done =
        |record: &Record| record.status.observed_generation.0 == 2 && record.status.is_ready();
    stage.until(key, is_done).await?;
    show_events(stage, output, key, before).await
}

async fn mistake(stage: &Stage, output: &mut Output, key: &Key) -> Result<(), Error> {
    title(output, "4. A commit breaks the manifest")?;
    stage.edit(FILE, &WORKSPACE.replace("sizeClass", "sizeclass"))?;
    let (_, before) = stage.calls();
    stage.commit("oops")?;
    let is_told = |record: &Record| {
        let valid = record.status.condition(Condition::VALID);
        valid.is_some_and(|condition| condition.status == Truth::False)
    };
    let record = stage.until(key, is_told).await?;
    output.print(&text::problems(&stage.problems(key), output.style()))?;
    say(output, "The last good version stays in force, and the database as it is:")?;
    show(output, &record)?;
    let (_, after) = stage.calls();
    output.print(&format!("\n{} calls that change something since then\n", after - before))
}

/// Puts the manifest in order again.
pub(super) fn mend(stage: &Stage) -> Result<(), Error> {
    stage.edit(FILE, WORKSPACE)?;
    stage.commit("as it was")
}

async fn end(stage: &Stage, output: &mut Output, key: &Key) -> Result<(), Error> {
    title(output, "What the agent did")?;
    show_events(stage, output, key, 0).await?;
    let (reads, writes) = stage.calls();
    output.print(&format!("\n{reads} calls that read, {writes} that changed something\n"))
}

fn title(output: &mut Output, text: &str) -> Result<(), Error> {
    output.print(&format!("\n== {text}\n\n"))
}

fn say(output: &mut Output, text: &str) -> Result<(), Error> {
    output.print(&format!("\n{text}\n\n"))
}

fn show(output: &mut Output, record: &Record) -> Result<(), Error> {
    let told = Told { key: &record.key, generation: record.generation, status: &record.status };
    output.print(&text::status(&[told], output.style()))
}

async fn show_plan(stage: &Stage, output: &mut Output, what: &str) -> Result<(), Error> {
    say(output, what)?;
    let plans = stage.plan(output).await?;
    output.print(&text::plan(&plans, output.style()))
}

async fn show_events(
    stage: &Stage,
    output: &mut Output,
    key: &Key,
    after: usize,
) -> Result<(), Error> {
    for event in stage.history(key).await?.iter().skip(after) {
        output.print(&format!("{:.0}  {:<10} {}\n", event.at, event.reason, event.message))?;
    }
    Ok(())
}
