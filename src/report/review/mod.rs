//! What a merge would do, as a page for a pull request.
//!
//! In: a [`Review`]. Out: a [`Page`]: a verdict in one line, a table that answers whether the merge is
//! safe, one line for each object, and the details of each folded away.
//!
//! Invariants: equal reviews give equal pages. Accounts and the words of AWS about who was refused are
//! not told: a pull request may be public.

mod checks;
mod details;
mod ending;
mod overview;
mod verdict;
mod words;

#[cfg(test)]
pub(crate) mod sample;

pub use ending::ending;
pub use verdict::verdict;

use super::page::{Block, Line, Page};
use crate::model::Review;
use crate::model::review::{Look, Trouble};

/// Makes the page of a review.
pub fn page(review: &Review) -> Page {
    let mut head = vec![checks::table(review)];
    head.extend(overview::table(review));
    let mistakes = details::mistakes(review);
    Page {
        title: verdict::line(review),
        head,
        folds: mistakes.into_iter().chain(details::folds(review)).collect(),
        foot: vec![Block::Text(foot(review))],
        elsewhere: elsewhere(review),
    }
}

fn foot(review: &Review) -> Line {
    let how = match (&review.trouble, &review.look) {
        (Some(Trouble::Conflicts(_)), _) => "cannot be merged",
        (_, Look::Live) => "merged in memory and compared with AWS as it is; nothing was changed",
        (_, Look::Saved) => "merged in memory and compared with saved answers of AWS",
        (_, Look::Withheld(_)) => "merged in memory and not compared with AWS",
    };
    Line::new()
        .code(review.head.short())
        .faint(" into ")
        .code(&review.onto)
        .faint(format!(": {how}. Levelset"))
}

fn elsewhere(review: &Review) -> Line {
    let command = format!("levelset report --base {} --head {}", review.onto, review.head.short());
    Line::new().code(command).text(" shows all of them.")
}

#[cfg(test)]
mod tests;
