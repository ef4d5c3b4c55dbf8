//! DB parameter groups and their parameters.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::flavour::Flavour;
use super::parameters::{self, Known};
use super::{Laws, engine, identifier, tags};
use crate::sandbox::args::Args;
use crate::sandbox::page;
use crate::sandbox::refusal::{Answer, Refusal};
use crate::sandbox::services::{Operation, Site};

/// The groups of instances.
const INSTANCES: Flavour = Flavour {
    name: "DBParameterGroupName",
    one: "DBParameterGroup",
    list: "DBParameterGroups",
    arn: "DBParameterGroupArn",
    arn_type: "pg",
    groups: |state| &mut state.parameter_groups,
    is_used: |state, name| state.instances.values().any(|i| i.parameter_group == name),
    spread,
};

/// The operations.
pub(in crate::sandbox) const OPERATIONS: &[Operation] = &[
    Operation {
        service: "rds",
        name: "DescribeDBParameterGroups",
        accepts: &["DBParameterGroupName", "Filters", "MaxRecords", "Marker"],
        run: |site, args| describe(site, args, &INSTANCES),
    },
    Operation {
        service: "rds",
        name: "DescribeDBParameters",
        accepts: &["DBParameterGroupName", "Source", "Filters", "MaxRecords", "Marker"],
        run: |site, args| describe_parameters(site, args, &INSTANCES),
    },
    Operation {
        service: "rds",
        name: "DescribeEngineDefaultParameters",
        accepts: &["DBParameterGroupFamily", "MaxRecords", "Marker"],
        run: describe_defaults,
    },
    Operation {
        service: "rds",
        name: "CreateDBParameterGroup",
        accepts: &["DBParameterGroupName", "DBParameterGroupFamily", "Description", "Tags"],
        run: |site, args| create(site, args, &INSTANCES),
    },
    Operation {
        service: "rds",
        name: "ModifyDBParameterGroup",
        accepts: &["DBParameterGroupName", "Parameters"],
        run: |site, args| modify(site, args, &INSTANCES),
    },
    Operation {
        service: "rds",
        name: "ResetDBParameterGroup",
        accepts: &["DBParameterGroupName", "ResetAllParameters", "Parameters"],
        run: |site, args| reset(site, args, &INSTANCES),
    },
    Operation {
        service: "rds",
        name: "DeleteDBParameterGroup",
        accepts: &["DBParameterGroupName"],
        run: |site, args| delete(site, args, &INSTANCES),
    },
];

/// Holds one parameter group.
#[derive(Debug, Clone)]
pub(in crate::sandbox) struct ParameterGroup {
    pub(in crate::sandbox) tags: BTreeMap<String, String>,
    arn: String,
    family: String,
    description: String,
    /// What was set: value and apply method.
    values: BTreeMap<&'static str, (String, &'static str)>,
}

impl ParameterGroup {
    fn describe(&self, name: &str, of: &Flavour) -> Value {
        json!({
            (of.name): name,
            "DBParameterGroupFamily": self.family,
            "Description": self.description,
            (of.arn): self.arn,
        })
    }

    fn parameter(&self, known: &Known) -> Value {
        let set = self.values.get(known.name);
        let default = if known.apply_type == "static" { "pending-reboot" } else { "immediate" };
        // A default that RDS brings is `system`; where the engine decides it is `engine-default`.
        let source = match (set, known.default) {
            (Some(_), _) => "user",
            (None, Some(_)) => "system",
            (None, None) => "engine-default",
        };
        let value = set.map(|(value, _)| value.as_str()).or(known.default);
        let mut parameter = json!({
            "ParameterName": known.name,
            "Description": known.description,
            "Source": source,
            "ApplyType": known.apply_type,
            "DataType": known.data_type,
            "IsModifiable": known.modifiable,
            "ApplyMethod": set.map_or(default, |(_, method)| method),
        });
        if let Some(value) = value {
            parameter["ParameterValue"] = json!(value);
        }
        if !known.allowed.is_empty() {
            parameter["AllowedValues"] = json!(known.allowed);
        }
        parameter
    }
}

/// Says that a group does not exist.
pub(super) fn no_group(name: &str) -> Refusal {
    Refusal::new("DBParameterGroupNotFound", format!("DBParameterGroup {name} not found."))
}

/// Finds a group for an instance of a family.
pub(super) fn usable(
    site: &mut Site<'_>,
    name: &str,
    family: Option<&str>,
) -> Result<String, Refusal> {
    usable_of(site, name, family, &INSTANCES)
}

/// Finds a group of a kind for a family.
pub(super) fn usable_of(
    site: &mut Site<'_>,
    name: &str,
    family: Option<&str>,
    of: &Flavour,
) -> Result<String, Refusal> {
    let name = name.to_lowercase();
    ensure(site, &name, of);
    let group = (of.groups)(&mut site.state.rds).get(&name).ok_or_else(|| no_group(&name))?;
    let family = family.unwrap_or_default();
    if group.family != family {
        return Err(Refusal::combination(format!(
            "The parameter group {name} with DBParameterGroupFamily {} can't be used for this instance. \
             Please use a parameter group with DBParameterGroupFamily {family}",
            group.family
        )));
    }
    Ok(name)
}

/// Makes the default group of a family when it is first needed.
pub(super) fn ensure_default(site: &mut Site<'_>, name: &str) {
    ensure(site, name, &INSTANCES);
}

fn ensure(site: &mut Site<'_>, name: &str, of: &Flavour) {
    let Some(family) = name.strip_prefix("default.").filter(|family| engine::is_family(family))
    else {
        return;
    };
    let group = ParameterGroup {
        arn: site.rds_arn(of.arn_type, name),
        tags: BTreeMap::new(),
        family: family.to_owned(),
        description: format!("Default parameter group for {family}"),
        values: BTreeMap::new(),
    };
    (of.groups)(&mut site.state.rds).entry(name.to_owned()).or_insert(group);
}

pub(super) fn describe(site: &mut Site<'_>, args: Args<'_>, of: &Flavour) -> Answer {
    let name = args.text(of.name)?.map(str::to_lowercase);
    let groups = &*(of.groups)(&mut site.state.rds);
    if let Some(name) = name.as_ref().filter(|name| !groups.contains_key(*name)) {
        return Err(no_group(name));
    }
    let chosen = groups
        .iter()
        .filter(|(key, _)| name.as_ref().is_none_or(|name| name == *key))
        .map(|(key, group)| (key.as_str(), group));
    page::RDS.answer(args, of.list, chosen, |key, group| Some(group.describe(key, of)))
}

pub(super) fn describe_parameters(site: &mut Site<'_>, args: Args<'_>, of: &Flavour) -> Answer {
    let name = args.required(of.name)?.to_lowercase();
    let source = args.text("Source")?;
    if source.is_some_and(|source| !["user", "system", "engine-default"].contains(&source)) {
        return Err(Refusal::value("Source must be user, system or engine-default"));
    }
    let filters = args.filters()?;
    if let Some((name, _)) = filters.iter().find(|(name, _)| *name != "parameter-name") {
        return Err(Refusal::value(format!("Unrecognized filter name: {name}")));
    }
    let group = (of.groups)(&mut site.state.rds).get(&name).ok_or_else(|| no_group(&name))?;
    let chosen = parameters::of_family(&group.family)
        .iter()
        .filter(|known| filters.iter().all(|(_, any)| any.iter().any(|name| name == known.name)))
        .map(|known| (known.name, group.parameter(known)))
        .filter(|(_, parameter)| source.is_none_or(|source| parameter["Source"] == source));
    page::RDS.answer(args, "Parameters", sorted(chosen), |_, parameter| Some(parameter))
}

fn describe_defaults(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let family = known_family(args.required("DBParameterGroupFamily")?)?;
    let name = format!("default.{family}");
    ensure_default(site, &name);
    let group = site.state.rds.parameter_groups.get(&name).ok_or_else(|| no_group(&name))?;
    let all = parameters::of_family(&family).iter().map(|k| (k.name, group.parameter(k)));
    let mut answer =
        page::RDS.answer(args, "Parameters", sorted(all), |_, parameter| Some(parameter))?;
    answer["DBParameterGroupFamily"] = json!(family);
    Ok(json!({"EngineDefaults": answer}))
}

fn sorted<'n>(
    items: impl Iterator<Item = (&'n str, Value)>,
) -> impl Iterator<Item = (&'n str, Value)> {
    items.collect::<BTreeMap<_, _>>().into_iter()
}

fn known_family(family: &str) -> Result<String, Refusal> {
    let family = family.to_lowercase();
    if engine::is_family(&family) {
        return Ok(family);
    }
    Err(Refusal::value(format!(
        "ParameterGroupFamily {family} is not a valid parameter group family"
    )))
}

pub(super) fn create(site: &mut Site<'_>, args: Args<'_>, of: &Flavour) -> Answer {
    let name = identifier(args.required(of.name)?, 255)?;
    let family = known_family(args.required("DBParameterGroupFamily")?)?;
    let description = args.required("Description")?.to_owned();
    if (of.groups)(&mut site.state.rds).contains_key(&name) {
        let text = format!("Parameter group {name} already exists");
        return Err(Refusal::new("DBParameterGroupAlreadyExists", text));
    }
    let tags = args.tags()?;
    tags::check_count(tags.len())?;
    let arn = site.rds_arn(of.arn_type, &name);
    let group = ParameterGroup { arn, tags, family, description, values: BTreeMap::new() };
    let answer = json!({(of.one): group.describe(&name, of)});
    (of.groups)(&mut site.state.rds).insert(name, group);
    Ok(answer)
}

/// Finds a group that may be changed.
fn own<'s>(
    site: &'s mut Site<'_>,
    args: Args<'_>,
    of: &Flavour,
) -> Result<(String, &'s mut ParameterGroup), Refusal> {
    let name = args.required(of.name)?.to_lowercase();
    let group = (of.groups)(&mut site.state.rds).get_mut(&name).ok_or_else(|| no_group(&name))?;
    if name.starts_with("default.") {
        let text = format!(
            "The parameter group {name} is a default parameter group and cannot be changed"
        );
        return Err(Refusal::value(text));
    }
    Ok((name, group))
}

/// Describes a checked change of one parameter.
struct Setting {
    known: &'static Known,
    value: Option<String>,
    method: &'static str,
}

fn read_settings(family: &str, args: Args<'_>) -> Result<Vec<Setting>, Refusal> {
    let list = args.objects("Parameters")?;
    if list.len() > 20 {
        return Err(Refusal::value(
            "A maximum of 20 parameters can be modified in a single request.",
        ));
    }
    list.into_iter().map(|parameter| read_setting(family, parameter)).collect()
}

fn read_setting(family: &str, parameter: Args<'_>) -> Result<Setting, Refusal> {
    let name = parameter.required("ParameterName")?;
    let found = parameters::of_family(family).iter().find(|known| known.name == name);
    let known = found
        .ok_or_else(|| Refusal::value(format!("Could not find parameter with name: {name}")))?;
    if !known.modifiable {
        return Err(Refusal::value(format!("The parameter {name} cannot be modified.")));
    }
    let method = match parameter.text("ApplyMethod")? {
        Some("immediate") if known.apply_type == "static" => {
            return Err(Refusal::combination(format!(
                "cannot use immediate apply method for static parameter {name}"
            )));
        }
        Some("immediate") => "immediate",
        Some("pending-reboot") | None => "pending-reboot",
        Some(other) => return Err(Refusal::value(format!("Invalid apply method: {other}"))),
    };
    let value = parameter.text("ParameterValue")?.map(str::to_owned);
    if let Some(value) = value.as_ref().filter(|value| !known.allows(value)) {
        return Err(Refusal::value(format!(
            "Invalid parameter value: {value} for: {name} allowed values are: {}",
            known.allowed
        )));
    }
    Ok(Setting { known, value, method })
}

pub(super) fn modify(site: &mut Site<'_>, args: Args<'_>, of: &Flavour) -> Answer {
    let (name, group) = own(site, args, of)?;
    let settings = read_settings(&group.family, args)?;
    if settings.is_empty() {
        return Err(Refusal::value("At least one parameter must be given"));
    }
    let mut methods = Vec::new();
    for setting in settings {
        let value = setting.value.ok_or_else(|| {
            Refusal::value(format!("The parameter {} needs a value", setting.known.name))
        })?;
        let same = group.values.get(setting.known.name).is_some_and(|(old, _)| *old == value);
        // AWS ignores a new apply method for an unchanged value.
        if !same {
            group.values.insert(setting.known.name, (value, setting.method));
            methods.push(setting.method);
        }
    }
    (of.spread)(site, &name, &methods);
    Ok(json!({(of.name): name}))
}

pub(super) fn reset(site: &mut Site<'_>, args: Args<'_>, of: &Flavour) -> Answer {
    let listed = args.has("Parameters");
    let all = args.boolean("ResetAllParameters")?.unwrap_or(!listed);
    if all && listed {
        return Err(Refusal::combination(
            "Parameters cannot be given together with ResetAllParameters.",
        ));
    }
    let (name, group) = own(site, args, of)?;
    let mut methods = Vec::new();
    if all {
        methods.extend(group.values.keys().map(|name| default_method(&group.family, name)));
        group.values.clear();
    }
    for setting in read_settings(&group.family, args)? {
        if group.values.remove(setting.known.name).is_some() {
            methods.push(setting.method);
        }
    }
    (of.spread)(site, &name, &methods);
    Ok(json!({(of.name): name}))
}

fn default_method(family: &str, name: &str) -> &'static str {
    let known = parameters::of_family(family).iter().find(|known| known.name == name);
    if known.is_some_and(|k| k.apply_type == "dynamic") { "immediate" } else { "pending-reboot" }
}

/// Shows a change at the instances that use the group.
fn spread(site: &mut Site<'_>, name: &str, methods: &[&'static str]) {
    if methods.is_empty() {
        return;
    }
    let laws = Laws { settings: site.settings, catalog: &site.shared.catalog };
    let waits = methods.contains(&"pending-reboot");
    let status = if waits { "pending-reboot" } else { "in-sync" };
    let rds = &mut site.state.rds;
    for instance in rds.instances.values_mut().filter(|i| i.parameter_group == name) {
        instance.remember(site.now, &rds.subnet_groups);
        instance.apply_parameters(status, site.now, laws);
    }
}

pub(super) fn delete(site: &mut Site<'_>, args: Args<'_>, of: &Flavour) -> Answer {
    let (name, _) = own(site, args, of)?;
    if (of.is_used)(&site.state.rds, &name) {
        let text = "One or more database instances are still members of this parameter group, so the group cannot be deleted";
        return Err(Refusal::new("InvalidDBParameterGroupState", text));
    }
    (of.groups)(&mut site.state.rds).remove(&name);
    Ok(json!({}))
}
