//! What the `secrets` section alone proves wrong, before AWS is asked.
//!
//! In: the secrets by name. Out: every [`Finding`] at once.
//!
//! Source: the API reference of `CreateSecret`, `GetRandomPassword`, `RotateSecret` and
//! `PutResourcePolicy`; "Quotas" in the Secrets Manager User Guide.

use std::collections::BTreeMap;

use serde_json::Value;

use super::spec::{Generate, Rotation, Secret};
use crate::kinds::policy_document::{self as document, Place};
use crate::kinds::tag_rules::{self, Tagged};
use crate::model::problem::pointer_part;
use crate::model::Finding;
use crate::model::recipe::Recipe;
use crate::model::reference::has_marker;

type Findings = Vec<Finding>;

/// The most secrets of one workspace: each may cost reads of its own in every pass.
const MOST: usize = 50;

/// The most characters of a policy and of a description.
const LONGEST_POLICY: usize = 20_480;
const LONGEST_DESCRIPTION: usize = 2048;

/// Of the 50 tags of a secret, three are Levelset's own.
const TAGS: Tagged = Tagged { what: "a secret", most: 47, reserved: &[] };

/// The last words of names under which secrets stand.
const SECRETS: [&str; 8] = [
    "password", "passwd", "passphrase", "secret", "token", "apikey", "privatekey", "secretkey",
];

/// Finds what the section alone proves wrong; `workspace` is empty where it cannot be told.
pub fn check(secrets: &BTreeMap<String, Secret>, workspace: &str) -> Vec<Finding> {
    let mut found = Findings::new();
    if secrets.len() > MOST {
        let message = format!("a workspace has at most {MOST} secrets");
        found.push(Finding::error("", "TooManySecrets", message));
    }
    for (key, secret) in secrets {
        let place = Place::new(format!("/{}", pointer_part(key)));
        name(key, secret, workspace, &place, &mut found);
        settings(secret, &place, &mut found);
        if let Some(generate) = &secret.generate {
            value(generate, &place.under("generate"), &mut found);
        }
        if let Some(rotation) = &secret.rotation {
            schedule(rotation, &place.under("rotation"), &mut found);
        }
        for region in secret.replicas.iter().flat_map(BTreeMap::keys) {
            replica(region, &place.under("replicas").under(&pointer_part(region)), &mut found);
        }
        tag_rules::check(&TAGS, secret.tags.as_ref(), &place.under("tags"), &mut found);
    }
    found
}

fn name(key: &str, secret: &Secret, workspace: &str, place: &Place, found: &mut Findings) {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if key.is_empty() || key.len() > 63 || !key.chars().all(is_plain) {
        let message = format!("\"{key}\" is no name for a secret of a workspace");
        let hint = "up to 63 lower-case letters, digits and hyphens; name: takes any name of AWS";
        found.push(place.error("InvalidSecretName", message).hint(hint));
    }
    let whole = super::spec::secret_name(workspace, key, secret);
    let place = if secret.name.is_some() { place.under("name") } else { place.clone() };
    let allowed = |c: char| c.is_ascii_alphanumeric() || "/_+=.@-".contains(c);
    if whole.is_empty() || whole.len() > 512 || !whole.chars().all(allowed) {
        let message = format!("\"{whole}\" is no name for a secret");
        let hint = "1 to 512 letters, digits and characters of /_+=.@-";
        found.push(place.error("InvalidSecretName", message).hint(hint));
    } else if secret.name.as_deref().is_some_and(ends_like_an_arn) {
        let message = format!("{whole} ends with a hyphen and six characters, as ARNs of secrets do");
        let hint = "AWS may take it for a part of another one's ARN: choose another end";
        found.push(place.error("NameLikeAnArn", message).hint(hint));
    }
}

fn ends_like_an_arn(name: &str) -> bool {
    name.rsplit_once('-').is_some_and(|(_, end)| {
        end.len() == 6 && end.chars().all(|letter| letter.is_ascii_alphanumeric())
    })
}

fn settings(secret: &Secret, place: &Place, found: &mut Findings) {
    let length = secret.description.as_deref().map_or(0, |text| text.chars().count());
    if length > LONGEST_DESCRIPTION {
        let message = format!("the description has {length} characters");
        let hint = format!("at most {LONGEST_DESCRIPTION}");
        found.push(place.under("description").error("DescriptionTooLong", message).hint(hint));
    }
    if secret.kms_key.as_deref() == Some("") {
        let hint = "alias/aws/secretsmanager is AWS's own key";
        let message = "a secret is always encrypted";
        found.push(place.under("kmsKey").error("InvalidKey", message).hint(hint));
    }
    let Some(policy) = secret.policy.as_ref().filter(|policy| !policy.is_empty()) else { return };
    let place = place.under("policy");
    document::resource(policy, &place, found);
    let size = serde_json::to_string(policy).map_or(0, |text| text.len());
    if size > LONGEST_POLICY {
        let message = format!("the policy has {size} characters");
        let hint = format!("at most {LONGEST_POLICY}");
        found.push(place.error("PolicyTooLarge", message).hint(hint));
    }
}

fn value(generate: &Generate, place: &Place, found: &mut Findings) {
    let recipe = Recipe {
        exclude_characters: generate.exclude_characters.clone(),
        exclude_numbers: generate.exclude_numbers,
        exclude_punctuation: generate.exclude_punctuation,
        exclude_uppercase: generate.exclude_uppercase,
        exclude_lowercase: generate.exclude_lowercase,
        include_space: generate.include_space,
        ..Recipe::default()
    };
    let sorts = recipe.sorts();
    let letters: usize = sorts.iter().map(Vec::len).sum();
    if letters < 10 {
        let message = format!("a random text would be made of {letters} different characters");
        let hint = "leave fewer of them out";
        found.push(place.error("TooFewCharacters", message).hint(hint));
    } else if generate.require_each_type && sorts.iter().any(Vec::is_empty) {
        let message = "excludeCharacters leaves nothing of one sort, and each has to be in the text";
        let hint = "exclude the whole sort, or set requireEachType: false";
        let place = place.under("excludeCharacters");
        found.push(place.error("NothingOfASort", message).hint(hint));
    }
    template(generate, place, found);
}

fn template(generate: &Generate, place: &Place, found: &mut Findings) {
    let (template, key) = match (&generate.template, &generate.key) {
        (None, None) => return,
        (None, Some(_)) => {
            let message = "key names a member of template, which is missing";
            return found.push(place.error("KeyWithoutTemplate", message));
        }
        (Some(_), None) => {
            let message = "the member of the object that holds the random text has no name";
            let error = place.error("TemplateWithoutKey", message);
            return found.push(error.hint("name it with key:, as in key: password"));
        }
        (Some(template), Some(key)) => (template, key),
    };
    if key.is_empty() || template.contains_key(key) {
        let message = format!("\"{key}\" is the random text, and no other value");
        found.push(place.under("key").error("KeyInTemplate", message).hint("take it out of template"));
    }
    for (name, member) in template.iter().filter(|(name, _)| *name != key) {
        let place = place.under("template").under(&pointer_part(name));
        in_git(name, member, &place, found);
    }
}

/// A value that stands in Git is no secret.
fn in_git(name: &str, value: &Value, place: &Place, found: &mut Findings) {
    match value {
        Value::String(text) if is_secret(name) && !text.is_empty() && !has_marker(text) => {
            let message = format!("{name} would be a secret in Git");
            let hint = "let key: name it, so that it is made, or keep it in a secret of its own";
            found.push(place.error("SecretInGit", message).hint(hint));
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                in_git(name, item, &place.under(&at.to_string()), found);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                in_git(name, member, &place.under(&pointer_part(name)), found);
            }
        }
        _ => {}
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase().replace(['_', '-'], "");
    SECRETS.iter().any(|end| name.ends_with(end))
}

fn schedule(rotation: &Rotation, place: &Place, found: &mut Findings) {
    let Rotation { enabled, lambda_arn, every_days, schedule, duration } = rotation;
    let others = [
        lambda_arn.is_some(),
        every_days.is_some(),
        schedule.is_some(),
        duration.is_some(),
    ];
    if !enabled {
        if others.contains(&true) {
            let message = "a rotation that is turned off takes no other field";
            found.push(place.under("enabled").error("RotationOff", message));
        }
        return;
    }
    match lambda_arn {
        None => {
            let message = "the function that changes the value is not named";
            let hint = "its ARN, or a reference such as ${custom.rotator.Arn}";
            found.push(place.error("RotationWithoutFunction", message).hint(hint));
        }
        Some(arn) if !(has_marker(arn) || is_function(arn)) => {
            let message = format!("\"{arn}\" is not the ARN of a Lambda function");
            found.push(place.under("lambdaArn").error("InvalidFunction", message));
        }
        Some(_) => {}
    }
    if every_days.is_some() == schedule.is_some() {
        let message = "a rotation has either everyDays or schedule";
        found.push(place.error("RotationWithoutSchedule", message));
    }
    if schedule.as_deref().is_some_and(|text| !is_schedule(text)) {
        let hint = "rate(10 days), or cron(0 4 ? * SUN *)";
        let message = "this is no schedule";
        found.push(place.under("schedule").error("InvalidSchedule", message).hint(hint));
    }
    if duration.as_deref().is_some_and(|text| !is_duration(text)) {
        let message = "this is no number of hours";
        found.push(place.under("duration").error("InvalidDuration", message).hint("1h to 99h"));
    }
}

fn is_function(arn: &str) -> bool {
    arn.starts_with("arn:") && arn.contains(":function:")
}

fn is_schedule(text: &str) -> bool {
    let within = |start: &str| text.strip_prefix(start).and_then(|rest| rest.strip_suffix(')'));
    match (within("rate("), within("cron(")) {
        (Some(rate), _) => {
            let mut words = rate.split_whitespace();
            let number = words.next().and_then(|word| word.parse::<u32>().ok());
            let unit = words.next();
            let is_unit = matches!(unit, Some("hour" | "hours" | "day" | "days"));
            number.is_some_and(|number| number > 0) && is_unit && words.next().is_none()
        }
        (None, Some(cron)) => cron.split_whitespace().count() == 6,
        (None, None) => false,
    }
}

fn is_duration(text: &str) -> bool {
    let hours = text.strip_suffix('h').filter(|hours| (1..=2).contains(&hours.len()));
    hours.and_then(|hours| hours.parse::<u8>().ok()).is_some_and(|hours| hours > 0)
}

fn replica(region: &str, place: &Place, found: &mut Findings) {
    let is_region = region.split('-').count() > 2
        && region.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        && region.ends_with(|c: char| c.is_ascii_digit());
    if !is_region {
        let message = format!("\"{region}\" is no region");
        found.push(place.error("InvalidRegion", message).hint("as in eu-central-1"));
    }
}

