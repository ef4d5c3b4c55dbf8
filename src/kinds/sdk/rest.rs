//! The REST protocol with XML of Route 53 and S3 as tables: calls to paths, queries, headers and
//! documents, answers to JSON.
//!
//! A kind states its operations as [`Operation`]s, and whoever can sign and send implements [`Rest`].
//! Answers are read as those of the Query protocols are ([`super::query`]); members are spelled on the
//! wire as the API names them.

use std::future::Future;
use std::pin::Pin;

use quick_xml::escape::escape;
use serde_json::{Map, Value};

use super::query::{self, Give};
use super::{Failure, Misfit, expected};
use crate::model::Call;

/// Is what goes out of one request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outgoing {
    /// The method.
    pub(crate) method: &'static str,
    /// The parts of the path, not encoded.
    pub(crate) path: Vec<String>,
    /// The query, not encoded; a name without a value stands alone.
    pub(crate) query: Vec<(&'static str, String)>,
    /// The headers.
    pub(crate) headers: Vec<(&'static str, String)>,
    /// The document; empty where there is none.
    pub(crate) body: String,
}

/// Is what comes back of a success.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Incoming {
    /// The headers, by their names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// The document; empty where there is none.
    pub(crate) body: String,
}

/// The future of one answer.
pub(crate) type Reply<'a> = Pin<Box<dyn Future<Output = Result<Incoming, Failure>> + Send + 'a>>;

/// Signs and sends one request, and returns the answer of a success.
pub(crate) trait Rest: Send + Sync {
    /// Sends it once.
    fn send(&self, request: Outgoing) -> Reply<'_>;
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
    /// The word of the query that says what of the resource is meant, such as `tagging`.
    pub(crate) of: Option<&'static str>,
    /// Its parameters, and where each goes.
    pub(crate) parameters: &'static [(&'static str, At)],
    /// The outermost element of the document and its namespace.
    pub(crate) body: Option<(&'static str, &'static str)>,
    /// Where its answer has its members.
    pub(crate) answer: Shape,
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
    /// Into this header.
    Header(&'static str),
    /// Into the document, under its own name.
    Body(Part),
    /// It is the document: what it holds stands in the outermost element.
    Document(Part),
    /// It is the document as it stands.
    Text,
}

/// Names the type of a part of a document.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    /// A text, a number or a flag.
    Text,
    /// A list of elements of this name.
    List(&'static str, &'static Part),
    /// A list whose elements of this name stand by themselves, without one around them.
    Items(&'static str, &'static Part),
    /// A structure with these members, in this order.
    Structure(&'static [(&'static str, Part)]),
}

/// Says where an answer has its members.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// In the outermost element, which has this name.
    Members(&'static str),
    /// The outermost element, which has this name, is the only one.
    Member(&'static str),
    /// In the outermost element of this name, and this member in the header of this name.
    WithHeader(&'static str, (&'static str, &'static str)),
    /// The whole answer is this member, a text.
    Text(&'static str),
    /// Nowhere: it has none.
    Nothing,
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
    let answer = rest.send(operation.outgoing(call)?).await?;
    operation.read(&answer).map(Value::Object)
}

impl Operation {
    /// Writes a call as a request.
    pub(crate) fn outgoing(&self, call: &Call) -> Result<Outgoing, Misfit> {
        let mut request = Outgoing {
            method: self.method,
            path: self.path.iter().map(|part| (*part).to_owned()).collect(),
            query: self.of.map(|word| (word, String::new())).into_iter().collect(),
            ..Outgoing::default()
        };
        let mut document = String::new();
        for (name, value) in &call.params {
            let known = self.parameters.iter().find(|(api, _)| api == name);
            let (api, at) = known.ok_or_else(|| Misfit::unknown(self.name, name))?;
            place(api, *at, value, &mut request, &mut document)
                .map_err(|misfit| misfit.within(name))?;
        }
        if let Some((root, namespace)) = self.body {
            request.body = format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?><{root} xmlns=\"{namespace}\">{document}</{root}>"
            );
        }
        Ok(request)
    }

    /// Reads the answer of a success.
    fn read(&self, answer: &Incoming) -> Result<Map<String, Value>, Failure> {
        let of = |root| query::read((root, self.name), self.members, &answer.body);
        match self.answer {
            Shape::Nothing => Ok(Map::new()),
            Shape::Text(member) => {
                Ok(Map::from_iter([(member.to_owned(), Value::from(answer.body.as_str()))]))
            }
            Shape::Members(root) => of(root),
            Shape::Member(root) => {
                Ok(Map::from_iter([(root.to_owned(), Value::Object(of(root)?))]))
            }
            Shape::WithHeader(root, (header, member)) => {
                let mut members = of(root)?;
                let found = answer.headers.iter().find(|(name, _)| name == header);
                members.extend(found.map(|(_, text)| (member.to_owned(), text.as_str().into())));
                Ok(members)
            }
        }
    }
}

/// Puts one parameter where it goes.
fn place(
    api: &'static str,
    at: At,
    value: &Value,
    request: &mut Outgoing,
    document: &mut String,
) -> Result<(), Misfit> {
    match at {
        At::Path => {
            let text = scalar(value)?;
            let place = format!("{{{api}}}");
            let parts = request.path.iter_mut().filter(|part| **part == place);
            parts.for_each(|part| part.clone_from(&text));
        }
        At::Query(wire) => request.query.push((wire, scalar(value)?)),
        At::Header(wire) => request.headers.push((wire, scalar(value)?)),
        At::Body(part) => write(api, part, value, document)?,
        At::Document(part) => fill(api, part, value, document)?,
        At::Text => request.body = scalar(value)?,
    }
    Ok(())
}

/// Writes one element: what the table names, in its order, and nothing else.
fn write(name: &'static str, part: Part, value: &Value, into: &mut String) -> Result<(), Misfit> {
    if let Part::Items(item, of) = part {
        return each(item, *of, value, into);
    }
    into.push_str(&format!("<{name}>"));
    fill(name, part, value, into)?;
    into.push_str(&format!("</{name}>"));
    Ok(())
}

/// Writes what stands in an element.
fn fill(name: &'static str, part: Part, value: &Value, into: &mut String) -> Result<(), Misfit> {
    match part {
        Part::Text => into.push_str(&escape(&scalar(value)?)),
        Part::List(item, of) | Part::Items(item, of) => each(item, *of, value, into)?,
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
    Ok(())
}

fn each(item: &'static str, of: Part, value: &Value, into: &mut String) -> Result<(), Misfit> {
    let Some(items) = value.as_array() else { return expected("a list") };
    for (at, it) in items.iter().enumerate() {
        write(item, of, it, into).map_err(|misfit| misfit.within(&at.to_string()))?;
    }
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
