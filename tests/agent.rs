//! The whole agent, from a commit to a converged cloud and back.

mod budgets;
mod networks;
mod references;
mod removals;
mod requests;
mod spending;
pub(crate) mod stage;
mod traces;
mod wakes;
