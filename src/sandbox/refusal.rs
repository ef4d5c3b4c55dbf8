//! An error answer of the sandbox, with the HTTP status and the meaning of its code.

use std::borrow::Cow;

use crate::model::{Call, CallError, ErrorClass};

/// Holds an error answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// AWS's wire code.
    pub(super) code: Cow<'static, str>,
    /// The text for people.
    pub(super) message: String,
    /// What it means.
    pub(super) class: ErrorClass,
    /// The HTTP status; 0 when no answer is sent at all.
    pub(super) status: u16,
}

/// What one operation answers.
pub(super) type Answer = Result<serde_json::Value, Refusal>;

/// HTTP status of every code that is not answered with 400.
///
/// As in the service models that AWS publishes for its SDKs.
const STATUSES: &[(&str, u16)] = &[
    ("RequestLimitExceeded", 503),
    ("InternalFailure", 500),
    ("InternalError", 500),
    ("AccessDenied", 403),
    ("UnauthorizedOperation", 403),
    ("MissingAuthenticationToken", 403),
    ("InvalidClientTokenId", 403),
    ("ExpiredToken", 403),
    ("DBInstanceNotFound", 404),
    ("DBClusterNotFoundFault", 404),
    ("DBParameterGroupNotFound", 404),
    ("DBSubnetGroupNotFoundFault", 404),
    ("DBSnapshotNotFound", 404),
    ("CertificateNotFound", 404),
    ("NoSuchEntity", 404),
    ("NoSuchHostedZone", 404),
    ("PermanentRedirect", 301),
    ("NoSuchBucket", 404),
    ("NoSuchBucketPolicy", 404),
    ("NoSuchLifecycleConfiguration", 404),
    ("NoSuchPublicAccessBlockConfiguration", 404),
    ("NoSuchTagSet", 404),
    ("OwnershipControlsNotFoundError", 404),
    ("BucketAlreadyExists", 409),
    ("BucketAlreadyOwnedByYou", 409),
    ("BucketNotEmpty", 409),
    ("EntityAlreadyExists", 409),
    ("DeleteConflict", 409),
    ("LimitExceeded", 409),
    ("ResourceContention", 500),
];

/// Meaning of the codes that say more than "this can never succeed" and are not common errors.
const CLASSES: &[(&str, ErrorClass)] = &[
    ("DBInstanceNotFound", ErrorClass::NotFound),
    ("DBClusterNotFoundFault", ErrorClass::NotFound),
    ("DBParameterGroupNotFound", ErrorClass::NotFound),
    ("DBSubnetGroupNotFoundFault", ErrorClass::NotFound),
    ("DBSnapshotNotFound", ErrorClass::NotFound),
    ("InvalidVpcID.NotFound", ErrorClass::NotFound),
    ("NoSuchBucket", ErrorClass::NotFound),
    ("BucketAlreadyExists", ErrorClass::AlreadyExists),
    ("BucketAlreadyOwnedByYou", ErrorClass::AlreadyExists),
    ("BucketNotEmpty", ErrorClass::NotReady),
    ("InvalidSubnetID.NotFound", ErrorClass::NotFound),
    ("InvalidGroup.NotFound", ErrorClass::NotFound),
    ("InvalidPermission.NotFound", ErrorClass::NotFound),
    ("InvalidGroup.Duplicate", ErrorClass::AlreadyExists),
    ("InvalidPermission.Duplicate", ErrorClass::NotReady),
    ("DependencyViolation", ErrorClass::NotReady),
    ("InvalidLaunchTemplateId.NotFound", ErrorClass::NotFound),
    ("InvalidLaunchTemplateId.VersionNotFound", ErrorClass::NotFound),
    ("InvalidLaunchTemplateName.NotFoundException", ErrorClass::NotFound),
    ("InvalidLaunchTemplateName.AlreadyExistsException", ErrorClass::AlreadyExists),
    ("AlreadyExists", ErrorClass::AlreadyExists),
    ("ScalingActivityInProgress", ErrorClass::NotReady),
    ("ResourceInUse", ErrorClass::NotReady),
    ("ResourceContention", ErrorClass::NotReady),
    ("NoSuchEntity", ErrorClass::NotFound),
    ("NoSuchHostedZone", ErrorClass::NotFound),
    ("ResourceNotFoundException", ErrorClass::NotFound),
    ("TypeNotFoundException", ErrorClass::NotFound),
    ("RequestTokenNotFoundException", ErrorClass::NotFound),
    ("ConcurrentOperationException", ErrorClass::NotReady),
    ("ClientTokenConflictException", ErrorClass::NotReady),
    ("EntityAlreadyExists", ErrorClass::AlreadyExists),
    ("ResourceExistsException", ErrorClass::AlreadyExists),
    ("DBInstanceAlreadyExists", ErrorClass::AlreadyExists),
    ("DBClusterAlreadyExistsFault", ErrorClass::AlreadyExists),
    ("DBParameterGroupAlreadyExists", ErrorClass::AlreadyExists),
    ("DBSubnetGroupAlreadyExists", ErrorClass::AlreadyExists),
    ("InvalidDBInstanceState", ErrorClass::NotReady),
    ("InvalidDBClusterStateFault", ErrorClass::NotReady),
    ("DBClusterSnapshotAlreadyExistsFault", ErrorClass::NotReady),
    ("DBSnapshotAlreadyExists", ErrorClass::NotReady),
    ("InvalidDBParameterGroupState", ErrorClass::NotReady),
    ("InvalidDBSubnetGroupStateFault", ErrorClass::NotReady),
];

fn find<T: Copy>(table: &[(&str, T)], code: &str) -> Option<T> {
    table.iter().find(|(known, _)| *known == code).map(|(_, value)| *value)
}

impl Refusal {
    /// Makes the answer of a code.
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        let status = find(STATUSES, code).unwrap_or(400);
        let class = ErrorClass::of_common(code)
            .or_else(|| find(CLASSES, code))
            .unwrap_or(ErrorClass::Invalid);
        Self { code: Cow::Borrowed(code), message: message.into(), class, status }
    }

    /// Refuses a value.
    pub(super) fn value(message: impl Into<String>) -> Self {
        Self::new("InvalidParameterValue", message)
    }

    /// Refuses parameters that do not go together.
    pub(super) fn combination(message: impl Into<String>) -> Self {
        Self::new("InvalidParameterCombination", message)
    }

    /// Refuses a call in the resource's present state.
    pub(super) fn state(message: impl Into<String>) -> Self {
        Self::new("InvalidDBInstanceState", message)
    }

    /// Says that no answer comes.
    pub(super) fn lost() -> Self {
        Self {
            code: Cow::Borrowed("Connection"),
            message: "the connection was lost before an answer came".to_owned(),
            class: ErrorClass::Ambiguous,
            status: 0,
        }
    }

    /// Tells whether the answer never arrives.
    pub(super) fn is_lost(&self) -> bool {
        self.status == 0
    }

    /// Turns the answer into what a caller in process sees: the same that it would see over HTTP.
    ///
    /// A lost answer and a fault of the service leave it open whether a write was applied.
    pub(super) fn into_error(self, call: &Call) -> CallError {
        let class = match self.status {
            _ if self.class == ErrorClass::Throttled => self.class,
            0 | 500.. if call.is_read() => ErrorClass::Transient,
            0 | 500.. => ErrorClass::Ambiguous,
            _ => self.class,
        };
        CallError {
            class,
            operation: call.operation.to_string(),
            code: self.code.into_owned(),
            message: self.message,
        }
    }
}
