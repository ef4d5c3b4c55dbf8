//! The layers of the settings, and what is said of mistakes in them.

use secrecy::ExposeSecret;

use super::*;

/// Loads the text as the file, with variables and overrides.
fn load_all(
    yaml: &str,
    variables: &[(&str, &str)],
    flags: &[(&str, &str, &str)],
) -> Result<Config, Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("levelset.yaml");
    std::fs::write(&path, yaml).unwrap();
    let mut overrides = Overrides::new();
    for (setting, flag, value) in flags {
        overrides.set(setting, flag, *value);
    }
    let env = |name: &str| {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    };
    let prefix = format!("{}/", folder.path().display());
    load(&overrides, &env, Some(&path)).map_err(|problems| {
        problems.iter().map(|problem| problem.to_string().replace(&prefix, "")).collect()
    })
}

fn problems(yaml: &str) -> Vec<String> {
    load_all(yaml, &[], &[]).unwrap_err()
}

const FULL: &str = r#"
agent: {name: blue}
repository:
  url: https://git.example.com/platform/manifests.git
  branch: main
  folder: teams
  pollIntervalSeconds: 30
  relistMinutes: 5
  fetchTimeoutSeconds: 90
  staleAfterSeconds: 600
  stopWritingAfterSeconds: 7200
  tokenFile: secrets/token
  caFile: /etc/ssl/ca.pem
stateDirectory: state
listen: "0.0.0.0:9000"
hosts: levelset.example.com, levelset
workers: 8
guards: {maxObjects: 10, maxPercent: 5, periodSeconds: 600}
log: {format: json, level: debug}
environments:
  production:
    account: "012345678901"
    region: eu-west-1
    roleArn: arn:aws:iam::012345678901:role/levelset
    externalId: blue
  staging: {account: "210987654321", region: us-gov-east-1, endpointUrl: "http://127.0.0.1:5000"}
"#;

#[test]
fn nothing_set_gives_the_documented_defaults() {
    let config = load(&Overrides::new(), &|_| None, None).unwrap();
    assert_eq!(config.agent_name, Setting::default_of("levelset".to_owned()));
    assert_eq!(config.listen.value.to_string(), "127.0.0.1:8080");
    assert_eq!(config.workers.value, 4);
    assert_eq!(config.log.format.value, LogFormat::Text);
    let guards = &config.guards;
    assert_eq!((guards.max_objects.value, guards.max_percent.value), (5, 20));
    assert_eq!(guards.period.value, Duration::from_secs(3600));
    assert!(config.environments.is_empty());
    assert!(!config.cloud_trail.value, "a call that is denied raises alarms");
    assert!(load_all("cloudTrail: true", &[], &[]).unwrap().cloud_trail.value);
    let problem = config.repository().unwrap_err().to_string();
    assert!(problem.contains("LEVELSET_REPOSITORY_URL"), "{problem}");
}

#[test]
fn every_setting_of_a_full_file_is_read() {
    let config = load_all(FULL, &[], &[]).unwrap();
    let repository = config.repository().unwrap();
    assert_eq!(repository.location.value, "https://git.example.com/platform/manifests.git");
    assert_eq!(repository.branch.as_ref().unwrap().value, "main");
    assert_eq!(repository.poll_interval.value, Duration::from_secs(30));
    assert_eq!(repository.relist_interval.value, Duration::from_secs(300));
    assert_eq!(repository.fetch_timeout.value, Duration::from_secs(90));
    assert_eq!(repository.stale_after.value, Duration::from_secs(600));
    assert_eq!(repository.stop_writing_after.value, Duration::from_secs(7200));
    assert_eq!((config.guards.max_objects.value, config.guards.max_percent.value), (10, 5));
    assert_eq!(config.guards.period.value, Duration::from_secs(600));
    assert_eq!(repository.ca_file.as_ref().unwrap().value, Path::new("/etc/ssl/ca.pem"));
    assert_eq!(config.log.level.value, tracing::Level::DEBUG);
    assert_eq!(config.hosts.value, ["levelset.example.com", "levelset"]);
    let production = &config.environments["production"];
    assert_eq!(production.account.value.as_str(), "012345678901");
    assert!(production.production.value);
    let staging = &config.environments["staging"];
    assert!(!staging.production.value);
    assert_eq!(staging.scope().to_string(), "210987654321/us-gov-east-1");
    assert_eq!(staging.endpoint_url.as_ref().unwrap().value.as_str(), "http://127.0.0.1:5000/");
}

#[test]
fn the_secrets_of_webhooks_come_from_files_and_from_the_environment() {
    let file = "webhooks:\n  github: {secretFile: s/new, previousSecretFile: s/old}\n";
    let variable = [("LEVELSET_WEBHOOKS_GITLAB_SECRET", "hunter2")];
    let config = load_all(file, &variable, &[]).unwrap();
    assert!(!format!("{config:?}").contains("hunter2"));
    let (github, gitlab) = (&config.webhooks[&Host::GitHub], &config.webhooks[&Host::GitLab]);
    let Secret::File(path) = &github.secret.value else { panic!("{github:?}") };
    assert!(path.is_absolute() && path.ends_with("s/new"), "{path:?}");
    assert!(matches!(&github.previous.as_ref().unwrap().value, Secret::File(_)));
    assert_eq!(gitlab.secret.value.read().unwrap().expose_secret(), "hunter2");
    assert!(gitlab.previous.is_none());
    assert_eq!(config.webhooks.len(), 2);
}

#[test]
fn a_webhook_without_its_secret_and_a_secret_in_the_file_are_refused() {
    let file = "webhooks:\n  gitea: {secret: hunter2}\n  githup: {secretFile: a}\n  \
                bitbucket: {previousSecretFile: a}\n";
    let found = problems(file).join("\n");
    assert!(!found.contains("hunter2"), "{found}");
    for expected in [
        "levelset.yaml:2:11: webhooks.gitea.secret: there is no such setting; a secret does not stand",
        "levelset.yaml:3:3: webhooks.githup: there is no such setting; did you mean github?",
        "webhooks.bitbucket.previousSecret: it stands beside a secret and not alone",
    ] {
        assert!(found.contains(expected), "{expected} is not in\n{found}");
    }
}

#[test]
fn the_host_of_statuses_takes_a_token_or_an_app_and_not_both() {
    let forge = |inner: &str| load_all(&format!("forge: {{{inner}}}\n"), &[], &[]);
    assert!(load_all("", &[], &[]).unwrap().forge.is_none());
    let token = forge("tokenFile: t, host: gitlab, repository: a/b/c").unwrap().forge.unwrap();
    assert!(matches!(token.login, ForgeLogin::Token { username: None, .. }));
    assert_eq!(token.host.unwrap().value, Host::GitLab);
    let app = forge("appId: 12, appKeyFile: k").unwrap().forge.unwrap();
    assert!(matches!(app.login, ForgeLogin::App { id, .. } if id.value == "12"));
    for (inner, expected) in [
        ("host: github", "it names no credentials"),
        ("tokenFile: t, appId: 1, appKeyFile: k", "exclude each other"),
        ("appId: 1", "an app takes both"),
        ("appId: 1, appKeyFile: k, host: gitea", "only GitHub has apps"),
        ("tokenFile: t, host: stash", "\"stash\" is no host; possible are github, gitlab"),
        ("tokenFile: t, repository: environments", "is no path of a repository"),
        ("token: hunter2", "put it in a file of its own"),
    ] {
        let found = forge(inner).unwrap_err().join("\n");
        assert!(found.contains(expected) && !found.contains("hunter2"), "{inner}: {found}");
    }
    let variable = [("LEVELSET_FORGE_TOKEN", "hunter2")];
    let config = load_all("", &variable, &[]).unwrap();
    assert!(!format!("{config:?}").contains("hunter2") && config.forge.is_some());
}

#[test]
fn a_relative_path_in_the_file_starts_at_the_folder_of_the_file() {
    let config = load_all(FULL, &[], &[]).unwrap();
    assert!(config.state_directory.value.is_absolute());
    assert!(config.state_directory.value.ends_with("state"));
    let flag = [("stateDirectory", "--state-directory", "here")];
    let config = load_all(FULL, &[], &flag).unwrap();
    assert_eq!(config.state_directory.value, Path::new("here"));
}

#[test]
fn the_later_layer_wins_and_the_value_knows_it() {
    let file = "listen: 127.0.0.1:1\n";
    let variable = [("LEVELSET_LISTEN", "127.0.0.1:2")];
    let flag = [("listen", "--listen", "127.0.0.1:3")];
    let read = |variables: &[_], flags: &[_]| load_all(file, variables, flags).unwrap().listen;
    let in_file = read(&[], &[]);
    assert_eq!(in_file.value.port(), 1);
    assert!(matches!(in_file.source, Source::File { line: 1, column: 9, .. }), "{in_file:?}");
    let in_environment = read(&variable, &[]);
    assert_eq!(in_environment.value.port(), 2);
    assert_eq!(in_environment.source, Source::Environment("LEVELSET_LISTEN".to_owned()));
    let in_flag = read(&variable, &flag);
    assert_eq!(in_flag.value.port(), 3);
    assert_eq!(in_flag.source, Source::Flag("--listen".to_owned()));
}

#[test]
fn an_empty_variable_counts_as_absent() {
    let config = load_all("workers: 2\n", &[("LEVELSET_WORKERS", "")], &[]).unwrap();
    assert_eq!(config.workers.value, 2);
}

#[test]
fn a_variable_takes_the_words_of_the_setting_apart() {
    let variables =
        [("LEVELSET_REPOSITORY_POLL_INTERVAL_SECONDS", "7"), ("LEVELSET_REPOSITORY_PATH", "/m")];
    let config = load_all("", &variables, &[]).unwrap();
    let repository = config.repository().unwrap();
    assert_eq!(repository.poll_interval.value, Duration::from_secs(7));
    assert_eq!(repository.location.value, "/m");
}

#[test]
fn a_problem_names_the_layer_that_it_comes_from() {
    let bad = |variables: &[_], flags: &[_]| load_all("workers: many\n", variables, flags);
    assert_eq!(
        bad(&[], &[]).unwrap_err(),
        ["levelset.yaml:1:10: workers: \"many\" is not a whole number from 1 to 64"]
    );
    assert_eq!(
        bad(&[("LEVELSET_WORKERS", "0")], &[]).unwrap_err(),
        ["workers (from LEVELSET_WORKERS): \"0\" is not a whole number from 1 to 64"]
    );
    assert_eq!(
        bad(&[], &[("workers", "--workers", "65")]).unwrap_err(),
        ["workers (from --workers): \"65\" is not a whole number from 1 to 64"]
    );
}

#[test]
fn all_problems_are_reported_at_once_with_their_places() {
    let found = problems(
        "repositry: {}\nlisten: localhost:8080\nlog:\n  levl: info\n  format: xml\nagent: {name: Blue}\nworkers:\n",
    );
    let expected = [
        "levelset.yaml:1:1: repositry: there is no such setting; did you mean repository?",
        "levelset.yaml:2:9: listen: \"localhost:8080\" is no address; write 127.0.0.1:8080",
        "levelset.yaml:4:3: log.levl: there is no such setting; did you mean level?",
        "levelset.yaml:5:11: log.format: \"xml\" is neither text nor json",
        "levelset.yaml:6:15: agent.name: \"Blue\" cannot be the name of an agent: up to 63 lower-case letters, digits and inner hyphens",
        "levelset.yaml:7:8: workers: it has no value; remove the line to use the default",
    ];
    assert_eq!(found, expected, "{found:#?}");
}

#[test]
fn a_key_of_another_style_is_recognised() {
    let found = problems("repository: {poll_interval_seconds: 5, url: /m}\n");
    assert!(found[0].ends_with("did you mean pollIntervalSeconds?"), "{found:?}");
}

#[test]
fn a_secret_in_the_file_is_refused_and_not_repeated() {
    let found = problems("repository:\n  url: /m\n  username: me\n  password: hunter2\n");
    assert!(found[0].contains("name that in passwordFile"), "{found:?}");
    let url = problems("repository: {url: \"https://me:hunter2@git.example.com/x\"}\n");
    assert!(url[0].contains("the URL holds a password"), "{url:?}");
    assert!(!format!("{found:?}{url:?}").contains("hunter2"));
}

#[test]
fn a_secret_from_the_environment_is_never_printed() {
    let variables = [("LEVELSET_REPOSITORY_TOKEN", "hunter2")];
    let config = load_all("repository: {url: /m}\n", &variables, &[]).unwrap();
    assert!(!format!("{config:?}").contains("hunter2"));
    let Some(Login::Token { username, token }) = &config.repository().unwrap().login else {
        panic!("no token: {config:?}")
    };
    assert_eq!(username.value, "x-access-token");
    assert_eq!(token.value.read().unwrap().expose_secret(), "hunter2");
}

#[test]
fn a_secret_file_is_read_without_its_line_end_and_anew_each_time() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let secret = Secret::File(file.path().to_owned());
    std::fs::write(file.path(), "first\n").unwrap();
    assert_eq!(secret.read().unwrap().expose_secret(), "first");
    std::fs::write(file.path(), "second\r\n").unwrap();
    assert_eq!(secret.read().unwrap().expose_secret(), "second");
}

#[test]
fn a_secret_that_is_no_file_is_told_by_its_path() {
    let folder = tempfile::tempdir().unwrap();
    for (path, why) in [(folder.path().to_owned(), "no regular file"), ("/nope".into(), "No such")]
    {
        let error = Secret::File(path.clone()).read().unwrap_err().to_string();
        assert!(error.starts_with(&path.display().to_string()) && error.contains(why), "{error}");
    }
}

#[test]
fn two_ways_to_log_in_exclude_each_other() {
    let found = problems("repository: {url: /m, tokenFile: t, sshKeyFile: k}\n");
    assert!(found[0].contains("exclude each other"), "{found:?}");
    let alone = problems("repository: {url: /m, passwordFile: p}\n");
    assert!(alone[0].contains("a password needs repository.username"), "{alone:?}");
}

#[test]
fn a_url_and_a_path_exclude_each_other_within_a_layer_only() {
    let found = problems("repository: {url: https://x.example/y, path: m}\n");
    assert!(found[0].contains("keep one of the two"), "{found:?}");
    let flag = [("repository.path", "--path", "/here")];
    let config = load_all("repository: {url: https://x.example/y}\n", &[], &flag).unwrap();
    assert_eq!(config.repository().unwrap().location.value, "/here");
}

#[test]
fn an_account_is_twelve_quoted_digits() {
    let environment = |account: &str| {
        problems(&format!("environments: {{a: {{account: {account}, region: eu-west-1}}}}"))
    };
    let unquoted = environment("012345678901");
    assert!(unquoted[0].contains("quote it: \"012345678901\""), "{unquoted:?}");
    let short = environment("\"1234\"");
    assert!(short[0].contains("\"1234\" is not the twelve digits"), "{short:?}");
    assert!(environment("1_000")[0].contains("\"1_000\""));
}

#[test]
fn what_an_environment_lacks_is_reported_at_its_name() {
    let found = problems("environments:\n  a:\n    account: \"123456789012\"\n");
    assert_eq!(found, ["levelset.yaml:2:3: environments.a.region: it is missing"]);
    let found = problems("environments:\n  a: {account: \"123456789012\", region: Ireland}\n");
    assert!(found[0].contains("environments.a.region: \"Ireland\""), "{found:?}");
}

#[test]
fn a_role_of_another_account_is_refused() {
    let found = problems(
        "environments: {a: {account: \"123456789012\", region: eu-west-1, roleArn: \"arn:aws:iam::210987654321:role/x\"}}",
    );
    assert!(found[0].contains("the role is of account 210987654321"), "{found:?}");
}

#[test]
fn two_ways_to_one_scope_are_refused() {
    let found = problems(
        "environments:\n  a: {account: \"123456789012\", region: eu-west-1}\n  b: {account: \"123456789012\", region: eu-west-1, endpointUrl: \"http://127.0.0.1:1\"}\n",
    );
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("same account and region as environments.a"), "{found:?}");
}

#[test]
fn a_repository_that_is_seldom_asked_is_stale_later() {
    let patience = |more: &str| {
        let file = format!("repository: {{path: git{more}}}\n");
        let config = load_all(&file, &[], &[]).unwrap();
        let repository = config.repository().unwrap();
        [repository.stale_after.value.as_secs(), repository.stop_writing_after.value.as_secs()]
    };
    assert_eq!(patience(""), [900, 21_600]);
    assert_eq!(patience(", pollIntervalSeconds: 3600"), [10_800, 21_600]);
    assert_eq!(patience(", staleAfterSeconds: 86400"), [86_400, 86_400]);
}

#[test]
fn times_that_contradict_each_other_are_refused() {
    let found = problems("repository: {path: git, staleAfterSeconds: 100}\n");
    assert!(found[0].contains("less than two times repository.pollIntervalSeconds"), "{found:?}");
    let found = problems("repository: {path: git, stopWritingAfterSeconds: 899}\n");
    assert!(found[0].contains("less than repository.staleAfterSeconds"), "{found:?}");
    let found = problems("repository: {path: git, stopWritingAfterSeconds: 0}\n");
    assert!(found[0].contains("from 10 to"), "{found:?}");
}

#[test]
fn broken_yaml_is_one_problem_with_a_place() {
    let found = problems("listen: 1\nlisten: 2\n");
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("levelset.yaml:2:1: "), "{found:?}");
    let found = problems("a: [\n");
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn a_file_that_is_not_there_is_a_problem_that_names_it() {
    let missing = Path::new("/nonexistent/levelset.yaml");
    let found = load(&Overrides::new(), &|_| None, Some(missing)).unwrap_err();
    assert!(found[0].to_string().contains("/nonexistent/levelset.yaml"), "{found:?}");
}

#[test]
fn a_section_that_is_no_mapping_is_reported() {
    let found = problems("environments: [a]\nlog: text\n");
    assert!(found.iter().all(|problem| problem.contains("has to be a mapping")), "{found:?}");
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn the_state_of_a_user_lives_in_the_users_state_folder() {
    use std::os::unix::fs::MetadataExt;
    let root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let env = |name: &str| (name == "XDG_STATE_HOME").then(|| "/home/me/state".to_owned());
    let config = load(&Overrides::new(), &env, None).unwrap();
    let expected = if root { "/var/lib/levelset" } else { "/home/me/state/levelset" };
    assert_eq!(config.state_directory.value, Path::new(expected));
}

#[test]
fn the_variable_names_the_file_before_the_usual_places_do() {
    let env = |name: &str| (name == "LEVELSET_CONFIG").then(|| "/x/y.yaml".to_owned());
    assert_eq!(default_file(&env), Some(PathBuf::from("/x/y.yaml")));
}

#[test]
fn kinds_and_services_may_have_roles_of_their_own() {
    let yaml = r#"
environments:
  staging:
    account: "210987654321"
    region: eu-west-1
    externalId: blue
    roles:
      rds: arn:aws:iam::210987654321:role/databases
      iam_role: arn:aws:iam::210987654321:role/roles
"#;
    let config = load_all(yaml, &[], &[]).unwrap();
    let roles = &config.environments["staging"].roles;
    assert_eq!(roles["rds"].value, "arn:aws:iam::210987654321:role/databases");
    assert_eq!(roles.len(), 2);
    let elsewhere = yaml.replace("iam::210987654321:role/roles", "iam::000000000012:role/roles");
    assert_eq!(
        problems(&elsewhere),
        ["levelset.yaml:9:17: environments.staging.roles.iam_role: the role is of account \
          000000000012, and the environment of 210987654321"]
    );
    let list =
        "environments: {staging: {account: \"210987654321\", region: eu-west-1, roles: [a]}}";
    assert_eq!(
        problems(list),
        [
            "levelset.yaml:1:77: environments.staging.roles: this has to be a mapping of settings to \
          values"
        ]
    );
}

#[test]
fn signatures_name_keys_and_are_never_switched_off_by_mistake() {
    let with = |inner: &str| format!("repository:\n  path: /r\n  signatures: {inner}\n");
    let config = load_all(&with("{allowedSignersFile: keys/signers}"), &[], &[]).unwrap();
    let signatures = config.repository.unwrap().signatures.unwrap();
    let file = signatures.allowed_signers.unwrap().value;
    assert!(file.is_absolute() && file.ends_with("keys/signers"));
    assert!(
        load_all("repository: {path: /r}", &[], &[])
            .unwrap()
            .repository
            .unwrap()
            .signatures
            .is_none()
    );
    let since = "0123456789abcdef0123456789abcdef01234567";
    for (inner, expected) in [
        ("{}", "3:15: repository.signatures: it names no keys: set allowedSignersFile"),
        ("", "repository.signatures: it names no keys"),
        (&format!("{{since: {since}}}"), "it names no keys"),
        ("{openPgpKeysFile: k, since: main}", "it is not the full id of a commit"),
        ("{allowedSigners: k}", "did you mean allowedSignersFile?"),
    ] {
        let found = problems(&with(inner)).join("\n");
        assert!(found.contains(expected), "{expected} is not in\n{found}");
    }
}
