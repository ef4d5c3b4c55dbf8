//! The port to the time of day.

use jiff::Timestamp;

/// Tells the time of day; the simulation replaces it with virtual time.
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Timestamp;
}
