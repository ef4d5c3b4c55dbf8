//! The cloud that the settings describe: AWS behind a budget and a proof of its account.

use std::sync::Arc;

use crate::aws::{Account, Accounts, Asserted, Aws, Budgeted, Budgets, Endpoints, Role, Timeouts};
use crate::config::{Config, Environment};
use crate::model::Clock;

/// Makes the way to AWS for every account that the settings name; it connects to nothing yet.
pub(super) fn aws(config: &Config, clock: &Arc<dyn Clock>) -> Arc<Budgeted<Asserted<Aws>>> {
    let accounts = config.environments.values().map(|env| account(env, &config.agent_name.value));
    let accounts = Accounts { accounts: accounts.collect(), timeouts: Timeouts::default() };
    let aws = Aws::new(accounts, Arc::clone(clock));
    Arc::new(Budgeted::new(Asserted::new(aws), Budgets::default()))
}

fn account(environment: &Environment, agent: &str) -> Account {
    let role = environment.role_arn.as_ref().map(|arn| Role {
        arn: arn.value.clone(),
        external_id: environment.external_id.as_ref().map(|id| id.value.clone()),
        session_name: agent.to_owned(),
    });
    let endpoints = match &environment.endpoint_url {
        Some(url) => Endpoints::all(url.value.clone()),
        None => Endpoints::default(),
    };
    Account { role, endpoints, ..Account::new(environment.scope()) }
}
