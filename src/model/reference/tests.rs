//! References in texts.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn read(text: &str) -> Option<String> {
    Reference::read(text).map(|reference| format!("{:?} {:?}", reference.object, reference.path))
}

#[test]
fn a_reference_names_a_path_of_this_object_or_of_another() {
    let reference = Reference::read("database.endpoint").unwrap();
    assert_eq!((reference.object, reference.path.join(".")), (None, "database.endpoint".into()));
    let other = Reference::read("Workspace/team-a.iam.api.arn").unwrap();
    assert_eq!(other.object, Some(Key::workspace("team-a")));
    assert_eq!(other.path, ["iam", "api", "arn"]);
    assert_eq!(other.to_string(), "Workspace/team-a.iam.api.arn");
    for text in
        ["", "database", "database.", ".endpoint", "Pod/a.b.c", "Workspace/a", "a b.c", "a..b"]
    {
        assert_eq!(read(text), None, "{text}");
    }
}

#[test]
fn a_text_is_taken_apart_at_its_markers() {
    use Piece::{Escape, Marker, Text, Unclosed};
    let cases: [(&str, &[Piece<'_>]); 7] = [
        ("plain $ {}", &[Text("plain $ {}")]),
        ("${a.b}", &[Marker("a.b")]),
        ("x-${a.b}-y", &[Text("x-"), Marker("a.b"), Text("-y")]),
        ("$${a.b}", &[Escape, Text("a.b}")]),
        ("$$${a}", &[Text("$"), Escape, Text("a}")]),
        ("${a.b", &[Unclosed("a.b")]),
        ("${a}${b}", &[Marker("a"), Marker("b")]),
    ];
    for (text, expected) in cases {
        assert_eq!(pieces(text), expected, "{text}");
    }
}

#[test]
fn variables_of_iam_policies_are_no_references() {
    let text = json!(["arn:aws:s3:::b/${aws:username}/*", "${*}${?}${$}", "${saml:sub}"]);
    assert_eq!(markers(&text), Vec::<&str>::new());
    assert!(!has_marker("${aws:PrincipalTag/team, 'none'}"));
    assert_eq!(fill(&text, &|_| None), text);
}

#[test]
fn a_marker_alone_keeps_the_type_and_within_a_text_it_is_written_out() {
    let of = |marker: &str| match marker {
        "database.port" => Some(json!(5432)),
        "database.endpoint" => Some(json!("db.example ${database.port}")),
        _ => None,
    };
    let value = json!({
        "port": "${database.port}",
        "url": ["postgres://${database.endpoint}:${database.port}/$${database.port}"],
        "n": 1,
    });
    // What an output holds is not looked at again.
    let expected = json!({
        "port": 5432,
        "url": ["postgres://db.example ${database.port}:5432/${database.port}"],
        "n": 1,
    });
    assert_eq!(fill(&value, &of), expected);
    assert_eq!(markers(&value), ["database.endpoint", "database.port"]);
}

proptest! {
    #[test]
    fn an_escaped_text_is_the_text(text in "[a-z${}.:]{0,24}") {
        // A `$` right before the escape would be one more of it.
        prop_assume!(!text.contains("$$"));
        let filled = fill(&escaped(&text).into(), &|_| panic!("no marker"));
        prop_assert_eq!(filled, Value::from(text));
    }

    #[test]
    fn the_pieces_of_a_text_are_all_of_it(text in "[a-c${}.]{0,24}") {
        let joined: String = pieces(&text)
            .into_iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.to_owned(),
                Piece::Escape => ESCAPE.to_owned(),
                Piece::Marker(marker) => format!("${{{marker}}}"),
                Piece::Unclosed(rest) => format!("${{{rest}"),
            })
            .collect();
        prop_assert_eq!(joined, text);
    }
}
