//! Reviews a merge: every object that it touches is planned as its base and as its result say.
//!
//! In: what Git declares before and after, and the objects that differ. Out: a [`Review`].
//!
//! Invariants: both plans rest on the same reads, which are shared as in a pass; nothing is written,
//! to AWS or to the store; how an object is told depends on no time but those that people set.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::engine::Engine;
use super::preview::{Preview, preview_in};
use super::removal::preview_removal_in;
use crate::desired::{Change, Changes, Entry, FreezeReason, Frozen, Snapshot};
use crate::kinds;
use crate::model::review::{Edit, Effect, Look, ObjectReview, Trouble, When};
use crate::model::status::{DriftStatus, Owned};
use crate::model::{Action, Generation, Key, Plan, Problem, Resource, Review, Revision, Severity};
use crate::plan::three_way::{Side, Windows, effects, unseen};
use crate::status::{Record, StoreError};

/// Stands in the place of a time that is not known before the merge.
const SOMETIME: &str = "TIME";

/// Holds a merge, as Git declares it.
pub struct Proposed<'a> {
    /// What is merged into, as people call it.
    pub onto: &'a str,
    /// The tip of what is merged.
    pub head: &'a Revision,
    /// What the base declares.
    pub base: &'a Snapshot,
    /// What the result declares.
    pub merged: &'a Snapshot,
    /// The objects that differ.
    pub changes: &'a Changes,
    /// The files that differ.
    pub files: &'a BTreeSet<Arc<str>>,
    /// What it is compared with.
    pub look: Look,
}

/// Makes the review of a merge that cannot be made, or that the agent would not take.
pub fn troubled(onto: &str, base: &Revision, head: &Revision, trouble: Trouble) -> Review {
    Review {
        onto: onto.to_owned(),
        base: base.clone(),
        head: head.clone(),
        look: Look::Withheld("nothing comes of the merge".to_owned()),
        trouble: Some(trouble),
        problems: Vec::new(),
        frozen: None,
        objects: Vec::new(),
    }
}

/// Reviews a merge; `advance` is called after each object.
///
/// # Errors
///
/// When the store cannot be read.
pub async fn review(
    engine: &Engine,
    proposed: &Proposed<'_>,
    advance: &(dyn Fn() + Sync),
) -> Result<Review, StoreError> {
    let mut objects = Vec::with_capacity(proposed.changes.keys.len());
    for (key, change) in &proposed.changes.keys {
        if let Some(edit) = edit(proposed, key, *change) {
            objects.extend(object(engine, proposed, key, edit).await?);
        }
        advance();
    }
    objects.sort_by(|one, other| urgency(other).cmp(&urgency(one)).then(one.key.cmp(&other.key)));
    let revision = |snapshot: &Snapshot| snapshot.revision.clone();
    Ok(Review {
        onto: proposed.onto.to_owned(),
        base: revision(proposed.base).unwrap_or_else(|| Revision::new("")),
        head: proposed.head.clone(),
        look: proposed.look.clone(),
        trouble: None,
        problems: problems(proposed),
        frozen: proposed.merged.frozen.as_deref().filter(|_| is_newly_frozen(proposed)).map(told),
        objects,
    })
}

/// The order in which objects are told: what needs the most care first, nothing at all last.
fn urgency(object: &ObjectReview) -> impl Ord + use<> {
    (object.safety(), object.disruption(), !object.effects.is_empty())
}

fn is_newly_frozen(proposed: &Proposed<'_>) -> bool {
    let keys = |snapshot: &Snapshot| snapshot.frozen.as_ref().map(|frozen| frozen.keys.clone());
    keys(proposed.merged) != keys(proposed.base)
}

fn told(frozen: &Frozen) -> String {
    let what = match frozen.reason {
        FreezeReason::TooMany => {
            format!("{} objects would vanish from Git together", frozen.keys.len())
        }
        FreezeReason::NothingLeft => "no object would be left in Git".to_owned(),
    };
    format!("{what}; none of them counts as removed until a person confirms it")
}

/// Returns what is wrong in the files that differ, and what is wrong elsewhere and was not before.
fn problems(proposed: &Proposed<'_>) -> Vec<Problem> {
    let before = |problem: &Problem| {
        let known = proposed.base.problems.get(&problem.position.path);
        known.is_some_and(|known| known.contains(problem))
    };
    let all = proposed.merged.problems.values().flatten();
    let is_told =
        |problem: &&Problem| proposed.files.contains(&problem.position.path) || !before(problem);
    all.filter(is_told).cloned().collect()
}

/// Says what the merge does to a manifest; `None` for nothing that is worth a word.
fn edit(proposed: &Proposed<'_>, key: &Key, change: Change) -> Option<Edit> {
    let is_broken = || {
        let mut problems = proposed.merged.problems_of(key).iter();
        problems.any(|problem| problem.severity == Severity::Error)
    };
    match change {
        Change::Appeared | Change::Returned => Some(Edit::Added),
        Change::Spec => Some(Edit::Changed),
        Change::Annotations => Some(Edit::Annotated),
        Change::Vanished | Change::Frozen => Some(Edit::Removed),
        Change::Dependency => Some(Edit::Reached),
        Change::Problems => is_broken().then_some(Edit::Broken),
    }
}

async fn object(
    engine: &Engine,
    proposed: &Proposed<'_>,
    key: &Key,
    edit: Edit,
) -> Result<Option<ObjectReview>, StoreError> {
    let record = engine.store.get(key).await?;
    let entry = |snapshot: &Snapshot| Some(aligned(snapshot.get(key)?, record.as_ref()));
    let old = entry(proposed.base).filter(|entry| entry.removed.is_none());
    let new = entry(proposed.merged).filter(|_| edit != Edit::Removed);
    let Some(shown) = new.as_ref().or(old.as_ref()) else { return Ok(None) };
    let mut review = ObjectReview {
        key: key.clone(),
        edit,
        environment: shown.object.environment().to_owned(),
        path: Arc::clone(&shown.object.path),
        holds: shown.object.holds(),
        obstacle: None,
        effects: Vec::new(),
    };
    let seen = match (&proposed.look, edit) {
        (_, Edit::Broken) => Ok(None),
        (Look::Withheld(why), _) => {
            review.effects = without_look(engine, proposed, (old.as_ref(), new.as_ref()), why);
            Ok(None)
        }
        _ => {
            let known = record.as_ref().map(|record| record.status.drift.clone());
            let seen = compare(engine, proposed, (old, new), record).await;
            seen.map(|(plan, effects)| Some((plan, traced(effects, &known.unwrap_or_default()))))
        }
    };
    match seen {
        Ok(Some((plan, effects))) => {
            review.holds = plan.holds;
            review.effects = hold_frozen(proposed, key, effects);
        }
        Ok(None) => {}
        Err(why) => review.obstacle = Some(why),
    }
    Ok(Some(review))
}

/// Adds who is known to have made drift.
fn traced(mut effects: Vec<Effect>, known: &[DriftStatus]) -> Vec<Effect> {
    for effect in &mut effects {
        for field in &mut effect.fields {
            let is_it =
                |row: &&DriftStatus| row.resource == effect.resource && row.field == field.field;
            let row = known.iter().find(is_it);
            field.changed_by = row.and_then(|row| row.changed_by.clone());
        }
    }
    effects
}

/// Gives an entry that was read apart from the agent the generation that the agent would give it.
fn aligned(entry: &Entry, record: Option<&Record>) -> Entry {
    let generation = match record {
        Some(record) if record.digest == *entry.object.digest => record.generation,
        Some(record) => Generation(record.generation.0 + 1),
        None => entry.generation,
    };
    Entry { generation, ..entry.clone() }
}

/// Plans an object before and after the merge.
///
/// # Errors
///
/// A sentence that says why the result cannot be planned.
async fn compare(
    engine: &Engine,
    proposed: &Proposed<'_>,
    (old, new): (Option<Entry>, Option<Entry>),
    record: Option<Record>,
) -> Result<(Plan, Vec<Effect>), String> {
    let before = match &old {
        Some(entry) => preview_in(engine, proposed.base, entry, record.clone()).await.ok(),
        None => None,
    };
    let since = engine.clock.now();
    let owning = old.as_ref().map(|entry| owning(entry, before.as_ref(), record.clone()));
    let after = match (&new, &old, owning.or(record)) {
        (Some(entry), _, record) => {
            let record = record.map(|record| leaving(engine, proposed, entry, record, since));
            preview_in(engine, proposed.merged, entry, record).await?
        }
        (None, Some(entry), Some(mut record)) => {
            record.memory.removed.get_or_insert(since);
            let plan = preview_removal_in(engine, proposed.merged, Some(entry), &record).await;
            let plan = plan.map_err(|error| error.to_string())?;
            Preview { plan, resources: Vec::new(), windows: Windows::new() }
        }
        (None, ..) => return Err("nothing is known of it".to_owned()),
    };
    let side = |preview: &Preview| (preview.plan.clone(), preview.resources.clone());
    let before = before.as_ref().map(side);
    let before = before.as_ref().map(|(plan, resources)| Side { plan, resources });
    let plan = timeless(after.plan, since);
    let told = effects(before, Side { plan: &plan, resources: &after.resources }, &after.windows);
    Ok((plan, told))
}

/// Adds to what is remembered of an object that it owns what its base declares: what of that the
/// merge does not declare is foreseen to be let go of.
fn owning(entry: &Entry, before: Option<&Preview>, record: Option<Record>) -> Record {
    let key = &entry.object.key;
    let mut record = record.unwrap_or_else(|| Record {
        key: key.clone(),
        generation: entry.generation,
        digest: entry.object.digest.to_string(),
        deletion: entry.object.policy().deletion,
        status: Default::default(),
        memory: Default::default(),
    });
    let resources = before.map_or(&[][..], |preview| &preview.resources);
    let is_own = |resource: &&Resource| resource.owner.ends_with(&format!("/{key}"));
    for resource in resources.iter().filter(is_own).filter(|it| is_written(it)) {
        if record.memory.owned.iter().all(|owned| owned.id != resource.id) {
            record.memory.owned.push(Owned {
                id: resource.id.clone(),
                section: resource.section.to_string(),
                owner: resource.owner.clone(),
                policy: entry.object.policy().deletion,
                left: None,
                handle: Default::default(),
                needs: resource.references().into_iter().cloned().collect(),
            });
        }
    }
    record
}

/// Tells whether a resource is made and changed, and not only read.
fn is_written(resource: &Resource) -> bool {
    kinds::find(&resource.id.kind).is_some_and(|kind| !kind.only_reads(resource))
}

/// Notes since when what the merge no longer declares is let go of.
fn leaving(
    engine: &Engine,
    proposed: &Proposed<'_>,
    entry: &Entry,
    mut record: Record,
    since: Timestamp,
) -> Record {
    let declared = declared(engine, proposed.merged, entry);
    for owned in &mut record.memory.owned {
        if declared.iter().all(|resource| resource.id != owned.id) {
            owned.left.get_or_insert(since);
        }
    }
    record
}

/// Returns what an object declares; nothing where it has no place.
fn declared(engine: &Engine, snapshot: &Snapshot, entry: &Entry) -> Vec<Resource> {
    let place = engine.place(&entry.object);
    place
        .map(|it| super::neighbours::resources(engine, snapshot, &entry.object, &it))
        .unwrap_or_default()
}

/// Returns what the merge declares otherwise, without a look at the cloud.
fn without_look(
    engine: &Engine,
    proposed: &Proposed<'_>,
    (old, new): (Option<&Entry>, Option<&Entry>),
    why: &str,
) -> Vec<Effect> {
    let resources = |snapshot, entry: Option<&Entry>| {
        entry.map(|entry| declared(engine, snapshot, entry)).unwrap_or_default()
    };
    let (old, new) = (resources(proposed.base, old), resources(proposed.merged, new));
    unseen(&old, &new, why)
}

/// Takes the time of the plan out of the names that a removal would give.
fn timeless(mut plan: Plan, since: Timestamp) -> Plan {
    let time = since.strftime("%Y%m%d-%H%M%S").to_string();
    for notice in plan.steps.iter_mut().flat_map(|step| &mut step.notices) {
        notice.message = notice.message.replace(&time, SOMETIME);
    }
    plan
}

/// What a guard holds is let go of only when a person confirms it.
fn hold_frozen(proposed: &Proposed<'_>, key: &Key, mut effects: Vec<Effect>) -> Vec<Effect> {
    let frozen = proposed.merged.frozen.as_ref();
    if frozen.is_some_and(|frozen| frozen.keys.contains(key)) {
        let leaves = |effect: &&mut Effect| {
            matches!(effect.action, Action::Delete | Action::Retain) && effect.when != When::Refused
        };
        effects.iter_mut().filter(leaves).for_each(|effect| effect.when = When::Confirmed);
    }
    effects
}

#[cfg(test)]
mod tests;
