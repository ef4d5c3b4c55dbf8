//! Pure rendering: from plans, problems and statuses to text, JSON, SARIF and AWS CLI commands.
//!
//! In: values of [`crate::model`]. Out: `String`s (and `serde_json::Value`s) that end with a line
//! break.
//!
//! Invariants: nothing is printed, no clock and no terminal is looked at (the caller passes a
//! [`Style`] and chooses where the text goes); equal input gives equal text; a time is shown as a
//! time in UTC and never as a duration. It decides nothing: what a plan does was decided by the
//! planner.

pub mod alert;
pub mod awscli;
pub mod explain;
pub mod html;
pub mod json;
pub mod markdown;
pub mod page;
pub mod policy;
pub mod review;
pub mod sarif;
pub mod spending;
pub mod style;
pub mod summary;
pub mod text;

pub use style::Style;
pub use summary::Summary;

use crate::model::{Generation, Key, ObjectStatus};

/// Joins an object's name to what is told about it.
#[derive(Debug, Clone, Copy)]
pub struct Told<'a> {
    /// The object.
    pub key: &'a Key,
    /// The generation that Git declares now; the status may still be about an older one.
    pub generation: Generation,
    /// What the last pass found.
    pub status: &'a ObjectStatus,
}
