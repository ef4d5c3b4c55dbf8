//! How the two kinds of parameter groups differ: those of instances and those of clusters.

use std::collections::BTreeMap;

use super::State;
use super::parameter_group::ParameterGroup;
use crate::sandbox::services::Site;

/// Says how the calls on one kind of groups are named, and who uses them.
pub(in crate::sandbox) struct Flavour {
    pub(super) name: &'static str,
    pub(super) one: &'static str,
    pub(super) list: &'static str,
    pub(super) arn: &'static str,
    pub(super) arn_type: &'static str,
    pub(super) groups: fn(&mut State) -> &mut BTreeMap<String, ParameterGroup>,
    pub(super) is_used: fn(&State, &str) -> bool,
    /// Shows a change at those who use the group.
    pub(super) spread: fn(&mut Site<'_>, &str, &[&'static str]),
}
