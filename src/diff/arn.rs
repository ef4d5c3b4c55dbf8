//! What has several spellings: a KMS key (key id, key ARN, alias, alias ARN), an instance profile (name,
//! ARN).

use serde_json::Value;

use super::judge::Judgement;
use super::value;

/// Judges a key. An alias and a key id cannot be compared without asking KMS, so that is doubt and
/// never a difference. `unsaid` is the alias of the key that AWS leaves out of its answers: any other
/// one is not it.
pub(super) fn judge(want: &Value, have: Option<&Value>, unsaid: Option<&str>) -> Judgement {
    let (Some(declared), Some(actual)) = (want.as_str(), have.and_then(Value::as_str)) else {
        return Judgement::of(value::same(want, have), want);
    };
    let same = if is_arn(declared) == is_arn(actual) {
        declared == actual
    } else {
        name(declared) == name(actual)
    };
    if same {
        return Judgement::Same;
    }
    let is_unsaid = |key: &str| unsaid.is_some_and(|unsaid| name(key) == name(unsaid));
    if is_unsaid(declared) != is_unsaid(actual) {
        return Judgement::differs(want);
    }
    if is_alias(declared) != is_alias(actual) {
        let reason = format!("{declared} cannot be compared with {actual}; declare the key's ARN");
        return Judgement::Unclear { code: "CannotCompare", reason };
    }
    Judgement::differs(want)
}

fn is_arn(text: &str) -> bool {
    text.starts_with("arn:")
}

fn is_alias(text: &str) -> bool {
    name(text).starts_with("alias/")
}

/// Returns the key id or `alias/NAME`: what follows `:key/` or the account of an ARN; of an instance
/// profile, its name, which the ARN has after a path.
fn name(text: &str) -> &str {
    let tail = if is_arn(text) { text.splitn(6, ':').nth(5).unwrap_or(text) } else { text };
    if let Some(path) = tail.strip_prefix("instance-profile/") {
        return path.rsplit('/').next().unwrap_or(path);
    }
    tail.strip_prefix("key/").unwrap_or(tail)
}
