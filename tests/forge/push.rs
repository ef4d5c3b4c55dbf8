//! From a push to a converged cloud, by way of a webhook.

use jiff::Timestamp;

use super::stage::Stage;

#[tokio::test(flavor = "multi_thread")]
async fn a_push_over_http_fires_a_webhook_and_the_cloud_follows() {
    let stage = Stage::begin("").await;
    stage.until("convergence", |stage| stage.is_ready("team-a"));
    let woken = "levelset_webhooks_total{host=\"github\",result=\"woken\"}";
    assert_eq!(stage.figure(woken).as_deref(), Some("0"));
    let calls = stage.cloud.calls_since(0).len();
    let begin = Timestamp::now();
    stage.push("team-b");
    let pushed = Timestamp::now();
    stage.until("convergence", |stage| stage.is_ready("team-b"));
    assert_eq!(stage.figure(woken).as_deref(), Some("1"));
    let first = &stage.cloud.calls_since(0)[calls];
    println!(
        "from the start of the push to its end {}, to the first call {}",
        pushed.duration_since(begin),
        first.at.duration_since(begin)
    );
}
