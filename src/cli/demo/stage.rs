//! What the demo plays on: a repository, a cloud in memory, and an agent between them.

use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use git2::{IndexAddOption, Repository, Signature};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::example::{self, Edit};
use crate::aws::{Budget, Budgets};
use crate::cli::agent::Agent;
use crate::cli::clock::system_clock;
use crate::cli::engine::{OnlyLooks, engine};
use crate::cli::error::Error;
use crate::cli::output::Output;
use crate::cli::repository::remote;
use crate::cli::{manifests, plan};
use crate::config::{self, Config, Overrides};
use crate::model::{AccountId, Call, ErrorClass, Key, Plan, Problem, Region, Scope};
use crate::reconcile::engine::Ports;
use crate::reconcile::next::Pace;
use crate::sandbox::settings::Durations;
use crate::sandbox::{Sandbox, Settings, http, log};
use crate::server::Hosts;
use crate::status::{Event, Record};

/// The longest that the demo waits for anything: twice what the slowest, a look of the agent and its
/// consequences, takes.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

const AUTHOR: (&str, &str) = ("A developer", "developer@example.com");

const SETTINGS: &str = "\
environments:
  production:
    account: \"111122223333\"
    region: eu-west-1
  staging:
    account: \"444455556666\"
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

/// The budgets for a cloud in memory, which takes as many calls as the demo makes.
fn ample() -> Budgets {
    let default = Budget { burst: 10_000, per_second: 1_000.0, write_reserve: 1_000 };
    Budgets { services: BTreeMap::new(), default, ..Budgets::default() }
}

impl Stage {
    /// Builds the stage; the agent follows a repository that has no commit yet.
    pub(super) async fn build() -> Result<Self, Error> {
        let folder = tempfile::tempdir().map_err(Error::demo)?;
        let repository = repository(&folder.path().join("repository")).map_err(Error::demo)?;
        let config = settings(folder.path())?;
        let settings =
            Settings { durations: Durations::uniform(Duration::from_secs(1)), ..Settings::fast(1) };
        let cloud = Sandbox::new(system_clock(), settings);
        seed(&cloud);
        let (agent, triggers) =
            Agent::open(&config, Arc::new(cloud.clone()), ample(), quick()).await?;
        let named = config.repository().map_err(|problem| Error::Settings(vec![problem]))?;
        let remote = remote(named, &config.state_directory.value)?;
        drop(agent.follow(agent.watcher(remote), triggers));
        agent.work(config.workers.value);
        let stage = Self { folder, repository, config, cloud, agent };
        stage.unpack()?;
        Ok(stage)
    }

    /// Writes the example's manifests, and leaves them uncommitted.
    fn unpack(&self) -> Result<(), Error> {
        for (path, text) in example::FILES {
            let path = self.repository().join(path);
            let folder = path.parent().unwrap_or(&path);
            fs::create_dir_all(folder).map_err(Error::demo)?;
            fs::write(&path, text).map_err(Error::demo)?;
        }
        Ok(())
    }

    /// Edits a file, and leaves it uncommitted.
    pub(super) fn edit(&self, path: &str, edit: Edit) -> Result<(), Error> {
        let file = self.repository().join(path);
        let text = fs::read_to_string(&file).map_err(Error::demo)?;
        let text = example::edited(&text, edit)
            .ok_or_else(|| Error::demo(format!("{path} does not hold the line {:?}", edit.0)))?;
        fs::write(&file, text).map_err(Error::demo)
    }

    /// Commits what was edited.
    pub(super) fn commit(&self, message: &str) -> Result<(), Error> {
        commit_all(&self.repository, message).map_err(Error::demo)
    }

    /// Makes a call past Levelset, as a person with the console would: again, while AWS is busy.
    pub(super) async fn console(&self, scope: &Scope, call: &Call) -> Result<(), Error> {
        let door = self.cloud.door("console");
        let asking = async {
            loop {
                match door.ask(scope, call) {
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

    /// Returns the number of the latest call, from which on [`Self::calls_since`] counts.
    pub(super) fn latest_call(&self) -> u64 {
        self.cloud.calls_since(0).last().map_or(0, |record| record.number)
    }

    /// Returns the agent's calls after the one with this number.
    pub(super) fn calls_since(&self, number: u64) -> Vec<log::Record> {
        let mut calls = self.cloud.calls_since(number);
        calls.retain(|record| &*record.by == "agent");
        calls
    }

    /// Returns the agent's calls after the one with this number that changed something.
    pub(super) fn writes_since(&self, number: u64) -> Vec<log::Record> {
        let mut calls = self.calls_since(number);
        calls.retain(log::Record::is_write);
        calls
    }

    /// Returns the names of the databases of an account that can be used.
    pub(super) fn available(&self, scope: &Scope) -> Vec<String> {
        let is_available =
            |database: &Map<String, Value>| database["DBInstanceStatus"] == "available";
        let found = self.cloud.inspect(scope).into_iter().filter(is_available);
        found
            .filter_map(|found| Some(found.get("DBInstanceIdentifier")?.as_str()?.to_owned()))
            .collect()
    }

    /// Tells whether no database of an account is being worked on.
    pub(super) fn is_idle(&self, scope: &Scope) -> bool {
        self.available(scope).len() == self.cloud.inspect(scope).len()
    }

    /// Returns a member of a database as the cloud has it; null when one of them is not there.
    pub(super) fn member(&self, scope: &Scope, name: &str, member: &str) -> Value {
        let found = self.cloud.inspect(scope);
        let found = found.iter().find(|found| found["DBInstanceIdentifier"] == name);
        found.and_then(|found| found.get(member)).cloned().unwrap_or_default()
    }

    /// Returns the state of a database as the cloud has it.
    pub(super) fn state(&self, scope: &Scope, name: &str) -> Option<String> {
        self.member(scope, name, "DBInstanceStatus").as_str().map(str::to_owned)
    }

    /// Returns the time.
    pub(super) fn now(&self) -> Timestamp {
        self.agent.engine.clock.now()
    }

    /// Plans the files as they lie there, before they are committed, as a pull request would be.
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

    /// Waits until something is so in the cloud.
    pub(super) async fn cloud(&self, goal: &str, is_so: impl Fn() -> bool) -> Result<(), Error> {
        let looking = async {
            while !is_so() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        let looked = tokio::time::timeout(PATIENCE, looking).await;
        looked.map_err(|_| Error::untimely(goal, PATIENCE))
    }

    /// Waits until an object is as declared.
    pub(super) async fn ready(&self, key: &Key) -> Result<(), Error> {
        let looking = async {
            while !self.record(key).await?.is_some_and(|record| record.status.is_ready()) {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            Ok(())
        };
        let goal = format!("{key} becomes as declared");
        let looked = tokio::time::timeout(PATIENCE, looking).await;
        looked.unwrap_or_else(|_| Err(Error::untimely(&goal, PATIENCE)))
    }

    /// Returns what the agent has written about an object.
    pub(super) async fn record(&self, key: &Key) -> Result<Option<Record>, Error> {
        self.agent.engine.store.get(key).await.map_err(Error::Store)
    }

    /// Returns what the agent has written about every object.
    pub(super) async fn records(&self) -> Result<Vec<Record>, Error> {
        self.agent.engine.store.all().await.map_err(Error::Store)
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
        Ok((cloud, self.agent.serve(loopback, Hosts::default(), None).await?))
    }

    /// Returns the folder in which the agent keeps its state.
    pub(super) fn state_directory(&self) -> &Path {
        &self.config.state_directory.value
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

/// Returns the account and region of production.
pub(super) fn production() -> Scope {
    Scope { account: AccountId::new("111122223333"), region: Region::new("eu-west-1") }
}

/// Returns the account and region of staging.
pub(super) fn staging() -> Scope {
    Scope { account: AccountId::new("444455556666"), region: Region::new("eu-west-1") }
}

/// Makes the networks that the example counts on; only some of their subnets are for databases.
fn seed(cloud: &Sandbox) {
    for (number, name) in example::PRODUCTION_VPCS.into_iter().enumerate() {
        let cidr = format!("10.{number}.0.0/16");
        let vpc = cloud.seed_vpc(&production(), name, &cidr, &["a", "b", "c"]);
        for subnet in vpc.subnet_ids.iter().take(2) {
            cloud.tag_subnet(&production(), subnet, "tier", "data");
        }
    }
    cloud.seed_vpc(&staging(), example::STAGING_VPC, "10.9.0.0/16", &["a", "b"]);
    cloud.seed_zone(&production(), "example.com", &[]);
    cloud.seed_zone(&production(), "corp.internal", &["vpc-1"]);
}

/// Makes a repository in which a person can commit, too.
fn repository(folder: &Path) -> Result<Repository, git2::Error> {
    let repository = Repository::init(folder)?;
    let mut config = repository.config()?;
    config.set_str("user.name", AUTHOR.0)?;
    config.set_str("user.email", AUTHOR.1)?;
    Ok(repository)
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
    let author = Signature::now(AUTHOR.0, AUTHOR.1)?;
    let parent = repository.head().ok().map(|head| head.peel_to_commit()).transpose()?;
    let parents: Vec<_> = parent.iter().collect();
    repository.commit(Some("HEAD"), &author, &author, message, &tree, &parents)?;
    Ok(())
}
