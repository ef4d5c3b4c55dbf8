//! What the sandbox holds of secrets, now and as the list still shows them.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use super::{Args, Refusal};

/// How far the list lags behind ("ListSecrets might not reflect changes from the last five minutes").
const LAG: SignedDuration = SignedDuration::from_mins(5);

/// Holds secrets by name, and how they were before the last writes.
#[derive(Debug, Default)]
pub(in crate::sandbox) struct State {
    pub(super) secrets: BTreeMap<String, Secret>,
    /// How the secrets were after each write of the last minutes, and once before.
    past: Vec<(Timestamp, BTreeMap<String, Secret>)>,
}

/// Holds one secret, save for its value.
#[derive(Debug, Clone, Default)]
pub(super) struct Secret {
    /// What AWS answers of it whoever asks.
    pub(super) members: Map<String, Value>,
    pub(super) tags: BTreeMap<String, String>,
    pub(super) replicas: Vec<Value>,
    pub(super) policy: Option<String>,
    pub(super) token: Option<String>,
    pub(super) has_value: bool,
    /// When its recovery window is over.
    pub(super) ends: Option<Timestamp>,
}

impl Secret {
    fn describe(&self) -> Value {
        let mut members = self.members.clone();
        let tags = self.tags.iter().map(|(key, value)| json!({"Key": key, "Value": value}));
        members.insert("Tags".to_owned(), tags.collect());
        if let Some(ends) = self.ends {
            members.insert("DeletedDate".to_owned(), ends.to_string().into());
        }
        Value::Object(members)
    }

    pub(super) fn in_list(&self) -> Value {
        self.with_versions("SecretVersionsToStages", self.describe())
    }

    pub(super) fn by_name(&self) -> Value {
        let mut described = self.with_versions("VersionIdsToStages", self.describe());
        if !self.replicas.is_empty() {
            described["ReplicationStatus"] = json!(self.replicas);
        }
        described
    }

    fn with_versions(&self, member: &str, mut described: Value) -> Value {
        if self.has_value {
            let version = self.token.as_deref().unwrap_or("first");
            described[member] = json!({ version: ["AWSCURRENT"] });
        }
        described
    }

    pub(super) fn set(&mut self, member: &str, value: impl Into<Value>) {
        self.members.insert(member.to_owned(), value.into());
    }

    pub(super) fn arn(&self) -> &str {
        self.members.get("ARN").and_then(Value::as_str).unwrap_or_default()
    }
}

impl State {
    /// Forgets secrets whose recovery window is over.
    pub(in crate::sandbox) fn advance(&mut self, now: Timestamp) {
        let before = self.secrets.len();
        self.secrets.retain(|_, secret| secret.ends.is_none_or(|ends| ends > now));
        if self.secrets.len() != before {
            self.note(now);
        }
    }

    /// Describes every secret as it is now.
    pub(in crate::sandbox) fn all(&self) -> impl Iterator<Item = (String, Value)> {
        self.secrets.iter().map(|(name, secret)| {
            let mut described = secret.by_name();
            described["ResourcePolicy"] = json!(secret.policy);
            (name.clone(), described)
        })
    }

    /// Lets a service own a secret.
    pub(in crate::sandbox) fn hand_over(
        &mut self,
        name: &str,
        service: &str,
        now: Timestamp,
    ) -> bool {
        let found = self.secrets.get_mut(name);
        let is_there = found.map(|secret| secret.set("OwningService", service)).is_some();
        self.note(now);
        is_there
    }

    /// Remembers how the secrets are now, for the list.
    pub(super) fn note(&mut self, now: Timestamp) {
        self.past.push((now, self.secrets.clone()));
        let is_shown = |(at, _): &(Timestamp, _)| now.duration_since(*at) >= LAG;
        if let Some(last) = self.past.iter().rposition(is_shown) {
            self.past.drain(..last);
        }
    }

    pub(super) fn listed(&self, now: Timestamp) -> impl Iterator<Item = (&str, &Secret)> {
        let is_shown = |(at, _): &&(Timestamp, _)| now.duration_since(*at) >= LAG;
        let shown = self.past.iter().rev().find(is_shown);
        shown.into_iter().flat_map(|(_, all)| all.iter().map(|(name, it)| (name.as_str(), it)))
    }

    pub(super) fn found(&mut self, args: Args<'_>) -> Result<&mut Secret, Refusal> {
        let id = args.required("SecretId")?;
        let is_it = |(name, secret): &(&String, &mut Secret)| *name == id || secret.arn() == id;
        let found = self.secrets.iter_mut().find(is_it);
        found.map(|(_, secret)| secret).ok_or_else(|| {
            let text = "Secrets Manager can't find the specified secret.";
            Refusal::new("ResourceNotFoundException", text)
        })
    }

    /// Finds a secret whose deletion is not scheduled.
    pub(super) fn usable(&mut self, args: Args<'_>) -> Result<&mut Secret, Refusal> {
        let secret = self.found(args)?;
        match secret.ends {
            None => Ok(secret),
            Some(_) => Err(super::state(
                "You can't perform this operation on the secret because it was marked for deletion.",
            )),
        }
    }
}
