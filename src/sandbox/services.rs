//! The list of what the sandbox models: one state and one table of operations per service.
//!
//! A new kind is one file with its operations, one row in [`OPERATIONS`] and, when it keeps
//! something, one field in [`State`].

use std::sync::Arc;

use jiff::Timestamp;
use rand::rngs::StdRng;

use super::args::Args;
use super::rds::engine::Catalog;
use super::refusal::Answer;
use super::settings::Settings;
use super::{autoscaling, cloud_control, ec2, iam, rds, route53, s3, secrets_manager, sts};
use crate::model::{Call, Scope};

/// Describes one operation.
#[derive(Debug)]
pub(super) struct Operation {
    /// The service's endpoint prefix.
    pub(super) service: &'static str,
    /// The operation's name.
    pub(super) name: &'static str,
    /// The parameters that are modelled; any other is refused rather than ignored.
    pub(super) accepts: &'static [&'static str],
    /// What it does.
    pub(super) run: fn(&mut Site<'_>, Args<'_>) -> Answer,
}

/// Every operation.
pub(super) const OPERATIONS: &[&[Operation]] = &[
    autoscaling::OPERATIONS,
    cloud_control::OPERATIONS,
    ec2::OPERATIONS[0],
    ec2::OPERATIONS[1],
    ec2::OPERATIONS[2],
    ec2::OPERATIONS[3],
    ec2::OPERATIONS[4],
    ec2::OPERATIONS[5],
    iam::OPERATIONS[0],
    iam::OPERATIONS[1],
    rds::cluster::OPERATIONS,
    rds::cluster::group::OPERATIONS,
    rds::instance::OPERATIONS,
    rds::parameter_group::OPERATIONS,
    rds::subnet_group::OPERATIONS,
    rds::snapshot::OPERATIONS,
    rds::tags::OPERATIONS,
    route53::OPERATIONS,
    s3::OPERATIONS,
    s3::PARTS,
    secrets_manager::OPERATIONS,
    sts::OPERATIONS,
];

/// Finds an operation.
pub(super) fn find(service: &str, name: &str) -> Option<&'static Operation> {
    OPERATIONS.iter().copied().flatten().find(|op| op.service == service && op.name == name)
}

/// Returns where a call's service has its state: that of IAM and Route 53 is the account's, not a
/// region's.
pub(super) fn home(scope: &Scope, call: &Call) -> Scope {
    match &*call.service {
        "iam" | "route53" => scope.global(),
        _ => scope.clone(),
    }
}

/// Holds everything that lives in one account and region.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) autoscaling: autoscaling::State,
    pub(super) cloud_control: cloud_control::State,
    pub(super) ec2: ec2::State,
    pub(super) iam: iam::State,
    pub(super) rds: rds::State,
    pub(super) route53: route53::State,
    pub(super) secrets_manager: secrets_manager::State,
}

/// Holds what all accounts and regions share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) catalog: Catalog,
    pub(super) s3: s3::State,
    pub(super) sessions: sts::Sessions,
}

/// Is where an operation runs: the state it may change and everything it may depend on.
pub(super) struct Site<'a> {
    pub(super) scope: &'a Scope,
    pub(super) by: &'a Arc<str>,
    pub(super) now: Timestamp,
    /// A read shows nothing that was written at or after this time.
    pub(super) stale: Option<Timestamp>,
    pub(super) settings: &'a Settings,
    pub(super) random: &'a mut StdRng,
    pub(super) state: &'a mut State,
    pub(super) shared: &'a mut Shared,
}

impl Site<'_> {
    /// Brings the account and region up to the time of the call.
    pub(super) fn advance(&mut self) {
        let laws = rds::Laws { settings: self.settings, catalog: &self.shared.catalog };
        self.state.rds.advance(self.now, laws);
        self.state.ec2.advance(self.now);
        let templates = &self.state.ec2.templates;
        self.state.autoscaling.advance(self.now, templates, self.random);
        self.state.cloud_control.advance(self.now);
        self.state.secrets_manager.advance(self.now);
    }

    /// Makes the ARN of an RDS resource.
    pub(super) fn rds_arn(&self, kind: &str, name: &str) -> String {
        format!("arn:aws:rds:{}:{}:{kind}:{name}", self.scope.region, self.scope.account)
    }
}
