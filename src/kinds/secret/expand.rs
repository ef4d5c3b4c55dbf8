//! From the `secrets` section to the resources that it asks for.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::spec::{Generate, Rotation, Secret};
use crate::model::desired::Field;
use crate::model::recipe::Recipe;
use crate::model::{Input, Refusal, Resource, ResourceId, Scope};

/// Says where the secrets live and whose they are.
#[derive(Debug, Clone)]
pub struct Placement<'a> {
    /// The account and region.
    pub scope: &'a Scope,
    /// The name of the workspace, with which the names begin that are not declared.
    pub workspace: &'a str,
    /// The value of the ownership tag.
    pub owner: &'a str,
    /// Whether existing secrets without our tag are taken over.
    pub adopt: bool,
}

/// Returns the name of a secret in AWS.
pub fn secret_name(workspace: &str, key: &str, secret: &Secret) -> String {
    secret.name.clone().unwrap_or_else(|| format!("{workspace}/{key}"))
}

/// Returns the id of a secret.
pub fn resource_id(scope: &Scope, workspace: &str, key: &str, secret: &Secret) -> ResourceId {
    let name = secret_name(workspace, key, secret).into();
    ResourceId { kind: super::NAME, scope: scope.clone(), name }
}

/// Makes the resources, in the order of their names.
pub fn resources(secrets: &BTreeMap<String, Secret>, placement: &Placement<'_>) -> Vec<Resource> {
    secrets.iter().map(|(key, secret)| resource(key, secret, placement)).collect()
}

fn resource(key: &str, secret: &Secret, placement: &Placement<'_>) -> Resource {
    let fields = fields(secret);
    Resource {
        id: resource_id(placement.scope, placement.workspace, key, secret),
        section: Cow::Owned(format!("secrets.{key}")),
        fields: fields.into_iter().map(|(field, value)| (field, Input::Known(value))).collect(),
        initial: BTreeMap::new(),
        owner: placement.owner.to_owned(),
        adopt: secret.adopt || placement.adopt,
        notices: Vec::new(),
        refusals: replica_at_home(secret, placement).into_iter().collect(),
    }
}

/// A copy beside the secret itself is refused by AWS; a manifest does not know its own region.
fn replica_at_home(secret: &Secret, placement: &Placement<'_>) -> Option<Refusal> {
    let home = placement.scope.region.as_str();
    secret.replicas.iter().flatten().any(|(region, _)| region == home).then(|| Refusal {
        field: "replicas".to_owned(),
        code: "ReplicaAtHome".to_owned(),
        message: format!("the secret itself is in {home}, where there can be no copy of it"),
        help: format!("leave {home} out"),
    })
}

fn fields(secret: &Secret) -> BTreeMap<Field, Value> {
    let mut fields: BTreeMap<Field, Value> = BTreeMap::from([
        // A secret that Git declares is not scheduled for deletion.
        ("deletionDate".into(), Value::Null),
    ]);
    let declared = [
        ("description", secret.description.as_ref().map(|it| json!(it))),
        ("kmsKey", secret.kms_key.as_ref().map(|it| json!(it))),
        ("policy", secret.policy.as_ref().map(|it| json!(it))),
        ("tags", secret.tags.as_ref().map(|it| json!(it))),
        ("recoveryWindowDays", secret.recovery_window_days.map(|it| json!(it))),
        ("replicas", secret.replicas.as_ref().map(|it| it.keys().map(String::as_str).collect())),
        ("replicaKeys", replica_keys(secret)),
        ("generate", secret.generate.as_ref().map(recipe)),
        ("generate.template", template(secret).map(|it| json!(it))),
    ];
    let rotation = secret.rotation.iter().flat_map(rotation);
    for (field, value) in declared.into_iter().chain(rotation) {
        if let Some(value) = value {
            fields.insert(field.into(), value);
        }
    }
    fields
}

fn rotation(rotation: &Rotation) -> [(&'static str, Option<Value>); 5] {
    [
        ("rotation.enabled", Some(json!(rotation.enabled))),
        ("rotation.lambdaArn", rotation.lambda_arn.as_ref().map(|it| json!(it))),
        ("rotation.everyDays", rotation.every_days.map(|it| json!(it))),
        ("rotation.schedule", rotation.schedule.as_ref().map(|it| json!(it))),
        ("rotation.duration", rotation.duration.as_ref().map(|it| json!(it))),
    ]
}

/// Returns the keys of the copies that declare one, by region.
fn replica_keys(secret: &Secret) -> Option<Value> {
    let replicas = secret.replicas.iter().flatten();
    let keys: BTreeMap<&String, &String> =
        replicas.filter_map(|(region, replica)| Some((region, replica.kms_key.as_ref()?))).collect();
    (!keys.is_empty()).then(|| json!(keys))
}

/// Returns how the random text is made; what stands around it has a field of its own, which may hold
/// references.
fn recipe(generate: &Generate) -> Value {
    json!(Recipe {
        password_length: generate.length,
        exclude_characters: generate.exclude_characters.clone(),
        exclude_numbers: generate.exclude_numbers,
        exclude_punctuation: generate.exclude_punctuation,
        exclude_uppercase: generate.exclude_uppercase,
        exclude_lowercase: generate.exclude_lowercase,
        include_space: generate.include_space,
        require_each_included_type: generate.require_each_type,
        generate_string_key: generate.key.clone(),
        ..Recipe::default()
    })
}

fn template(secret: &Secret) -> Option<&BTreeMap<String, Value>> {
    secret.generate.as_ref()?.template.as_ref()
}
