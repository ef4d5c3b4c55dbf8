//! Throttling, lost answers, broken connections and late answers, put between the SDK and moto.

use std::time::Duration;

use levelset::aws::{Budgeted, Budgets};
use levelset::model::ErrorClass;

use super::*;
use crate::support::emulators::{faulty_moto, moto, region};

/// Puts one fault in front of moto, in a region of its own, and returns both ways there.
async fn place(fault: Value) -> (Here, Here, &'static str) {
    let region = region();
    let mut rule = json!({"service": "rds", "region": region});
    rule.as_object_mut().unwrap().extend(fault.as_object().unwrap().clone());
    faulty_moto().add_rules(&json!([rule])).await;
    (Here::moto(&faulty_moto().url, region), Here::moto(&moto().url, region), region)
}

#[tokio::test]
async fn throttling_is_known_for_what_it_is_and_halves_the_budget() {
    let (here, _, region) =
        place(json!({"operation": "DescribeDBInstances", "error": {"code": "Throttling"}})).await;
    let here = Here { cloud: Budgeted::new(here.cloud, Budgets::default()), scope: here.scope };
    let error = here.refused(rds("DescribeDBInstances")).await;
    assert_eq!((error.class, &*error.code), (ErrorClass::Throttled, "Throttling"));
    let level = &here.cloud.levels(WallClock.now())[0];
    assert_eq!(level.budget.per_second, 6.0);
    assert!((3.0..3.1).contains(&level.fill.per_second), "{level:?}");
    assert_eq!(
        faulty_moto().fired(region).await,
        ["DescribeDBInstances error:Throttling"],
        "the SDK tried once"
    );
}

#[tokio::test]
async fn throttling_of_ec2_is_known_for_what_it_is() {
    let region = region();
    let rule = json!({
        "service": "ec2", "region": region, "operation": "DescribeVpcs",
        "error": {"code": "RequestLimitExceeded"},
    });
    faulty_moto().add_rules(&json!([rule])).await;
    let here = Here::moto(&faulty_moto().url, region);
    let error = here.refused(Call::new("ec2", "DescribeVpcs")).await;
    assert_eq!((error.class, &*error.code), (ErrorClass::Throttled, "RequestLimitExceeded"));
    assert_eq!(faulty_moto().fired(region).await, ["DescribeVpcs error:RequestLimitExceeded"]);
}

#[tokio::test]
async fn a_create_whose_answer_is_lost_is_ambiguous_and_a_read_finds_what_it_made() {
    let (here, _, region) =
        place(json!({"operation": "CreateDBInstance", "response": {"abort_bytes": 0}})).await;
    let error = here.refused(create("one")).await;
    assert_eq!(error.class, ErrorClass::Ambiguous, "{error}");
    assert_eq!(here.ask(describe("one")).await["DBInstances"][0]["Engine"], "postgres");
    assert_eq!(faulty_moto().fired(region).await.len(), 1, "the SDK tried once");
}

#[tokio::test]
async fn a_connection_that_breaks_before_the_call_applies_is_as_ambiguous_and_a_read_finds_nothing()
{
    let (here, direct, region) =
        place(json!({"operation": "CreateDBInstance", "reset": true})).await;
    let error = here.refused(create("one")).await;
    assert_eq!(error.class, ErrorClass::Ambiguous, "{error}");
    assert_eq!(direct.refused(describe("one")).await.code, "DBInstanceNotFound");
    assert_eq!(faulty_moto().fired(region).await, ["CreateDBInstance reset"]);
}

#[tokio::test]
async fn a_gateway_that_gives_up_leaves_a_write_ambiguous_and_a_read_transient() {
    let (here, _, region) = place(json!({"timeout_ms": 50})).await;
    let write = here.refused(create("one")).await;
    assert_eq!(write.class, ErrorClass::Ambiguous, "{write}");
    let read = here.refused(describe("one")).await;
    assert_eq!(read.class, ErrorClass::Transient, "{read}");
    assert_eq!(faulty_moto().fired(region).await.len(), 2);
}

#[tokio::test]
async fn an_answer_that_comes_too_late_is_a_timeout() {
    let (_, _, region) = place(json!({"latency": 20_000})).await;
    let account = account_at(&faulty_moto().url, MOTO_ACCOUNT, region, "test");
    let timeouts = Timeouts { attempt: Duration::from_millis(700), ..Timeouts::default() };
    let here = Here { scope: account.scope.clone(), cloud: aws(account, timeouts) };
    let (write, read) = tokio::join!(here.refused(create("one")), here.refused(describe("one")));
    assert_eq!((write.class, &*write.code), (ErrorClass::Ambiguous, "Timeout"));
    assert_eq!((read.class, &*read.code), (ErrorClass::Transient, "Timeout"));
    assert_eq!(faulty_moto().fired(region).await.len(), 2);
}

#[tokio::test]
async fn a_list_that_is_cut_short_is_a_failed_read_and_never_a_shorter_list() {
    let (here, direct, region) =
        place(json!({"operation": "DescribeDBInstances", "response": {"truncate_frac": 0.5}}))
            .await;
    for name in ["one", "two", "three"] {
        direct.ask(create(name)).await;
    }
    let error = here.refused(rds("DescribeDBInstances")).await;
    assert_eq!(error.class, ErrorClass::Transient, "{error}");
    assert_eq!(faulty_moto().fired(region).await.len(), 1);
}

#[tokio::test]
async fn a_server_that_is_not_there_was_certainly_not_reached() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = Url::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
    drop(listener);
    let here = Here::moto(&url, "eu-west-1");
    for call in [create("one"), describe("one"), Call::new("ec2", "DescribeVpcs")] {
        let error = here.refused(call).await;
        assert_eq!((error.class, &*error.code), (ErrorClass::Transient, "Unsent"), "{error}");
    }
}
