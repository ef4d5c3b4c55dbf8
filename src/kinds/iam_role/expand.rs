//! From the `iam` section to the resources that it asks for.
//!
//! In: an [`Iam`] and its [`Placement`]. Out: one [`Resource`] per role, each after the roles that it
//! trusts. A role of the same account that is trusted is a reference: IAM refuses a principal that
//! does not exist, so what trusts it waits until it does.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::rules::DATABASE_ACCESS;
use super::spec::{Document, Iam, Role, Trust};
use crate::model::desired::Field;
use crate::model::{Input, Kind, Output, Resource, ResourceId, Scope};

/// Says where roles live, whose they are, and what they may refer to.
#[derive(Debug, Clone)]
pub struct Placement<'a> {
    /// The account and region of the environment.
    pub environment: &'a Scope,
    /// The name of the workspace, with which the roles' names begin.
    pub workspace: &'a str,
    /// The value of the ownership tag.
    pub owner: &'a str,
    /// Where the workspace's database says by which id IAM names it, if there is one.
    pub database: Option<Output>,
    /// Whether existing roles without our tag are taken over.
    pub adopt: bool,
}

impl Placement<'_> {
    fn id(&self, name: &str) -> ResourceId {
        role_id(self.environment, name)
    }

    fn partition(&self) -> &str {
        self.environment.region.partition()
    }

    /// Returns the role of this account that an ARN names: the last part, whatever the path.
    fn of_arn(&self, arn: &str) -> Option<ResourceId> {
        let prefix = format!("arn:{}:iam::{}:role/", self.partition(), self.environment.account);
        let name = arn.strip_prefix(&prefix)?.rsplit('/').next()?;
        Some(self.id(name))
    }
}

/// Returns the name of a role in AWS.
pub fn role_name(workspace: &str, key: &str, role: &Role) -> String {
    role.name.clone().unwrap_or_else(|| format!("{workspace}-{key}"))
}

/// Returns the id of a role by its name in AWS, whose letter case does not count; `environment` is
/// where the workspace lives.
pub fn role_id(environment: &Scope, name: &str) -> ResourceId {
    let scope = super::KIND.home(environment);
    ResourceId { kind: super::NAME, scope, name: name.to_ascii_lowercase().into() }
}

/// Makes the resources of the roles, in the order of their dependencies.
pub fn resources(iam: &Iam, placement: &Placement<'_>) -> Vec<Resource> {
    in_order(iam)
        .into_iter()
        .filter_map(|name| Some(resource(name, iam.roles.get(name)?, iam, placement)))
        .collect()
}

/// Lists the roles so that each stands after those of the section that it trusts.
fn in_order(iam: &Iam) -> Vec<&str> {
    fn visit<'a>(iam: &'a Iam, name: &'a str, seen: &mut BTreeSet<&'a str>, out: &mut Vec<&'a str>) {
        let Some(role) = iam.roles.get(name).filter(|_| seen.insert(name)) else { return };
        role.trust.roles.iter().for_each(|trusted| visit(iam, trusted, seen, out));
        out.push(name);
    }
    let (mut seen, mut ordered) = (BTreeSet::new(), Vec::new());
    iam.roles.keys().for_each(|name| visit(iam, name, &mut seen, &mut ordered));
    ordered
}

fn resource(name: &str, role: &Role, iam: &Iam, placement: &Placement<'_>) -> Resource {
    Resource {
        id: placement.id(&role_name(placement.workspace, name, role)),
        section: Cow::Owned(format!("iam.roles.{name}")),
        fields: fields(role, iam, placement),
        initial: BTreeMap::new(),
        owner: placement.owner.to_owned(),
        adopt: role.adopt || placement.adopt,
        notices: Vec::new(),
        refusals: Vec::new(),
    }
}

fn fields(role: &Role, iam: &Iam, placement: &Placement<'_>) -> BTreeMap<Field, Input> {
    let path = role.path.as_deref().unwrap_or("/");
    let mut fields: BTreeMap<Field, Input> = BTreeMap::from([
        ("path".into(), Input::Known(path.into())),
        ("trust".into(), trust(&role.trust, iam, placement)),
        ("databaseAccess".into(), database_access(role, placement)),
    ]);
    let declared = [
        ("name", role.name.as_ref().map(|it| json!(it))),
        ("policies", role.policies.as_ref().map(|it| json!(it))),
        ("inline", role.inline.as_ref().map(|it| json!(it))),
        ("permissionsBoundary", role.permissions_boundary.as_ref().map(|it| json!(it))),
        ("maxSessionDurationSeconds", role.max_session_duration_seconds.map(|it| json!(it))),
        ("description", role.description.as_ref().map(|it| json!(it))),
        ("tags", role.tags.as_ref().map(|it| json!(it))),
    ];
    for (field, value) in declared {
        if let Some(value) = value {
            fields.insert(field.into(), Input::Known(value));
        }
    }
    fields
}

/// Makes the trust policy: the declared document, or one of the short forms.
fn trust(trust: &Trust, iam: &Iam, placement: &Placement<'_>) -> Input {
    let mut outputs = BTreeMap::new();
    let document = match &trust.document {
        Some(document) => json!(document),
        None => short_forms(trust, iam, placement, &mut outputs),
    };
    let mut needs = BTreeSet::new();
    collect_roles(&document, placement, &mut needs);
    Input::Template { value: document, outputs, needs }
}

fn short_forms(
    trust: &Trust,
    iam: &Iam,
    placement: &Placement<'_>,
    outputs: &mut BTreeMap<String, Output>,
) -> Value {
    let mut statements = Vec::new();
    if !trust.services.is_empty() {
        statements.push(json!({
            "Effect": "Allow",
            "Principal": {"Service": trust.services},
            "Action": "sts:AssumeRole",
        }));
    }
    let partition = placement.partition();
    let accounts = trust.accounts.iter().map(|id| format!("arn:{partition}:iam::{id}:root"));
    let roles = trust.roles.iter().map(|role| principal(role, iam, placement, outputs));
    let principals: Vec<String> = accounts.chain(roles).collect();
    if !principals.is_empty() {
        statements.push(json!({
            "Effect": "Allow",
            "Principal": {"AWS": principals},
            "Action": "sts:AssumeRole",
        }));
    }
    statements.extend(trust.oidc.iter().map(|oidc| {
        let provider = &oidc.provider;
        let account = &placement.environment.account;
        let arn = format!("arn:{partition}:iam::{account}:oidc-provider/{provider}");
        let (audience, subject) = (format!("{provider}:aud"), format!("{provider}:sub"));
        json!({
            "Effect": "Allow",
            "Principal": {"Federated": arn},
            "Action": "sts:AssumeRoleWithWebIdentity",
            "Condition": {
                "StringEquals": {(audience): oidc.audiences},
                "StringLike": {(subject): oidc.subjects},
            },
        })
    }));
    json!({"Version": "2012-10-17", "Statement": statements})
}

/// Returns the principal of a trusted role: an ARN, a reference to one, or a marker for the ARN of
/// a role that the section makes.
fn principal(
    role: &str,
    iam: &Iam,
    placement: &Placement<'_>,
    outputs: &mut BTreeMap<String, Output>,
) -> String {
    let Some(named) = iam.roles.get(role) else { return role.to_owned() };
    let marker = format!("iam.{role}.arn");
    let of = placement.id(&role_name(placement.workspace, role, named));
    let text = format!("${{{marker}}}");
    outputs.insert(marker, Output { of, member: "Arn".to_owned(), typed: false, owner: None, adopt: false });
    text
}

/// Finds the roles of this account that a trust policy names.
fn collect_roles(value: &Value, placement: &Placement<'_>, found: &mut BTreeSet<ResourceId>) {
    let principals = |statement: &Value| statement.get("Principal")?.get("AWS").cloned();
    let statements = value.get("Statement").map(many).unwrap_or_default();
    for names in statements.iter().filter_map(principals) {
        found.extend(many(&names).iter().filter_map(|name| placement.of_arn(name.as_str()?)));
    }
}

fn many(value: &Value) -> &[Value] {
    value.as_array().map_or_else(|| std::slice::from_ref(value), Vec::as_slice)
}

/// Makes the inline policy that lets the role log in to the database, or says that there is none.
///
/// Source: "Creating and using an IAM policy for IAM database access" in the RDS User Guide.
fn database_access(role: &Role, placement: &Placement<'_>) -> Input {
    let (Some(access), Some(database)) = (&role.database_access, &placement.database) else {
        return Input::Known(json!({(DATABASE_ACCESS): null}));
    };
    const MARKER: &str = "database.resourceId";
    let Scope { account, region } = placement.environment;
    let prefix = format!("arn:{}:rds-db:{region}:{account}:dbuser:${{{MARKER}}}", region.partition());
    let users: Vec<String> = access.users.iter().map(|user| format!("{prefix}/{user}")).collect();
    let document: Document = Document::from([
        ("Version".to_owned(), json!("2012-10-17")),
        (
            "Statement".to_owned(),
            json!([{"Effect": "Allow", "Action": "rds-db:connect", "Resource": users}]),
        ),
    ]);
    Input::Template {
        value: json!({(DATABASE_ACCESS): document}),
        outputs: BTreeMap::from([(MARKER.to_owned(), database.clone())]),
        needs: BTreeSet::new(),
    }
}
