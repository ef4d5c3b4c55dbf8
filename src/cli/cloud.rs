//! The cloud that the settings describe: AWS behind a budget and a proof of its account.

use std::sync::Arc;

use crate::aws::{Accounts, Asserted, Aws, Budgeted, Budgets};
use crate::config::Config;
use crate::model::Clock;

/// Makes the way to AWS for every account that the settings name; it connects to nothing yet.
pub(super) fn aws(config: &Config, clock: &Arc<dyn Clock>) -> Arc<Budgeted<Asserted<Aws>>> {
    let aws = Aws::new(Accounts::from(config), Arc::clone(clock));
    Arc::new(Budgeted::new(Asserted::new(aws), Budgets::default()))
}
