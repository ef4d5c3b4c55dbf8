//! Which types are taken, and which are left to other sections or to nobody.
//!
//! A manifest must not be able to give somebody rights in the account by way of this section, so
//! types of services that do are taken only where the agent's settings name the service.

use crate::model::{Refusal, ResourceId};

/// Types that have a section of their own, and which.
const NATIVE: &[(&str, &str)] = &[
    ("AWS::RDS::DBInstance", "database"),
    ("AWS::RDS::DBCluster", "database"),
    ("AWS::RDS::DBClusterParameterGroup", "database.parameters"),
    ("AWS::EC2::SecurityGroup", "network"),
    ("AWS::RDS::DBParameterGroup", "database.parameters"),
    ("AWS::RDS::DBSubnetGroup", "network"),
    ("AWS::IAM::Role", "iam.roles"),
    ("AWS::IAM::RolePolicy", "iam.roles.NAME.inline"),
    ("AWS::EC2::LaunchTemplate", "compute"),
    ("AWS::AutoScaling::AutoScalingGroup", "compute"),
    ("AWS::S3::Bucket", "buckets"),
    ("AWS::S3::BucketPolicy", "buckets.NAME.policy"),
    ("AWS::SecretsManager::ResourcePolicy", "secrets.NAME.policy"),
    ("AWS::SecretsManager::RotationSchedule", "secrets.NAME.rotation"),
    ("AWS::SecretsManager::Secret", "secrets"),
    ("AWS::Route53::RecordSet", "dns.records"),
    ("AWS::Route53::RecordSetGroup", "dns.records"),
];

/// Services by whose resources one can give oneself rights, or reach other accounts.
const GUARDED: &[&str] = &[
    "Account", "CloudFormation", "ControlTower", "IAM", "IdentityStore", "Organizations", "RAM",
    "RolesAnywhere", "SSO", "SSOGuardDuty", "ServiceCatalog", "VerifiedPermissions",
];

/// Returns the section that a type has of its own.
pub fn native(type_name: &str) -> Option<&'static str> {
    NATIVE.iter().find(|(known, _)| *known == type_name).map(|(_, section)| *section)
}

/// Tells whether settings allow a type: one of the patterns names it, and where its service is
/// guarded, it names the service.
///
/// A pattern is a type, or the beginning of one with a `*` at its end.
pub fn is_allowed(type_name: &str, patterns: &[String]) -> bool {
    let service = type_name.split("::").nth(1).unwrap_or_default();
    let is_guarded = type_name.starts_with("AWS::") && GUARDED.contains(&service);
    let named = format!("AWS::{service}::");
    patterns.iter().any(|pattern| {
        let fits = match pattern.strip_suffix('*') {
            Some(start) => type_name.starts_with(start),
            None => type_name == pattern,
        };
        fits && (!is_guarded || pattern.starts_with(&named))
    })
}

/// Returns the refusal of a resource whose type the settings do not allow.
pub fn refusal(id: &ResourceId, patterns: &[String]) -> Option<Refusal> {
    let type_name = (id.kind == super::NAME).then(|| super::single::type_of(id))?;
    (!is_allowed(type_name, patterns)).then(|| Refusal {
        field: "type".to_owned(),
        code: "TypeNotAllowed".to_owned(),
        message: format!("the agent's settings do not allow the type {type_name}"),
        help: "name it, or its service, under customTypes in the agent's settings".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(type_name: &str, patterns: &[&str]) -> bool {
        let patterns: Vec<String> = patterns.iter().map(|it| (*it).to_owned()).collect();
        is_allowed(type_name, &patterns)
    }

    #[test]
    fn rights_are_given_only_where_the_settings_name_the_service() {
        assert!(allowed("AWS::SQS::Queue", &["*"]));
        assert!(allowed("AWS::SQS::Queue", &["AWS::SQS::*"]));
        assert!(!allowed("AWS::SQS::Queue", &["AWS::SNS::*", "AWS::SQS::QueuePolicy"]));
        for everything in ["*", "AWS::*", "AWS::I*", "AWS::IAM*"] {
            assert!(!allowed("AWS::IAM::User", &[everything]), "{everything}");
        }
        assert!(allowed("AWS::IAM::User", &["AWS::IAM::*"]));
        assert!(allowed("AWS::IAM::User", &["AWS::IAM::User"]));
        assert!(!allowed("AWS::IAM::Group", &["AWS::IAM::User"]));
        assert!(!allowed("AWS::SQS::Queue", &[]));
    }
}
