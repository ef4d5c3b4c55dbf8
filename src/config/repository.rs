//! From layers to the repository.

use std::time::Duration;

use super::layers::{Layers, Text};
use super::{Login, Repository, Setting, Signatures, Source, check};

/// The user that hosts expect beside a token, where any will do (GitHub, Authenticating with a
/// GitHub App).
const TOKEN_USER: &str = "x-access-token";

const STALE_AFTER: &str = "repository.staleAfterSeconds";
const SIGNATURES: &str = "repository.signatures";
const STOP_AFTER: &str = "repository.stopWritingAfterSeconds";

pub(super) fn repository(layers: &mut Layers<'_>) -> Option<Repository> {
    let seconds = |layers: &mut Layers<'_>, name, default, least| {
        let number = layers.setting(name, default, |text| check::number(text, least, 86_400));
        number.map(Duration::from_secs)
    };
    let poll_interval = seconds(layers, "repository.pollIntervalSeconds", 60, 5);
    let fetch_timeout = seconds(layers, "repository.fetchTimeoutSeconds", 60, 1);
    let relist = |text: &_| check::number(text, 1, 1440);
    let relist_interval = layers
        .setting("repository.relistMinutes", 20_u64, relist)
        .map(|minutes| Duration::from_secs(60 * minutes));
    let (stale_after, stop_writing_after) = patience(layers, poll_interval.value);
    let branch = layers.optional("repository.branch", check::text);
    let folder = layers.setting("repository.folder", ".".to_owned(), check::text);
    let login = login(layers);
    let known_hosts = layers.path("repository.knownHostsFile");
    let ca_file = layers.path("repository.caFile");
    let signatures = signatures(layers);
    let location = location(layers)?;
    Some(Repository {
        location,
        branch,
        folder,
        poll_interval,
        relist_interval,
        fetch_timeout,
        stale_after,
        stop_writing_after,
        login,
        known_hosts,
        ca_file,
        signatures,
    })
}

/// Takes whose signatures count. A section that names no key is a problem and never "none needed".
fn signatures(layers: &mut Layers<'_>) -> Option<Signatures> {
    let allowed_signers = layers.path("repository.signatures.allowedSignersFile");
    let openpgp_keys = layers.path("repository.signatures.openPgpKeysFile");
    let since = layers.optional("repository.signatures.since", commit);
    if allowed_signers.is_none() && openpgp_keys.is_none() {
        let section = layers.place(SIGNATURES).or_else(|| since.map(|since| since.source));
        if let Some(source) = section {
            let message = "it names no keys: set allowedSignersFile or openPgpKeysFile in it, or \
                           remove it to apply commits without a signature";
            layers.report(SIGNATURES, &source, message);
        }
        return None;
    }
    Some(Signatures { allowed_signers, openpgp_keys, since })
}

fn commit(text: &Text) -> Result<String, String> {
    let id = text.text.to_ascii_lowercase();
    match id.len() == 40 && id.bytes().all(|it| it.is_ascii_hexdigit()) {
        true => Ok(id),
        false => Err("it is not the full id of a commit: 40 hexadecimal digits".to_owned()),
    }
}

/// Takes the times after which an unconfirmed repository is stale, and stops the writing.
///
/// A repository that is asked every hour is no less fresh than one that is asked every minute.
fn patience(layers: &mut Layers<'_>, poll: Duration) -> (Setting<Duration>, Setting<Duration>) {
    let mut seconds = |name, default: u64| {
        let number = layers.setting(name, default, |text| check::number(text, 10, 2_592_000));
        number.map(Duration::from_secs)
    };
    let stale = seconds(STALE_AFTER, 900.max(3 * poll.as_secs()));
    let stop = seconds(STOP_AFTER, 21_600.max(stale.value.as_secs()));
    if stale.value < 2 * poll {
        let message = "it is less than two times repository.pollIntervalSeconds, so that one look \
                       that comes late would do";
        layers.report(STALE_AFTER, &stale.source, message);
    }
    if stop.value < stale.value {
        let message = "it is less than repository.staleAfterSeconds";
        layers.report(STOP_AFTER, &stop.source, message);
    }
    (stale, stop)
}

/// Takes the one of `url` and `path` that the higher layer sets.
fn location(layers: &mut Layers<'_>) -> Option<Setting<String>> {
    let url = layers.optional("repository.url", check::repository_url);
    let path = layers.path("repository.path");
    let path = path.map(|path| path.map(|path| path.display().to_string()));
    match (url, path) {
        (Some(url), Some(path)) if rank(&url.source) == rank(&path.source) => {
            let message = "repository.path is set beside it; keep one of the two";
            layers.report("repository.url", &url.source, message);
            None
        }
        (Some(url), Some(path)) if rank(&url.source) < rank(&path.source) => Some(path),
        (Some(url), _) => Some(url),
        (None, path) => path,
    }
}

fn rank(source: &Source) -> u8 {
    match source {
        Source::Default => 0,
        Source::File { .. } => 1,
        Source::Environment(_) => 2,
        Source::Flag(_) => 3,
    }
}

fn login(layers: &mut Layers<'_>) -> Option<Login> {
    let username = layers.optional("repository.username", check::text);
    let password = layers.secret("repository.password");
    let token = layers.secret("repository.token");
    let key = layers.path("repository.sshKeyFile");
    let passphrase = layers.secret("repository.sshKeyPassphrase");
    match (password, token, key) {
        (Some(password), None, None) => {
            let Some(username) = username else {
                let message = "a password needs repository.username";
                layers.report("repository.password", &password.source, message);
                return None;
            };
            Some(Login::Password { username, password })
        }
        (None, Some(token), None) => {
            let username = username.unwrap_or_else(|| Setting::default_of(TOKEN_USER.to_owned()));
            Some(Login::Token { username, token })
        }
        (None, None, Some(key)) => Some(Login::SshKey { key, passphrase }),
        (None, None, None) => None,
        (password, token, _) => {
            let first = password.or(token).map_or(Source::Default, |secret| secret.source);
            let message = "a password, a token and an SSH key exclude each other; keep one of them";
            layers.report("repository", &first, message);
            None
        }
    }
}
