//! What an edit changes, and what it leaves alone.

use proptest::prelude::*;
use serde_json::json;

use super::*;

const FILE: &str = r#"# The team's.
apiVersion: platform.kby.io/v1alpha1
kind: Workspace
metadata: {name: a}   # first
spec:
  environment: production
  resources:
    database:
      engine: postgres
      version: "15"                # quoted on purpose
      sizeClass: db.r6g.large
      maintenanceWindow: 'sun:03:00-sun:06:00'
      backups: {retentionDays: 14, copyTags: true} # two weeks
      parameters:
        rds.force_ssl: 1
        max_connections: "200"
      logExports: [postgresql, upgrade]   # both
      securityGroups:
        - sg-1
      tags: {note: plain}
---
kind: Workspace
apiVersion: platform.kby.io/v1alpha1
metadata: {name: b}
spec:
  environment: production
  resources: {database: {backups: {retentionDays: 14}}}
"#;

fn edited(member: &str, value: Value) -> Result<String, Uneditable> {
    let bytes = edit(FILE.as_bytes(), &Key::workspace("a"), member, &value)?;
    Ok(String::from_utf8(bytes).unwrap())
}

/// Edits, and returns the one line that differs.
fn line(member: &str, value: Value) -> String {
    let text = edited(member, value).unwrap_or_else(|why| panic!("{member}: {why}"));
    let lines = FILE.lines().zip(text.lines());
    let changed: Vec<&str> = lines.filter(|(a, b)| a != b).map(|(_, line)| line).collect();
    assert_eq!(text.lines().count(), FILE.lines().count());
    assert_eq!(changed.len(), 1, "{text}");
    changed[0].trim_start().to_owned()
}

#[test]
fn a_value_takes_the_place_of_another_with_its_quotes_and_the_comment_behind_it() {
    for (member, value, expected) in [
        ("database.sizeClass", json!("db.r6g.xlarge"), "sizeClass: db.r6g.xlarge"),
        (
            "database.version",
            json!("15.10"),
            "version: \"15.10\"                # quoted on purpose",
        ),
        (
            "database.maintenanceWindow",
            json!("mon:03:00-mon:06:00"),
            "maintenanceWindow: 'mon:03:00-mon:06:00'",
        ),
        (
            "database.backups.retentionDays",
            json!(1),
            "backups: {retentionDays: 1, copyTags: true} # two weeks",
        ),
        (
            "database.backups.copyTags",
            json!(false),
            "backups: {retentionDays: 14, copyTags: false} # two weeks",
        ),
        ("database.parameters.rds.force_ssl", json!("0"), "rds.force_ssl: 0"),
        ("database.parameters.max_connections", json!("500"), "max_connections: \"500\""),
        ("database.logExports", json!(["postgresql"]), "logExports: [postgresql]   # both"),
        ("database.tags.note", json!("a, b"), "tags: {note: \"a, b\"}"),
        ("database.tags.note", json!("true"), "tags: {note: \"true\"}"),
        ("database.tags.note", json!("#1"), "tags: {note: \"#1\"}"),
    ] {
        assert_eq!(line(member, value), expected, "{member}");
    }
}

#[test]
fn the_fields_of_a_network_stand_right_below_its_spec() {
    let file = "apiVersion: platform.kby.io/v1alpha1\nkind: Network\nmetadata: {name: shop}\nspec:\n  \
        environment: staging\n  vpc: # ours\n    cidr: 10.0.0.0/16\n    dnsHostnames: true\n";
    let key = Key::new(crate::model::ObjectKind::Network, "shop");
    let text = edit(file.as_bytes(), &key, "vpc.dnsHostnames", &json!(false)).unwrap();
    assert_eq!(String::from_utf8(text).unwrap(), file.replace("true", "false"));
}

#[test]
fn only_the_object_that_is_meant_is_edited() {
    let key = Key::workspace("b");
    let text = edit(FILE.as_bytes(), &key, "database.backups.retentionDays", &json!(3)).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(text.matches("retentionDays: 14").count(), 1);
    assert!(text.ends_with("resources: {database: {backups: {retentionDays: 3}}}\n"));
    let nobody = edit(FILE.as_bytes(), &Key::workspace("c"), "database.version", &json!("16"));
    assert_eq!(nobody, Err(Uneditable::NoObject));
}

#[test]
fn what_cannot_be_put_into_one_place_is_refused_with_a_reason() {
    for (member, value, expected) in [
        ("database.port", json!(5432), Uneditable::Undeclared),
        ("database.backups", json!(1), Uneditable::Compound),
        ("database.backups.retentionDays", Value::Null, Uneditable::Absent),
        ("database.sizeClass", json!({"a": 1}), Uneditable::Compound),
        ("database.securityGroups", json!(["sg-2"]), Uneditable::ManyLines),
        ("database.logExports", json!([{"a": 1}]), Uneditable::Compound),
        ("database.logExports", json!("upgrade"), Uneditable::Compound),
    ] {
        assert_eq!(edited(member, value), Err(expected), "{member}");
    }
}

#[test]
fn a_value_that_others_share_is_refused() {
    let shared = FILE
        .replace("retentionDays: 14, copyTags", "retentionDays: &days 14, copyTags")
        .replace("rds.force_ssl: 1", "rds.force_ssl: *days");
    let of = |member: &str| edit(shared.as_bytes(), &Key::workspace("a"), member, &json!(3));
    assert_eq!(of("database.backups.retentionDays"), Err(Uneditable::Shared));
    assert_eq!(of("database.parameters.rds.force_ssl"), Err(Uneditable::Shared));
}

#[test]
fn a_text_over_several_lines_is_refused() {
    for text in ["|\n          one\n          two", "one\n        two"] {
        let long = FILE.replace("sizeClass: db.r6g.large", &format!("sizeClass: {text}"));
        let result = edit(long.as_bytes(), &Key::workspace("a"), "database.sizeClass", &json!("x"));
        assert_eq!(result, Err(Uneditable::ManyLines), "{text}");
    }
}

#[test]
fn a_byte_order_mark_and_the_line_ends_of_windows_stay() {
    let windows = format!("\u{feff}{}", FILE.replace('\n', "\r\n"));
    let key = Key::workspace("a");
    let text = edit(windows.as_bytes(), &key, "database.version", &json!("16")).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(text, windows.replace("\"15\"", "\"16\""));
}

proptest! {
    /// Whatever the text, it is read again as it was meant, and nothing else changes.
    #[test]
    fn any_text_is_read_as_it_was_meant_or_refused(text in any::<String>()) {
        if let Ok(after) = edited("database.tags.note", json!(text)) {
            let documents = yaml::documents(&after);
            let root = yaml::tree(documents[0].text).unwrap();
            let path = ["spec", "resources", "database", "tags", "note"];
            prop_assert_eq!(root.at(&path).and_then(Node::text), Some(text.as_str()));
            let (head, tail) = FILE.split_once("note: plain").unwrap();
            prop_assert!(after.starts_with(head) && after.ends_with(tail));
        }
    }
}
