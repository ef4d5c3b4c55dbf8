//! Reports for people at a terminal.
//!
//! In: values of the model and a [`Style`](super::Style). Out: text that ends with a line break.

mod explain;
mod freezes;
pub(super) mod plan;
mod problems;
#[cfg(test)]
pub(crate) mod sample;
mod spending;
mod status;
pub(super) mod value;

pub use explain::explain;
pub use plan::plan;
pub use problems::{checked, problems};
pub use spending::spending;
pub use status::{object, status};
