//! One Auto Scaling group: its settings, its instances, and what it does by itself.
//!
//! The number of instances follows the desired capacity over time: an instance takes a while to come
//! up and a while to go. A process that is suspended does nothing, and an instance that is protected
//! from scale-in stays.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use rand::rngs::StdRng;
use serde_json::{Map, Value, json};

use crate::sandbox::ec2::{self, Template};

/// How long an instance takes to come into service, and to go.
const STARTS_IN: SignedDuration = SignedDuration::from_secs(60);
const GOES_IN: SignedDuration = SignedDuration::from_secs(90);

/// Is one group.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// What was set, under the API's names.
    pub(super) settings: Map<String, Value>,
    pub(super) tags: BTreeMap<String, (String, bool)>,
    pub(super) targets: Vec<String>,
    pub(super) suspended: Vec<String>,
    pub(super) instances: BTreeMap<String, Instance>,
    pub(super) zones: Vec<String>,
    pub(super) created: Timestamp,
    /// True from a deletion by force on.
    pub(super) is_leaving: bool,
}

/// Is one instance.
#[derive(Debug, Clone)]
pub(super) struct Instance {
    state: State,
    template: (String, u64),
    instance_type: Value,
    security_groups: Vec<String>,
    pub(super) is_protected: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Pending(Timestamp),
    InService,
    Terminating(Timestamp),
}

impl State {
    fn name(self) -> &'static str {
        match self {
            Self::Pending(_) => "Pending",
            Self::InService => "InService",
            Self::Terminating(_) => "Terminating",
        }
    }
}

impl Group {
    pub(super) fn number(&self, member: &str) -> i64 {
        self.settings.get(member).and_then(Value::as_i64).unwrap_or_default()
    }

    /// Tells whether an instance is on its way up or down.
    pub(super) fn is_busy(&self) -> bool {
        self.instances.values().any(|instance| instance.state != State::InService)
    }

    pub(super) fn is_in_group(&self, id: &str) -> bool {
        self.instances.values().any(|instance| instance.security_groups.iter().any(|it| it == id))
    }

    /// Brings the instances up to a time.
    pub(super) fn advance(
        &mut self,
        now: Timestamp,
        templates: &BTreeMap<String, Template>,
        random: &mut StdRng,
    ) {
        let is_over = |since: Timestamp, lasts| now.duration_since(since) >= lasts;
        self.instances.retain(
            |_, it| !matches!(it.state, State::Terminating(since) if is_over(since, GOES_IN)),
        );
        for instance in self.instances.values_mut() {
            if matches!(instance.state, State::Pending(since) if is_over(since, STARTS_IN)) {
                instance.state = State::InService;
            }
        }
        let wanted = if self.is_leaving { 0 } else { self.number("DesiredCapacity") };
        let wanted = usize::try_from(wanted).unwrap_or_default();
        self.scale_in(now, wanted);
        self.scale_out(now, wanted, templates, random);
    }

    fn is_suspended(&self, process: &str) -> bool {
        !self.is_leaving && self.suspended.iter().any(|it| it == process)
    }

    fn living(&self) -> usize {
        let leaves = |it: &&Instance| matches!(it.state, State::Terminating(_));
        self.instances.values().filter(|it| !leaves(it)).count()
    }

    fn scale_in(&mut self, now: Timestamp, wanted: usize) {
        let mut surplus = self.living().saturating_sub(wanted);
        if self.is_suspended("Terminate") {
            return;
        }
        let is_forced = self.is_leaving;
        for instance in self.instances.values_mut() {
            let may_go = !instance.is_protected || is_forced;
            if surplus > 0 && may_go && !matches!(instance.state, State::Terminating(_)) {
                instance.state = State::Terminating(now);
                surplus -= 1;
            }
        }
    }

    fn scale_out(
        &mut self,
        now: Timestamp,
        wanted: usize,
        templates: &BTreeMap<String, Template>,
        random: &mut StdRng,
    ) {
        let text = |member: &str| self.settings["LaunchTemplate"][member].as_str();
        let (id, version) = (text("LaunchTemplateId"), text("Version").unwrap_or("$Default"));
        let Some((id, template)) = id.and_then(|id| templates.get_key_value(id)) else { return };
        let Some(number) = template.number(version) else { return };
        if self.is_suspended("Launch") {
            return;
        }
        let data = template.data(number);
        let groups = data.get("SecurityGroupIds").and_then(Value::as_array).into_iter().flatten();
        let instance = Instance {
            state: State::Pending(now),
            template: (id.clone(), number),
            instance_type: data.get("InstanceType").cloned().unwrap_or_default(),
            security_groups: groups.filter_map(Value::as_str).map(str::to_owned).collect(),
            is_protected: false,
        };
        for _ in self.living()..wanted {
            self.instances.insert(ec2::id(random, "i"), instance.clone());
        }
    }

    /// Describes the group as AWS does.
    pub(super) fn describe(
        &self,
        name: &str,
        arn: &str,
        templates: &BTreeMap<String, Template>,
    ) -> Value {
        let mut described = self.settings.clone();
        let tag = |(key, (value, propagates)): (&String, &(String, bool))| {
            json!({"ResourceId": name, "ResourceType": "auto-scaling-group", "Key": key,
                "Value": value, "PropagateAtLaunch": propagates})
        };
        let suspended = self.suspended.iter().map(|process| {
            json!({"ProcessName": process, "SuspensionReason": "User suspended at a time"})
        });
        let instances = self.instances.iter().map(|(id, it)| self.described(id, it, templates));
        let more = json!({
            "AutoScalingGroupName": name,
            "AutoScalingGroupARN": arn,
            "AvailabilityZones": self.zones,
            "CreatedTime": self.created.to_string(),
            "DefaultCooldown": 300,
            "TargetGroupARNs": self.targets,
            "LoadBalancerNames": [],
            "EnabledMetrics": [],
            "Instances": instances.collect::<Vec<_>>(),
            "SuspendedProcesses": suspended.collect::<Vec<_>>(),
            "Tags": self.tags.iter().map(tag).collect::<Vec<_>>(),
        });
        described.extend(more.as_object().cloned().unwrap_or_default());
        if self.is_leaving {
            described.insert("Status".to_owned(), "Delete in progress".into());
        }
        described.into()
    }

    fn described(&self, id: &str, it: &Instance, templates: &BTreeMap<String, Template>) -> Value {
        let (template, version) = &it.template;
        json!({
            "InstanceId": id,
            "InstanceType": it.instance_type,
            "AvailabilityZone": self.zones.first(),
            "LifecycleState": it.state.name(),
            "HealthStatus": "Healthy",
            "ProtectedFromScaleIn": it.is_protected,
            "LaunchTemplate": {
                "LaunchTemplateId": template,
                "LaunchTemplateName": templates.get(template).map(Template::name),
                "Version": version.to_string(),
            },
        })
    }
}
