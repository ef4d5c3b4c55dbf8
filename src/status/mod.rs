//! What is remembered and told: conditions, history, the store with its outbox, the metrics.
//!
//! In: what a pass found. Out: the status that the API, the CLI and the reports show, and the
//! memory that the next pass starts from.
//!
//! Invariants: a status is rebuilt on each pass and never edited; a record is written whole in one
//! transaction; nothing stored or shown contains a secret or a duration.

pub mod build;
mod change;
pub mod conditions;
pub mod events;
pub mod memory;
pub mod metrics;
pub mod spending;
pub mod sqlite;
pub mod store;

pub use build::{Found, build};
pub use events::events;
pub use memory::InMemory;
pub use metrics::{Metrics, PassResult};
pub use spending::Page;
pub use sqlite::Sqlite;
pub use store::{Declared, Event, Forgotten, Intent, Look, Record, Settlement, Store, StoreError};
