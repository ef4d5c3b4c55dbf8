//! What an assumed role may do, where the sandbox is set to hold calls against it.
//!
//! Only actions are looked at, not resources or conditions, and only inline policies. A role that
//! the sandbox does not hold may do everything.

use serde_json::Value;

use super::{Role, document};
use crate::model::Call;
use crate::sandbox::ec2::wildcard;

/// Tells whether a role may make a call.
pub(in crate::sandbox) fn allows(role: &Role, call: &Call) -> bool {
    // The Cloud Control API's actions are named as CloudFormation's.
    let service = match &*call.service {
        "cloudcontrolapi" => "cloudformation",
        service => service,
    };
    let action = format!("{service}:{}", call.operation).to_lowercase();
    let statements: Vec<&Value> = role.inline.values().flat_map(document::statements).collect();
    let speaks = |effect: &str| {
        let of_effect = statements.iter().filter(|statement| statement["Effect"] == effect);
        of_effect.flat_map(|statement| document::many(&statement["Action"])).any(|pattern| {
            let pattern = pattern.as_str().unwrap_or_default().to_lowercase();
            wildcard(pattern.as_bytes(), action.as_bytes())
        })
    };
    speaks("Allow") && !speaks("Deny")
}
