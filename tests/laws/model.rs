//! A DB instance as AWS keeps it, as far as the laws need: what a call sets, what it queues.

use std::collections::BTreeMap;

use levelset::model::{Call, Observed};
use serde_json::{Map, Value, json};

/// The parameters that AWS queues unless `ApplyImmediately` is sent, and the names of their members.
const QUEUED: [(&str, &str); 12] = [
    ("EngineVersion", "EngineVersion"),
    ("DBInstanceClass", "DBInstanceClass"),
    ("StorageType", "StorageType"),
    ("AllocatedStorage", "AllocatedStorage"),
    ("Iops", "Iops"),
    ("StorageThroughput", "StorageThroughput"),
    ("MultiAZ", "MultiAZ"),
    ("LicenseModel", "LicenseModel"),
    ("EnableIAMDatabaseAuthentication", "IAMDatabaseAuthenticationEnabled"),
    ("CACertificateIdentifier", "CACertificateIdentifier"),
    ("DBPortNumber", "Port"),
    ("BackupRetentionPeriod", "BackupRetentionPeriod"),
];

/// Holds one instance.
#[derive(Debug, Clone)]
pub(crate) struct Instance {
    pub(crate) seen: Observed,
}

impl Instance {
    /// Makes the instance that a creation asks for.
    pub(crate) fn create(call: &Call) -> Self {
        assert_eq!(call.operation, "CreateDBInstance");
        let members = json!({
            "DBInstanceStatus": "available", "PendingModifiedValues": {},
            "PreferredMaintenanceWindow": "sun:05:00-sun:06:00", "PreferredBackupWindow": "02:00-02:30",
            "CACertificateIdentifier": "rds-ca-rsa2048-g1", "AvailabilityZone": "eu-west-1a",
            "DBParameterGroups": [{"DBParameterGroupName": "default.postgres15"}],
            "VpcSecurityGroups": [{"VpcSecurityGroupId": "sg-default", "Status": "active"}],
            "Endpoint": {"Address": "orders.local", "Port": 5432},
        });
        let Value::Object(members) = members else { unreachable!() };
        let seen =
            Observed { members, tags: Some(BTreeMap::new()), at: jiff::Timestamp::UNIX_EPOCH };
        let mut instance = Self { seen };
        for (parameter, value) in &call.params {
            instance.set(parameter, value);
        }
        instance
    }

    /// Carries out a call as AWS accepts it.
    pub(crate) fn accept(&mut self, call: &Call) {
        match &*call.operation {
            "AddTagsToResource" => self.set("Tags", &call.params["Tags"]),
            "ModifyDBInstance" => self.modify(&call.params),
            other => panic!("a database is not changed by {other}"),
        }
    }

    fn modify(&mut self, params: &Map<String, Value>) {
        let now = params.get("ApplyImmediately") == Some(&json!(true));
        for (parameter, value) in params {
            match QUEUED.iter().find(|(queued, _)| queued == parameter) {
                Some((_, member)) if self.is_queued(parameter, value) => {
                    self.queue(parameter, member, value);
                }
                _ => {
                    self.take_back(parameter);
                    self.set(parameter, value);
                }
            }
        }
        if now {
            self.open_window();
        }
    }

    fn take_back(&mut self, parameter: &str) {
        self.seen.members["PendingModifiedValues"].as_object_mut().unwrap().remove(parameter);
    }

    /// Only turning backups on or off is queued.
    fn is_queued(&self, parameter: &str, value: &Value) -> bool {
        let is_off = |value: Option<&Value>| value.and_then(Value::as_u64).unwrap_or(0) == 0;
        parameter != "BackupRetentionPeriod"
            || is_off(self.seen.member(parameter)) != is_off(Some(value))
    }

    /// Queues a value; the current value takes a queued one back.
    fn queue(&mut self, parameter: &str, member: &str, value: &Value) {
        let current = self.current(parameter);
        let value = match (parameter, current.as_ref().and_then(Value::as_u64), value.as_u64()) {
            ("AllocatedStorage" | "Iops", Some(now), Some(wanted)) if wanted > now => {
                json!(wanted.max((now * 11).div_ceil(10)))
            }
            _ => value.clone(),
        };
        let pending = self.seen.members["PendingModifiedValues"].as_object_mut().unwrap();
        if current.as_ref() == Some(&value) {
            pending.remove(member);
        } else {
            pending.insert(member.to_owned(), value);
        }
    }

    fn current(&self, parameter: &str) -> Option<Value> {
        let path = match parameter {
            "DBPortNumber" => "Endpoint.Port",
            "EnableIAMDatabaseAuthentication" => "IAMDatabaseAuthenticationEnabled",
            other => other,
        };
        self.seen.member(path).cloned()
    }

    /// Applies everything that is queued.
    pub(crate) fn open_window(&mut self) {
        let queued =
            std::mem::take(self.seen.members["PendingModifiedValues"].as_object_mut().unwrap());
        for (member, value) in queued {
            self.set(if member == "Port" { "DBPortNumber" } else { &member }, &value);
        }
    }

    fn set(&mut self, parameter: &str, value: &Value) {
        let members = &mut self.seen.members;
        let (member, value) = match parameter {
            "ApplyImmediately" | "AllowMajorVersionUpgrade" => return,
            "Tags" => return self.tag(value),
            "CloudwatchLogsExportConfiguration" => return self.switch_logs(value),
            "DBPortNumber" | "Port" => {
                members["Endpoint"]["Port"] = value.clone();
                return;
            }
            "DBParameterGroupName" => {
                ("DBParameterGroups", json!([{"DBParameterGroupName": lower(value)}]))
            }
            "OptionGroupName" => {
                ("OptionGroupMemberships", json!([{"OptionGroupName": lower(value)}]))
            }
            "DBSubnetGroupName" => ("DBSubnetGroup", json!({"DBSubnetGroupName": lower(value)})),
            "VpcSecurityGroupIds" => ("VpcSecurityGroups", groups(value)),
            "EnableIAMDatabaseAuthentication" => {
                ("IAMDatabaseAuthenticationEnabled", value.clone())
            }
            "EnablePerformanceInsights" => ("PerformanceInsightsEnabled", value.clone()),
            "EnableCloudwatchLogsExports" => ("EnabledCloudwatchLogsExports", value.clone()),
            "ManageMasterUserPassword" => ("MasterUserSecret", json!({"SecretStatus": "active"})),
            "EngineVersion" => ("EngineVersion", full_version(value)),
            other => (other, value.clone()),
        };
        members.insert(member.to_owned(), value);
        self.forget_what_is_off();
    }

    fn tag(&mut self, list: &Value) {
        let text = |tag: &Value, name: &str| tag[name].as_str().unwrap().to_owned();
        let tags =
            list.as_array().unwrap().iter().map(|tag| (text(tag, "Key"), text(tag, "Value")));
        self.seen.tags.as_mut().unwrap().extend(tags);
    }

    fn switch_logs(&mut self, change: &Value) {
        let list = |value: Option<&Value>| -> Vec<Value> {
            value.and_then(Value::as_array).cloned().unwrap_or_default()
        };
        let mut logs = list(self.seen.member("EnabledCloudwatchLogsExports"));
        logs.extend(list(change.get("EnableLogTypes")));
        logs.retain(|log| !list(change.get("DisableLogTypes")).contains(log));
        self.seen.members.insert("EnabledCloudwatchLogsExports".to_owned(), logs.into());
    }

    /// AWS answers no ceiling at or under the size, and no role without an interval.
    fn forget_what_is_off(&mut self) {
        let number = |member: &str| self.seen.member(member).and_then(Value::as_u64);
        if number("MaxAllocatedStorage") <= number("AllocatedStorage") {
            self.seen.members.remove("MaxAllocatedStorage");
        }
    }
}

fn lower(value: &Value) -> Value {
    value.as_str().map(str::to_ascii_lowercase).into()
}

fn groups(ids: &Value) -> Value {
    let ids = ids.as_array().unwrap().iter();
    ids.rev().map(|id| json!({"VpcSecurityGroupId": id, "Status": "active"})).collect()
}

/// Of a major version AWS chooses the minor.
fn full_version(value: &Value) -> Value {
    match value.as_str().unwrap() {
        major if !major.contains('.') => json!(format!("{major}.4")),
        full => json!(full),
    }
}
