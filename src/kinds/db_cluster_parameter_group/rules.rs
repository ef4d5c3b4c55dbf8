//! What is known about every field of a DB cluster parameter group.
//!
//! Source: the API reference of `DBClusterParameterGroup` and `ModifyDBClusterParameterGroup`.

use crate::model::{Compare, Rule};

/// The rules, in the order in which reports show them.
pub(super) const RULES: &[Rule] = &[
    Rule::new("family", "DBParameterGroupFamily", "DBParameterGroupFamily")
        .compare(Compare::FoldCase)
        .immutable("ParameterGroupFamilyImmutable")
        .always(),
    Rule::new("parameters", "Parameters", "Parameters")
        .compare(Compare::Parameters)
        .with("family"),
    Rule::new("tags", "TagList", "Tags").compare(Compare::Tags),
];
