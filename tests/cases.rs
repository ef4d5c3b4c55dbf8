//! Data-only cases: a manifest and saved answers in, calls and reasons out.
