//! Plans as AWS CLI commands that a person can read, check and run.
//!
//! In: plans. Out: shell text, one command for each call, quoted so that a POSIX shell passes every
//! value as it is. Commands that the agent would not send now are comments that say why, and so is what
//! it cannot know the commands of yet.
//!
//! The rules for names and values are those of the AWS CLI user guide, "Specifying parameter values"
//! and "Parameter structure": names in kebab case, flags for booleans, JSON for structures.

use serde_json::Value;

use crate::model::recipe::{PARAMETER, Recipe};
use crate::model::{Call, Plan, Step, Verdict};

/// Renders the calls of plans, in the order in which the agent sends them.
pub fn calls(plans: &[Plan]) -> String {
    let steps = plans.iter().flat_map(|plan| plan.steps.iter().map(move |step| (plan, step)));
    let blocks: Vec<String> = steps
        .filter(|(_, step)| !step.calls.is_empty() || hindrance(&step.verdict).is_some())
        .map(|(plan, step)| block(plan, step))
        .collect();
    if blocks.is_empty() { "# nothing to do\n".to_owned() } else { blocks.join("\n") }
}

fn block(plan: &Plan, step: &Step) -> String {
    let mut text =
        format!("# {}: {} in account {}\n", plan.key, step.resource, step.resource.scope.account);
    let hindrance = hindrance(&step.verdict);
    if let Some(why) = &hindrance {
        text.push_str(&format!("# not now: {}\n", why.replace('\n', " ")));
    }
    let mark = if hindrance.is_some() { "# " } else { "" };
    for call in &step.calls {
        let command = command(call, step.resource.scope.region.as_str());
        text.extend(command.lines().map(|line| format!("{mark}{line}\n")));
    }
    text
}

/// Says why a step is not due now; `None` when it is.
fn hindrance(verdict: &Verdict) -> Option<String> {
    match verdict {
        Verdict::Go => None,
        Verdict::Waiting { on, .. } => Some(format!("waiting for {on}")),
        Verdict::Deferred { until, why } => Some(format!("deferred until {until:.0}: {why}")),
        Verdict::Reported => Some("the policy leaves this difference as it is".to_owned()),
        Verdict::Blocked { by } => Some(format!("waiting until {by} is there")),
        Verdict::Refused => Some("refused".to_owned()),
    }
}

/// Renders one call as one command.
pub fn command(call: &Call, region: &str) -> String {
    // The CLI calls these services by other names than their endpoints.
    let service = match &*call.service {
        "cloudcontrolapi" => "cloudcontrol",
        "s3" => "s3api",
        service => service,
    };
    let mut words = vec![format!("aws {service} {}", kebab(&call.operation))];
    let plain = call.params.iter().filter(|(name, _)| *name != PARAMETER);
    words.extend(plain.map(|(name, value)| parameter(&kebab(name), value)));
    words.extend(Recipe::of(call).map(|recipe| secret(&recipe, region)));
    words.push(format!("--region {}", quote(region)));
    words.join(" ")
}

/// Writes a secret value: it is made when the command runs, by AWS's own generator, and what stands
/// around it is put there by the CLI (a multi-select hash of JMESPath), so that it is never on a
/// screen.
fn secret(recipe: &Recipe, region: &str) -> String {
    let mut draw = Call::new("secretsmanager", "GetRandomPassword");
    draw.params.extend(
        [
            ("PasswordLength", Some(Value::from(recipe.password_length))),
            ("ExcludeCharacters", excluded(recipe)),
            ("ExcludeNumbers", recipe.exclude_numbers.then_some(true.into())),
            ("ExcludePunctuation", recipe.exclude_punctuation.then_some(true.into())),
            ("ExcludeUppercase", recipe.exclude_uppercase.then_some(true.into())),
            ("ExcludeLowercase", recipe.exclude_lowercase.then_some(true.into())),
            ("IncludeSpace", recipe.include_space.then_some(true.into())),
            (
                "RequireEachIncludedType",
                (!recipe.require_each_included_type).then_some(false.into()),
            ),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?))),
    );
    let draw = command(&draw, region);
    let taken = match &recipe.generate_string_key {
        None => "--query RandomPassword --output text".to_owned(),
        Some(key) => format!("--query {} --output json", quote(&object(recipe, key))),
    };
    format!("--secret-string \"$({draw} {taken})\"")
}

fn excluded(recipe: &Recipe) -> Option<Value> {
    let excluded = &recipe.exclude_characters;
    (!excluded.is_empty()).then(|| excluded.as_str().into())
}

/// Writes the JMESPath expression that makes the object: literals stand between backticks.
fn object(recipe: &Recipe, key: &str) -> String {
    let name = |name: &str| Value::from(name).to_string();
    let member = |(member, value): (&String, &Value)| {
        format!("{}: `{}`", name(member), value.to_string().replace('`', "\\`"))
    };
    let mut members: Vec<String> = recipe.secret_string_template.iter().map(member).collect();
    members.push(format!("{}: RandomPassword", name(key)));
    format!("{{{}}}", members.join(", "))
}

fn parameter(name: &str, value: &Value) -> String {
    match value {
        Value::Bool(true) => format!("--{name}"),
        Value::Bool(false) => format!("--no-{name}"),
        Value::String(text) if text.starts_with('-') || text.is_empty() => {
            format!("--{name}={}", quote(text))
        }
        Value::Array(items) if is_plain(items) => {
            let words: Vec<String> = items.iter().map(|item| quote(&scalar(item))).collect();
            format!("--{name} {}", words.join(" "))
        }
        other => format!("--{name} {}", quote(&scalar(other))),
    }
}

/// Tells whether a list can be written as words; otherwise it is written as JSON.
fn is_plain(items: &[Value]) -> bool {
    let plain = |item: &Value| match item {
        // The CLI takes a word that begins like this for JSON or for an option.
        Value::String(text) => !text.is_empty() && !text.starts_with(['[', '{', '-']),
        Value::Number(_) => true,
        _ => false,
    };
    !items.is_empty() && items.iter().all(plain)
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Writes an API name as the CLI spells it: `ModifyDBInstance` is `modify-db-instance`, and a
/// plural acronym at the end stays whole (`VPCs` is `vpcs`).
fn kebab(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let plural = plural_acronym(&letters);
    let mut text = String::with_capacity(name.len() + 8);
    for (at, letter) in letters.iter().enumerate() {
        if at > 0 && begins_word(&letters, at, plural) {
            text.push('-');
        }
        text.extend(letter.to_lowercase());
    }
    text
}

/// Returns where a plural acronym at the end begins, or the length of the name.
fn plural_acronym(letters: &[char]) -> usize {
    let Some((last, before)) = letters.split_last() else { return 0 };
    let capitals = before.iter().rev().take_while(|letter| letter.is_ascii_uppercase()).count();
    if *last == 's' && capitals >= 2 { before.len() - capitals } else { letters.len() }
}

fn begins_word(letters: &[char], at: usize, plural: usize) -> bool {
    if at >= plural {
        return at == plural;
    }
    let after_small = letters[at - 1].is_ascii_lowercase() || letters[at - 1].is_ascii_digit();
    let before_small = letters.get(at + 1).is_some_and(char::is_ascii_lowercase);
    letters[at].is_ascii_uppercase() && (after_small || before_small)
}

/// Quotes a text as one word of a POSIX shell; what needs no quotes gets none.
fn quote(text: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !text.is_empty() && text.chars().all(safe) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::report::text::sample;

    #[test]
    fn names_are_spelled_as_the_cli_spells_them() {
        for (name, expected) in [
            ("ModifyDBInstance", "modify-db-instance"),
            ("DBInstanceIdentifier", "db-instance-identifier"),
            ("EnableIAMDatabaseAuthentication", "enable-iam-database-authentication"),
            ("CloudwatchLogsExportConfiguration", "cloudwatch-logs-export-configuration"),
            ("CACertificateIdentifier", "ca-certificate-identifier"),
            ("DescribeDBProxies", "describe-db-proxies"),
            ("StorageThroughput", "storage-throughput"),
            ("CreateCustomDBEngineVersion", "create-custom-db-engine-version"),
            ("SupportsS3Export", "supports-s3-export"),
            ("AssociateVPCs", "associate-vpcs"),
            ("MaxACUs", "max-acus"),
            ("ARNs", "-arns"),
            ("CidrIpv6", "cidr-ipv6"),
            ("IpPermissions", "ip-permissions"),
            ("TargetGroupARNs", "target-group-arns"),
            ("VPCZoneIdentifier", "vpc-zone-identifier"),
            ("CreateOrUpdateTags", "create-or-update-tags"),
        ] {
            assert_eq!(kebab(name), expected.trim_start_matches('-'), "{name}");
        }
    }

    #[test]
    fn what_waits_for_a_value_is_a_comment_although_its_calls_are_not_known() {
        let mut plan = sample::plan();
        let mut step = plan.steps[0].clone();
        step.calls.clear();
        step.verdict = Verdict::Blocked { by: plan.steps[0].resource.clone() };
        plan.steps = vec![step];
        let text = calls(&[plan]);
        assert!(text.contains("# not now: waiting until "), "{text}");
        assert!(text.lines().all(|line| line.starts_with('#')), "{text}");
    }

    #[test]
    fn every_type_of_value_is_written_as_the_cli_reads_it() {
        let call = Call::new("rds", "ModifyDBInstance")
            .with("DBInstanceIdentifier", "it's")
            .with("AllocatedStorage", 200)
            .with("MultiAZ", true)
            .with("DeletionProtection", false)
            .with("VpcSecurityGroupIds", json!(["sg-1", "sg-2"]))
            .with("Tags", json!([{"Key": "a b", "Value": "$HOME"}]))
            .with("LogExports", json!({"EnableLogTypes": []}))
            .with("Description", "-x");
        let expected = concat!(
            "aws rds modify-db-instance --db-instance-identifier 'it'\\''s' ",
            "--allocated-storage 200 --multi-az --no-deletion-protection ",
            "--vpc-security-group-ids sg-1 sg-2 ",
            "--tags '[{\"Key\":\"a b\",\"Value\":\"$HOME\"}]' ",
            "--log-exports '{\"EnableLogTypes\":[]}' --description=-x --region eu-west-1",
        );
        let mut words: Vec<&str> = expected.split(" --").collect();
        let text = command(&call, "eu-west-1");
        let mut got: Vec<&str> = text.split(" --").collect();
        words.sort_unstable();
        got.sort_unstable();
        assert_eq!(got, words);
    }

    #[test]
    fn a_secret_value_is_made_when_the_command_runs() {
        let create = |recipe: Value| {
            let call = Call::new("secretsmanager", "CreateSecret").with("Name", "a/b");
            command(&call.with(PARAMETER, recipe), "eu-west-1")
        };
        assert_eq!(
            create(json!({"PasswordLength": 20, "ExcludeNumbers": true,
                "RequireEachIncludedType": false, "ExcludeCharacters": "'\""})),
            "aws secretsmanager create-secret --name a/b --secret-string \"$(aws secretsmanager \
             get-random-password --exclude-characters ''\\''\"' --exclude-numbers \
             --password-length 20 --no-require-each-included-type --region eu-west-1 \
             --query RandomPassword --output text)\" --region eu-west-1"
        );
        let text = create(json!({"SecretStringTemplate": {"user": "a`b", "port": 5432},
            "GenerateStringKey": "password"}));
        let query = "--query '{\"port\": `5432`, \"user\": `\"a\\`b\"`, \"password\": RandomPassword}' \
            --output json)\"";
        assert!(text.contains(query), "{text}");
    }

    #[test]
    fn a_batch_of_records_is_one_document_with_its_quotes_as_they_are() {
        let record = json!({"Name": "a.example.com.", "TTL": 300, "Type": "TXT",
            "ResourceRecords": [{"Value": "\"it's\" \"\\303\""}]});
        let changes = json!([{"Action": "UPSERT", "ResourceRecordSet": record}]);
        let call = Call::new("route53", "ChangeResourceRecordSets")
            .with("HostedZoneId", "Z1")
            .with("ChangeBatch", json!({ "Changes": changes }));
        let text = command(&call, "aws-global");
        let (start, rest) = text.split_once(" --change-batch ").unwrap();
        assert_eq!(start, "aws route53 change-resource-record-sets");
        let (document, end) = rest.rsplit_once(" --hosted-zone-id ").unwrap();
        assert_eq!(end, "Z1 --region aws-global");
        let inside = document.trim_matches('\'').replace("'\\''", "'");
        let read: Value = serde_json::from_str(&inside).unwrap();
        assert_eq!(read["Changes"], changes);
    }

    #[test]
    fn a_real_shell_reads_back_every_word() {
        let nasty = ["", "a b", "'", "\"$HOME\"", "`x`", "a\nb", "\\", "*", "é", "!", "a;b", "#"];
        let words: Vec<String> = nasty.iter().map(|text| quote(text)).collect();
        let script = format!("printf '%s\\0' {}", words.join(" "));
        let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
        let got: Vec<&[u8]> = output.stdout.split(|byte| *byte == 0).collect();
        let expected: Vec<&[u8]> =
            nasty.iter().map(|text| text.as_bytes()).chain([&b""[..]]).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn what_is_not_due_now_is_a_comment_with_its_reason() {
        let expected = "\
# Workspace/team-payments-prod: db_parameter_group/team-payments-prod in account 111122223333
aws rds create-db-parameter-group --db-parameter-group-family postgres15 \
--db-parameter-group-name team-payments-prod --region eu-west-1

# Workspace/team-payments-prod: db_instance/team-payments-prod in account 111122223333
# not now: deferred until 2026-12-01T03:00:00Z: a reboot waits for the maintenance window
# aws rds modify-db-instance --db-instance-class db.r6g.xlarge \
--db-instance-identifier team-payments-prod --region eu-west-1
";
        assert_eq!(calls(&[sample::plan()]), expected);
        assert_eq!(calls(&[]), "# nothing to do\n");
    }
}
