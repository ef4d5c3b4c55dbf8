//! Parameters of a parameter group, each its own difference.
//!
//! Only values count: AWS ignores a change of the apply method alone. A value is compared by the
//! parameter's data type, and with the engine's default where nobody set it.

use serde_json::Value;

use super::{delta, is_ignored, refusal, value, wait};
use crate::model::{Diff, Observed, Rule};

/// Compares the declared parameters with those read from the group.
pub(super) fn compare(
    rule: &Rule,
    want: &Value,
    actual: &Observed,
    ignore: &[String],
    found: &mut Diff,
) {
    let Some(declared) = want.as_object().filter(|declared| !declared.is_empty()) else { return };
    let Some(there) = actual.member(rule.member).and_then(Value::as_array) else {
        let reason = "the parameters of the group were not read".to_owned();
        return found.waits.push(wait(rule, "ParametersNotRead", reason));
    };
    for (name, setting) in declared {
        if !ignore.is_empty() && is_ignored(&format!("{}.{name}", rule.field), ignore) {
            continue;
        }
        let parameter = Parameter::find(there, name);
        if setting.get("reset").is_some_and(|reset| !value::is_empty(reset)) {
            reset(rule, name, parameter, found);
        } else {
            set(rule, name, setting.get("value").unwrap_or(setting), parameter, found);
        }
    }
}

/// Returns a parameter to the engine's default where somebody has set it.
fn reset(rule: &Rule, name: &str, parameter: Option<Parameter<'_>>, found: &mut Diff) {
    let Some(parameter) = parameter.filter(|parameter| parameter.text("Source") == "user") else {
        return;
    };
    let why = "set, and declared as the engine's default".to_owned();
    push(rule, name, Some(parameter), Value::Null, why, found);
}

fn set(
    rule: &Rule,
    name: &str,
    wanted: &Value,
    parameter: Option<Parameter<'_>>,
    found: &mut Diff,
) {
    let number;
    let wanted = match wanted.as_str() {
        Some(text) => text,
        None => {
            number = value::show(wanted);
            &number
        }
    };
    let Some(parameter) = parameter else {
        let to = Value::from(wanted);
        return push(rule, name, None, to, "not set".to_owned(), found);
    };
    if parameter.is(wanted) {
        return;
    }
    if let Some((code, message, help)) = parameter.objection(name, wanted) {
        let mut refused = refusal(rule, code, message, help);
        refused.field = format!("{}.{name}", rule.field);
        return found.refusals.push(refused);
    }
    let why = match parameter.text("ApplyType") {
        "static" => "differs; a static parameter, in force after the next reboot",
        _ => "differs from what is declared",
    };
    push(rule, name, Some(parameter), parameter.spelled(wanted), why.to_owned(), found);
}

fn push(
    rule: &Rule,
    name: &str,
    parameter: Option<Parameter<'_>>,
    to: Value,
    why: String,
    found: &mut Diff,
) {
    let from = parameter.and_then(|parameter| parameter.0.get("ParameterValue")).cloned();
    let mut change = delta(rule, from.unwrap_or(Value::Null), to, why);
    change.field = format!("{}.{name}", rule.field);
    name.clone_into(&mut change.parameter);
    found.deltas.push(change);
}

/// Holds one parameter as `DescribeDBParameters` answers it.
#[derive(Clone, Copy)]
struct Parameter<'a>(&'a Value);

impl<'a> Parameter<'a> {
    fn find(there: &'a [Value], name: &str) -> Option<Self> {
        there
            .iter()
            .map(Self)
            .find(|parameter| parameter.text("ParameterName").eq_ignore_ascii_case(name))
    }

    fn text(self, member: &str) -> &'a str {
        self.0.get(member).and_then(Value::as_str).unwrap_or_default()
    }

    fn is_number(self) -> bool {
        matches!(self.text("DataType"), "integer" | "float" | "real" | "double")
    }

    fn is_flag(self) -> bool {
        self.text("DataType") == "boolean" || self.choices().all(|choice| flag(choice).is_some())
    }

    fn choices(self) -> impl Iterator<Item = &'a str> {
        self.text("AllowedValues").split(',').map(str::trim)
    }

    /// Returns the one choice that means on, or off, like the wanted value: `ON` for `true`.
    ///
    /// `None` where the value is a choice itself, or several choices mean the same.
    fn meant(self, wanted: &str) -> Option<&'a str> {
        let can_mean = !self.is_choice(wanted) && (self.is_flag() || !self.is_number());
        let wanted = flag(wanted).filter(|_| can_mean)?;
        let mut same = self.choices().filter(|choice| flag(choice) == Some(wanted));
        same.next().filter(|_| same.next().is_none())
    }

    /// Tells whether the parameter has the wanted value.
    fn is(self, wanted: &str) -> bool {
        let actual = self.0.get("ParameterValue");
        let Some(actual) = actual.filter(|value| !value.is_null()) else {
            return wanted.is_empty();
        };
        let Some(actual) = actual.as_str() else {
            return value::same(&wanted.into(), Some(actual));
        };
        if actual == wanted {
            return true;
        }
        if self.is_number() && same_number(actual, wanted) {
            return true;
        }
        if self.is_flag() && flag(actual).is_some() && flag(actual) == flag(wanted) {
            return true;
        }
        if self.meant(wanted).is_some_and(|meant| meant.eq_ignore_ascii_case(actual)) {
            return true;
        }
        same_list(actual, wanted, self.is_choice(wanted))
    }

    /// Tells whether the value is one of a fixed choice, of which letter case carries no meaning.
    fn is_choice(self, wanted: &str) -> bool {
        self.choices().any(|choice| choice.eq_ignore_ascii_case(wanted))
    }

    /// Returns the value in the spelling that AWS takes.
    fn spelled(self, wanted: &str) -> Value {
        let exact = self.choices().any(|choice| choice == wanted);
        let folded = || self.choices().find(|choice| choice.eq_ignore_ascii_case(wanted));
        let spelled = if exact { None } else { folded().or_else(|| self.meant(wanted)) };
        spelled.unwrap_or(wanted).into()
    }

    /// Says why a value can never be set.
    fn objection(self, name: &str, wanted: &str) -> Option<(&'static str, String, String)> {
        if self.0.get("IsModifiable").is_some_and(|flag| flag.as_bool() == Some(false)) {
            let message = format!("RDS does not let {name} be changed");
            return Some(("ParameterNotModifiable", message, "leave it out".to_owned()));
        }
        let (number, unit) = quantity(wanted).filter(|_| self.is_number())?;
        let message = format!("{name} takes a number without the unit {unit}");
        let help = match own_unit(self.text("Description")) {
            Some(own) => match convert(number, unit, own) {
                Some(amount) => format!("give {amount}, unit {own}"),
                None => format!("give the number in the unit {own}"),
            },
            None => "give the number in the parameter's own unit".to_owned(),
        };
        Some(("UnitNotAllowed", message, help))
    }
}

fn same_number(one: &str, other: &str) -> bool {
    match (one.trim().parse::<i128>(), other.trim().parse::<i128>()) {
        (Ok(one), Ok(other)) => one == other,
        _ => match (one.trim().parse::<f64>(), other.trim().parse::<f64>()) {
            (Ok(one), Ok(other)) => one == other,
            _ => false,
        },
    }
}

fn flag(text: &str) -> Option<bool> {
    let is = |words: &[&str]| words.iter().any(|word| text.trim().eq_ignore_ascii_case(word));
    if is(&["1", "on", "true", "yes"]) {
        Some(true)
    } else if is(&["0", "off", "false", "no"]) {
        Some(false)
    } else {
        None
    }
}

/// Compares lists item by item: space around the commas carries no meaning, order does.
fn same_list(one: &str, other: &str, fold: bool) -> bool {
    let mut one = one.split(',').map(str::trim);
    let mut other = other.split(',').map(str::trim);
    loop {
        match (one.next(), other.next()) {
            (None, None) => return true,
            (Some(one), Some(other))
                if one == other || (fold && one.eq_ignore_ascii_case(other)) => {}
            _ => return false,
        }
    }
}

/// Splits `20MB` into the number and its unit; a formula or a bare number is none.
fn quantity(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(end);
    let unit = unit.trim_start();
    let is_unit = !unit.is_empty() && unit.chars().all(|c| c.is_ascii_alphabetic());
    Some((number.parse().ok()?, unit)).filter(|_| is_unit)
}

/// Returns the unit that a description starts with, as RDS for PostgreSQL writes it: `(kB) Sets …`.
fn own_unit(description: &str) -> Option<&str> {
    let (unit, _) = description.strip_prefix('(')?.split_once(')')?;
    scale(unit).is_some().then_some(unit)
}

fn convert(number: u64, unit: &str, own: &str) -> Option<u64> {
    let ((dimension, from), (own_dimension, to)) = (scale(unit)?, scale(own)?);
    let amount = number.checked_mul(from)?;
    (dimension == own_dimension && amount.is_multiple_of(to)).then(|| amount / to)
}

/// Returns the dimension of a unit and its size in the smallest one: bytes or microseconds.
fn scale(unit: &str) -> Option<(char, u64)> {
    let digits = unit.find(|c: char| !c.is_ascii_digit())?;
    let factor = if digits == 0 { 1 } else { unit[..digits].parse().ok()? };
    let (dimension, size) = match unit[digits..].to_ascii_lowercase().as_str() {
        "b" => ('b', 1),
        "kb" => ('b', 1 << 10),
        "mb" => ('b', 1 << 20),
        "gb" => ('b', 1 << 30),
        "tb" => ('b', 1 << 40),
        "us" => ('t', 1),
        "ms" => ('t', 1_000),
        "s" => ('t', 1_000_000),
        "min" => ('t', 60_000_000),
        "h" => ('t', 3_600_000_000),
        "d" => ('t', 86_400_000_000),
        _ => return None,
    };
    Some((dimension, factor * size))
}
