//! Checks of what every `spec` has: the environment, and the fields that are not compared.

use super::schema;
use super::shape::{Form, Members, Shape};
use super::words;
use crate::model::{Finding, ObjectKind};

/// Checks `environment`; whether the agent knows it is not known here.
pub(super) fn check_environment(environment: &str) -> Vec<Finding> {
    let good = !environment.is_empty() && !environment.contains(char::is_whitespace);
    if good {
        return Vec::new();
    }
    let message =
        format!("environment is \"{environment}\", which names no entry of a configuration");
    vec![Finding::error("/spec/environment", "InvalidReference", message)]
}

/// Checks the paths of `reconcilePolicy.ignore` of a workspace: one that names nothing would have
/// no effect and say nothing.
pub(super) fn check_ignore(paths: &[String]) -> Vec<Finding> {
    let resources = schema::shape(ObjectKind::Workspace).member("spec");
    let Some(resources) = resources.and_then(|spec| spec.member("resources")) else {
        return Vec::new();
    };
    let check_one = |(at, path): (usize, &String)| {
        let pointer = format!("/spec/reconcilePolicy/ignore/{at}");
        let hint = unknown_step(resources, path)?;
        let message = format!("\"{path}\" is no field of spec.resources");
        Some(Finding::error(&pointer, "UnknownField", message).hint(hint))
    };
    paths.iter().enumerate().filter_map(check_one).collect()
}

/// Returns a hint on the first step of a path that leads nowhere.
fn unknown_step(resources: &Shape, path: &str) -> Option<String> {
    let mut shape = resources;
    for step in path.split('.') {
        let Some(members) = mapping(shape) else {
            return Some(format!("nothing can follow before \"{step}\""));
        };
        match (members.fields.get(step), &members.rest) {
            (Some(field), _) => shape = &field.shape,
            // The keys of tags and parameters are free, and may hold dots.
            (None, Some(_)) if !step.is_empty() => return None,
            _ => {
                let known: Vec<&str> = members.fields.keys().map(String::as_str).collect();
                return Some(words::known(step, &known));
            }
        }
    }
    None
}

/// Returns the fields of a value that is, or may be, a mapping.
fn mapping(shape: &Shape) -> Option<&Members> {
    match &shape.form {
        Form::Map(members) => Some(members),
        Form::Either(forms) => forms.iter().find_map(mapping),
        _ => None,
    }
}
