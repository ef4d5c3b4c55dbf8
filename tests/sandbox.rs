//! The sandbox's HTTP door, driven by boto3: a client that nobody here wrote.

use std::sync::Arc;
use std::time::Duration;

use levelset::cli::clock::SystemClock;
use levelset::model::{AccountId, Region, Scope};
use levelset::sandbox::faults::{Effect, Rule};
use levelset::sandbox::{Sandbox, Settings, http};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::support::python;

fn scope() -> Scope {
    Scope { account: AccountId::new("111122223333"), region: Region::new("eu-west-1") }
}

/// Serves a sandbox on a free port while boto3 plays a scenario, then stops it in order.
async fn play(scenario: &str, prepare: impl FnOnce(&Sandbox)) {
    play_with(Settings::fast(11), scenario, prepare).await;
}

async fn play_with(settings: Settings, scenario: &str, prepare: impl FnOnce(&Sandbox)) {
    let sandbox = Sandbox::new(Arc::new(SystemClock), settings);
    prepare(&sandbox);
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let (stop, stopped) = oneshot::channel::<()>();
    let server = http::serve(sandbox, listener, async {
        let _ = stopped.await;
    });
    let client = async {
        python::run("sandbox_boto3.py", &[&endpoint, scenario]).await;
        stop.send(()).unwrap();
    };
    let (served, ()) = tokio::join!(server, client);
    served.unwrap();
}

#[tokio::test]
async fn boto3_takes_an_instance_through_its_whole_life() {
    play("life", |_| {}).await;
}

#[tokio::test]
async fn boto3_pages_through_more_instances_than_fit_an_answer() {
    play("pages", |_| {}).await;
}

#[tokio::test]
async fn boto3_manages_subnet_groups_and_parameter_groups() {
    play("groups", |sandbox| {
        sandbox.seed_vpc(&scope(), "shared", "10.0.0.0/16", &["a", "b"]);
    })
    .await;
}

#[tokio::test]
async fn boto3_recognises_every_error_as_its_own_class() {
    let mut settings = Settings::fast(11);
    // Long enough to be met with, on the slowest machine.
    settings.durations.deleting = Duration::from_secs(3600);
    play_with(settings, "errors", |_| {}).await;
}

#[tokio::test]
async fn boto3_assumes_roles_and_finds_networks() {
    play("identities", |sandbox| {
        sandbox.seed_vpc(&scope(), "shared", "10.0.0.0/16", &["a", "b"]);
    })
    .await;
}

#[tokio::test]
async fn boto3_meets_lost_answers_throttling_and_faults() {
    play("faults", |sandbox| {
        let inject = |effect, key| Rule::new(effect).by(key);
        sandbox.inject(inject(Effect::LoseAnswer, "555566667777").operation("Modify*").times(1));
        sandbox.inject(inject(Effect::Throttle, "666677778888"));
        sandbox.inject(inject(Effect::Throttle, "777788889999").times(1));
        sandbox.inject(inject(Effect::Deny, "888899990000"));
        sandbox.inject(inject(Effect::ServerErrorAfter, "999900001111"));
    })
    .await;
}
