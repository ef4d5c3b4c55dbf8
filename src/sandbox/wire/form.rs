//! From a form body to a call's parameters under the API's member names.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Dialect;
use super::tables::{BOOLEANS, EC2_LISTS, EC2_PARAMETERS, INTEGERS, LISTS, NUMBERS, find};
use crate::sandbox::refusal::Refusal;

/// Deeper keys than this belong to no operation.
const DEEPEST: usize = 12;

/// Holds what a form says.
#[derive(Debug)]
pub(in crate::sandbox) struct Form {
    /// The operation.
    pub(in crate::sandbox) action: String,
    /// The parameters.
    pub(in crate::sandbox) params: Map<String, Value>,
}

/// Reads a form body, or a query string.
pub(in crate::sandbox) fn read(dialect: Dialect, body: &[u8]) -> Result<Form, Refusal> {
    let mut tree = Branch::new();
    let mut action = None;
    for (key, value) in url::form_urlencoded::parse(body) {
        match &*key {
            "Action" => action = Some(value.into_owned()),
            "Version" => {}
            key => plant(&mut tree, key, &value)?,
        }
    }
    let action = action.filter(|action| !action.is_empty()).ok_or_else(|| {
        Refusal::new("MissingAction", "The request must contain the parameter Action")
    })?;
    Ok(Form { action, params: members(dialect, tree)? })
}

type Branch = BTreeMap<String, Node>;

#[derive(Debug)]
enum Node {
    Leaf(String),
    Branch(Branch),
}

fn plant(tree: &mut Branch, key: &str, value: &str) -> Result<(), Refusal> {
    let malformed = || Refusal::new("MalformedQueryString", format!("the key {key} is malformed"));
    let parts: Vec<&str> = key.split('.').collect();
    let Some((last, way)) = parts.split_last().filter(|_| parts.len() <= DEEPEST) else {
        return Err(malformed());
    };
    let mut branch = tree;
    for part in way {
        let node = branch.entry((*part).to_owned()).or_insert_with(|| Node::Branch(Branch::new()));
        let Node::Branch(next) = node else { return Err(malformed()) };
        branch = next;
    }
    match branch.insert((*last).to_owned(), Node::Leaf(value.to_owned())) {
        None => Ok(()),
        Some(_) => Err(malformed()),
    }
}

fn members(dialect: Dialect, branch: Branch) -> Result<Map<String, Value>, Refusal> {
    branch
        .into_iter()
        .map(|(name, node)| {
            let name = match &node {
                Node::Branch(items) if dialect == Dialect::Ec2 && is_numbered(items) => {
                    find(EC2_LISTS, &name).map_or(name, str::to_owned)
                }
                Node::Leaf(_) if dialect == Dialect::Ec2 => {
                    find(EC2_PARAMETERS, &name).map_or(name, str::to_owned)
                }
                _ => name,
            };
            let value = value(dialect, &name, node)?;
            Ok((name, value))
        })
        .collect()
}

fn value(dialect: Dialect, name: &str, node: Node) -> Result<Value, Refusal> {
    match node {
        Node::Leaf(text) => scalar(name, text),
        Node::Branch(items) if is_numbered(&items) => list(dialect, items),
        Node::Branch(mut items) if LISTS.contains(&name) && items.len() == 1 => {
            // The one key is what the list calls its items.
            match items.pop_first() {
                Some((_, Node::Branch(items))) if is_numbered(&items) => list(dialect, items),
                Some((key, node)) => {
                    let restored = Branch::from([(key, node)]);
                    Ok(Value::Object(members(dialect, restored)?))
                }
                None => Ok(Value::Array(Vec::new())),
            }
        }
        Node::Branch(items) => Ok(Value::Object(members(dialect, items)?)),
    }
}

fn is_numbered(items: &Branch) -> bool {
    !items.is_empty() && items.keys().all(|key| key.parse::<u32>().is_ok())
}

fn list(dialect: Dialect, items: Branch) -> Result<Value, Refusal> {
    let mut numbered: Vec<(u32, Node)> =
        items.into_iter().map(|(key, node)| (key.parse().unwrap_or(u32::MAX), node)).collect();
    numbered.sort_by_key(|(number, _)| *number);
    numbered.into_iter().map(|(_, node)| value(dialect, "", node)).collect()
}

fn scalar(name: &str, text: String) -> Result<Value, Refusal> {
    // The Query protocol writes an empty list as its bare name.
    if text.is_empty() && LISTS.contains(&name) {
        return Ok(Value::Array(Vec::new()));
    }
    let malformed = || Refusal::new("MalformedInput", format!("{name} cannot be \"{text}\""));
    if INTEGERS.contains(&name) {
        return text.parse::<i64>().map(Value::from).map_err(|_| malformed());
    }
    if NUMBERS.contains(&name) {
        return text.parse::<f64>().map(Value::from).map_err(|_| malformed());
    }
    if BOOLEANS.contains(&name) {
        return text.to_lowercase().parse::<bool>().map(Value::from).map_err(|_| malformed());
    }
    Ok(Value::String(text))
}
