//! The `levelset` program.

fn main() {}
