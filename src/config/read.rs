//! From layers to the settings that are not of the repository or an environment.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use super::layers::Layers;
use super::{
    Config, Guards, Log, LogFormat, Setting, check, environments, forge, hooks, repository,
    webhooks,
};

type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

pub(super) fn config(layers: &mut Layers<'_>, env: Env<'_>) -> Config {
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 8080));
    Config {
        agent_name: layers.setting("agent.name", "levelset".to_owned(), check::agent_name),
        repository: repository::repository(layers),
        state_directory: layers
            .path("stateDirectory")
            .unwrap_or_else(|| Setting::default_of(state_directory(env))),
        listen: layers.setting("listen", listen, check::address),
        hosts: layers.setting("hosts", Vec::new(), check::hosts),
        workers: layers.setting("workers", 4, |text| check::number(text, 1, 64)),
        guards: guards(layers),
        log: Log {
            format: layers.setting("log.format", LogFormat::Text, check::log_format),
            level: layers.setting("log.level", tracing::Level::INFO, check::log_level),
        },
        environments: environments::environments(layers),
        webhooks: webhooks::webhooks(layers),
        forge: forge::forge(layers),
        hooks: hooks::hooks(layers),
        cloud_trail: layers.setting("cloudTrail", false, check::boolean),
        custom_types: layers.setting("customTypes", vec!["*".to_owned()], check::patterns),
    }
}

fn guards(layers: &mut Layers<'_>) -> Guards {
    let period = layers
        .setting("guards.periodSeconds", 3600, |text| check::number(text, 60, 604_800))
        .map(Duration::from_secs);
    let deletion_grace = layers
        .setting("guards.deletionGraceSeconds", 3600, |text| check::number(text, 0, 2_592_000))
        .map(Duration::from_secs);
    Guards {
        max_objects: layers.setting("guards.maxObjects", 5, |text| check::number(text, 0, 100_000)),
        max_percent: layers.setting("guards.maxPercent", 20, |text| check::number(text, 0, 100)),
        period,
        deletion_grace,
    }
}

/// Follows the file system hierarchy for root, and the XDG base directories for everyone else.
fn state_directory(env: Env<'_>) -> PathBuf {
    let set = |name: &str| env(name).filter(|value| value.starts_with('/')).map(PathBuf::from);
    let home = || set("HOME").map(|home| home.join(".local/state"));
    match is_root() {
        true => None,
        false => set("XDG_STATE_HOME").or_else(home),
    }
    .map_or_else(|| PathBuf::from("/var/lib/levelset"), |state| state.join("levelset"))
}

/// The owner of our own entry in `/proc` is the effective user.
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}
