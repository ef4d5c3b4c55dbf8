//! The one integration-test binary: the library and the built program against real peers.
#![allow(missing_docs, reason = "tests document themselves by their names")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]
#![allow(clippy::disallowed_methods, reason = "other processes live in the time of the machine")]

mod accept;
mod agent;
mod architecture;
mod aws_wire;
mod cases;
mod cli;
mod fleet;
mod forge;
mod fuzz;
mod iam_policy;
mod import;
mod laws;
mod manifests;
mod review;
mod sandbox;
mod server;
mod sim;
mod source;
mod store;
mod support;
