//! AWS's wire formats of the services that are modelled: form bodies in, XML out.
//!
//! One reader and one writer for all operations; what differs between operations is in
//! [`tables`]. Facts: the Query and EC2 protocols of Smithy, and the service models that AWS
//! publishes for its SDKs.

mod form;
mod tables;
mod xml;

pub(super) use self::form::read;
pub(super) use self::xml::{answer, error};

/// Names one of the two protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// The Query protocol: RDS, STS, IAM.
    Query,
    /// EC2's own: flattened lists, lower-case element names.
    Ec2,
}

impl Dialect {
    /// Returns the protocol of a service.
    pub(super) fn of(service: &str) -> Self {
        if service == "ec2" { Self::Ec2 } else { Self::Query }
    }
}

/// Returns the XML namespace of a service.
fn namespace(service: &str) -> &'static str {
    match service {
        "ec2" => "http://ec2.amazonaws.com/doc/2016-11-15/",
        "iam" => "https://iam.amazonaws.com/doc/2010-05-08/",
        "sts" => "https://sts.amazonaws.com/doc/2011-06-15/",
        _ => "http://rds.amazonaws.com/doc/2014-10-31/",
    }
}

#[cfg(test)]
mod tests;
