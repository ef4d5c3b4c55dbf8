//! Policy documents as IAM takes them.

use serde_json::Value;

use crate::sandbox::refusal::Refusal;

/// Says what a document is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It says who may take a role on.
    Trust,
    /// It says what a role may do.
    Rights,
}

/// Reads a document, by the part of IAM's grammar that people get wrong.
pub(super) fn read(text: &str, purpose: Purpose) -> Result<Value, Refusal> {
    let document: Value = serde_json::from_str(text)
        .map_err(|_| malformed("This policy contains invalid Json".to_owned()))?;
    let statements = statements(&document);
    if statements.is_empty() {
        return Err(malformed("Syntax errors in policy.".to_owned()));
    }
    for statement in statements {
        let has = |element: &str| statement.get(element).is_some();
        let one = |element: &str, other: &str| has(element) != has(other);
        let is_effect = statement["Effect"] == "Allow" || statement["Effect"] == "Deny";
        let is_whole = match purpose {
            Purpose::Trust => {
                one("Principal", "NotPrincipal") && !has("Resource") && !has("NotResource")
            }
            Purpose::Rights => {
                one("Resource", "NotResource") && !has("Principal") && !has("NotPrincipal")
            }
        };
        if !(is_effect && is_whole && one("Action", "NotAction")) {
            return Err(malformed("Syntax errors in policy.".to_owned()));
        }
    }
    Ok(document)
}

/// Refuses a document.
pub(super) fn malformed(message: String) -> Refusal {
    Refusal::new("MalformedPolicyDocument", message)
}

/// Lists the statements, of which one may stand alone.
pub(super) fn statements(document: &Value) -> Vec<&Value> {
    many(&document["Statement"])
}

/// Lists the items of a list, or the one thing that stands for it.
pub(super) fn many(value: &Value) -> Vec<&Value> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(items) => items.iter().collect(),
        one => vec![one],
    }
}

/// Lists the principals that are of AWS: accounts, roles, users.
pub(super) fn principals(trust: &Value) -> Vec<&str> {
    let named = |statement: &'_ Value| statement["Principal"].get("AWS").is_some();
    let all = statements(trust).into_iter().filter(|statement| named(statement));
    all.flat_map(|statement| many(&statement["Principal"]["AWS"]))
        .filter_map(Value::as_str)
        .collect()
}

/// Puts another name in the place of a principal.
pub(super) fn replace_principal(value: &mut Value, principal: &str, by: &str) {
    match value {
        Value::String(text) if text == principal => by.clone_into(text),
        Value::Array(items) => {
            items.iter_mut().for_each(|item| replace_principal(item, principal, by));
        }
        Value::Object(members) => {
            members.values_mut().for_each(|member| replace_principal(member, principal, by));
        }
        _ => {}
    }
}
