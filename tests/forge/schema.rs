//! GitHub's own description of its API, held against what we send.
//!
//! `tests/data/github-openapi.json` is a part of `@octokit/openapi` 23.0.2 (MIT licence, as its
//! `info.license` says): the paths that are called here, and what they refer to.

use std::sync::OnceLock;

use jsonschema::Validator;
use levelset::forge::wire::{Method, Request};
use serde_json::{Map, Value, json};

fn description() -> &'static Value {
    static DESCRIPTION: OnceLock<Value> = OnceLock::new();
    DESCRIPTION.get_or_init(|| {
        let text = include_str!("../data/github-openapi.json");
        let mut all: Value = serde_json::from_str(text).unwrap();
        nullable(&mut all);
        all
    })
}

/// OpenAPI 3.0 says `nullable` where JSON Schema has another type.
fn nullable(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if members.get("nullable") == Some(&Value::Bool(true))
                && let Some(Value::String(kind)) = members.get("type").cloned()
            {
                members.insert("type".to_owned(), json!([kind, "null"]));
            }
            members.values_mut().for_each(nullable);
        }
        Value::Array(items) => items.iter_mut().for_each(nullable),
        _ => {}
    }
}

/// Finds the operation of a request: its path has a name where the description has a parameter.
fn operation(request: &Request) -> Option<&'static Map<String, Value>> {
    let sent: Vec<&str> = request.url.path().split('/').collect();
    let fits = |path: &&String| {
        let known: Vec<&str> = path.split('/').collect();
        // What is named last may have slashes itself: a reference, or a file.
        let is_open = known.last().is_some_and(|last| matches!(*last, "{ref}" | "{path}"));
        let is_long = known.len() == sent.len() || (is_open && known.len() < sent.len());
        is_long
            && known.iter().zip(&sent).all(|(known, sent)| known.starts_with('{') || known == sent)
    };
    let paths = description()["paths"].as_object().unwrap();
    let path = paths.keys().find(fits)?;
    paths[path][&request.method.as_str().to_lowercase()].as_object()
}

/// Holds a request against the description.
pub(super) fn check(request: &Request) {
    let operation = operation(request).unwrap_or_else(|| panic!("GitHub does not have {request}"));
    parameters(request, operation);
    match operation.get("requestBody") {
        None => assert_eq!(request.body, None, "{request}"),
        Some(body) => {
            let mut schema = body["content"]["application/json"]["schema"].clone();
            schema["components"] = description()["components"].clone();
            let validator = Validator::new(&schema).unwrap();
            let sent = request.json().unwrap().clone();
            let found: Vec<String> =
                validator.iter_errors(&sent).map(|it| it.to_string()).collect();
            assert!(found.is_empty(), "{request}: {found:?}");
            let known = schema["properties"].as_object().unwrap();
            let unknown =
                sent.as_object().unwrap().keys().filter(|name| !known.contains_key(*name));
            assert_eq!(unknown.collect::<Vec<_>>(), [""; 0], "{request}");
        }
    }
    let accept = request.headers.iter().find(|(name, _)| *name == "accept").unwrap();
    assert_eq!(accept.1, "application/vnd.github+json");
}

fn parameters(request: &Request, operation: &Map<String, Value>) {
    let listed = operation.get("parameters").and_then(Value::as_array).into_iter().flatten();
    let known: Vec<&Value> = listed
        .map(|it| match it["$ref"].as_str() {
            Some(reference) => description().pointer(&reference[1..]).unwrap(),
            None => it,
        })
        .collect();
    for (name, value) in request.url.query_pairs() {
        let of_query = |it: &&&Value| it["in"] == "query" && it["name"] == *name;
        let parameter = known.iter().find(of_query);
        let parameter = parameter.unwrap_or_else(|| panic!("{request}: there is no {name}"));
        let value = match parameter["schema"]["type"].as_str() {
            Some("integer") => json!(value.parse::<u64>().unwrap()),
            _ => json!(value),
        };
        assert!(jsonschema::is_valid(&parameter["schema"], &value), "{request}: {name}");
    }
}

/// Returns the example of an answer that the description has for an operation.
pub(super) fn example(path: &str, method: Method, status: &str) -> Value {
    let method = method.as_str().to_lowercase();
    let content = &description()["paths"][path][method]["responses"][status]["content"];
    let examples = content["application/json"]["examples"].as_object().unwrap();
    let first = examples.values().next().unwrap();
    match first["$ref"].as_str() {
        Some(reference) => description().pointer(&reference[1..]).unwrap()["value"].clone(),
        None => first["value"].clone(),
    }
}
