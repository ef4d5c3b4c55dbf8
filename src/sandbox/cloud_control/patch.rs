//! JSON Patch (RFC 6902), as far as the Cloud Control API takes it of us: add, replace, remove.

use serde_json::Value;

/// Applies the operations of a patch in order.
pub(super) fn apply(document: &mut Value, patch: &Value) -> Result<(), String> {
    let operations = patch.as_array().ok_or("the patch is no list")?;
    operations.iter().try_for_each(|operation| one(document, operation))
}

fn one(document: &mut Value, operation: &Value) -> Result<(), String> {
    let text = |name: &str| operation.get(name).and_then(Value::as_str).unwrap_or_default();
    let path = text("path");
    let (parent, key) = path.rsplit_once('/').ok_or_else(|| format!("{path} is no path"))?;
    let key = key.replace("~1", "/").replace("~0", "~");
    let place = document.pointer_mut(parent).and_then(Value::as_object_mut);
    let place = place.ok_or_else(|| format!("there is no {parent}"))?;
    let is_there = place.contains_key(&key);
    match (text("op"), operation.get("value")) {
        ("add", Some(value)) => drop(place.insert(key, value.clone())),
        ("replace", Some(value)) if is_there => drop(place.insert(key, value.clone())),
        ("remove", _) if is_there => drop(place.remove(&key)),
        (operation, _) => return Err(format!("cannot {operation} {path}")),
    }
    Ok(())
}
