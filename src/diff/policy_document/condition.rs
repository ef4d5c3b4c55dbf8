//! Operators and values of conditions in one spelling.
//!
//! Source: "IAM JSON policy elements: Condition operators" in the IAM User Guide. Numbers, flags and
//! their text are the same; `ArnEquals` and `ArnLike` behave identically; a single address is a
//! block of one. Dates are compared as they are written.

use core::net::IpAddr;

use serde_json::Value;

/// Returns an operator in one spelling: letter case carries no meaning.
pub(super) fn operator(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    match name.split_once("arnequals") {
        Some((before, after)) => format!("{before}arnlike{after}"),
        None => name.replace("arnnotequals", "arnnotlike"),
    }
}

/// Returns a plain value as text.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// Returns a value as the operator takes it.
pub(super) fn value(operator: &str, text: &str) -> String {
    let plain = operator.split_once(':').map_or(operator, |(_, plain)| plain);
    let plain = plain.strip_suffix("ifexists").unwrap_or(plain);
    match plain {
        "bool" | "null" | "stringequalsignorecase" | "stringnotequalsignorecase" => {
            text.to_lowercase()
        }
        "ipaddress" | "notipaddress" => block(text),
        _ if plain.starts_with("numeric") => number(text),
        _ => text.to_owned(),
    }
}

fn number(text: &str) -> String {
    match text.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => number.to_string(),
        _ => text.to_owned(),
    }
}

/// Writes an address or block with its length.
fn block(text: &str) -> String {
    let (address, length) = match text.split_once('/') {
        Some((address, length)) => (address, Some(length)),
        None => (text, None),
    };
    let Ok(address) = address.parse::<IpAddr>() else { return text.to_owned() };
    let whole = if address.is_ipv4() { "32" } else { "128" };
    format!("{address}/{}", length.unwrap_or(whole))
}
