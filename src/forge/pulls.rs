//! Which pull requests are looked at, and when.
//!
//! In: what the host lists as open, the tip that they go into, the time. Out: those that are to be
//! looked at now, the most urgent first, and those that are over.
//!
//! Invariants: pure; a head that is new goes before everything else; a tip that moves and a cloud that
//! drifts lead to a look at a bounded pace, however often they do; a pull request is over once. What a
//! look finds is wanted of the outbox, which sends nothing that stands already.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::api::PullRequest;
use crate::model::Revision;

/// After a look, the tip may move as often as it likes for this long.
const MOVED: SignedDuration = SignedDuration::from_mins(5);

/// After this long the cloud may have drifted.
const DRIFTED: SignedDuration = SignedDuration::from_mins(15);

/// Remembers when each pull request was looked at.
#[derive(Debug, Clone)]
pub struct Pulls {
    branch: String,
    looks: BTreeMap<u64, Look>,
}

#[derive(Debug, Clone)]
struct Look {
    head: Revision,
    tip: Revision,
    at: Timestamp,
}

/// Says why a pull request is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Over {
    /// It is merged or closed.
    Closed,
    /// It goes into another branch now.
    Elsewhere,
}

impl Pulls {
    /// Follows the pull requests that go into a branch.
    pub fn new(branch: impl Into<String>) -> Self {
        Self { branch: branch.into(), looks: BTreeMap::new() }
    }

    /// Lists what is to be looked at now: new heads, then what was looked at longest ago.
    pub fn due<'a>(
        &self,
        open: &'a [PullRequest],
        tip: &Revision,
        now: Timestamp,
    ) -> Vec<&'a PullRequest> {
        let own = open.iter().filter(|request| self.is_ours(request));
        let mut due: Vec<(Option<Timestamp>, &PullRequest)> =
            own.filter_map(|request| Some((self.urgency(request, tip, now)?, request))).collect();
        due.sort_by_key(|(looked, request)| (*looked, request.number));
        due.into_iter().map(|(_, request)| request).collect()
    }

    /// Returns when a pull request that is due was looked at; nothing for one whose head is new.
    fn urgency(
        &self,
        request: &PullRequest,
        tip: &Revision,
        now: Timestamp,
    ) -> Option<Option<Timestamp>> {
        let Some(look) = self.looks.get(&request.number) else { return Some(None) };
        if look.head != request.head {
            return Some(None);
        }
        let pace = if look.tip == *tip { DRIFTED } else { MOVED };
        (now.duration_since(look.at) >= pace).then_some(Some(look.at))
    }

    fn is_ours(&self, request: &PullRequest) -> bool {
        request.base_branch == self.branch
    }

    /// Notes a look, whatever came of it.
    pub fn looked(&mut self, request: &PullRequest, tip: &Revision, at: Timestamp) {
        let look = Look { head: request.head.clone(), tip: tip.clone(), at };
        self.looks.insert(request.number, look);
    }

    /// Lists those that were looked at and are over, with their heads.
    pub fn over(&self, open: &[PullRequest]) -> Vec<(u64, Revision, Over)> {
        let listed = |number: u64| open.iter().find(|request| request.number == number);
        self.looks
            .iter()
            .filter_map(|(number, look)| match listed(*number) {
                None => Some((*number, look.head.clone(), Over::Closed)),
                Some(request) if !self.is_ours(request) => {
                    Some((*number, look.head.clone(), Over::Elsewhere))
                }
                Some(_) => None,
            })
            .collect()
    }

    /// Forgets one that is over, once that has been told.
    pub fn forget(&mut self, number: u64) {
        self.looks.remove(&number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(number: u64, head: &str) -> PullRequest {
        PullRequest {
            number,
            head: Revision::new(head),
            head_branch: format!("change-{number}"),
            base_branch: "main".to_owned(),
            is_fork: false,
            link: String::new(),
        }
    }

    fn minute(number: i64) -> Timestamp {
        Timestamp::from_second(60 * number).unwrap()
    }

    fn tip(name: &str) -> Revision {
        Revision::new(name)
    }

    /// Looks at everything that is due, and returns the numbers.
    fn looks(pulls: &mut Pulls, open: &[PullRequest], name: &str, at: i64) -> Vec<u64> {
        let due: Vec<PullRequest> =
            pulls.due(open, &tip(name), minute(at)).into_iter().cloned().collect();
        due.iter().for_each(|request| pulls.looked(request, &tip(name), minute(at)));
        due.iter().map(|request| request.number).collect()
    }

    #[test]
    fn a_new_head_is_looked_at_at_once_and_before_all_others() {
        let mut pulls = Pulls::new("main");
        let mut open = vec![request(1, "a"), request(2, "b"), request(3, "c")];
        assert_eq!(looks(&mut pulls, &open, "t", 0), [1, 2, 3]);
        assert_eq!(looks(&mut pulls, &open, "t", 1), [0; 0]);
        open[2].head = Revision::new("forced");
        assert_eq!(looks(&mut pulls, &open, "t", 1), [3]);
        open.push(request(4, "d"));
        assert_eq!(looks(&mut pulls, &open, "t", 15), [4, 1, 2]);
    }

    #[test]
    fn a_tip_that_moves_all_the_time_leads_to_a_look_every_five_minutes() {
        let mut pulls = Pulls::new("main");
        let open = vec![request(1, "a")];
        let times = (0..60)
            .filter(|at| !looks(&mut pulls, &open, &format!("tip-{at}"), *at).is_empty())
            .count();
        assert_eq!(times, 12);
    }

    #[test]
    fn drift_is_looked_for_every_quarter_of_an_hour() {
        let mut pulls = Pulls::new("main");
        let open: Vec<PullRequest> = (0..300).map(|number| request(number, "a")).collect();
        let looked: usize = (0..60).map(|at| looks(&mut pulls, &open, "t", at).len()).sum();
        assert_eq!(looked, 300 * 4);
    }

    #[test]
    fn what_is_over_is_told_once() {
        let mut pulls = Pulls::new("main");
        let mut open = vec![request(1, "a"), request(2, "b"), request(3, "c")];
        looks(&mut pulls, &open, "t", 0);
        open[1].base_branch = "other".to_owned();
        open.remove(0);
        let head = |name: &str| Revision::new(name);
        let over = [(1, head("a"), Over::Closed), (2, head("b"), Over::Elsewhere)];
        assert_eq!(pulls.over(&open), over);
        assert_eq!(pulls.over(&open), over, "until it has been told");
        [1, 2].into_iter().for_each(|number| pulls.forget(number));
        assert_eq!(pulls.over(&open), []);
        open[0].base_branch = "main".to_owned();
        assert_eq!(looks(&mut pulls, &open, "t", 1), [2], "it came back");
    }

    #[test]
    fn what_goes_elsewhere_is_never_looked_at() {
        let mut pulls = Pulls::new("release");
        assert_eq!(looks(&mut pulls, &[request(1, "a")], "t", 0), [0; 0]);
        assert_eq!(pulls.over(&[]), []);
    }
}
