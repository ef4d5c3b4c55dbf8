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
    let absent = |what: &str| Lack::of(format!("declares no {what}"));
    let (section, rest) = path.split_first().ok_or_else(|| absent("resource"))?;
    let resources = match spec {
        Spec::Workspace(spec) => Some(&spec.resources),
        Spec::Network(_) => None,
    };
    match (section.as_str(), resources) {
        ("network", None) => match (rest, spec) {
            ([first, key, output @ ..], Spec::Network(spec)) if first == "subnets" => {
                let own = spec.vpc.as_ref().ok_or_else(|| absent("VPC of its own"))?;
                let (key, _) = named(&own.subnets, key, "subnet", "network.subnets")?;
                Ok(Offered { part: Part::Subnet(key), output })
            }
            _ => Ok(Offered { part: Part::Network(None), output: rest }),
        },
        ("network", Some(resources)) => {
            let network = resources.network.as_ref().ok_or_else(|| absent("network"))?;
            Ok(Offered { part: Part::Network(Some(&network.vpc_ref)), output: rest })
        }
        ("database", resources) => {
            let database = resources.and_then(|resources| resources.database.as_ref());
            let part = Part::Database(database.ok_or_else(|| absent("database"))?);
            Ok(Offered { part, output: rest })
        }
        ("iam", resources) => {
            let iam = resources.and_then(|resources| resources.iam.as_ref());
            let iam = iam.ok_or_else(|| absent("iam"))?;
            let (name, rest) = rest.split_first().unwrap_or((section, &[]));
            let (name, role) = named(&iam.roles, name, "role", "iam")?;
            Ok(Offered { part: Part::Role(name, role), output: rest })
        }
        ("secrets", resources) => {
            let secrets = resources.and_then(|resources| resources.secrets.as_ref());
            let secrets = secrets.ok_or_else(|| absent("secrets"))?;
            let (name, rest) = rest.split_first().unwrap_or((section, &[]));
            let (name, secret) = named(secrets, name, "secret", "secrets")?;
            Ok(Offered { part: Part::Secret(name, secret), output: rest })
        }
        ("buckets", resources) => {
            let buckets = resources.and_then(|resources| resources.buckets.as_ref());
            let buckets = buckets.ok_or_else(|| absent("buckets"))?;
            let (name, rest) = rest.split_first().unwrap_or((section, &[]));
            let (name, bucket) = named(buckets, name, "bucket", "buckets")?;
            Ok(Offered { part: Part::Bucket(name, bucket), output: rest })
        }
        ("compute", resources) => {
            let compute = resources.and_then(|resources| resources.compute.as_ref());
            let compute = compute.ok_or_else(|| absent("compute"))?;
            let (name, rest) = rest.split_first().unwrap_or((section, &[]));
            let (name, group) = named(compute, name, "group", "compute")?;
            Ok(Offered { part: Part::Compute(name, group), output: rest })
        }
        ("custom", resources) => {
            let custom = resources.and_then(|resources| resources.custom.as_ref());
            let custom = custom.ok_or_else(|| absent("custom resources"))?;
            let (name, rest) = rest.split_first().unwrap_or((section, &[]));
            let (name, resource) = named(custom, name, "custom resource", "custom")?;
            Ok(Offered { part: Part::Custom(name, resource), output: rest })
        }
        (other, _) => {
            let nearest = words::nearest(other, &SECTIONS);
            let hint = nearest.map_or_else(
                || format!("a reference begins with {}", words::or(&SECTIONS)),
                |name| format!("did you mean {name}?"),
            );
            Err(Lack::of(format!("has no section \"{other}\"")).hint(Some(hint)))
        }
    }
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
