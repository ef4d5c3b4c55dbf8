//! What the `storage` of a database alone proves wrong.
//!
//! Source, where no other is named: the API reference of `CreateDBInstance` and the page "Amazon
//! RDS DB instance storage" of the RDS User Guide.

use super::check::alias;
use super::engine::Engine;
use super::spec::{Database, Storage};
use crate::model::Finding;

/// The IOPS and throughput that gp3 storage has below the size from which it can be chosen.
pub(super) const BASELINE_IOPS: u32 = 3_000;
/// See [`BASELINE_IOPS`].
pub(super) const BASELINE_MIBPS: u32 = 125;

/// The largest size in GiB of any storage, which is the maximum of the schema too.
const LARGEST: u32 = 65_536;

/// Finds what is wrong with the storage.
pub(super) fn check(database: &Database, found: &mut Vec<Finding>) {
    let (Some(storage), Some(engine)) = (&database.storage, Engine::of(&database.engine)) else {
        return;
    };
    let kind = storage.kind.as_deref().map(str::to_ascii_lowercase);
    if kind.as_deref().is_some_and(|kind| !known(kind)) {
        let message = format!("{} is no storage type", kind.unwrap_or_default());
        found.push(
            Finding::error("/storage/type", "UnknownStorageType", message)
                .hint("gp2, gp3, io1, io2 or standard"),
        );
        return;
    }
    let kind = kind.as_deref();
    size(storage, engine, kind, found);
    ceiling(storage, kind, found);
    provisioned(storage, engine, kind, found);
    if storage.encrypted == Some(false) && storage.kms_key.is_some() {
        let message = "a key without encryption has no effect";
        found.push(Finding::error("/storage/kmsKey", "KeyWithoutEncryption", message));
    }
    alias("/storage/kmsKey", storage.kms_key.as_deref(), found);
}

fn known(kind: &str) -> bool {
    ["gp2", "gp3", "io1", "io2", "standard"].contains(&kind)
}

fn size(storage: &Storage, engine: Engine, kind: Option<&str>, found: &mut Vec<Finding>) {
    let Some(size) = storage.size_gib else { return };
    // Of an existing database the type may be any: the widest range counts.
    let range = match kind {
        Some(kind) => engine.sizes(kind),
        None => Some((5, LARGEST)),
    };
    let Some((least, most)) = range else {
        let message = format!("this engine has no {} storage", kind.unwrap_or_default());
        return found.push(Finding::error("/storage/type", "UnknownStorageType", message));
    };
    if !(least..=most).contains(&size) {
        let message = format!("{size} GiB is not between {least} and {most} GiB");
        // Beyond every range the schema says so as well: one code, told once.
        let code = if size > LARGEST { "OutOfRange" } else { "SizeOutOfRange" };
        found.push(Finding::error("/storage/sizeGiB", code, message));
    }
}

/// AWS wants the bound more than a tenth above the size, and has no autoscaling on magnetic storage.
fn ceiling(storage: &Storage, kind: Option<&str>, found: &mut Vec<Finding>) {
    let Some(most) = storage.max_size_gib else { return };
    if kind == Some("standard") {
        let message = "magnetic storage does not grow by itself";
        found.push(Finding::error("/storage/maxSizeGiB", "NoAutoscaling", message));
    }
    let Some(size) = storage.size_gib else { return };
    if most != size && u64::from(most) * 10 < u64::from(size) * 11 {
        let message = format!("{most} GiB is not a tenth above the size of {size} GiB");
        let least = size.saturating_add(size.div_ceil(10));
        found.push(
            Finding::error("/storage/maxSizeGiB", "MaxSizeTooSmall", message)
                .hint(format!("at least {least}, or {size} for off")),
        );
    }
}

fn provisioned(storage: &Storage, engine: Engine, kind: Option<&str>, found: &mut Vec<Finding>) {
    if matches!(kind, Some("io1" | "io2")) && storage.iops.is_none() {
        let message = "this storage type needs iops";
        found.push(Finding::error("/storage/iops", "IopsMissing", message));
    }
    if storage.iops.is_none() && storage.throughput_mibps.is_none() {
        return;
    }
    let pointer = if storage.iops.is_some() { "/storage/iops" } else { "/storage/throughputMiBps" };
    let (Some(kind), Some(size)) = (kind, storage.size_gib) else {
        let message = "whether AWS takes this depends on type and sizeGiB";
        return found.push(
            Finding::error(pointer, "TypeAndSizeMissing", message).hint("declare both as well"),
        );
    };
    match kind {
        "gp3" => gp3(storage, engine, size, found),
        "io1" | "io2" => io(storage, engine, kind, size, found),
        _ => {
            let message = format!("{kind} storage has no IOPS or throughput to choose");
            found.push(Finding::error(pointer, "NotProvisioned", message));
        }
    }
}

fn gp3(storage: &Storage, engine: Engine, size: u32, found: &mut Vec<Finding>) {
    let threshold = engine.gp3_threshold();
    let below = size < threshold;
    let iops = storage.iops.unwrap_or(BASELINE_IOPS);
    let mibps = storage.throughput_mibps.unwrap_or(BASELINE_MIBPS);
    if below && (iops != BASELINE_IOPS || mibps != BASELINE_MIBPS) {
        let pointer =
            if iops == BASELINE_IOPS { "/storage/throughputMiBps" } else { "/storage/iops" };
        let message = format!(
            "gp3 storage under {threshold} GiB has {BASELINE_IOPS} IOPS and {BASELINE_MIBPS} MiB/s"
        );
        found.push(
            Finding::error(pointer, "Gp3IopsBelowThreshold", message)
                .hint(format!("leave them out, or declare at least {threshold} GiB")),
        );
    }
    if !below && engine != Engine::SqlServer {
        floor("/storage/iops", storage.iops, 12_000, found);
        floor("/storage/throughputMiBps", storage.throughput_mibps, 500, found);
    } else if !below {
        floor("/storage/iops", storage.iops, BASELINE_IOPS, found);
        floor("/storage/throughputMiBps", storage.throughput_mibps, BASELINE_MIBPS, found);
    }
}

/// AWS gives this much in any case and would answer it whatever is declared.
fn floor(pointer: &str, value: Option<u32>, least: u32, found: &mut Vec<Finding>) {
    if let Some(value) = value
        && value < least
    {
        let message = format!("{value} is under the {least} that storage of this size has");
        found.push(
            Finding::error(pointer, "Gp3BelowBaseline", message).hint("leave it out, or more"),
        );
    }
}

fn io(storage: &Storage, engine: Engine, kind: &str, size: u32, found: &mut Vec<Finding>) {
    if storage.throughput_mibps.is_some() {
        let message = format!("{kind} storage has no throughput to choose");
        found.push(Finding::error("/storage/throughputMiBps", "NotProvisioned", message));
    }
    let Some(iops) = storage.iops else { return };
    let least = if engine == Engine::SqlServer { size } else { size.div_ceil(2) };
    let most = if kind == "io1" { size.saturating_mul(50) } else { size.saturating_mul(1_000) };
    if iops < least || iops > most {
        let message = format!("{iops} IOPS for {size} GiB is not between {least} and {most}");
        found.push(Finding::error("/storage/iops", "IopsOutOfRatio", message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_numbers_are_judged_and_not_computed_beyond() {
        for kind in [None, Some("gp2"), Some("gp3"), Some("io1"), Some("io2"), Some("standard")] {
            for engine in ["postgres", "sqlserver-se", "oracle-ee"] {
                let database: Database = serde_json::from_value(serde_json::json!({
                    "engine": engine, "version": "15", "sizeClass": "db.r6g.large",
                    "storage": {
                        "type": kind, "sizeGiB": u32::MAX, "maxSizeGiB": 1,
                        "iops": u32::MAX, "throughputMiBps": u32::MAX,
                    },
                }))
                .unwrap();
                let mut found = Vec::new();
                check(&database, &mut found);
                let codes: Vec<&str> = found.iter().map(|finding| finding.code).collect();
                assert!(codes.contains(&"OutOfRange"), "{engine} {kind:?}: {codes:?}");
                assert!(codes.contains(&"MaxSizeTooSmall"), "{engine} {kind:?}: {codes:?}");
            }
        }
    }
}
