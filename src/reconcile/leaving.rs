//! Looks at what an object owns and Git declares no longer, right before it is decided on.
//!
//! In: what is remembered of the object, and what it declares. Out: [`Parting`]s in the order of
//! dependencies, each with a read that is made anew. It changes nothing in AWS.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::engine::{Engine, Environment};
use super::sight::Sighting;
use super::usage;
use crate::desired::Snapshot;
use crate::kinds;
use crate::model::handle::{Handle, Ticket};
use crate::model::outcome::{Attempt, StepOutcome};
use crate::model::policy::DeletionPolicy;
use crate::model::singly::member;
use crate::model::status::{Memory, Owned};
use crate::model::{
    Action, Doubt, Key, Kind, Notice, ObjectKind, Observation, ResourceId, Severity, Step, Wait,
};
use crate::observe::singly::Wanted;
use crate::plan::handle::{Receipts, is_under_way};
use crate::plan::removal::{Claim, Departure, Leaving, Part, STILL_USED, steps};
use crate::status::StoreError;

/// Says what an object declares now, and what is remembered of it.
pub(super) struct Basis<'a> {
    /// The object.
    pub(super) key: &'a Key,
    /// What Git declares.
    pub(super) snapshot: &'a Snapshot,
    /// What is remembered.
    pub(super) memory: &'a Memory,
    /// What the object declares; nothing when its manifest is gone.
    pub(super) declared: BTreeSet<ResourceId>,
    /// That, as it was seen.
    pub(super) living: &'a [Sighting],
    /// What of that has several names is in AWS.
    pub(super) identities: BTreeSet<String>,
    /// What its newest generation says, or said, about deletion.
    pub(super) policy: DeletionPolicy,
    /// True when nothing is to be done: see [`Departure::suspended`].
    pub(super) suspended: bool,
    /// What it declares that is there and has parts, with the names of these in the order of their
    /// turns.
    pub(super) wholes: Vec<(ResourceId, Vec<String>)>,
    /// The removal of the manifest, if it is gone.
    pub(super) gone: Option<Gone>,
    /// When it may last have been declared again with no pass on record that saw it: what left
    /// before, left then.
    pub(super) renewed: Option<Timestamp>,
    /// The time of this pass.
    pub(super) now: Timestamp,
}

/// Says that a manifest is gone.
#[derive(Debug, Clone)]
pub(super) struct Gone {
    /// When that was seen first.
    pub(super) since: Timestamp,
    /// True when a person confirmed it.
    pub(super) confirmed: bool,
    /// Why it is not known what Git said last, if it is not.
    pub(super) unread: Option<String>,
}

/// Holds one resource that is no longer declared, as it was seen.
pub(super) struct Parting {
    kind: &'static dyn Kind,
    owned: Owned,
    since: Timestamp,
    is_recorded: bool,
    seen: Observation,
    created: Option<Timestamp>,
    claim: Option<Claim>,
    part: Option<Part>,
    user: Option<ResourceId>,
    used: Result<Option<ResourceId>, Doubt>,
}

/// Looks at everything that the object owns, or may have made, and does not declare.
pub(super) async fn look(engine: &Engine, basis: &Basis<'_>) -> Result<Vec<Parting>, StoreError> {
    let intents = engine.store.intents(basis.key).await?.into_iter();
    let created: BTreeMap<ResourceId, (Timestamp, DeletionPolicy)> =
        intents.map(|it| (it.resource, (it.at, it.deletion))).collect();
    let leaving = leaving(engine, basis, &created);
    let mut partings = Vec::with_capacity(leaving.len());
    for (kind, owned) in leaving {
        let removed = basis.gone.as_ref().map(|gone| gone.since);
        let was_removed = removed.is_some() && basis.memory.removed.is_some();
        let is_recorded = owned.left.is_some() || was_removed;
        let since = owned.left.or(removed).unwrap_or(basis.now);
        let since = basis.renewed.map_or(since, |renewed| since.max(renewed));
        let left = (removed.is_none() || owned.left.is_some()).then_some(since);
        let seen = observe(engine, kind, &owned).await;
        if is_still_declared(basis, kind, &seen) {
            continue;
        }
        let user = own_user(basis, &owned.id, &seen);
        let is_due = is_recorded && user.is_none() && is_due(engine, basis, &owned, since);
        let used = if is_due { used(engine, kind, &owned.id, &seen).await } else { Ok(None) };
        partings.push(Parting {
            kind,
            since,
            is_recorded,
            user,
            used,
            created: created.get(&owned.id).map(|(at, _)| *at),
            claim: engine.claims.on(engine, basis.snapshot, basis.key, &owned),
            part: part(basis, kind, &owned.id, &seen),
            seen,
            owned: Owned { left, ..owned },
        });
    }
    Ok(partings)
}

/// Tells whether Git declares it under another name, such as a zone's id in the place of its name.
fn is_still_declared(basis: &Basis<'_>, kind: &dyn Kind, seen: &Observation) -> bool {
    let Observation::Present(actual) = seen else { return false };
    kind.identity(actual).is_some_and(|identity| basis.identities.contains(&identity))
}

/// Returns what the object still declares and is seen to use a resource.
fn own_user(basis: &Basis<'_>, id: &ResourceId, seen: &Observation) -> Option<ResourceId> {
    let Observation::Present(actual) = seen else { return None };
    let user = basis.living.iter().find(|sighting| sighting.uses(id, actual));
    user.map(|sighting| sighting.id().clone())
}

/// Tells whether a resource is deleted now, unless something speaks against it.
fn is_due(engine: &Engine, basis: &Basis<'_>, owned: &Owned, since: Timestamp) -> bool {
    let until = since.checked_add(engine.deletion_grace).unwrap_or(Timestamp::MAX);
    let is_retained = basis.policy.min(owned.policy) == DeletionPolicy::Retain;
    until <= basis.now && !is_retained && !basis.suspended
}

/// Returns what is seen to use a resource, whoever declares that.
async fn used(
    engine: &Engine,
    kind: &dyn Kind,
    id: &ResourceId,
    seen: &Observation,
) -> Result<Option<ResourceId>, Doubt> {
    let Observation::Present(actual) = seen else { return Ok(None) };
    usage::user(engine, kind, id, actual).await
}

/// Says why the going of a resource is felt in one that is still declared.
fn part(basis: &Basis<'_>, kind: &dyn Kind, id: &ResourceId, seen: &Observation) -> Option<Part> {
    let Observation::Present(actual) = seen else { return None };
    let whole = kind.part_of(actual)?;
    let of = |of: &&ResourceId| *of.name == *whole && **of != *id && of.scope == id.scope;
    let seen = basis.wholes.iter().filter(|(it, _)| of(&it));
    let parts = seen.map(|(of, parts)| (of, parts)).next();
    let Some((of, parts)) = parts else {
        return basis.declared.iter().find(of).cloned().map(Part::Unseen);
    };
    let is_last = parts.last().is_some_and(|last| **last == *id.name);
    match parts.as_slice() {
        [only] if **only == *id.name => Some(Part::Only(of.clone())),
        _ => is_last.then(|| Part::Last(of.clone())),
    }
}

/// Looks at a resource, unless it is in an account that the configuration does not hold (any more).
async fn observe(engine: &Engine, kind: &'static dyn Kind, owned: &Owned) -> Observation {
    let id = &owned.id;
    let is_here = |environment: &Environment| kind.home(&environment.scope) == id.scope;
    if !engine.environments.values().any(is_here) {
        let why = format!("no environment of the agent's configuration is in {}", id.scope);
        return Observation::Unknown(Doubt::Failed(why));
    }
    let Some(single) = kind.singly() else {
        return engine.observer.observe_anew(kind, id).await;
    };
    let (handle, owner) = (&owned.handle, owned.owner.as_str());
    let wanted = Wanted { id, declared: None, handle, owner };
    engine.observer.observe_singly(single, &wanted).await
}

/// Lists what is remembered and not declared, and what a create was sent for that nobody saw.
fn leaving(
    engine: &Engine,
    basis: &Basis<'_>,
    intents: &BTreeMap<ResourceId, (Timestamp, DeletionPolicy)>,
) -> Vec<(&'static dyn Kind, Owned)> {
    let known = &basis.memory.owned;
    let is_new = |id: &ResourceId| known.iter().all(|owned| owned.id != *id);
    let unseen = intents.iter().filter(|(id, _)| is_new(id)).map(|(id, (_, policy))| Owned {
        id: id.clone(),
        section: String::new(),
        owner: format!("{}/{}", engine.agent, basis.key),
        // A newer word is about what a pass has seen since.
        policy: *policy,
        left: None,
        handle: Handle::default(),
        needs: BTreeSet::new(),
    });
    let all = known.iter().cloned().chain(unseen);
    let undeclared = all.filter(|owned| !basis.declared.contains(&owned.id));
    let mut found: Vec<(&dyn Kind, Owned)> =
        undeclared.filter_map(|owned| Some((kinds::find(&owned.id.kind)?, owned))).collect();
    let order = |kind: &dyn Kind| kinds::all().iter().position(|it| it.name() == kind.name());
    found.sort_by_key(|(kind, _)| order(*kind));
    in_order_of_need(found)
}

/// Puts each after what it needed: a reference may go against the order of the kinds.
fn in_order_of_need(mut left: Vec<(&'static dyn Kind, Owned)>) -> Vec<(&'static dyn Kind, Owned)> {
    let mut ordered = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let needs = |owned: &Owned, id: &ResourceId| owned.id != *id && owned.needs.contains(id);
        let is_free =
            |(_, owned): &(_, Owned)| !left.iter().any(|(_, other)| needs(owned, &other.id));
        // In a circle any order is as good as another.
        let at = left.iter().position(is_free).unwrap_or(0);
        ordered.push(left.remove(at));
    }
    ordered
}

/// Plans what becomes of the resources.
pub(super) fn plan(engine: &Engine, basis: &Basis<'_>, partings: &[Parting]) -> Vec<Step> {
    steps(&Departure {
        policy: basis.policy,
        suspended: basis.suspended,
        grace: engine.deletion_grace,
        halt: halt(basis),
        now: basis.now,
        leaving: partings.iter().map(Parting::leaving).collect(),
    })
}

impl Parting {
    /// Returns what is kept of it, with the request that was sent just now.
    fn with(self, receipts: &Receipts, now: Timestamp) -> Owned {
        let mut owned = self.owned;
        let is_under_way = match &self.seen {
            Observation::Present(actual) => is_under_way(actual),
            Observation::Absent => false,
            Observation::Unknown(_) => true,
        };
        owned.handle.ticket = match receipts.get(&owned.id) {
            Some(receipt) => {
                let request = receipt.request.clone();
                Some(Ticket { request, at: now, declared: String::new() })
            }
            None => owned.handle.ticket.filter(|_| is_under_way),
        };
        if let Observation::Present(actual) = &self.seen {
            let seen = actual.text(member::IDENTIFIER).map(str::to_owned);
            owned.handle.identifier = seen.or(owned.handle.identifier);
        }
        owned
    }

    fn leaving(&self) -> Leaving<'_> {
        Leaving {
            kind: self.kind,
            owned: &self.owned,
            since: self.since,
            is_recorded: self.is_recorded,
            seen: &self.seen,
            created: self.created,
            claim: self.claim.as_ref(),
            part: self.part.as_ref(),
            user: self.user.as_ref(),
            used: self.used.as_ref().map(Option::as_ref),
        }
    }
}

/// Says why nothing is deleted now, whatever the grace period says: what Git says is not clear.
fn halt(basis: &Basis<'_>) -> Option<Wait> {
    let wait = |code: &str, reason: &str| {
        Some(Wait { field: String::new(), code: code.to_owned(), reason: reason.to_owned() })
    };
    let is_broken = basis
        .snapshot
        .problems_of(basis.key)
        .iter()
        .any(|problem| problem.severity == Severity::Error && basis.gone.is_none());
    let is_confirmed = basis.gone.as_ref().is_some_and(|gone| gone.confirmed);
    let unread = basis.gone.as_ref().and_then(|gone| gone.unread.as_deref());
    if is_broken {
        wait("ManifestInvalid", "the newest manifest is invalid and may declare it again")
    } else if basis.snapshot.unsure {
        wait("RepositoryUnclear", "a file that cannot be read may declare it again")
    } else if basis.snapshot.frozen.is_some() && !is_confirmed {
        wait(
            Wait::FROZEN,
            "objects or sections vanished from Git together, and a person has not confirmed it",
        )
    } else if let Some(code) = unread {
        let what =
            "what Git said last of it is not known: the history of the branch cannot be read";
        wait("HistoryUnread", &format!("{what} ({code})"))
    } else {
        let user = unread_user(basis)?;
        wait("InUse", &format!("{user} may use it, and no manifest of it was read since the start"))
    }
}

/// Returns a workspace that may use what a network leaves: only the store knows it, and not what it
/// uses.
fn unread_user<'a>(basis: &'a Basis<'_>) -> Option<&'a Key> {
    let is_workspace = |key: &&Key| key.kind == ObjectKind::Workspace;
    let mut unread = basis.snapshot.orphans.keys().filter(is_workspace);
    (basis.key.kind == ObjectKind::Network).then(|| unread.next())?
}

/// Returns what is still to be let go of, and resolves the creates of what is not.
///
/// What stays in AWS is remembered until everything is done: it keeps what it uses; and what is to
/// be deleted once the object itself does not use it any more, until then.
pub(super) async fn remaining(
    engine: &Engine,
    key: &Key,
    partings: Vec<Parting>,
    (attempts, receipts): (&[Attempt], &Receipts),
) -> Result<Vec<Owned>, StoreError> {
    let attempt = |id: &ResourceId| attempts.iter().find(|attempt| attempt.step.resource == *id);
    let is_done = |parting: &Parting| attempt(&parting.owned.id).is_some_and(is_let_go);
    let all_done = partings.iter().all(is_done);
    let stays = |parting: &Parting| {
        attempt(&parting.owned.id).is_some_and(|it| it.step.action == Action::Retain)
    };
    let is_used = |parting: &Parting| {
        let is_it = |notice: &Notice| notice.code == STILL_USED;
        parting.user.is_some()
            && attempt(&parting.owned.id).is_some_and(|it| it.step.notices.iter().any(is_it))
    };
    let mut remaining = Vec::new();
    for parting in partings {
        if !is_done(&parting) || is_used(&parting) || (!all_done && stays(&parting)) {
            remaining.push(parting.with(receipts, engine.clock.now()));
        } else if parting.created.is_some() {
            engine.store.resolve(key, &parting.owned.id, engine.token()?).await?;
        }
    }
    Ok(remaining)
}

fn is_let_go(attempt: &Attempt) -> bool {
    attempt.step.is_settled() && attempt.outcome == StepOutcome::Unneeded
}
