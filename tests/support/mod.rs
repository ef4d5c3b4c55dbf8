//! What several tests need: servers on loopback, repositories, agents.

pub(crate) mod emulators;
pub(crate) mod git;
pub(crate) mod keys;
pub(crate) mod python;
