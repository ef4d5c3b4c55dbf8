//! What a pass works with: the ports and the settings, put together once by the command line.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::SignedDuration;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::absences::Absences;
use super::annals::Words;
use super::claims::Claims;
use super::departures::Departures;
use super::freshness::{Confirmation, Freshness, Patience};
use super::looks::Looks;
use super::mass_drift::{Bounds, MassDrift};
use super::next::Pace;
use super::rest::Rests;
use crate::desired::{Reader, Snapshot};
use crate::manifest::Object;
use crate::manifest::expand::Place;
use crate::model::listener::{Listener, Nobody};
use crate::model::{Clock, Cloud, Fence, Scope, Token};
use crate::observe::Observer;
use crate::observe::trail::Trail;
use crate::status::{Store, StoreError};

/// The longest that one write to the store may take; the right to write has to last that long.
const STORE_LIMIT: Duration = Duration::from_secs(10);

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
    /// Patterns of the types that the section `custom` may declare.
    pub custom_types: Vec<String>,
    /// How long a deletion waits for the manifest to come back.
    pub deletion_grace: SignedDuration,
    /// Who may ask for what leaves an object.
    pub claims: Claims,
    /// When manifests went.
    pub absences: Absences,
    /// What Git said last of objects whose manifests are gone.
    pub words: Words,
    /// Removed objects that are done with.
    pub departures: Departures,
    /// What passes of objects at rest were shown.
    pub rests: Rests,
    /// When objects were looked at that had nothing new.
    pub looks: Looks,
    /// Set when the agent stops: no further call is begun.
    pub stopping: CancellationToken,
    /// Held while a create is checked against the intents of others.
    pub creating: tokio::sync::Mutex<()>,
    /// Set while passes cannot be recorded: nothing is changed that nobody would remember.
    pub is_amnesic: AtomicBool,
    /// What is reverted lately, and what is held because it is too much at once.
    pub mass_drift: Mutex<MassDrift>,
    /// When Git was last confirmed.
    pub confirmation: Confirmation,
    /// The source of jitter.
    pub jitter: Jitter,
    /// Who hears how passes end.
    pub listener: Arc<dyn Listener>,
    /// Who finds out who made drift; `None` where that is not asked.
    pub trail: Option<Arc<Trail>>,
}

/// Holds what an engine reaches the world through.
pub struct Ports {
    /// How AWS is read and written.
    pub cloud: Arc<dyn Cloud>,
    /// What is remembered.
    pub store: Arc<dyn Store>,
    /// The right to write.
    pub fence: Arc<dyn Fence>,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
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
    /// Puts an engine together that knows no environment, with the default of every setting;
    /// `fresh` is how long a list of AWS may be shared.
    pub fn new(ports: Ports, desired: Reader, fresh: SignedDuration) -> Self {
        let Ports { cloud, store, fence, clock } = ports;
        Self {
            agent: "levelset".to_owned(),
            environments: BTreeMap::new(),
            desired,
            observer: Observer::new(Arc::clone(&cloud), Arc::clone(&clock), fresh),
            cloud,
            store,
            fence,
            clock,
            pace: Pace::default(),
            custom_types: vec!["*".to_owned()],
            deletion_grace: SignedDuration::from_hours(1),
            claims: Claims::default(),
            absences: Absences::default(),
            words: Words::default(),
            departures: Departures::default(),
            rests: Rests::default(),
            looks: Looks::default(),
            stopping: CancellationToken::new(),
            creating: tokio::sync::Mutex::default(),
            is_amnesic: false.into(),
            mass_drift: Mutex::new(MassDrift::new(Bounds::default())),
            confirmation: Confirmation::new(Patience::default()),
            jitter: Jitter::seeded(1),
            listener: Arc::new(Nobody),
            trail: None,
        }
    }

    /// Returns where an object's resources live.
    ///
    /// # Errors
    ///
    /// A sentence that says why it has no place: its environment is not configured.
    pub fn place(&self, object: &Object) -> Result<Place, String> {
        let name = object.environment();
        let environment = self.environments.get(name).ok_or_else(|| self.unknown(object, name))?;
        Ok(Place {
            scope: environment.scope.clone(),
            agent: self.agent.clone(),
            production: environment.production,
        })
    }

    /// Returns the account and region of an object, if its environment is configured.
    pub(super) fn scope(&self, object: &Object) -> Option<&Scope> {
        self.environments.get(object.environment()).map(|environment| &environment.scope)
    }

    /// Returns how fast passes of an object follow each other, and when it meets others.
    pub(super) fn pace_of(&self, object: &Object) -> Pace {
        self.scope(object).map_or(self.pace, |scope| self.pace.of(scope))
    }

    fn unknown(&self, object: &Object, name: &str) -> String {
        let known: Vec<&str> = self.environments.keys().map(String::as_str).collect();
        let known = match known.is_empty() {
            true => "it holds none; was a levelset.yaml found?".to_owned(),
            false => format!("these are: {}", known.join(", ")),
        };
        format!(
            "{}:{} names the environment \"{name}\", which the agent's configuration does not \
             hold ({known})",
            object.path, object.line
        )
    }

    /// Returns the guard on mass drift; nobody holds it across a wait.
    pub fn mass_drift(&self) -> MutexGuard<'_, MassDrift> {
        self.mass_drift.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how fresh Git is, and what is to be said if it is not.
    pub fn staleness(&self, snapshot: &Snapshot) -> Option<(Freshness, String)> {
        let freshness = self.confirmation.freshness(Instant::now());
        let rest = match freshness {
            Freshness::Fresh => return None,
            Freshness::Stale => "what is declared may be out of date",
            Freshness::Stopped => "nothing is changed before it is",
        };
        let since = match snapshot.source.confirmed_at {
            Some(at) => format!("since {at:.0}"),
            None => "since the agent started".to_owned(),
        };
        Some((freshness, format!("Git has not been confirmed {since}; {rest}")))
    }

    /// Returns the token that a write to the store carries.
    pub(super) fn token(&self) -> Result<Token, StoreError> {
        self.fence.check(STORE_LIMIT).map_err(|lost| StoreError::Withheld(lost.to_string()))
    }
}
