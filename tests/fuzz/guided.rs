//! What libFuzzer drives: the target that has the name of the binary.

#![no_main]

#[allow(dead_code, reason = "the test command uses more of it")]
mod targets;

use targets::TARGETS;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let name = env!("CARGO_BIN_NAME");
    let target = TARGETS.iter().find(|target| target.name == name);
    (target.expect("a target of this name").run)(data);
});
