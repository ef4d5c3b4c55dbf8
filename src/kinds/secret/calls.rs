//! The calls that make, change, take over, leave and delete a secret, as data.
//!
//! Source: the API reference of Secrets Manager. No call holds a value: a [`Recipe`] stands for it
//! until it is sent. Nothing is ever deleted without a recovery window, and no call rotates at once.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::facts::{is_leaving, made_of, replicas};
use super::rules::{DEFAULT_WINDOW, MADE_OF, RECOVERY_WINDOW};
use crate::model::desired::{ownership, tag_list};
use crate::model::kind::Deletion;
use crate::model::recipe::{PARAMETER, Recipe};
use crate::model::{Bound, Call, Delta, Notice, Observed, ResourceId};

fn call(operation: &'static str) -> Call {
    Call::new("secretsmanager", operation)
}

/// Returns the calls that make the secret with its value, its copies and its policy. Rotation follows
/// when it is there.
pub(super) fn create(desired: &Bound) -> Vec<Call> {
    let name = &*desired.id.name;
    let mut tags = desired.tags_at_creation();
    tags.extend(recovery_window(desired.declared("recoveryWindowDays")));
    tags.extend(made_of(desired).map(|digest| (MADE_OF.to_owned(), digest.into())));
    let mut create = call("CreateSecret").with("Name", name).with("Tags", tag_list(&tags));
    for (field, parameter) in [("description", "Description"), ("kmsKey", "KmsKeyId")] {
        let value = desired.declared(field).filter(|value| value.as_str() != Some(""));
        if let Some(value) = value {
            create = create.with(parameter, value.clone());
        }
    }
    let regions = desired.declared("replicas").map(texts).unwrap_or_default();
    if !regions.is_empty() {
        create = create.with("AddReplicaRegions", added(desired, &regions));
    }
    if let Some(recipe) = recipe(desired) {
        create = create.with(PARAMETER, json!(recipe));
    }
    let policy = desired.declared("policy").filter(|policy| !is_none(policy));
    let policy = policy.map(|policy| Subject(name).policy(policy));
    [create].into_iter().chain(policy).collect()
}

/// Returns how the value is made, with what stands around it.
fn recipe(desired: &Bound) -> Option<Recipe> {
    let recipe: Recipe = serde_json::from_value(desired.declared("generate")?.clone()).ok()?;
    let template = desired.declared("generate.template").and_then(Value::as_object);
    Some(Recipe { secret_string_template: template.cloned().unwrap_or_default(), ..recipe })
}

/// Returns the calls that mend exactly these differences: what is scheduled for deletion is brought
/// back first, since AWS changes nothing else of it; then nobody is let in who should not be.
pub(super) fn update(desired: &Bound, actual: &Observed, deltas: &[Delta]) -> Vec<Call> {
    let secret = Subject::of(&desired.id, actual);
    let of = |field: &str| deltas.iter().find(|delta| delta.field == field);
    let mut calls = Vec::new();
    calls.extend(of("deletionDate").map(|_| secret.call("RestoreSecret")));
    calls.extend(of("policy").map(|delta| secret.policy(&delta.to)));
    calls.extend(secret.settings(actual, &[of("kmsKey"), of("description")]));
    if deltas.iter().any(|delta| delta.field.starts_with("rotation.")) {
        calls.push(secret.rotation(desired, actual));
    }
    if of("replicas").is_some() {
        calls.extend(secret.copies(desired, actual));
    }
    let mut tags = Map::new();
    tags.extend(of("tags").and_then(|delta| delta.to.as_object()).cloned().unwrap_or_default());
    let window = of("recoveryWindowDays").map(|delta| (RECOVERY_WINDOW.to_owned(), text(&delta.to)));
    tags.extend(window);
    if !tags.is_empty() {
        calls.push(secret.tag(&tags));
    }
    calls
}

/// Returns the calls that set the ownership tag.
pub(super) fn own(id: &ResourceId, actual: &Observed, owner: &str) -> Vec<Call> {
    let secret = Subject::of(id, actual);
    let restore = is_leaving(actual).then(|| secret.call("RestoreSecret"));
    restore.into_iter().chain([secret.tag(&ownership(owner))]).collect()
}

/// Returns the calls that schedule the deletion; AWS takes it only when there are no copies any more.
pub(super) fn delete(id: &ResourceId, actual: &Observed) -> Deletion {
    let secret = Subject::of(id, actual);
    let tags = actual.tags.as_ref();
    let window = tags.and_then(|tags| tags.get(RECOVERY_WINDOW)?.parse::<u32>().ok());
    let days = window.unwrap_or_default().clamp(7, 30);
    let days = if window.is_some() { days } else { DEFAULT_WINDOW.parse().unwrap_or(30) };
    let regions: Vec<&str> = replicas(actual).filter_map(|it| it.get("Region")?.as_str()).collect();
    let mut calls = Vec::new();
    if !regions.is_empty() {
        calls.push(secret.without_copies(&regions));
    }
    calls.push(secret.call("DeleteSecret").with("RecoveryWindowInDays", days));
    let notice = Notice {
        field: String::new(),
        code: "Recoverable".to_owned(),
        message: format!("AWS keeps it with its value for {days} days, and its manifest brings it back"),
    };
    Deletion { calls, notices: vec![notice] }
}

/// Is the secret that calls are made for, by its ARN, or by its name as long as it has none.
struct Subject<'a>(&'a str);

impl<'a> Subject<'a> {
    fn of(id: &'a ResourceId, actual: &'a Observed) -> Self {
        Self(actual.text("ARN").unwrap_or(&id.name))
    }

    fn call(&self, operation: &'static str) -> Call {
        call(operation).with("SecretId", self.0)
    }

    fn tag(&self, tags: &Map<String, Value>) -> Call {
        self.call("TagResource").with("Tags", tag_list(tags))
    }

    fn policy(&self, policy: &Value) -> Call {
        if is_none(policy) {
            return self.call("DeleteResourcePolicy");
        }
        let document = policy.as_str().map_or_else(|| policy.to_string(), str::to_owned);
        self.call("PutResourcePolicy")
            .with("ResourcePolicy", document)
            .with("BlockPublicPolicy", true)
    }

    fn settings(&self, actual: &Observed, deltas: &[Option<&Delta>]) -> Option<Call> {
        let set = |call: Call, delta: &&Delta| call.with(&delta.parameter, delta.to.clone());
        let deltas: Vec<&Delta> = deltas.iter().copied().flatten().collect();
        let update = || deltas.iter().fold(self.call("UpdateSecret"), set);
        (!deltas.is_empty()).then(|| once(update(), actual))
    }

    /// Sets the whole of the rotation, which AWS takes at once only: what is not declared of it stays
    /// as it is. The first rotation is the first that is due.
    fn rotation(&self, desired: &Bound, actual: &Observed) -> Call {
        if desired.declared("rotation.enabled") == Some(&Value::Bool(false)) {
            return self.call("CancelRotateSecret");
        }
        let mut rules = Map::new();
        let duration = desired.declared("rotation.duration");
        let duration = duration.or_else(|| actual.member("RotationRules.Duration"));
        let declared = [
            ("AutomaticallyAfterDays", desired.declared("rotation.everyDays")),
            ("ScheduleExpression", desired.declared("rotation.schedule")),
            ("Duration", duration),
        ];
        for (member, value) in declared {
            rules.extend(value.map(|value| (member.to_owned(), value.clone())));
        }
        let rotate = self.call("RotateSecret");
        let rotate = rotate.with("RotationRules", rules).with("RotateImmediately", false);
        match desired.declared("rotation.lambdaArn") {
            Some(function) => once(rotate.with("RotationLambdaARN", function.clone()), actual),
            None => once(rotate, actual),
        }
    }

    /// Adds the copies that are missing, and takes away those that are not declared.
    fn copies(&self, desired: &Bound, actual: &Observed) -> Vec<Call> {
        let wanted = desired.declared("replicas").map(texts).unwrap_or_default();
        let there: Vec<&str> =
            replicas(actual).filter_map(|it| it.get("Region")?.as_str()).collect();
        let missing: Vec<&str> =
            wanted.iter().filter(|region| !there.contains(region)).copied().collect();
        let surplus: Vec<&str> =
            there.iter().filter(|region| !wanted.contains(region)).copied().collect();
        let mut calls = Vec::new();
        if !missing.is_empty() {
            let add = self.call("ReplicateSecretToRegions");
            calls.push(add.with("AddReplicaRegions", added(desired, &missing)));
        }
        if !surplus.is_empty() {
            calls.push(self.without_copies(&surplus));
        }
        calls
    }

    fn without_copies(&self, regions: &[&str]) -> Call {
        self.call("RemoveRegionsFromReplication").with("RemoveReplicaRegions", json!(regions))
    }
}

/// Makes the list of copies that AWS takes.
fn added(desired: &Bound, regions: &[&str]) -> Value {
    let keys = desired.declared("replicaKeys").and_then(Value::as_object);
    let copy = |region: &&str| match keys.and_then(|keys| keys.get(*region)) {
        Some(key) => json!({"Region": region, "KmsKeyId": key}),
        None => json!({"Region": region}),
    };
    regions.iter().map(copy).collect()
}

/// Returns the tag of a recovery window that is not AWS's own.
fn recovery_window(days: Option<&Value>) -> Option<(String, Value)> {
    let days = days.map(text).filter(|days| days != DEFAULT_WINDOW)?;
    Some((RECOVERY_WINDOW.to_owned(), days))
}

/// Adds the token by which AWS knows a repeated request: 32 characters, as it asks for, that follow
/// from the request and from when the secret was read.
fn once(call: Call, actual: &Observed) -> Call {
    let seed = format!("{} {}", actual.at, Value::Object(call.params.clone()));
    let token: String = hex::encode(Sha256::digest(seed)).chars().take(32).collect();
    call.with("ClientRequestToken", token)
}

fn is_none(policy: &Value) -> bool {
    policy.is_null() || policy.as_object().is_some_and(Map::is_empty)
}

fn text(value: &Value) -> Value {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned).into()
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}
