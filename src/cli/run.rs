//! `levelset run`: the agent, until it is told to stop.

use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;

use super::agent::Agent;
use super::clock::system_clock;
use super::error::Error;
use super::output::Output;
use super::pulls::Ground;
use super::repository::{Remote, remote};
use super::settings::{Flag, Flags};
use super::{Exit, cloud, forge, hooks, logging, runtime, webhooks};
use crate::aws::Budgets;
use crate::config::{Config, Repository};
use crate::reconcile::next::Pace;
use crate::server::Hosts;
use crate::source;

/// Run the agent: follow the repository and keep AWS level with it
///
/// It stops on SIGTERM and SIGINT, after the calls that are under way.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Where health, metrics and the API are served [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
}

pub(super) fn run(
    arguments: &Arguments,
    flags: &Flags,
    output: &mut Output,
) -> Result<Exit, Error> {
    let listen = Flag { setting: "listen", flag: "--listen", value: arguments.listen.clone() };
    let config = flags.load(&[listen])?;
    let repository = needed(&config)?;
    let remote = remote(repository, &config.state_directory.value)?;
    logging::start(&config.log);
    source::init();
    let ended = runtime()?.block_on(serve(&config, remote))?;
    if !ended {
        output.note("some calls had not ended when the agent stopped");
    }
    Ok(Exit::Done)
}

/// Returns the repository, or everything that the agent lacks.
fn needed(config: &Config) -> Result<&Repository, Error> {
    match (config.repository(), config.require_environments()) {
        (Ok(repository), Ok(())) => Ok(repository),
        (repository, environments) => {
            Err(Error::Settings(repository.err().into_iter().chain(environments.err()).collect()))
        }
    }
}

/// Works until a signal comes or the repository is no longer followed; returns whether everything
/// ended in time.
async fn serve(config: &Config, remote: Remote) -> Result<bool, Error> {
    let mut terminate = signal(SignalKind::terminate()).map_err(Error::Start)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(Error::Start)?;
    let secrets = webhooks::secrets(config)?;
    let told = forge::told(config, &remote.location)?;
    let hooks = hooks::hooks(config)?;
    let cloud = cloud::aws(config, &system_clock());
    let (agent, triggers) = Agent::open(config, cloud, Budgets::default(), Pace::default()).await?;
    let location = remote.location.clone();
    let access = remote.access.clone();
    let watching = agent.watcher(remote);
    let bell = Arc::new(Notify::new());
    let waker = webhooks::Waker { branch: watching.1.poke.clone(), pulls: Arc::clone(&bell) };
    let webhooks = webhooks::receiver(secrets, config, &location, waker);
    let hosts = Hosts::new(config.hosts.value.iter().map(String::as_str));
    let address = agent.serve(config.listen.value, hosts, webhooks).await?;
    let following = agent.follow(watching, triggers);
    let has_issues = config.forge.as_ref().is_some_and(|forge| forge.issues.value);
    let host = told.map(|told| {
        let (host, config) = (told.host, config.clone());
        let news = agent.tell(told, &Ground { config, location: location.clone(), access, bell });
        (host, news)
    });
    agent.alert(hooks, host.filter(|_| has_issues));
    agent.work(config.workers.value);
    tracing::info!(repository = location.shown(), %address, "the agent follows the repository");
    let lost = tokio::select! {
        biased;
        _ = terminate.recv() => None,
        _ = interrupt.recv() => None,
        lost = following.lost() => Some(lost),
    };
    match &lost {
        None => tracing::info!("the agent stops"),
        Some(lost) => tracing::error!("the agent stops, because {lost}"),
    }
    let ended = agent.close().await;
    lost.map_or(Ok(ended), |lost| Err(Error::Ended(lost)))
}
