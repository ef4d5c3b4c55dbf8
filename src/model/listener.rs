//! The port to whoever wants to know how passes end.

use super::{Key, ObjectStatus};

/// Is told how each pass ended, by the worker that made it.
///
/// It keeps what it needs and returns at once: a worker waits for it.
pub trait Listener: Send + Sync {
    /// Hears what is told of an object after a pass; `None` when the object is not known any more.
    fn passed(&self, key: &Key, status: Option<&ObjectStatus>);
}

impl<L: Listener + ?Sized> Listener for Vec<std::sync::Arc<L>> {
    fn passed(&self, key: &Key, status: Option<&ObjectStatus>) {
        self.iter().for_each(|listener| listener.passed(key, status));
    }
}

/// Stands for a listener where nobody listens.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Listener for Nobody {
    fn passed(&self, _: &Key, _: Option<&ObjectStatus>) {}
}
