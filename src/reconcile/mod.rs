//! One pass for one key: the only place where the stages meet.
//!
//! In: a key. Out: the cloud a step closer to Git, a status, and the time of the next pass.
//!
//! Invariants: a pass is a function of what is desired and what is actual; it keeps nothing in
//! memory between two passes that changes its result (who waits for what is kept beside, to be early;
//! what an object at rest was shown, to be quick; nothing depends on either). A trigger carries no
//! content. Every pass ends with a next one, or with a condition that says why there is none.

pub mod absences;
pub mod annals;
mod causes;
pub mod claims;
mod compare;
mod confirm;
pub mod departures;
mod dependents;
pub mod engine;
pub mod freshness;
mod gate;
mod heed;
mod history;
mod intents;
mod leaving;
pub mod looks;
pub mod mass_drift;
mod neighbours;
pub mod next;
pub mod pass;
pub mod preview;
pub mod removal;
pub mod requests;
pub mod rest;
pub mod review;
pub mod sight;
mod traces;
pub mod triggers;
mod turns;
mod usage;
pub mod work_queue;
pub mod worker;

#[cfg(test)]
mod tests;
