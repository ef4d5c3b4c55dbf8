//! Calls to the Cloud Control API as JSON, and to CloudFormation's registry in the Query protocol.

use serde_json::Value;

use crate::kinds::sdk::json::{self, Operation};
use crate::kinds::sdk::query::{self, Take};
use crate::kinds::sdk::{Clients, Failure};
use crate::model::Call;

/// Sends one call of this kind.
pub(crate) async fn send(clients: &Clients, call: &Call) -> Result<Value, Failure> {
    match &*call.service {
        "cloudformation" => query::ask(&*clients.cloudformation, REGISTRY, call).await,
        _ => json::ask(&*clients.cloud_control, OPERATIONS, call).await,
    }
}

const fn operation(name: &'static str, parameters: &'static [&'static str]) -> Operation {
    Operation { name, parameters }
}

const OPERATIONS: &[Operation] = &[
    operation("GetResource", &["TypeName", "Identifier"]),
    operation("GetResourceRequestStatus", &["RequestToken"]),
    operation("CreateResource", &["TypeName", "DesiredState", "ClientToken"]),
    operation("UpdateResource", &["TypeName", "Identifier", "PatchDocument"]),
    operation("DeleteResource", &["TypeName", "Identifier"]),
];

const REGISTRY: &[query::Operation] = &[query::Operation {
    name: "DescribeType",
    parameters: &[("Type", "Type", Take::Text), ("TypeName", "TypeName", Take::Text)],
    members: &[],
}];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kinds::sdk::testing::Wire;

    #[tokio::test]
    async fn a_document_goes_out_and_comes_back_with_times_as_the_aws_cli_shows_them() {
        let wire = Wire::answering(
            r#"{"ProgressEvent":{"EventTime":1796000000.5,"OperationStatus":"IN_PROGRESS"}}"#,
        );
        let call = Call::new("cloudcontrolapi", "CreateResource")
            .with("TypeName", "AWS::SQS::Queue")
            .with("DesiredState", "{}");
        let answer = send(&wire.clients(), &call).await.unwrap();
        let event = json!({"EventTime": "2026-11-30T00:53:20.500000+00:00", "OperationStatus": "IN_PROGRESS"});
        assert_eq!(answer, json!({ "ProgressEvent": event }));
        assert_eq!(wire.last(), r#"CreateResource {"DesiredState":"{}","TypeName":"AWS::SQS::Queue"}"#);
        let unknown = call.with("RoleArn", "arn");
        assert!(matches!(
            send(&wire.clients(), &unknown).await,
            Err(Failure::Unsendable { code: "UnknownParameter", .. })
        ));
    }

    #[tokio::test]
    async fn the_schema_of_a_type_comes_from_the_registry() {
        let wire = Wire::answering(
            "<DescribeTypeResponse><DescribeTypeResult><TypeName>AWS::X::Y</TypeName>\
             <Schema>{&quot;properties&quot;:{}}</Schema></DescribeTypeResult></DescribeTypeResponse>",
        );
        let call = Call::new("cloudformation", "DescribeType").with("Type", "RESOURCE");
        let answer = send(&wire.clients(), &call).await.unwrap();
        assert_eq!(answer["Schema"], r#"{"properties":{}}"#);
        let broken = Wire::answering("[1]");
        let call = Call::new("cloudcontrolapi", "GetResource");
        assert!(matches!(
            send(&broken.clients(), &call).await,
            Err(Failure::Lost { code: "UnreadableAnswer", .. })
        ));
    }
}
