//! From an answer under the API's member names to XML.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use quick_xml::escape::escape;
use serde_json::Value;

use super::tables::{DOCUMENTS, EC2_NAME_BESIDE, EC2_NAMES, ELEMENTS, find};
use super::{Dialect, namespace};
use crate::sandbox::refusal::Refusal;

/// Writes the answer of an operation.
pub(in crate::sandbox) fn answer(service: &str, action: &str, id: &str, value: &Value) -> String {
    let dialect = Dialect::of(service);
    let mut xml = format!("<{action}Response xmlns=\"{}\">", namespace(service));
    match dialect {
        Dialect::Ec2 => {
            element(&mut xml, "requestId", id);
            members(&mut xml, dialect, value);
        }
        Dialect::Query => {
            xml.push_str(&format!("<{action}Result>"));
            members(&mut xml, dialect, value);
            xml.push_str(&format!("</{action}Result><ResponseMetadata>"));
            element(&mut xml, "RequestId", id);
            xml.push_str("</ResponseMetadata>");
        }
    }
    xml.push_str(&format!("</{action}Response>"));
    xml
}

/// Writes an error answer.
pub(in crate::sandbox) fn error(service: &str, id: &str, refusal: &Refusal) -> String {
    let mut said = String::new();
    element(&mut said, "Code", &refusal.code);
    element(&mut said, "Message", &refusal.message);
    match Dialect::of(service) {
        Dialect::Ec2 => format!(
            "<Response><Errors><Error>{said}</Error></Errors><RequestID>{}</RequestID></Response>",
            escape(id)
        ),
        Dialect::Query => {
            let fault = if refusal.status >= 500 { "Receiver" } else { "Sender" };
            format!(
                "<ErrorResponse xmlns=\"{}\"><Error><Type>{fault}</Type>{said}</Error>\
                 <RequestId>{}</RequestId></ErrorResponse>",
                namespace(service),
                escape(id)
            )
        }
    }
}

fn element(xml: &mut String, name: &str, text: &str) {
    xml.push_str(&format!("<{name}>{}</{name}>", escape(text)));
}

fn members(xml: &mut String, dialect: Dialect, all: &Value) {
    for (member, value) in all.as_object().into_iter().flatten() {
        if DOCUMENTS.contains(&member.as_str()) && value.is_object() {
            let text = utf8_percent_encode(&value.to_string(), NON_ALPHANUMERIC).to_string();
            element(xml, member, &text);
            continue;
        }
        let name = match is_beside(dialect, member, all) {
            true => EC2_NAME_BESIDE.2.to_owned(),
            false => wire_name(dialect, member),
        };
        write(xml, dialect, &name, item_name(dialect, member), value);
    }
}

fn is_beside(dialect: Dialect, member: &str, all: &Value) -> bool {
    let (name, beside, _) = EC2_NAME_BESIDE;
    dialect == Dialect::Ec2 && member == name && all.get(beside).is_some()
}

fn write(xml: &mut String, dialect: Dialect, name: &str, item: &str, value: &Value) {
    match value {
        Value::Null => {}
        Value::String(text) => element(xml, name, text),
        Value::Bool(_) | Value::Number(_) => element(xml, name, &value.to_string()),
        Value::Array(items) => {
            xml.push_str(&format!("<{name}>"));
            items.iter().for_each(|one| write(xml, dialect, item, "member", one));
            xml.push_str(&format!("</{name}>"));
        }
        Value::Object(_) => {
            xml.push_str(&format!("<{name}>"));
            members(xml, dialect, value);
            xml.push_str(&format!("</{name}>"));
        }
    }
}

fn wire_name(dialect: Dialect, member: &str) -> String {
    match dialect {
        Dialect::Query => member.to_owned(),
        Dialect::Ec2 => find(EC2_NAMES, member).map_or_else(|| small_first(member), str::to_owned),
    }
}

fn small_first(member: &str) -> String {
    let mut letters = member.chars();
    let first = letters.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

fn item_name(dialect: Dialect, member: &str) -> &'static str {
    match dialect {
        Dialect::Ec2 => "item",
        Dialect::Query => find(ELEMENTS, member).unwrap_or("member"),
    }
}
