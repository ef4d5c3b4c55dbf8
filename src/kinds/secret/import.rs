//! How a secret that exists is declared: everything about it but its value, which nobody reads.
//!
//! Its policy and its copies in other regions are no part of the list, and one read for each secret
//! would cost an account of thousands: they are left out, and so not managed.

use serde_json::Value;

use super::facts::is_leaving;
use super::rules::{DEFAULT_KEY, RULES};
use crate::model::Observed;
use crate::model::import::{Around, Draft, Import, Section, Several, Writer};

impl Import for super::Secret {
    fn passed_over(&self, _name: &str, actual: &Observed) -> Option<String> {
        if let Some(service) = actual.text("OwningService").filter(|it| !it.is_empty()) {
            return Some(format!("the service {service} made it and changes it by itself"));
        }
        let home = actual.text("ARN").and_then(|arn| arn.split(':').nth(3));
        let primary = actual.text("PrimaryRegion").filter(|it| Some(*it) != home);
        if let Some(region) = primary {
            return Some(format!("it is the copy of a secret in {region}"));
        }
        is_leaving(actual).then(|| "its deletion is scheduled".to_owned())
    }

    fn known_as(&self, actual: &Observed) -> Vec<(String, Option<&'static str>)> {
        actual.text("ARN").map(|arn| (arn.to_owned(), Some("arn"))).into_iter().collect()
    }

    fn draft(&self, name: &str, actual: &Observed, _around: &dyn Around) -> Option<Draft> {
        let last = name.rsplit('/').next().unwrap_or(name);
        let section = Section::Several(Several {
            path: "secrets",
            keys: vec![last.to_owned(), name.to_owned()],
            joint: Some("/"),
            end: None,
            common: Vec::new(),
        });
        let mut writer = Writer::new(RULES, actual, section);
        writer.draft.name = Some(("name", name.to_owned()));
        writer.declare(&["description"]);
        writer.unless("kmsKey", DEFAULT_KEY);
        rotation(&mut writer, actual);
        writer.declare(&["tags"]);
        if actual.text("PrimaryRegion").is_some() {
            writer.remark("its copies in other regions are not read here, and not declared");
        }
        Some(writer.draft)
    }
}

fn rotation(writer: &mut Writer<'_>, actual: &Observed) {
    if actual.member("RotationEnabled") != Some(&Value::Bool(true)) {
        return;
    }
    let rule = |member: &str| actual.member(&format!("RotationRules.{member}")).cloned();
    let Some(lambda) = actual.text("RotationLambdaARN").filter(|arn| !arn.is_empty()) else {
        return writer.remark("its rotation is managed by AWS, cannot be declared, and stays");
    };
    writer.draft.sheet.put("rotation.lambdaArn", lambda);
    match (rule("ScheduleExpression"), rule("AutomaticallyAfterDays")) {
        (Some(schedule), _) => writer.draft.sheet.put("rotation.schedule", schedule),
        (None, Some(days)) => writer.draft.sheet.put("rotation.everyDays", days),
        (None, None) => {}
    }
    writer.declare(&["rotation.duration"]);
}
