//! `levelset kinds`: the types of AWS resources and the facts that are known of their fields.

use serde_json::{Value, json};

use super::error::Error;
use super::output::Output;
use super::{Exit, Format};
use crate::kinds;
use crate::model::{Change, Disruption, Kind, Rule};
use crate::report::json::document;

/// List the types of AWS resources, and what changing each field would disrupt
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The form of the list
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    output: Format,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Error> {
    let kinds = kinds::all();
    let text = match arguments.output {
        Format::Text => kinds.iter().map(|kind| text(*kind)).collect(),
        Format::Json => {
            let kinds: Vec<Value> = kinds.iter().map(|kind| value(*kind)).collect();
            document(&json!({ "kinds": kinds }))
        }
    };
    output.print(&text)?;
    Ok(Exit::Done)
}

fn text(kind: &dyn Kind) -> String {
    let rules = kind.rules();
    let width = rules.iter().map(|rule| rule.field.len()).max().unwrap_or(0);
    let mut text = format!("{} ({})\n", kind.name(), kind.service());
    if rules.is_empty() {
        text.push_str("  only read, never changed\n");
    }
    for rule in rules {
        let line = format!("  {:<width$}  {:<12} {}", rule.field, change(rule), disrupts(rule));
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn value(kind: &dyn Kind) -> Value {
    let fields: Vec<Value> = kind
        .rules()
        .iter()
        .map(|rule| {
            json!({
                "field": rule.field,
                "member": rule.member,
                "parameter": rule.parameter,
                "change": change(rule),
                "disruption": rule.disruption,
                "security": rule.security,
            })
        })
        .collect();
    json!({ "kind": kind.name(), "service": kind.service(), "fields": fields })
}

fn change(rule: &Rule) -> &'static str {
    match rule.change {
        Change::InPlace => "in place",
        Change::Immutable(_) => "never",
        Change::CreateOnly => "at creation",
    }
}

fn disrupts(rule: &Rule) -> String {
    match rule.disruption {
        Disruption::None => String::new(),
        other => format!("{other:?}"),
    }
}
