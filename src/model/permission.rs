//! What an identity has to be allowed so that a kind's code can work.

/// States what one operation of a kind needs.
#[derive(Debug, Clone, Copy)]
pub struct Permission {
    /// The operation, for example `CreateDBInstance`.
    pub operation: &'static str,
    /// What its caller has to be allowed.
    pub grants: &'static [Grant],
}

/// States actions that are allowed on some resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Grant {
    /// The actions, for example `rds:CreateDBInstance`.
    pub actions: &'static [&'static str],
    /// Patterns of ARNs; `*` where AWS takes no narrower one.
    pub resources: &'static [&'static str],
    /// A condition that has to hold: operator, key, values.
    pub condition: Option<(&'static str, &'static str, &'static [&'static str])>,
}

impl Grant {
    /// States actions on resources, without a condition.
    pub const fn of(actions: &'static [&'static str], resources: &'static [&'static str]) -> Self {
        Self { actions, resources, condition: None }
    }

    /// Adds the condition.
    #[must_use]
    pub const fn when(
        mut self,
        operator: &'static str,
        key: &'static str,
        values: &'static [&'static str],
    ) -> Self {
        self.condition = Some((operator, key, values));
        self
    }
}
