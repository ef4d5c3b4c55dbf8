//! Engine versions: behind is drift, ahead within the major version is not, a major upgrade needs
//! consent, and there is no way back.

use std::cmp::Ordering;

use serde_json::Value;

use super::judge::{Judgement, Sides};
use super::value;
use crate::model::version::{against, same_major};

/// Judges a version. AWS upgrades by itself (`AutoMinorVersionUpgrade`) and refuses to go back, so
/// only a version that is behind can be mended.
pub(super) fn judge(
    want: &Value,
    have: Option<&Value>,
    engine: &str,
    allow_major: &str,
    sides: &Sides<'_>,
) -> Judgement {
    let (Some(declared), Some(actual)) = (want.as_str(), have.and_then(Value::as_str)) else {
        return Judgement::of(value::same(want, have), want);
    };
    let engine = sides.desired.value(engine).and_then(Value::as_str).unwrap_or_default();
    let consent = || sides.desired.declared(allow_major).is_some_and(|flag| !value::is_empty(flag));
    match against(declared, actual) {
        Ordering::Equal => Judgement::Same,
        Ordering::Greater if same_major(engine, declared, actual) => Judgement::Ahead(format!(
            "AWS runs {actual}, ahead of the declared {declared}, and cannot go back"
        )),
        Ordering::Greater => Judgement::Refused {
            code: "DowngradeImpossible",
            message: format!("AWS runs {actual} and cannot go back to {declared}"),
            help: "declare the version that runs, or restore a backup to a new database".to_owned(),
        },
        Ordering::Less if same_major(engine, declared, actual) || consent() => Judgement::Differs {
            from: None,
            to: want.clone(),
            why: format!("{actual} is behind {declared}"),
        },
        Ordering::Less => Judgement::Refused {
            code: "MajorUpgradeNotAllowed",
            message: format!("from {actual} to {declared} is a major upgrade"),
            help: format!("test it on a copy, then set {allow_major}: true"),
        },
    }
}
