//! `levelset schema`: the JSON Schema of the manifests, for editors.

use super::Exit;
use super::error::Error;
use super::output::Output;
use crate::manifest::json_schema;
use crate::report::json::document;

pub(super) fn run(output: &mut Output) -> Result<Exit, Error> {
    output.print(&document(&json_schema()))?;
    Ok(Exit::Done)
}
