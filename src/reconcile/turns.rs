//! Which passes are under way at which account, so that one whose API budget is used up does not keep
//! all workers waiting while other accounts have work.
//!
//! In: an account, a lane, and whether calls to the account wait for its budget. Out: a [`Turn`], or
//! none: then the key goes back into the queue.
//!
//! Invariant: at an account whose budget is waited for, no pass begins in a lane while one in it is
//! under way. More of them would get no more calls through, and a change never waits for a resync.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::model::AccountId;
use crate::queue::Lane;

/// Counts the passes under way by account and lane.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<BTreeMap<(AccountId, Lane), usize>>);

/// Stands for one pass that is under way, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    turns: &'a Turns,
    of: (AccountId, Lane),
}

impl Turns {
    /// Begins a pass, unless it would only make the line at the account's budget longer.
    pub(super) fn begin(
        &self,
        account: AccountId,
        lane: Lane,
        is_waited_for: bool,
    ) -> Option<Turn<'_>> {
        let of = (account, lane);
        let mut under_way = self.lock();
        if is_waited_for && under_way.contains_key(&of) {
            return None;
        }
        *under_way.entry(of.clone()).or_default() += 1;
        Some(Turn { turns: self, of })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(AccountId, Lane), usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut under_way = self.turns.lock();
        if let Some(count) = under_way.get_mut(&self.of) {
            *count -= 1;
            if *count == 0 {
                under_way.remove(&self.of);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_calls_wait_for_the_budget_each_lane_has_one_pass_under_way() {
        let turns = Turns::default();
        let begin = |account, lane, waited| turns.begin(AccountId::new(account), lane, waited);
        let first = begin("1", Lane::Resync, false).unwrap();
        let second = begin("1", Lane::Resync, false).unwrap();
        assert!(begin("1", Lane::Resync, true).is_none());
        let change = begin("1", Lane::Change, true).unwrap();
        assert!(begin("1", Lane::Change, true).is_none());
        assert!(begin("2", Lane::Resync, true).is_some(), "another account has its own");
        drop((first, change));
        assert!(begin("1", Lane::Resync, true).is_none());
        drop(second);
        assert!(begin("1", Lane::Resync, true).is_some());
        assert!(begin("1", Lane::Change, true).is_some());
    }
}
