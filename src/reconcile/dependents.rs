//! Who waits for which resource: an object goes on as soon as what it waits for is settled.
//!
//! In: what each pass found settled, and what it missed. Out: the objects to look at again. Only a
//! shortcut: it is in memory, may be lost, and an object that nobody wakes is looked at again when
//! its own wait is over.
//!
//! Invariant: an object is woken once for each time that it waits, so two objects cannot keep each
//! other awake.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use super::sight::Needs;
use crate::model::{Key, ResourceId};

/// Remembers what objects wait for since their last pass.
#[derive(Debug, Default)]
pub(super) struct Dependents(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    by_key: BTreeMap<Key, BTreeSet<ResourceId>>,
    by_resource: BTreeMap<ResourceId, BTreeSet<Key>>,
}

impl Dependents {
    /// Notes what a pass of `key` missed, and returns who else waits for what it found settled.
    pub(super) fn pass_ended(&self, key: &Key, needs: &Needs) -> BTreeSet<Key> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.forget(key);
        if !needs.missed.is_empty() {
            waiting.note(key, &needs.missed);
        }
        let woken: BTreeSet<Key> = needs
            .settled
            .iter()
            .filter_map(|resource| waiting.by_resource.get(resource))
            .flatten()
            .cloned()
            .collect();
        woken.iter().for_each(|key| waiting.forget(key));
        woken
    }
}

impl Waiting {
    fn note(&mut self, key: &Key, missed: &BTreeSet<ResourceId>) {
        for resource in missed {
            self.by_resource.entry(resource.clone()).or_default().insert(key.clone());
        }
        self.by_key.insert(key.clone(), missed.clone());
    }

    fn forget(&mut self, key: &Key) {
        for resource in self.by_key.remove(key).into_iter().flatten() {
            if let Some(keys) = self.by_resource.get_mut(&resource) {
                keys.remove(key);
                if keys.is_empty() {
                    self.by_resource.remove(&resource);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AccountId, KindName, Region, Scope};

    fn group(name: &str) -> ResourceId {
        let scope =
            Scope { account: AccountId::new("111122223333"), region: Region::new("eu-west-1") };
        ResourceId { kind: KindName::new("db_subnet_group"), scope, name: name.into() }
    }

    fn missed(names: &[&str]) -> Needs {
        Needs { missed: names.iter().map(|name| group(name)).collect(), ..Needs::default() }
    }

    fn settled(name: &str) -> Needs {
        Needs { settled: [group(name)].into(), ..Needs::default() }
    }

    fn names(keys: BTreeSet<Key>) -> Vec<String> {
        keys.iter().map(|key| key.name.to_string()).collect()
    }

    #[test]
    fn whoever_waits_for_a_resource_is_woken_once_when_it_is_settled() {
        let dependents = Dependents::default();
        let (a, b, network) = (Key::workspace("a"), Key::workspace("b"), Key::workspace("n"));
        assert!(dependents.pass_ended(&a, &missed(&["core"])).is_empty());
        assert!(dependents.pass_ended(&b, &missed(&["core", "edge"])).is_empty());
        assert!(dependents.pass_ended(&network, &settled("other")).is_empty());
        assert_eq!(names(dependents.pass_ended(&network, &settled("core"))), ["a", "b"]);
        assert!(dependents.pass_ended(&network, &settled("core")).is_empty());
        assert!(dependents.pass_ended(&network, &settled("edge")).is_empty(), "b is on its way");
    }

    #[test]
    fn whoever_found_it_by_itself_is_not_woken_and_nothing_is_remembered() {
        let dependents = Dependents::default();
        let (a, network) = (Key::workspace("a"), Key::workspace("n"));
        let _ = dependents.pass_ended(&a, &missed(&["core"]));
        let _ = dependents.pass_ended(&a, &settled("core"));
        assert!(dependents.pass_ended(&network, &settled("core")).is_empty());
        let waiting = dependents.0.lock().unwrap();
        assert!(waiting.by_key.is_empty() && waiting.by_resource.is_empty());
    }
}
