//! The three texts that say where the manifests are, one a line.

use levelset::source::{Location, SourceError, Transport};
use url::Url;

/// Whatever the texts are: a location stays inside its repository, shows no password, and is the
/// same when what it shows is read again.
pub(super) fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut lines = text.splitn(3, '\n');
    let repository = lines.next().unwrap_or_default();
    let branch = lines.next().filter(|branch| !branch.is_empty());
    let folder = lines.next().unwrap_or_default();
    match Location::parse(repository, branch, folder) {
        Ok(location) => stays_inside(&location),
        Err(error) => tells_no_password(repository, &error),
    }
}

fn stays_inside(location: &Location) {
    let folder = location.folder();
    let is_plain = folder.split('/').all(|part| !matches!(part, "" | "." | ".."));
    assert!(folder.is_empty() || is_plain, "{folder:?}");
    let shown = location.shown();
    if matches!(location.transport(), Transport::Http(_)) {
        let url = Url::parse(shown).unwrap();
        assert_eq!((url.username(), url.password()), ("", None), "{shown}");
    }
    let again = Location::parse(shown, location.branch(), folder);
    let again = again.unwrap_or_else(|error| panic!("{shown:?} is not taken again: {error}"));
    let read = (again.shown(), again.branch(), again.folder());
    assert_eq!(read, (shown, location.branch(), folder));
}

fn tells_no_password(repository: &str, error: &SourceError) {
    let Ok(url) = Url::parse(repository) else { return };
    // A short password may stand in the text by chance.
    let Some(password) = url.password().filter(|password| password.len() > 8) else { return };
    let told = format!("{error} {error:?}");
    let elsewhere = repository.replacen(password, "", 1);
    assert!(!told.contains(password) || elsewhere.contains(password), "{told}");
}
