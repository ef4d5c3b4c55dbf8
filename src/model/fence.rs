//! The port to the right to write.

use std::time::Duration;

use super::Token;

/// Answers whether this agent may write now.
///
/// Asked before each call that changes something, and before each write to the store.
pub trait Fence: Send + Sync {
    /// Returns the token that every write has to carry.
    ///
    /// `needed` is how long the write may take at most; the right has to last that long.
    ///
    /// # Errors
    ///
    /// [`Lost`] when the right is gone, or ends before the write would.
    fn check(&self, needed: Duration) -> Result<Token, Lost>;
}

/// Says that the right to write is not held, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the right to write was lost: {0}")]
pub struct Lost(pub String);
