//! What is fuzzed: one function per reader of bytes that come from outside.
//!
//! In: any bytes. Out: nothing, or a panic when a law does not hold. The same functions are driven
//! by the test command (mutations from a seed) and by libFuzzer (guided by coverage).

mod location;
mod manifest;
mod observed;
mod settings;
mod webhook;
mod xml;

use std::path::{Path, PathBuf};

/// Holds one target.
pub(crate) struct Target {
    /// Its name: `make fuzz TARGET=...`, and the folder of its own seeds.
    pub(crate) name: &'static str,
    /// Holds the bytes against the laws.
    pub(crate) run: fn(&[u8]),
    /// Seeds from what the repository has anyway.
    seeds: fn() -> Vec<Vec<u8>>,
}

/// Every target.
pub(crate) const TARGETS: &[Target] = &[
    Target { name: "manifest", run: manifest::run, seeds: manifest::seeds },
    Target { name: "settings", run: settings::run, seeds: settings::seeds },
    Target { name: "observed", run: observed::run, seeds: observed::seeds },
    Target { name: "location", run: location::run, seeds: Vec::new },
    Target { name: "xml", run: xml::run, seeds: Vec::new },
    Target { name: "webhook", run: webhook::run, seeds: Vec::new },
];

impl Target {
    /// Returns where its own seeds are.
    pub(crate) fn folder(&self) -> PathBuf {
        root().join("tests/fuzz/corpus").join(self.name)
    }

    /// Returns the seeds: its own, and what the repository has anyway.
    pub(crate) fn corpus(&self) -> Vec<Vec<u8>> {
        let own = files(&self.folder(), "").into_iter().map(|path| std::fs::read(path).unwrap());
        own.chain((self.seeds)()).collect()
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Lists the files below a folder whose names end so, in order.
fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, end));
        } else if path.to_string_lossy().ends_with(end) {
            found.push(path);
        }
    }
    found.sort();
    found
}
