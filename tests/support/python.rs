//! The Python that has boto3, and scripts run by it.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;

/// Runs a script of `tests/data` and fails with its output when the script fails.
pub(crate) async fn run(script: &str, arguments: &[&str]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(script);
    let output = Command::new(interpreter())
        .arg(&path)
        .args(arguments)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    assert!(
        output.status.success(),
        "{script} {arguments:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
}

/// Returns the interpreter of the environment `moto`, which holds boto3.
fn interpreter() -> PathBuf {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/test-tools");
    let tools = std::env::var_os("LEVELSET_TEST_TOOLS").map_or_else(default, PathBuf::from);
    let path = tools.join("moto/bin/python");
    assert!(
        path.is_file(),
        "{} is not there: run `make test-tools`, or let LEVELSET_TEST_TOOLS name the folder that \
         holds moto",
        path.display()
    );
    path
}
