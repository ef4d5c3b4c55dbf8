//! The keys of SSH whose signatures count: OpenSSH's file `allowed_signers`.
//!
//! In: the text of the file (ssh-keygen(1), "ALLOWED SIGNERS"). Out: [`AllowedSigners`], or the first
//! line that cannot be used and why.
//!
//! Invariants: a line that is not understood in full is an error, since an option that is passed over
//! could be one that forbids. Authorities that sign certificates are refused. The names before a key tell
//! people whose it is; that of the committer is not held against them, because merges are made by hosts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::ssh::{Key, SshSignature};

/// What a signature of a commit is made for.
const NAMESPACE: &str = "git";

/// Lists the keys that count.
#[derive(Debug, Default)]
pub(super) struct AllowedSigners(Vec<Signer>);

#[derive(Debug)]
struct Signer {
    names: String,
    key: Key,
    namespaces: Option<String>,
    after: Option<Timestamp>,
    before: Option<Timestamp>,
}

impl AllowedSigners {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// The first line that cannot be used, with its number.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut signers = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let signer = signer(line).map_err(|why| format!("line {}: {why}", number + 1))?;
            signers.push(signer);
        }
        match signers.is_empty() {
            true => Err("it lists no key".to_owned()),
            false => Ok(Self(signers)),
        }
    }

    /// Judges a signature over a message at a time.
    ///
    /// # Errors
    ///
    /// A clause that says why it does not count.
    pub(super) fn judge(
        &self,
        message: &[u8],
        armored: &str,
        now: Timestamp,
    ) -> Result<(), String> {
        let signature = SshSignature::parse(armored)?;
        let print = signature.key.fingerprint();
        let namespace = &signature.namespace;
        if namespace != NAMESPACE {
            let namespace = namespace.escape_debug();
            return Err(format!("has a signature that was made for \"{namespace}\" ({print})"));
        }
        let listed = self.0.iter().filter(|signer| signer.key == signature.key);
        let verdicts: Vec<_> = listed.map(|signer| signer.counts(now)).collect();
        let Some(first) = verdicts.first() else {
            return Err(format!("is signed by the SSH key {print}, which is not listed"));
        };
        // A key may stand on several lines, one for each time in which it counts.
        if let Some(why) = first.as_ref().err().filter(|_| verdicts.iter().all(Result::is_err)) {
            return Err(format!("is signed by the SSH key {print}, {why}"));
        }
        match signature.is_of(message) {
            true => Ok(()),
            false => Err(format!("is not what the SSH key {print} signed")),
        }
    }
}

impl Signer {
    fn counts(&self, now: Timestamp) -> Result<(), String> {
        let of = self.names.escape_debug();
        if self.namespaces.as_ref().is_some_and(|list| !in_list(NAMESPACE, list)) {
            return Err(format!("which is listed for {of}, and not for commits"));
        }
        if self.after.is_some_and(|after| now < after) {
            return Err(format!("which is listed for {of}, and not valid yet"));
        }
        if self.before.is_some_and(|before| now >= before) {
            return Err(format!("which is listed for {of}, and expired"));
        }
        Ok(())
    }
}

fn signer(line: &str) -> Result<Signer, String> {
    let form = "it is not NAMES [OPTIONS] TYPE KEY [COMMENT]";
    let (names, rest) = word(line);
    let (mut kind, mut rest) = word(rest);
    let mut options = "";
    if !is_type(kind) {
        options = kind;
        (kind, rest) = word(rest);
    }
    let (encoded, _) = word(rest);
    if names.is_empty() || encoded.is_empty() {
        return Err(form.to_owned());
    }
    let names = names.trim_matches('"').to_owned();
    let blob = STANDARD.decode(encoded).map_err(|_| form.to_owned())?;
    let key = Key::parse(&blob)?;
    if super::wire::Wire(&blob).string() != Some(kind.as_bytes()) {
        return Err(format!("the key is not of the type {}", kind.escape_debug()));
    }
    let mut signer = Signer { names, key, namespaces: None, after: None, before: None };
    for option in split_outside_quotes(options, ',') {
        signer.take(option)?;
    }
    Ok(signer)
}

fn is_type(word: &str) -> bool {
    ["ssh-", "ecdsa-", "sk-"].iter().any(|start| word.starts_with(start))
}

impl Signer {
    fn take(&mut self, option: &str) -> Result<(), String> {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let value = value.trim_matches('"');
        let date = || {
            time(value).ok_or_else(|| format!("\"{option}\" holds no date YYYYMMDD[HHMM[SS]][Z]"))
        };
        match name.to_ascii_lowercase().as_str() {
            "namespaces" if !value.is_empty() => self.namespaces = Some(value.to_owned()),
            "valid-after" => self.after = Some(date()?),
            "valid-before" => self.before = Some(date()?),
            "cert-authority" => {
                return Err("certificate authorities are not supported; list the keys".to_owned());
            }
            _ => return Err(format!("there is no option \"{}\"", option.escape_debug())),
        }
        Ok(())
    }
}

/// Reads a date as ssh-keygen does: in the time zone of the system, unless it ends in `Z`.
fn time(text: &str) -> Option<Timestamp> {
    let (digits, zone) = match text.strip_suffix('Z') {
        Some(digits) => (digits, TimeZone::UTC),
        None => (text, TimeZone::system()),
    };
    if !matches!(digits.len(), 8 | 12 | 14) || !digits.bytes().all(|it| it.is_ascii_digit()) {
        return None;
    }
    let full = format!("{digits:0<14}");
    let date = DateTime::strptime("%Y%m%d%H%M%S", full).ok()?;
    zone.to_timestamp(date).ok()
}

/// Splits off the first word; white space in quotes does not end it.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let mut quoted = false;
    let end = text.find(|letter: char| {
        quoted ^= letter == '"';
        !quoted && letter.is_whitespace()
    });
    text.split_at(end.unwrap_or(text.len()))
}

fn split_outside_quotes(text: &str, at: char) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let parts = text.split(move |letter: char| {
        quoted ^= letter == '"';
        !quoted && letter == at
    });
    parts.filter(|part| !part.is_empty())
}

/// Matches a word against patterns with commas between them; one with `!` in front excludes
/// (ssh_config(5), "PATTERNS").
fn in_list(word: &str, list: &str) -> bool {
    let mut found = false;
    for pattern in list.split(',') {
        match pattern.trim().strip_prefix('!') {
            Some(pattern) if is_like(word.as_bytes(), pattern.as_bytes()) => return false,
            Some(_) => {}
            None => found |= is_like(word.as_bytes(), pattern.trim().as_bytes()),
        }
    }
    found
}

fn is_like(word: &[u8], pattern: &[u8]) -> bool {
    match (pattern.split_first(), word.split_first()) {
        (None, _) => word.is_empty(),
        (Some((b'*', rest)), _) => (0..=word.len()).any(|skip| is_like(&word[skip..], rest)),
        (Some((letter, rest)), Some((first, more))) => {
            (*letter == b'?' || letter == first) && is_like(more, rest)
        }
        (Some(_), None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ED25519: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHKSkfjSFaoRGsfIZ7m8VFTGcW8lHQTGPrWFnN2mNTBj";

    fn refused(line: &str) -> String {
        AllowedSigners::parse(line).unwrap_err()
    }

    #[test]
    fn a_line_is_taken_with_its_options_and_its_comment() {
        let options =
            "namespaces=\"git,file\",valid-after=\"20260101Z\",valid-before=\"202701011200Z\"";
        let text = format!("# keys\n\n\"ann lee@example.com\" {options} {ED25519} ann's laptop\n");
        let signers = AllowedSigners::parse(&text).unwrap();
        let signer = &signers.0[0];
        assert_eq!(signer.names, "ann lee@example.com");
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        assert_eq!(signer.after, Some(at("2026-01-01T00:00:00Z")));
        assert_eq!(signer.before, Some(at("2027-01-01T12:00:00Z")));
        assert!(signer.counts(at("2026-05-01T00:00:00Z")).is_ok());
        assert!(signer.counts(at("2025-12-31T23:59:59Z")).unwrap_err().contains("not valid yet"));
        assert!(signer.counts(at("2027-01-01T12:00:00Z")).unwrap_err().contains("expired"));
    }

    #[test]
    fn what_is_not_understood_is_refused_with_its_line() {
        let of = |options: &str| refused(&format!("# x\na {options} {ED25519}"));
        assert!(of("cert-authority").starts_with("line 2: certificate authorities"));
        assert!(of("verify-required").contains("no option \"verify-required\""));
        assert!(of("valid-after=\"soon\"").contains("holds no date"));
        assert!(refused("a ssh-ed25519 AAAA").contains("line 1"));
        assert!(refused("a ssh-dss AAAAB3NzaC1kc3M=").contains("\"ssh-dss\" are not supported"));
        assert!(refused("a").contains("NAMES [OPTIONS] TYPE KEY"));
        assert!(refused("# nothing\n").contains("lists no key"));
        let other = ED25519.replacen("ssh-ed25519", "ssh-rsa", 1);
        assert!(refused(&format!("a {other}")).contains("not of the type ssh-rsa"));
    }

    #[test]
    fn namespaces_are_patterns() {
        assert!(in_list("git", "file,git") && in_list("git", "g*") && in_list("git", "g?t"));
        assert!(!in_list("git", "file") && !in_list("git", "*,!git") && !in_list("git", "gi"));
    }
}
