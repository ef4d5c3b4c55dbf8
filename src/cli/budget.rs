//! `levelset budget`: what API calls were spent on, how full the budgets are, and what resyncs at an
//! interval would cost.
//!
//! It reads the agent's store, which holds all of it also when no agent runs, and asks AWS nothing;
//! what it shows is at most as old as the agent's last page.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::agent::FRESH;
use super::clock::system_clock;
use super::error::Error;
use super::output::Output;
use super::settings::Flags;
use super::{Exit, Format, store};
use crate::aws::{Budgets, Holding, forecast};
use crate::model::budget::{Forecast, Level};
use crate::model::{Key, KindName, Scope};
use crate::reconcile::next::MEETINGS;
use crate::report::spending::{Period, Spending};
use crate::report::{json, text};
use crate::status::{Record, Store, StoreError};

/// Show what API calls were spent on, how full the budgets are, and what resyncs would cost
///
/// With --resync, the exit code is 1 if looking at every object that often does not fit the budgets.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Say what looking at every object once in so many seconds would cost
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    resync: Option<u32>,
    /// The form of the report
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    output: Format,
}

pub(super) fn run(
    arguments: &Arguments,
    flags: &Flags,
    output: &mut Output,
) -> Result<Exit, Error> {
    let now = system_clock().now();
    let told = store::read(flags, async |store| read(store, now, arguments.resync).await)?;
    output.print(&match arguments.output {
        Format::Text => text::spending(&told, output.style()),
        Format::Json => json::spending(&told),
    })?;
    let fits = told.forecasts().all(Forecast::fits);
    Ok(if fits { Exit::Done } else { Exit::Wrong })
}

async fn read(
    store: &dyn Store,
    now: Timestamp,
    resync: Option<u32>,
) -> Result<Spending, StoreError> {
    let mut periods = Vec::new();
    for (name, length) in [
        ("minute", SignedDuration::from_mins(1)),
        ("hour", SignedDuration::from_hours(1)),
        ("day", SignedDuration::from_hours(24)),
    ] {
        let since = now.checked_sub(length).unwrap_or(Timestamp::MIN);
        let spent = store.spent(since).await?;
        periods.push(Period { name, spent });
    }
    let levels = store.levels().await?;
    let resync = match resync {
        None => None,
        Some(seconds) => {
            let records = store.all().await?;
            Some((seconds, foreseen(&records, seconds)))
        }
    };
    let levels = levels.into_iter().map(|level: Level| level.at(now)).collect();
    Ok(Spending { at: now, periods, levels, resync })
}

fn foreseen(records: &[Record], seconds: u32) -> Vec<Forecast> {
    let interval = Duration::from_secs(seconds.into());
    let shared = Duration::try_from(FRESH).unwrap_or_default().max(interval / MEETINGS);
    forecast(&holdings(records), interval, shared, &Budgets::default())
}

/// Counts the objects and the resources of each account and region; what several objects share
/// counts once.
fn holdings(records: &[Record]) -> Vec<Holding> {
    let mut objects: BTreeMap<&Scope, BTreeSet<&Key>> = BTreeMap::new();
    let mut resources: BTreeMap<&Scope, BTreeMap<&KindName, BTreeSet<&str>>> = BTreeMap::new();
    for record in records {
        for resource in &record.status.resources {
            let id = &resource.id;
            objects.entry(&id.scope).or_default().insert(&record.key);
            let kinds = resources.entry(&id.scope).or_default();
            kinds.entry(&id.kind).or_default().insert(&id.name);
        }
    }
    let count = |kinds: BTreeMap<&KindName, BTreeSet<&str>>| {
        kinds.into_iter().map(|(kind, names)| (kind.clone(), names.len())).collect()
    };
    let holding = |(scope, kinds): (&Scope, _)| Holding {
        scope: scope.clone(),
        objects: objects.get(scope).map_or(0, BTreeSet::len),
        resources: count(kinds),
    };
    resources.into_iter().map(holding).collect()
}
