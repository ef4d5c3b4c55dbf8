//! Manifests: from bytes to objects, or to problems with positions; from objects to resources.
//!
//! In: the bytes of files. Out: [`Object`]s and [`Problem`](crate::model::Problem)s;
//! [`expand`](expand::expand) turns an object into the resources that it asks for.
//!
//! Invariants: pure; every mistake of a file is reported at once; a file is taken whole or not at
//! all. It does not know what AWS has, nor which objects other files hold (that is
//! [`crate::desired`]'s).

pub mod annotations;
mod aurora;
mod check;
mod compute;
pub mod edit;
mod envelope;
mod environments;
pub mod expand;
mod holding;
mod mistake;
mod name;
mod neighbours;
pub mod network;
pub mod object;
mod parse;
mod place;
mod placed;
mod policy;
mod references;
mod rivals;
mod salvage;
mod schema;
mod shape;
pub mod tree;
mod words;
pub mod workspace;
mod yaml;

pub use envelope::API_VERSION;
pub use environments::unknown_environment;
pub use holding::{holding, holdings};
pub use object::{Object, Spec};
pub use parse::{Parsed, parse};
pub use references::Mention;
pub use schema::json_schema;
pub use tree::Files;
