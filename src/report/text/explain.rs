//! The explanation of one object, for the person who is on call.

use crate::report::explain::{Cause, Explanation, Field, Remedy};
use crate::report::style::{Ink, Style};

/// Renders an explanation: the answer, why, what happens next, what a person can do.
pub fn explain(explanation: &Explanation, style: Style) -> String {
    let (word, ink) = match explanation.level {
        Some(true) => ("is level", Ink::Added),
        Some(false) => ("is not level", Ink::Bad),
        None => ("is level or not: nobody knows", Ink::Warning),
    };
    let seen = explanation.seen.map(|at| format!(", seen at {at:.0}")).unwrap_or_default();
    let mut text = format!(
        "{} {}{seen}\n  {}\n",
        style.paint(Ink::Strong, &explanation.object),
        style.paint(ink, word),
        one_line(&explanation.summary)
    );
    text.push_str(&section("why", explanation.causes.iter().map(|it| cause(it, style))));
    text.push_str(&format!("\n  next\n    {}\n", explanation.next.message));
    let remedies = explanation.remedies.iter().map(|it| remedy(it, style));
    text.push_str(&section("what you can do", remedies));
    text
}

fn section(name: &str, items: impl Iterator<Item = String>) -> String {
    let body: String = items.collect();
    if body.is_empty() { String::new() } else { format!("\n  {name}\n{body}") }
}

fn cause(cause: &Cause, style: Style) -> String {
    let about = cause.resource.as_ref().map(|id| format!("{id} ")).unwrap_or_default();
    let code = style.paint(Ink::Warning, &cause.code);
    let head = format!("    {about}{code}: {}\n", one_line(&cause.message));
    head + &cause.fields.iter().map(|it| field(it, style)).collect::<String>()
}

fn field(field: &Field, style: Style) -> String {
    let code = style.paint(Ink::Faint, format!("[{}]", field.code));
    let name = if field.field.is_empty() { String::new() } else { format!("{} ", field.field) };
    format!("      {name}{code} {}\n", one_line(&field.message))
}

fn remedy(remedy: &Remedy, style: Style) -> String {
    match &remedy.command {
        Some(command) => {
            format!("    {}: {}\n", style.paint(Ink::Help, format!("`{command}`")), remedy.what)
        }
        None => format!("    {}\n", one_line(&remedy.what)),
    }
}

/// Joins the lines of a message, which may hold a text of AWS.
fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
