//! How long the manifests of a large repository take: all of them, and one of them.
#![allow(missing_docs, reason = "a benchmark documents itself by its names")]

use criterion::{Criterion, criterion_group, criterion_main};
use levelset::manifest::{Files, parse};
use levelset::model::tree::Content;
use levelset::model::{ChangeSet, Entry, Revision};

const MANIFESTS: usize = 10_000;

fn manifest(number: usize) -> String {
    format!(
        "# The environment of team {number}.\napiVersion: platform.kby.io/v1alpha1\nkind: Workspace\n\
         metadata:\n  name: team-{number:05}\n  annotations:\n    platform.kby.io/owner: \"team-{number}\"\n\
         spec:\n  environment: production\n  resources:\n    database:\n      engine: postgres\n      \
         version: \"15\"\n      sizeClass: db.r6g.large\n      storage:\n        type: gp3\n        \
         sizeGiB: 200\n        maxSizeGiB: 500\n      multiAz: true\n      backups:\n        \
         retentionDays: 14\n        window: \"02:00-03:00\"\n      maintenanceWindow: \"sun:04:00-sun:05:00\"\n      \
         deletionProtection: true\n      parameters:\n        log_min_duration_statement: 500\n        \
         rds.force_ssl: 1\n      tags:\n        team: \"team-{number}\"\n        cost-centre: \"{number}\"\n    \
         network:\n      vpcRef: shared-prod-vpc\n  reconcilePolicy:\n    resyncIntervalSeconds: 300\n    \
         maxBackoffSeconds: 900\n"
    )
}

fn entry(text: &str) -> Entry {
    Entry { blob: text.into(), content: Content::Bytes(text.as_bytes().into()) }
}

fn repository() -> ChangeSet {
    let file = |number| (format!("teams/{number:05}.yaml").into(), entry(&manifest(number)));
    let changed = (0..MANIFESTS).map(file).collect();
    ChangeSet { revision: Revision::new("0"), changed, removed: Vec::new(), full: true }
}

fn whole(bench: &mut Criterion) {
    let changes = repository();
    let mut group = bench.benchmark_group("manifests");
    group.sample_size(10);
    group.bench_function("all_of_10000_from_nothing", |bench| {
        bench.iter(|| {
            let mut files = Files::default();
            assert_eq!(files.apply(&changes).len(), MANIFESTS);
        });
    });
    let mut files = Files::default();
    let _ = files.apply(&changes);
    let mut one = ChangeSet { full: false, ..repository() };
    let mut round = 0;
    group.bench_function("one_of_10000_changes", |bench| {
        bench.iter(|| {
            round += 1;
            let text = manifest(7).replace("200", &format!("{}", 201 + round % 2));
            one.changed = [("teams/00007.yaml".into(), entry(&text))].into();
            assert_eq!(files.apply(&one).len(), 1);
        });
    });
    group.bench_function("none_of_10000_changes", |bench| {
        bench.iter(|| {
            assert!(
                files
                    .apply(&ChangeSet { full: false, changed: [].into(), ..one.clone() })
                    .is_empty()
            )
        });
    });
    group.finish();
}

fn single(bench: &mut Criterion) {
    let good = manifest(7);
    bench.bench_function("parse_a_good_manifest", |bench| {
        bench.iter(|| parse("a.yaml", good.as_bytes()));
    });
    let bad = good.replace("sizeClass", "sizeclass");
    bench.bench_function("parse_a_bad_manifest", |bench| {
        bench.iter(|| parse("a.yaml", bad.as_bytes()));
    });
}

criterion_group!(benches, whole, single);
criterion_main!(benches);
