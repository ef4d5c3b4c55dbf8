//! What a failed read, or an answer that lacks something, leaves unknown.

use super::saved;
use crate::model::{CallError, Doubt, ErrorClass};

pub(super) fn doubt(error: CallError) -> Doubt {
    match error.class {
        _ if error.code == saved::NOT_RECORDED => Doubt::NotRecorded(error.message),
        ErrorClass::Throttled => Doubt::Throttled,
        ErrorClass::Denied => Doubt::Denied(error.to_string()),
        _ => Doubt::Failed(error.to_string()),
    }
}

pub(super) fn partial(operation: &str, list: &str) -> Doubt {
    Doubt::Failed(format!("the answer of {operation} holds no {list}"))
}

/// AWS refuses the read of a name that it does not know; an answer without it proves nothing.
pub(super) fn lacking(operation: &str, name: &str) -> Doubt {
    Doubt::Failed(format!("the answer of {operation} holds no {name}"))
}
