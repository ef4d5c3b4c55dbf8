//! `levelset import`: manifests for what an account has already, which plan to no change.
//!
//! It reads the lists that the agent reads, writes manifests, and proves them with the agent's own
//! stages against the same answers before anybody sees them. It changes nothing in AWS: what a manifest
//! declares is taken over by the agent when the manifest is merged.

mod prove;
mod read;
mod site;
mod summary;
mod write;

use std::path::PathBuf;
use std::sync::Arc;

use jiff::SignedDuration;
use tokio_util::sync::CancellationToken;

use self::prove::prove;
use self::read::Reading;
use self::site::{Site, site};
use self::summary::Outcome;
use super::clock::chosen;
use super::engine::{OnlyLooks, engine};
use super::error::Error;
use super::output::Output;
use super::saved::saved;
use super::settings::Flags;
use super::{Exit, Format, cloud, runtime};
use crate::aws::Budgets;
use crate::desired::{Cache, Guard};
use crate::import::Wishes;
use crate::model::{Clock, Cloud};
use crate::observe::Once;
use crate::reconcile::engine::{Engine, Environment, Ports};
use crate::status::InMemory;

/// How long a list may be shared: longer than any import takes.
const FRESH: SignedDuration = SignedDuration::from_hours(24);

const EXAMPLES: &str = "\
Examples:
  levelset import --region eu-west-1 --out imported
  levelset import --environment production --tag team=payments
  levelset import --region eu-west-1 --group-by service --out imported
  levelset import --observed answers.json

Exit codes:
  0  done; what was left out is told with the reason
  1  an error, or something could not be read";

/// Write manifests for what exists in AWS, which plan to no change; changes nothing
///
/// Every manifest is planned against the same answers before it is written: what the plan would change
/// is taken out of it and told. Nothing is adopted until the manifest is merged.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The entry of the settings to read, which the manifests name
    ///
    /// Without one: the only entry of --region. Where the settings hold none, the account of the
    /// credentials is read, and this is the name that the manifests use [default: production].
    #[arg(long, value_name = "NAME")]
    environment: Option<String>,
    /// The region to read
    #[arg(long, value_name = "REGION")]
    region: Option<String>,
    /// Only what has this tag, and what belongs to it; may be given several times
    #[arg(long = "tag", value_name = "KEY=VALUE", value_parser = pair)]
    tags: Vec<(String, String)>,
    /// Only what is in this VPC, and what belongs to it
    #[arg(long, value_name = "ID")]
    vpc: Option<String>,
    /// The tag whose values are workspaces [default: what belongs together by name and use]
    #[arg(long, value_name = "TAG")]
    group_by: Option<String>,
    /// Also what is marked as another tool's, such as Terraform's
    ///
    /// Take it out of that tool's state first: two tools that manage one thing undo each other.
    #[arg(long)]
    include_managed: bool,
    /// The folder to write to; a file that is there is never overwritten [default: standard output]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Read saved AWS CLI answers instead of the cloud, as `plan --observed` does
    #[arg(long, value_name = "FILE")]
    observed: Option<PathBuf>,
    /// The form of the summary; with `json` the manifests stand in it, unless they are written
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    output: Format,
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("a tag is KEY=VALUE, as in team=payments".to_owned()),
    }
}

pub(super) fn run(
    arguments: &Arguments,
    flags: &Flags,
    output: &mut Output,
) -> Result<Exit, Error> {
    let clock = chosen(None);
    let runtime = runtime()?;
    let site = runtime.block_on(site(arguments, flags.load(&[])?, &clock))?;
    let cloud: Arc<dyn Cloud> = match &arguments.observed {
        Some(path) => Arc::new(saved(path)?),
        None => cloud::guarded(cloud::aws(&site.config, &clock), Budgets::default()).0,
    };
    let outcome = runtime.block_on(import(arguments, site, cloud, clock, output))?;
    write::write(&outcome, arguments, output)?;
    Ok(if outcome.unread.is_empty() { Exit::Done } else { Exit::Wrong })
}

async fn import(
    arguments: &Arguments,
    site: Site,
    cloud: Arc<dyn Cloud>,
    clock: Arc<dyn Clock>,
    output: &Output,
) -> Result<Outcome, Error> {
    let wishes = wishes(arguments, &site);
    let mut engine = looking(&site, cloud, clock);
    let Reading { survey, unread, not_yet, read } =
        read::read(&engine.observer, &site.scope, &wishes, arguments.observed.is_some(), output)
            .await?;
    let (documents, more) = crate::import::compose(&survey.found, &wishes);
    let proven = prove(&mut engine, documents).await?;
    let mut left = survey.left;
    left.extend(more);
    left.extend(proven.left);
    left.sort();
    left.dedup();
    Ok(Outcome { site, documents: proven.documents, left, unread, not_yet, read })
}

fn wishes(arguments: &Arguments, site: &Site) -> Wishes {
    Wishes {
        environment: site.name.clone(),
        agent: site.config.agent_name.value.clone(),
        production: site.production,
        group_by: arguments.group_by.clone(),
        tags: arguments.tags.clone(),
        vpc: arguments.vpc.clone(),
        managed: arguments.include_managed,
    }
}

/// Puts together what a plan works with: it only looks, and asks each question once.
fn looking(site: &Site, cloud: Arc<dyn Cloud>, clock: Arc<dyn Clock>) -> Engine {
    let cloud: Arc<dyn Cloud> = Arc::new(Once::new(cloud));
    let store = Arc::new(InMemory::new());
    let ports = Ports { cloud, store, fence: Arc::new(OnlyLooks), clock };
    let nothing = Cache::new(Guard::default());
    let mut engine = engine(&site.config, nothing.reader(), ports, FRESH, CancellationToken::new());
    let place = Environment { scope: site.scope.clone(), production: site.production };
    engine.environments.insert(site.name.clone(), place);
    engine
}
