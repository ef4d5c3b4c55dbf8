//! The colours of the text reports, by meaning.
//!
//! In: whether the reader sees colours. Out: escape codes, or nothing.

use std::fmt::Display;

use anstyle::{AnsiColor, Color};

/// Says whether a text may hold ANSI colours; the caller knows where it goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Style {
    /// No escape codes at all.
    #[default]
    Plain,
    /// ANSI colours, for a terminal.
    Coloured,
}

/// Names what a piece of text means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Something new.
    Added,
    /// Something that goes.
    Removed,
    /// Something that becomes different.
    Changed,
    /// What stands out without a judgement: a name.
    Strong,
    /// What a reader may skip.
    Faint,
    /// What is wrong or refused.
    Bad,
    /// What needs a look: a wait, a disruption.
    Warning,
    /// What helps.
    Help,
}

impl Style {
    /// Wraps a text in the codes of its meaning.
    pub(crate) fn paint(self, ink: Ink, text: impl Display) -> String {
        match self {
            Self::Plain => text.to_string(),
            Self::Coloured => {
                let style = ink.style();
                format!("{style}{text}{style:#}")
            }
        }
    }
}

impl Ink {
    fn style(self) -> anstyle::Style {
        let base = anstyle::Style::new();
        let colour = |colour: AnsiColor| base.fg_color(Some(Color::Ansi(colour)));
        match self {
            Self::Added => colour(AnsiColor::Green),
            Self::Removed => colour(AnsiColor::Red),
            Self::Changed | Self::Warning => colour(AnsiColor::Yellow),
            Self::Strong => base.bold(),
            Self::Faint => base.dimmed(),
            Self::Bad => colour(AnsiColor::Red).bold(),
            Self::Help => colour(AnsiColor::Cyan),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_text_has_no_escape_codes_and_a_coloured_one_ends_its_own() {
        assert_eq!(Style::Plain.paint(Ink::Bad, "x"), "x");
        assert_eq!(Style::Coloured.paint(Ink::Added, "x"), "\u{1b}[32mx\u{1b}[0m");
    }
}
