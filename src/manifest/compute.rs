//! From the `compute` section to the launch templates and Auto Scaling groups that it asks for.
//!
//! In: the section and what surrounds it. Out: for each entry a template and a group. Two kinds know nothing of each other: what instances are made from is handed to the one, how many
//! there are and where to the other.

use std::collections::BTreeMap;

use serde_json::json;

use crate::kinds::autoscaling_group::spec::{self as group_spec, Group};
use crate::kinds::launch_template::spec::{self as template_spec, Template, Volume};
use crate::model::{Input, Resource, ResourceId, Scope};

/// Says what surrounds the section.
#[derive(Debug, Clone)]
pub(super) struct Surroundings<'a> {
    /// The account and region.
    pub(super) scope: &'a Scope,
    /// The name of the workspace.
    pub(super) workspace: &'a str,
    /// The value of the ownership tag.
    pub(super) owner: &'a str,
    /// Whether existing resources without our tag are taken over.
    pub(super) adopt: bool,
    /// The VPC and the tags by which its `Network` object selects subnets.
    pub(super) network: Option<(ResourceId, BTreeMap<String, String>)>,
    /// The workspace's own security group, as a list.
    pub(super) security_groups: Option<Input>,
}

/// Makes the resources, in the order of their names.
pub(super) fn resources(
    groups: &BTreeMap<String, Group>,
    around: &Surroundings<'_>,
) -> Vec<Resource> {
    groups.iter().flat_map(|(key, group)| both(key, group, around)).collect()
}

fn both(key: &str, group: &Group, around: &Surroundings<'_>) -> [Resource; 2] {
    let name = group_spec::template_name(around.workspace, key, group);
    let template = template_spec::resource(
        &template(group, around),
        &template_spec::Placement {
            scope: around.scope,
            name: &name,
            section: &format!("compute.{key}"),
            owner: around.owner,
            adopt: group.adopt || around.adopt,
        },
    );
    let placement = group_spec::Placement {
        scope: around.scope,
        workspace: around.workspace,
        owner: around.owner,
        template: &template.id,
        subnets: around.subnets(group),
        adopt: around.adopt,
    };
    let group = group_spec::resource(key, group, &placement);
    [template, group]
}

fn template<'a>(group: &'a Group, around: &Surroundings<'_>) -> Template<'a> {
    let volume = group.root_volume.as_ref().map(|volume| Volume {
        device: volume.device.as_deref(),
        size_gib: volume.size_gib,
        volume_type: volume.volume_type.as_deref(),
        iops: volume.iops,
        throughput: volume.throughput,
        // A key means that the volume is encrypted.
        encrypted: volume.encrypted.or(volume.kms_key.as_ref().map(|_| true)),
        kms_key: volume.kms_key.as_deref(),
    });
    let metadata = group.metadata_options.as_ref();
    let declared = group.security_groups.as_ref().map(|ids| Input::Known(json!(ids)));
    Template {
        image: &group.image,
        instance_type: &group.instance_type,
        security_groups: declared.or_else(|| around.security_groups.clone()),
        instance_profile: group.instance_profile.as_deref(),
        key_pair: group.key_pair.as_deref(),
        user_data: group.user_data.as_deref(),
        root_volume: volume,
        http_tokens: metadata.and_then(|it| it.http_tokens.as_deref()),
        hop_limit: metadata.and_then(|it| it.http_put_response_hop_limit),
        http_endpoint: metadata.and_then(|it| it.http_endpoint.as_deref()),
        detailed_monitoring: group.detailed_monitoring,
        tags: group.tags.as_ref(),
    }
}

impl Surroundings<'_> {
    /// Returns the subnets of the VPC that a group may use.
    fn subnets(&self, group: &Group) -> Option<Input> {
        let (vpc, tags) = self.network.as_ref()?;
        Some(Input::Select {
            of: vpc.clone(),
            list: "Subnets".to_owned(),
            tags: group.subnet_tags.as_ref().unwrap_or(tags).clone(),
            member: "SubnetId".to_owned(),
        })
    }
}
