//! A report as a tree of blocks, before it is known in which language it is written.
//!
//! In: what a report says, piece by piece. Out: the same value for every writer
//! ([`markdown`](super::markdown), [`html`](super::html)).
//!
//! Invariants: a [`Span`] holds plain text, whoever wrote it; only a writer knows what has to be
//! escaped, so that nothing can be forgotten where a report is put together. Everything has bounds:
//! a text is clipped where it enters.

/// The longest text of one piece, in characters.
const MAX_TEXT: usize = 300;

/// The longest piece of code within a line, in characters.
const MAX_CODE: usize = 120;

/// The longest line of a block of code, in characters.
const MAX_LINE: usize = 200;

/// Holds a whole report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// One line that says it all, as text.
    pub title: Line,
    /// What everybody reads.
    pub head: Vec<Block>,
    /// What is folded away, the most important first.
    pub folds: Vec<Fold>,
    /// What stands at the end.
    pub foot: Vec<Block>,
    /// How to see what does not fit.
    pub elsewhere: Line,
}

/// Holds what opens when a reader asks for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fold {
    /// What is read while it is closed.
    pub summary: Line,
    /// True when it begins open.
    pub open: bool,
    /// What is in it.
    pub blocks: Vec<Block>,
}

/// Names one piece of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// A line of its own.
    Text(Line),
    /// Rows under a heading; every row has as many cells as the heading.
    Table {
        /// The heading.
        head: Vec<Line>,
        /// The rows.
        rows: Vec<Vec<Line>>,
    },
    /// Lines of their own each.
    Items(Vec<Line>),
    /// Lines that keep their layout: what goes begins with `-`, what comes with `+`.
    Difference {
        /// The lines.
        lines: Vec<String>,
        /// How many more there are.
        hidden: usize,
    },
}

/// Holds one line of text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line(Vec<Span>);

/// Names one piece of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Span {
    /// Words.
    Text(String),
    /// Words that stand out.
    Strong(String),
    /// Words that a reader may skip.
    Faint(String),
    /// A name or a value, letter by letter.
    Code(String),
    /// A sign.
    Mark(Mark),
    /// The end of a line within a cell.
    Break,
}

/// Says at a glance how something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// All is well.
    Good,
    /// A person should look.
    Look,
    /// It does not work.
    Bad,
    /// It comes later.
    Later,
    /// It is worth knowing.
    Note,
}

impl Line {
    /// Makes an empty line.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds words.
    #[must_use]
    pub fn text(self, text: impl AsRef<str>) -> Self {
        self.with(Span::Text(clip(text.as_ref(), MAX_TEXT)))
    }

    /// Adds words that stand out.
    #[must_use]
    pub fn strong(self, text: impl AsRef<str>) -> Self {
        self.with(Span::Strong(clip(text.as_ref(), MAX_TEXT)))
    }

    /// Adds words that a reader may skip.
    #[must_use]
    pub fn faint(self, text: impl AsRef<str>) -> Self {
        self.with(Span::Faint(clip(text.as_ref(), MAX_TEXT)))
    }

    /// Adds a name or a value.
    #[must_use]
    pub fn code(self, text: impl AsRef<str>) -> Self {
        self.with(Span::Code(clip(text.as_ref(), MAX_CODE)))
    }

    /// Adds a sign.
    #[must_use]
    pub fn mark(self, mark: Mark) -> Self {
        self.with(Span::Mark(mark))
    }

    /// Adds another line to its end.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Joins lines to one, with words between them.
    pub fn join(lines: impl IntoIterator<Item = Self>, between: &str) -> Self {
        Self::joined(lines, &Self::new().text(between))
    }

    /// Puts lines under each other in one cell.
    pub fn stack(lines: impl IntoIterator<Item = Self>) -> Self {
        Self::joined(lines, &Self::new().with(Span::Break))
    }

    fn joined(lines: impl IntoIterator<Item = Self>, between: &Self) -> Self {
        let mut joined = Self::new();
        for line in lines {
            if !joined.is_empty() {
                joined = joined.and(between.clone());
            }
            joined = joined.and(line);
        }
        joined
    }

    /// Returns its pieces.
    pub fn spans(&self) -> &[Span] {
        &self.0
    }

    /// Tells whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn with(mut self, span: Span) -> Self {
        self.0.push(span);
        self
    }
}

impl Block {
    /// Makes a block of the first `most` lines of a text.
    pub fn difference(text: &str, most: usize) -> Self {
        let lines = text.lines().take(most).map(|line| clip_line(line, MAX_LINE)).collect();
        Self::Difference { lines, hidden: text.lines().count().saturating_sub(most) }
    }
}

impl Fold {
    /// Cuts tables and lists to so many rows, and says how many more there are.
    pub(super) fn within(&self, most: usize) -> Self {
        let blocks = self.blocks.iter().map(|block| cut(block, most)).collect();
        Self { blocks, ..self.clone() }
    }
}

fn cut(block: &Block, most: usize) -> Block {
    let more = |count: usize| Line::new().faint(format!("and {} more", count - most));
    match block {
        Block::Table { head, rows } if rows.len() > most => {
            let mut last = vec![Line::new(); head.len()];
            if let Some(first) = last.first_mut() {
                *first = more(rows.len());
            }
            let rows = rows.iter().take(most).cloned().chain([last]).collect();
            Block::Table { head: head.clone(), rows }
        }
        Block::Items(items) if items.len() > most => {
            Block::Items(items.iter().take(most).cloned().chain([more(items.len())]).collect())
        }
        Block::Difference { lines, hidden } if lines.len() > most => {
            Block::Difference { lines: lines[..most].to_vec(), hidden: hidden + lines.len() - most }
        }
        other => other.clone(),
    }
}

/// Cuts a text to a length, on one line; what cannot be seen, or turns the reading direction round,
/// is shown as a replacement character.
fn clip(text: &str, most: usize) -> String {
    let spaced = |letter: char| if letter.is_whitespace() { ' ' } else { letter };
    clip_line(&text.chars().map(spaced).collect::<String>(), most)
}

fn clip_line(text: &str, most: usize) -> String {
    let shown = |letter: char| if is_hidden(letter) { '\u{fffd}' } else { letter };
    let mut clipped: String = text.chars().take(most).map(shown).collect();
    if text.chars().nth(most).is_some() {
        clipped.push('…');
    }
    clipped
}

/// Control characters, and those of Unicode that are invisible or change the direction of what
/// follows (Unicode Technical Report 36, "Bidirectional text spoofing").
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_line_without_what_nobody_sees() {
        let line = Line::new().text("a\n\tb\u{202e}c\u{0}").code("x".repeat(200));
        let expected = ["a  b\u{fffd}c\u{fffd}".to_owned(), format!("{}…", "x".repeat(120))];
        assert_eq!(
            line.spans(),
            [Span::Text(expected[0].clone()), Span::Code(expected[1].clone())]
        );
    }

    #[test]
    fn what_is_cut_says_how_much_is_missing() {
        let rows = (0..9).map(|n| vec![Line::new().text(n.to_string()), Line::new()]).collect();
        let table = Block::Table { head: vec![Line::new(), Line::new()], rows };
        let items = Block::Items((0..9).map(|n| Line::new().text(n.to_string())).collect());
        let lines = Block::difference(&"+ x\n".repeat(9), 4);
        let fold = Fold { blocks: vec![table, items, lines], ..Fold::default() }.within(3);
        let Block::Table { rows, .. } = &fold.blocks[0] else { panic!() };
        assert_eq!((rows.len(), &rows[3][0]), (4, &Line::new().faint("and 6 more")));
        let Block::Items(items) = &fold.blocks[1] else { panic!() };
        assert_eq!(items.last(), Some(&Line::new().faint("and 6 more")));
        let expected = Block::Difference { lines: vec!["+ x".to_owned(); 3], hidden: 6 };
        assert_eq!(fold.blocks[2], expected);
    }

    #[test]
    fn lines_are_joined_with_words_between_them() {
        let joined = Line::join([Line::new().code("a"), Line::new().code("b")], ", ");
        assert_eq!(joined, Line::new().code("a").text(", ").code("b"));
    }
}
