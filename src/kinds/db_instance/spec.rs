//! The `database` section of a manifest.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Declares a relational database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Database {
    /// The engine, as RDS names it: `postgres`, `mysql`, `mariadb`, ...
    pub engine: String,
    /// The engine's version, quoted: `"15"` follows the minor versions, `"15.4"` is a lower bound.
    pub version: String,
    /// The DB instance class, for example `db.r6g.large`.
    pub size_class: String,
    /// Parameters of the database's own parameter group, by name.
    #[serde(default)]
    pub parameters: Option<BTreeMap<String, String>>,
}
