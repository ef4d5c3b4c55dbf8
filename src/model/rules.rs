//! The field rules of a kind, as data.
//!
//! A kind states facts in a table of [`Rule`]s; the one generic differ ([`crate::diff`]) reads it.
//! A new way to compare is a new [`Compare`], implemented there once, never code in a kind.

use serde::{Deserialize, Serialize};

use super::Compare;

/// States everything that is known about one field of a kind.
///
/// A table is written with [`Rule::new`] and the methods that add what is special about a field.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// The field's path in the manifest section, for example `storage.sizeGiB`.
    pub field: &'static str,
    /// The dotted path of the member in the describe answer, for example `AllocatedStorage`.
    pub member: &'static str,
    /// The parameter of the modify call that sets it, for example `AllocatedStorage`.
    pub parameter: &'static str,
    /// The member of `PendingModifiedValues` that holds a queued value, if there is one.
    pub pending: Option<&'static str>,
    /// How the declared and the actual value are compared.
    pub compare: Compare,
    /// Whether and how a difference can be mended.
    pub change: Change,
    /// What mending it disrupts.
    pub disruption: Disruption,
    /// When AWS applies a change that it accepted.
    pub apply: Apply,
    /// States of the resource in which this field cannot be changed, with the reason.
    pub holds: &'static [Hold],
    /// True when a difference is a danger that is reverted at once (public access, protection off).
    pub security: bool,
    /// Others that own the field while a member exists.
    pub yields: &'static [Yield],
    /// The member that must be true, or not zero, for the field to have a meaning.
    pub relevant: Option<&'static str>,
    /// True when AWS answers the member of every settled resource: without it nothing is known.
    pub always: bool,
    /// The state of the resource that a change of this field ends; it is then sent at once, even if
    /// the same value is queued already.
    pub cures: Option<&'static str>,
    /// The field with which it changes: a difference here waits while that one waits or is
    /// refused, and disrupts as much.
    pub with: Option<&'static str>,
    /// True when a call after the one that makes the resource sets the field: a creation does not
    /// wait for its value, and whoever uses the resource does not either.
    pub later: bool,
    /// The value that AWS means when it leaves the member out, where that is not the empty one.
    pub unsaid: Option<&'static str>,
    /// A value that AWS takes from a time on only, which it answers.
    pub cool_down: Option<CoolDown>,
}

impl Rule {
    /// States a field that is compared exactly, changes in place and at once, and disrupts nothing.
    pub const fn new(field: &'static str, member: &'static str, parameter: &'static str) -> Self {
        Self {
            field,
            member,
            parameter,
            pending: None,
            compare: Compare::Exact,
            change: Change::InPlace,
            disruption: Disruption::None,
            apply: Apply::AtOnce,
            holds: &[],
            security: false,
            yields: &[],
            relevant: None,
            always: false,
            cures: None,
            with: None,
            later: false,
            unsaid: None,
            cool_down: None,
        }
    }

    /// Names the member of `PendingModifiedValues` that holds a queued value.
    #[must_use]
    pub const fn pending(mut self, member: &'static str) -> Self {
        self.pending = Some(member);
        self
    }

    /// Says how the values are compared.
    #[must_use]
    pub const fn compare(mut self, compare: Compare) -> Self {
        self.compare = compare;
        self
    }

    /// Says that a difference is refused with this code.
    #[must_use]
    pub const fn immutable(mut self, code: &'static str) -> Self {
        self.change = Change::Immutable(code);
        self
    }

    /// Says that the field takes effect at creation only.
    #[must_use]
    pub const fn create_only(mut self) -> Self {
        self.change = Change::CreateOnly;
        self
    }

    /// Says what a change disrupts.
    #[must_use]
    pub const fn disrupts(mut self, disruption: Disruption) -> Self {
        self.disruption = disruption;
        self
    }

    /// Says when AWS applies a change.
    #[must_use]
    pub const fn applies(mut self, apply: Apply) -> Self {
        self.apply = apply;
        self
    }

    /// Names the states in which the field waits.
    #[must_use]
    pub const fn holds(mut self, holds: &'static [Hold]) -> Self {
        self.holds = holds;
        self
    }

    /// Says that a difference is a danger.
    #[must_use]
    pub const fn security(mut self) -> Self {
        self.security = true;
        self
    }

    /// Names others that may own the field.
    #[must_use]
    pub const fn yields(mut self, yields: &'static [Yield]) -> Self {
        self.yields = yields;
        self
    }

    /// Names the member without which the field has no meaning.
    #[must_use]
    pub const fn relevant(mut self, member: &'static str) -> Self {
        self.relevant = Some(member);
        self
    }

    /// Says that AWS answers the member of every settled resource.
    #[must_use]
    pub const fn always(mut self) -> Self {
        self.always = true;
        self
    }

    /// Names the state that a change of this field ends.
    #[must_use]
    pub const fn cures(mut self, status: &'static str) -> Self {
        self.cures = Some(status);
        self
    }

    /// Names the field with which it changes.
    #[must_use]
    pub const fn with(mut self, field: &'static str) -> Self {
        self.with = Some(field);
        self
    }

    /// Says that the field is set after the creation.
    #[must_use]
    pub const fn later(mut self) -> Self {
        self.later = true;
        self
    }
    /// Names the value that a missing member stands for.
    #[must_use]
    pub const fn unsaid(mut self, value: &'static str) -> Self {
        self.unsaid = Some(value);
        self
    }

    /// Names a value that has to wait for the time in a member.
    #[must_use]
    pub const fn cool_down(mut self, value: &'static str, member: &'static str) -> Self {
        self.cool_down = Some(CoolDown { value, member });
        self
    }
}

/// Names a value that AWS takes from a time on only.
#[derive(Debug, Clone, Copy)]
pub struct CoolDown {
    /// The value, for example `aurora-iopt1`.
    pub value: &'static str,
    /// The member that holds the time, in RFC 3339.
    pub member: &'static str,
}

/// Names a state in which a field waits.
#[derive(Debug, Clone, Copy)]
pub struct Hold {
    /// The value of the kind's status member, for example `storage-optimization`.
    pub status: &'static str,
    /// The reason, for people.
    pub reason: &'static str,
}

/// Names somebody else who owns a field while a member of the describe answer exists.
#[derive(Debug, Clone, Copy)]
pub struct Yield {
    /// The member, for example `AwsBackupRecoveryPointArn`.
    pub member: &'static str,
    /// The code of the notice, for example `ManagedByAwsBackup`.
    pub code: &'static str,
    /// Who owns it, for people.
    pub reason: &'static str,
}

/// Says when AWS applies a change that it accepted.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "camelCase")]
pub enum Apply {
    /// At once, whatever the call says: whoever wants it in a window has to send it in the window.
    #[default]
    AtOnce,
    /// In the next maintenance window, or at once with `ApplyImmediately`.
    Queued,
    /// In the next maintenance window; never sent with `ApplyImmediately`.
    Window,
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
