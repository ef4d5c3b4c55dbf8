//! The REST protocol with XML of Route 53 as tables: calls to paths, queries and documents, XML answers
//! to JSON.
//!
//! A kind states its operations as [`Operation`]s, and whoever can sign and send implements [`Rest`].
//! Answers are read as those of the Query protocols are ([`super::query`]); members are spelled on the
//! wire as the API names them.

use quick_xml::escape::escape;
use serde_json::Value;

use super::query::{self, Body, Give};
use super::{Failure, Misfit, expected};
use crate::model::Call;

/// Is what goes out of one request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outgoing {
    /// The method.
    pub(crate) method: &'static str,
    /// The parts of the path, not encoded.
    pub(crate) path: Vec<String>,
    /// The query, not encoded.
    pub(crate) query: Vec<(&'static str, String)>,
    /// The document; empty where there is none.
    pub(crate) body: String,
}

/// Signs and sends one request, and returns the XML of a success.
pub(crate) trait Rest: Send + Sync {
    /// Sends it once.
    fn send(&self, request: Outgoing) -> Body<'_>;
}

/// Describes one operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operation {
    /// The operation's name.
    pub(crate) name: &'static str,
    /// The method.
    pub(crate) method: &'static str,
    /// The parts of the path; `{Id}` stands for a parameter.
    pub(crate) path: &'static [&'static str],
    /// Its parameters, and where each goes.
    pub(crate) parameters: &'static [(&'static str, At)],
    /// The outermost element of the document and its namespace.
    pub(crate) body: Option<(&'static str, &'static str)>,
    /// The members of its answer, at any depth, that are more than a text.
    pub(crate) members: &'static [(&'static str, Give)],
}

/// Says where a parameter goes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum At {
    /// Into the path, in the place of its name in braces.
    Path,
    /// Into the query, under this name.
    Query(&'static str),
    /// Into the document, under its own name.
    Body(Part),
}

/// Names the type of a part of a document.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    /// A text, a number or a flag.
    Text,
    /// A list of elements of this name.
    List(&'static str, &'static Part),
    /// A structure with these members, in this order.
    Structure(&'static [(&'static str, Part)]),
}

/// Sends one call to one of these operations.
pub(crate) async fn ask(
    rest: &dyn Rest,
    operations: &[Operation],
    call: &Call,
) -> Result<Value, Failure> {
    let operation = operations
        .iter()
        .find(|operation| operation.name == call.operation)
        .ok_or_else(|| Failure::unknown_operation(&call.operation))?;
    let body = rest.send(operation.outgoing(call)?).await?;
    query::read(operation.name, operation.members, &body)
}

impl Operation {
    /// Writes a call as a request.
    pub(crate) fn outgoing(&self, call: &Call) -> Result<Outgoing, Misfit> {
        let mut request = Outgoing {
            method: self.method,
            path: self.path.iter().map(|part| (*part).to_owned()).collect(),
            ..Outgoing::default()
        };
        let mut document = String::new();
        for (name, value) in &call.params {
            let known = self.parameters.iter().find(|(api, _)| api == name);
            let (api, at) = known.ok_or_else(|| Misfit::unknown(self.name, name))?;
            let within = |misfit: Misfit| misfit.within(name);
            match at {
                At::Path => {
                    let text = scalar(value).map_err(within)?;
                    let place = format!("{{{api}}}");
                    request.path.iter_mut().filter(|part| **part == place).for_each(|part| {
                        part.clone_from(&text);
                    });
                }
                At::Query(wire) => request.query.push((wire, scalar(value).map_err(within)?)),
                At::Body(part) => write(api, *part, value, &mut document).map_err(within)?,
            }
        }
        if let Some((root, namespace)) = self.body {
            request.body = format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?><{root} xmlns=\"{namespace}\">{document}</{root}>"
            );
        }
        Ok(request)
    }
}

/// Writes one element: what the table names, in its order, and nothing else.
fn write(name: &'static str, part: Part, value: &Value, into: &mut String) -> Result<(), Misfit> {
    into.push_str(&format!("<{name}>"));
    match part {
        Part::Text => into.push_str(&escape(&scalar(value)?)),
        Part::List(item, of) => {
            let Some(items) = value.as_array() else { return expected("a list") };
            for (at, it) in items.iter().enumerate() {
                write(item, *of, it, into).map_err(|misfit| misfit.within(&at.to_string()))?;
            }
        }
        Part::Structure(members) => {
            let Some(given) = value.as_object() else { return expected("a structure") };
            if let Some(unknown) = given.keys().find(|it| members.iter().all(|(m, _)| m != it)) {
                return Err(Misfit::unknown(name, unknown));
            }
            for (member, part) in members {
                if let Some(it) = given.get(*member) {
                    write(member, *part, it, into).map_err(|misfit| misfit.within(member))?;
                }
            }
        }
    }
    into.push_str(&format!("</{name}>"));
    Ok(())
}

fn scalar(value: &Value) -> Result<String, Misfit> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(flag) => Ok(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => expected("a text"),
    }
}
