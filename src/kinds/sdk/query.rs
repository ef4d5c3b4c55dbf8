//! The Query protocols of EC2, Auto Scaling and IAM as tables: calls to form fields, XML answers to JSON.
//!
//! These services are spoken without their SDKs (the reason is in [`crate::aws`]): a kind states its
//! operations as [`Operation`]s, and whoever can sign and send implements [`Query`].
//!
//! EC2 spells members in lower camel case on the wire, and lists as `vpcSet` with `item`s; IAM and
//! Auto Scaling spell them as their APIs do, lists with `member`s, and wrap them in `…Result`. So the name of a
//! member is its wire name with a capital, save for what [`Operation::members`] says; the same table
//! says what is a list, a number, a flag, a time or a document. What it does not name is a text, or
//! a structure when elements are in it.

use std::future::Future;
use std::pin::Pin;

use aws_smithy_types::DateTime;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::{Answer, Failure, Misfit, expected};
use crate::kinds::sdk::xml::{self, Element};
use crate::model::Call;

/// Describes how a service is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Protocol {
    /// The endpoint prefix, which is also the name that requests are signed for.
    pub(crate) service: &'static str,
    /// The version of the API.
    version: &'static str,
    /// Whether an account has the service once, and not in every region.
    pub(crate) is_global: bool,
    /// Whether the members of an answer are in an element `…Result`.
    is_wrapped: bool,
}

/// EC2's protocol.
pub(crate) const EC2: Protocol =
    Protocol { service: "ec2", version: "2016-11-15", is_global: false, is_wrapped: false };

/// IAM's protocol.
pub(crate) const IAM: Protocol =
    Protocol { service: "iam", version: "2010-05-08", is_global: true, is_wrapped: true };

/// The protocol of Auto Scaling.
pub(crate) const AUTO_SCALING: Protocol =
    Protocol { service: "autoscaling", version: "2011-01-01", is_global: false, is_wrapped: true };

/// The protocol of CloudFormation.
pub(crate) const CLOUDFORMATION: Protocol = Protocol {
    service: "cloudformation",
    version: "2010-05-15",
    is_global: false,
    is_wrapped: true,
};

/// The future of one answer's body.
pub(crate) type Body<'a> = Pin<Box<dyn Future<Output = Result<String, Failure>> + Send + 'a>>;

/// Signs and sends the fields of one request, and returns the XML of a success.
pub(crate) trait Query: Send + Sync {
    /// Returns how the service is spoken to.
    fn protocol(&self) -> Protocol;

    /// Sends the fields once.
    fn post(&self, fields: Vec<(String, String)>) -> Body<'_>;
}

/// Describes one operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operation {
    /// The operation's name.
    pub(crate) name: &'static str,
    /// Its parameters: API name, wire name, type.
    pub(crate) parameters: &'static [(&'static str, &'static str, Take)],
    /// The members of its answer, at any depth, that are more than a capitalised text; `And/Tag` is
    /// the one in an element of that name.
    pub(crate) members: &'static [(&'static str, Give)],
}

/// Names the type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Take {
    /// A text.
    Text,
    /// A whole number.
    Number,
    /// True or false.
    Flag,
    /// A list of texts.
    Texts,
    /// A structure.
    Structure(&'static Structure),
    /// A list of structures.
    Structures(&'static Structure),
    /// True or false, in a structure of its own under `Value`.
    Switch,
}

/// Describes a structure that parameters hold.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Structure {
    /// What the API calls it.
    pub(crate) name: &'static str,
    /// Its members: API name, wire name, type.
    pub(crate) parameters: &'static [(&'static str, &'static str, Take)],
}

impl Take {
    /// A list of filters.
    pub(crate) const FILTERS: Self = Self::Structures(&Structure {
        name: "Filter",
        parameters: &[("Name", "Name", Self::Text), ("Values", "Value", Self::Texts)],
    });

    /// A list of tags.
    pub(crate) const TAGS: Self = Self::Structures(&Structure {
        name: "Tag",
        parameters: &[("Key", "Key", Self::Text), ("Value", "Value", Self::Text)],
    });
}

/// Names the type of an answer's member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Give {
    /// A list under this API name.
    List(&'static str),
    /// One item of a list under this API name, which has no element around it.
    Items(&'static str),
    /// A text under this API name.
    Named(&'static str),
    /// A number.
    Number,
    /// True or false.
    Flag,
    /// A time.
    Time,
    /// A JSON document, percent-encoded.
    Document,
    /// A structure, which may be empty.
    Structure,
}

/// Sends one call to one of these operations.
pub(crate) async fn ask(
    query: &dyn Query,
    operations: &[Operation],
    call: &Call,
) -> Result<Value, Failure> {
    let operation = operations
        .iter()
        .find(|operation| operation.name == call.operation)
        .ok_or_else(|| Failure::unknown_operation(&call.operation))?;
    let protocol = query.protocol();
    let body = query.post(operation.fields(protocol, call)?).await?;
    operation.answer(protocol.is_wrapped, &body)
}

/// Reads the XML of a success whose outermost element has this name and holds the members; it may be
/// called after the operation too, as emulators do it.
pub(crate) fn read(
    (root, operation): (&'static str, &'static str),
    members: &'static [(&'static str, Give)],
    body: &str,
) -> Result<Map<String, Value>, Failure> {
    let unreadable = |reason: String| Failure::Lost { code: "UnreadableAnswer", reason };
    let element = xml::parse(body).map_err(|error| unreadable(error.to_string()))?;
    let is_named = element.name.strip_suffix("Response") == Some(operation);
    if element.name != root && !is_named {
        return Err(unreadable(format!("the answer is <{}> and not <{root}>", element.name)));
    }
    let operation = Operation { name: root, parameters: &[], members };
    operation.structure(&element).map_err(unreadable)
}

impl Operation {
    /// Writes a call as form fields.
    pub(crate) fn fields(
        &self,
        protocol: Protocol,
        call: &Call,
    ) -> Result<Vec<(String, String)>, Misfit> {
        let mut fields = vec![
            ("Action".to_owned(), self.name.to_owned()),
            ("Version".to_owned(), protocol.version.to_owned()),
        ];
        for (name, value) in &call.params {
            let (_, wire, take) = self
                .parameters
                .iter()
                .find(|(api, ..)| api == name)
                .ok_or_else(|| Misfit::unknown(self.name, name))?;
            write(*take, wire, value, &mut fields).map_err(|misfit| misfit.within(name))?;
        }
        Ok(fields)
    }

    /// Reads the XML of a success.
    pub(crate) fn answer(&self, is_wrapped: bool, body: &str) -> Result<Value, Failure> {
        let unreadable = |reason: String| Failure::Lost { code: "UnreadableAnswer", reason };
        let root = xml::parse(body).map_err(|error| unreadable(error.to_string()))?;
        if root.name.strip_suffix("Response") != Some(self.name) {
            return Err(unreadable(format!("{} was answered with <{}>", self.name, root.name)));
        }
        let members = match is_wrapped {
            true => wrapped(self.name, root).map_err(unreadable)?,
            false => root,
        };
        let mut answer = self.structure(&members).map_err(unreadable)?;
        answer.remove("RequestId");
        // The API says "no more" with an empty token, which the AWS CLI does not show.
        if answer.get("NextToken").and_then(Value::as_str) == Some("") {
            answer.remove("NextToken");
        }
        Ok(Value::Object(answer))
    }

    /// Reads the members of a structure.
    fn structure(&self, element: &Element) -> Result<Map<String, Value>, String> {
        let mut found = Map::new();
        for child in &element.children {
            let (name, value) = self.member(&element.name, child)?;
            match (found.get_mut(&name), value) {
                (Some(Value::Array(items)), Value::Array(more)) => items.extend(more),
                (_, value) => drop(found.insert(name, value)),
            }
        }
        Ok(found)
    }

    /// Returns what the table says of a member: of that one of `parent`, or of any of its name.
    fn give(&self, parent: &str, wire: &str) -> Option<Give> {
        let find = |is_it: &dyn Fn(&str) -> bool| {
            self.members.iter().find(|(name, _)| is_it(name)).map(|(_, give)| *give)
        };
        find(&|name| name.split_once('/') == Some((parent, wire)))
            .or_else(|| find(&|it| it == wire))
    }

    /// Reads one member with its name.
    fn member(&self, parent: &str, element: &Element) -> Result<(String, Value), String> {
        let wire = element.name.as_str();
        let misread = || format!("the member {wire} holds {:?}", element.text);
        let give = self.give(parent, wire);
        let value = match give {
            Some(Give::List(_)) => element
                .children
                .iter()
                .map(|item| self.value(item))
                .collect::<Result<Vec<_>, _>>()?
                .into(),
            Some(Give::Items(_)) => vec![self.value(element)?].into(),
            Some(Give::Number) => number(&element.text).ok_or_else(misread)?,
            Some(Give::Flag) => element.text.parse::<bool>().map_err(|_| misread())?.into(),
            Some(Give::Time) => time(&element.text).ok_or_else(misread)?,
            Some(Give::Document) => document(&element.text),
            Some(Give::Structure) => self.structure(element)?.into(),
            Some(Give::Named(_)) | None => self.value(element)?,
        };
        let name = match give {
            Some(Give::List(api) | Give::Items(api) | Give::Named(api)) => api.to_owned(),
            _ => capitalised(wire),
        };
        Ok((name, value))
    }

    /// Reads an element that the table does not name.
    fn value(&self, element: &Element) -> Result<Value, String> {
        if element.children.is_empty() {
            return Ok(Value::from(element.text.as_str()));
        }
        self.structure(element).map(Value::Object)
    }
}

/// Returns the element that holds an answer's members; an operation that answers nothing has none.
fn wrapped(operation: &str, root: Element) -> Result<Element, String> {
    let result = format!("{operation}Result");
    let is_metadata = |element: &Element| element.name == "ResponseMetadata";
    match root.children.iter().position(|element| element.name == result) {
        Some(at) => Ok(root.children.into_iter().nth(at).unwrap_or_default()),
        None if root.children.iter().all(is_metadata) => Ok(Element::default()),
        None => Err(format!("{operation} was answered without <{result}>")),
    }
}

/// Reads a number, whole where it is written so.
fn number(text: &str) -> Option<Value> {
    let whole = text.parse::<i64>().ok().map(Value::from);
    whole.or_else(|| serde_json::Number::from_f64(text.parse().ok()?).map(Value::Number))
}

/// Reads a time as the AWS CLI shows it.
fn time(text: &str) -> Option<Value> {
    let time: jiff::Timestamp = text.parse().ok()?;
    Some(
        DateTime::from_secs_and_nanos(
            time.as_second(),
            u32::try_from(time.subsec_nanosecond()).ok()?,
        )
        .json(),
    )
}

/// Reads a percent-encoded JSON document, as the AWS CLI does; what is none stays a text.
fn document(text: &str) -> Value {
    let decoded = match text.starts_with('{') {
        true => text.into(),
        false => percent_decode_str(text).decode_utf8_lossy(),
    };
    serde_json::from_str(&decoded).unwrap_or_else(|_| decoded.into())
}

/// Returns the API's name of a wire name.
fn capitalised(wire: &str) -> String {
    let mut letters = wire.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

/// Writes one parameter as form fields.
fn write(
    take: Take,
    wire: &str,
    value: &Value,
    fields: &mut Vec<(String, String)>,
) -> Result<(), Misfit> {
    match take {
        Take::Text => fields.push((wire.to_owned(), text(value)?)),
        Take::Number => {
            let Some(number) = value.as_i64() else { return expected("a whole number") };
            fields.push((wire.to_owned(), number.to_string()));
        }
        Take::Flag => {
            let Some(flag) = value.as_bool() else { return expected("true or false") };
            fields.push((wire.to_owned(), flag.to_string()));
        }
        Take::Texts => texts(wire, value, fields)?,
        Take::Structure(structure) => structure.write(wire, value, fields)?,
        Take::Switch => {
            let is_alone = value.as_object().is_some_and(|members| members.len() == 1);
            let flag = value.get("Value").and_then(Value::as_bool).filter(|_| is_alone);
            let Some(flag) = flag else {
                return expected("a structure with true or false as Value");
            };
            fields.push((format!("{wire}.Value"), flag.to_string()));
        }
        Take::Structures(structure) => {
            for (index, item) in list(value)?.iter().enumerate() {
                let within = |misfit: Misfit| misfit.within(&index.to_string());
                structure.write(&format!("{wire}.{}", index + 1), item, fields).map_err(within)?;
            }
        }
    }
    Ok(())
}

impl Structure {
    /// Writes one structure: members that the table names, nothing else.
    fn write(
        &self,
        prefix: &str,
        item: &Value,
        fields: &mut Vec<(String, String)>,
    ) -> Result<(), Misfit> {
        let Some(item) = item.as_object() else { return expected("a structure") };
        for (name, value) in item {
            let known = self.parameters.iter().find(|(api, ..)| api == name);
            let (_, wire, take) = known.ok_or_else(|| Misfit::unknown(self.name, name))?;
            write(*take, &format!("{prefix}.{wire}"), value, fields)
                .map_err(|misfit| misfit.within(name))?;
        }
        Ok(())
    }
}

/// Writes a list of texts, counted from 1.
fn texts(wire: &str, value: &Value, fields: &mut Vec<(String, String)>) -> Result<(), Misfit> {
    for (index, item) in list(value)?.iter().enumerate() {
        fields.push((format!("{wire}.{}", index + 1), text(item)?));
    }
    Ok(())
}

/// Reads a text.
fn text(value: &Value) -> Result<String, Misfit> {
    <String as super::Parameter>::read(value)
}

/// Reads a list.
fn list(value: &Value) -> Result<&Vec<Value>, Misfit> {
    value.as_array().map_or_else(|| expected("a list"), Ok)
}
