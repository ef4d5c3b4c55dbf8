//! What people asked of an object, as its pass takes it up.
//!
//! In: what stands in the store when the pass begins. Out: a memory that was forgiven, the requests
//! that the pass carries out, and the lines of history that name who asked. Pure.
//!
//! A pass carries out what it has read and nothing else: what is asked meanwhile has another number
//! and brings the object back.

use jiff::Timestamp;

use crate::model::status::Memory;
use crate::model::{Ask, Asked, Difference, Key};
use crate::plan::Reverts;
use crate::status::Event;

/// Forgets what keeps the agent from trying, if somebody asked for another try: failures, changes
/// without effect, contests over fields. The minimum interval and the API budgets stay.
pub(super) fn forgive(memory: &mut Memory, asked: &[Asked]) {
    if !asked.iter().any(|asked| matches!(asked.ask, Ask::Retry { .. })) {
        return;
    }
    memory.failures = 0;
    memory.waits = 0;
    for known in memory.resources.values_mut() {
        known.accepted_changes.clear();
        known.reverted.clear();
        // When the storage changed is a fact; that a refusal means as much is a guess.
        if known.storage.refusal.take().is_some() {
            known.storage.locked_at = None;
        }
    }
}

/// Returns the numbers of what a pass of an object carries out.
///
/// A confirmed removal stands while the manifest is gone, confirmed drift while any of it is there
/// or cannot be seen.
pub(super) fn answered(asked: &[Asked], is_gone: bool, reverts: &Reverts) -> Vec<u64> {
    let is_there = |difference: &Difference| {
        reverts.present.contains(difference) || reverts.unseen.contains(&difference.resource)
    };
    let is_over = |asked: &&Asked| match &asked.ask {
        Ask::Remove { .. } => !is_gone,
        Ask::Revert { differences, .. } => !differences.iter().any(is_there),
        ask => ask.is_request(),
    };
    asked.iter().filter(is_over).map(|asked| asked.number).collect()
}

/// Names who asked for what a pass carries out; suspensions and snoozes are told by conditions.
pub(super) fn events(key: &Key, asked: &[Asked], now: Timestamp) -> Vec<Event> {
    let requests = asked.iter().filter(|asked| asked.ask.is_request());
    let event = |asked: &Asked| Event {
        key: key.clone(),
        at: now,
        reason: "Asked".to_owned(),
        message: format!("{} asked for `{}` at {:.0}", asked.by, asked.ask.verb(), asked.at),
    };
    requests.map(event).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::model::handle::Handle;
    use crate::model::status::{AcceptedChange, ResourceMemory, StorageMemory};
    use crate::model::{AccountId, KindName, Region, ResourceId, Scope};

    fn asked(number: u64, ask: Ask) -> Asked {
        Asked { number, ask, by: "alice".to_owned(), at: Timestamp::UNIX_EPOCH }
    }

    fn everything() -> Vec<Asked> {
        let object = || Key::workspace("a");
        let digest = "0123456789ab".to_owned();
        vec![
            asked(1, Ask::Suspend { object: object(), reason: None }),
            asked(2, Ask::Retry { object: object() }),
            asked(3, Ask::Resume { object: object() }),
            asked(4, Ask::Remove { object: object(), digest }),
        ]
    }

    #[test]
    fn levels_stand_and_requests_are_done_with() {
        let nothing = Reverts::default();
        assert_eq!(answered(&everything(), true, &nothing), [2, 3]);
        assert_eq!(answered(&everything(), false, &nothing), [2, 3, 4], "the manifest is back");
    }

    #[test]
    fn confirmed_drift_stands_until_all_of_it_is_known_to_be_gone() {
        let scope = Scope { account: AccountId::new("012345678901"), region: Region::new("r") };
        let resource = ResourceId { kind: KindName::new("lamp"), scope, name: "a".into() };
        let [one, two] = ["x", "y"].map(|field| Difference::new(&resource, field, &1.into()));
        let differences = BTreeSet::from([one, two.clone()]);
        let object = Key::workspace("a");
        let revert = [asked(7, Ask::Revert { object, differences, digest: String::new() })];
        let partly = Reverts { present: [two].into(), ..Reverts::default() };
        let unseen = Reverts { unseen: [resource].into(), ..Reverts::default() };
        for there in [partly, unseen] {
            assert!(answered(&revert, false, &there).is_empty());
        }
        assert_eq!(answered(&revert, false, &Reverts::default()), [7]);
    }

    #[test]
    fn a_retry_forgets_failures_changes_without_effect_and_contests_and_nothing_else() {
        let known = ResourceMemory {
            converged: [("size".to_owned(), 1.into())].into(),
            accepted_changes: [(
                "size".to_owned(),
                AcceptedChange { value: 2.into(), at: Timestamp::UNIX_EPOCH, times: 3 },
            )]
            .into(),
            handle: Handle::default(),
            reverted: [("size".to_owned(), vec![Timestamp::UNIX_EPOCH; 3])].into(),
            storage: StorageMemory {
                locked_at: Some(Timestamp::UNIX_EPOCH),
                refusal: Some("InvalidParameterCombination".to_owned()),
                ..StorageMemory::default()
            },
        };
        let before = Memory {
            failures: 9,
            waits: 4,
            not_before: Some(Timestamp::UNIX_EPOCH),
            resources: [("db_instance/a".to_owned(), known)].into(),
            ..Memory::default()
        };
        let mut memory = before.clone();
        forgive(&mut memory, &everything()[..1]);
        assert_eq!(memory, before, "nobody asked for it");
        forgive(&mut memory, &everything());
        assert_eq!((memory.failures, memory.waits, memory.not_before), (0, 0, before.not_before));
        let known = &memory.resources["db_instance/a"];
        assert!(known.accepted_changes.is_empty() && known.reverted.is_empty());
        assert_eq!(known.storage, StorageMemory::default());
        assert_eq!(known.converged.len(), 1, "what was in force is what drift is told by");
    }

    #[test]
    fn who_asked_is_told() {
        let events = events(&Key::workspace("a"), &everything(), Timestamp::UNIX_EPOCH);
        let told: Vec<&str> = events.iter().map(|event| event.message.as_str()).collect();
        let expected = [
            "alice asked for `retry` at 1970-01-01T00:00:00Z",
            "alice asked for `resume` at 1970-01-01T00:00:00Z",
        ];
        assert_eq!(told, expected);
    }
}
