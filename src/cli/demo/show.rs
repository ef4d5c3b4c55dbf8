//! How the demo speaks: titles, one plain line for each step, and claims that were checked.
//!
//! Invariant: a claim is printed only when it holds; one that does not ends the demo.

use std::fmt::Display;

use crate::cli::error::Error;
use crate::cli::output::Output;
use crate::report::style::Ink;

/// Opens an act.
pub(super) fn title(output: &mut Output, text: &str) -> Result<(), Error> {
    let text = output.style().paint(Ink::Strong, format!("== {text}"));
    output.print(&format!("\n{text}\n"))
}

/// Explains a step in a line.
pub(super) fn say(output: &mut Output, text: &str) -> Result<(), Error> {
    output.print(&format!("\n{text}\n\n"))
}

/// Shows what a person types.
pub(super) fn command(output: &mut Output, text: &str) -> Result<(), Error> {
    let prompt = output.style().paint(Ink::Faint, "$");
    output.print(&format!("{prompt} {text}\n"))
}

/// Prints a claim that was found to hold.
///
/// # Errors
///
/// [`Error::Untrue`] when it does not hold; `instead` is what was found.
pub(super) fn claim(
    output: &mut Output,
    holds: bool,
    claim: &str,
    instead: impl Display,
) -> Result<(), Error> {
    if !holds {
        return Err(Error::Untrue { claim: claim.to_owned(), instead: instead.to_string() });
    }
    let word = output.style().paint(Ink::Added, "ok");
    output.print(&format!("  {word}  {claim}\n"))
}
