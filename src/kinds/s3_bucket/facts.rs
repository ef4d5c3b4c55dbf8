//! What the answers of S3 say about a bucket.

use serde_json::{Map, Value, json};

use crate::model::kind::Lists;
use crate::model::{ErrorClass, Region};

/// The read of a part, the code of its error, and what that says.
type Nothing = (&'static str, &'static str, fn() -> Value);

/// What a part of a bucket is by the code with which S3 says that there is none.
///
/// Source: the error responses of S3. Without controls of ownership, whoever writes an object owns it.
const NOTHING: &[Nothing] = &[
    ("GetBucketTagging", "NoSuchTagSet", || json!({"TagSet": []})),
    ("GetBucketPolicy", "NoSuchBucketPolicy", || json!({"Policy": null})),
    ("GetBucketLifecycleConfiguration", "NoSuchLifecycleConfiguration", || json!({"Rules": []})),
    ("GetBucketEncryption", "ServerSideEncryptionConfigurationNotFoundError", || {
        json!({"ServerSideEncryptionConfiguration": {"Rules": []}})
    }),
    ("GetPublicAccessBlock", "NoSuchPublicAccessBlockConfiguration", || {
        json!({"PublicAccessBlockConfiguration": {}})
    }),
    ("GetBucketOwnershipControls", "OwnershipControlsNotFoundError", || {
        json!({"OwnershipControls": {"Rules": []}})
    }),
];

/// Returns what an answer would hold that is an error only because there is nothing.
pub(super) fn nothing(operation: &str, code: &str) -> Option<Value> {
    let is_it = |(of, known, _): &&Nothing| *of == operation && *known == code;
    NOTHING.iter().find(is_it).map(|(_, _, answer)| answer())
}

/// Sorts buckets by name, and adds their ARN and their address, which follow from name and region.
pub(super) fn assemble(mut lists: Lists) -> Vec<(String, Map<String, Value>)> {
    let named = |item: Value| {
        let Value::Object(mut members) = item else { return None };
        let name = members.get("Name")?.as_str()?.to_owned();
        if let Some(region) = members.get("BucketRegion").and_then(Value::as_str) {
            let region = Region::new(region);
            let partition = region.partition();
            let arn = format!("arn:{partition}:s3:::{name}");
            let domain = domain(partition);
            let address = format!("{name}.s3.{region}.{domain}");
            members.insert("Arn".to_owned(), arn.into());
            members.insert("RegionalDomainName".to_owned(), address.into());
        }
        Some((name, members))
    };
    lists.remove("Buckets").into_iter().flatten().filter_map(named).collect()
}

/// Returns the domain of a partition.
fn domain(partition: &str) -> &'static str {
    match partition {
        "aws-cn" => "amazonaws.com.cn",
        "aws-eusc" => "amazonaws.eu",
        "aws-iso" => "c2s.ic.gov",
        "aws-iso-b" => "sc2s.sgov.gov",
        "aws-iso-e" => "cloud.adc-e.uk",
        "aws-iso-f" => "csp.hci.ic.gov",
        _ => "amazonaws.com",
    }
}

/// Says what an error code of S3 means.
///
/// Source: "Error responses" in the API reference. A bucket that holds objects is waited for until
/// somebody has emptied it; one of another account, or in another region, is never taken for absent.
pub(super) fn classify(code: &str) -> ErrorClass {
    if let Some(class) = ErrorClass::of_common(code) {
        return class;
    }
    match code {
        "NoSuchBucket" => ErrorClass::NotFound,
        "BucketAlreadyExists" | "BucketAlreadyOwnedByYou" => ErrorClass::AlreadyExists,
        "BucketNotEmpty" | "OperationAborted" => ErrorClass::NotReady,
        "InvalidAccessKeyId" | "InvalidToken" | "AllAccessDisabled" | "AccountProblem"
        | "NotSignedUp" | "RequestTimeTooSkewed" => ErrorClass::Denied,
        _ => ErrorClass::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_absence_of_the_part_that_was_read_is_an_answer() {
        assert_eq!(nothing("GetBucketTagging", "NoSuchTagSet"), Some(json!({"TagSet": []})));
        for (operation, code) in [
            ("GetBucketTagging", "NoSuchBucket"),
            ("GetBucketTagging", "AccessDenied"),
            ("GetBucketPolicy", "NoSuchTagSet"),
            ("GetBucketVersioning", "NoSuchBucket"),
        ] {
            assert_eq!(nothing(operation, code), None, "{operation} {code}");
        }
    }

    #[test]
    fn a_bucket_of_somebody_else_or_elsewhere_is_not_absent() {
        assert_eq!(classify("NoSuchBucket"), ErrorClass::NotFound);
        for code in [
            "AccessDenied",
            "PermanentRedirect",
            "TemporaryRedirect",
            "AuthorizationHeaderMalformed",
            "IllegalLocationConstraintException",
            "NoSuchTagSet",
        ] {
            assert_ne!(classify(code), ErrorClass::NotFound, "{code}");
        }
        assert_eq!(classify("BucketNotEmpty"), ErrorClass::NotReady);
        assert_eq!(classify("BucketAlreadyExists"), ErrorClass::AlreadyExists);
    }

    #[test]
    fn arn_and_address_are_those_of_the_partition() {
        let of = |region: &str| {
            let item = json!({"Name": "a", "BucketRegion": region});
            let (_, members) = assemble(Lists::from([("Buckets", vec![item])])).remove(0);
            format!("{} {}", members["Arn"], members["RegionalDomainName"]).replace('"', "")
        };
        assert_eq!(of("eu-west-1"), "arn:aws:s3:::a a.s3.eu-west-1.amazonaws.com");
        assert_eq!(of("cn-north-1"), "arn:aws-cn:s3:::a a.s3.cn-north-1.amazonaws.com.cn");
    }
}
