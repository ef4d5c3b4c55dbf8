//! Which differences are mended now, and why the others are not.

use jiff::{SignedDuration, Timestamp};

use super::{Present, Request, Subject, effect, storage, turns};
use crate::model::policy::DriftPolicy;
use crate::model::status::ResourceMemory;
use crate::model::{Apply, Delta, Kind, Origin, Refusal, Timing, Wait, Window};

/// So many reverts of one field within [`CONTEST_PERIOD`] make it contested.
pub(super) const CONTEST_REVERTS: usize = 3;

/// The period over which reverts are counted; long enough that slowed reverts keep the contest up.
const CONTEST_PERIOD: SignedDuration = SignedDuration::from_hours(3);

/// A contested field is reverted once in this time.
const CONTESTED_INTERVAL: SignedDuration = SignedDuration::from_hours(1);

/// A contested field that is a danger is reverted once in this time.
const CONTESTED_DANGER_INTERVAL: SignedDuration = SignedDuration::from_mins(5);

/// Says that a difference is not mended now.
pub(super) struct Held {
    pub(super) wait: Wait,
    pub(super) end: End,
}

/// Says when a difference that is held is mended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// At this time.
    At(Timestamp),
    /// When a person or AWS does something; nobody knows when.
    Open,
    /// Never: it is reported and left.
    Never,
    /// Once in a while only, because it has no effect.
    Stalled(Refusal),
}

/// Parts the differences into those that are mended now and those that are not.
pub(super) fn part(
    request: &Request<'_>,
    subject: &Subject<'_>,
    present: &Present,
    deltas: &[Delta],
) -> (Vec<Delta>, Vec<Held>) {
    let window = Ahead::of(request, subject.kind, present);
    let takes_turns = turns::is_taken(request, &subject.resource.id);
    let memory = super::remembered(request, subject);
    let mut due = Vec::new();
    let mut held = Vec::new();
    for delta in deltas {
        let hold = effect::hold(memory, delta, request.now)
            .or_else(|| drift_hold(request, memory, delta))
            .or_else(|| window_hold(window, delta, takes_turns))
            .or_else(|| storage::hold(request, memory, delta))
            .or_else(|| fleet_hold(request, subject, delta));
        match hold {
            Some(hold) => held.push(hold),
            None if takes_turns && turns::is_kept_from_queue(delta) => {
                due.push(Delta { timing: Timing::Immediate, ..delta.clone() });
            }
            None => due.push(delta.clone()),
        }
    }
    let due = without_companions(subject.kind, due, &mut held);
    (due, held)
}

/// Holds what changes together with what is held: AWS takes the two in one call only.
fn without_companions(kind: &dyn Kind, due: Vec<Delta>, held: &mut Vec<Held>) -> Vec<Delta> {
    let with = |field: &str| kind.rules().iter().find(|rule| rule.field == field)?.with;
    let (mut going, mut staying) = (Vec::with_capacity(due.len()), Vec::new());
    for delta in due {
        let is_partner = |other: &&Held| {
            let field = other.wait.field.as_str();
            with(&delta.field) == Some(field) || with(field) == Some(&*delta.field)
        };
        let Some(partner) = held.iter().find(is_partner) else {
            going.push(delta);
            continue;
        };
        let reason = format!("it changes together with {}", partner.wait.field);
        let wait = Wait { field: delta.field.clone(), reason, code: partner.wait.code.clone() };
        staying.push(Held { wait, end: partner.end.clone() });
    }
    held.extend(staying);
    going
}

/// Drift is mended when the policy says so, nobody snoozed it and nobody fights over the field;
/// what Git changed always is.
fn drift_hold(
    request: &Request<'_>,
    memory: Option<&ResourceMemory>,
    delta: &Delta,
) -> Option<Held> {
    if delta.origin == Origin::Git {
        return None;
    }
    if request.policy.drift == DriftPolicy::Report {
        return Some(held(
            delta,
            Wait::REPORTED,
            "the policy reports drift and leaves it",
            End::Never,
        ));
    }
    if let Some((until, why)) = request.snooze() {
        return Some(held(delta, "Snoozed", &why, End::At(until)));
    }
    let until = contested_until(memory?, delta)?;
    let reason = "the field was reverted again and again; somebody else sets it too";
    (until > request.now).then(|| held(delta, "Contested", reason, End::At(until)))
}

/// Returns when a contested field may be reverted again.
fn contested_until(memory: &ResourceMemory, delta: &Delta) -> Option<Timestamp> {
    let last = memory.reverted.get(&delta.field)?.last()?;
    let interval = if delta.security { CONTESTED_DANGER_INTERVAL } else { CONTESTED_INTERVAL };
    is_contested(memory, &delta.field).then(|| last.checked_add(interval).unwrap_or(Timestamp::MAX))
}

/// Tells whether somebody else sets a field as often as it is reverted.
pub(super) fn is_contested(memory: &ResourceMemory, field: &str) -> bool {
    let reverts = memory.reverted.get(field).map_or(&[][..], Vec::as_slice);
    let (Some(first), Some(last)) = (reverts.first(), reverts.last()) else { return false };
    reverts.len() >= CONTEST_REVERTS && last.duration_since(*first) <= CONTEST_PERIOD
}

/// Drift that the guard of the fleet froze is mended when a person confirms it.
fn fleet_hold(request: &Request<'_>, subject: &Subject<'_>, delta: &Delta) -> Option<Held> {
    let frozen = request.frozen.filter(|frozen| frozen.holds(&subject.resource.id, delta))?;
    Some(held(delta, Wait::FROZEN, &frozen.why, End::Open))
}

/// A change that AWS would carry out at once is sent when the window is open, if it disrupts; and so
/// is one that AWS would queue, where restarts take turns.
///
/// Where nobody says when that is, it is not sent: a restart at a bad time cannot be taken back.
fn window_hold(window: Ahead, delta: &Delta, takes_turns: bool) -> Option<Held> {
    let is_ours_to_time =
        delta.apply == Apply::AtOnce || (takes_turns && turns::is_kept_from_queue(delta));
    let belongs_in_window = delta.timing == Timing::Window
        && is_ours_to_time
        && delta.disruption.needs_window()
        && !delta.security;
    match window {
        _ if !belongs_in_window => None,
        Ahead::Open => None,
        Ahead::At(at) => {
            let reason = "the maintenance window, because the change restarts the database";
            Some(held(delta, "Window", reason, End::At(at)))
        }
        Ahead::Unknown => {
            let reason = "the change restarts the database, and no maintenance window is known; \
                          declare one, or reconcilePolicy.disruption: immediate";
            Some(held(delta, Wait::WINDOW_UNKNOWN, reason, End::Open))
        }
    }
}

/// Says how far the maintenance window of a resource is ahead.
#[derive(Debug, Clone, Copy)]
enum Ahead {
    Open,
    At(Timestamp),
    /// AWS answers none, or one that cannot be read, and none is declared.
    Unknown,
}

impl Ahead {
    fn of(request: &Request<'_>, kind: &dyn Kind, present: &Present) -> Self {
        let text = kind.window(&present.bound, &present.actual);
        match text.and_then(Window::weekly) {
            None => Self::Unknown,
            Some(window) if window.is_open(request.now) => Self::Open,
            Some(window) => Self::At(window.next_start(request.now)),
        }
    }
}

pub(super) fn held(delta: &Delta, code: &str, reason: &str, end: End) -> Held {
    let wait =
        Wait { field: delta.field.clone(), code: code.to_owned(), reason: reason.to_owned() };
    Held { wait, end }
}
