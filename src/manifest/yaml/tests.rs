//! How YAML is read where readers differ.

use proptest::prelude::*;
use serde::de::IgnoredAny;
use std::marker::PhantomData;

use super::*;

fn typed<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Mistake> {
    read(text, PhantomData::<T>)
}

fn code<T>(read: Result<T, Mistake>) -> &'static str {
    read.err().map_or("good", |mistake| mistake.code)
}

#[test]
fn words_of_yaml_1_1_are_texts_and_not_booleans() {
    for word in ["yes", "no", "on", "off", "y", "n", "Yes", "NO"] {
        assert_eq!(tree(word).unwrap().data, Data::Text(word.to_owned()));
        assert!(typed::<bool>(word).is_err(), "{word}");
    }
    assert!(typed::<bool>("true").unwrap());
}

#[test]
fn a_text_that_looks_like_something_else_needs_quotes() {
    for (text, good) in [
        ("15.10", false),
        ("15", false),
        ("true", false),
        ("0x10", false),
        ("1e3", false),
        ("\"15.10\"", true),
        ("'15'", true),
        ("15.10.1", true),
        ("db.r6g.large", true),
        ("no", true),
        ("2026-11-29", true),
    ] {
        let expected = if good { "good" } else { "UnquotedText" };
        assert_eq!(code(typed::<String>(text)), expected, "{text}");
    }
}

#[test]
fn a_quoted_text_is_no_number_and_no_boolean_however_deep() {
    type Deep<T> = std::collections::BTreeMap<String, Vec<Option<T>>>;
    for (text, good) in [("a: [7, 8]", true), ("a: [7, '8']", false), ("a: [~, \"8\"]", false)] {
        assert_eq!(typed::<Deep<u32>>(text).is_ok(), good, "{text}");
        assert_eq!(typed::<Deep<f64>>(text).is_ok(), good, "{text}");
        assert!(typed::<Deep<serde_json::Value>>(text).is_ok(), "{text}");
    }
    assert!(typed::<Deep<bool>>("a: [true]").is_ok());
    assert!(typed::<Deep<bool>>("a: ['true']").is_err());
    assert!(typed::<u8>("256").is_err());
}

#[test]
fn what_is_no_plain_yaml_1_2_is_refused_by_name() {
    for (text, expected) in [
        ("a: 1\na: 2\n", "DuplicateKey"),
        ("a: !Ref b\n", "UnknownTag"),
        ("!Ref a: b\n", "UnknownTag"),
        ("base: &b {a: 1}\nc: {<<: *b}\n", "MergeKey"),
        ("a: *b\n", "UnknownAnchor"),
        ("a:\n\tb: 1\n", "Syntax"),
        ("a: [1\n", "Syntax"),
        ("a: \"b\n", "Syntax"),
        ("a: \u{0}\n", "Syntax"),
    ] {
        let read = typed::<std::collections::BTreeMap<String, IgnoredAny>>(text);
        assert_eq!(code(read), expected, "{text:?}");
    }
}

#[test]
fn depth_and_size_and_aliases_are_bounded() {
    let deep: String = (0..2_000).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
    let laughs: String = (1..9).fold("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned(), |text, n| {
        text + &format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 10].join(","))
    });
    let wide = format!("[{}]", "1,".repeat(LIMITS.nodes + 1));
    for text in [deep, laughs, wide, "- ".repeat(100_000), "[".repeat(100_000)] {
        assert_eq!(code(tree(&text)), "TooComplex", "{}", &text[..40]);
        assert_eq!(code(typed::<IgnoredAny>(&text)), "TooComplex", "{}", &text[..40]);
    }
}

#[test]
fn a_pointer_leads_to_the_bytes_of_a_value_or_of_the_nearest_parent() {
    let text = "ä: ö\nb:\n  c/d: \"x\"\n  e: [1, two]\n  f: &f {g: h}\n  i: *f\n";
    let root = tree(text).unwrap();
    for (pointer, expected) in [
        ("/ä", "ö"),
        ("/b/c~1d", "\"x\""),
        ("/b/e/1", "two"),
        ("/b", "b"),
        ("/b/f/g", "h"),
        ("/b/i", "i"),
        ("/b/missing/deep", "b"),
        ("/b/e/7", "e"),
    ] {
        assert_eq!(&text[root.locate(pointer)], expected, "{pointer}");
    }
}

#[test]
fn a_key_that_is_given_twice_is_kept_in_the_tree() {
    let root = tree("a: 1\nb: 2\na: 3\n").unwrap();
    let keys: Vec<&str> = root.entries().iter().map(|entry| entry.key.as_str()).collect();
    assert_eq!(keys, ["a", "b", "a"]);
}

#[test]
fn documents_are_split_at_their_markers_and_empty_ones_left_out() {
    let text = "# head\n%YAML 1.2\n---\na: 1\n---\n# nothing\n--- # still nothing\nb: |\n  ---\n  x\n...\n\n--- {c: 3}\n";
    let found: Vec<(&str, &str)> = documents(text)
        .iter()
        .map(|document| (document.text, text[document.content..].lines().next().unwrap()))
        .collect();
    assert_eq!(
        found,
        [
            ("# head\n%YAML 1.2\n---\na: 1\n", "a: 1"),
            ("---\n# nothing\n--- # still nothing\nb: |\n  ---\n  x\n...\n", "b: |"),
            ("\n--- {c: 3}\n", "--- {c: 3}"),
        ]
    );
}

proptest! {
    #[test]
    fn lines_cover_the_text_without_gaps(text in "[ab\r\n\u{e4}]{0,60}") {
        let mut end = 0;
        for line in lines(&text) {
            prop_assert_eq!(line.start, end);
            prop_assert!(line.end > line.start);
            end = line.end;
        }
        prop_assert_eq!(end, text.len());
    }

    #[test]
    fn every_document_of_a_good_file_is_found_by_the_split(values in prop::collection::vec(0..9u8, 0..6)) {
        let text: String = values.iter().map(|value| format!("---\nvalue: {value}\n")).collect();
        let found: Vec<String> =
            documents(&text).iter().map(|document| tree(document.text).unwrap().to_json().to_string()).collect();
        let expected: Vec<String> =
            values.iter().map(|value| format!("{{\"value\":{value}}}")).collect();
        prop_assert_eq!(found, expected);
    }
}
