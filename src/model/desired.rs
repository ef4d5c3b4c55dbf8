//! What an object in Git asks of AWS, one resource at a time.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::reference::{fill, markers};
use super::{Notice, Observed, Refusal, ResourceId};

/// The key of the tag that marks what Levelset owns; its value is `AGENT/KIND/NAME`, or the same
/// after `retained:` for what that object has left in AWS.
pub const OWNER_TAG: &str = "levelset:owner";

const RETAINED: &str = "retained:";

/// Returns the ownership tag of what `owner` has left in AWS.
pub fn retained(owner: &str) -> String {
    format!("{RETAINED}{owner}")
}

/// Returns who has left a resource in AWS, if its ownership tag says so.
pub fn retained_by(tag: &str) -> Option<&str> {
    tag.strip_prefix(RETAINED)
}

/// Names a field by its path in the manifest section.
pub type Field = Cow<'static, str>;

/// Describes one resource that an object expands to, before references are resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// The resource.
    pub id: ResourceId,
    /// The manifest section that its fields live in, for example `database`; for reports.
    pub section: Cow<'static, str>,
    /// The declared fields (a field that is not declared is not managed).
    pub fields: BTreeMap<Field, Input>,
    /// Values that are sent at creation only and never compared: the documented safe defaults.
    pub initial: BTreeMap<Field, Value>,
    /// The value of the ownership tag.
    pub owner: String,
    /// True when the manifest says that an existing resource without our tag may be taken over.
    pub adopt: bool,
    /// Facts for the reader that follow from the manifest alone.
    pub notices: Vec<Notice>,
    /// Reasons, from the manifest alone, why no call may be made for this resource.
    pub refusals: Vec<Refusal>,
}

/// Holds the value of a field, or says where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Input {
    /// The manifest states it.
    Known(Value),
    /// Another resource's describe answer holds it.
    Output {
        /// The resource that has it.
        of: ResourceId,
        /// The member of its answer.
        member: String,
    },
    /// Some items of a list in another resource's describe answer hold it, one value each.
    Select {
        /// The resource that has the list.
        of: ResourceId,
        /// The member of its answer that holds the list, for example `Subnets`.
        list: String,
        /// Only items with all of these tags (their member `Tags`) are taken.
        tags: BTreeMap<String, String>,
        /// The member of an item, for example `SubnetId`.
        member: String,
    },
    /// The manifest states it, save for what other resources' describe answers hold.
    Template {
        /// The value, in whose texts `${…}` are [references](super::reference).
        value: Value,
        /// What stands in the place of each marker; a marker that is not here stays as it is.
        outputs: BTreeMap<String, Output>,
        /// Resources that have to exist, though nothing of their answers is needed.
        needs: BTreeSet<ResourceId>,
    },
}

/// Names a member of another resource's describe answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// The resource that has it.
    pub of: ResourceId,
    /// The dotted path of the member of its answer.
    pub member: String,
    /// Whether a text that is nothing but the marker becomes the value as it is, a number too;
    /// otherwise the value is written out.
    pub typed: bool,
    /// The ownership tag that it has to carry, where a stranger of its name must not stand for it.
    pub owner: Option<String>,
    /// Whether it may be nobody's yet: the same object takes it over, and it is what it is then.
    pub adopt: bool,
}

/// Says why a reference has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    /// The resource is not known to be there and settled.
    #[error("{0} is not there, or not settled")]
    Unseen(ResourceId),
    /// Its describe answer lacks the member, which AWS may still be working on.
    #[error("{of} has no {member} yet")]
    NoMember {
        /// The resource.
        of: ResourceId,
        /// The member.
        member: String,
    },
    /// It exists and carries another ownership tag, or none.
    #[error("{of} does not belong to {owner}")]
    Foreign {
        /// The resource.
        of: ResourceId,
        /// The ownership tag that it should carry.
        owner: String,
    },
    /// No item of the list has the tags. An empty selection is never a value: it would empty a
    /// subnet group.
    #[error("no item of {list} of {of} has the declared tags")]
    NothingSelected {
        /// The resource.
        of: ResourceId,
        /// The list.
        list: String,
    },
}

impl Input {
    /// Lists the resources that the value comes from.
    pub fn references(&self) -> Vec<&ResourceId> {
        match self {
            Self::Output { of, .. } | Self::Select { of, .. } => vec![of],
            Self::Template { outputs, needs, .. } => {
                outputs.values().map(|output| &output.of).chain(needs).collect()
            }
            Self::Known(_) => Vec::new(),
        }
    }

    /// Lists the references by which the value names other resources, as the manifest spells them.
    pub fn markers(&self) -> Vec<&str> {
        match self {
            Self::Template { value, .. } => markers(value),
            _ => Vec::new(),
        }
    }

    /// Returns the value, looking references up in what has been observed.
    ///
    /// # Errors
    ///
    /// An [`Unresolved`] when what it refers to is not there (yet).
    pub fn resolve<'a>(
        &self,
        observed: impl Fn(&ResourceId) -> Option<&'a Observed>,
    ) -> Result<Value, Unresolved> {
        let member_of = |of: &ResourceId, member: &str| member_of(&observed, of, member);
        match self {
            Self::Known(value) => Ok(value.clone()),
            Self::Output { of, member } => member_of(of, member).cloned(),
            Self::Template { value, outputs, needs } => {
                if let Some(missing) = needs.iter().find(|id| observed(id).is_none()) {
                    return Err(Unresolved::Unseen(missing.clone()));
                }
                let known = outputs
                    .iter()
                    .map(|(marker, output)| Ok((marker.as_str(), output.read(&observed)?)))
                    .collect::<Result<BTreeMap<&str, Value>, Unresolved>>()?;
                Ok(fill(value, &|marker| known.get(marker).cloned()))
            }
            Self::Select { of, list, tags, member } => {
                let items = member_of(of, list)?.as_array().map(Vec::as_slice).unwrap_or_default();
                let chosen: Vec<Value> = items
                    .iter()
                    .filter(|item| has_tags(item, tags))
                    .filter_map(|item| item.get(member).cloned())
                    .collect();
                if chosen.is_empty() {
                    return Err(Unresolved::NothingSelected { of: of.clone(), list: list.clone() });
                }
                Ok(Value::Array(chosen))
            }
        }
    }
}

impl Output {
    /// Returns the value that stands in the place of the marker.
    fn read<'a>(
        &self,
        observed: impl Fn(&ResourceId) -> Option<&'a Observed>,
    ) -> Result<Value, Unresolved> {
        if let Some(owner) = &self.owner {
            self.proven(observed(&self.of), owner)?;
        }
        let value = member_of(observed, &self.of, &self.member)?;
        Ok(match value {
            Value::String(_) => value.clone(),
            other if self.typed => other.clone(),
            other => other.to_string().into(),
        })
    }

    /// Tells whether a resource that exists carries an ownership tag, or none and is taken over.
    fn proven(&self, seen: Option<&Observed>, owner: &str) -> Result<(), Unresolved> {
        let seen = seen.ok_or_else(|| Unresolved::Unseen(self.of.clone()))?;
        let tag = seen.tags.as_ref().map(|tags| tags.get(OWNER_TAG));
        let is_free = |tag: &str| retained_by(tag).is_some();
        let is_proven = match tag {
            Some(Some(tag)) => tag == owner || (self.adopt && is_free(tag)),
            Some(None) => self.adopt,
            None => false,
        };
        match is_proven {
            true => Ok(()),
            false => Err(Unresolved::Foreign { of: self.of.clone(), owner: owner.to_owned() }),
        }
    }
}

/// Looks a member up in what was observed of a resource.
fn member_of<'a>(
    observed: impl Fn(&ResourceId) -> Option<&'a Observed>,
    of: &ResourceId,
    member: &str,
) -> Result<&'a Value, Unresolved> {
    let found = observed(of).ok_or_else(|| Unresolved::Unseen(of.clone()))?;
    let missing = || Unresolved::NoMember { of: of.clone(), member: member.to_owned() };
    found.member(member).ok_or_else(missing)
}

/// Tells whether an item of a describe answer, `{"Tags": [{"Key": …, "Value": …}]}`, has the tags.
fn has_tags(item: &Value, wanted: &BTreeMap<String, String>) -> bool {
    let tags = item.get("Tags").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let text =
        |tag: &Value, member: &str| tag.get(member).and_then(Value::as_str).map(str::to_owned);
    wanted.iter().all(|(key, value)| {
        tags.iter().any(|tag| {
            text(tag, "Key").as_ref() == Some(key) && text(tag, "Value").as_ref() == Some(value)
        })
    })
}

impl Resource {
    /// Lists the other resources whose outputs are needed, without duplicates.
    pub fn references(&self) -> Vec<&ResourceId> {
        let all = self.fields.values().flat_map(Input::references);
        let mut found: Vec<&ResourceId> = all.filter(|id| **id != self.id).collect();
        found.sort();
        found.dedup();
        found
    }

    /// Returns which of its fields are not compared, of the paths that a manifest says to ignore.
    ///
    /// A path may name the resource's section or one around it, which means every field; a field
    /// under the section; or, since a section may take over what stands in the outermost one around
    /// it (the class of a cluster's members), a field under that.
    pub fn ignored(&self, paths: &[String]) -> Vec<String> {
        let section = &*self.section;
        let under = |path: &str, of: &str| {
            path.strip_prefix(of).and_then(|rest| rest.strip_prefix('.')).map(str::to_owned)
        };
        if paths.iter().any(|path| path == section || under(section, path).is_some()) {
            return self.fields.keys().map(ToString::to_string).collect();
        }
        let outermost = section.split('.').next().unwrap_or_default();
        let field = |path: &String| under(path, section).or_else(|| under(path, outermost));
        paths.iter().filter_map(field).collect()
    }
}

/// Describes one resource with every value known: the desired side of the differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// The resource.
    pub id: ResourceId,
    /// The declared fields.
    pub fields: BTreeMap<Field, Value>,
    /// Values for creation only.
    pub initial: BTreeMap<Field, Value>,
    /// The value of the ownership tag.
    pub owner: String,
    /// True when an existing resource may be taken over.
    pub adopt: bool,
}

impl Bound {
    /// Tells whether a resource carries our ownership tag.
    pub fn is_owned(&self, actual: &Observed) -> bool {
        actual.tags.as_ref().and_then(|tags| tags.get(OWNER_TAG)) == Some(&self.owner)
    }

    /// Returns a declared value, or the one that creation would send.
    pub fn value(&self, field: &str) -> Option<&Value> {
        self.fields.get(field).or_else(|| self.initial.get(field))
    }

    /// Returns a declared value.
    pub fn declared(&self, field: &str) -> Option<&Value> {
        self.fields.get(field)
    }

    /// Returns the tags that a new resource gets: the declared ones and the ownership tag.
    pub fn tags_at_creation(&self) -> Map<String, Value> {
        let declared = self.declared("tags").and_then(Value::as_object);
        let mut tags = declared.cloned().unwrap_or_default();
        tags.extend(ownership(&self.owner));
        tags
    }
}

/// Returns the ownership tag with this value.
pub fn ownership(value: &str) -> Map<String, Value> {
    Map::from_iter([(OWNER_TAG.to_owned(), value.into())])
}

/// Makes the list `[{"Key": …, "Value": …}]` that AWS takes, ordered by key.
pub fn tag_list(tags: &Map<String, Value>) -> Value {
    tags.iter().map(|(key, value)| json!({ "Key": key, "Value": value })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AccountId, KindName, Region, Scope};

    fn vpc() -> ResourceId {
        let scope =
            Scope { account: AccountId::new("000000000012"), region: Region::new("eu-west-1") };
        ResourceId { kind: KindName::new("vpc"), scope, name: "shared".into() }
    }

    fn observed() -> Observed {
        let members = json!({"SubnetIds": ["subnet-1", "subnet-2"], "Subnets": [
            {"SubnetId": "subnet-1", "Tags": [{"Key": "tier", "Value": "data"}]},
            {"SubnetId": "subnet-2", "Tags": [{"Key": "tier", "Value": "web"}]},
            {"SubnetId": "subnet-3"},
        ]});
        let Value::Object(members) = members else { unreachable!() };
        Observed { members, tags: None, at: jiff::Timestamp::UNIX_EPOCH }
    }

    fn select(value: &str) -> Input {
        let tags = BTreeMap::from([("tier".to_owned(), value.to_owned())]);
        Input::Select { of: vpc(), list: "Subnets".into(), tags, member: "SubnetId".into() }
    }

    #[test]
    fn a_selection_takes_the_items_that_have_all_the_tags() {
        let seen = observed();
        assert_eq!(select("data").resolve(|_| Some(&seen)), Ok(json!(["subnet-1"])));
    }

    #[test]
    fn an_empty_selection_is_not_a_value() {
        let seen = observed();
        let missing = select("cache").resolve(|_| Some(&seen));
        assert_eq!(missing, Err(Unresolved::NothingSelected { of: vpc(), list: "Subnets".into() }));
    }

    #[test]
    fn a_template_takes_outputs_and_waits_for_everything_that_it_needs() {
        let value = json!({"Resource": ["arn/${vpc}/a", "${vpc}"], "n": 1});
        let output =
            Output { of: vpc(), member: "VpcId".into(), typed: false, owner: None, adopt: false };
        let outputs = BTreeMap::from([("vpc".to_owned(), output)]);
        let other = ResourceId { name: "other".into(), ..vpc() };
        let template = |needs: BTreeSet<ResourceId>| Input::Template {
            value: value.clone(),
            outputs: outputs.clone(),
            needs,
        };
        let mut seen = observed();
        seen.members.insert("VpcId".to_owned(), "vpc-1".into());
        let there = |id: &ResourceId| (*id == vpc()).then_some(&seen);
        let made = template(BTreeSet::new()).resolve(there);
        assert_eq!(made, Ok(json!({"Resource": ["arn/vpc-1/a", "vpc-1"], "n": 1})));
        let needy = template(BTreeSet::from([other.clone()]));
        assert_eq!(needy.references(), [&vpc(), &other]);
        assert_eq!(needy.resolve(there), Err(Unresolved::Unseen(other)));
    }

    #[test]
    fn a_stranger_of_the_same_name_is_no_output() {
        let output = |owner: &str, adopt: bool| Output {
            of: vpc(),
            member: "VpcId".into(),
            typed: false,
            owner: Some(owner.to_owned()),
            adopt,
        };
        let read = |owner: &str, adopt: bool| Input::Template {
            value: json!("${vpc}"),
            outputs: BTreeMap::from([("vpc".to_owned(), output(owner, adopt))]),
            needs: BTreeSet::new(),
        };
        let template = |owner: &str| read(owner, false);
        let taken = |seen: &Observed| read("a/Workspace/b", true).resolve(|_| Some(seen)).is_ok();
        let mut seen = observed();
        seen.members.insert("VpcId".to_owned(), "vpc-1".into());
        let foreign = Unresolved::Foreign { of: vpc(), owner: "a/Workspace/b".into() };
        assert_eq!(template("a/Workspace/b").resolve(|_| Some(&seen)), Err(foreign.clone()));
        let tag = |owner: &str| Some(BTreeMap::from([(OWNER_TAG.to_owned(), owner.to_owned())]));
        assert!(!taken(&seen), "whose it is, was not read");
        seen.tags = tag("retained:a/Workspace/b");
        assert_eq!(template("a/Workspace/b").resolve(|_| Some(&seen)), Err(foreign));
        assert!(taken(&seen));
        seen.tags = Some(BTreeMap::new());
        assert!(taken(&seen));
        seen.tags = tag("a/Workspace/c");
        assert!(!taken(&seen));
        seen.tags = tag("a/Workspace/b");
        assert_eq!(template("a/Workspace/b").resolve(|_| Some(&seen)), Ok(json!("vpc-1")));
    }

    #[test]
    fn a_path_is_ignored_in_its_section_in_those_inside_and_where_these_take_it_over() {
        let resource = |section: &'static str| Resource {
            id: vpc(),
            section: Cow::Borrowed(section),
            fields: [("sizeClass".into(), Input::Known("a".into()))].into(),
            initial: BTreeMap::new(),
            owner: String::new(),
            adopt: false,
            notices: Vec::new(),
            refusals: Vec::new(),
        };
        let ignored = |section: &'static str, path: &str| {
            resource(section).ignored(&[path.to_owned()]).join(",")
        };
        let member = "database.cluster.members.a";
        assert_eq!(ignored("database", "database.sizeClass"), "sizeClass");
        assert_eq!(ignored(member, "database.sizeClass"), "sizeClass");
        assert_eq!(ignored(member, "database.cluster.members.a.sizeClass"), "sizeClass");
        assert_eq!(ignored(member, "database.cluster.members"), "sizeClass");
        assert_eq!(ignored("database", "database"), "sizeClass");
        assert_eq!(ignored(member, "database.cluster.members.b"), "cluster.members.b");
        assert_eq!(ignored("database", "iam.roles"), "");
    }

    #[test]
    fn a_reference_to_what_was_not_seen_says_so() {
        let output = Input::Output { of: vpc(), member: "SubnetIds".into() };
        assert_eq!(output.resolve(|_| None), Err(Unresolved::Unseen(vpc())));
        let seen = observed();
        assert_eq!(output.resolve(|_| Some(&seen)), Ok(json!(["subnet-1", "subnet-2"])));
    }
}
