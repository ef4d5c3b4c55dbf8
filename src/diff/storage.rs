//! Storage sizes, which grow by themselves, are rounded up, and never shrink.

use serde_json::Value;

use super::judge::{Judgement, Sides};
use super::value;

/// Tells whether autoscaling is on, in Git or in AWS.
pub(super) fn has_ceiling(field: &str, member: &str, sides: &Sides<'_>) -> bool {
    let set = |value: Option<&Value>| value.is_some_and(|value| !value::is_empty(value));
    set(sides.desired.declared(field)) || set(sides.actual.member(member))
}

/// Judges a size in GiB; with autoscaling it is a lower bound.
pub(super) fn judge(want: &Value, have: Option<&Value>, has_ceiling: bool) -> Judgement {
    let (Some(declared), Some(actual)) = (want.as_u64(), have.and_then(Value::as_u64)) else {
        return Judgement::of(value::same(want, have), want);
    };
    if actual == declared {
        Judgement::Same
    } else if actual < declared {
        Judgement::differs(want)
    } else if has_ceiling {
        Judgement::Ahead(format!(
            "the storage has {actual} GiB, more than the declared {declared}: autoscaling grows it, \
             and nothing shrinks it"
        ))
    } else if actual <= rounded_up(declared) {
        Judgement::Ahead(rounding(declared, actual))
    } else {
        Judgement::Refused {
            code: "StorageShrink",
            message: format!("the storage has {actual} GiB and cannot shrink to {declared} GiB"),
            help: format!(
                "declare {actual}, or move the data to a new database with smaller storage"
            ),
        }
    }
}

/// Judges a number that can go down as well as up. What rounding explains is never sent again: AWS
/// would round it up once more.
pub(super) fn rounded(want: &Value, have: Option<&Value>) -> Judgement {
    match (want.as_u64(), have.and_then(Value::as_u64)) {
        (Some(declared), Some(actual)) if actual > declared && actual <= rounded_up(declared) => {
            Judgement::Ahead(rounding(declared, actual))
        }
        _ => Judgement::of(value::same(want, have), want),
    }
}

fn rounding(declared: u64, actual: u64) -> String {
    format!("AWS rounded {declared} up to {actual}, a growth of ten percent")
}

/// The most that AWS may have made of a declared growth: a growth by less than a tenth counts as a
/// tenth (API reference, `ModifyDBInstance`, `AllocatedStorage` and `Iops`).
fn rounded_up(declared: u64) -> u64 {
    let largest_before = declared.saturating_sub(1);
    largest_before.saturating_mul(11).div_ceil(10)
}

/// Judges the upper bound of autoscaling. A bound at or under the size means off, and AWS then
/// answers none.
pub(super) fn ceiling(want: &Value, have: Option<&Value>, size: Option<&Value>) -> Judgement {
    let (Some(declared), Some(size)) = (want.as_u64(), size.and_then(Value::as_u64)) else {
        return Judgement::of(value::same(want, have), want);
    };
    let actual = have.and_then(Value::as_u64).unwrap_or(0);
    let is_off = |bound: u64| bound <= size;
    if actual == declared || (is_off(actual) && is_off(declared)) {
        Judgement::Same
    } else if is_off(declared) {
        Judgement::differs(&Value::from(size))
    } else {
        Judgement::differs(want)
    }
}
