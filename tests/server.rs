//! The HTTP API, health and metrics.
