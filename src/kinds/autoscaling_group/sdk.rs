//! Calls of Auto Scaling groups to the Query protocol, and its answers to JSON.

use serde_json::Value;

use crate::kinds::sdk::query::{self, Give, Operation, Structure, Take};
use crate::kinds::sdk::{Clients, Failure};
use crate::model::Call;

/// Sends one call of this kind.
pub(crate) async fn send(clients: &Clients, call: &Call) -> Result<Value, Failure> {
    query::ask(&*clients.auto_scaling, OPERATIONS, call).await
}

type Parameters = &'static [(&'static str, &'static str, Take)];

const NAME: (&str, &str, Take) = ("AutoScalingGroupName", "AutoScalingGroupName", Take::Text);

const TARGETS: (&str, &str, Take) = ("TargetGroupARNs", "TargetGroupARNs.member", Take::Texts);

const TAGS: (&str, &str, Take) = (
    "Tags",
    "Tags.member",
    Take::Structures(&Structure {
        name: "Tag",
        parameters: &[
            ("ResourceId", "ResourceId", Take::Text),
            ("ResourceType", "ResourceType", Take::Text),
            ("Key", "Key", Take::Text),
            ("Value", "Value", Take::Text),
            ("PropagateAtLaunch", "PropagateAtLaunch", Take::Flag),
        ],
    }),
);

const TEMPLATE: Take = Take::Structure(&Structure {
    name: "LaunchTemplateSpecification",
    parameters: &[
        ("LaunchTemplateId", "LaunchTemplateId", Take::Text),
        ("Version", "Version", Take::Text),
    ],
});

const fn operation(name: &'static str, parameters: Parameters) -> Operation {
    Operation { name, parameters, members: MEMBERS }
}

const OPERATIONS: &[Operation] = &[
    operation(
        "DescribeAutoScalingGroups",
        &[
            ("AutoScalingGroupNames", "AutoScalingGroupNames.member", Take::Texts),
            ("MaxRecords", "MaxRecords", Take::Number),
            ("NextToken", "NextToken", Take::Text),
        ],
    ),
    operation(
        "CreateAutoScalingGroup",
        &[
            NAME,
            ("LaunchTemplate", "LaunchTemplate", TEMPLATE),
            ("MinSize", "MinSize", Take::Number),
            ("MaxSize", "MaxSize", Take::Number),
            ("DesiredCapacity", "DesiredCapacity", Take::Number),
            ("VPCZoneIdentifier", "VPCZoneIdentifier", Take::Text),
            ("HealthCheckType", "HealthCheckType", Take::Text),
            ("HealthCheckGracePeriod", "HealthCheckGracePeriod", Take::Number),
            ("TerminationPolicies", "TerminationPolicies.member", Take::Texts),
            ("CapacityRebalance", "CapacityRebalance", Take::Flag),
            ("MaxInstanceLifetime", "MaxInstanceLifetime", Take::Number),
            TARGETS,
            TAGS,
        ],
    ),
    operation(
        "UpdateAutoScalingGroup",
        &[
            NAME,
            ("LaunchTemplate", "LaunchTemplate", TEMPLATE),
            ("MinSize", "MinSize", Take::Number),
            ("MaxSize", "MaxSize", Take::Number),
            ("DesiredCapacity", "DesiredCapacity", Take::Number),
            ("VPCZoneIdentifier", "VPCZoneIdentifier", Take::Text),
            ("HealthCheckType", "HealthCheckType", Take::Text),
            ("HealthCheckGracePeriod", "HealthCheckGracePeriod", Take::Number),
            ("TerminationPolicies", "TerminationPolicies.member", Take::Texts),
            ("CapacityRebalance", "CapacityRebalance", Take::Flag),
            ("MaxInstanceLifetime", "MaxInstanceLifetime", Take::Number),
        ],
    ),
    operation("CreateOrUpdateTags", &[TAGS]),
    operation("AttachLoadBalancerTargetGroups", &[NAME, TARGETS]),
    operation("DetachLoadBalancerTargetGroups", &[NAME, TARGETS]),
    operation("DeleteAutoScalingGroup", &[NAME]),
];

/// What every answer of these operations may hold.
const MEMBERS: &[(&str, Give)] = &[
    ("AutoScalingGroups", Give::List("AutoScalingGroups")),
    ("Overrides", Give::List("Overrides")),
    ("Min", Give::Number),
    ("Max", Give::Number),
    ("CpuManufacturers", Give::List("CpuManufacturers")),
    ("ExcludedInstanceTypes", Give::List("ExcludedInstanceTypes")),
    ("InstanceGenerations", Give::List("InstanceGenerations")),
    ("SpotMaxPricePercentageOverLowestPrice", Give::Number),
    ("MaxSpotPriceAsPercentageOfOptimalOnDemandPrice", Give::Number),
    ("OnDemandMaxPricePercentageOverLowestPrice", Give::Number),
    ("RequireHibernateSupport", Give::Flag),
    ("LocalStorageTypes", Give::List("LocalStorageTypes")),
    ("AcceleratorTypes", Give::List("AcceleratorTypes")),
    ("AcceleratorManufacturers", Give::List("AcceleratorManufacturers")),
    ("AcceleratorNames", Give::List("AcceleratorNames")),
    ("AllowedInstanceTypes", Give::List("AllowedInstanceTypes")),
    ("Reference", Give::List("References")),
    ("OnDemandBaseCapacity", Give::Number),
    ("OnDemandPercentageAboveBaseCapacity", Give::Number),
    ("SpotInstancePools", Give::Number),
    ("DistributionSegments", Give::List("DistributionSegments")),
    ("TargetCapacityTypes", Give::List("TargetCapacityTypes")),
    ("MinSize", Give::Number),
    ("MaxSize", Give::Number),
    ("DesiredCapacity", Give::Number),
    ("PredictedCapacity", Give::Number),
    ("DefaultCooldown", Give::Number),
    ("AvailabilityZones", Give::List("AvailabilityZones")),
    ("AvailabilityZoneIds", Give::List("AvailabilityZoneIds")),
    ("LoadBalancerNames", Give::List("LoadBalancerNames")),
    ("TargetGroupARNs", Give::List("TargetGroupARNs")),
    ("HealthCheckGracePeriod", Give::Number),
    ("Instances", Give::List("Instances")),
    ("ProtectedFromScaleIn", Give::Flag),
    ("CreatedTime", Give::Time),
    ("SuspendedProcesses", Give::List("SuspendedProcesses")),
    ("EnabledMetrics", Give::List("EnabledMetrics")),
    ("Tags", Give::List("Tags")),
    ("PropagateAtLaunch", Give::Flag),
    ("TerminationPolicies", Give::List("TerminationPolicies")),
    ("NewInstancesProtectedFromScaleIn", Give::Flag),
    ("MaxInstanceLifetime", Give::Number),
    ("CapacityRebalance", Give::Flag),
    ("MaxGroupPreparedCapacity", Give::Number),
    ("ReuseOnScaleIn", Give::Flag),
    ("WarmPoolSize", Give::Number),
    ("DefaultInstanceWarmup", Give::Number),
    ("TrafficSources", Give::List("TrafficSources")),
    ("MinHealthyPercentage", Give::Number),
    ("MaxHealthyPercentage", Give::Number),
    ("ZonalShiftEnabled", Give::Flag),
    ("CapacityReservationIds", Give::List("CapacityReservationIds")),
    ("CapacityReservationResourceGroupArns", Give::List("CapacityReservationResourceGroupArns")),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kinds::sdk::testing::{Wire, check_answer};

    #[tokio::test]
    async fn full_answers_are_read_as_the_aws_cli_reads_them() {
        check_answer!(super, "autoscaling", "DescribeAutoScalingGroups");
    }

    #[tokio::test]
    async fn a_new_group_is_sent_as_the_query_protocol_asks_for() {
        let wire = Wire::answering("<CreateAutoScalingGroupResponse/>");
        let call = Call::new("autoscaling", "CreateAutoScalingGroup")
            .with("AutoScalingGroupName", "web")
            .with("LaunchTemplate", json!({"LaunchTemplateId": "lt-1", "Version": "$Default"}))
            .with("MinSize", 0)
            .with("CapacityRebalance", false)
            .with("TargetGroupARNs", json!(["arn:1", "arn:2"]))
            .with("Tags", json!([{"Key": "a", "Value": "b", "PropagateAtLaunch": true}]));
        assert_eq!(send(&wire.clients(), &call).await.unwrap(), json!({}));
        assert_eq!(
            wire.last(),
            "Action=CreateAutoScalingGroup&Version=2011-01-01&AutoScalingGroupName=web\
             &CapacityRebalance=false&LaunchTemplate.LaunchTemplateId=lt-1\
             &LaunchTemplate.Version=$Default&MinSize=0&Tags.member.1.Key=a\
             &Tags.member.1.PropagateAtLaunch=true&Tags.member.1.Value=b\
             &TargetGroupARNs.member.1=arn:1&TargetGroupARNs.member.2=arn:2"
        );
    }

    #[tokio::test]
    async fn a_flag_that_is_a_text_is_not_sent() {
        let wire = Wire::answering("");
        let call = Call::new("autoscaling", "UpdateAutoScalingGroup").with("CapacityRebalance", "no");
        let failure = send(&wire.clients(), &call).await.unwrap_err();
        assert!(matches!(failure, Failure::Unsendable { code: "InvalidParameterType", .. }));
        assert_eq!(wire.last(), "");
    }
}
