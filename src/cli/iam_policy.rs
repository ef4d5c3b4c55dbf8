//! `levelset iam-policy`: what the agent has to be allowed in AWS, and no more.

use super::Exit;
use super::error::Error;
use super::output::Output;
use crate::kinds;
use crate::model::{Kind, KindName};
use crate::report::json::document;
use crate::report::policy::policy;

/// Print the minimal IAM policy for a kind of AWS resources, or for all of them
///
/// It is made from the operations that the kind's code can call. Attach it to the role that the
/// settings name under environments.NAME.roles.KIND, or to the agent's one role.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The kind, as `levelset kinds` lists it [default: all kinds]
    #[arg(value_name = "KIND", value_parser = known)]
    kind: Option<KindName>,
}

/// Finds a kind by its name.
fn known(name: &str) -> Result<KindName, String> {
    let mut names = kinds::all().iter().map(|kind| kind.name());
    names.find(|known| known.as_str() == name).ok_or_else(|| {
        let names: Vec<String> = kinds::all().iter().map(|kind| kind.name().to_string()).collect();
        format!("there is no such kind; possible are {}", names.join(", "))
    })
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Error> {
    let all = kinds::all().iter().copied();
    let is_meant = |name: KindName| arguments.kind.as_ref().is_none_or(|kind| *kind == name);
    let kinds: Vec<&dyn Kind> = all.filter(|kind| is_meant(kind.name())).collect();
    output.print(&document(&policy(&kinds)))?;
    Ok(Exit::Done)
}
