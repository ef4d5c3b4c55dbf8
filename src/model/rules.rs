//! The field rules of a kind, as data.
//!
//! A kind states facts in a table of [`Rule`]s; the one generic differ ([`crate::diff`]) reads it.
//! A new way to compare is a new [`Compare`], implemented there once, never code in a kind.

use serde::{Deserialize, Serialize};

/// States everything that is known about one field of a kind.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// The field's path in the manifest section, for example `storage.sizeGiB`.
    pub field: &'static str,
    /// The dotted path of the member in the describe answer, for example `AllocatedStorage`.
    pub member: &'static str,
    /// The parameter of the create and modify calls that sets it, for example `AllocatedStorage`.
    pub parameter: &'static str,
    /// The member of `PendingModifiedValues` that holds a queued value, if there is one.
    pub pending: Option<&'static str>,
    /// How the declared and the actual value are compared.
    pub compare: Compare,
    /// Whether and how a difference can be mended.
    pub change: Change,
    /// What mending it disrupts.
    pub disruption: Disruption,
    /// States of the resource in which this field cannot be changed, with the reason.
    pub holds: &'static [Hold],
    /// True when a difference is a danger that is reverted at once (public access, protection off).
    pub security: bool,
}

/// Names a state in which a field waits.
#[derive(Debug, Clone, Copy)]
pub struct Hold {
    /// The value of the kind's status member, for example `storage-optimization`.
    pub status: &'static str,
    /// The reason, for people.
    pub reason: &'static str,
}

/// Says how a declared and an actual value are compared.
///
/// In every one of them a missing member equals the empty value of its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    /// The same JSON value; numbers and their text are the same.
    Exact,
    /// The same text, letter case aside.
    FoldCase,
    /// A dotted version by components: what is declared is a prefix; behind is drift, ahead is not
    /// (AWS upgrades by itself and cannot go back).
    Version,
    /// A lower bound when the named field is declared (autoscaling grows the disk); otherwise
    /// equal up to AWS's rounding, and lower is refused because storage cannot shrink.
    Storage {
        /// The field that declares the upper bound.
        ceiling: &'static str,
    },
    /// A weekly or daily UTC window; letter case aside.
    Window,
    /// An unordered list of texts.
    Set,
    /// The named member of a list of structures, as an unordered list of texts.
    SetOf(&'static str),
    /// Tags: declared keys are enforced, AWS's own (`aws:`) and Levelset's are left alone.
    Tags,
    /// Declared `true` means the member exists.
    Presence,
    /// An ARN or the id or alias that it ends with.
    ArnTail,
    /// Parameters of a parameter group, by name.
    Parameters,
    /// Not readable: never compared.
    WriteOnly,
}

/// Says how a difference can be mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The modify call takes it.
    InPlace,
    /// Only a new resource could have it; a difference is refused with this code.
    Immutable(&'static str),
    /// It takes effect at creation only; a difference is a notice.
    CreateOnly,
}

/// Says what a change disrupts, from nothing to everything.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Disruption {
    /// Nothing.
    #[default]
    None,
    /// Seconds of slower answers or dropped connections.
    Brief,
    /// The instance restarts.
    Reboot,
    /// The standby takes over.
    Failover,
    /// No further storage change for six hours or more.
    StorageLock,
    /// The resource would have to be made anew; never done without a person.
    Replace,
}

impl Disruption {
    /// Tells whether the change has to wait for the maintenance window.
    pub fn needs_window(self) -> bool {
        matches!(self, Self::Reboot | Self::Failover | Self::Replace)
    }
}
