//! Levelset keeps AWS level with Git.
//!
//! One direction, in the order of the modules: a `source` hands out the files of a commit; `manifest`
//! makes objects of them; `desired` keeps the last good object of each key and says which keys
//! changed; `queue` holds keys and nothing else; `reconcile` takes one key at a time through
//! expand, observe, diff, plan, apply and status. Stages never call each other: they meet in
//! `reconcile`, and speak in the values of [`model`].

// In reading order; the empty lines keep rustfmt from sorting them.

pub mod model;

pub mod manifest;

pub mod source;

pub mod desired;

pub mod queue;

pub mod kinds;

pub mod observe;

pub mod diff;

pub mod plan;

pub mod import;

pub mod apply;

pub mod status;

pub mod reconcile;

pub mod lease;

pub mod forge;

pub mod report;

pub mod server;

pub mod aws;

pub mod sandbox;

pub mod config;

pub mod cli;
