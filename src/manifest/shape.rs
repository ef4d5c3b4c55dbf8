//! What a value of a manifest may look like, compiled from our own JSON Schema.
//!
//! In: the schema that [`super::schema`] publishes. Out: a [`Shape`] that [`super::check`] walks a
//! document with, so that the published schema and the messages never disagree.
//!
//! It knows the keywords that our schemas use and no others (a test holds the schema against its
//! list). `pattern` and the length of a text guide editors; such a rule is enforced, in its own
//! words, by the check of the section.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// Describes the values that are allowed in one place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    /// True when nothing (`null`) is allowed too, and means the same as leaving the field out.
    pub(super) nullable: bool,
    /// What else is allowed.
    pub(super) form: Form,
}

/// Describes the values of one type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Form {
    /// Anything.
    Any,
    /// `true` or `false`.
    Bool,
    /// A whole number between two bounds, both included.
    Integer(Option<i128>, Option<i128>),
    /// A number between two bounds, both included.
    Number(Option<f64>, Option<f64>),
    /// A text; one of the choices, if there are any.
    Text(Vec<String>),
    /// A list of values of one shape.
    List(Box<Shape>),
    /// A mapping.
    Map(Members),
    /// One of several.
    Either(Vec<Shape>),
}

/// Describes the members of a mapping.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Members {
    /// The known fields.
    pub(super) fields: BTreeMap<String, Field>,
    /// The fields that have to be there.
    pub(super) required: BTreeSet<String>,
    /// The shape of all other members; without one they are refused.
    pub(super) rest: Option<Box<Shape>>,
}

/// Describes one known field.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    /// Its values.
    pub(super) shape: Shape,
    /// The first sentence of its description.
    pub(super) about: String,
    /// The value that leaving it out means.
    pub(super) default: Option<Value>,
}

impl Shape {
    /// The shape of anything.
    pub(super) const ANY: Self = Self { nullable: true, form: Form::Any };

    /// Returns the shape of a known field.
    pub(super) fn member(&self, name: &str) -> Option<&Self> {
        match &self.form {
            Form::Map(members) => members.fields.get(name).map(|field| &field.shape),
            _ => None,
        }
    }

    /// Compiles a schema; `defs` holds what its references name.
    pub(super) fn compile(schema: &Value, defs: &Map<String, Value>) -> Self {
        let found = |name: &str| defs.get(name.rsplit('/').next().unwrap_or_default());
        if let Some(target) = schema.get("$ref").and_then(Value::as_str).and_then(found) {
            return Self::compile(target, defs);
        }
        for keyword in ["oneOf", "anyOf"] {
            if let Some(branches) = schema.get(keyword).and_then(Value::as_array) {
                return Self::either(branches.iter().map(|branch| Self::compile(branch, defs)));
            }
        }
        let types = match schema.get("type") {
            Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(one)) => vec![one.as_str()],
            _ => Vec::new(),
        };
        if types.is_empty() {
            return Self { nullable: true, form: Form::of_untyped(schema) };
        }
        Self::either(types.into_iter().map(|name| match name {
            "null" => Self { nullable: true, form: Form::Either(Vec::new()) },
            name => Self { nullable: false, form: Form::of(name, schema, defs) },
        }))
    }

    /// Joins alternatives: nothing becomes `nullable`, choices of text become one text.
    fn either(branches: impl Iterator<Item = Self>) -> Self {
        let mut nullable = false;
        let mut choices: Vec<String> = Vec::new();
        let mut forms: Vec<Self> = Vec::new();
        for branch in branches {
            nullable |= branch.nullable;
            match branch.form {
                Form::Either(inner) => forms.extend(inner),
                Form::Text(mut words) if !words.is_empty() => choices.append(&mut words),
                form => forms.push(Self { nullable: false, form }),
            }
        }
        if !choices.is_empty() {
            forms.push(Self { nullable: false, form: Form::Text(choices) });
        }
        match <[Self; 1]>::try_from(forms) {
            Ok([one]) => Self { nullable, form: one.form },
            Err(forms) => Self { nullable, form: Form::Either(forms) },
        }
    }

    /// Tells whether every number and every choice of a typed value is allowed.
    ///
    /// A typed value already has the right types and fields.
    pub(super) fn admits(&self, value: &Value) -> bool {
        match (&self.form, value) {
            (_, Value::Null) => self.nullable,
            (Form::Integer(least, most), Value::Number(number)) => {
                number.as_i128().is_some_and(|number| within(&number, *least, *most))
            }
            (Form::Number(least, most), Value::Number(number)) => {
                number.as_f64().is_some_and(|number| within(&number, *least, *most))
            }
            (Form::Text(choices), Value::String(text)) => {
                choices.is_empty() || choices.contains(text)
            }
            (Form::List(item), Value::Array(items)) => items.iter().all(|value| item.admits(value)),
            (Form::Map(members), Value::Object(values)) => values
                .iter()
                .all(|(key, value)| members.shape_of(key).is_none_or(|shape| shape.admits(value))),
            (Form::Either(forms), value) => forms.iter().any(|shape| shape.admits(value)),
            _ => true,
        }
    }

    /// Returns the value without what equals leaving it out: the form that a digest is made of.
    ///
    /// A field that a later version adds with a default thus changes no digest.
    pub(super) fn canonical(&self, value: &Value) -> Value {
        match (&self.form, value) {
            (Form::Map(members), Value::Object(values)) => Value::Object(
                values
                    .iter()
                    .filter(|(key, value)| !members.is_default(key, value))
                    .map(|(key, value)| match members.shape_of(key) {
                        Some(shape) => (key.clone(), shape.canonical(value)),
                        None => (key.clone(), value.clone()),
                    })
                    .collect(),
            ),
            (Form::List(item), Value::Array(items)) => {
                Value::Array(items.iter().map(|value| item.canonical(value)).collect())
            }
            _ => value.clone(),
        }
    }
}

impl Members {
    /// Returns the shape of a member, known or not.
    pub(super) fn shape_of(&self, key: &str) -> Option<&Shape> {
        self.fields.get(key).map(|field| &field.shape).or(self.rest.as_deref())
    }

    fn is_default(&self, key: &str, value: &Value) -> bool {
        let Some(field) = self.fields.get(key) else { return false };
        (value.is_null() && field.shape.nullable) || field.default.as_ref() == Some(value)
    }
}

impl Form {
    fn of_untyped(schema: &Value) -> Self {
        match (schema.get("const").and_then(Value::as_str), schema.get("enum")) {
            (Some(text), _) => Self::Text(vec![text.to_owned()]),
            (_, Some(_)) => Self::Text(texts(schema.get("enum"))),
            _ => Self::Any,
        }
    }

    fn of(name: &str, schema: &Value, defs: &Map<String, Value>) -> Self {
        match name {
            "boolean" => Self::Bool,
            "integer" => {
                let bound =
                    |keyword: &str| schema.get(keyword).and_then(Value::as_i64).map(i128::from);
                let (least, most) = of_format(schema.get("format").and_then(Value::as_str));
                Self::Integer(bound("minimum").or(least), bound("maximum").or(most))
            }
            "number" => {
                let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
                Self::Number(bound("minimum"), bound("maximum"))
            }
            "string" => match Self::of_untyped(schema) {
                Self::Text(choices) => Self::Text(choices),
                _ => Self::Text(Vec::new()),
            },
            "array" => {
                let any = Value::Bool(true);
                Self::List(Box::new(Shape::compile(schema.get("items").unwrap_or(&any), defs)))
            }
            "object" => Self::Map(Members::compile(schema, defs)),
            _ => Self::Any,
        }
    }
}

impl Members {
    fn compile(schema: &Value, defs: &Map<String, Value>) -> Self {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let fields = properties.iter().map(|(name, schema)| {
            let description = schema.get("description").and_then(Value::as_str);
            let field = Field {
                shape: Shape::compile(schema, defs),
                about: first_sentence(description.unwrap_or_default()),
                default: schema.get("default").cloned(),
            };
            (name.clone(), field)
        });
        let rest = match schema.get("additionalProperties") {
            Some(Value::Bool(false)) => None,
            Some(rest) => Some(Box::new(Shape::compile(rest, defs))),
            None => Some(Box::new(Shape { nullable: true, form: Form::Any })),
        };
        let required = texts(schema.get("required")).into_iter().collect();
        Self { fields: fields.collect(), required, rest }
    }
}

fn texts(list: Option<&Value>) -> Vec<String> {
    let items = list.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

fn first_sentence(text: &str) -> String {
    let text = text.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    match text.split_once(". ") {
        Some((first, _)) => first.to_owned(),
        None if text.ends_with("..") => text,
        None => text.trim_end_matches('.').to_owned(),
    }
}

/// Returns the bounds of an integer format, as schemars names the types of Rust.
fn of_format(format: Option<&str>) -> (Option<i128>, Option<i128>) {
    match format {
        Some("uint8") => (Some(0), Some(u8::MAX.into())),
        Some("uint16") => (Some(0), Some(u16::MAX.into())),
        Some("uint32") => (Some(0), Some(u32::MAX.into())),
        Some("uint64") => (Some(0), Some(u64::MAX.into())),
        Some("int32") => (Some(i32::MIN.into()), Some(i32::MAX.into())),
        Some("int64") => (Some(i64::MIN.into()), Some(i64::MAX.into())),
        _ => (None, None),
    }
}

/// Tells whether a number lies between two bounds.
pub(super) fn within<T: PartialOrd>(number: &T, least: Option<T>, most: Option<T>) -> bool {
    least.is_none_or(|least| *number >= least) && most.is_none_or(|most| *number <= most)
}
