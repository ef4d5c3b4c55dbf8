//! Secrets of AWS Secrets Manager, without their values.
//!
//! The list lags behind by five minutes, the longest that AWS allows itself; the read of one name does
//! not. A secret that is deleted stays, under its name, until its recovery window is over.
//!
//! Not modelled, on purpose: values, versions and what rotation does with them, filters of the list.

mod state;

use jiff::SignedDuration;
use rand::RngExt;
use serde_json::{Value, json};

pub(super) use self::state::State;

use self::state::Secret;
use super::args::Args;
use super::page;
use super::refusal::{Answer, Refusal};
use super::services::{Operation, Site};

/// Refuses a call in the state in which the secret is.
fn state(text: &str) -> Refusal {
    Refusal::new("InvalidRequestException", text)
}

fn parameter(text: &str) -> Refusal {
    Refusal::new("InvalidParameterException", text)
}

/// The operations.
pub(super) const OPERATIONS: &[Operation] = &[
    operation("ListSecrets", &["IncludePlannedDeletion", "MaxResults", "NextToken"], list),
    operation("DescribeSecret", &["SecretId"], describe),
    operation("GetResourcePolicy", &["SecretId"], get_policy),
    operation(
        "CreateSecret",
        &[
            "Name",
            "Description",
            "KmsKeyId",
            "Tags",
            "AddReplicaRegions",
            "GenerateSecretString",
            "ClientRequestToken",
        ],
        create,
    ),
    operation(
        "UpdateSecret",
        &["SecretId", "Description", "KmsKeyId", "ClientRequestToken"],
        update,
    ),
    operation("PutSecretValue", &["SecretId"], put_value),
    operation(
        "PutResourcePolicy",
        &["SecretId", "ResourcePolicy", "BlockPublicPolicy"],
        put_policy,
    ),
    operation("DeleteResourcePolicy", &["SecretId"], delete_policy),
    operation(
        "RotateSecret",
        &[
            "SecretId",
            "ClientRequestToken",
            "RotationLambdaARN",
            "RotationRules",
            "RotateImmediately",
        ],
        rotate,
    ),
    operation("CancelRotateSecret", &["SecretId"], cancel_rotation),
    operation("ReplicateSecretToRegions", &["SecretId", "AddReplicaRegions"], replicate),
    operation("RemoveRegionsFromReplication", &["SecretId", "RemoveReplicaRegions"], remove),
    operation("TagResource", &["SecretId", "Tags"], tag),
    operation("RestoreSecret", &["SecretId"], restore),
    operation("DeleteSecret", &["SecretId", "RecoveryWindowInDays"], delete),
];

const fn operation(
    name: &'static str,
    accepts: &'static [&'static str],
    run: fn(&mut Site<'_>, Args<'_>) -> Answer,
) -> Operation {
    Operation { service: "secretsmanager", name, accepts, run }
}

fn list(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let everything = args.flag("IncludePlannedDeletion")?;
    let shown = site.state.secrets_manager.listed(site.now);
    let shown = shown.filter(|(_, secret)| everything || secret.ends.is_none());
    page::SECRETS.answer(args, "SecretList", shown, |_, secret| Some(secret.in_list()))
}

fn describe(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    Ok(site.state.secrets_manager.found(args)?.by_name())
}

fn get_policy(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let secret = site.state.secrets_manager.usable(args)?;
    let mut answer = json!({"ARN": secret.arn(), "Name": secret.members.get("Name")});
    if let Some(policy) = &secret.policy {
        answer["ResourcePolicy"] = policy.as_str().into();
    }
    Ok(answer)
}

fn create(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let name = args.required("Name")?;
    let token = args.required("ClientRequestToken")?;
    if !(32..=64).contains(&token.len()) {
        return Err(parameter("ClientRequestToken must be 32-64 characters long."));
    }
    match site.state.secrets_manager.secrets.get(name) {
        Some(before) if before.ends.is_some() => {
            return Err(state(
                "You can't create this secret because a secret with this name is already scheduled \
                 for deletion.",
            ));
        }
        Some(_) => {
            let text = format!("The operation failed because the secret {name} already exists.");
            return Err(Refusal::new("ResourceExistsException", text));
        }
        None => {}
    }
    let suffix = format!("{:06x}", site.random.random_range(0..0x100_0000_u32));
    let (region, account) = (&site.scope.region, &site.scope.account);
    let arn = format!("arn:aws:secretsmanager:{region}:{account}:secret:{name}-{suffix}");
    let mut secret = Secret {
        tags: args.tags()?,
        replicas: copies(args)?,
        token: Some(token.to_owned()),
        has_value: args.has("GenerateSecretString"),
        ..Secret::default()
    };
    secret.set("ARN", arn.as_str());
    secret.set("Name", name);
    describe_as(&mut secret, args)?;
    written(site, |state| state.secrets.insert(name.to_owned(), secret));
    Ok(json!({"ARN": arn, "Name": name, "VersionId": token}))
}

/// Carries out a write, which the list shows later.
fn written<T>(site: &mut Site<'_>, write: impl FnOnce(&mut State) -> T) -> T {
    let state = &mut site.state.secrets_manager;
    let result = write(state);
    state.note(site.now);
    result
}

/// Changes a secret, and answers which one it is.
fn change(
    site: &mut Site<'_>,
    args: Args<'_>,
    change: impl FnOnce(&mut Secret) -> Result<(), Refusal>,
) -> Answer {
    let secret = site.state.secrets_manager.usable(args)?;
    change(secret)?;
    let answer = json!({"ARN": secret.arn(), "Name": secret.members.get("Name")});
    written(site, |_| ());
    Ok(answer)
}

fn describe_as(secret: &mut Secret, args: Args<'_>) -> Result<(), Refusal> {
    if let Some(text) = args.text("Description")? {
        secret.set("Description", text);
    }
    match args.text("KmsKeyId")? {
        Some("" | "alias/aws/secretsmanager") => drop(secret.members.remove("KmsKeyId")),
        Some(key) => secret.set("KmsKeyId", key),
        None => {}
    }
    Ok(())
}

fn copies(args: Args<'_>) -> Result<Vec<Value>, Refusal> {
    let copy = |region: Args<'_>| {
        let mut copy = json!({"Region": region.required("Region")?, "Status": "InSync"});
        if let Some(key) = region.text("KmsKeyId")? {
            copy["KmsKeyId"] = key.into();
        }
        Ok(copy)
    };
    args.objects("AddReplicaRegions")?.into_iter().map(copy).collect()
}

fn update(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    args.required("ClientRequestToken")?;
    change(site, args, |secret| describe_as(secret, args))
}

fn put_value(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    change(site, args, |secret| {
        secret.has_value = true;
        Ok(())
    })
}

fn put_policy(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let text = args.required("ResourcePolicy")?;
    let malformed = || Refusal::new("MalformedPolicyDocumentException", "The policy is no JSON.");
    let policy: Value = serde_json::from_str(text).map_err(|_| malformed())?;
    let is_open = policy["Statement"].as_array().into_iter().flatten().any(|statement| {
        statement["Effect"] == "Allow"
            && (statement["Principal"] == "*" || statement["Principal"]["AWS"] == "*")
            && statement["Condition"].is_null()
    });
    if is_open && args.flag("BlockPublicPolicy")? {
        let text = "The BlockPublicPolicy parameter is set to true, and the policy is public.";
        return Err(Refusal::new("PublicPolicyException", text));
    }
    change(site, args, |secret| {
        secret.policy = Some(text.to_owned());
        Ok(())
    })
}

fn delete_policy(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    change(site, args, |secret| {
        secret.policy = None;
        Ok(())
    })
}

fn rotate(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let token = args.required("ClientRequestToken")?;
    let rules = args.get("RotationRules").cloned();
    let function = args.text("RotationLambdaARN")?;
    change(site, args, |secret| {
        if !secret.has_value {
            return Err(state("You can't rotate a secret that has no value."));
        }
        if function.is_none() && !secret.members.contains_key("RotationLambdaARN") {
            return Err(state("No Lambda rotation function ARN is associated with this secret."));
        }
        function.into_iter().for_each(|arn| secret.set("RotationLambdaARN", arn));
        rules.into_iter().for_each(|rules| secret.set("RotationRules", rules));
        secret.set("RotationEnabled", true);
        secret.token = Some(token.to_owned());
        Ok(())
    })
}

fn cancel_rotation(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    change(site, args, |secret| {
        secret.set("RotationEnabled", false);
        Ok(())
    })
}

fn replicate(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let copies = copies(args)?;
    change(site, args, |secret| {
        secret.replicas.extend(copies);
        Ok(())
    })
}

fn remove(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let regions = args.texts("RemoveReplicaRegions")?.unwrap_or_default();
    change(site, args, |secret| {
        let stays = |copy: &Value| !regions.iter().any(|region| copy["Region"] == region.as_str());
        secret.replicas.retain(stays);
        Ok(())
    })
}

fn tag(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let tags = args.tags()?;
    change(site, args, |secret| {
        secret.tags.extend(tags);
        Ok(())
    })
}

fn restore(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    site.state.secrets_manager.found(args)?.ends = None;
    written(site, |_| ());
    describe(site, args)
}

fn delete(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let days = args.integer("RecoveryWindowInDays")?.unwrap_or(30);
    if !(7..=30).contains(&days) {
        return Err(parameter("RecoveryWindowInDays must be between 7 and 30 days (inclusive)."));
    }
    let ends = site.now + SignedDuration::from_hours(24 * days);
    change(site, args, |secret| {
        if !secret.replicas.is_empty() {
            return Err(state("You can't delete a secret that is replicated to other Regions."));
        }
        secret.ends = Some(ends);
        Ok(())
    })
}
