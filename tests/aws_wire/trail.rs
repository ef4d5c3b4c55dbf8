//! Lookups of CloudTrail on two emulators.
//!
//! Ministack keeps an event history and names calls to RDS `POST.rds`, so that nobody can be blamed by it;
//! those to IAM it names as AWS does. Moto answers every lookup with an internal failure: who did it is
//! unknown there, and nothing else comes of it.

use levelset::model::ErrorClass;

use super::*;
use crate::support::emulators::{ministack, moto, region};

fn lookup(name: &str) -> Call {
    let attribute = json!([{"AttributeKey": "ResourceName", "AttributeValue": name}]);
    Call::new("cloudtrail", "LookupEvents")
        .with("LookupAttributes", attribute)
        .with("EndTime", 1_900_000_000)
        .with("MaxResults", 50)
}

#[tokio::test]
async fn a_lookup_is_understood_and_its_events_can_be_read() {
    let account = account_at(&ministack().url, "123456789098", region(), "123456789098");
    let here = Here { scope: account.scope.clone(), cloud: aws(account, Timeouts::default()) };
    here.ask(create("trailed")).await;
    let answer = here.ask(lookup("trailed")).await;
    let events = answer["Events"].as_array().expect("a list of events");
    for event in events {
        let inner = event["CloudTrailEvent"].as_str().expect("the event as text");
        let inner: Value = serde_json::from_str(inner).expect("JSON in it");
        assert!(inner.get("userIdentity").is_some(), "{inner}");
        let time = event["EventTime"].as_str().expect("a time as the AWS CLI shows it");
        assert!(time.parse::<Timestamp>().is_ok(), "{time}");
    }
    let unknown = here.refused(Call::new("cloudtrail", "LookupInsights")).await;
    assert_eq!(unknown.class, ErrorClass::Invalid, "{unknown}");
}

#[tokio::test]
async fn an_emulator_without_lookups_fails_in_a_way_that_says_nothing_of_permission() {
    let here = Here::moto(&moto().url, region());
    let error = here.refused(lookup("trailed")).await;
    assert_ne!(error.class, ErrorClass::Denied, "{error}");
}
