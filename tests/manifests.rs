//! The manifests of the repository, and bad ones.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use levelset::manifest::{Files, Parsed, json_schema, parse};
use levelset::model::tree::Content;
use levelset::model::{ChangeSet, Entry, Problem, Revision};
use proptest::prelude::*;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn yaml_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(yaml_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn told(problems: &[Problem]) -> String {
    let mut text = String::new();
    for problem in problems {
        let Problem { position, severity, code, message, .. } = problem;
        let severity = format!("{severity:?}").to_lowercase();
        writeln!(text, "{}:{} {severity} {code}: {message}", position.line, position.column)
            .unwrap();
        if let Some(hint) = &problem.hint {
            writeln!(text, "    {hint}").unwrap();
        }
        let indent = " ".repeat(position.column as usize - 1);
        let marks = "^".repeat(problem.length as usize);
        writeln!(text, "    | {}\n    | {indent}{marks}", problem.source_line).unwrap();
    }
    text
}

#[test]
fn every_mistake_of_a_bad_file_is_told_with_its_place_and_a_way_out() {
    let mut wrong = String::new();
    let cases = yaml_files(&root().join("tests/manifests/bad"));
    assert!(cases.len() > 25, "the cases are missing");
    for path in &cases {
        let bytes = fs::read(path).unwrap();
        let actual = told(&parse("file.yaml", &bytes).problems);
        let expected = fs::read_to_string(path.with_extension("expected")).unwrap_or_default();
        if actual != expected {
            writeln!(wrong, "=== {}\n{actual}", path.display()).unwrap();
        }
    }
    assert!(wrong.is_empty(), "other problems than expected:\n{wrong}");
}

#[test]
fn no_case_lies_about_without_its_expectation() {
    let names = |extension: &str| -> BTreeSet<String> {
        let folder = fs::read_dir(root().join("tests/manifests/bad")).unwrap();
        let paths = folder.map(|entry| entry.unwrap().path());
        paths
            .filter(|path| path.extension().is_some_and(|found| found == extension))
            .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
            .collect()
    };
    assert_eq!(names("yaml"), names("expected"));
}

/// The manifest that the format promises to take as it is.
const PROMISED: &str = r#"apiVersion: platform.kby.io/v1alpha1
kind: Workspace
metadata:
  name: team-payments-prod
  annotations:
    platform.kby.io/owner: "payments-team"
spec:
  environment: production
  resources:
    database:
      engine: postgres
      version: "15"
      sizeClass: db.r6g.large
    network:
      vpcRef: shared-prod-vpc
  reconcilePolicy:
    resyncIntervalSeconds: 300
    maxBackoffSeconds: 900
"#;

#[test]
fn the_promised_manifest_is_taken_as_it_is_and_stands_among_the_examples() {
    let parsed = parse("prod.yaml", PROMISED.as_bytes());
    assert_eq!(told(&parsed.problems), "");
    let object = &parsed.objects[0];
    assert_eq!(object.key.to_string(), "Workspace/team-payments-prod");
    assert_eq!(object.owner(), Some("payments-team"));
    assert_eq!(object.line, 1);
    let example = root().join("manifests-example/teams/payments/prod.yaml");
    assert_eq!(fs::read_to_string(example).unwrap(), PROMISED);
}

fn changes_of(files: &[(String, Vec<u8>)]) -> ChangeSet {
    let changed = files.iter().map(|(path, bytes)| {
        let content = Content::Bytes(bytes.as_slice().into());
        (path.as_str().into(), Entry { blob: path.as_str().into(), content })
    });
    let (revision, removed) = (Revision::new("0"), Vec::new());
    ChangeSet { revision, changed: changed.collect(), removed, full: true }
}

#[test]
fn every_example_is_good_and_its_readme_names_it() {
    let folder = root().join("manifests-example");
    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    let files: Vec<(String, Vec<u8>)> = yaml_files(&folder)
        .iter()
        .map(|path| {
            let name = path.strip_prefix(&folder).unwrap().to_string_lossy().into_owned();
            assert!(readme.contains(&format!("`{name}`")), "README.md does not name {name}");
            (name, fs::read(path).unwrap())
        })
        .collect();
    let mut all = Files::default();
    let touched = all.apply(&changes_of(&files));
    assert_eq!(told(&all.problems()), "");
    assert_eq!(touched.len(), 11);
    assert_eq!(all.objects().count(), 11);
}

fn validator() -> jsonschema::Validator {
    jsonschema::draft202012::new(&json_schema()).unwrap()
}

/// Reads a document the way an editor does: as plain data.
fn plain(text: &str) -> serde_json::Value {
    serde_saphyr::from_str(text).unwrap()
}

#[test]
fn the_schema_is_a_good_schema_of_its_draft() {
    jsonschema::draft202012::meta::validate(&json_schema()).unwrap();
}

#[test]
fn the_schema_takes_every_example() {
    let validator = validator();
    for path in yaml_files(&root().join("manifests-example")) {
        let text = fs::read_to_string(&path).unwrap();
        for document in text.split("\n---\n") {
            let errors: Vec<String> =
                validator.iter_errors(&plain(document)).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{}: {errors:?}", path.display());
        }
    }
}

#[test]
fn the_schema_refuses_what_the_parser_refuses_by_its_form() {
    let validator = validator();
    for (from, to) in [
        ("engine: postgres", "engin: postgres"),
        ("kind: Workspace", "kind: Network"),
        ("kind: Workspace", "kind: Workspce"),
        ("resyncIntervalSeconds: 300", "resyncIntervalSeconds: 5"),
        ("resyncIntervalSeconds: 300", "resyncIntervalSeconds: '300'"),
        ("version: \"15\"", "version: 15"),
        ("sizeClass: db.r6g.large", ""),
        ("name: team-payments-prod", "name: Team"),
        ("v1alpha1", "v1"),
    ] {
        let text = PROMISED.replace(from, to);
        assert_ne!(text, PROMISED);
        assert!(!validator.is_valid(&plain(&text)), "the schema takes {to:?}");
        assert!(parse("file.yaml", text.as_bytes()).is_broken(), "the parser takes {to:?}");
    }
    assert!(validator.is_valid(&plain(PROMISED)));
}

/// Fails when a problem points outside of its file, or quotes another line than it names.
fn assert_inside(parsed: &Parsed, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let lines: Vec<&str> = text
        .split('\n')
        .flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
        .collect();
    for problem in &parsed.problems {
        let line = lines.get(problem.position.line as usize - 1);
        let line = line.unwrap_or_else(|| panic!("{problem:?} is outside of {text:?}"));
        let columns = line.chars().count() as u32;
        assert!((1..=columns + 1).contains(&problem.position.column), "{problem:?} in {text:?}");
        let end = problem.position.column + problem.length;
        assert!(problem.length >= 1 && end <= columns.max(1) + 2, "{problem:?} in {text:?}");
        assert_eq!(problem.source_line, line.chars().take(200).collect::<String>());
    }
    assert!(!parsed.is_broken() || parsed.objects.is_empty());
}

fn good_manifests() -> Vec<Vec<u8>> {
    let paths = yaml_files(&root().join("manifests-example"));
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        assert_inside(&parse("any.yaml", &bytes), &bytes);
    }

    #[test]
    fn any_text_made_of_the_signs_of_yaml_is_read_without_a_panic(
        text in "[-a:{}\\[\\], \n\r\t#&*!|>'\"%@`.0\u{e4}\u{1f980}]{0,200}"
    ) {
        assert_inside(&parse("any.yaml", text.as_bytes()), text.as_bytes());
    }

    #[test]
    fn any_change_of_a_good_manifest_is_read_with_places_inside_the_file(
        which in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..4_u8, "[-a:{}\\[\\], \n\t#&*!|'\"9\u{e4}]{1,3}"), 1..6),
    ) {
        let files = good_manifests();
        let mut bytes = files[which.index(files.len())].clone();
        for (at, how, text) in edits {
            let at = at.index(bytes.len());
            match how {
                0 if bytes.len() > 1 => { bytes.remove(at); }
                1 => { bytes.splice(at..at, text.into_bytes()); }
                2 => bytes[at] = text.as_bytes()[0],
                _ => bytes.truncate(at.max(1)),
            }
        }
        assert_inside(&parse("any.yaml", &bytes), &bytes);
    }
}

fn digest(text: &str) -> String {
    let parsed = parse("file.yaml", text.as_bytes());
    assert_eq!(parsed.objects.len(), 1, "{}", told(&parsed.problems));
    parsed.objects[0].digest.to_string()
}

#[test]
fn a_digest_follows_the_meaning_and_not_the_layout() {
    let same = [
        PROMISED.replace("spec:", "# a comment\nspec:"),
        PROMISED.replace("resyncIntervalSeconds: 300", "resyncIntervalSeconds: 0x12c"),
        PROMISED.replace("\"15\"", "'15'"),
        PROMISED.replace("    maxBackoffSeconds: 900\n", ""),
        PROMISED.replace("payments-team", "others"),
        PROMISED.replace('\n', "\r\n"),
        format!("\u{feff}{PROMISED}"),
    ];
    for text in same {
        assert_eq!(digest(&text), digest(PROMISED), "{text}");
    }
    let other = [
        PROMISED.replace("\"15\"", "\"15.0\""),
        PROMISED.replace("    maxBackoffSeconds: 900\n", "    maxBackoffSeconds: 901\n"),
        PROMISED.replace("shared-prod-vpc", "other-vpc"),
        PROMISED
            .replace("sizeClass: db.r6g.large", "sizeClass: db.r6g.large\n      logExports: []"),
    ];
    for text in other {
        assert_ne!(digest(&text), digest(PROMISED), "{text}");
    }
}

#[test]
fn the_order_of_the_members_does_not_matter() {
    let (head, spec) = PROMISED.split_once("spec:").unwrap();
    assert_eq!(digest(&format!("spec:{spec}{head}")), digest(PROMISED));
}

#[test]
fn a_file_without_objects_is_good() {
    for text in ["", "\n", "# only a comment\n", "---\n", "---\n# nothing\n...\n---\n", "\u{feff}"]
    {
        assert_eq!(parse("file.yaml", text.as_bytes()), Parsed::default(), "{text:?}");
    }
}
