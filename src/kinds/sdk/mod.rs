//! What the kinds' `sdk.rs` files share: the one bridge between calls as data and the AWS SDK.
//!
//! In: a [`Call`] under the API's member names, and the [`Clients`] of one scope. Out: the answer as
//! JSON under the API's member names, exactly as the AWS CLI prints it, or a [`Failure`].
//!
//! The SDK serialises, signs, sends and parses. Around it stand two kinds of tables, written with
//! [`parameters!`] and [`members!`]: one row per member, its API name and its SDK name, in both
//! directions. A row's type is taken from the SDK, so a row cannot disagree with it; tests hold the
//! tables against every field of the SDK's types and against botocore's reading of the same answer.
//!
//! Invariants: a parameter that no row names is an error that names it, never dropped; a member that
//! AWS did not answer is left out, never null; no secret goes either way.

use std::future::Future;
use std::pin::Pin;

use serde_json::Value;

mod answer;
mod failure;
pub(crate) mod json;
pub(crate) mod network;
mod parameter;
pub(crate) mod query;
pub(crate) mod rds;
pub(crate) mod rest;
mod whole;
pub(crate) mod xml;

pub(crate) use answer::{Answer, enumerations, masked, members, put};
pub(crate) use failure::{Failure, chain};
pub(crate) use parameter::{Misfit, Parameter, Request, expected, fill, parameters, read};
pub(crate) use whole::WholeAnswers;

/// Lends the clients of one account and region to a kind.
pub(crate) struct Clients {
    /// The SDK's client for RDS.
    pub(crate) rds: aws_sdk_rds::Client,
    /// The client for EC2.
    pub(crate) ec2: Box<dyn query::Query>,
    /// The client for Auto Scaling.
    pub(crate) auto_scaling: Box<dyn query::Query>,
    /// The client for IAM.
    pub(crate) iam: Box<dyn query::Query>,
    /// The client for CloudFormation's registry of types.
    pub(crate) cloudformation: Box<dyn query::Query>,
    /// The client for the Cloud Control API.
    pub(crate) cloud_control: Box<dyn json::Json>,
    /// The client for Secrets Manager.
    pub(crate) secrets_manager: Box<dyn json::Json>,
    /// The client for Route 53.
    pub(crate) route53: Box<dyn rest::Rest>,
    /// The client for S3.
    pub(crate) s3: Box<dyn rest::Rest>,
}

/// The future of one call's answer.
pub(crate) type Sending<'a> = Pin<Box<dyn Future<Output = Result<Value, Failure>> + Send + 'a>>;

/// Fills a request of the SDK with a call's parameters, sends it, and turns the answer into JSON.
///
/// A macro because every operation of the SDK has its own type and `send` is not part of a trait.
macro_rules! ask {
    ($request:expr, $call:expr) => {
        match $crate::kinds::sdk::fill($request, &$call.params)?.send().await {
            Ok(answer) => Ok($crate::kinds::sdk::Answer::json(&answer)),
            Err(error) => Err($crate::kinds::sdk::Failure::from(error)),
        }
    };
}
pub(crate) use ask;

#[cfg(test)]
pub(crate) mod testing;

#[cfg(test)]
mod tests;
