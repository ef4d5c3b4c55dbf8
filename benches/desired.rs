//! What a commit costs the desired cache, as the number of objects in the repository grows.
#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use levelset::desired::{Cache, Guard};
use levelset::model::tree::{Content, SourceHealth};
use levelset::model::{ChangeSet, Entry, Revision};

fn manifest(n: usize, version: usize) -> (Arc<str>, Entry) {
    let text = format!(
        "apiVersion: platform.kby.io/v1alpha1\nkind: Workspace\nmetadata:\n  name: team-{n:05}\n\
         spec:\n  environment: e{version}\n"
    );
    let content = Content::Bytes(text.as_bytes().into());
    (format!("teams/team-{n:05}.yaml").into(), Entry { blob: text.into(), content })
}

fn change_set(changed: impl Iterator<Item = (Arc<str>, Entry)>, full: bool) -> ChangeSet {
    let changed: BTreeMap<_, _> = changed.collect();
    ChangeSet { revision: Revision::new("c0ffee"), changed, removed: Vec::new(), full }
}

fn filled(objects: usize) -> Cache {
    let mut cache = Cache::new(Guard::default());
    let _ = cache.apply(&change_set((0..objects).map(|n| manifest(n, 0)), true));
    cache
}

/// One commit that changes one file, with a reader that holds the snapshot before it.
fn commit(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("desired/one file changes");
    group.warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3));
    for objects in [100, 1_000, 10_000] {
        let mut cache = filled(objects);
        let mut version = 0;
        group.bench_function(BenchmarkId::from_parameter(objects), |bencher| {
            bencher.iter(|| {
                version += 1;
                let held = cache.snapshot();
                let one = std::iter::once(manifest(version % objects, version));
                let _ = black_box(cache.apply(&change_set(one, false)));
                drop(held);
            });
        });
    }
    group.finish();
}

/// One report of the source's health, which comes with every poll.
fn health(criterion: &mut Criterion) {
    let mut cache = filled(10_000);
    let healthy = SourceHealth::default();
    criterion.bench_function("desired/health with 10000 objects", |bencher| {
        bencher.iter(|| cache.source(healthy.clone()));
    });
}

criterion_group!(benches, commit, health);
criterion_main!(benches);
