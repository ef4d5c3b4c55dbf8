//! What a pass works with: the ports and the settings, put together once by the command line.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tokio_util::sync::CancellationToken;

use super::next::Pace;
use crate::desired::Reader;
use crate::manifest::Object;
use crate::manifest::expand::Place;
use crate::model::{Clock, Cloud, Fence, Position, Problem, Scope, Severity};
use crate::observe::Observer;
use crate::status::Store;

/// Holds everything that a pass reaches the world through.
pub struct Engine {
    /// The name of the agent: the first part of every ownership tag.
    pub agent: String,
    /// The environments that manifests may name.
    pub environments: BTreeMap<String, Environment>,
    /// What Git declares.
    pub desired: Reader,
    /// How AWS is written.
    pub cloud: Arc<dyn Cloud>,
    /// How AWS is read.
    pub observer: Observer,
    /// What is remembered.
    pub store: Arc<dyn Store>,
    /// The right to write.
    pub fence: Arc<dyn Fence>,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// How fast passes follow each other.
    pub pace: Pace,
    /// Set when the agent stops: no further call is begun.
    pub stopping: CancellationToken,
    /// The source of jitter.
    pub jitter: Jitter,
}

/// Says where an environment lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// The account and region.
    pub scope: Scope,
    /// True where the stricter defaults of production hold.
    pub production: bool,
}

/// Gives numbers that spread passes over time; a seed replays them.
pub struct Jitter(Mutex<StdRng>);

impl Jitter {
    /// Starts from a seed.
    pub fn seeded(seed: u64) -> Self {
        Self(Mutex::new(StdRng::seed_from_u64(seed)))
    }

    /// Returns the next number.
    pub fn next(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).next_u64()
    }
}

impl Engine {
    /// Returns where an object's resources live.
    ///
    /// # Errors
    ///
    /// A problem of the manifest when it names an environment that is not configured.
    pub fn place(&self, object: &Object) -> Result<Place, Box<Problem>> {
        let name = object.environment();
        match self.environments.get(name) {
            Some(environment) => Ok(Place {
                scope: environment.scope.clone(),
                agent: self.agent.clone(),
                production: environment.production,
            }),
            None => Err(Box::new(self.unknown_environment(object, name))),
        }
    }

    fn unknown_environment(&self, object: &Object, name: &str) -> Problem {
        let known: Vec<&str> = self.environments.keys().map(String::as_str).collect();
        let hint = match known.is_empty() {
            true => "the agent's configuration has no environments; add one".to_owned(),
            false => format!("use one of {}, or add it to the agent's configuration", known.join(", ")),
        };
        Problem {
            position: Position { path: object.path.clone(), line: object.line, column: 1 },
            severity: Severity::Error,
            code: "UnknownEnvironment".to_owned(),
            message: format!("{} names the environment \"{name}\", which is not configured", object.key),
            hint: Some(hint),
            source_line: String::new(),
            length: 1,
        }
    }
}
