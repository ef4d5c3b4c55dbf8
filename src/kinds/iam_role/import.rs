//! How a role that exists is declared: the inverse of `expand`.
//!
//! A trust policy that is what one of the short forms makes is written in that form, so that no account
//! number stands in a manifest; any other is written as the document that it is.

use serde_json::{Value, json};

use super::rules::{RESERVED, RULES};
use crate::model::import::{Around, Draft, Import, Section, Several, Writer};
use crate::model::{Observed, inverse};

/// Paths of roles that AWS makes and keeps: of services, of IAM Identity Center.
const OF_AWS: &str = "/aws-";

impl Import for super::IamRole {
    fn passed_over(&self, _name: &str, actual: &Observed) -> Option<String> {
        let path = actual.text("Path").filter(|path| path.starts_with(OF_AWS))?;
        Some(match path.starts_with("/aws-service-role/") {
            true => "a service of AWS made it for itself".to_owned(),
            false => format!("AWS made it, under the path {path}"),
        })
    }

    fn known_as(&self, actual: &Observed) -> Vec<(String, Option<&'static str>)> {
        actual.text("Arn").map(|arn| (arn.to_owned(), Some("arn"))).into_iter().collect()
    }

    fn draft(&self, name: &str, actual: &Observed, _around: &dyn Around) -> Option<Draft> {
        let real = actual.text("RoleName").unwrap_or(name).to_owned();
        let section = Section::Several(Several {
            path: "iam.roles",
            keys: vec![real.clone()],
            joint: Some("-"),
            end: None,
            common: Vec::new(),
        });
        let mut writer = Writer::new(RULES, actual, section);
        writer.draft.name = Some(("name", real));
        writer.unless("path", "/");
        writer.declare(&["description"]);
        trust(&mut writer, actual)?;
        writer.declare(&["policies"]);
        if !writer.draft.sheet.entries.iter().any(|entry| entry.key == "policies") {
            writer.draft.sheet.put("policies", json!([]));
        }
        inline(&mut writer);
        writer.draft.refers.push("inline");
        writer.declare(&["permissionsBoundary"]);
        writer.unless("maxSessionDurationSeconds", 3600);
        writer.declare(&["tags"]);
        let documents = ["AssumeRolePolicyDocument", "RolePolicyList"];
        for document in documents.iter().filter_map(|member| actual.member(member)) {
            inverse::arns(document, &mut writer.draft.uses);
        }
        Some(writer.draft)
    }
}

/// Declares the inline policies; those that Levelset makes by itself are not declared so.
fn inline(writer: &mut Writer<'_>) {
    let Some(Value::Object(mut documents)) = writer.value("inline") else { return };
    let before = documents.len();
    documents.retain(|name, _| !name.starts_with(RESERVED));
    if documents.len() < before {
        writer.remark(format!("inline policies named {RESERVED}... cannot be declared"));
    }
    writer.draft.sheet.put("inline", Value::Object(documents));
}

/// Declares the trust policy.
fn trust(writer: &mut Writer<'_>, actual: &Observed) -> Option<()> {
    let document = inverse::document(actual.member("AssumeRolePolicyDocument")?)?;
    let services = services(&document);
    let accounts = if services.is_none() { accounts(&document, actual) } else { None };
    match (services, accounts) {
        (Some(services), _) => writer.draft.sheet.put("trust.services", services),
        (None, Some(Peers { accounts, roles })) => {
            if !accounts.is_empty() {
                writer.draft.sheet.put("trust.accounts", accounts);
            }
            if !roles.is_empty() {
                writer.draft.sheet.put("trust.roles", roles);
            }
        }
        (None, None) => writer.draft.sheet.put("trust.document", document),
    }
    writer.draft.refers.push("trust.roles");
    Some(())
}

/// Returns the only statement of a document, if it lets somebody take the role on without conditions.
fn plain(document: &Value) -> Option<&Value> {
    let statement = match document.get("Statement")? {
        Value::Array(items) => match items.as_slice() {
            [only] => only,
            _ => return None,
        },
        only => only,
    };
    let members = statement.as_object()?;
    let known = ["Effect", "Principal", "Action", "Sid"];
    let is_plain = members.keys().all(|key| known.contains(&key.as_str()));
    let action = match statement.get("Action")? {
        Value::Array(items) if items.len() == 1 => items.first()?.as_str(),
        action => action.as_str(),
    };
    let lets_in = statement.get("Effect")? == "Allow" && action == Some("sts:AssumeRole");
    (is_plain && lets_in).then(|| statement.get("Principal"))?
}

fn services(document: &Value) -> Option<Vec<String>> {
    only(plain(document)?, "Service")
}

struct Peers {
    accounts: Vec<String>,
    roles: Vec<String>,
}

/// Reads principals that are whole accounts or roles.
fn accounts(document: &Value, actual: &Observed) -> Option<Peers> {
    let partition = actual.text("Arn")?.split(':').nth(1)?;
    let (mut accounts, mut roles) = (Vec::new(), Vec::new());
    for principal in only(plain(document)?, "AWS")? {
        let start = format!("arn:{partition}:iam::");
        let rest = principal.strip_prefix(&start);
        match rest.and_then(|rest| rest.split_once(':')) {
            Some((account, "root")) => accounts.push(account.to_owned()),
            Some((_, role)) if role.starts_with("role/") => roles.push(principal),
            _ if principal.len() == 12 && principal.bytes().all(|it| it.is_ascii_digit()) => {
                accounts.push(principal);
            }
            _ => return None,
        }
    }
    Some(Peers { accounts, roles })
}

/// Returns the principals of one sort, if there are no others.
fn only(principal: &Value, sort: &str) -> Option<Vec<String>> {
    let members = principal.as_object().filter(|members| members.len() == 1)?;
    match members.get(sort)? {
        Value::String(one) => Some(vec![one.clone()]),
        Value::Array(many) => {
            many.iter().map(|item| item.as_str().map(str::to_owned)).collect()
        }
        _ => None,
    }
}
