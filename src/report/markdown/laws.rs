//! Nothing that a manifest or AWS says changes the structure of the Markdown, links to anybody, or
//! makes it longer than a host takes.

use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::*;
use crate::report::review::{page, sample};

/// What a reader sees is made of; texts and the lines of code are left out.
fn structure(markdown: &str) -> Vec<String> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let parser = Parser::new_ext(markdown, options);
    parser
        .filter_map(|event| match event {
            Event::Start(Tag::CodeBlock(_)) => Some("code".to_owned()),
            Event::Start(tag) => Some(format!("{:?}", tag.to_end())),
            Event::End(TagEnd::TableRow) => Some("row ends".to_owned()),
            Event::Html(html) | Event::InlineHtml(html) => tags(&html),
            Event::Rule => Some("rule".to_owned()),
            _ => None,
        })
        .collect()
}

/// Returns the names of the tags in a piece of HTML; code may be written in two ways.
fn tags(html: &str) -> Option<String> {
    let names = html.split('<').skip(1).map(|tag| tag.split(['>', ' ']).next().unwrap_or(""));
    let names: Vec<&str> = names.filter(|name| !name.ends_with("code")).collect();
    (!names.is_empty()).then(|| names.join(" "))
}

fn rendered(text: &str, host: Host) -> Vec<String> {
    [sample::everywhere(text), sample::conflict(text)]
        .map(|review| markdown(&page(&review), host, Some(&marker(host, text))))
        .to_vec()
}

/// Texts that are likely to break something.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("|"),
        Just("\\"),
        Just("`"),
        Just("```"),
        Just("~~~"),
        Just("\n"),
        Just("\n\n"),
        Just("</details>"),
        Just("</summary>"),
        Just("</code>"),
        Just("<script>"),
        Just("<!--"),
        Just("-->"),
        Just("<img src=x onerror=y>"),
        Just("**"),
        Just("_"),
        Just("]("),
        Just("!["),
        Just("[x]: http://y"),
        Just("@alice"),
        Just("#1"),
        Just("GH-1"),
        Just("org/repo#2"),
        Just("https://example.org/x"),
        Just("www.example.org"),
        Just("a@example.org"),
        Just("&lt;"),
        Just("- "),
        Just("# "),
        Just("> "),
        Just("1. "),
        Just("---"),
        Just("==="),
        Just("/close"),
        Just("\u{202e}"),
        Just("\0"),
        Just("$x$"),
        Just(":tada:"),
        Just(" "),
        Just("a"),
        Just("|:--|"),
    ];
    let pieces = prop::collection::vec(piece, 1..12).prop_map(|pieces| pieces.concat());
    prop_oneof![pieces, any::<String>()]
}

const HOSTS: [Host; 4] = [Host::GitHub, Host::GitLab, Host::Gitea, Host::Bitbucket];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn nothing_that_is_said_changes_the_structure(text in hostile()) {
        prop_assume!(!text.trim().is_empty());
        // A text of several lines is compared line by line.
        let plain = if text.contains('\n') { "innocent\nwords" } else { "innocent" };
        let plain = rendered(plain, Host::GitHub);
        for (text, plain) in rendered(&text, Host::GitHub).iter().zip(&plain) {
            prop_assert_eq!(structure(text), structure(plain), "{}", text);
        }
    }

    #[test]
    fn nobody_is_mentioned_and_nothing_is_linked(text in hostile()) {
        for text in rendered(&text, Host::GitHub) {
            let parser = Parser::new_ext(&text, Options::ENABLE_TABLES);
            let mut in_code = false;
            for event in parser {
                match event {
                    Event::Start(Tag::CodeBlock(_)) => in_code = true,
                    Event::End(TagEnd::CodeBlock) => in_code = false,
                    Event::Start(Tag::Link { .. } | Tag::Image { .. }) => prop_assert!(false, "{text}"),
                    Event::Text(words) if !in_code => prop_assert!(!is_linked(&words), "{words}"),
                    _ => {}
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn no_host_gets_more_than_it_takes(text in hostile(), times in 1..150_usize) {
        let mut review = sample::everywhere(&text);
        let object = review.objects[0].clone();
        review.objects.extend(std::iter::repeat_n(object, times));
        for host in HOSTS {
            let text = markdown(&page(&review), host, None);
            prop_assert!(length(&text) <= limit(host), "{host:?}: {}", length(&text));
        }
    }
}

/// Tells whether a host would find somebody or something in the words.
fn is_linked(words: &str) -> bool {
    let letters: Vec<char> = words.chars().collect();
    letters.windows(2).any(|pair| "@#".contains(pair[0]) && pair[1].is_ascii_alphanumeric())
        || words.contains("://")
        || words.to_lowercase().contains("www.")
}
