//! Where in a manifest references may stand, and to which resource the text there belongs.

/// Says what a text may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// References, which are written out.
    Text,
    /// References and the variables of IAM policies.
    Document,
    /// References and the variables of IAM policies; a reference that is the whole text keeps the
    /// type of its value.
    Typed,
}

/// Is a place that takes references.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// What the text may hold.
    pub(super) takes: Use,
    /// The path of the resource that the text belongs to, for example `iam.api`.
    pub(super) holder: String,
    /// True where the text is set when its resource is there: it is in nobody's way.
    pub(super) is_later: bool,
}

/// The places whose texts are set when their resource is there.
const LATER: &[&[&str]] = &[&["buckets", "*", "policy", "**"]];

/// The places under `spec.resources`: `*` stands for one key, `**` for any path below.
const PLACES: &[(&[&str], Use)] = &[
    (&["database", "tags", "*"], Use::Text),
    (&["database", "monitoring", "roleArn"], Use::Text),
    (&["database", "storage", "kmsKey"], Use::Text),
    (&["database", "performanceInsights", "kmsKey"], Use::Text),
    (&["database", "securityGroups", "*"], Use::Text),
    (&["iam", "roles", "*", "description"], Use::Text),
    (&["iam", "roles", "*", "tags", "*"], Use::Text),
    (&["iam", "roles", "*", "policies", "*"], Use::Text),
    (&["iam", "roles", "*", "permissionsBoundary"], Use::Text),
    (&["iam", "roles", "*", "trust", "roles", "*"], Use::Text),
    (&["iam", "roles", "*", "trust", "document", "**"], Use::Document),
    (&["iam", "roles", "*", "inline", "**"], Use::Document),
    (&["secrets", "*", "description"], Use::Text),
    (&["secrets", "*", "kmsKey"], Use::Text),
    (&["secrets", "*", "tags", "*"], Use::Text),
    (&["secrets", "*", "rotation", "lambdaArn"], Use::Text),
    (&["secrets", "*", "policy", "**"], Use::Document),
    (&["secrets", "*", "generate", "template", "**"], Use::Typed),
    (&["buckets", "*", "encryption", "kmsKey"], Use::Text),
    (&["buckets", "*", "tags", "*"], Use::Text),
    (&["buckets", "*", "policy", "**"], Use::Document),
    (&["dns", "records", "*", "values", "*"], Use::Text),
    (&["dns", "records", "*", "alias", "target"], Use::Text),
    (&["dns", "records", "*", "alias", "zoneId"], Use::Text),
    (&["dns", "records", "*", "healthCheckId"], Use::Text),
    (&["compute", "*", "image"], Use::Text),
    (&["compute", "*", "userData"], Use::Text),
    (&["compute", "*", "instanceProfile"], Use::Text),
    (&["compute", "*", "keyPair"], Use::Text),
    (&["compute", "*", "rootVolume", "kmsKey"], Use::Text),
    (&["compute", "*", "subnets", "*"], Use::Text),
    (&["compute", "*", "securityGroups", "*"], Use::Text),
    (&["compute", "*", "targetGroups", "*"], Use::Text),
    (&["compute", "*", "terminationPolicies", "*"], Use::Text),
    (&["compute", "*", "tags", "*"], Use::Text),
    (&["custom", "*", "properties", "**"], Use::Typed),
];

/// The sections whose entries hold their own references, by name.
const NAMED: [&str; 4] = ["custom", "secrets", "buckets", "compute"];

/// Returns what a place takes; `None` where references are not taken.
pub(super) fn place(path: &[String]) -> Option<Place> {
    let (_, takes) = PLACES.iter().find(|(pattern, _)| matches(pattern, path))?;
    let holder = match path {
        [section, roles, name, ..] if section == "iam" && roles == "roles" => format!("iam.{name}"),
        [section, name, ..] if NAMED.contains(&section.as_str()) => {
            format!("{section}.{name}")
        }
        [section, records, name, ..] if section == "dns" && records == "records" => {
            format!("dns.{name}")
        }
        [section, ..] => section.clone(),
        [] => return None,
    };
    let is_later = LATER.iter().any(|pattern| matches(pattern, path));
    Some(Place { takes: *takes, holder, is_later })
}

fn matches(pattern: &[&str], path: &[String]) -> bool {
    match (pattern, path) {
        (["**"], _) => true,
        ([], []) => true,
        ([want, pattern @ ..], [part, path @ ..]) => {
            (*want == "*" || want == part) && matches(pattern, path)
        }
        _ => false,
    }
}
