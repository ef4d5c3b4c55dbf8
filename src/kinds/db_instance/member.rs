//! From a member of an Aurora cluster to the resource that it asks for: a DB instance.
//!
//! In: the `database` section, one of its members and its [`MemberPlacement`]. Out: a [`Resource`] of
//! what an instance in a cluster has of its own. What the cluster owns (version, storage, backups,
//! users, protection, security groups) is neither sent nor compared here.
//!
//! Source: the API reference of `CreateDBInstance`, which says of each setting whether it applies to
//! Aurora instances.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::json;

use super::check::identifier_mistake;
use super::cluster::Member;
use super::expand::{Fields, insight_fields};
use super::spec::Database;
use crate::model::{Input, Refusal, Resource, ResourceId, Scope};

/// Says where a member lives, whose it is, and what it uses.
#[derive(Debug, Clone)]
pub struct MemberPlacement<'a> {
    /// The account and region.
    pub scope: &'a Scope,
    /// The identifier of the cluster, which comes before the member's name.
    pub cluster_identifier: &'a str,
    /// The cluster.
    pub cluster: Input,
    /// The value of the ownership tag.
    pub owner: &'a str,
    /// The name of the parameter group made of `parameters`, if there are any.
    pub parameter_group: Option<Input>,
}

/// Makes the resource of a member.
pub fn member_resource(
    database: &Database,
    (name, member): (&str, &Member),
    placement: &MemberPlacement<'_>,
) -> Resource {
    let identifier = member.identifier(placement.cluster_identifier, name);
    let refusal = |message: String| Refusal {
        field: "identifier".to_owned(),
        code: "InvalidIdentifier".to_owned(),
        message,
        help: format!("declare database.cluster.members.{name}.identifier"),
    };
    Resource {
        id: ResourceId {
            kind: super::NAME,
            scope: placement.scope.clone(),
            name: identifier.as_str().into(),
        },
        section: Cow::Owned(format!("database.cluster.members.{name}")),
        fields: fields(database, member, placement).0,
        initial: BTreeMap::from([(Cow::Borrowed("publiclyAccessible"), json!(false))]),
        owner: placement.owner.to_owned(),
        adopt: database.adopt,
        notices: Vec::new(),
        refusals: identifier_mistake(&identifier).map(refusal).into_iter().collect(),
    }
}

fn fields(database: &Database, member: &Member, placement: &MemberPlacement<'_>) -> Fields {
    let mut fields = Fields::default();
    fields.text("engine", Some(&database.engine));
    fields.input("cluster", Some(&placement.cluster));
    fields.text("sizeClass", Some(member.size_class.as_ref().unwrap_or(&database.size_class)));
    fields.put("promotionTier", member.promotion_tier);
    fields.text("availabilityZone", member.availability_zone.as_ref());
    let window = member.maintenance_window.as_ref().or(database.maintenance_window.as_ref());
    fields.text("maintenanceWindow", window);
    fields.text("parameterGroup", database.parameter_group.as_ref());
    fields.input("parameterGroup", placement.parameter_group.as_ref());
    fields.put("publiclyAccessible", database.publicly_accessible);
    fields.put("autoMinorVersionUpgrade", database.auto_minor_version_upgrade);
    fields.text("caCertificate", database.ca_certificate.as_ref());
    insight_fields(database, &mut fields);
    fields.put("tags", database.tags.as_ref().map(|tags| json!(tags)));
    fields
}
