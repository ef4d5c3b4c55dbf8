//! Calls of secrets to Secrets Manager as JSON, and the moment in which a value is made and sent.
//!
//! What AWS says to a request that holds a value is not passed on, only its code: it might repeat the
//! request. The operation and the code say what is wrong, and CloudTrail has the text.

use serde_json::{Map, Value};

use super::value::{self, NotMade};
use crate::kinds::sdk::json::{self, Json, Operation};
use crate::kinds::sdk::{Clients, Failure};
use crate::model::Call;
use crate::model::recipe::{PARAMETER, Recipe};

/// Sends one call of this kind.
pub(crate) async fn send(clients: &Clients, call: &Call) -> Result<Value, Failure> {
    let json = &*clients.secrets_manager;
    match call.params.contains_key(PARAMETER) {
        true => with_value(json, call).await,
        false => json::ask(json, OPERATIONS, call).await,
    }
}

const fn operation(name: &'static str, parameters: &'static [&'static str]) -> Operation {
    Operation { name, parameters }
}

/// A value is no parameter of any call: it is added when the request is written.
const OPERATIONS: &[Operation] = &[
    operation("ListSecrets", &["IncludePlannedDeletion", "MaxResults", "NextToken"]),
    operation("DescribeSecret", &["SecretId"]),
    operation("GetResourcePolicy", &["SecretId"]),
    operation(
        "CreateSecret",
        &["Name", "Description", "KmsKeyId", "Tags", "AddReplicaRegions", "ClientRequestToken"],
    ),
    operation("UpdateSecret", &["SecretId", "Description", "KmsKeyId", "ClientRequestToken"]),
    operation("PutResourcePolicy", &["SecretId", "ResourcePolicy", "BlockPublicPolicy"]),
    operation("DeleteResourcePolicy", &["SecretId"]),
    operation(
        "RotateSecret",
        &[
            "SecretId",
            "ClientRequestToken",
            "RotationLambdaARN",
            "RotationRules",
            "RotateImmediately",
        ],
    ),
    operation("CancelRotateSecret", &["SecretId"]),
    operation("ReplicateSecretToRegions", &["SecretId", "AddReplicaRegions"]),
    operation("RemoveRegionsFromReplication", &["SecretId", "RemoveReplicaRegions"]),
    operation("TagResource", &["SecretId", "Tags"]),
    operation("RestoreSecret", &["SecretId"]),
    operation("DeleteSecret", &["SecretId", "RecoveryWindowInDays"]),
];

/// The members of an answer that are passed on where the request held a value.
const KNOWN: [&str; 3] = ["ARN", "Name", "VersionId"];

/// Makes the value that a call asks for, and sends it.
async fn with_value(json: &dyn Json, call: &Call) -> Result<Value, Failure> {
    let recipe = Recipe::of(call).ok_or_else(|| Failure::Unsendable {
        code: "InvalidParameterType",
        reason: format!("{PARAMETER} of {call} is no recipe"),
    })?;
    let mut random =
        |bytes: &mut [u8]| aws_lc_rs::rand::fill(bytes).map_err(|_| NotMade::NoRandomness);
    let value = value::make(&recipe, &mut random)
        .map_err(|error| Failure::Unsent { reason: error.to_string() })?;
    let mut rest = call.clone();
    rest.params.remove(PARAMETER);
    match json::ask_with(json, OPERATIONS, &rest, ("SecretString", &value)).await {
        Ok(answer) => Ok(Value::Object(known(&answer))),
        Err(failure) => Err(without_text(failure)),
    }
}

fn known(answer: &Value) -> Map<String, Value> {
    let member = |name: &str| Some((name.to_owned(), answer.get(name)?.clone()));
    KNOWN.into_iter().filter_map(member).collect()
}

fn without_text(failure: Failure) -> Failure {
    match failure {
        Failure::Refused { status, code, .. } => Failure::Refused {
            status,
            code,
            message: "AWS's text is left out, since the request held a secret value; \
                      CloudTrail has it"
                .to_owned(),
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kinds::sdk::testing::Wire;

    fn create() -> Call {
        let recipe = json!({"PasswordLength": 20, "SecretStringTemplate": {"username": "app"},
            "GenerateStringKey": "password", "RequireEachIncludedType": true});
        Call::new("secretsmanager", "CreateSecret")
            .with("Name", "team/db")
            .with("ClientRequestToken", "t")
            .with(PARAMETER, recipe)
    }

    #[tokio::test]
    async fn a_value_is_made_when_the_call_is_sent_and_another_one_the_next_time() {
        let wire = Wire::answering(
            r#"{"ARN":"arn:1","Name":"team/db","VersionId":"t","SecretString":"echo"}"#,
        );
        let call = create();
        let mut passwords = Vec::new();
        for _ in 0..2 {
            let answer = send(&wire.clients(), &call).await.unwrap();
            assert_eq!(answer, json!({"ARN": "arn:1", "Name": "team/db", "VersionId": "t"}));
            let sent = wire.last();
            let body: Value =
                serde_json::from_str(sent.strip_prefix("CreateSecret ").unwrap()).unwrap();
            assert!(body.get(PARAMETER).is_none(), "{body}");
            let value: Value = serde_json::from_str(body["SecretString"].as_str().unwrap()).unwrap();
            assert_eq!(value["username"], "app");
            passwords.push(value["password"].as_str().unwrap().to_owned());
        }
        assert!(passwords.iter().all(|password| password.chars().count() == 20));
        assert_ne!(passwords[0], passwords[1]);
        let shown = format!("{call:?} {}", serde_json::to_string(&call).unwrap());
        assert!(passwords.iter().all(|password| !shown.contains(password)));
    }

    #[tokio::test]
    async fn a_value_of_git_is_refused_and_so_is_a_recipe_that_is_none() {
        let wire = Wire::answering("{}");
        let plain = Call::new("secretsmanager", "CreateSecret").with("SecretString", "hunter2");
        let refused = send(&wire.clients(), &plain).await.unwrap_err();
        assert!(matches!(refused, Failure::Unsendable { code: "UnknownParameter", .. }));
        let broken = create().with(PARAMETER, json!({"PasswordLength": "long"}));
        let refused = send(&wire.clients(), &broken).await.unwrap_err();
        assert!(matches!(refused, Failure::Unsendable { code: "InvalidParameterType", .. }));
        assert_eq!(wire.last(), "", "nothing was sent");
    }

    #[test]
    fn what_aws_says_to_a_value_is_not_passed_on() {
        let echo = Failure::Refused {
            status: 400,
            code: Some("ValidationException".to_owned()),
            message: "value hunter2 is too short".to_owned(),
        };
        let told = without_text(echo);
        assert!(!format!("{told:?}").contains("hunter2"));
        assert!(format!("{told:?}").contains("ValidationException"));
    }

    #[tokio::test]
    async fn times_come_back_as_the_aws_cli_shows_them() {
        let wire =
            Wire::answering(r#"{"SecretList":[{"Name":"a","DeletedDate":1796000000.5}]}"#);
        let call = Call::new("secretsmanager", "ListSecrets").with("MaxResults", 100);
        let answer = send(&wire.clients(), &call).await.unwrap();
        let item = json!({"Name": "a", "DeletedDate": "2026-11-30T00:53:20.500000+00:00"});
        assert_eq!(answer, json!({ "SecretList": [item] }));
        assert_eq!(wire.last(), r#"ListSecrets {"MaxResults":100}"#);
    }
}
