//! The fetch child: our own program, started again for one fetch, so that it can be killed.
//!
//! In: one [`FetchRequest`] line on standard input. Out: one reply line on standard output.
//!
//! Invariants: the process ends when its standard input ends, so that it does not outlive a parent
//! that was killed. The global options of libgit2 are set before the first thread starts. Nothing
//! of the request is printed, and no secret is in the reply.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::ExitCode;

use secrecy::ExposeSecret;

use super::SourceError;
use super::access::{FetchReply, FetchRequest, WireCredentials};
use super::transfer;

/// Names the hidden subcommand under which the program calls [`fetch_child`].
pub const FETCH_COMMAND: &str = "__fetch";

/// Serves one fetch: reads the request, fetches into the mirror, writes the reply.
///
/// It belongs at the very start of `main`, before a runtime or a thread exists. When `stdin` ends
/// before the fetch does, the process exits.
pub fn fetch_child(stdin: impl Read + Send + 'static, mut stdout: impl Write) -> ExitCode {
    let mut stdin = BufReader::new(stdin);
    let mut line = String::new();
    let Ok(request) = stdin
        .read_line(&mut line)
        .map_err(drop)
        .and_then(|_| serde_json::from_str::<FetchRequest>(&line).map_err(drop))
    else {
        return ExitCode::from(64);
    };
    drop(line);
    let reply = match prepare(&request) {
        Ok(()) => {
            exit_with_parent(stdin);
            hide_caught_panics();
            transfer::fetch(&request)
        }
        Err(error) => Err(error),
    };
    match write_reply(&request, &reply, &mut stdout) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn prepare(request: &FetchRequest) -> Result<(), SourceError> {
    install_known_hosts(request)?;
    set_options(request).map_err(|error| SourceError::ReadFailed {
        path: request.ca_file.clone().unwrap_or_default(),
        detail: error.message().to_owned(),
    })
}

/// Puts the known hosts where libssh2 looks for them: the home folder that the parent made for us.
fn install_known_hosts(request: &FetchRequest) -> Result<(), SourceError> {
    let known = match &request.known_hosts {
        Some(path) => std::fs::read(path).map_err(|error| SourceError::ReadFailed {
            path: path.clone(),
            detail: error.to_string(),
        })?,
        None => Vec::new(),
    };
    let folder = super::fetch::home(&request.mirror).join(".ssh");
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(folder.join("known_hosts"), known))
        .map_err(|error| SourceError::MirrorUnusable {
            path: request.mirror.clone(),
            detail: error.to_string(),
        })
}

#[expect(unsafe_code, reason = "libgit2's options are process globals, set here before any thread")]
fn set_options(request: &FetchRequest) -> Result<(), git2::Error> {
    let timeout = i32::try_from(request.server_timeout_ms).unwrap_or(i32::MAX);
    // SAFETY: this process has one thread, and libgit2 has not been used yet.
    unsafe {
        git2::opts::set_server_connect_timeout_in_milliseconds(timeout)?;
        git2::opts::set_server_timeout_in_milliseconds(timeout)?;
        if let Some(path) = &request.ca_file {
            git2::opts::set_ssl_cert_file(path.as_path())?;
        }
    }
    Ok(())
}

fn exit_with_parent(mut stdin: impl Read + Send + 'static) {
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut stdin, &mut std::io::sink());
        std::process::exit(75);
    });
}

/// Keeps the panics of git2 off the log: they are caught where a name that is not text is listed.
fn hide_caught_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !panic.location().is_some_and(|at| at.file().contains("/git2-")) {
            usual(panic);
        }
    }));
}

fn write_reply(
    request: &FetchRequest,
    reply: &FetchReply,
    stdout: &mut impl Write,
) -> std::io::Result<()> {
    let mut text = serde_json::to_string(reply)?;
    // A server may repeat what it was sent in its error message.
    for secret in secrets(&request.credentials) {
        text = text.replace(secret, "[redacted]");
    }
    writeln!(stdout, "{text}")?;
    stdout.flush()
}

fn secrets(credentials: &WireCredentials) -> Vec<&str> {
    let found = match credentials {
        WireCredentials::None => Vec::new(),
        WireCredentials::Password { password, .. } => vec![password.expose_secret()],
        WireCredentials::SshKey { private_key, passphrase } => {
            vec![private_key.expose_secret(), passphrase.expose_secret()]
        }
    };
    found.into_iter().filter(|secret| secret.len() >= 4).collect()
}
