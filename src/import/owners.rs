//! Whose a resource is, as its tags say: Levelset's, another tool's, or nobody's that is known.

use std::collections::BTreeMap;

use crate::model::desired::{OWNER_TAG, retained_by};

/// Tags of AWS that say which stack or product owns a resource.
const OF_AWS: [(&str, &str); 3] = [
    ("aws:cloudformation:stack-name", "the CloudFormation stack"),
    ("aws:servicecatalog:provisionedProductArn", "the Service Catalog product"),
    ("elasticbeanstalk:environment-name", "the Elastic Beanstalk environment"),
];

/// Keys under which people say which tool manages something, without signs and letter case.
const KEYS: [&str; 6] =
    ["managedby", "provisionedby", "provisioner", "iac", "automation", "deployedby"];

/// Words in such tags that name a tool that would put its own wishes back.
const TOOLS: [&str; 8] = [
    "terraform",
    "terragrunt",
    "opentofu",
    "tofu",
    "pulumi",
    "cloudformation",
    "cdk",
    "crossplane",
];

/// Says who owns a resource, so that it is not Levelset's to take; `managed` takes what other tools
/// mark as theirs by a tag that people write.
pub(super) fn owner(tags: &BTreeMap<String, String>, managed: bool) -> Option<String> {
    match tags.get(OWNER_TAG) {
        Some(tag) if retained_by(tag).is_none() => {
            return Some(format!("Levelset has it already: {tag}"));
        }
        _ => {}
    }
    let of_aws = OF_AWS.iter().find_map(|(key, what)| Some((what, tags.get(*key)?)));
    if let Some((what, name)) = of_aws {
        return Some(format!("{what} {name} owns it"));
    }
    if managed {
        return None;
    }
    let (key, value) = tags.iter().find(|(key, value)| names_a_tool(key, value))?;
    Some(format!("another tool manages it, as the tag {key}={value} says"))
}

fn names_a_tool(key: &str, value: &str) -> bool {
    let fold = |text: &str| text.to_lowercase().replace(['-', '_', ':', '.', '/', ' '], "");
    let (key, value) = (fold(key), fold(value));
    let is_tool = |text: &str| TOOLS.iter().any(|tool| text.contains(tool));
    let says_yes = matches!(value.as_str(), "true" | "yes" | "1" | "managed");
    (KEYS.contains(&key.as_str()) && is_tool(&value)) || (TOOLS.contains(&&*key) && says_yes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_marks_as_his_is_his() {
        let tags = |key: &str, value: &str| BTreeMap::from([(key.to_owned(), value.to_owned())]);
        for (key, value, is_owned) in [
            ("levelset:owner", "levelset/Workspace/a", true),
            ("levelset:owner", "retained:levelset/Workspace/a", false),
            ("aws:cloudformation:stack-name", "x", true),
            ("ManagedBy", "Terraform", true),
            ("managed-by", "terraform-cloud", true),
            ("Terraform", "true", true),
            ("terraform", "no", false),
            ("managed-by", "hand", false),
            ("team", "terraform", false),
        ] {
            assert_eq!(owner(&tags(key, value), false).is_some(), is_owned, "{key}={value}");
        }
        assert_eq!(owner(&tags("ManagedBy", "Terraform"), true), None);
        assert!(owner(&tags("levelset:owner", "a/Workspace/a"), true).is_some());
    }
}
