//! The rules by which objects are moved to other storage classes and deleted.
//!
//! In: the manifest's rules by name. Out: the list of `LifecycleRule` that S3 takes, in the order of
//! their names. What S3 answers is read back by `lifecycle_read`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Declares what happens to objects as they get older. Nothing happens to objects that a rule does
/// not select.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct LifecycleRule {
    /// Whether it is in force. Default `true`.
    #[serde(skip_serializing_if = "Clone::clone")]
    pub enabled: bool,
    /// The beginning of the keys of the objects that are meant. Default: every object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// The tags that an object has to have, all of them. Default: none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
    /// The size in bytes that an object has to be larger than. Default: any; S3 moves nothing smaller
    /// than 128 KiB unless this is said, `0` too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub larger_than_bytes: Option<u64>,
    /// The size in bytes that an object has to be smaller than. Default: any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smaller_than_bytes: Option<u64>,
    /// After how many days objects are deleted; of a bucket with versions, the current version gets a
    /// delete marker. Default: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub expire_after_days: Option<u32>,
    /// From which day on objects are deleted, in the place of `expireAfterDays`. Default: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"2027-06-30")]
    pub expire_on: Option<String>,
    /// Whether delete markers are deleted that no version stands behind. It goes with neither
    /// `expireAfterDays` nor `expireOn`. Default `false`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub expire_delete_markers: bool,
    /// When objects move to other storage classes. Default: never.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub transitions: Vec<Transition>,
    /// What happens to versions that are not the current one. Default: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noncurrent: Option<Noncurrent>,
    /// After how many days the parts of an upload that was not completed are deleted. Default: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub abort_uploads_after_days: Option<u32>,
}

impl Default for LifecycleRule {
    fn default() -> Self {
        Self {
            enabled: true,
            prefix: None,
            tags: BTreeMap::new(),
            larger_than_bytes: None,
            smaller_than_bytes: None,
            expire_after_days: None,
            expire_on: None,
            expire_delete_markers: false,
            transitions: Vec::new(),
            noncurrent: None,
            abort_uploads_after_days: None,
        }
    }
}

/// Says when objects move to another storage class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Transition {
    /// After how many days. Default: at once, unless `on` is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_days: Option<u32>,
    /// From which day on, in the place of `afterDays`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"2027-06-30")]
    pub on: Option<String>,
    /// The storage class.
    pub storage_class: StorageClass,
}

/// Names a storage class that objects move to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names are S3's")]
pub enum StorageClass {
    StandardIa,
    OnezoneIa,
    IntelligentTiering,
    GlacierIr,
    Glacier,
    DeepArchive,
}

/// Says what happens to versions that are not the current one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Noncurrent {
    /// After how many days they are deleted. Default: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub expire_after_days: Option<u32>,
    /// How many of the newest of them are kept, 1 to 100. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub keep_newest: Option<u32>,
    /// When they move to other storage classes. Default: never.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub transitions: Vec<NoncurrentTransition>,
}

/// Says when versions that are not the current one move to another storage class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NoncurrentTransition {
    /// After how many days.
    pub after_days: u32,
    /// How many of the newest of them stay, 1 to 100. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub keep_newest: Option<u32>,
    /// The storage class.
    pub storage_class: StorageClass,
}

/// Writes rules as S3 takes them.
pub(super) fn rules(rules: &BTreeMap<String, LifecycleRule>) -> Value {
    rules.iter().map(|(id, rule)| Value::Object(rule.written(id))).collect()
}

/// Keeps the members that have a value.
fn members<const N: usize>(all: [(&str, Option<Value>); N]) -> Map<String, Value> {
    all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Returns a structure unless nothing is in it.
fn some(members: Map<String, Value>) -> Option<Value> {
    (!members.is_empty()).then_some(Value::Object(members))
}

fn list<T>(items: &[T], write: impl Fn(&T) -> Value) -> Option<Value> {
    (!items.is_empty()).then(|| items.iter().map(write).collect())
}

impl LifecycleRule {
    fn written(&self, id: &str) -> Map<String, Value> {
        let status = if self.enabled { "Enabled" } else { "Disabled" };
        let expiration = members([
            ("Days", self.expire_after_days.map(Value::from)),
            ("Date", self.expire_on.as_deref().map(midnight)),
            ("ExpiredObjectDeleteMarker", self.expire_delete_markers.then_some(true.into())),
        ]);
        let noncurrent = self.noncurrent.clone().unwrap_or_default();
        let noncurrent_expiration = members([
            ("NoncurrentDays", noncurrent.expire_after_days.map(Value::from)),
            ("NewerNoncurrentVersions", noncurrent.keep_newest.map(Value::from)),
        ]);
        let abort = self.abort_uploads_after_days;
        members([
            ("ID", Some(id.into())),
            ("Status", Some(status.into())),
            ("Filter", Some(self.filter())),
            ("Expiration", some(expiration)),
            ("Transitions", list(&self.transitions, Transition::written)),
            ("NoncurrentVersionExpiration", some(noncurrent_expiration)),
            (
                "NoncurrentVersionTransitions",
                list(&noncurrent.transitions, NoncurrentTransition::written),
            ),
            (
                "AbortIncompleteMultipartUpload",
                abort.map(|days| json!({ "DaysAfterInitiation": days })),
            ),
        ])
    }

    /// Writes the conditions: one stands by itself, several under `And`.
    fn filter(&self) -> Value {
        let tag = |(key, value): (&String, &String)| json!({"Key": key, "Value": value});
        let tags: Vec<Value> = self.tags.iter().map(tag).collect();
        let mut conditions = members([
            ("Prefix", self.prefix.as_deref().filter(|it| !it.is_empty()).map(Value::from)),
            ("ObjectSizeGreaterThan", self.larger_than_bytes.map(Value::from)),
            ("ObjectSizeLessThan", self.smaller_than_bytes.map(Value::from)),
        ]);
        match (conditions.len() + tags.len(), tags.as_slice()) {
            (0, _) => json!({"Prefix": ""}),
            (1, [tag]) => json!({ "Tag": tag }),
            (1, _) => Value::Object(conditions),
            (_, tags) => {
                conditions.extend(list(tags, Clone::clone).map(|tags| ("Tags".to_owned(), tags)));
                json!({ "And": conditions })
            }
        }
    }
}

impl Transition {
    fn written(&self) -> Value {
        let days = match (self.after_days, &self.on) {
            (None, None) => Some(0),
            (days, _) => days,
        };
        Value::Object(members([
            ("Days", days.map(Value::from)),
            ("Date", self.on.as_deref().map(midnight)),
            ("StorageClass", Some(json!(self.storage_class))),
        ]))
    }
}

impl NoncurrentTransition {
    fn written(&self) -> Value {
        Value::Object(members([
            ("NoncurrentDays", Some(self.after_days.into())),
            ("NewerNoncurrentVersions", self.keep_newest.map(Value::from)),
            ("StorageClass", Some(json!(self.storage_class))),
        ]))
    }
}

/// Writes a day as S3 takes it: the time is always midnight in UTC.
fn midnight(day: &str) -> Value {
    format!("{day}T00:00:00Z").into()
}
