//! The budgets on paused time.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use proptest::prelude::*;
use serde_json::json;
use tokio::time::{advance, sleep, timeout};

use super::*;
use crate::aws::testing::{Answering, Sent, accept, failure, read, target, write};

const BUDGET: Budget = Budget { burst: 10, per_second: 2.0, write_reserve: 4 };

fn budgets(longest_wait: u64) -> Budgets {
    Budgets {
        services: BTreeMap::new(),
        default: BUDGET,
        longest_wait: Duration::from_secs(longest_wait),
    }
}

/// Returns how many milliseconds after `start` each call left.
fn times(sent: &Mutex<Sent>, start: Instant) -> Vec<u128> {
    sent.lock().unwrap().iter().map(|(at, _)| (*at - start).as_millis()).collect()
}

/// Returns how full the only bucket is.
fn fill<C: Cloud>(cloud: &Budgeted<C>) -> Fill {
    cloud.levels(Timestamp::UNIX_EPOCH)[0].fill
}

fn names(sent: &Mutex<Sent>) -> Vec<String> {
    sent.lock().unwrap().iter().map(|(_, call)| call.clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_burst_leaves_at_once_and_the_rest_at_the_rate() {
    let (cloud, sent) = Answering::with(accept);
    let cloud = Budgeted::new(cloud, budgets(60));
    let (target, call, start) = (target("1"), write(), Instant::now());
    join_all((0..13).map(|_| cloud.call(&target, &call))).await;
    let mut expected = vec![0; 10];
    expected.extend([500, 1_000, 1_500]);
    assert_eq!(times(&sent, start), expected);
}

#[tokio::test(start_paused = true)]
async fn reads_leave_the_reserve_to_writes() {
    let (cloud, sent) = Answering::with(accept);
    let cloud = Budgeted::new(cloud, budgets(60));
    let (target, read, write, start) = (target("1"), read(), write(), Instant::now());
    let reads = join_all((0..8).map(|_| cloud.call(&target, &read)));
    let writes = async {
        sleep(Duration::from_millis(100)).await;
        join_all((0..4).map(|_| cloud.call(&target, &write))).await
    };
    tokio::join!(reads, writes);
    // Six reads take the burst down to the reserve; the writes take the reserve at once; the two
    // reads that are left wait until the reserve is whole again.
    assert_eq!(times(&sent, start), [0, 0, 0, 0, 0, 0, 100, 100, 100, 100, 2_500, 3_000]);
}

#[tokio::test(start_paused = true)]
async fn a_read_that_came_first_yields_to_a_write_that_waits() {
    let (cloud, sent) = Answering::with(accept);
    let cloud = Budgeted::new(cloud, budgets(600));
    let (target, read, write) = (target("1"), read(), write());
    join_all((0..10).map(|_| cloud.call(&target, &write))).await;
    let waiting_read = cloud.call(&target, &read);
    let later_write = async {
        sleep(Duration::from_millis(10)).await;
        cloud.call(&target, &write).await
    };
    let (read_done, write_done) = tokio::join!(waiting_read, later_write);
    assert!(read_done.is_ok() && write_done.is_ok());
    assert_eq!(names(&sent)[10..], ["rds:ModifyDBInstance", "rds:DescribeDBInstances"]);
}

#[tokio::test(start_paused = true)]
async fn calls_of_one_line_leave_in_the_order_in_which_they_came() {
    let (cloud, sent) = Answering::with(accept);
    let cloud = Budgeted::new(cloud, budgets(600));
    let target = target("1");
    let calls: Vec<Call> = ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N"]
        .map(|name| Call::new("rds", name))
        .into();
    join_all(calls.iter().map(|call| cloud.call(&target, call))).await;
    let expected: Vec<String> = calls.iter().map(ToString::to_string).collect();
    assert_eq!(names(&sent), expected);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_too_long_is_answered_throttled_and_never_sent() {
    let (cloud, sent) = Answering::with(accept);
    let cloud = Budgeted::new(cloud, budgets(2));
    let (target, call) = (target("1"), read());
    let answers = join_all((0..12).map(|_| cloud.call(&target, &call))).await;
    // Six at once, four within two seconds, two never.
    let withheld: Vec<&CallError> = answers.iter().filter_map(|a| a.as_ref().err()).collect();
    assert_eq!(withheld.len(), 2);
    assert_eq!((withheld[0].class, &*withheld[0].code), (ErrorClass::Throttled, "BudgetExhausted"));
    assert_eq!(sent.lock().unwrap().len(), 10);
    assert_eq!(fill(&cloud).per_second, 2.0, "our own refusal is no throttling by AWS");
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_gives_up_holds_nobody_up_and_takes_no_token() {
    let (cloud, sent) = Answering::with(accept);
    let cloud = Budgeted::new(cloud, budgets(60));
    let (target, call, start) = (target("1"), write(), Instant::now());
    join_all((0..10).map(|_| cloud.call(&target, &call))).await;
    let gone = timeout(Duration::from_millis(100), cloud.call(&target, &call)).await;
    assert!(gone.is_err());
    cloud.call(&target, &call).await.unwrap();
    assert_eq!(times(&sent, start)[10..], [500]);
}

#[tokio::test(start_paused = true)]
async fn throttling_halves_the_rate_once_per_event_and_ends_the_burst() {
    let (cloud, _) = Answering::with(|_: &Call| Err(failure(ErrorClass::Throttled, "Throttling")));
    let cloud = Budgeted::new(cloud.taking(Duration::from_millis(200)), budgets(60));
    let (target, call) = (target("1"), read());
    let _ = join_all((0..5).map(|_| cloud.call(&target, &call))).await;
    let level = fill(&cloud);
    assert_eq!((level.tokens, level.per_second), (4.0, 1.0), "five answers, one event");
    advance(Duration::from_secs(30)).await;
    let before = fill(&cloud).per_second;
    assert!(before > 1.0 && before < 2.0, "{before}");
    let _ = cloud.call(&target, &call).await;
    let after = fill(&cloud).per_second;
    assert!(after > before / 2.0 && after < before / 2.0 + 0.01, "{before} {after}");
}

#[tokio::test(start_paused = true)]
async fn after_throttling_reads_go_on_at_the_halved_rate_without_refilling_the_reserve() {
    let (cloud, sent) = Answering::with(|call: &Call| match call.text("n") {
        Some("throttled") => Err(failure(ErrorClass::Throttled, "Throttling")),
        _ => Ok(json!({})),
    });
    let cloud = Budgeted::new(cloud, budgets(60));
    let (target, read, start) = (target("1"), read(), Instant::now());
    let _ = cloud.call(&target, &read.clone().with("n", "throttled")).await;
    join_all((0..3).map(|_| cloud.call(&target, &read))).await;
    // The rate is 1 a second and grows by a sixtieth a second.
    let left = times(&sent, start);
    assert!((950..=1_001).contains(&left[1]), "{left:?}");
    assert!((1_900..=2_002).contains(&left[2]), "{left:?}");
    assert!((2_850..=3_003).contains(&left[3]), "{left:?}");
}

#[tokio::test(start_paused = true)]
async fn throttling_adds_nothing_to_what_is_left_of_the_reserve() {
    let (cloud, _) = Answering::with(|_: &Call| Err(failure(ErrorClass::Throttled, "Throttling")));
    let cloud = Budgeted::new(cloud.taking(Duration::from_millis(200)), budgets(60));
    let (target, call) = (target("1"), write());
    join_all((0..8).map(|_| cloud.call(&target, &call))).await;
    let tokens = fill(&cloud).tokens;
    assert!((tokens - 2.4).abs() < 1e-9, "{tokens}: two were left, the answers took 0.2 s");
}

#[tokio::test(start_paused = true)]
async fn the_rate_never_falls_below_a_sixteenth_and_grows_back_along_a_line() {
    let (cloud, _) = Answering::with(|_: &Call| Err(failure(ErrorClass::Throttled, "Throttling")));
    let cloud = Budgeted::new(cloud, budgets(600));
    let (target, call) = (target("1"), write());
    for _ in 0..12 {
        let _ = cloud.call(&target, &call).await;
        advance(Duration::from_secs(1)).await;
    }
    let low = fill(&cloud).per_second;
    assert!((0.125..0.3).contains(&low), "{low}");
    advance(Duration::from_secs(30)).await;
    let later = fill(&cloud).per_second;
    assert!(
        (later - low - 30.0 * 2.0 / crate::model::budget::RECOVERY_SECONDS).abs() < 1e-9,
        "{low} {later}"
    );
    advance(Duration::from_secs(120)).await;
    assert_eq!(fill(&cloud).per_second, 2.0);
    assert_eq!(fill(&cloud).tokens, 10.0);
}

#[tokio::test(start_paused = true)]
async fn accounts_and_services_spend_their_own_budgets() {
    let (cloud, sent) = Answering::with(accept);
    let cloud = Budgeted::new(cloud, budgets(60));
    let (one, two, start) = (target("1"), target("2"), Instant::now());
    let (rds, ec2) = (write(), Call::new("ec2", "RunInstances"));
    join_all(
        (0..10)
            .flat_map(|_| [cloud.call(&one, &rds), cloud.call(&two, &rds), cloud.call(&one, &ec2)]),
    )
    .await;
    assert_eq!(times(&sent, start), [0; 30]);
    assert_eq!(cloud.levels(Timestamp::UNIX_EPOCH).len(), 3);
}

#[tokio::test(start_paused = true)]
async fn the_ledger_counts_what_came_of_the_calls() {
    let (cloud, _) = Answering::with(|call: &Call| match call.text("n") {
        Some("bad") => Err(failure(ErrorClass::Denied, "AccessDenied")),
        _ => Ok(json!({})),
    });
    let cloud = Budgeted::new(cloud, budgets(0));
    let (look, change) = (target("1"), Target { cause: Cause::Change, ..target("1") });
    for call in [read(), read(), read().with("n", "bad")] {
        let _ = cloud.call(&look, &call).await;
    }
    for _ in 0..8 {
        let _ = cloud.call(&change, &write()).await;
    }
    let entries = |cloud: &Budgeted<_>| -> Vec<(String, Cause, Outcome, u64)> {
        let entries = cloud.take_ledger().into_iter();
        entries.map(|it| (it.line.operation, it.line.cause, it.outcome, it.calls)).collect()
    };
    let describe = |outcome, calls| ("DescribeDBInstances".to_owned(), Cause::List, outcome, calls);
    let modify = |outcome, calls| ("ModifyDBInstance".to_owned(), Cause::Change, outcome, calls);
    assert_eq!(
        entries(&cloud),
        [
            describe(Outcome::Accepted, 2),
            describe(Outcome::Failed(ErrorClass::Denied), 1),
            modify(Outcome::Accepted, 7),
            modify(Outcome::Withheld, 1),
        ]
    );
    assert!(entries(&cloud).is_empty(), "what was taken is not told again");
}

#[tokio::test(start_paused = true)]
async fn a_restart_starts_with_the_reserve_and_remembers_that_aws_throttled() {
    let (cloud, _) = Answering::with(|_: &Call| Err(failure(ErrorClass::Throttled, "Throttling")));
    let (before, at) = (Budgeted::new(cloud, budgets(60)), Timestamp::UNIX_EPOCH);
    let _ = before.call(&target("1"), &read()).await;
    let levels = before.levels(at);

    let (cloud, _) = Answering::with(accept);
    let after = Budgeted::new(cloud, budgets(60));
    after.restore(&levels, at + jiff::SignedDuration::from_secs(30));
    assert_eq!(fill(&after), Fill { tokens: 4.0, per_second: 1.5 }, "of 10 and 2.0");
    let later = Budgeted::new(Answering::with(accept).0, budgets(60));
    later.restore(&levels, at + jiff::SignedDuration::from_hours(3));
    assert_eq!(fill(&later), Fill { tokens: 4.0, per_second: 2.0 });
}

#[test]
fn the_default_budget_of_rds_is_half_of_what_aws_allows() {
    let rds = Budgets::default().of("rds");
    assert_eq!((rds.burst, rds.per_second), (300 / 2, 12.0 / 2.0));
    assert!(rds.write_reserve > 0 && rds.write_reserve < rds.burst);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever comes, and whatever AWS throttles: no window holds more than the budget.
    #[test]
    fn no_window_of_time_holds_more_calls_than_the_budget(
        arrivals in prop::collection::vec((0_u64..3_000, any::<bool>(), 0_u8..10), 1..120),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let (cloud, sent) = Answering::with(|call: &Call| match call.text("n") {
                Some("throttled") => Err(failure(ErrorClass::Throttled, "Throttling")),
                _ => Ok(json!({})),
            });
            let cloud = Budgeted::new(cloud, budgets(30));
            let target = target("1");
            let calls = arrivals.iter().map(|(after, is_read, luck)| {
                let (cloud, target) = (&cloud, &target);
                let call = if *is_read { read() } else { write() };
                let call = if *luck == 0 { call.with("n", "throttled") } else { call };
                async move {
                    sleep(Duration::from_millis(*after)).await;
                    let _ = cloud.call(target, &call).await;
                }
            });
            join_all(calls).await;
            assert_within_budget(&sent.lock().unwrap());
        });
    }
}

fn assert_within_budget(sent: &[(Instant, String)]) {
    for (first, (from, _)) in sent.iter().enumerate() {
        for (last, (to, _)) in sent.iter().enumerate().skip(first) {
            let window = (*to - *from).as_secs_f64();
            let allowed = f64::from(BUDGET.burst) + BUDGET.per_second * window;
            let calls = (last - first + 1) as f64;
            assert!(calls <= allowed + 1e-6, "{calls} calls in {window} s, {allowed} allowed");
        }
    }
}
