//! Certificate authorities of RDS, which come in generations.

use serde_json::Value;

use super::judge::Judgement;
use super::value;

/// Judges a certificate authority; back to an older generation is refused, because clients lose
/// trust in it when it expires.
pub(super) fn judge(want: &Value, have: Option<&Value>) -> Judgement {
    if value::same_folded(want, have) {
        return Judgement::Same;
    }
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let (Some(declared), Some(actual)) = (text(Some(want)), text(have)) else {
        return Judgement::differs(want);
    };
    match (generation(&declared), generation(&actual)) {
        (Some(older), Some(newer)) if older < newer => Judgement::Refused {
            code: "CaDowngradeNeedsApproval",
            message: format!("{declared} is of an older generation than {actual}"),
            help: format!("declare {actual} or a newer authority, or leave the field out"),
        },
        _ => Judgement::differs(want),
    }
}

/// Returns the rank of an authority: `rds-ca-2019` by its year, `rds-ca-rsa2048-g1` after all years.
fn generation(name: &str) -> Option<u32> {
    let last = name.rsplit('-').next()?;
    match last.strip_prefix(['g', 'G']) {
        Some(number) => number.parse().ok().map(|number: u32| 10_000 + number),
        None => last.parse().ok().filter(|year| (2000..3000).contains(year)),
    }
}
