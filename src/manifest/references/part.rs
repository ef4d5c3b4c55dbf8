//! The resources of an object as references name them: `database`, `network`, `network.subnets.NAME`,
//! `iam.NAME`, `secrets.NAME`, `buckets.NAME`, `compute.NAME`, `custom.NAME`.

use std::collections::BTreeMap;
use std::fmt;

use crate::kinds::autoscaling_group::spec::{self as compute, Group};
use crate::kinds::custom::spec::{self as custom, CustomResource};
use crate::kinds::db_cluster::{NAME as DB_CLUSTER, spec as cluster};
use crate::kinds::db_instance::NAME as DB_INSTANCE;
use crate::kinds::db_instance::spec::{self as instance, Database};
use crate::kinds::iam_role::spec::{self as role, Role};
use crate::kinds::s3_bucket::spec::{self as bucket, Bucket};
use crate::kinds::secret::spec::{self as secret, Secret};
use crate::kinds::subnet::spec as subnet;
use crate::kinds::vpc::spec as vpc;
use crate::manifest::expand::{Neighbours, Place};
use crate::manifest::object::{Object, Spec};
use crate::manifest::words;
use crate::model::{Offer, ResourceId};

/// The sections whose resources offer something.
const SECTIONS: [&str; 7] =
    ["database", "network", "iam", "secrets", "buckets", "compute", "custom"];

/// Is one resource of an object.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part<'a> {
    Database(&'a Database),
    /// The VPC under the name by which a workspace refers to it, or a network's own.
    Network(Option<&'a str>),
    /// A subnet of a network's own VPC.
    Subnet(&'a str),
    Role(&'a str, &'a Role),
    Secret(&'a str, &'a Secret),
    Bucket(&'a str, &'a Bucket),
    Compute(&'a str, &'a Group),
    Custom(&'a str, &'a CustomResource),
}

/// Is the resource that a path begins with, and the rest of the path.
#[derive(Debug)]
pub(super) struct Offered<'a> {
    pub(super) part: Part<'a>,
    pub(super) output: &'a [String],
}

/// Says that an object has no such resource.
#[derive(Debug)]
pub(super) struct Lack {
    /// What it does not have, in words that follow its name.
    pub(super) what: String,
    pub(super) hint: Option<String>,
}

impl Lack {
    fn of(what: String) -> Self {
        Self { what, hint: None }
    }

    fn hint(self, hint: Option<String>) -> Self {
        Self { hint, ..self }
    }
}

/// Finds the resource that a path names.
pub(super) fn part<'a>(spec: &'a Spec, path: &'a [String]) -> Result<Offered<'a>, Lack> {
    let (section, rest) = path.split_first().ok_or_else(|| absent("resource"))?;
    let resources = match spec {
        Spec::Workspace(spec) => Some(&spec.resources),
        Spec::Network(_) => None,
    };
    match section.as_str() {
        "network" => network(spec, rest),
        "database" => {
            let database = resources.and_then(|it| it.database.as_ref());
            let part = Part::Database(database.ok_or_else(|| absent("database"))?);
            Ok(Offered { part, output: rest })
        }
        "iam" => {
            let roles = resources.and_then(|it| it.iam.as_ref()).map(|iam| &iam.roles);
            entry(roles, (section, section, "role"), rest, Part::Role)
        }
        "secrets" => {
            let secrets = resources.and_then(|it| it.secrets.as_ref());
            entry(secrets, (section, section, "secret"), rest, Part::Secret)
        }
        "buckets" => {
            let buckets = resources.and_then(|it| it.buckets.as_ref());
            entry(buckets, (section, section, "bucket"), rest, Part::Bucket)
        }
        "compute" => {
            let groups = resources.and_then(|it| it.compute.as_ref());
            entry(groups, (section, section, "group"), rest, Part::Compute)
        }
        "custom" => {
            let custom = resources.and_then(|it| it.custom.as_ref());
            entry(custom, (section, "custom resources", "custom resource"), rest, Part::Custom)
        }
        other => {
            let nearest = words::nearest(other, &SECTIONS);
            let hint = nearest.map_or_else(
                || format!("a reference begins with {}", words::or(&SECTIONS)),
                |name| format!("did you mean {name}?"),
            );
            Err(Lack::of(format!("has no section \"{other}\"")).hint(Some(hint)))
        }
    }
}

fn absent(what: &str) -> Lack {
    Lack::of(format!("declares no {what}"))
}

/// Finds what a path names below `network`: the network, or a subnet of its own VPC.
fn network<'a>(spec: &'a Spec, rest: &'a [String]) -> Result<Offered<'a>, Lack> {
    match (spec, rest) {
        (Spec::Workspace(spec), _) => {
            let network = spec.resources.network.as_ref().ok_or_else(|| absent("network"))?;
            Ok(Offered { part: Part::Network(Some(&network.vpc_ref)), output: rest })
        }
        (Spec::Network(spec), [first, key, output @ ..]) if first == "subnets" => {
            let own = spec.vpc.as_ref().ok_or_else(|| absent("VPC of its own"))?;
            let (key, _) = named(&own.subnets, key, "subnet", "network.subnets")?;
            Ok(Offered { part: Part::Subnet(key), output })
        }
        (Spec::Network(_), _) => Ok(Offered { part: Part::Network(None), output: rest }),
    }
}

/// Finds what a path names in a section of several resources, of which `words` says how the section,
/// all of them and one of them are called.
fn entry<'a, T>(
    all: Option<&'a BTreeMap<String, T>>,
    words: (&'a String, &str, &str),
    rest: &'a [String],
    part: impl Fn(&'a str, &'a T) -> Part<'a>,
) -> Result<Offered<'a>, Lack> {
    let (section, several, one) = words;
    let all = all.ok_or_else(|| absent(several))?;
    let (name, output) = rest.split_first().unwrap_or((section, &[]));
    let (name, found) = named(all, name, one, section)?;
    Ok(Offered { part: part(name, found), output })
}

/// Finds one of several resources of a section.
fn named<'a, T>(
    all: &'a BTreeMap<String, T>,
    name: &str,
    what: &str,
    section: &str,
) -> Result<(&'a str, &'a T), Lack> {
    if let Some((name, one)) = all.get_key_value(name) {
        return Ok((name, one));
    }
    let known: Vec<&str> = all.keys().map(String::as_str).collect();
    let nearest = words::nearest(name, &known);
    let lack = Lack::of(format!("declares no {what} \"{name}\""));
    Err(lack.hint(nearest.map(|name| format!("did you mean {section}.{name}?"))))
}

/// Lists which resource of a spec needs which other one without naming it in a text.
pub(super) fn implied(spec: &Spec) -> Vec<(String, String)> {
    let Spec::Workspace(spec) = spec else { return Vec::new() };
    let mut found = Vec::new();
    for (name, it) in spec.resources.iam.iter().flat_map(|iam| &iam.roles) {
        let holder = format!("iam.{name}");
        if it.database_access.is_some() {
            found.push((holder.clone(), "database".to_owned()));
        }
        let trusted = it.trust.roles.iter().map(|role| format!("iam.{role}"));
        found.extend(trusted.map(|role| (holder.clone(), role)));
    }
    found
}

impl Part<'_> {
    /// Returns what it offers.
    pub(super) fn offers(self) -> &'static [Offer] {
        match self {
            Self::Database(database) if database.aurora().is_some() => cluster::OFFERS,
            Self::Database(_) => instance::OFFERS,
            Self::Network(_) => vpc::OFFERS,
            Self::Subnet(_) => subnet::OFFERS,
            Self::Role(..) => role::OFFERS,
            Self::Secret(..) => secret::OFFERS,
            Self::Bucket(..) => bucket::OFFERS,
            Self::Compute(..) => compute::OFFERS,
            Self::Custom(..) => &[],
        }
    }

    /// Returns the member of the describe answer that holds an output. A custom resource has the
    /// properties of its type, which are not known here, save those that are named like secrets.
    pub(super) fn member(self, output: &str) -> Option<String> {
        match self {
            Self::Custom(..) if output == "identifier" => Some("Identifier".to_owned()),
            Self::Custom(..) => (!output.is_empty() && !output.split('.').any(custom::is_secret))
                .then(|| format!("Properties.{output}")),
            other => {
                let offer = other.offers().iter().find(|offer| offer.name == output)?;
                Some(offer.member.to_owned())
            }
        }
    }

    /// Returns which resource of AWS it is; `place` is its object's.
    pub(super) fn id(
        self,
        object: &Object,
        place: &Place,
        neighbours: &dyn Neighbours,
    ) -> ResourceId {
        let name = &object.key.name;
        match self {
            Self::Database(database) => {
                let kind = if database.aurora().is_some() { DB_CLUSTER } else { DB_INSTANCE };
                place.id(kind, &instance::identifier(database, name))
            }
            Self::Role(key, it) => role::role_id(&place.scope, &role::role_name(name, key, it)),
            Self::Network(Some(reference)) => place.vpc(reference, neighbours),
            Self::Network(None) => place.vpc_of(object),
            Self::Subnet(key) => subnet::resource_id(&place.scope, name, key),
            Self::Secret(key, it) => secret::resource_id(&place.scope, name, key, it),
            Self::Bucket(key, it) => bucket::resource_id(&place.scope, name, key, it),
            Self::Compute(key, it) => compute::resource_id(&place.scope, name, key, it),
            Self::Custom(key, resource) => custom::resource_id(&place.scope, name, key, resource),
        }
    }
}

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Database(_) => f.write_str("database"),
            Self::Network(_) => f.write_str("network"),
            Self::Subnet(key) => write!(f, "network.subnets.{key}"),
            Self::Role(name, _) => write!(f, "iam.{name}"),
            Self::Secret(name, _) => write!(f, "secrets.{name}"),
            Self::Bucket(name, _) => write!(f, "buckets.{name}"),
            Self::Compute(name, _) => write!(f, "compute.{name}"),
            Self::Custom(name, _) => write!(f, "custom.{name}"),
        }
    }
}
