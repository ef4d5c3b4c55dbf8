//! What resyncs would cost, from what is known to be there.
//!
//! In: the objects and resources of each account and region, an interval. Out: one [`Forecast`] per
//! account, region and service. It is an upper bound for what is ours: a list is read once for all
//! objects that come within a while, and resources of others in the account add pages.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Budgets, documented_per_second};
use crate::kinds;
use crate::model::budget::{Forecast, Read};
use crate::model::kind::LOOKS_SERVED;
use crate::model::within::Within;
use crate::model::{Kind, KindName, Scope};

/// Counts what is known of one account and region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holding {
    /// The account and region.
    pub scope: Scope,
    /// How many objects have resources there.
    pub objects: usize,
    /// How many resources of each kind there are.
    pub resources: BTreeMap<KindName, usize>,
}

/// Says what it would cost to look at every object once in `interval`, if one reading of a list serves
/// all that come within `shared`.
pub fn forecast(
    holdings: &[Holding],
    interval: Duration,
    shared: Duration,
    budgets: &Budgets,
) -> Vec<Forecast> {
    let of = |holding| of_scope(holding, interval.as_secs_f64(), shared.as_secs_f64(), budgets);
    holdings.iter().flat_map(of).collect()
}

fn of_scope(holding: &Holding, interval: f64, shared: f64, budgets: &Budgets) -> Vec<Forecast> {
    let mut services: BTreeMap<&str, Vec<Read>> = BTreeMap::new();
    for (name, count) in &holding.resources {
        let Some(kind) = kinds::find(name) else { continue };
        let looks = (holding.objects as f64 / interval).min(1.0 / shared);
        let reads = services.entry(kind.service()).or_default();
        reads.extend(lists(kind, *count, looks));
        let looks = *count as f64 / interval;
        let served = if kind.singly().is_some() { 1.0 } else { f64::from(LOOKS_SERVED) };
        reads.extend(each(kind, looks / served));
    }
    let forecast = |(service, reads): (&str, Vec<Read>)| Forecast {
        scope: holding.scope.clone(),
        service: service.to_owned(),
        objects: holding.objects,
        reads,
        budget: budgets.of(service),
        documented_per_second: documented_per_second(service),
    };
    services.into_iter().map(forecast).collect()
}

fn lists(kind: &dyn Kind, resources: usize, looks: f64) -> impl Iterator<Item = Read> {
    let page = |size| usize::try_from(size).unwrap_or(usize::MAX);
    let lists = kind.lists().iter().map(move |list| (list.operation, page(list.page_size.1)));
    // How many containers they are in is not known; most are in one.
    let content = kind.within().map(Within::content);
    lists.chain(content).map(move |(operation, page)| Read {
        operation: operation.to_owned(),
        calls: resources.div_ceil(page).max(1),
        times_per_second: looks,
    })
}

fn each(kind: &dyn Kind, looks: f64) -> impl Iterator<Item = Read> {
    kind.reads_of_each().iter().map(move |operation| Read {
        operation: (*operation).to_owned(),
        calls: 1,
        times_per_second: looks,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AccountId, Region};

    fn forecasts(objects: usize, kinds: &[(&'static str, usize)], seconds: u64) -> Vec<Forecast> {
        let scope =
            Scope { account: AccountId::new("111122223333"), region: Region::new("eu-west-1") };
        let resources = kinds.iter().map(|(name, count)| (KindName::new(name), *count)).collect();
        let holding = Holding { scope, objects, resources };
        let interval = Duration::from_secs(seconds);
        forecast(&[holding], interval, Duration::from_secs(5), &Budgets::default())
    }

    #[test]
    fn five_hundred_databases_a_minute_cost_their_pages_once_in_five_seconds() {
        let kinds = [("db_instance", 500), ("db_subnet_group", 1), ("vpc", 1)];
        let found = forecasts(500, &kinds, 60);
        let costs: Vec<(&str, f64)> =
            found.iter().map(|it| (it.service.as_str(), it.per_second())).collect();
        // Two lists of EC2, and what a VPC may take in every third look; five pages of databases and
        // one of groups.
        assert_eq!(costs.len(), 2);
        let ec2 = 0.4 + 1.0 / 180.0;
        assert!((costs[0].1 - ec2).abs() < 1e-9 && costs[0].0 == "ec2", "{costs:?}");
        assert!((costs[1].1 - 1.2).abs() < 1e-9 && costs[1].0 == "rds", "{costs:?}");
        assert!(found.iter().all(Forecast::fits));
        assert_eq!(found[1].documented_per_second, Some(12.0));
    }

    #[test]
    fn few_objects_cost_a_list_each_and_no_more() {
        let found = forecasts(3, &[("db_instance", 3)], 60);
        assert!((found[0].per_second() - 0.05).abs() < 1e-9);
    }

    #[test]
    fn what_is_read_of_each_resource_grows_with_their_number_until_it_does_not_fit() {
        let kinds = [("db_instance", 500), ("db_parameter_group", 500)];
        assert!(!forecasts(500, &kinds, 30)[0].fits());
        assert!(forecasts(500, &kinds, 300)[0].fits());
    }
}
