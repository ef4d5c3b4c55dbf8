//! What one pass costs the work queue, as the number of keys in it grows.
//!
//! The steps of an operation grow with the logarithm of the depth; beyond that, what grows is how many
//! of them miss the caches: a million keys and their places take some 300 MB.
#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use jiff::{SignedDuration, Timestamp};
use levelset::model::Key;
use levelset::queue::{Lane, Queue};

/// Fills a queue with keys whose resyncs are spread over five minutes.
fn filled(depth: u32, start: Timestamp) -> Queue<Key> {
    let mut queue = Queue::new();
    for n in 0..depth {
        let due = start + SignedDuration::from_millis(i64::from(n) * 300_000 / i64::from(depth));
        queue.add(Key::workspace(format!("team-{n:07}-prod")), Lane::Resync, due, start);
    }
    queue
}

/// One add of a change, one take and one done that asks for the next resync.
fn pass(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("queue/add+take+done");
    group.warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3));
    for depth in [100, 10_000, 100_000, 1_000_000] {
        let start = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(24 * 365 * 50);
        let keys: Vec<Key> =
            (0..depth).map(|n| Key::workspace(format!("team-{n:07}-prod"))).collect();
        let mut queue = filled(depth, start);
        let (mut now, mut nth) = (start, 0usize);
        group.bench_function(BenchmarkId::from_parameter(depth), |bencher| {
            bencher.iter(|| {
                now += SignedDuration::from_micros(10);
                nth = (nth + 7_919) % keys.len();
                queue.add(keys[nth].clone(), Lane::Change, now, now);
                let Some(taken) = queue.take(now) else { return };
                let next = now + SignedDuration::from_secs(300);
                black_box(queue.next_due(now));
                queue.done(&taken.key, now, Some((Lane::Resync, next)), Some(now));
            });
        });
    }
    group.finish();
}

criterion_group!(benches, pass);
criterion_main!(benches);
