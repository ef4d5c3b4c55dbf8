//! The types that are modelled, with as much of their schemas as says how they behave.

use serde_json::{Map, Value, json};

use crate::model::Scope;

/// Is one type.
#[derive(Debug)]
pub(super) struct Type {
    pub(super) name: &'static str,
    /// The property that identifies a resource.
    primary: &'static str,
    /// What the identifier is made of where AWS assigns it; without one it is a number.
    named_by: Option<&'static str>,
    read_only: &'static [&'static str],
    create_only: &'static [&'static str],
    write_only: &'static [&'static str],
    /// Lists whose order means nothing.
    sets: &'static [&'static str],
    tags: Tags,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tags {
    None,
    List,
    Map,
}

const TYPES: &[Type] = &[
    Type {
        name: "AWS::SQS::Queue",
        primary: "QueueUrl",
        named_by: Some("QueueName"),
        read_only: &["QueueUrl", "Arn"],
        create_only: &["QueueName", "FifoQueue"],
        write_only: &[],
        sets: &[],
        tags: Tags::List,
    },
    Type {
        name: "AWS::Logs::LogGroup",
        primary: "LogGroupName",
        named_by: None,
        read_only: &["Arn"],
        create_only: &["LogGroupName"],
        write_only: &[],
        sets: &[],
        tags: Tags::List,
    },
    Type {
        name: "AWS::SSM::Parameter",
        primary: "Name",
        named_by: None,
        read_only: &[],
        create_only: &["Name"],
        write_only: &["AllowedPattern"],
        sets: &[],
        tags: Tags::Map,
    },
    Type {
        name: "AWS::CloudWatch::Dashboard",
        primary: "DashboardName",
        named_by: None,
        read_only: &[],
        create_only: &["DashboardName"],
        write_only: &[],
        sets: &[],
        tags: Tags::None,
    },
    Type {
        name: "AWS::KMS::Key",
        primary: "KeyId",
        named_by: None,
        read_only: &["KeyId", "Arn"],
        create_only: &[],
        write_only: &["PendingWindowInDays"],
        sets: &["Regions"],
        tags: Tags::List,
    },
];

/// Finds a type.
pub(super) fn find(name: &str) -> Option<&'static Type> {
    TYPES.iter().find(|known| known.name == name)
}

impl Type {
    /// Tells whether a property is never shown.
    pub(super) fn hides(&self, property: &str) -> bool {
        self.write_only.contains(&property)
    }

    /// Returns the identifier and the properties of a new resource.
    pub(super) fn made(
        &self,
        desired: &Map<String, Value>,
        scope: &Scope,
        number: usize,
    ) -> (String, Map<String, Value>) {
        let text = |name: &str| desired.get(name).and_then(Value::as_str).map(str::to_owned);
        let is_assigned = self.read_only.contains(&self.primary);
        let identifier = match (is_assigned, self.named_by) {
            (false, _) => text(self.primary).unwrap_or_default(),
            (true, Some(by)) => {
                let name = text(by).unwrap_or_else(|| format!("unnamed-{number}"));
                format!("https://sqs.{}.amazonaws.com/{}/{name}", scope.region, scope.account)
            }
            (true, None) => format!("00000000-0000-0000-0000-{number:012}"),
        };
        let mut properties = desired.clone();
        properties.insert(self.primary.to_owned(), identifier.as_str().into());
        if self.read_only.contains(&"Arn") {
            let service = self.name.split("::").nth(1).unwrap_or_default().to_lowercase();
            let tail = identifier.rsplit('/').next().unwrap_or_default();
            let (region, account) = (&scope.region, &scope.account);
            let arn = format!("arn:aws:{service}:{region}:{account}:{tail}");
            properties.insert("Arn".to_owned(), arn.into());
        }
        (identifier, properties)
    }

    /// Returns what the service has against the properties of a new resource.
    pub(super) fn objection(&self, desired: &Map<String, Value>) -> Option<String> {
        let set = self.read_only.iter().find(|name| desired.contains_key(**name));
        set.map(|name| format!("Encountered unsupported property {name}: it is read-only"))
    }

    /// Says which property a change must not touch.
    pub(super) fn fixed(
        &self,
        before: &Map<String, Value>,
        after: &Map<String, Value>,
    ) -> Option<String> {
        let fixed = self.create_only.iter().chain(self.read_only);
        let changed = fixed.into_iter().find(|name| before.get(**name) != after.get(**name));
        changed.map(|name| format!("{name} cannot be updated"))
    }

    /// Returns the schema.
    pub(super) fn schema(&self) -> Value {
        let pointers = |names: &[&str]| -> Vec<String> {
            names.iter().map(|name| format!("/properties/{name}")).collect()
        };
        let mut properties = Map::new();
        let text = json!({"type": "string"});
        let named = [self.read_only, self.create_only, self.write_only].concat();
        for name in named.into_iter().chain([self.primary]) {
            properties.insert(name.to_owned(), text.clone());
        }
        for name in self.sets {
            let list = json!({"type": "array", "insertionOrder": false, "items": text});
            properties.insert((*name).to_owned(), list);
        }
        match self.tags {
            Tags::None => {}
            Tags::List => {
                let list =
                    json!({"type": "array", "uniqueItems": true, "items": {"type": "object"}});
                properties.insert("Tags".to_owned(), list);
            }
            Tags::Map => drop(properties.insert("Tags".to_owned(), json!({"type": "object"}))),
        }
        json!({
            "typeName": self.name,
            "properties": properties,
            "primaryIdentifier": pointers(&[self.primary]),
            "readOnlyProperties": pointers(self.read_only),
            "createOnlyProperties": pointers(self.create_only),
            "writeOnlyProperties": pointers(self.write_only),
            "tagging": {"taggable": self.tags != Tags::None, "tagProperty": "/properties/Tags"},
        })
    }
}
