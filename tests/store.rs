//! The SQLite store: migrations, crashes, contention.
