//! How often something happens: a number of days, or an expression of EventBridge.
//!
//! Source: the API reference of `RotationRulesType`. Where an expression is in force, AWS answers the
//! number of days too, which it has computed from it.

use serde_json::Value;

use super::judge::Judgement;

/// Judges a declared number of days or expression.
pub(super) fn judge(want: &Value, have: Option<&Value>) -> Judgement {
    let text = |member: &str| have?.get(member)?.as_str().filter(|text| !text.is_empty());
    let days = have.and_then(|rules| rules.get("AutomaticallyAfterDays")).filter(|it| it.is_u64());
    let there = text("ScheduleExpression").map(Value::from).or_else(|| days.cloned());
    let there = there.unwrap_or(Value::Null);
    if Rhythm::of(want) == Rhythm::of(&there) {
        return Judgement::Same;
    }
    let why = "differs from what is declared".to_owned();
    Judgement::Differs { from: Some(there), to: want.clone(), why }
}

/// Is a schedule in one spelling.
#[derive(Debug, PartialEq)]
enum Rhythm {
    Never,
    Hours(u64),
    Expression(String),
}

impl Rhythm {
    fn of(value: &Value) -> Self {
        let Some(text) = value.as_str() else {
            return value.as_u64().map_or(Self::Never, |days| Self::Hours(days.saturating_mul(24)));
        };
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase();
        Self::rate(&text).unwrap_or(Self::Expression(text))
    }

    /// Reads `rate(10 days)`.
    fn rate(text: &str) -> Option<Self> {
        let (number, unit) =
            text.strip_prefix("rate(")?.strip_suffix(')')?.trim().split_once(' ')?;
        let number: u64 = number.parse().ok()?;
        match unit {
            "hour" | "hours" => Some(Self::Hours(number)),
            "day" | "days" => Some(Self::Hours(number.checked_mul(24)?)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn same(want: Value, rules: Value) -> bool {
        judge(&want, Some(&rules)) == Judgement::Same
    }

    #[test]
    fn every_spelling_of_a_schedule_is_one() {
        assert!(same(json!(30), json!({"AutomaticallyAfterDays": 30})));
        assert!(same(json!("rate(30 days)"), json!({"AutomaticallyAfterDays": 30})));
        let computed = json!({"AutomaticallyAfterDays": 1, "ScheduleExpression": "rate(1 day)"});
        assert!(same(json!("rate(24 hours)"), computed.clone()));
        assert!(same(json!(1), computed));
        let cron =
            json!({"AutomaticallyAfterDays": 7, "ScheduleExpression": "cron(0 4 ? * SUN *)"});
        assert!(same(json!("cron(0  4 ? * sun *)"), cron));
    }

    #[test]
    fn a_computed_number_of_days_is_not_the_schedule() {
        let cron =
            json!({"AutomaticallyAfterDays": 7, "ScheduleExpression": "cron(0 4 ? * SUN *)"});
        assert!(!same(json!(7), cron.clone()));
        assert!(!same(json!("cron(0 5 ? * SUN *)"), cron));
        assert!(!same(json!(30), json!({"AutomaticallyAfterDays": 31})));
        assert!(judge(&json!(30), None) != Judgement::Same);
    }
}
