//! Every call that the kinds of compute can make is one that their `sdk.rs` files can send.

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::super::{assert_all_sendable, bound, deltas, observed, scope};
    use crate::kinds::{autoscaling_group as group, launch_template as template};
    use crate::model::delta::Timing;
    use crate::model::{Bound, Delta, Input, Kind, Observed};

    /// Returns a template of which everything is declared.
    fn whole_template() -> Bound {
        let (scope, tags) = (scope(), BTreeMap::from([("team".to_owned(), "a".to_owned())]));
        let volume = template::spec::Volume {
            device: None,
            size_gib: Some(20),
            volume_type: Some("gp3"),
            iops: Some(4000),
            throughput: Some(250),
            encrypted: Some(true),
            kms_key: Some("alias/a"),
        };
        let declared = template::spec::Template {
            image: "ami-1",
            instance_type: "t4g.small",
            security_groups: Some(Input::Known(json!(["sg-1"]))),
            instance_profile: Some("web"),
            key_pair: Some("ops"),
            user_data: Some("#!/bin/sh"),
            root_volume: Some(volume),
            http_tokens: Some("required"),
            hop_limit: Some(2),
            http_endpoint: Some("enabled"),
            detailed_monitoring: Some(true),
            tags: Some(&tags),
        };
        let placement = template::spec::Placement {
            scope: &scope,
            name: "orders-web",
            section: "compute.web",
            owner: "a/Workspace/orders",
            adopt: false,
        };
        bound(template::spec::resource(&declared, &placement))
    }

    /// Returns a template of which everything is there that can be handed on.
    fn described_template() -> Observed {
        let devices = json!([{"DeviceName": "/dev/sdf", "VirtualName": "ephemeral0", "NoDevice": "",
            "Ebs": {"SnapshotId": "snap-1", "DeleteOnTermination": true, "EbsCardIndex": 0,
                "VolumeInitializationRate": 100}}]);
        observed(json!({
            "LaunchTemplateId": "lt-1", "VersionNumber": 3, "DefaultVersionNumber": 2,
            "LatestVersionNumber": 3, "IsDefault": false,
            "LaunchTemplateData": {
                "BlockDeviceMappings": devices,
                "MetadataOptions": {"State": "pending", "InstanceMetadataTags": "enabled",
                    "HttpProtocolIpv6": "disabled"},
                "Monitoring": {"MetricCategoryIds": ["a"]},
                "EbsOptimized": true, "DisableApiStop": false, "DisableApiTermination": false,
                "KernelId": "aki-1", "InstanceInitiatedShutdownBehavior": "stop",
                "CreditSpecification": {"CpuCredits": "standard"},
                "EnclaveOptions": {"Enabled": false}, "HibernationOptions": {"Configured": false},
                "MaintenanceOptions": {"AutoRecovery": "default"},
                "TagSpecifications": [{"ResourceType": "volume", "Tags": [{"Key": "a", "Value": "b"}]}],
                "KeyName": "ops", "UserData": "", "IamInstanceProfile": {"Arn": "arn:1"},
            },
        }))
    }

    #[tokio::test]
    async fn every_call_of_a_launch_template_can_be_sent() {
        let kind = &template::KIND;
        let (desired, actual) = (whole_template(), described_template());
        assert_all_sendable(kind, kind.create(&desired)).await;
        let all = deltas(kind, &desired, Timing::Window);
        assert!(all.len() > 15, "{all:?}");
        assert_all_sendable(kind, kind.update(&desired, &actual, &all)).await;
        let key_pair = all.iter().find(|delta| delta.field == "keyPair").unwrap();
        let emptied = Delta { to: json!(""), ..key_pair.clone() };
        let calls = kind.update(&desired, &actual, &[emptied]);
        assert!(!calls[0].params.contains_key("SourceVersion"), "{calls:?}");
        assert!(calls[0].params["LaunchTemplateData"].get("KeyName").is_none(), "{calls:?}");
        assert_all_sendable(kind, calls).await;
        for one in all {
            assert_all_sendable(kind, kind.update(&desired, &actual, &[one])).await;
        }
        assert_all_sendable(kind, kind.own(&desired.id, &actual, "owner")).await;
        assert_all_sendable(kind, kind.delete(&desired.id, &actual, None).calls).await;
    }

    /// Returns a group of which everything is declared.
    fn everything() -> Bound {
        let section = json!({
            "image": "ami-1", "instanceType": "t4g.small", "minSize": 1, "maxSize": 3,
            "desiredCapacity": 2, "subnets": ["subnet-1", "subnet-2"], "targetGroups": ["arn:1"],
            "healthCheck": {"types": ["ELB"], "gracePeriodSeconds": 60},
            "terminationPolicies": ["Default"], "capacityRebalance": false,
            "maxInstanceLifetimeSeconds": 86400, "tags": {"team": "a"}, "propagateTags": true,
        });
        let section: group::spec::Group = serde_json::from_value(section).unwrap();
        let scope = scope();
        let template = template::spec::resource_id(&scope, "orders-web");
        let placement = group::spec::Placement {
            scope: &scope,
            workspace: "orders",
            owner: "a/Workspace/orders",
            template: &template,
            subnets: None,
            adopt: false,
        };
        bound(group::spec::resource("web", &section, &placement))
    }

    #[tokio::test]
    async fn every_call_of_a_group_can_be_sent() {
        let kind = &group::KIND;
        let desired = everything();
        let actual = observed(json!({"MinSize": 1, "TargetGroupARNs": ["arn:2"]}));
        assert_all_sendable(kind, kind.create(&desired)).await;
        let all = deltas(kind, &desired, Timing::Window);
        let names: Vec<String> = kind
            .update(&desired, &actual, &all)
            .iter()
            .map(|call| call.operation.to_string())
            .collect();
        let expected = [
            "AttachLoadBalancerTargetGroups",
            "UpdateAutoScalingGroup",
            "DetachLoadBalancerTargetGroups",
            "CreateOrUpdateTags",
        ];
        assert_eq!(names, expected);
        assert_all_sendable(kind, kind.update(&desired, &actual, &all)).await;
        assert_all_sendable(kind, kind.own(&desired.id, &actual, "owner")).await;
        assert_all_sendable(kind, kind.delete(&desired.id, &actual, None).calls).await;
    }

    #[test]
    fn a_group_waits_for_the_template_of_its_own_owner() {
        let section = json!({"image": "ami-1", "instanceType": "a.b", "minSize": 0, "maxSize": 0});
        let section: group::spec::Group = serde_json::from_value(section).unwrap();
        let scope = scope();
        let template = template::spec::resource_id(&scope, "orders-web");
        let placement = group::spec::Placement {
            scope: &scope,
            workspace: "orders",
            owner: "a/Workspace/orders",
            template: &template,
            subnets: None,
            adopt: false,
        };
        let resource = group::spec::resource("web", &section, &placement);
        let found = |owner: &str| {
            let mut seen = observed(json!({"LaunchTemplateId": "lt-1", "DefaultVersionNumber": 7}));
            let tags = BTreeMap::from([("levelset:owner".to_owned(), owner.to_owned())]);
            seen.tags = Some(tags);
            let value = |field: &str| resource.fields[field].resolve(|_| Some(&seen));
            (value("launchTemplate").ok(), value("templateVersion").ok())
        };
        let ours = (Some(json!("lt-1")), Some(json!(7)));
        assert_eq!(found("a/Workspace/orders"), ours);
        assert_eq!(found("a/Workspace/other"), (None, None));
    }
}
