//! Holds the layout of the code against the rules that the compiler does not know.

mod reading;

use std::fs;
use std::path::Path;

use reading::Source;

/// Which rooms a room may name besides itself, in the order in which the code is read.
///
/// `kinds::*::spec` stands for the specs of the kinds and nothing else of them; `*` for any word.
const ROOMS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("manifest", &["model", "kinds::*::spec", "kinds::*::NAME"]),
    ("source", &["model"]),
    ("desired", &["model", "manifest"]),
    ("queue", &["model"]),
    // What several kinds have in common is no kind.
    (
        "kinds",
        &[
            "model",
            "kinds::modification",
            "kinds::name_tag",
            "kinds::parameter_group",
            "kinds::policy_document",
            "kinds::rds_import",
            "kinds::tag_rules",
        ],
    ),
    ("observe", &["model"]),
    ("diff", &["model"]),
    ("plan", &["model"]),
    ("import", &["model"]),
    ("apply", &["model"]),
    ("status", &["model"]),
    ("reconcile", STAGES),
    ("lease", &["model"]),
    ("forge", &["model"]),
    ("report", &["model"]),
    ("server", &["model", "status"]),
    ("aws", &["model", "kinds", "config"]),
    ("sandbox", &["model"]),
    ("config", &["model"]),
    ("cli", &["*"]),
];

/// The stages, which meet in `reconcile` and nowhere else.
const STAGES: &[&str] = &[
    "model", "manifest", "source", "desired", "queue", "kinds", "observe", "diff", "plan", "apply",
    "status", "lease",
];

/// Crates that only the listed rooms may name.
const OWNED_CRATES: &[(&str, &[&str])] = &[
    ("git2", &["source", "cli"]),
    ("sqlx", &["status"]),
    ("axum", &["server", "sandbox"]),
    ("clap", &["cli", "config"]),
    ("anyhow", &[]),
    ("notify", &["source"]),
    ("indicatif", &["cli"]),
];

/// Rooms that compute and do nothing else, and what they therefore never name.
const PURE_ROOMS: &[&str] = &["model", "manifest", "kinds", "diff", "plan", "import", "report"];
const IMPURE: &[&str] = &[
    "tokio",
    "reqwest",
    "aws_config",
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::time::SystemTime",
    "rand",
];

const LONGEST_FILE: usize = 400;
const LONGEST_FUNCTION: usize = 60;

/// Returns what is wrong with a file, one sentence each.
fn violations(source: &Source) -> Vec<String> {
    let mut found = rooms_named(source);
    found.extend(crates_named(source));
    if !source.documented {
        found.push("has no `//!` on its first line".to_owned());
    }
    if source.length > LONGEST_FILE {
        found.push(format!("has {} production lines, more than {LONGEST_FILE}", source.length));
    }
    let long = source.functions().into_iter().filter(|function| function.body > LONGEST_FUNCTION);
    found.extend(long.map(|function| {
        format!("line {}: `{}` has {} lines of code", function.line, function.name, function.body)
    }));
    found.into_iter().map(|what| format!("src/{}: {what}", source.path)).collect()
}

fn rooms_named(source: &Source) -> Vec<String> {
    let module = source.module();
    let Some(room) = module.first() else { return Vec::new() };
    let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| name == room) else {
        return vec![format!("`{room}` is not in the table of rooms")];
    };
    let is_room = |word: &str| ROOMS.iter().any(|(name, _)| *name == word);
    let refused = source.references().into_iter().filter(|path| {
        is_room(&path[0])
            && !allowed.iter().any(|pattern| matches(pattern, path))
            && !is_own(&module, path)
            && !is_shared_bridge(source, path)
    });
    refused.map(|path| format!("names `{}`, which is not its business", path.join("::"))).collect()
}

/// Tells whether a path stays in the module's own room; each kind is a room of its own.
fn is_own(module: &[String], path: &[String]) -> bool {
    let depth = if module[0] == "kinds" && module.len() > 1 { 2 } else { 1 };
    path.len() >= depth && path[..depth] == module[..depth]
}

/// Tells whether a path names what the bridges share, from a file that may.
fn is_shared_bridge(source: &Source, path: &[String]) -> bool {
    is_bridge(source) && matches("kinds::sdk", path)
}

/// Tells whether a file is the one place of a kind that speaks to the SDK, or what those places share.
fn is_bridge(source: &Source) -> bool {
    let path = &source.path;
    path.starts_with("kinds/sdk/") || (path.starts_with("kinds/") && path.ends_with("/sdk.rs"))
}

fn matches(pattern: &str, path: &[String]) -> bool {
    let parts: Vec<&str> = pattern.split("::").collect();
    parts.len() <= path.len()
        && parts.iter().zip(path).all(|(want, part)| *want == "*" || want == part)
}

fn crates_named(source: &Source) -> Vec<String> {
    let module = source.module();
    let room = module.first().map_or("", String::as_str);
    let sdk = is_bridge(source);
    let mut found = Vec::new();
    for (name, rooms) in OWNED_CRATES {
        if source.names(name) && !rooms.contains(&room) && source.path != "main.rs" {
            found.push(format!("names `{name}`, which only {rooms:?} may"));
        }
    }
    if PURE_ROOMS.contains(&room) && !sdk {
        let named = IMPURE.iter().filter(|name| source.names(name));
        found.extend(named.map(|name| format!("names `{name}`, but {room} is pure")));
    }
    let aws = source.code().contains("aws_sdk_");
    if aws && !sdk && !["aws"].contains(&room) {
        found.push("names an AWS SDK crate, which only `aws` and a kind's sdk.rs may".to_owned());
    }
    found
}

/// Reads every file under `src/`, files that hold only tests left out.
fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut folders, mut found) = (vec![root.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs")
            {
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                found.push(Source::read(&name, &fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

#[test]
fn every_file_keeps_to_its_room_and_to_the_size_that_one_idea_has() {
    let sources = sources();
    assert!(sources.len() > 20, "only {} files were found", sources.len());
    let found: Vec<String> = sources.iter().flat_map(violations).collect();
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn every_room_is_listed_in_lib_rs_in_reading_order() {
    let sources = sources();
    let lib = sources.iter().find(|source| source.path == "lib.rs").unwrap();
    let listed: Vec<String> = lib.lines.iter().filter_map(|(_, line)| module_name(line)).collect();
    let mut rooms: Vec<String> =
        sources.iter().filter_map(|source| source.module().first().cloned()).collect();
    rooms.dedup();
    let order = |room: &String| ROOMS.iter().position(|(name, _)| name == room);
    rooms.sort_by_key(order);
    assert_eq!(listed, rooms, "left: lib.rs; right: the folders, in the order of the table");
}

fn module_name(line: &str) -> Option<String> {
    line.strip_prefix("pub mod ")?.strip_suffix(';').map(str::to_owned)
}

#[test]
fn the_time_of_day_is_read_in_one_file() {
    let reads = |source: &&Source| {
        ["SystemTime::now", "Timestamp::now", "Zoned::now"]
            .iter()
            .any(|call| source.code().contains(call))
    };
    let found: Vec<String> =
        sources().iter().filter(reads).map(|source| source.path.clone()).collect();
    assert!(found.len() <= 1, "{found:?}");
}

#[test]
fn main_is_short() {
    let sources = sources();
    let main = sources.iter().find(|source| source.path == "main.rs").unwrap();
    assert!(main.lines.len() < 30, "{} lines", main.lines.len());
}

/// A file that breaks every rule that a text of a few lines can break.
const BAD: &str = r##"use crate::{
    model::{Key, plan::Plan},
    kinds::{self, vpc::spec},
};
// use crate::server::Named;
use tokio::net::TcpStream;

/// See [`crate::aws`].
fn long(
    path: &str,
) -> String {
    super::super::status::store::open("https://example.org // text");
    let x = git2::Repository::open(path);
    let y = aws_sdk_rds::Client::new();
}

#[cfg(test)]
mod tests {
    use crate::cli::Everything;
}
"##;

#[test]
fn the_rules_find_what_breaks_them() {
    let found = violations(&Source::read("plan/bad.rs", BAD)).join("\n");
    for expected in [
        "names `kinds::self`",
        "names `kinds::vpc::spec`",
        "names `status::store::open`",
        "names `git2`",
        "names `tokio`, but plan is pure",
        "names an AWS SDK crate",
        "has no `//!`",
    ] {
        assert!(found.contains(expected), "{expected} is not in\n{found}");
    }
    for innocent in ["names `server", "names `aws", "names `cli", "names `model"] {
        assert!(!found.contains(innocent), "{innocent} is in\n{found}");
    }
}

#[test]
fn a_kind_may_not_name_another_kind_and_a_manifest_only_their_specs() {
    let found = |path, text| violations(&Source::read(path, text));
    assert_eq!(found("kinds/vpc/calls.rs", "//! D.\nuse super::spec::Vpc;\n"), [""; 0]);
    assert_eq!(found("kinds/vpc/calls.rs", "//! D.\nuse crate::kinds::db_instance::X;\n").len(), 1);
    assert_eq!(found("kinds/vpc/calls.rs", "//! D.\nuse super::super::db_instance::X;\n").len(), 1);
    assert_eq!(found("manifest/a.rs", "//! D.\nuse crate::kinds::vpc::spec::Vpc;\n"), [""; 0]);
    assert_eq!(found("manifest/a.rs", "//! D.\nuse crate::kinds::vpc::KIND;\n").len(), 1);
}

#[test]
fn only_the_place_of_a_kind_that_speaks_to_the_sdk_may_name_what_those_places_share() {
    let found = |path, text| violations(&Source::read(path, text));
    assert_eq!(found("kinds/vpc/sdk.rs", "//! D.\nuse crate::kinds::sdk::Clients;\n"), [""; 0]);
    assert_eq!(found("kinds/vpc/calls.rs", "//! D.\nuse crate::kinds::sdk::Clients;\n").len(), 1);
    assert_eq!(found("kinds/sdk/rds.rs", "//! D.\nuse aws_sdk_rds::types::Tag;\n"), [""; 0]);
    assert_eq!(found("kinds/sdk/rds.rs", "//! D.\nuse crate::kinds::vpc::KIND;\n").len(), 1);
}

#[test]
fn long_files_and_functions_are_measured_without_their_tests_and_comments() {
    let body =
        |lines: usize| format!("//! D.\n    fn f() {{\n{}    }}\n", "        x();\n".repeat(lines));
    let functions = Source::read("plan/a.rs", &body(61)).functions();
    assert_eq!(functions, [reading::Function { name: "f".to_owned(), line: 2, body: 61 }]);
    assert_eq!(violations(&Source::read("plan/a.rs", &body(61))).len(), 1);
    assert_eq!(violations(&Source::read("plan/a.rs", &body(60))), [""; 0]);
    let long = format!("//! D.\n{}", "const A: u8 = 1;\n".repeat(400));
    assert_eq!(violations(&Source::read("plan/a.rs", &long)).len(), 1);
    let tests =
        format!("//! D.\n#[cfg(test)]\nmod tests {{\n{}}}\n", "const A: u8 = 1;\n".repeat(400));
    assert_eq!(violations(&Source::read("plan/a.rs", &tests)), [""; 0]);
}

#[test]
fn the_migrations_of_a_store_are_numbered_from_one_without_a_gap_or_a_double() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut found = 0;
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let (inner, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
        let names = files.iter().map(|file| file.file_name().unwrap().to_str().unwrap().to_owned());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(".sql")).collect();
        names.sort();
        for (number, name) in (1..).zip(&names) {
            assert!(name.starts_with(&format!("{number:04}_")), "{folder:?}: {names:?}");
        }
        found += names.len();
        folders.extend(inner);
    }
    assert!(found > 0, "no migration was found");
}
