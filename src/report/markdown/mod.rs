//! A page as Markdown that a code host renders, within the length that it takes.
//!
//! In: a [`Page`] and the [`Host`] (GitHub stands for GitHub Enterprise Server, Gitea for Forgejo).
//! Out: text.
//!
//! Invariants: whatever a manifest or AWS says stays what it is: it ends no table, code or fold,
//! mentions nobody, links nowhere and is no HTML ([`escape`]). The text is never longer than the host
//! takes; what does not fit is counted and said. Equal pages give equal texts.

mod escape;
mod inline;

#[cfg(test)]
mod laws;

use self::inline::{Dialect, inline, inline_html, start};
use crate::model::webhook::Host;
use crate::report::page::{Block, Fold, Line, Page};

/// Returns how many characters a comment at a host may have.
///
/// GitHub refuses more than 65,536 ("body is too long"); less is taken, so that a proxy's or a mail's
/// additions fit. GitLab takes a million and shows long ones slowly. Of the others no limit is
/// documented: Gitea is treated as GitHub, Bitbucket Cloud as its Server, which takes 32,768.
pub const fn limit(host: Host) -> usize {
    match host {
        Host::GitHub | Host::Gitea => 60_000,
        Host::GitLab => 200_000,
        Host::Bitbucket => 30_000,
    }
}

/// Bitbucket's Markdown has no HTML and nothing to fold.
const fn dialect(host: Host) -> Dialect {
    match host {
        Host::GitHub | Host::GitLab | Host::Gitea => Dialect::Html,
        Host::Bitbucket => Dialect::Plain,
    }
}

/// Returns a line that a reader does not see and by which a comment is found again.
///
/// Bitbucket shows HTML comments as text; a definition of a link that nobody uses is shown nowhere.
pub fn marker(host: Host, name: &str) -> String {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || "._-/".contains(*letter);
    let name: String = name.chars().filter(is_plain).collect();
    match dialect(host) {
        Dialect::Html => format!("<!-- levelset:{name} -->"),
        Dialect::Plain => format!("[levelset:{name}]: https://levelset.invalid"),
    }
}

/// How many rows and lines of a table or list are shown, from generous to terse: the first that fits.
const ROWS: [usize; 4] = [200, 40, 12, 4];

/// Room that is kept for the line that counts what is not shown.
const RESERVE: usize = 1_500;

/// Renders a page; `marker` is put before it.
pub fn markdown(page: &Page, host: Host, marker: Option<&str>) -> String {
    let (limit, dialect) = (limit(host), dialect(host));
    let mut text = marker.map(|marker| format!("{marker}\n\n")).unwrap_or_default();
    text.push_str(&format!("### {}\n\n", line(&page.title, dialect)));
    text.push_str(&blocks(&page.head, dialect));
    let foot = blocks(&page.foot, dialect);
    let room = limit.saturating_sub(length(&text) + length(&foot) + RESERVE);
    text.push_str(&folds(page, dialect, room));
    text.push_str(&foot);
    text
}

/// Renders the folds that fit, in order, and counts the others.
fn folds(page: &Page, dialect: Dialect, mut room: usize) -> String {
    let (mut text, mut hidden) = (String::new(), 0);
    for folded in &page.folds {
        // Once something is left out, only what needs less care follows.
        let found = if hidden > 0 { None } else { fitting(folded, dialect, room) };
        match found {
            Some(rendered) => {
                room -= length(&rendered);
                text.push_str(&rendered);
            }
            None => hidden += 1,
        }
    }
    if hidden > 0 {
        let count = format!("{hidden} of {} objects are not shown here. ", page.folds.len());
        let told = Line::new().strong(count).and(page.elsewhere.clone());
        text.push_str(&blocks(&[Block::Text(told)], dialect));
    }
    text
}

/// Renders a fold with as many rows as fit.
fn fitting(folded: &Fold, dialect: Dialect, room: usize) -> Option<String> {
    let tried = ROWS.into_iter().map(|rows| fold(&folded.within(rows), dialect));
    tried.into_iter().find(|text| length(text) <= room)
}

fn length(text: &str) -> usize {
    text.chars().count()
}

fn fold(fold: &Fold, dialect: Dialect) -> String {
    let inner = blocks(&fold.blocks, dialect);
    match dialect {
        Dialect::Html => {
            let open = if fold.open { " open" } else { "" };
            let summary = inline_html(&fold.summary);
            format!("<details{open}>\n<summary>{summary}</summary>\n\n{inner}</details>\n\n")
        }
        Dialect::Plain => format!("#### {}\n\n{inner}", line(&fold.summary, dialect)),
    }
}

fn blocks(blocks: &[Block], dialect: Dialect) -> String {
    blocks.iter().map(|block| format!("{}\n", self::block(block, dialect))).collect()
}

/// Renders a block, every line ended.
fn block(block: &Block, dialect: Dialect) -> String {
    match block {
        Block::Text(text) => format!("{}\n", line(text, dialect)),
        Block::Table { head, rows } => table(head, rows, dialect),
        Block::Items(items) => {
            items.iter().map(|item| format!("- {}\n", line(item, dialect))).collect()
        }
        Block::Difference { lines, hidden } => difference(lines, *hidden),
    }
}

/// Renders a line that stands at the start of a block.
fn line(line: &Line, dialect: Dialect) -> String {
    start(&inline(line, dialect, false))
}

fn table(head: &[Line], rows: &[Vec<Line>], dialect: Dialect) -> String {
    let row = |cells: &[Line]| {
        let cells: Vec<String> = cells.iter().map(|cell| inline(cell, dialect, true)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let rule = format!("|{}\n", ":--|".repeat(head.len()));
    let rows: String = rows.iter().map(|cells| row(cells)).collect();
    format!("{}{rule}{rows}", row(head))
}

/// Renders lines in a fence that is longer than any in them.
fn difference(lines: &[String], hidden: usize) -> String {
    let longest = lines.iter().map(|line| escape::longest_run(line, '`')).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    let mut text = format!("{fence}diff\n");
    for line in lines {
        text.push_str(&format!("{line}\n"));
    }
    if hidden > 0 {
        text.push_str(&format!("  ... {hidden} more lines\n"));
    }
    text.push_str(&format!("{fence}\n"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::page::Mark;

    fn page(folds: usize, rows: usize) -> Page {
        let name = |n: usize| Line::new().code(format!("object-{n}"));
        let table = |n| Block::Table {
            head: vec![Line::new().text("Field"), Line::new().text("Change")],
            rows: (0..rows).map(|row| vec![name(row), name(n)]).collect(),
        };
        let fold = |n| Fold { summary: name(n), open: n == 0, blocks: vec![table(n)] };
        Page {
            title: Line::new().mark(Mark::Look).text("Look before you merge"),
            folds: (0..folds).map(fold).collect(),
            foot: vec![Block::Text(Line::new().faint("the end"))],
            elsewhere: Line::new().code("levelset report").text(" shows all of them."),
            ..Page::default()
        }
    }

    #[test]
    fn a_page_is_a_heading_its_folds_and_its_foot() {
        let expected = "\
<!-- levelset:prod/report -->

### ⚠️\u{a0}Look before you merge

<details open>
<summary><code>object-0</code></summary>

| Field | Change |
|:--|:--|
| `object-0` | `object-0` |

</details>

<sub>the end</sub>

";
        let marker = marker(Host::GitHub, "prod/report");
        assert_eq!(markdown(&page(1, 1), Host::GitHub, Some(&marker)), expected);
    }

    #[test]
    fn where_nothing_folds_a_fold_is_a_section() {
        let text = markdown(&page(1, 1), Host::Bitbucket, None);
        assert!(text.contains("#### `object-0`\n\n| Field | Change |\n"), "{text}");
        assert!(!text.contains('<'), "{text}");
    }

    #[test]
    fn what_does_not_fit_is_counted_and_said_where_to_see() {
        for host in [Host::GitHub, Host::GitLab, Host::Gitea, Host::Bitbucket] {
            let text = markdown(&page(2_000, 30), host, None);
            assert!(length(&text) <= limit(host), "{host:?}: {}", length(&text));
            let shown = text.matches("| Field | Change |").count();
            let told = format!("{} of 2000 objects are not shown here.", 2_000 - shown);
            assert!(shown > 10 && text.contains(&told), "{host:?}: {shown}");
            assert!(text.contains("`levelset report` shows all of them."));
        }
    }

    #[test]
    fn a_fold_that_is_too_long_is_shown_with_fewer_rows() {
        let text = markdown(&page(1, 100_000), Host::GitHub, None);
        assert!(text.contains("and 99800 more"), "{}", &text[..500]);
        let text = markdown(&page(40, 100_000), Host::GitHub, None);
        assert!(text.contains("and 99996 more") && length(&text) <= 60_000);
    }

    #[test]
    fn a_fence_is_longer_than_what_is_in_it() {
        let text = difference(&["+ ```".to_owned(), "</details>".to_owned()], 3);
        assert_eq!(text, "````diff\n+ ```\n</details>\n  ... 3 more lines\n````\n");
    }
}
