//! What happens in the demo, act by act.

use serde_json::{Value, json};

use super::example::{self, PAYMENTS, PAYMENTS_FILE, SEARCH, SEARCH_FILE};
use super::show::{claim, command, say, title};
use super::stage::{Stage, production, staging};
use super::watch::{Watch, line};
use crate::cli::error::Error;
use crate::cli::output::Output;
use crate::cli::store::told;
use crate::model::status::Truth;
use crate::model::{Call, Condition, Key, Plan};
use crate::report::style::Ink;
use crate::report::{Summary, Told, awscli, text};
use crate::sandbox::log;
use crate::status::Record;

/// Plays every act.
pub(super) async fn play(stage: &Stage, output: &mut Output) -> Result<(), Error> {
    converge(stage, output).await?;
    drift(stage, output).await?;
    change(stage, output).await?;
    danger(stage, output).await?;
    mistake(stage, output).await?;
    end(stage, output)
}

async fn converge(stage: &Stage, output: &mut Output) -> Result<(), Error> {
    title(output, "1. Four teams declare their databases in Git; AWS has none of them")?;
    say(
        output,
        "The files of manifests-example, as they are, but for one line: the agent looks at\n\
         team-search-prod every 10 seconds instead of every 300, so that you need not wait.",
    )?;
    stage.edit(SEARCH_FILE, example::IMPATIENT)?;
    for (path, _) in example::FILES {
        output.print(&format!("  {path}\n"))?;
    }
    say(output, "What a pull request would be told, in short:")?;
    let plans = stage.plan(output).await?;
    output.print(&format!("  Plan: {}\n", Summary::of(&plans).sentence()))?;
    say(output, "It is merged. The agent makes everything; this is team-search-prod:")?;
    let mut watch = Watch::begin(stage, production(), SEARCH).await?;
    commit(stage, output, "databases for four teams")?;
    let is_up = |record: &Record| is_ready(record) && is_available(stage);
    watch.until(output, "team-search-prod becomes as declared", is_up).await?;
    for key in declared() {
        stage.ready(&key).await?;
    }
    say(output, "levelset status:")?;
    show_status(output, &stage.records().await?)?;
    output.print("\n")?;
    let is_idle = || stage.is_idle(&production()) && stage.is_idle(&staging());
    stage.cloud("AWS comes to rest", is_idle).await?;
    let made = [stage.available(&production()), stage.available(&staging())];
    let all = made[0] == example::PRODUCTION && made[1] == example::STAGING;
    let found = format!("the cloud has {}", made.concat().join(", "));
    claim(output, all, "the cloud has every database, and not the suspended one", found)?;
    let creates = stage.writes_since(0).iter().filter(|call| call.operation == CREATE).count();
    let found = format!("{creates} creations were sent");
    let wanted = example::PRODUCTION.len() + example::STAGING.len();
    claim(output, creates == wanted, "each of them was created once", found)
}

const CREATE: &str = "CreateDBInstance";
const MODIFY: &str = "ModifyDBInstance";

/// The parameters that a person changes in the second act.
const DRIFTED: [&str; 3] = ["BackupRetentionPeriod", "DeletionProtection", "PubliclyAccessible"];

async fn drift(stage: &Stage, output: &mut Output) -> Result<(), Error> {
    title(output, "2. Somebody changes a database behind Git's back")?;
    say(output, "It becomes reachable from the internet, and easy to lose:")?;
    let call = Call::new("rds", MODIFY)
        .with("DBInstanceIdentifier", SEARCH)
        .with("BackupRetentionPeriod", 1)
        .with("DeletionProtection", false)
        .with("PubliclyAccessible", true);
    command(output, &awscli::command(&call, "eu-west-1"))?;
    let before = stage.latest_call();
    stage.console(&production(), &call).await?;
    let exposed = drifted(stage);
    say(output, "Nobody tells the agent. It sees it when it looks next, and puts it back:")?;
    let mut watch = Watch::begin(stage, production(), SEARCH).await?;
    let is_mended = |record: &Record| {
        drifted(stage) == declared_values() && is_ready(record) && is_available(stage)
    };
    watch.until(output, "the database is as declared again", is_mended).await?;
    output.print("\n")?;
    // AWS takes a moment for the third, the days of backups.
    let is_exposed = exposed[1] == false && exposed[2] == true;
    let what = "the cloud had really taken the change";
    claim(output, is_exposed, what, format!("it had {}", Value::from(exposed.to_vec())))?;
    let writes = stage.writes_since(before);
    let exact = !writes.is_empty() && writes.iter().all(is_exact_revert);
    let what = "the agent put back these three values, and sent no other change to anything";
    claim(output, exact, what, format!("it sent {}", names(&writes)))
}

/// What the three parameters are when nobody has touched them.
fn declared_values() -> [Value; 3] {
    [json!(14), json!(true), json!(false)]
}

fn drifted(stage: &Stage) -> [Value; 3] {
    DRIFTED.map(|member| stage.member(&production(), SEARCH, member))
}

/// Tells whether a call changes the database of the second act, and nothing that was not drift.
fn is_exact_revert(call: &log::Record) -> bool {
    let carried = call.params.keys().filter(|name| DRIFTED.contains(&name.as_str())).count();
    let addressed = ["DBInstanceIdentifier", "ApplyImmediately"];
    let others = call.params.keys().filter(|name| addressed.contains(&name.as_str())).count();
    call.operation == MODIFY
        && call.params["DBInstanceIdentifier"] == SEARCH
        && carried > 0
        && carried + others == call.params.len()
}

async fn change(stage: &Stage, output: &mut Output) -> Result<(), Error> {
    title(output, "3. The team changes its manifest")?;
    stage.edit(SEARCH_FILE, example::LONGER_BACKUPS)?;
    say(output, "What the pull request is told:")?;
    show_plan(stage, output, &[SEARCH]).await?;
    say(output, "It is merged:")?;
    let mut watch = Watch::begin(stage, production(), SEARCH).await?;
    commit(stage, output, "search keeps its backups for three weeks")?;
    let days = || stage.member(&production(), SEARCH, "BackupRetentionPeriod");
    let is_done = |record: &Record| days() == 21 && is_ready(record);
    watch.until(output, "the new commit is carried out", is_done).await?;
    output.print("\n")?;
    claim(output, days() == 21, "the cloud keeps 21 days of backups", format!("{} days", days()))
}

async fn danger(stage: &Stage, output: &mut Output) -> Result<(), Error> {
    title(output, "4. A dangerous commit")?;
    stage.edit(SEARCH_FILE, example::UNENCRYPTED)?;
    stage.edit(SEARCH_FILE, example::OTHER_BUDGET)?;
    stage.edit(PAYMENTS_FILE, example::MAJOR_UPGRADE)?;
    say(
        output,
        "Search is to lose its encryption, for which AWS would have to replace the database; payments\n\
         is to get the next major version of its engine, without a word that this is meant:",
    )?;
    let plans = show_plan(stage, output, &[SEARCH, PAYMENTS]).await?;
    say(output, "It is merged all the same:")?;
    let before = stage.latest_call();
    let mut watch = Watch::begin(stage, production(), SEARCH).await?;
    commit(stage, output, "faster and newer")?;
    watch.until(output, "the agent refuses to replace the database", is_refused).await?;
    let mut other = Watch::begin(stage, production(), PAYMENTS).await?;
    other.until(output, "the agent refuses the major upgrade", is_refused).await?;
    let tagged = |_: &Record| is_tagged(stage);
    watch.until(output, "the harmless part is carried out", tagged).await?;
    say(output, "levelset status:")?;
    let told = [
        stage.record(&Key::workspace(PAYMENTS)).await?,
        stage.record(&Key::workspace(SEARCH)).await?,
    ];
    show_status(output, &told.into_iter().flatten().collect::<Vec<_>>())?;
    output.print("\n")?;
    refused(stage, output, &plans, before)?;
    say(output, "The team takes the dangerous part back:")?;
    stage.edit(SEARCH_FILE, example::back(example::UNENCRYPTED))?;
    stage.edit(PAYMENTS_FILE, example::back(example::MAJOR_UPGRADE))?;
    commit(stage, output, "as it was")?;
    let is_done = |record: &Record| is_ready(record) && is_available(stage);
    watch.until(output, "search is as declared again", is_done).await?;
    stage.ready(&Key::workspace(PAYMENTS)).await
}

/// Checks that nothing dangerous was planned, sent or done, and that the rest was.
fn refused(stage: &Stage, output: &mut Output, plans: &[Plan], before: u64) -> Result<(), Error> {
    let codes: Vec<&str> = plans
        .iter()
        .flat_map(|plan| &plan.steps)
        .flat_map(|step| &step.refusals)
        .map(|refusal| refusal.code.as_str())
        .collect();
    let what = "the pull request would have been told of both";
    claim(output, codes.len() == 2, what, format!("it was told {}", codes.join(", ")))?;
    let calls = stage.calls_since(before);
    let dangerous = calls.iter().filter(|call| call.operation == MODIFY).count();
    let what = "no call was made to change either database";
    claim(output, dangerous == 0, what, format!("{dangerous} were made"))?;
    let encrypted = stage.member(&production(), SEARCH, "StorageEncrypted");
    let version = stage.member(&production(), PAYMENTS, "EngineVersion");
    let kept =
        encrypted == true && version.as_str().is_some_and(|version| version.starts_with("15."));
    let what = "search is encrypted as before, and payments has its major version 15";
    claim(output, kept, what, format!("encryption is {encrypted}, the version {version}"))?;
    let tags = stage.member(&production(), SEARCH, "TagList");
    let what = "the harmless line of the same commit, a tag, was carried out";
    claim(output, is_tagged(stage), what, format!("the tags are {tags}"))
}

fn is_tagged(stage: &Stage) -> bool {
    let tags = stage.member(&production(), SEARCH, "TagList");
    let wanted = json!({"Key": "cost-centre", "Value": "4712"});
    tags.as_array().is_some_and(|tags| tags.contains(&wanted))
}

async fn mistake(stage: &Stage, output: &mut Output) -> Result<(), Error> {
    title(output, "5. A commit breaks the manifest")?;
    output.print("\n")?;
    stage.edit(SEARCH_FILE, example::TYPO)?;
    let before = stage.latest_call();
    let key = Key::workspace(SEARCH);
    let mut watch = Watch::begin(stage, production(), SEARCH).await?;
    commit(stage, output, "oops")?;
    let record = watch.until(output, "the agent tells of the mistake", is_invalid).await?;
    output.print("\n")?;
    output.print(&text::problems(&stage.problems(&key), output.style()))?;
    say(output, "The last good version stays in force, and is still looked after:")?;
    show_status(output, std::slice::from_ref(&record))?;
    output.print("\n")?;
    let writes = stage.writes_since(before);
    let what = "nothing was changed in the cloud since then";
    claim(output, writes.is_empty(), what, format!("the agent sent {}", names(&writes)))?;
    let multi = stage.member(&production(), SEARCH, "MultiAZ");
    claim(output, multi == true, "the database is in two zones as before", format!("it is {multi}"))
}

/// Puts the broken manifest in order again.
pub(super) fn mend(stage: &Stage) -> Result<(), Error> {
    stage.edit(SEARCH_FILE, example::back(example::TYPO))?;
    stage.commit("as it was")
}

fn end(stage: &Stage, output: &mut Output) -> Result<(), Error> {
    let writes = stage.writes_since(0).len();
    let reads = stage.calls_since(0).len() - writes;
    output.print(&format!(
        "\nAll of it happened: {reads} calls of the agent read, {writes} changed something.\n"
    ))
}

/// Returns every workspace that is to become as declared.
fn declared() -> impl Iterator<Item = Key> {
    example::WORKSPACES.into_iter().map(Key::workspace)
}

fn is_ready(record: &Record) -> bool {
    record.status.is_ready() && record.status.observed_generation == record.generation
}

fn is_available(stage: &Stage) -> bool {
    stage.state(&production(), SEARCH).is_some_and(|state| state == "available")
}

fn is_refused(record: &Record) -> bool {
    let ready = record.status.condition(Condition::READY);
    ready.is_some_and(|ready| ready.reason == "Refused")
}

fn is_invalid(record: &Record) -> bool {
    let valid = record.status.condition(Condition::VALID);
    valid.is_some_and(|valid| valid.status == Truth::False)
}

fn names(calls: &[log::Record]) -> String {
    match calls {
        [] => "nothing".to_owned(),
        calls => calls.iter().map(|call| call.operation.as_str()).collect::<Vec<_>>().join(", "),
    }
}

fn commit(stage: &Stage, output: &mut Output, message: &str) -> Result<(), Error> {
    stage.commit(message)?;
    line(output, stage.now(), "git", "Commit", Ink::Strong, message)
}

fn show_status(output: &mut Output, records: &[Record]) -> Result<(), Error> {
    let told: Vec<Told<'_>> = records.iter().map(told).collect();
    output.print(&text::status(&told, &[], output.style()))
}

/// Shows what the files, as they lie there, would do to some workspaces.
async fn show_plan(stage: &Stage, output: &mut Output, names: &[&str]) -> Result<Vec<Plan>, Error> {
    let mut plans = stage.plan(output).await?;
    plans.retain(|plan| names.contains(&&*plan.key.name));
    output.print(&text::plan(&plans, output.style()))?;
    Ok(plans)
}
