//! Calls of roles to IAM's Query protocol, and its answers to JSON.

use serde_json::Value;

use crate::kinds::sdk::query::{self, Give, Operation, Take};
use crate::kinds::sdk::{Clients, Failure};
use crate::model::Call;

/// Sends one call of this kind.
pub(crate) async fn send(clients: &Clients, call: &Call) -> Result<Value, Failure> {
    query::ask(&*clients.iam, OPERATIONS, call).await
}

type Parameters = &'static [(&'static str, &'static str, Take)];

const ROLE: (&str, &str, Take) = ("RoleName", "RoleName", Take::Text);
const POLICY: (&str, &str, Take) = ("PolicyName", "PolicyName", Take::Text);
const ARN: (&str, &str, Take) = ("PolicyArn", "PolicyArn", Take::Text);
const DOCUMENT: (&str, &str, Take) = ("PolicyDocument", "PolicyDocument", Take::Text);
const BOUNDARY: (&str, &str, Take) = ("PermissionsBoundary", "PermissionsBoundary", Take::Text);
const DESCRIPTION: (&str, &str, Take) = ("Description", "Description", Take::Text);
const DURATION: (&str, &str, Take) = ("MaxSessionDuration", "MaxSessionDuration", Take::Number);
const TAGS: (&str, &str, Take) = ("Tags", "Tags.member", Take::TAGS);
const PAGE: (&str, &str, Take) = ("MaxItems", "MaxItems", Take::Number);
const MARKER: (&str, &str, Take) = ("Marker", "Marker", Take::Text);

/// What every answer of these operations may hold.
const MEMBERS: &[(&str, Give)] = &[
    ("AssumeRolePolicyDocument", Give::Document),
    ("AttachedManagedPolicies", Give::List("AttachedManagedPolicies")),
    ("AttachmentCount", Give::Number),
    ("CreateDate", Give::Time),
    ("Document", Give::Document),
    ("GroupDetailList", Give::List("GroupDetailList")),
    ("GroupList", Give::List("GroupList")),
    ("GroupPolicyList", Give::List("GroupPolicyList")),
    ("InstanceProfileList", Give::List("InstanceProfileList")),
    ("IsAttachable", Give::Flag),
    ("IsDefaultVersion", Give::Flag),
    ("IsTruncated", Give::Flag),
    ("LastUsedDate", Give::Time),
    ("MaxSessionDuration", Give::Number),
    ("PermissionsBoundaryUsageCount", Give::Number),
    ("Policies", Give::List("Policies")),
    ("PermissionsBoundary", Give::Structure),
    ("PolicyDocument", Give::Document),
    ("PolicyVersionList", Give::List("PolicyVersionList")),
    ("RoleDetailList", Give::List("RoleDetailList")),
    ("RoleLastUsed", Give::Structure),
    ("RolePolicyList", Give::List("RolePolicyList")),
    ("Roles", Give::List("Roles")),
    ("Tags", Give::List("Tags")),
    ("TemplateMinorVersion", Give::Number),
    ("UpdateDate", Give::Time),
    ("UserDetailList", Give::List("UserDetailList")),
    ("UserPolicyList", Give::List("UserPolicyList")),
];

const fn operation(name: &'static str, parameters: Parameters) -> Operation {
    Operation { name, parameters, members: MEMBERS }
}

const OPERATIONS: &[Operation] = &[
    operation(
        "GetAccountAuthorizationDetails",
        &[("Filter", "Filter.member", Take::Texts), PAGE, MARKER],
    ),
    operation("ListRoles", &[("PathPrefix", "PathPrefix", Take::Text), PAGE, MARKER]),
    operation("GetRole", &[ROLE]),
    operation("ListRoleTags", &[ROLE, PAGE, MARKER]),
    operation(
        "CreateRole",
        &[
            ROLE,
            ("Path", "Path", Take::Text),
            ("AssumeRolePolicyDocument", "AssumeRolePolicyDocument", Take::Text),
            DESCRIPTION,
            DURATION,
            BOUNDARY,
            TAGS,
        ],
    ),
    operation("UpdateAssumeRolePolicy", &[ROLE, DOCUMENT]),
    operation("UpdateRole", &[ROLE, DESCRIPTION, DURATION]),
    operation("PutRolePolicy", &[ROLE, POLICY, DOCUMENT]),
    operation("DeleteRolePolicy", &[ROLE, POLICY]),
    operation("AttachRolePolicy", &[ROLE, ARN]),
    operation("DetachRolePolicy", &[ROLE, ARN]),
    operation("PutRolePermissionsBoundary", &[ROLE, BOUNDARY]),
    operation("DeleteRolePermissionsBoundary", &[ROLE]),
    operation("DeleteRole", &[ROLE]),
    operation("TagRole", &[ROLE, TAGS]),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kinds::sdk::testing::{Wire, check_answer};

    #[tokio::test]
    async fn full_answers_are_read_as_the_aws_cli_reads_them() {
        check_answer!(super, "iam", "GetAccountAuthorizationDetails");
        check_answer!(super, "iam", "ListRoles");
        check_answer!(super, "iam", "GetRole");
        check_answer!(super, "iam", "ListRoleTags");
    }

    #[tokio::test]
    async fn lists_and_tags_are_sent_as_members() {
        let wire = Wire::answering("<TagRoleResponse><ResponseMetadata/></TagRoleResponse>");
        let tags = json!([{"Key": "a", "Value": "b c"}, {"Key": "d", "Value": ""}]);
        let call = Call::new("iam", "TagRole").with("RoleName", "r").with("Tags", tags);
        assert_eq!(send(&wire.clients(), &call).await.unwrap(), json!({}));
        assert_eq!(
            wire.last(),
            "Action=TagRole&Version=2010-05-08&RoleName=r&Tags.member.1.Key=a\
             &Tags.member.1.Value=b c&Tags.member.2.Key=d&Tags.member.2.Value="
        );
        let call = Call::new("iam", "GetAccountAuthorizationDetails")
            .with("Filter", json!(["Role"]))
            .with("MaxItems", 1000);
        send(&wire.clients(), &call).await.unwrap_err();
        assert_eq!(
            wire.last(),
            "Action=GetAccountAuthorizationDetails&Version=2010-05-08&Filter.member.1=Role\
             &MaxItems=1000"
        );
    }

    #[tokio::test]
    async fn an_answer_without_its_result_is_never_an_empty_list() {
        let answers = [
            "<ListRolesResponse><Roles><member/></Roles></ListRolesResponse>",
            "<ListRolesResponse><ListRolesResult><Roles><member>",
            "<ListRolesResponse><ListRolesResult><IsTruncated>?</IsTruncated></ListRolesResult>\
             </ListRolesResponse>",
        ];
        for answer in answers {
            let clients = Wire::answering(answer).clients();
            let failure = send(&clients, &Call::new("iam", "ListRoles")).await.unwrap_err();
            assert!(
                matches!(failure, Failure::Lost { code: "UnreadableAnswer", .. }),
                "{answer}: {failure:?}"
            );
        }
    }
}
