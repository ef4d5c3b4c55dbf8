//! How zones and record sets are named here.
//!
//! A record set's name is `ZONE/NAME/TYPE`, and `/SET` where a routing policy tells several apart.
//! ZONE is what the manifest says of it: `example.com`, `private:example.com`,
//! `vpc-0123:example.com` or `Z0123456789ABCDEFGHIJ`; names hold no `/` and no `:`.

use std::fmt;

use crate::model::{Observed, dns};

/// Says which zone is meant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Zone {
    /// The zone of this id.
    Id(String),
    /// The public zone of this name.
    Public(String),
    /// The private zone of this name.
    Private(String),
    /// The private zone of this name that belongs to a VPC.
    Vpc(String, String),
}

impl Zone {
    /// Reads what a manifest says of a zone.
    pub(super) fn declared(text: &str, is_private: bool, vpc: Option<&str>) -> Self {
        if let Some(id) = as_id(text) {
            return Self::Id(id.to_owned());
        }
        let name = dns::name(text);
        match vpc {
            Some(vpc) => Self::Vpc(vpc.to_owned(), name),
            None if is_private => Self::Private(name),
            None => Self::Public(name),
        }
    }

    /// Reads the first part of a record set's name.
    pub(super) fn read(text: &str) -> Self {
        match text.split_once(':') {
            Some(("private", name)) => Self::Private(name.to_owned()),
            Some((vpc, name)) => Self::Vpc(vpc.to_owned(), name.to_owned()),
            None if as_id(text).is_some() => Self::Id(text.to_owned()),
            None => Self::Public(text.to_owned()),
        }
    }

    /// Returns the zone's name, where it is known.
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Id(_) => None,
            Self::Public(name) | Self::Private(name) | Self::Vpc(_, name) => Some(name),
        }
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => f.write_str(id),
            Self::Public(name) => f.write_str(name),
            Self::Private(name) => write!(f, "private:{name}"),
            Self::Vpc(vpc, name) => write!(f, "{vpc}:{name}"),
        }
    }
}

/// Returns the id that a text is: ten or more capitals and digits, at least one of each, also in the
/// form of the API (`/hostedzone/Z…`).
fn as_id(text: &str) -> Option<&str> {
    let text = text.strip_prefix("/hostedzone/").unwrap_or(text);
    let has = |test: fn(&u8) -> bool| text.bytes().any(|byte| test(&byte));
    let are_letters = text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    let is_id = are_letters && has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase);
    (is_id && text.len() >= 10).then_some(text)
}

/// Returns an id as calls take it.
pub(super) fn bare(id: &str) -> &str {
    id.strip_prefix("/hostedzone/").unwrap_or(id)
}

/// Says that a name cannot be in its zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Misplaced {
    /// It ends with a dot and is of another zone.
    Outside,
    /// `@` stands for the name of a zone that is known by its id only.
    Nameless,
}

/// Returns the whole canonical name of a record: `@` is the zone's own, a name that ends as the zone's
/// does is whole, and so is every name where only the zone's id is known.
pub(super) fn whole(declared: &str, zone: &Zone) -> Result<String, Misplaced> {
    let name = dns::name(declared);
    let Some(zone) = zone.name() else {
        return if declared.trim() == "@" { Err(Misplaced::Nameless) } else { Ok(name) };
    };
    match declared.trim() {
        "@" => Ok(zone.to_owned()),
        _ if dns::is_in(&name, zone) => Ok(name),
        text if text.ends_with('.') => Err(Misplaced::Outside),
        _ => Ok(format!("{name}.{zone}")),
    }
}

/// Names one record set.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Named<'a> {
    pub(super) zone: &'a str,
    pub(super) name: &'a str,
    pub(super) record_type: &'a str,
    pub(super) set: Option<&'a str>,
}

impl<'a> Named<'a> {
    /// Reads the name of a resource.
    pub(super) fn read(name: &'a str) -> Option<Self> {
        let mut parts = name.splitn(4, '/');
        let (zone, name, record_type) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Self { zone, name, record_type, set: parts.next() })
    }
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { zone, name, record_type, set } = self;
        write!(f, "{zone}/{name}/{record_type}")?;
        set.iter().try_for_each(|set| write!(f, "/{set}"))
    }
}

/// Returns what a record set is under all names of its zone.
pub(super) fn identity(actual: &Observed) -> Option<String> {
    let zone = actual.text("HostedZoneId")?;
    let name = dns::name(actual.text("Name")?);
    let set = actual.text("SetIdentifier");
    Some(Named { zone, name: &name, record_type: actual.text("Type")?, set }.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_named_by_its_id_or_its_name() {
        for (text, is_private, vpc, expected) in [
            ("Example.com.", false, None, "example.com"),
            ("corp.internal", true, None, "private:corp.internal"),
            ("corp.internal", true, Some("vpc-1"), "vpc-1:corp.internal"),
            ("Z0123456789ABC", false, None, "Z0123456789ABC"),
            ("/hostedzone/Z0123456789ABC", false, None, "Z0123456789ABC"),
            ("INTERNAL", false, None, "internal"),
            ("SUBSIDIARY", false, None, "subsidiary"),
        ] {
            let zone = Zone::declared(text, is_private, vpc);
            assert_eq!(zone.to_string(), expected);
            assert_eq!(Zone::read(expected), zone);
        }
    }

    #[test]
    fn a_name_is_whole_or_completed_by_its_zone() {
        let zone = Zone::Public("example.com".to_owned());
        for (declared, expected) in [
            ("www", Ok("www.example.com")),
            ("WWW.Example.com", Ok("www.example.com")),
            ("www.example.com.", Ok("www.example.com")),
            ("@", Ok("example.com")),
            ("example.com", Ok("example.com")),
            ("*", Ok("*.example.com")),
            ("\\052.example.com.", Ok("*.example.com")),
            ("badexample.com", Ok("badexample.com.example.com")),
            ("www.example.org.", Err(Misplaced::Outside)),
        ] {
            assert_eq!(whole(declared, &zone), expected.map(str::to_owned), "{declared}");
        }
        let by_id = Zone::Id("Z0123456789ABC".to_owned());
        assert_eq!(whole("www.example.com", &by_id), Ok("www.example.com".to_owned()));
        assert_eq!(whole("@", &by_id), Err(Misplaced::Nameless));
    }

    #[test]
    fn a_set_identifier_may_hold_what_separates_the_others() {
        let name = "example.com/www.example.com/A/east/1";
        let named = Named::read(name).unwrap();
        assert_eq!(named.set, Some("east/1"));
        assert_eq!(named.to_string(), name);
    }
}
