//! From the text of one setting to its value, or to what is wrong with it.

use std::fmt::Display;
use std::net::SocketAddr;
use std::str::FromStr;

use url::Url;

use super::LogFormat;
use super::layers::Text;
use crate::model::{AccountId, Region};

type Checked<T> = Result<T, String>;

/// Takes any text that is not empty.
pub(super) fn text(text: &Text) -> Checked<String> {
    match text.text.trim() {
        "" => Err("it is empty".to_owned()),
        trimmed => Ok(trimmed.to_owned()),
    }
}

/// Takes patterns of types with spaces between them; a `*` stands at the end of one.
pub(super) fn patterns(text: &Text) -> Checked<Vec<String>> {
    let is_sign = |letter: char| letter.is_ascii_alphanumeric() || letter == ':';
    let is_pattern = |word: &&str| word.strip_suffix('*').unwrap_or(word).chars().all(is_sign);
    let words: Vec<&str> = text.text.split_whitespace().collect();
    match words.iter().find(|word| !is_pattern(word)) {
        Some(word) => Err(format!("\"{word}\" is no pattern of a type, such as AWS::SQS::*")),
        None => Ok(words.into_iter().map(str::to_owned).collect()),
    }
}

/// Takes a whole number within bounds, both included.
pub(super) fn number<T>(text: &Text, least: T, most: T) -> Checked<T>
where
    T: FromStr + PartialOrd + Display,
{
    let number = text.text.trim().parse::<T>().ok();
    number
        .filter(|number| (&least..=&most).contains(&number))
        .ok_or_else(|| format!("\"{}\" is not a whole number from {least} to {most}", text.text))
}

/// Takes `true` or `false`.
pub(super) fn boolean(text: &Text) -> Checked<bool> {
    match text.text.as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        other => Err(format!("\"{other}\" is neither true nor false")),
    }
}

/// Takes an address with a port.
pub(super) fn address(text: &Text) -> Checked<SocketAddr> {
    let given = text.text.trim();
    given.parse().map_err(|_| {
        let instead = match given.rsplit_once(':') {
            Some(("localhost", port)) => format!("write 127.0.0.1:{port}"),
            Some(("" | "*", port)) => format!("write 0.0.0.0:{port} for every interface"),
            _ => "write an IP address and a port, for example 127.0.0.1:8080".to_owned(),
        };
        format!("\"{given}\" is no address; {instead}")
    })
}

/// Takes names of hosts, separated by commas.
pub(super) fn hosts(text: &Text) -> Checked<Vec<String>> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.' | '_');
    let names = text.text.split(',').map(str::trim).filter(|name| !name.is_empty());
    names
        .map(|name| match name.chars().all(plain) {
            true => Ok(name.to_owned()),
            false => Err(format!(
                "\"{name}\" is no name of a host; write names without scheme and port, separated by \
                 commas"
            )),
        })
        .collect()
}

/// Takes a name that can stand in a tag beside the names of objects.
pub(super) fn agent_name(text: &Text) -> Checked<String> {
    let name = self::text(text)?;
    let plain =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    if name.len() <= 63 && name.chars().all(plain) && !name.starts_with('-') && !name.ends_with('-')
    {
        return Ok(name);
    }
    Err(format!(
        "\"{name}\" cannot be the name of an agent: up to 63 lower-case letters, digits and inner hyphens"
    ))
}

pub(super) fn log_format(text: &Text) -> Checked<LogFormat> {
    match text.text.as_str() {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        other => Err(format!("\"{other}\" is neither text nor json")),
    }
}

pub(super) fn log_level(text: &Text) -> Checked<tracing::Level> {
    match text.text.as_str() {
        "error" => Ok(tracing::Level::ERROR),
        "warn" => Ok(tracing::Level::WARN),
        "info" => Ok(tracing::Level::INFO),
        "debug" => Ok(tracing::Level::DEBUG),
        "trace" => Ok(tracing::Level::TRACE),
        other => Err(format!("\"{other}\" is none of error, warn, info, debug, trace")),
    }
}

/// Takes the twelve digits of an account, in quotes.
pub(super) fn account(text: &Text) -> Checked<AccountId> {
    let id = text.text.as_str();
    if id.len() != 12 || !id.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("\"{id}\" is not the twelve digits of an AWS account"));
    }
    if text.plain {
        return Err(format!(
            "quote it: \"{id}\"; without quotes it is a number, and other programs drop a leading zero"
        ));
    }
    Ok(AccountId::new(id))
}

/// Takes the code of a region: words and a number, for example `us-gov-east-1`.
pub(super) fn region(text: &Text) -> Checked<Region> {
    let code = text.text.as_str();
    let words: Vec<&str> = code.split('-').collect();
    let is_word =
        |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let good = match words.as_slice() {
        [names @ .., number] if names.len() >= 2 => {
            names.iter().all(is_word)
                && number.len() == 1
                && number.bytes().all(|b| b.is_ascii_digit())
        }
        _ => false,
    };
    match good {
        true => Ok(Region::new(code)),
        false => Err(format!("\"{code}\" is not the code of a region, such as eu-west-1")),
    }
}

/// Takes the ARN of a role (`arn:PARTITION:iam::ACCOUNT:role/NAME`).
pub(super) fn role_arn(text: &Text) -> Checked<String> {
    let arn = self::text(text)?;
    let parts: Vec<&str> = arn.splitn(6, ':').collect();
    match parts.as_slice() {
        ["arn", partition, "iam", "", account, resource]
            if partition.starts_with("aws")
                && account.len() == 12
                && resource.strip_prefix("role/").is_some_and(|name| !name.is_empty()) =>
        {
            Ok(arn)
        }
        _ => Err(format!("\"{arn}\" is not the ARN of a role, arn:aws:iam::ACCOUNT:role/NAME")),
    }
}

/// Takes a URL of HTTP without credentials.
pub(super) fn endpoint(text: &Text) -> Checked<Url> {
    let url = Url::parse(text.text.trim()).map_err(|error| format!("this is no URL: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("the URL has to begin with http:// or https://".to_owned());
    }
    match has_password(&url) {
        true => Err("the URL holds a password; an endpoint takes none".to_owned()),
        false => Ok(url),
    }
}

/// Takes the URL of a repository, without a password; what it may be is the source's to say.
pub(super) fn repository_url(text: &Text) -> Checked<String> {
    let url = self::text(text)?;
    // The URL is not repeated: it would carry the password into the log.
    match Url::parse(&url) {
        Ok(parsed) if has_password(&parsed) => Err(
            "the URL holds a password; put it into a file and name that in repository.passwordFile"
                .to_owned(),
        ),
        _ => Ok(url),
    }
}

fn has_password(url: &Url) -> bool {
    url.password().is_some()
}
