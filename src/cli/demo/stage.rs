//! What the demo plays on: a repository, a cloud in memory, and an agent between them.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use git2::{IndexAddOption, Repository, Signature};
use jiff::SignedDuration;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::cli::agent::Agent;
use crate::cli::clock::system_clock;
use crate::cli::engine::{OnlyLooks, Ports, engine};
use crate::cli::error::Error;
use crate::cli::output::Output;
use crate::cli::repository::remote;
use crate::cli::{manifests, plan};
use crate::config::{self, Config, Overrides};
use crate::model::{AccountId, Call, ErrorClass, Key, Plan, Problem, Region, Scope};
use crate::reconcile::next::Pace;
use crate::sandbox::settings::Durations;
use crate::sandbox::{Sandbox, Settings, http};
use crate::status::{Event, Record};

/// The longest that the demo waits for anything; everything in it takes a few seconds.
const PATIENCE: Duration = Duration::from_secs(60);

const SETTINGS: &str = "\
environments:
  staging:
    account: \"111122223333\"
    region: eu-west-1
repository:
  path: repository
";

/// Holds the parts of the demo.
pub(super) struct Stage {
    folder: TempDir,
    repository: Repository,
    config: Config,
    cloud: Sandbox,
    agent: Agent,
}

impl Stage {
    /// Builds the stage; the agent follows a repository that has no commit yet.
    pub(super) async fn build() -> Result<Self, Error> {
        let folder = tempfile::tempdir().map_err(Error::demo)?;
        let repository = Repository::init(folder.path().join("repository")).map_err(Error::demo)?;
        let config = settings(folder.path())?;
        let settings =
            Settings { durations: Durations::uniform(Duration::from_secs(1)), ..Settings::fast(1) };
        let cloud = Sandbox::new(system_clock(), settings);
        cloud.seed_vpc(&scope(), "shared-vpc", "10.0.0.0/16", &["a", "b"]);
        let (agent, triggers) = Agent::open(&config, Arc::new(cloud.clone()), quick()).await?;
        let named = config.repository().map_err(|problem| Error::Settings(vec![problem]))?;
        let remote = remote(named, &config.state_directory.value)?;
        drop(agent.follow(remote, triggers));
        agent.work(config.workers.value);
        Ok(Self { folder, repository, config, cloud, agent })
    }

    /// Writes a file, and leaves it uncommitted.
    pub(super) fn edit(&self, path: &str, text: &str) -> Result<(), Error> {
        fs::write(self.repository().join(path), text).map_err(Error::demo)
    }

    /// Commits what was edited.
    pub(super) fn commit(&self, message: &str) -> Result<(), Error> {
        commit_all(&self.repository, message).map_err(Error::demo)
    }

    /// Makes a call past Levelset, as a person with the console would: again, while AWS is busy.
    pub(super) async fn console(&self, call: &Call) -> Result<(), Error> {
        let door = self.cloud.door("console");
        let asking = async {
            loop {
                match door.ask(&scope(), call) {
                    Err(error) if error.class == ErrorClass::NotReady => {
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                    answer => return answer.map(drop).map_err(Error::demo),
                }
            }
        };
        let asked = tokio::time::timeout(PATIENCE, asking).await;
        asked.unwrap_or_else(|_| Err(Error::demo("the database did not come to rest")))
    }

    /// Returns how many calls of the agent only read, and how many changed something.
    pub(super) fn calls(&self) -> (usize, usize) {
        let calls = self.cloud.calls_since(0);
        let agents = calls.iter().filter(|record| &*record.by == "agent");
        let (writes, reads): (Vec<_>, Vec<_>) = agents.partition(|record| record.is_write());
        (reads.len(), writes.len())
    }

    /// Plans the files as they lie there, before they are committed.
    pub(super) async fn plan(&self, output: &Output) -> Result<Vec<Plan>, Error> {
        let read = manifests::read(&self.repository())?;
        let agent = &self.agent.engine;
        let ports = Ports {
            cloud: Arc::clone(&agent.cloud),
            store: Arc::clone(&agent.store),
            fence: Arc::new(OnlyLooks),
            clock: Arc::clone(&agent.clock),
        };
        let stopping = CancellationToken::new();
        let engine = engine(&self.config, read.desired, ports, SignedDuration::ZERO, stopping);
        plan::plans(&engine, output).await
    }

    /// Waits until the record of an object is as `wanted`.
    pub(super) async fn until(
        &self,
        key: &Key,
        wanted: impl Fn(&Record) -> bool,
    ) -> Result<Record, Error> {
        let looking = async {
            loop {
                let record = self.agent.engine.store.get(key).await.map_err(Error::Store)?;
                match record.filter(&wanted) {
                    Some(record) => return Ok(record),
                    None => tokio::time::sleep(Duration::from_millis(100)).await,
                }
            }
        };
        match tokio::time::timeout(PATIENCE, looking).await {
            Ok(found) => found,
            Err(_) => Err(Error::demo(format!("{key} did not come to rest"))),
        }
    }

    /// Returns what is wrong with the manifest of an object.
    pub(super) fn problems(&self, key: &Key) -> Vec<Problem> {
        self.agent.engine.desired.snapshot().problems_of(key).to_vec()
    }

    /// Returns what happened to an object, oldest first.
    pub(super) async fn history(&self, key: &Key) -> Result<Vec<Event>, Error> {
        let mut events = self.agent.engine.store.history(key, 100).await.map_err(Error::Store)?;
        events.reverse();
        Ok(events)
    }

    /// Serves the cloud in AWS's wire format, and the agent's API, on free ports of loopback.
    pub(super) async fn serve(&self) -> Result<(SocketAddr, SocketAddr), Error> {
        let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = TcpListener::bind(loopback).await.map_err(Error::demo)?;
        let cloud = listener.local_addr().map_err(Error::demo)?;
        let stop = self.agent.stop.clone().cancelled_owned();
        self.agent.tasks.spawn(http::serve(self.cloud.clone(), listener, stop));
        Ok((cloud, self.agent.serve(loopback).await?))
    }

    /// Returns the folder of the repository.
    pub(super) fn repository(&self) -> PathBuf {
        self.folder.path().join("repository")
    }

    /// Stops the agent and removes the folder.
    pub(super) async fn close(self) {
        self.agent.close().await;
    }
}

/// Looks again after a second, because nothing takes longer here.
fn quick() -> Pace {
    Pace { settle: SignedDuration::from_secs(1), ..Pace::default() }
}

/// Returns the account and region of the demo.
pub(super) fn scope() -> Scope {
    Scope { account: AccountId::new("111122223333"), region: Region::new("eu-west-1") }
}

/// Writes a settings file and reads it as the agent does; the environment has no say.
fn settings(folder: &Path) -> Result<Config, Error> {
    let file = folder.join(config::FILE_NAME);
    fs::write(&file, SETTINGS).map_err(Error::demo)?;
    let mut state = Overrides::new();
    state.set("stateDirectory", "--state-dir", folder.join("state").to_string_lossy());
    config::load(&state, &|_| None, Some(&file)).map_err(Error::Settings)
}

fn commit_all(repository: &Repository, message: &str) -> Result<(), git2::Error> {
    let mut index = repository.index()?;
    index.add_all(["*"], IndexAddOption::DEFAULT, None)?;
    index.write()?;
    let tree = repository.find_tree(index.write_tree()?)?;
    let author = Signature::now("A developer", "developer@example.com")?;
    let parent = repository.head().ok().map(|head| head.peel_to_commit()).transpose()?;
    let parents: Vec<_> = parent.iter().collect();
    repository.commit(Some("HEAD"), &author, &author, message, &tree, &parents)?;
    Ok(())
}
