//! The files of a repository over several commits.

use proptest::prelude::*;

use super::*;
use crate::model::Revision;

fn manifest(name: &str, environment: &str) -> String {
    format!(
        "apiVersion: platform.kby.io/v1alpha1\nkind: Workspace\nmetadata:\n  name: {name}\nspec:\n  \
         environment: {environment}\n---\n"
    )
}

/// Makes a change set; a file without text is removed.
fn changes(full: bool, files: &[(&str, Option<String>)]) -> ChangeSet {
    let changed =
        files.iter().filter_map(|(path, text)| Some((Arc::from(*path), entry(text.as_ref()?))));
    let removed = files.iter().filter(|(_, text)| text.is_none()).map(|(path, _)| (*path).into());
    let (changed, removed) = (changed.collect(), removed.collect());
    ChangeSet { revision: Revision::new("0"), changed, removed, full }
}

fn entry(text: &str) -> Entry {
    Entry { blob: text.into(), content: Content::Bytes(text.as_bytes().into()) }
}

fn names(keys: &BTreeSet<Key>) -> Vec<&str> {
    keys.iter().map(|key| &*key.name).collect()
}

fn environment<'a>(files: &'a Files, name: &str) -> Option<&'a str> {
    files.object(&Key::workspace(name)).map(|object| object.environment())
}

fn start() -> Files {
    let mut files = Files::default();
    let first = [("a.yaml", Some(manifest("a", "one"))), ("b.yaml", Some(manifest("b", "one")))];
    assert_eq!(names(&files.apply(&changes(true, &first))), ["a", "b"]);
    files
}

#[test]
fn only_what_a_commit_changes_is_touched() {
    let mut files = start();
    let touched = files.apply(&changes(false, &[("a.yaml", Some(manifest("a", "two")))]));
    assert_eq!(names(&touched), ["a"]);
    assert_eq!(environment(&files, "a"), Some("two"));
    let again = changes(
        true,
        &[("a.yaml", Some(manifest("a", "two"))), ("b.yaml", Some(manifest("b", "one")))],
    );
    assert_eq!(names(&files.apply(&again)), Vec::<&str>::new());
}

#[test]
fn a_file_that_breaks_keeps_its_last_good_objects() {
    let mut files = start();
    let broken = manifest("a", "two").replace("spec:", "speck:");
    assert_eq!(
        names(&files.apply(&changes(false, &[("a.yaml", Some(broken))]))),
        Vec::<&str>::new()
    );
    assert_eq!(environment(&files, "a"), Some("one"));
    assert_eq!(names(&files.claims()), ["a"]);
    assert!(!files.is_unsure());
    assert_eq!(files.problems_by_path().keys().map(|path| &**path).collect::<Vec<_>>(), ["a.yaml"]);
    let touched = files.apply(&changes(false, &[("a.yaml", Some(manifest("a", "three")))]));
    assert_eq!((names(&touched), files.problems().len()), (vec!["a"], 0));
}

#[test]
fn two_objects_with_one_database_are_told_at_both_names_and_stay_in_force() {
    let database = |identifier: &str| {
        format!(
            "  resources:\n    database:\n      engine: postgres\n      version: \"15\"\n      \
             sizeClass: db.r6g.large\n      identifier: {identifier}\n"
        )
    };
    let with = |name: &str, environment: &str, identifier: &str| {
        Some(manifest(name, environment).replace("---\n", &database(identifier)))
    };
    let mut files = Files::default();
    let first = [
        ("a.yaml", with("a", "one", "Shared")),
        ("b.yaml", with("b", "one", "shared")),
        ("c.yaml", with("c", "two", "shared")),
    ];
    assert_eq!(names(&files.apply(&changes(true, &first))), ["a", "b", "c"]);
    let told: Vec<String> = files
        .problems()
        .iter()
        .filter(|it| it.code == "ResourceDeclaredTwice")
        .map(|it| format!("{}:{} {}", it.position.path, it.position.line, it.message))
        .collect();
    assert_eq!(
        told,
        [
            "a.yaml:4 the database shared is also declared by Workspace/b",
            "b.yaml:4 the database shared is also declared by Workspace/a",
        ]
    );
    let _ = files.apply(&changes(false, &[("b.yaml", with("b", "one", "other"))]));
    assert!(files.problems().iter().all(|it| it.code != "ResourceDeclaredTwice"));
}

#[test]
fn an_object_that_declares_one_resource_twice_is_told_once_and_by_its_own_name() {
    let buckets = "  resources:\n    buckets: {a: {name: one-bucket}, b: {name: one-bucket}}\n";
    let text = manifest("a", "one").replace("---\n", buckets);
    let mut files = Files::default();
    let _ = files.apply(&changes(true, &[("a.yaml", Some(text))]));
    let problems = files.problems();
    let told: Vec<&str> = problems.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(told, ["the bucket one-bucket is declared twice by Workspace/a"]);
}

/// Reads like [`parse`], and panics on a text that holds `boom`.
fn fragile(path: &str, bytes: &[u8]) -> Parsed {
    let text = String::from_utf8_lossy(bytes);
    assert!(!text.contains("boom"), "a fault of the reader");
    parse(path, bytes)
}

#[test]
fn a_file_whose_reading_panics_keeps_its_last_good_objects_and_stops_nothing() {
    let mut files = start();
    let next = [("a.yaml", Some(manifest("a", "boom"))), ("b.yaml", Some(manifest("b", "two")))];
    assert_eq!(names(&files.apply_with(&changes(false, &next), &fragile)), ["b"]);
    assert_eq!((environment(&files, "a"), environment(&files, "b")), (Some("one"), Some("two")));
    assert!(files.is_unsure(), "nobody knows what the file declares now");
    assert_eq!(names(&files.claims()), ["a"]);
    let problems = files.problems();
    let [problem] = &problems[..] else { panic!("{problems:?}") };
    assert_eq!((&*problem.position.path, &*problem.code), ("a.yaml", "InternalError"));
    assert_eq!(problem.severity, crate::model::Severity::Error);
    assert!(problem.message.contains("inside Levelset"), "{}", problem.message);
    assert!(problem.message.contains("last good objects stay"), "{}", problem.message);
    assert!(problem.hint.as_ref().is_some_and(|hint| hint.contains("report")), "{problem:?}");
    let mended = changes(false, &[("a.yaml", Some(manifest("a", "three")))]);
    assert_eq!(names(&files.apply_with(&mended, &fragile)), ["a"]);
    assert_eq!((files.problems(), files.is_unsure()), (Vec::new(), false));
}

#[test]
fn one_file_whose_reading_panics_does_not_cost_the_others_of_its_thread() {
    let mut files = Files::default();
    let paths: Vec<String> = (0..4 * MANY).map(|at| format!("{at}.yaml")).collect();
    let text = |at: usize| manifest(&format!("w{at}"), if at == 7 { "boom" } else { "one" });
    let all: Vec<(&str, Option<String>)> =
        paths.iter().enumerate().map(|(at, path)| (&**path, Some(text(at)))).collect();
    assert_eq!(files.apply_with(&changes(true, &all), &fragile).len(), 4 * MANY - 1);
    assert_eq!(files.problems_by_path().keys().map(|path| &**path).collect::<Vec<_>>(), ["7.yaml"]);
}

#[test]
fn a_file_that_cannot_be_read_at_all_may_hold_anything() {
    let mut files = start();
    let _ = files.apply(&changes(false, &[("c.yaml", Some("a: [".to_owned()))]));
    assert!(files.is_unsure());
    let refused =
        Entry { blob: "x".into(), content: Content::Refused("the file is too large".into()) };
    let mut change = changes(false, &[("c.yaml", None)]);
    change.changed.insert("a.yaml".into(), refused);
    let _ = files.apply(&change);
    assert!(files.is_unsure());
    assert_eq!(environment(&files, "a"), Some("one"));
    assert_eq!(files.problems()[0].message, "the file is too large");
}

#[test]
fn a_removed_file_loses_its_objects() {
    let mut files = start();
    assert_eq!(names(&files.apply(&changes(false, &[("a.yaml", None)]))), ["a"]);
    assert_eq!(environment(&files, "a"), None);
    let full = changes(true, &[("a.yaml", Some(manifest("a", "one")))]);
    assert_eq!(names(&files.apply(&full)), ["a", "b"]);
    assert_eq!(environment(&files, "b"), None);
}

#[test]
fn an_object_may_move_to_another_file() {
    let mut files = start();
    let moved = [("a.yaml", None), ("z.yaml", Some(manifest("a", "one")))];
    assert_eq!(names(&files.apply(&changes(false, &moved))), ["a"]);
    assert_eq!(files.object(&Key::workspace("a")).map(|object| &*object.path), Some("z.yaml"));
    assert!(files.problems().is_empty() && files.claims().is_empty());
}

#[test]
fn of_two_files_with_one_object_the_older_one_stays_in_force_and_both_are_told() {
    let mut files = start();
    let twice = manifest("x", "two") + &manifest("b", "two");
    let touched = files.apply(&changes(false, &[("a.yaml", Some(twice))]));
    assert_eq!(names(&touched), ["a", "b", "x"], "b is touched: something is told of it");
    assert_eq!(environment(&files, "b"), Some("one"));
    let told: Vec<String> = files
        .problems()
        .iter()
        .map(|problem| {
            let position = &problem.position;
            format!("{}:{}:{} {}", position.path, position.line, position.column, problem.message)
        })
        .collect();
    assert_eq!(
        told,
        [
            "a.yaml:11:9 Workspace/b is also declared in b.yaml",
            "b.yaml:4:9 Workspace/b is also declared in a.yaml",
        ]
    );
    let touched = files.apply(&changes(false, &[("b.yaml", None)]));
    assert_eq!((names(&touched), environment(&files, "b")), (vec!["b"], Some("two")));
    assert!(files.problems().is_empty());
}

#[test]
fn of_two_files_that_come_together_neither_is_taken_and_the_object_is_not_removed() {
    let mut files = Files::default();
    let both = [("1.yaml", Some(manifest("a", "one"))), ("2.yaml", Some(manifest("a", "two")))];
    let _ = files.apply(&changes(true, &both));
    assert_eq!(environment(&files, "a"), None);
    assert_eq!(names(&files.claims()), ["a"]);
    assert_eq!(files.problems().len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// However the files came, a full list of them leads to the same objects, as long as nothing is
    /// broken or contested; and what is touched is exactly what differs.
    #[test]
    fn touched_is_exactly_what_differs(
        steps in prop::collection::vec(prop::collection::btree_map(0..4_u8, prop::option::of(0..3_u8), 0..4), 1..8)
    ) {
        let mut files = Files::default();
        for step in steps {
            let paths: Vec<(String, Option<String>)> = step
                .iter()
                .map(|(file, env)| (format!("{file}.yaml"), env.map(|env| manifest(&format!("n{file}"), &format!("e{env}")))))
                .collect();
            let listed: Vec<(&str, Option<String>)> =
                paths.iter().map(|(path, text)| (path.as_str(), text.clone())).collect();
            let before: BTreeMap<Key, String> = seen(&files);
            let touched = files.apply(&changes(false, &listed));
            let after = seen(&files);
            let differ: BTreeSet<Key> = before
                .keys()
                .chain(after.keys())
                .filter(|key| before.get(*key) != after.get(*key))
                .cloned()
                .collect();
            prop_assert_eq!(touched, differ);
        }
    }
}

fn seen(files: &Files) -> BTreeMap<Key, String> {
    files.objects().map(|object| (object.key.clone(), object.environment().to_owned())).collect()
}

#[test]
fn many_files_are_parsed_by_several_threads_in_order() {
    let texts: Vec<(String, Option<String>)> = (0..MANY * 3)
        .map(|n| (format!("{n:04}.yaml"), Some(manifest(&format!("n{n:04}"), "one"))))
        .collect();
    let listed: Vec<(&str, Option<String>)> =
        texts.iter().map(|(path, text)| (path.as_str(), text.clone())).collect();
    let mut files = Files::default();
    assert_eq!(files.apply(&changes(true, &listed)).len(), MANY * 3);
    for object in files.objects() {
        assert_eq!(format!("n{}", object.path.trim_end_matches(".yaml")), &*object.key.name);
    }
}

#[test]
fn a_workspace_that_lets_in_what_has_no_group_there_is_told() {
    let workspace = |name: &str, environment: &str, network: &str| {
        let resources = format!("  resources: {{network: {{{network}}}}}\n");
        manifest(name, environment).replace("---\n", &resources)
    };
    let files = |b: String| {
        let a = workspace("a", "one", "vpcRef: v, ingress: [{port: 1, workspace: b}]");
        let mut files = Files::default();
        let _ = files.apply(&changes(true, &[("a.yaml", Some(a)), ("b.yaml", Some(b))]));
        files
    };
    let told = |b: String| -> Vec<String> {
        files(b).problems().into_iter().map(|problem| problem.message).collect()
    };
    assert_eq!(told(workspace("b", "one", "vpcRef: v, egress: []")), [""; 0]);
    let cases = [
        (workspace("c", "one", "vpcRef: v"), "no workspace of this name is declared"),
        (workspace("b", "two", "vpcRef: v, egress: []"), "it is in the environment two"),
        (workspace("b", "one", "vpcRef: w, egress: []"), "it is not in the VPC v"),
        (workspace("b", "one", "vpcRef: v"), "it declares neither ingress nor egress"),
    ];
    for (b, why) in cases {
        assert_eq!(told(b), [format!("the network names the workspace b, but {why}")]);
    }
    let missing = files(workspace("c", "one", "vpcRef: v"));
    assert!(missing.object(&Key::workspace("a")).is_some(), "the object is taken");
    assert_eq!(missing.problems()[0].severity, crate::model::Severity::Notice);
}
