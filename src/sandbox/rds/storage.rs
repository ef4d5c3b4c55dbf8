//! Disks: types, sizes, IOPS, throughput, and what RDS refuses about them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::engine::Engine;
use crate::sandbox::args::Args;
use crate::sandbox::refusal::Refusal;

/// Describes a disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Disk {
    pub(super) kind: String,
    pub(super) size: i64,
    pub(super) iops: Option<i64>,
    pub(super) throughput: Option<i64>,
}

/// Describes what a call asks of a disk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    kind: Option<&'a str>,
    size: Option<i64>,
    iops: Option<i64>,
    throughput: Option<i64>,
}

impl<'a> Asked<'a> {
    /// Reads the storage parameters of a call.
    pub(super) fn read(args: Args<'a>) -> Result<Self, Refusal> {
        Ok(Self {
            kind: args.text("StorageType")?,
            size: args.integer("AllocatedStorage")?,
            iops: args.integer("Iops")?,
            throughput: args.integer("StorageThroughput")?,
        })
    }

    fn provisions(self) -> bool {
        self.iops.is_some() || self.throughput.is_some()
    }
}

impl Disk {
    /// Makes the disk of a new instance.
    pub(super) fn create(engine: &Engine, asked: Asked<'_>) -> Result<Self, Refusal> {
        let default = if asked.iops.is_some() { "io1" } else { "gp3" };
        let kind = asked.kind.unwrap_or(default).to_owned();
        let size = asked.size.ok_or_else(|| invalid_size(engine, &kind, "none"))?;
        let mut disk = Self { kind, size, iops: asked.iops, throughput: asked.throughput };
        disk.check(engine, asked)?;
        disk.fill(engine);
        Ok(disk)
    }

    /// Makes the disk that a modification leads to.
    pub(super) fn change(&self, engine: &Engine, asked: Asked<'_>) -> Result<Self, Refusal> {
        let kind = asked.kind.unwrap_or(&self.kind).to_owned();
        let size = match asked.size {
            Some(size) if size < self.size => return Err(shrinks(self.size, size)),
            Some(size) if size > self.size => self.grow(engine, size),
            _ => self.size,
        };
        let grows = size > self.size;
        let stays = kind == self.kind;
        if grows && stays && self.is_provisioned(engine) && asked.iops.is_none() {
            return Err(Refusal::combination(
                "You must specify both the storage size and iops when modifying the storage size \
                 or iops on a DB instance that has iops.",
            ));
        }
        let kept = |value: Option<i64>| if stays { value } else { None };
        let mut disk = Self {
            kind,
            size,
            iops: asked.iops.or(kept(self.iops)),
            throughput: asked.throughput.or(kept(self.throughput)),
        };
        disk.check(engine, asked)?;
        disk.fill(engine);
        Ok(disk)
    }

    /// Returns what differs from another disk, under the names of pending values.
    pub(super) fn differences(&self, from: &Self) -> BTreeMap<&'static str, Value> {
        let mut changes = BTreeMap::new();
        if self.kind != from.kind {
            changes.insert("StorageType", json!(self.kind));
        }
        if self.size != from.size {
            changes.insert("AllocatedStorage", json!(self.size));
        }
        if self.iops != from.iops {
            changes.insert("Iops", json!(self.iops));
        }
        if self.throughput != from.throughput {
            changes.insert("StorageThroughput", json!(self.throughput));
        }
        changes
    }

    fn is_provisioned(&self, engine: &Engine) -> bool {
        match self.kind.as_str() {
            "io1" | "io2" => true,
            "gp3" => engine.gp3_threshold.is_some_and(|threshold| self.size >= threshold),
            _ => false,
        }
    }

    /// Growth of less than a tenth becomes a tenth.
    fn grow(&self, engine: &Engine, size: i64) -> i64 {
        let tenth_more = (self.size * 11 + 9) / 10;
        if engine.rounds_growth { size.max(tenth_more) } else { size }
    }

    fn check(&self, engine: &Engine, asked: Asked<'_>) -> Result<(), Refusal> {
        let (low, high) = match self.kind.as_str() {
            "gp2" | "gp3" => (20, 65536),
            "io1" | "io2" => (100, 65536),
            "standard" => (5, 3072),
            other => return Err(Refusal::value(format!("Invalid storage type: {other}"))),
        };
        if !(low..=high).contains(&self.size) {
            return Err(invalid_size(engine, &self.kind, &self.size.to_string()));
        }
        match self.kind.as_str() {
            "gp3" => self.check_gp3(engine, asked),
            "io1" | "io2" => self.check_provisioned(asked),
            kind if asked.provisions() => Err(Refusal::combination(format!(
                "You can't specify IOPS or storage throughput for storage type {kind}."
            ))),
            _ => Ok(()),
        }
    }

    fn check_gp3(&self, engine: &Engine, asked: Asked<'_>) -> Result<(), Refusal> {
        if let Some(threshold) = engine.gp3_threshold.filter(|threshold| self.size < *threshold) {
            if !asked.provisions() {
                return Ok(());
            }
            return Err(Refusal::combination(format!(
                "You can't specify IOPS or storage throughput for engine {} and a storage size less than {threshold}.",
                engine.name
            )));
        }
        let (iops, throughput) = baseline(engine, self.size);
        let low = asked.iops.is_some_and(|given| given < iops || given > 64_000);
        let slow = asked.throughput.is_some_and(|given| given < throughput || given > 4_000);
        if low || slow {
            return Err(Refusal::combination(format!(
                "Invalid IOPS or storage throughput for storage type gp3 and engine {}: at least {iops} and {throughput}.",
                engine.name
            )));
        }
        Ok(())
    }

    fn check_provisioned(&self, asked: Asked<'_>) -> Result<(), Refusal> {
        if asked.throughput.is_some() {
            return Err(Refusal::combination(format!(
                "You can't specify storage throughput for storage type {}.",
                self.kind
            )));
        }
        let Some(iops) = self.iops else {
            return Err(Refusal::combination(format!(
                "The parameter Iops must be specified for storage type {}.",
                self.kind
            )));
        };
        // From half to fifty times the storage amount: API reference, CreateDBInstance, Iops.
        if iops < 1000 || iops * 2 < self.size || iops > self.size * 50 {
            return Err(Refusal::combination(format!(
                "The IOPS to GiB ratio must be between 0.5 and 50, and IOPS at least 1000: {iops} IOPS, {} GiB.",
                self.size
            )));
        }
        Ok(())
    }

    /// Fills in what the type brings with it, and drops what it does not have.
    fn fill(&mut self, engine: &Engine) {
        match self.kind.as_str() {
            "gp3" => {
                let (iops, throughput) = baseline(engine, self.size);
                self.iops = Some(self.iops.unwrap_or(iops).max(iops));
                self.throughput = Some(self.throughput.unwrap_or(throughput).max(throughput));
            }
            "io1" | "io2" => self.throughput = None,
            _ => (self.iops, self.throughput) = (None, None),
        }
    }
}

/// Returns what gp3 gives without being asked: IOPS and MiB/s.
fn baseline(engine: &Engine, size: i64) -> (i64, i64) {
    match engine.gp3_threshold {
        Some(threshold) if size >= threshold => (12_000, 500),
        _ => (3_000, 125),
    }
}

fn invalid_size(engine: &Engine, kind: &str, size: &str) -> Refusal {
    let name = engine.name;
    let text =
        format!("Invalid storage size for engine name {name} and storage type {kind}: {size}");
    Refusal::value(text)
}

fn shrinks(from: i64, to: i64) -> Refusal {
    let text = format!(
        "Requested storage size ({to}) cannot be less than the current storage size ({from})"
    );
    Refusal::combination(text)
}
