//! The accounts at whose budgets calls wait now.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::lock;
use crate::model::AccountId;

/// Counts the calls that wait, by account; an account at which none waits is not in it.
#[derive(Debug, Default)]
pub(super) struct Waiting(Mutex<BTreeMap<AccountId, usize>>);

/// Notes one call that waits, until it is dropped.
pub(super) struct Noted<'a> {
    waiting: &'a Waiting,
    account: &'a AccountId,
}

impl Waiting {
    /// Notes that a call begins to wait.
    pub(super) fn note<'a>(&'a self, account: &'a AccountId) -> Noted<'a> {
        *lock(&self.0).entry(account.clone()).or_default() += 1;
        Noted { waiting: self, account }
    }

    /// Tells whether a call waits.
    pub(super) fn is_at(&self, account: &AccountId) -> bool {
        lock(&self.0).contains_key(account)
    }
}

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        let mut waiting = lock(&self.waiting.0);
        if let Some(count) = waiting.get_mut(self.account) {
            *count -= 1;
            if *count == 0 {
                waiting.remove(self.account);
            }
        }
    }
}
