//! The `levelset` program.

use std::process::ExitCode;

use levelset::cli;
use levelset::source::{self, FETCH_COMMAND, fetch_child};

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|argument| argument == FETCH_COMMAND) {
        return fetch_child(std::io::stdin(), std::io::stdout());
    }
    source::init();
    cli::main(std::env::args_os())
}
