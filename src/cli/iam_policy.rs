//! `levelset iam-policy`: what the agent has to be allowed in AWS, and no more.

use super::Exit;
use super::error::Error;
use super::output::Output;
use crate::kinds;
use crate::model::{Kind, KindName};
use crate::report::json::document;
use crate::report::policy::{policy, trail_policy};

/// Print the minimal IAM policy for a kind of AWS resources, or for all of them
///
/// It is made from the operations that the kind's code can call. Attach it to the role that the
/// settings name under environments.NAME.roles.KIND, or to the agent's one role.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The kind, as `levelset kinds` lists it, or cloudtrail, which cloudTrail: true needs beside
    /// [default: all kinds]
    #[arg(value_name = "KIND", value_parser = known)]
    kind: Option<Part>,
}

/// Says what is asked for.
#[derive(Debug, Clone)]
enum Part {
    Kind(KindName),
    Trail,
}

/// The word for what finding out who made drift needs.
const TRAIL: &str = "cloudtrail";

/// Finds a kind by its name.
fn known(name: &str) -> Result<Part, String> {
    if name == TRAIL {
        return Ok(Part::Trail);
    }
    let mut names = kinds::all().iter().map(|kind| kind.name());
    names.find(|known| known.as_str() == name).map(Part::Kind).ok_or_else(|| {
        let names: Vec<String> = kinds::all().iter().map(|kind| kind.name().to_string()).collect();
        format!("there is no such kind; possible are {}, {TRAIL}", names.join(", "))
    })
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Error> {
    let all = kinds::all().iter().copied();
    let document = match &arguments.kind {
        Some(Part::Trail) => document(&trail_policy()),
        Some(Part::Kind(name)) => {
            document(&policy(&all.filter(|kind| kind.name() == *name).collect::<Vec<_>>()))
        }
        None => document(&policy(&all.collect::<Vec<&dyn Kind>>())),
    };
    output.print(&document)?;
    Ok(Exit::Done)
}
