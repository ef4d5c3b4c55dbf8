//! References in manifests: what is told of them, and where.

use crate::manifest::{Files, parse};
use crate::model::tree::Content;
use crate::model::{ChangeSet, Entry, Problem, Revision};

const HEAD: &str = "apiVersion: platform.kby.io/v1alpha1\nkind: Workspace\nmetadata: {name: NAME}\n\
    spec:\n  environment: one\n  resources:\n";
const DATABASE: &str = "    database: {engine: postgres, version: \"15\", sizeClass: db.r6g.large";

fn workspace(name: &str, resources: &str) -> String {
    format!("{}{resources}", HEAD.replace("NAME", name))
}

fn told(problem: &Problem) -> String {
    let at = &problem.position;
    if problem.code.contains("Reference") || problem.code.contains("Output") {
        let column = at.column as usize - 1;
        let here: String = problem.source_line.chars().skip(column).take(2).collect();
        assert_eq!(here, "${", "{problem:?}");
    }
    format!("{}:{}:{} {}: {}", at.path, at.line, at.column, problem.code, problem.message)
}

/// Returns what is told of the resources of a workspace.
fn of(resources: &str) -> Vec<String> {
    parse("a.yaml", workspace("a", resources).as_bytes()).problems.iter().map(told).collect()
}

/// Returns what is told of a repository.
fn of_all(files: &[(&str, String)]) -> Vec<Problem> {
    let entry = |text: &String| Entry {
        blob: text.as_str().into(),
        content: Content::Bytes(text.as_bytes().into()),
    };
    let changed = files.iter().map(|(path, text)| ((*path).into(), entry(text))).collect();
    let revision = Revision::new("0");
    let mut all = Files::default();
    let _ = all.apply(&ChangeSet { revision, changed, removed: Vec::new(), full: true });
    all.problems()
}

fn role(name: &str, rest: &str) -> String {
    format!("        {name}: {{trust: {{services: [ecs-tasks.amazonaws.com]}}{rest}}}\n")
}

#[test]
fn a_good_reference_is_taken_and_names_what_it_needs() {
    let text = workspace(
        "a",
        &format!(
            "    network: {{vpcRef: shared}}\n{DATABASE}, tags: {{vpc: \"${{network.vpcId}}\"}}}}\n    \
             iam:\n      roles:\n{}",
            role("api", ", description: \"reads ${database.endpoint}:${database.port}\"")
        ),
    );
    let parsed = parse("a.yaml", text.as_bytes());
    assert_eq!(parsed.problems, []);
    let mentions: Vec<String> = parsed.objects[0]
        .mentions
        .iter()
        .map(|it| format!("{} -> {}", it.holder, it.reference))
        .collect();
    let expected =
        ["database -> network.vpcId", "iam.api -> database.endpoint", "iam.api -> database.port"];
    assert_eq!(mentions, expected);
}

#[test]
fn what_names_nothing_is_told_at_its_place_with_what_was_meant() {
    let roles =
        role("api", ", description: \"x ${database.endpoint} ${iam.ap.arn} ${datbase.arn}\"")
            + &role("job", ", description: \"${iam.api.arm} ${iam.api} ${nothing} ${iam.api.arn\"");
    let found = of(&format!("    iam:\n      roles:\n{roles}"));
    assert_eq!(
        found,
        [
            "a.yaml:9:77 UnknownReference: this Workspace declares no database",
            "a.yaml:9:98 UnknownReference: this Workspace declares no role \"ap\"",
            "a.yaml:9:112 UnknownReference: this Workspace has no section \"datbase\"",
            "a.yaml:10:75 UnknownOutput: iam.api has no output \"arm\"",
            "a.yaml:10:90 UnknownOutput: iam.api has no output \"\"",
            "a.yaml:10:101 MalformedReference: ${nothing} is no reference, as ${database.endpoint} is one",
            "a.yaml:10:112 UnclosedReference: ${ has no }",
        ]
    );
}

#[test]
fn a_text_that_was_never_meant_is_escaped_or_stands_in_a_policy() {
    let policy = ", inline: {own: {Version: \"2012-10-17\", Statement: [{Effect: Allow, \
        Action: \"s3:*\", Resource: \"arn:aws:s3:::home/${aws:username}/${*}\"}]}}";
    let escaped = ", tags: {note: \"write $${database.endpoint}\"}";
    let roles = role("api", policy) + &role("job", escaped);
    assert_eq!(of(&format!("    iam:\n      roles:\n{roles}")), Vec::<String>::new());
    let tag = ", tags: {note: \"${aws:username}\"}";
    let found = of(&format!("    iam:\n      roles:\n{}", role("api", tag)));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("MalformedReference"), "{found:?}");
}

#[test]
fn a_field_that_takes_no_reference_says_so() {
    let found = of(&format!("{DATABASE}, optionGroup: \"${{network.vpcId}}\"}}\n"));
    assert!(found[1].contains("ReferenceNotTaken: this field takes no reference"), "{found:?}");
    let list = of(&format!(
        "    network: {{vpcRef: shared}}\n{DATABASE}, tags: {{all: \"${{network.subnetIds}}\"}}}}\n"
    ));
    assert!(list[0].contains("NotAText: subnetIds is a list"), "{list:?}");
}

#[test]
fn a_broken_section_hides_no_circle_and_no_spelling_of_the_others() {
    let roles = role("api", ", description: \"${iam.api.arn} ${database.endpoint}\"");
    let found = of(&format!("    database: {{engine: 1}}\n    iam:\n      roles:\n{roles}"));
    assert!(
        found.iter().any(|it| it.contains("CircularReference: iam.api -> iam.api")),
        "{found:?}"
    );
    assert!(!found.iter().any(|it| it.contains("declares no database")), "{found:?}");
}

#[test]
fn a_circle_within_an_object_is_told_at_each_member() {
    let monitoring = "monitoring: {intervalSeconds: 60, roleArn: \"${iam.watch.arn}\"}";
    let found = of(&format!(
        "{DATABASE}, {monitoring}}}\n    iam:\n      roles:\n{}",
        role("watch", ", description: \"for ${database.arn}\"")
    ));
    assert_eq!(
        found.iter().filter(|it| it.contains("Circular")).collect::<Vec<_>>(),
        [
            "a.yaml:7:118 CircularReference: database -> iam.watch -> database: none of them could \
             be made first",
            "a.yaml:10:81 CircularReference: iam.watch -> database -> iam.watch: none of them could \
             be made first",
        ]
    );
}

#[test]
fn a_right_to_log_in_counts_like_a_reference() {
    let found = of(&format!(
        "{DATABASE}, iamAuthentication: true, tags: {{by: \"${{iam.api.arn}}\"}}}}\n    iam:\n      \
         roles:\n{}",
        role("api", ", databaseAccess: {users: [app]}")
    ));
    let circles: Vec<&String> = found.iter().filter(|it| it.contains("Circular")).collect();
    assert_eq!(circles.len(), 1, "{found:?}");
    assert!(circles[0].contains("database -> iam.api -> database"), "{circles:?}");
}

#[test]
fn a_circle_through_several_files_is_told_in_each_with_where_it_goes_on() {
    let with = |name: &str, other: &str| {
        let role = role("api", &format!(", description: \"${{Workspace/{other}.iam.api.arn}}\""));
        workspace(name, &format!("    iam:\n      roles:\n{role}"))
    };
    let files = [
        ("teams/a.yaml", with("a", "b")),
        ("teams/b.yaml", with("b", "c")),
        ("teams/c.yaml", with("c", "a")),
        ("teams/d.yaml", with("d", "a")),
    ];
    let problems = of_all(&files);
    let found: Vec<String> = problems.iter().map(told).collect();
    let circle = |names: [&str; 4]| {
        let nodes = names.map(|name| format!("Workspace/{name}.iam.api"));
        format!("CircularReference: {}: none of them could be made first", nodes.join(" -> "))
    };
    assert_eq!(
        found,
        [
            format!("teams/a.yaml:9:75 {}", circle(["a", "b", "c", "a"])),
            format!("teams/b.yaml:9:75 {}", circle(["b", "c", "a", "b"])),
            format!("teams/c.yaml:9:75 {}", circle(["c", "a", "b", "c"])),
        ]
    );
    let hint = problems[0].hint.as_deref().unwrap();
    assert!(hint.ends_with("teams/b.yaml:9:75, teams/c.yaml:9:75"), "{hint}");
}

#[test]
fn what_another_object_does_not_have_is_told_where_it_is_named() {
    let text = ", description: \"${Workspace/b.database.endpoint} ${Workspace/gone.iam.x.arn} \
        ${Network/core.network.vpcId}\"";
    let a = workspace("a", &format!("    iam:\n      roles:\n{}", role("api", text)));
    let core = "apiVersion: platform.kby.io/v1alpha1\nkind: Network\nmetadata: {name: core}\n\
        spec: {environment: one}\n";
    let files = [("a.yaml", a), ("b.yaml", workspace("b", "    {}\n")), ("core.yaml", core.into())];
    let found: Vec<String> = of_all(&files).iter().map(told).collect();
    assert_eq!(
        found,
        [
            "a.yaml:9:75 UnknownReference: Workspace/b declares no database",
            "a.yaml:9:108 UnknownReference: the repository declares no Workspace/gone",
        ]
    );
}
