//! The cloud that the settings describe: AWS behind a budget and a proof of its account.

use std::sync::Arc;

use crate::aws::{Accounts, Asserted, Aws, Budgeted, Budgets};
use crate::config::Config;
use crate::model::{Clock, Cloud};

/// What every call to a cloud passes.
pub(super) type Spending = Budgeted<Arc<dyn Cloud>>;

/// Makes the bare way to AWS for every account that the settings name; it connects to nothing yet.
pub(super) fn aws(config: &Config, clock: &Arc<dyn Clock>) -> Arc<dyn Cloud> {
    Arc::new(Aws::new(Accounts::from(config), Arc::clone(clock)))
}

/// Puts a budget and the proof of the account before a cloud.
pub(super) fn guarded(sender: Arc<dyn Cloud>, budgets: Budgets) -> (Arc<dyn Cloud>, Arc<Spending>) {
    let spending = Arc::new(Budgeted::new(sender, budgets));
    (Arc::new(Asserted::new(Arc::clone(&spending))), spending)
}
