//! The parent's side of a fetch: start the child, wait no longer than the deadline, read its reply.
//!
//! In: a [`Location`]. Out: [`Fetched`], or the error that the child found.
//!
//! Invariants: when the future ends or is dropped, the child has ended or is killed; credentials
//! leave this process through the child's standard input alone.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use secrecy::ExposeSecret;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use super::access::{Access, FetchReply, FetchRequest, Fetched};
use super::child::FETCH_COMMAND;
use super::{Location, SourceError};

/// A reply is a few lines; a child that writes more is not ours.
const MAX_REPLY_BYTES: u64 = 1 << 20;

/// Brings the tip of a branch into its mirror.
pub(crate) trait Fetcher: Send + Sync + 'static {
    /// Fetches once; with `rebuild`, the mirror is made anew whatever its state.
    fn fetch(
        &self,
        location: &Location,
        access: &Access,
        rebuild: bool,
    ) -> impl Future<Output = Result<Fetched, SourceError>> + Send;
}

/// Fetches in a child process of our own program.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ChildFetcher;

impl Fetcher for ChildFetcher {
    async fn fetch(
        &self,
        location: &Location,
        access: &Access,
        rebuild: bool,
    ) -> Result<Fetched, SourceError> {
        ask(access, &FetchRequest::new(location, access, rebuild)).await
    }
}

/// Has a child process do what a request says.
pub(crate) async fn ask(access: &Access, request: &FetchRequest) -> Result<Fetched, SourceError> {
    let failed = |detail: String| SourceError::ChildFailed { url: request.shown.clone(), detail };
    let mut child = start(access, request).map_err(|error| {
        failed(format!("{} cannot be started: {error}", access.program.display()))
    })?;
    match tokio::time::timeout(access.deadline, exchange(&mut child, request)).await {
        Ok(Ok((reply, status))) => serde_json::from_slice::<FetchReply>(&reply)
            .map_err(|_| failed(format!("ended without an answer ({status})")))?,
        Ok(Err(error)) => Err(failed(format!("cannot be talked to: {error}"))),
        Err(_) => {
            // Waits for the end too, so that the next fetch finds the mirror's lock free.
            child.kill().await.map_err(|error| failed(format!("cannot be killed: {error}")))?;
            let seconds = access.deadline.as_secs();
            Err(SourceError::Timeout { url: request.shown.clone(), seconds })
        }
    }
}

/// Returns the home folder of the child, which hides the user's Git configuration and SSH files.
pub(crate) fn home(mirror: &Path) -> PathBuf {
    mirror.with_extension("home")
}

fn start(access: &Access, request: &FetchRequest) -> std::io::Result<Child> {
    Command::new(&access.program)
        .arg0("levelset")
        .arg(FETCH_COMMAND)
        .env("HOME", home(&request.mirror))
        .env_remove("XDG_CONFIG_HOME")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .kill_on_drop(true)
        .spawn()
}

async fn exchange(
    child: &mut Child,
    request: &FetchRequest,
) -> std::io::Result<(Vec<u8>, std::process::ExitStatus)> {
    let line = request.to_line()?;
    // The pipe stays open until the child has answered: its end tells the child that we are gone.
    let mut stdin = child.stdin.take();
    if let Some(stdin) = &mut stdin {
        // A child that died at once shows in its status, with more to say than a broken pipe.
        let _ = stdin.write_all(line.expose_secret()).await;
        let _ = stdin.flush().await;
    }
    let mut reply = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        stdout.take(MAX_REPLY_BYTES).read_to_end(&mut reply).await?;
    }
    let status = child.wait().await?;
    drop(stdin);
    Ok((reply, status))
}
