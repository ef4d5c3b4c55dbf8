//! The checker's own reading of a manifest: what AWS may be told because of it, and what is as
//! declared. It knows nothing of the code that it checks.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::access::role_arn;
use super::spec::{OWNER_TAG, WINDOW, Workspace};
use super::world::ACCOUNTS;

impl Workspace {
    /// Returns what the declared values are in the words of `ModifyDBInstance`.
    pub(super) fn declared(&self, name: &str) -> BTreeMap<&'static str, Value> {
        if !self.database {
            return BTreeMap::new();
        }
        let mut all = BTreeMap::from([
            ("EngineVersion", json!("15")),
            ("DBInstanceClass", json!(self.class)),
            ("DBSubnetGroupName", json!(format!("levelset-{}", self.network))),
        ]);
        let mut put = |parameter, value: Option<Value>| {
            if let Some(value) = value {
                all.insert(parameter, value);
            }
        };
        put("AllocatedStorage", self.size.map(Value::from));
        put("StorageType", self.size.map(|_| json!("gp3")));
        put("BackupRetentionPeriod", self.retention.map(Value::from));
        put("PreferredBackupWindow", self.backup_window.map(Value::from));
        put("PreferredMaintenanceWindow", self.window.then(|| json!(WINDOW)));
        put("PubliclyAccessible", self.public.map(Value::from));
        put("DeletionProtection", self.protection.map(Value::from));
        let group = (!self.parameters.is_empty()).then(|| json!(parameter_group(name)));
        put("DBParameterGroupName", group);
        let role = self.access.role.as_ref();
        put("MonitoringInterval", role.map(|_| json!(60)));
        let (_, account) = ACCOUNTS[usize::from(!self.production)];
        put("MonitoringRoleArn", role.map(|_| json!(role_arn(account, name))));
        all
    }

    /// Tells whether a creation may carry this: declared, or a documented default of a creation.
    pub(super) fn creates_with(&self, name: &str, parameter: &str, value: &Value) -> bool {
        if let Some(declared) = self.declared(name).get(parameter) {
            return declared == value;
        }
        if !self.database {
            return false;
        }
        match parameter {
            "Engine" => value == "postgres",
            "StorageType" => value == "gp3",
            "AllocatedStorage" => value == 20,
            "StorageEncrypted" | "CopyTagsToSnapshot" | "ManageMasterUserPassword" => value == true,
            "BackupRetentionPeriod" => value == 7,
            "DeletionProtection" => *value == self.production,
            "PubliclyAccessible" => value == false,
            "MasterUsername" => value.is_string(),
            "Tags" => self.tags_at_creation(name) == tags_of(value),
            _ => false,
        }
    }

    /// Returns the tags of everything that is made for this workspace alone.
    pub(super) fn tags_at_creation(&self, name: &str) -> BTreeMap<String, String> {
        let mut tags = self.tags.clone().unwrap_or_default();
        tags.insert(OWNER_TAG.to_owned(), format!("levelset/Workspace/{name}"));
        tags
    }
}

/// Returns the name of the parameter group of a workspace's own.
pub(super) fn parameter_group(name: &str) -> String {
    format!("levelset-{name}-postgres15")
}

/// Reads a list of tags.
pub(super) fn tags_of(list: &Value) -> BTreeMap<String, String> {
    let text = |tag: &Value, member: &str| tag[member].as_str().unwrap_or_default().to_owned();
    let tags = list.as_array().into_iter().flatten();
    tags.map(|tag| (text(tag, "Key"), text(tag, "Value"))).collect()
}

/// Returns the value in force of a parameter, from a description of an instance.
pub(super) fn in_force(instance: &Map<String, Value>, parameter: &str) -> Value {
    let found = match parameter {
        "DBParameterGroupName" => Some(&instance["DBParameterGroups"][0]["DBParameterGroupName"]),
        "DBSubnetGroupName" => Some(&instance["DBSubnetGroup"]["DBSubnetGroupName"]),
        "VpcSecurityGroupIds" => {
            let groups = instance["VpcSecurityGroups"].as_array().into_iter().flatten();
            return groups.map(|group| group["VpcSecurityGroupId"].clone()).collect();
        }
        _ => instance.get(parameter),
    };
    found.cloned().unwrap_or_default()
}

/// Tells whether a value is what was declared.
pub(super) fn is_as(parameter: &str, declared: &Value, actual: &Value) -> bool {
    if let ("AllocatedStorage", Some(declared), Some(actual)) =
        (parameter, declared.as_i64(), actual.as_i64())
    {
        // AWS makes growth of less than a tenth a tenth.
        return declared <= actual && actual * 10 <= declared * 11 + 9;
    }
    match (parameter, declared.as_str(), actual.as_str()) {
        ("EngineVersion", Some(declared), Some(actual)) => {
            actual.split('.').next() == Some(declared)
        }
        (_, Some(declared), Some(actual)) => declared.eq_ignore_ascii_case(actual),
        _ => declared == actual,
    }
}
