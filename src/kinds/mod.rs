//! The types of AWS resources: one folder each, one word each in the list below.
//!
//! A folder holds `spec.rs` (the manifest section and its expansion to a resource), `rules.rs` (the
//! field rules as data), `calls.rs` (calls as data), `permissions.rs` (what an identity has to be
//! allowed for them), `sdk.rs` (the one place that turns a call into a request and the answer into
//! JSON), `import.rs` (how one that exists is declared; a kind without it cannot be imported yet) and
//! `cases/` (data-only tests).
//!
//! What several kinds have in common stands in files beside the folders: [`modification`],
//! [`name_tag`], [`parameter_group`], [`policy_document`], [`rds_import`], [`tag_rules`] and, of the bridges to
//! AWS, [`sdk`].
//!
//! Invariants: a kind knows no other kind and no stage; everything but `sdk.rs` is pure.

mod modification;
mod name_tag;
mod parameter_group;
mod policy_document;
mod rds_import;
pub(crate) mod sdk;
mod tag_rules;

use crate::model::{Call, Kind, KindName};

macro_rules! kinds {
    ($($kind:ident),* $(,)?) => {
        $(pub mod $kind;)*

        /// Returns every kind, in the order of their dependencies.
        pub fn all() -> &'static [&'static dyn Kind] {
            &[$(&$kind::KIND),*]
        }

        /// Sends one call with the code of a kind; `None` when there is no such kind.
        pub(crate) fn send<'a>(
            name: &KindName,
            clients: &'a sdk::Clients,
            call: &'a Call,
        ) -> Option<sdk::Sending<'a>> {
            $(if *name == $kind::NAME {
                return Some(Box::pin($kind::sdk::send(clients, call)));
            })*
            None
        }
    };
}

kinds![
    vpc,
    subnet,
    db_subnet_group,
    db_parameter_group,
    db_cluster_parameter_group,
    security_group,
    db_cluster,
    db_instance,
    iam_role,
    launch_template,
    autoscaling_group,
    secret,
    s3_bucket,
    route53_record_set,
    custom,
];

/// Returns the kind of a name.
pub fn find(name: &KindName) -> Option<&'static dyn Kind> {
    all().iter().copied().find(|kind| kind.name() == *name)
}
