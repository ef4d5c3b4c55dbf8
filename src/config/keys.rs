//! Which keys the settings file may hold.

use super::setting::ConfigProblem;
use super::yaml::{Data, Node};
use crate::model::webhook::Host;

const TOP: [&str; 14] = [
    "agent",
    "repository",
    "stateDirectory",
    "listen",
    "hosts",
    "workers",
    "guards",
    "log",
    "environments",
    "webhooks",
    "forge",
    "hooks",
    "customTypes",
    "cloudTrail",
];
const AGENT: [&str; 1] = ["name"];
const GUARDS: [&str; 4] = ["maxObjects", "maxPercent", "periodSeconds", "deletionGraceSeconds"];
const LOG: [&str; 2] = ["format", "level"];
const REPOSITORY: [&str; 17] = [
    "url",
    "path",
    "branch",
    "folder",
    "pollIntervalSeconds",
    "relistMinutes",
    "fetchTimeoutSeconds",
    "staleAfterSeconds",
    "stopWritingAfterSeconds",
    "username",
    "passwordFile",
    "tokenFile",
    "sshKeyFile",
    "sshKeyPassphraseFile",
    "knownHostsFile",
    "caFile",
    "signatures",
];
const SIGNATURES: [&str; 3] = ["allowedSignersFile", "openPgpKeysFile", "since"];
const ENVIRONMENT: [&str; 7] =
    ["account", "region", "roleArn", "roles", "externalId", "endpointUrl", "production"];

const FORGE: [&str; 12] = [
    "host",
    "apiUrl",
    "repository",
    "linkUrl",
    "caFile",
    "username",
    "tokenFile",
    "appId",
    "appKeyFile",
    "pullRequests",
    "planForks",
    "issues",
];
const HOOK: [&str; 4] = ["urlFile", "format", "secretFile", "caFile"];
const WEBHOOK: [&str; 2] = ["secretFile", "previousSecretFile"];

/// Secrets that the environment may hold and the file may not, with the keys for their files.
const SECRETS: [(&str, &str); 7] = [
    ("url", "urlFile"),
    ("password", "passwordFile"),
    ("token", "tokenFile"),
    ("sshKeyPassphrase", "sshKeyPassphraseFile"),
    ("secret", "secretFile"),
    ("appKey", "appKeyFile"),
    ("previousSecret", "previousSecretFile"),
];

/// Reports every key that has no meaning, and every section that is no mapping.
pub(super) fn check(
    root: &Node,
    problem: impl Fn(&str, &Node, String) -> ConfigProblem,
) -> Vec<ConfigProblem> {
    let mut check = Check { problem: &problem, found: Vec::new() };
    check.section("", root, &TOP);
    for (section, known) in [
        ("agent", AGENT.as_slice()),
        ("guards", &GUARDS),
        ("log", &LOG),
        ("repository", &REPOSITORY),
        ("repository.signatures", &SIGNATURES),
        ("forge", &FORGE),
    ] {
        if let Some(node) = root.at(section) {
            check.section(section, node, known);
        }
    }
    if let Some(environments) = root.at("environments") {
        check.environments(environments);
    }
    if let Some(webhooks) = root.at("webhooks") {
        check.webhooks(webhooks);
    }
    if let Some(hooks) = root.at("hooks") {
        check.hooks(hooks);
    }
    check.found
}

struct Check<'a> {
    problem: &'a dyn Fn(&str, &Node, String) -> ConfigProblem,
    found: Vec<ConfigProblem>,
}

impl Check<'_> {
    fn environments(&mut self, environments: &Node) {
        self.mapping("environments", environments);
        for (name, _, environment) in environments.entries() {
            self.section(&format!("environments.{name}"), environment, &ENVIRONMENT);
            if let Some(roles) = environment.at("roles") {
                self.mapping(&format!("environments.{name}.roles"), roles);
            }
        }
    }

    fn webhooks(&mut self, webhooks: &Node) {
        self.section("webhooks", webhooks, &Host::ALL.map(Host::as_str));
        for (host, _, webhook) in webhooks.entries() {
            self.section(&format!("webhooks.{host}"), webhook, &WEBHOOK);
        }
    }

    fn hooks(&mut self, hooks: &Node) {
        self.mapping("hooks", hooks);
        for (name, _, hook) in hooks.entries() {
            self.section(&format!("hooks.{name}"), hook, &HOOK);
        }
    }

    fn section(&mut self, path: &str, node: &Node, known: &[&str]) {
        self.mapping(path, node);
        for (key, place, value) in node.entries() {
            if known.contains(&key.as_str()) {
                continue;
            }
            let setting = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let at = Node { place: *place, data: value.data.clone() };
            let problem = (self.problem)(&setting, &at, "there is no such setting".to_owned());
            let hint = hint(key, known);
            self.found.push(problem.hint(hint));
        }
    }

    fn mapping(&mut self, path: &str, node: &Node) {
        if !matches!(node.data, Data::Map(_) | Data::Nothing) {
            let message = "this has to be a mapping of settings to values".to_owned();
            self.found.push((self.problem)(path, node, message));
        }
    }
}

fn hint(key: &str, known: &[&str]) -> String {
    if let Some((_, file)) =
        SECRETS.iter().find(|(secret, file)| *secret == key && known.contains(file))
    {
        return format!(
            "a secret does not stand in this file: put it in a file of its own and name that in {file}"
        );
    }
    match nearest(key, known) {
        Some(name) => format!("did you mean {name}?"),
        None => format!("possible are {}", known.join(", ")),
    }
}

fn nearest<'a>(key: &str, known: &[&'a str]) -> Option<&'a str> {
    let folded = key.to_lowercase().replace(['-', '_'], "");
    let distance = |name: &str| strsim::damerau_levenshtein(&folded, &name.to_lowercase());
    let best = known.iter().copied().min_by_key(|name| distance(name))?;
    (distance(best) <= folded.chars().count().div_ceil(3)).then_some(best)
}
