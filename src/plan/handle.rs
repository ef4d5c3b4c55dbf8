//! What is remembered of resources that are found by no name.

use std::collections::BTreeMap;

use crate::model::desired::Bound;
use crate::model::handle::{Handle, Receipt, Ticket, digest};
use crate::model::singly::{Singly, member};
use crate::model::status::{Owned, ResourceMemory};
use crate::model::{Observed, ResourceId};

use super::{Request, State, Subject, remembered};

/// What the answers to the calls of a pass say of requests and resources.
pub type Receipts = BTreeMap<ResourceId, Receipt>;

/// Adds to what is remembered of each resource how it is found.
pub fn note_handles(
    request: &Request<'_>,
    receipts: &Receipts,
    remembered: &mut BTreeMap<String, ResourceMemory>,
) {
    for subject in &request.subjects {
        let Some(kind) = subject.kind.singly() else { continue };
        let id = &subject.resource.id;
        let handle = handle(request, subject, kind, receipts.get(id));
        let name = id.to_string();
        if !handle.is_empty() || remembered.contains_key(&name) {
            remembered.entry(name).or_default().handle = handle;
        }
    }
}

/// Adds the same to what an object owns.
pub fn keep_handles(owned: &mut [Owned], remembered: &BTreeMap<String, ResourceMemory>) {
    for owned in owned {
        if let Some(known) = remembered.get(&owned.id.to_string()) {
            owned.handle = known.handle.clone();
        }
    }
}

fn handle(
    request: &Request<'_>,
    subject: &Subject<'_>,
    kind: &dyn Singly,
    receipt: Option<&Receipt>,
) -> Handle {
    let before = remembered(request, subject).map(|it| it.handle.clone()).unwrap_or_default();
    let kept = match subject.state {
        State::Present(present) => {
            let is_ours = present.bound.is_owned(&present.actual);
            let seen = present.actual.text(member::IDENTIFIER).filter(|_| is_ours);
            Handle {
                identifier: seen.map(str::to_owned).or(before.identifier),
                ticket: before.ticket.filter(|_| is_under_way(&present.actual)),
            }
        }
        State::Absent(_) => Handle::default(),
        State::Unbound(_) | State::Unknown(_) => before,
    };
    let (Some(receipt), Some(bound)) = (receipt, declared(subject, kind)) else { return kept };
    Handle {
        identifier: receipt.identifier.clone().or(kept.identifier),
        ticket: Some(Ticket {
            request: receipt.request.clone(),
            at: request.now,
            declared: digest(&bound.fields),
        }),
    }
}

/// Tells whether a request still says something of the resource.
pub fn is_under_way(actual: &Observed) -> bool {
    actual.member(member::REQUEST).is_some()
}

/// Returns what was declared when a call was made, in the form in which it is looked up again.
fn declared(subject: &Subject<'_>, kind: &dyn Singly) -> Option<Bound> {
    match subject.state {
        State::Absent(bound) => Some(bound.clone()),
        State::Present(present) => {
            let mut bound = present.bound.clone();
            if let Some(facts) = present.actual.member(member::TYPE) {
                kind.prepare(&mut bound, facts);
            }
            Some(bound)
        }
        State::Unbound(_) | State::Unknown(_) => None,
    }
}
