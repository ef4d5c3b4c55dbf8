//! What is told about API calls.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::model::budget::{Count, Forecast, Level};
use crate::model::{Cause, Scope, Spent};

/// Holds everything that `levelset budget` tells.
#[derive(Debug, Clone, PartialEq)]
pub struct Spending {
    /// The time of the report.
    pub at: Timestamp,
    /// What was spent, over ever longer periods that end now.
    pub periods: Vec<Period>,
    /// How every bucket stands.
    pub levels: Vec<Level>,
    /// The interval in seconds that was asked about, and what it would cost.
    pub resync: Option<(u32, Vec<Forecast>)>,
}

/// Holds what was spent in a period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Period {
    /// `minute`, `hour` or `day`.
    pub name: &'static str,
    /// What was spent.
    pub spent: Vec<Spent>,
}

/// Names one line: an operation and its cause.
pub(super) type Line<'a> = (&'a str, Cause);

impl Spending {
    /// Returns what was asked about resyncs.
    pub fn forecasts(&self) -> impl Iterator<Item = &Forecast> {
        self.resync.iter().flat_map(|(_, forecasts)| forecasts)
    }

    /// Returns the counts of every line in every period, by account, region and service.
    pub(super) fn by_service(&self) -> BTreeMap<(&Scope, &str), BTreeMap<Line<'_>, Vec<Count>>> {
        let mut services: BTreeMap<(&Scope, &str), BTreeMap<Line<'_>, Vec<Count>>> =
            BTreeMap::new();
        for (column, period) in self.periods.iter().enumerate() {
            for spent in &period.spent {
                let lines = services.entry((&spent.scope, &spent.service)).or_default();
                let counts = lines
                    .entry((&spent.operation, spent.cause))
                    .or_insert_with(|| vec![Count::default(); self.periods.len()]);
                counts[column].add(spent.count);
            }
        }
        services
    }
}
