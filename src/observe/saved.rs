//! Saved AWS CLI answers in the place of the cloud: `plan --observed FILE`.
//!
//! The file is one JSON object: `{"DBInstances": [...], "Vpcs": [...], ...}`. A list that is there
//! and lacks a resource means absent; a list that is missing means unknown. It answers reads only.
//!
//! What AWS answers one by one stands in the item of the list that it belongs to: `Parameters` in a
//! group, `TagList`, in an item of `Vpcs` the `EnableDnsSupport` and `EnableDnsHostnames` of
//! `describe-vpc-attribute` (`{"Value": true}`), and in an item of `SecretList` the `ReplicationStatus` of
//! `describe-secret` and the
//! `ResourcePolicy` of `get-resource-policy` (`null` for none). An item of `Buckets` holds the members of
//! `get-bucket-tagging` (`TagSet`), `get-bucket-versioning` (`Status`), `get-bucket-encryption`,
//! `get-public-access-block`, `get-bucket-ownership-controls`, `get-bucket-lifecycle-configuration`
//! (`Rules`) and `get-bucket-policy` (`Policy`), as far as the manifest declares them.
//!
//! The record sets of several hosted zones are told apart by the zones' ids:
//! `{"ResourceRecordSets": {"Z1": [...], "Z2": [...]}}`; a list is that of the only zone in
//! `HostedZones`.

mod buckets;
mod zones;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::model::cloud::CallFuture;
use crate::model::{Call, CallError, Cloud, ErrorClass, Kind, Target};

/// The code of the error that says that a list is not in the file.
pub const NOT_RECORDED: &str = "NotRecorded";

/// The members that say whether a list goes on.
const PAGING: [&str; 3] = ["NextToken", "Marker", "IsTruncated"];

/// The parameter that asks a list for what is in a region, and the member that says so.
const REGION: &str = "BucketRegion";

/// Holds saved answers.
#[derive(Debug, Clone)]
pub struct Saved {
    answers: Map<String, Value>,
    /// Which list an operation answers.
    lists: BTreeMap<&'static str, &'static str>,
}

/// Says why a file does not hold saved answers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SavedError {
    /// It is not JSON.
    #[error("the saved answers are not JSON: {0}")]
    Syntax(String),
    /// It is JSON of another shape.
    #[error("the saved answers must be one object of lists, as the AWS CLI prints them; {0}")]
    Shape(String),
}

impl Saved {
    /// Reads saved answers; `kinds` say which operation answers which list.
    ///
    /// # Errors
    ///
    /// [`SavedError`] when the text is not one JSON object whose members are lists of objects.
    pub fn parse(text: &str, kinds: &[&'static dyn Kind]) -> Result<Self, SavedError> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| SavedError::Syntax(error.to_string()))?;
        let Value::Object(answers) = value else {
            return Err(SavedError::Shape("this is no object".to_owned()));
        };
        for (name, value) in &answers {
            let is_list = is_list(value) || (name == zones::CONTENT && zones::are_lists(value));
            if !is_list && !PAGING.contains(&name.as_str()) {
                return Err(SavedError::Shape(format!("{name} is no list of objects")));
            }
        }
        for name in PAGING {
            let is_set = |value: &Value| !value.is_null() && *value != Value::Bool(false);
            if answers.get(name).is_some_and(is_set) {
                let text = format!("{name} is set, so a page is missing");
                return Err(SavedError::Shape(text));
            }
        }
        zones::check(&answers).map_err(SavedError::Shape)?;
        let lists: BTreeMap<_, _> = kinds
            .iter()
            .flat_map(|kind| kind.lists())
            .map(|list| (list.operation, list.answer))
            .collect();
        match lists.values().find_map(|list| Some((list, misspelt(list, &answers)?))) {
            Some((list, name)) => Err(SavedError::Shape(format!("{name} looks like {list}"))),
            None => Ok(Self { answers, lists }),
        }
    }

    fn answer(&self, call: &Call) -> Result<Value, CallError> {
        if let Some(list) = self.lists.get(&*call.operation) {
            let items = self.list(list, call)?;
            let is_meant =
                |item: &&Value| matches(item, call) && has_tags(item, call) && is_here(item, call);
            let kept: Vec<&Value> = items.iter().filter(is_meant).collect();
            if kept.is_empty() && names(call).next().is_some() {
                return Err(not_found(call));
            }
            return Ok(json!({ (*list): kept }));
        }
        if let Some(part) = self.part_of_bucket(call) {
            return part;
        }
        match &*call.operation {
            "ListTagsForResource" => self.tags(call),
            "DescribeDBParameters" => self.parameters("DBParameterGroups", call),
            "DescribeDBClusterParameters" => self.parameters("DBClusterParameterGroups", call),
            "GetRole" => self.role(call),
            "DescribeVpcAttribute" => self.vpc_attribute(call),
            "DescribeSecret" => self.secret(call),
            "GetResourcePolicy" => self.resource_policy(call),
            "GetResource" => self.resource(call),
            "ListResourceRecordSets" => self.record_sets(call),
            "DescribeType" => self.with_name("Types", call, &["TypeName"]),
            "GetResourceRequestStatus" => self.request(call),
            _ => Err(not_recorded(call, &call.operation)),
        }
    }

    fn list(&self, name: &str, call: &Call) -> Result<&Vec<Value>, CallError> {
        self.answers.get(name).and_then(Value::as_array).ok_or_else(|| not_recorded(call, name))
    }

    /// A resource's tags: the `TagList` that the saved item holds, or none.
    fn tags(&self, call: &Call) -> Result<Value, CallError> {
        let arn = call.params.get("ResourceName");
        let item = self.answers.values().filter_map(Value::as_array).flatten().find(|item| {
            members(item).any(|(name, value)| name.ends_with("Arn") && Some(value) == arn)
        });
        match item.and_then(|item| item.get("TagList")) {
            Some(tags) => Ok(json!({ "TagList": tags })),
            None => Err(not_recorded(call, "TagList of this resource")),
        }
    }

    /// One role, which exists if either of the lists that describe roles holds it.
    fn role(&self, call: &Call) -> Result<Value, CallError> {
        let lists = [self.list("RoleDetailList", call)?, self.list("Roles", call)?];
        let role = lists.into_iter().flatten().find(|item| matches(item, call));
        role.map(|role| json!({ "Role": role })).ok_or_else(|| not_found(call))
    }

    /// An attribute of a VPC: the `EnableDnsSupport` or `EnableDnsHostnames` that its item holds.
    fn vpc_attribute(&self, call: &Call) -> Result<Value, CallError> {
        let vpc = self.with_name("Vpcs", call, &["VpcId"])?;
        let member = match call.text("Attribute") {
            Some("enableDnsSupport") => "EnableDnsSupport",
            _ => "EnableDnsHostnames",
        };
        match vpc.get(member) {
            Some(value) => Ok(json!({ (member): value })),
            None => Err(not_recorded(call, &format!("{member} of this VPC"))),
        }
    }

    /// One secret: an item of `SecretList`, as the list or the read of its name prints it.
    fn secret(&self, call: &Call) -> Result<Value, CallError> {
        let id = call.params.get("SecretId");
        let is_it = |item: &&Value| ["Name", "ARN"].iter().any(|name| item.get(name) == id);
        let item = self.list("SecretList", call)?.iter().find(is_it);
        item.cloned().ok_or_else(|| not_found(call))
    }

    /// The policy of a secret: the `ResourcePolicy` that its item holds; `null` says that it has none.
    fn resource_policy(&self, call: &Call) -> Result<Value, CallError> {
        let secret = self.secret(call)?;
        match secret.get("ResourcePolicy") {
            Some(policy) => Ok(json!({ "ResourcePolicy": policy })),
            None => Err(not_recorded(call, "ResourcePolicy of this secret")),
        }
    }

    /// One resource of the Cloud Control API: an item of `ResourceDescriptions` that holds its type.
    fn resource(&self, call: &Call) -> Result<Value, CallError> {
        let names = ["TypeName", "Identifier"];
        let item = self.with_name("ResourceDescriptions", call, &names)?;
        Ok(json!({"TypeName": item.get("TypeName"), "ResourceDescription": item}))
    }

    fn request(&self, call: &Call) -> Result<Value, CallError> {
        let event = self.with_name("ResourceRequestStatusSummaries", call, &["RequestToken"])?;
        Ok(json!({ "ProgressEvent": event }))
    }

    /// Returns the item of a list that has the parameters of a call.
    fn with_name(&self, list: &str, call: &Call, names: &[&str]) -> Result<Value, CallError> {
        let is_it =
            |item: &&Value| names.iter().all(|name| item.get(name) == call.params.get(*name));
        let item = self.list(list, call)?.iter().find(is_it);
        item.cloned().ok_or_else(|| not_found(call))
    }

    /// A group's parameters: the `Parameters` that the saved group holds.
    fn parameters(&self, groups: &str, call: &Call) -> Result<Value, CallError> {
        let groups = self.list(groups, call)?;
        let group = groups.iter().find(|group| matches(group, call));
        match group.and_then(|group| group.get("Parameters")) {
            Some(parameters) => Ok(json!({ "Parameters": parameters })),
            None => Err(not_recorded(call, "Parameters of this group")),
        }
    }
}

impl Cloud for Saved {
    fn call<'a>(&'a self, _target: &'a Target, call: &'a Call) -> CallFuture<'a> {
        Box::pin(std::future::ready(self.answer(call)))
    }
}

fn is_list(value: &Value) -> bool {
    value.as_array().is_some_and(|list| list.iter().all(Value::is_object))
}

/// Returns the name of a list that is missing and stands there in another spelling.
fn misspelt<'a>(list: &str, answers: &'a Map<String, Value>) -> Option<&'a String> {
    let fold = |name: &str| name.to_ascii_lowercase().replace(['_', '-'], "");
    let is_like = |name: &str| strsim::damerau_levenshtein(&fold(name), &fold(list)) <= 1;
    let missing = !answers.contains_key(list);
    answers.keys().find(|name| missing && is_like(name))
}

/// Lists the names that a call asks for; paging parameters aside.
fn names(call: &Call) -> impl Iterator<Item = (&String, &Value)> {
    let paging = ["Marker", "NextToken", "ContinuationToken", REGION];
    call.params
        .iter()
        .filter(move |(name, value)| value.is_string() && !paging.contains(&name.as_str()))
}

/// Tells whether an item has every name that the call asks for.
fn matches(item: &Value, call: &Call) -> bool {
    names(call).all(|(name, value)| item.get(name).is_none_or(|there| same_name(there, value)))
}

/// Tells whether an item is in the region that a list is asked for; one that does not say where it is, is.
fn is_here(item: &Value, call: &Call) -> bool {
    let asked = call.params.get(REGION);
    asked.is_none_or(|asked| item.get(REGION).is_none_or(|there| there == asked))
}

/// Tells whether an item has every tag that a search names.
fn has_tags(item: &Value, call: &Call) -> bool {
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let tags = list(item.get("Tags"));
    list(call.params.get("Filters")).iter().all(|filter| {
        let name = filter.get("Name").and_then(Value::as_str);
        let Some(key) = name.and_then(|name| name.strip_prefix("tag:")) else { return true };
        let values = list(filter.get("Values"));
        let is_it = |tag: &Value| tag.get("Key").and_then(Value::as_str) == Some(key);
        tags.iter().any(|tag| is_it(tag) && tag.get("Value").is_some_and(|it| values.contains(it)))
    })
}

fn same_name(there: &Value, asked: &Value) -> bool {
    match (there.as_str(), asked.as_str()) {
        (Some(there), Some(asked)) => there.eq_ignore_ascii_case(asked),
        _ => there == asked,
    }
}

fn members(item: &Value) -> impl Iterator<Item = (&String, &Value)> {
    item.as_object().into_iter().flatten()
}

/// A complete list lacks the name that the call asks for, which AWS answers so.
fn not_found(call: &Call) -> CallError {
    CallError {
        class: ErrorClass::NotFound,
        operation: call.operation.to_string(),
        code: "NotFound".to_owned(),
        message: "the saved list does not hold it".to_owned(),
    }
}

fn not_recorded(call: &Call, list: &str) -> CallError {
    CallError {
        class: ErrorClass::Denied,
        operation: call.operation.to_string(),
        code: NOT_RECORDED.to_owned(),
        message: list.to_owned(),
    }
}
