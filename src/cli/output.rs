//! The streams of the process: the one place that prints.
//!
//! In: text, made by [`crate::report`]. Out: bytes on standard output and standard error, with
//! colours only where the reader sees them.
//!
//! Invariant: a reader that has gone away (`levelset plan | head`) is no error and changes no exit
//! code.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use anstream::{AutoStream, ColorChoice};

use super::error::{self, Error};
use super::progress::Progress;
use crate::report::Style;

/// Writes to the two streams of a command.
pub struct Output {
    out: Stream,
    err: Stream,
}

struct Stream {
    to: Box<dyn Write + Send>,
    style: Style,
    is_terminal: bool,
}

impl Output {
    /// Takes the streams of the process; `Auto` looks at the terminal and at the environment.
    pub fn of_process(colour: ColorChoice) -> Self {
        let (out, err) = (io::stdout(), io::stderr());
        let out_style = style(colour, AutoStream::choice(&out));
        let err_style = style(colour, AutoStream::choice(&err));
        let (out_terminal, err_terminal) = (out.is_terminal(), err.is_terminal());
        Self {
            out: Stream { to: Box::new(out), style: out_style, is_terminal: out_terminal },
            err: Stream { to: Box::new(err), style: err_style, is_terminal: err_terminal },
        }
    }

    /// Returns whether standard output shows colours.
    pub fn style(&self) -> Style {
        self.out.style
    }

    /// Returns whether standard error shows colours.
    pub(super) fn note_style(&self) -> Style {
        self.err.style
    }

    /// Draws progress on standard error, if a person watches it.
    pub(super) fn progress(&self, what: &'static str, total: usize) -> Progress {
        Progress::begin(what, total, self.err.is_terminal)
    }

    /// Writes the result of a command.
    ///
    /// # Errors
    ///
    /// [`Error::Print`] when the stream cannot be written, for example on a full disk.
    pub fn print(&mut self, text: &str) -> Result<(), Error> {
        quiet(self.out.to.write_all(text.as_bytes()).and_then(|()| self.out.to.flush()))
            .map_err(Error::Print)
    }

    /// Writes a line for the person at the terminal, beside the result.
    pub fn note(&mut self, text: &str) {
        // There is nowhere left to tell that standard error cannot be written.
        let _ = writeln!(self.err.to, "{text}");
    }

    /// Writes an error with its causes and what to do.
    pub fn error(&mut self, error: &Error) {
        let text = error::render(error, self.err.style);
        let _ = self.err.to.write_all(text.as_bytes());
    }

    /// Answers `--help` and `--version`, or says what is wrong with the command line.
    pub(crate) fn usage(&mut self, usage: &clap::Error) -> ExitCode {
        let stream = if usage.use_stderr() { &mut self.err } else { &mut self.out };
        let text = usage.render();
        let text = match stream.style {
            Style::Plain => text.to_string(),
            Style::Coloured => text.ansi().to_string(),
        };
        let _ = stream.to.write_all(text.as_bytes());
        // Two is the answer of `plan` that there are changes, so a mistake here is a one.
        if usage.use_stderr() { ExitCode::from(1) } else { ExitCode::SUCCESS }
    }
}

fn style(asked: ColorChoice, found: ColorChoice) -> Style {
    match (asked, found) {
        (ColorChoice::Never, _) | (ColorChoice::Auto, ColorChoice::Never) => Style::Plain,
        _ => Style::Coloured,
    }
}

fn quiet(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_goes_before_what_is_found() {
        assert_eq!(style(ColorChoice::Auto, ColorChoice::Never), Style::Plain);
        assert_eq!(style(ColorChoice::Auto, ColorChoice::Always), Style::Coloured);
        assert_eq!(style(ColorChoice::Always, ColorChoice::Never), Style::Coloured);
        assert_eq!(style(ColorChoice::Never, ColorChoice::Always), Style::Plain);
    }

    #[test]
    fn only_a_reader_that_has_gone_away_is_forgiven() {
        assert!(quiet(Err(ErrorKind::BrokenPipe.into())).is_ok());
        assert!(quiet(Err(ErrorKind::StorageFull.into())).is_err());
    }
}
