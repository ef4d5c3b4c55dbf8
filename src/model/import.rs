//! What a kind makes of a resource that exists: a part of a manifest that changes nothing.
//!
//! A kind is the only one that knows how its section is written, so it states the inverse of its
//! expansion: in: a describe answer. Out: a [`Draft`], in which everything that differs from the
//! default of the schema is declared as it is, and what cannot be declared is said in words. How
//! resources are put together to objects, and whether the result really plans to no change, is not
//! the kind's business.

use serde_json::Value;

use super::sheet::Sheet;
use super::{Call, KindName, ObjectKind, Observed, ResourceId, Rule, Scope, inverse};

/// States how the resources of a kind are declared that exist already.
pub trait Import: Send + Sync + 'static {
    /// Says why nobody declares a resource: a service of AWS made it and owns it, or it is of another
    /// sort; `None` where it may be declared.
    fn passed_over(&self, name: &str, actual: &Observed) -> Option<String> {
        let _ = (name, actual);
        None
    }

    /// Returns the texts by which other resources name this one, with the output that a reference
    /// would say instead, where there is one.
    fn known_as(&self, actual: &Observed) -> Vec<(String, Option<&'static str>)> {
        let _ = actual;
        Vec::new()
    }

    /// Returns further reads that a draft needs, one resource at a time; the lists of their answers
    /// are added to what was observed.
    fn reads(&self, actual: &Observed) -> Vec<Call> {
        let _ = actual;
        Vec::new()
    }

    /// Makes the part of a manifest; `None` for what is only named by others.
    fn draft(&self, name: &str, actual: &Observed, around: &dyn Around) -> Option<Draft>;
}

/// Knows what else was found.
pub trait Around {
    /// Returns the resource that a text is known for.
    fn find(&self, text: &str) -> Option<(&ResourceId, &Observed)>;

    /// Returns the resources that are parts of the one of this name, in the order of their names.
    fn parts(&self, whole: &str) -> Vec<&Observed>;

    /// Returns the resources that AWS shows to use one, in the order in which they were read.
    fn users(&self, kind: &KindName, name: &str, used: &Observed) -> Vec<&ResourceId>;

    /// Returns the account and region of the resource that a draft is made of.
    fn scope(&self) -> &Scope;

    /// Tells whether the stricter defaults of production hold.
    fn is_production(&self) -> bool;
}

/// Is a part of a manifest, and how it goes with others.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// Where it stands.
    pub section: Section,
    /// Its members, below the section.
    pub sheet: Sheet,
    /// The member that holds its name in AWS, where that is not the derived one, and the name.
    pub name: Option<(&'static str, String)>,
    /// The texts by which it names others.
    pub uses: Vec<String>,
    /// What has to be declared too, or it cannot be either.
    pub needs: Vec<ResourceId>,
    /// Paths below the section whose texts may be references.
    pub refers: Vec<&'static str>,
    /// The same of what is set when the resource is there, and may name the resource itself.
    pub refers_later: Vec<&'static str>,
    /// Paths below the section that need not be declared where the resource that a text is known for
    /// is declared in the same object.
    pub implied: Vec<(&'static str, String)>,
    /// Paths below `spec.resources` that hold the name of the object that declares the resource that
    /// a text is known for.
    pub objects: Vec<(&'static str, String)>,
    /// The VPC that it is in.
    pub vpc: Option<String>,
}

/// Says where a draft stands.
#[derive(Debug, Clone, PartialEq)]
pub enum Section {
    /// There is one in a workspace, which is made for it; the path below `spec.resources`.
    Own(&'static str),
    /// It belongs to the workspace of the only one that uses it; the path below `spec.resources`.
    Part(&'static str),
    /// It is one of several in a workspace.
    Several(Several),
    /// It is an object of its own.
    Object(ObjectKind),
    /// It stands in the entry of this one.
    With(ResourceId),
    /// It cannot be declared, as what is around it says, for this reason.
    Nowhere(String),
}

/// Says how one of several stands in its section.
#[derive(Debug, Clone, PartialEq)]
pub struct Several {
    /// The path of the section below `spec.resources`, such as `iam.roles`.
    pub path: &'static str,
    /// Names that it might have there, the best first.
    pub keys: Vec<String>,
    /// What stands between the workspace's name and this one in AWS, where the name is derived so.
    pub joint: Option<&'static str>,
    /// What ends the name in AWS, where it is derived so.
    pub end: Option<String>,
    /// Members that stand once beside the section's mapping where all of it has the same.
    pub common: Vec<(&'static str, Value)>,
}

impl Draft {
    /// Begins a draft.
    pub fn new(section: Section) -> Self {
        Self {
            section,
            sheet: Sheet::default(),
            name: None,
            uses: Vec::new(),
            needs: Vec::new(),
            refers: Vec::new(),
            refers_later: Vec::new(),
            implied: Vec::new(),
            objects: Vec::new(),
            vpc: None,
        }
    }
}

/// Writes fields of a describe answer into a draft, as the rules of a kind say.
pub struct Writer<'a> {
    rules: &'a [Rule],
    actual: &'a Observed,
    /// What is written.
    pub draft: Draft,
}

impl<'a> Writer<'a> {
    /// Begins a draft of a resource.
    pub fn new(rules: &'a [Rule], actual: &'a Observed, section: Section) -> Self {
        Self { rules, actual, draft: Draft::new(section) }
    }

    /// Returns the value that a field would be declared with.
    pub fn value(&self, field: &str) -> Option<Value> {
        inverse::value_of(self.rules, field, self.actual)
    }

    /// Declares fields that AWS has a value for, and not an empty one.
    pub fn declare(&mut self, fields: &[&str]) {
        for field in fields {
            if let Some(value) = self.value(field).filter(|value| !is_empty(value)) {
                self.draft.sheet.put(field, value);
            }
        }
    }

    /// Declares a field unless it has this value, or none.
    pub fn unless(&mut self, field: &str, default: impl Into<Value>) {
        let default = default.into();
        if let Some(value) = self.value(field).filter(|value| !same(value, &default)) {
            self.draft.sheet.put(field, value);
        }
    }

    /// Says something that cannot be declared.
    pub fn remark(&mut self, text: impl Into<String>) {
        self.draft.sheet.remark("", text);
    }
}

fn same(one: &Value, other: &Value) -> bool {
    match (one.as_str(), other.as_str()) {
        (Some(one), Some(other)) => one.eq_ignore_ascii_case(other),
        _ => one == other,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}
