//! Problems in SARIF 2.1.0, which code hosts show in the lines of a pull request.
//!
//! In: problems. Out: one SARIF log with one run (OASIS, Static Analysis Results Interchange Format
//! 2.1.0; the members in use are those that GitHub lists under "SARIF support for code scanning").

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::model::{Problem, Severity};
use crate::report::json::document;

/// Renders problems as a SARIF log; without problems it says that nothing was found.
pub fn problems(problems: &[Problem]) -> String {
    let codes: BTreeSet<&str> = problems.iter().map(|problem| problem.code.as_str()).collect();
    let codes: Vec<&str> = codes.into_iter().collect();
    let rules: Vec<Value> = codes.iter().map(|code| json!({ "id": code })).collect();
    let results: Vec<Value> = problems.iter().map(|problem| result(problem, &codes)).collect();
    document(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {
                "driver": {
                    "name": "levelset",
                    "semanticVersion": env!("CARGO_PKG_VERSION"),
                    "rules": rules,
                },
            },
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": { "ROOT": { "description": { "text": "the root of the repository" } } },
            "results": results,
        }],
    }))
}

fn result(problem: &Problem, codes: &[&str]) -> Value {
    let level = match problem.severity {
        Severity::Error => "error",
        Severity::Notice => "note",
    };
    let text = match &problem.hint {
        Some(hint) => format!("{}. {hint}", problem.message),
        None => problem.message.clone(),
    };
    json!({
        "ruleId": problem.code,
        "ruleIndex": codes.binary_search(&problem.code.as_str()).ok(),
        "level": level,
        "message": { "text": text },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": artifact(&problem.position.path),
                "region": {
                    "startLine": problem.position.line,
                    "startColumn": problem.position.column,
                    "endColumn": problem.position.column + problem.length.max(1),
                    "snippet": { "text": problem.source_line },
                },
            },
        }],
    })
}

/// Names a file: relative to the root of the repository, or for ever when its path is absolute.
fn artifact(path: &str) -> Value {
    match path.starts_with('/') {
        true => json!({ "uri": format!("file://{}", uri(path)) }),
        false => json!({ "uri": uri(path), "uriBaseId": "ROOT" }),
    }
}

/// Writes a path as a URI reference: bytes outside the unreserved set are escaped.
fn uri(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::text::sample;

    #[test]
    fn a_result_points_at_its_rule_and_at_its_characters() {
        let log: Value = serde_json::from_str(&problems(&sample::problems())).unwrap();
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        let result = &run["results"][0];
        assert_eq!(result["level"], "error");
        let rule = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(run["tool"]["driver"]["rules"][rule]["id"], result["ruleId"]);
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "teams/payments.yaml");
        assert_eq!(place["region"]["startLine"], 9);
        assert_eq!(place["region"]["startColumn"], 7);
        assert_eq!(place["region"]["endColumn"], 16);
        assert_eq!(run["results"][1]["level"], "note");
    }

    #[test]
    fn a_path_with_spaces_and_accents_is_a_valid_uri() {
        assert_eq!(uri("teams/größe 1#a.yaml"), "teams/gr%C3%B6%C3%9Fe%201%23a.yaml");
        assert_eq!(artifact("/a b"), json!({ "uri": "file:///a%20b" }));
        assert_eq!(artifact("a/b"), json!({ "uri": "a/b", "uriBaseId": "ROOT" }));
    }

    #[test]
    fn no_problem_gives_an_empty_list_of_results_and_not_a_missing_one() {
        let log: Value = serde_json::from_str(&problems(&[])).unwrap();
        assert_eq!(log["runs"][0]["results"], json!([]));
    }
}
