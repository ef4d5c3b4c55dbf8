//! What guards froze, and how a person releases it.

use crate::model::Freeze;
use crate::report::style::{Ink, Style};

/// How many objects are named of each set.
const SHOWN: usize = 10;

/// Renders one paragraph for each set that waits for a person.
pub(super) fn freezes(freezes: &[Freeze], style: Style) -> String {
    freezes.iter().map(|it| freeze(it, style)).collect()
}

fn freeze(freeze: &Freeze, style: Style) -> String {
    let names = freeze.objects.iter().take(SHOWN).map(ToString::to_string).collect::<Vec<_>>();
    let more = match freeze.objects.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let confirm = style.paint(Ink::Help, format!("`levelset confirm {}`", freeze.digest));
    format!(
        "\n{} {} ({}, since {:.0})\n  {}{more}\n  {confirm} releases exactly these, if it is meant\n",
        style.paint(Ink::Bad, "frozen:"),
        freeze.message,
        freeze.reason,
        freeze.since,
        names.join(", "),
    )
}
