//! Proves that manifests change nothing, with the stages that the agent plans with.
//!
//! In: documents. Out: those whose plan takes resources over and does nothing else, and what had to be
//! taken out for that. Each round reads the texts as a commit, checks them, and plans every object
//! against the answers that they were made from; what differs is taken out, until nothing does.

use std::collections::BTreeMap;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::cli::error::Error;
use crate::desired::{Cache, Guard, Snapshot};
use crate::import::mend::{by_plan, by_problems, without_networks};
use crate::import::render::{Rendered, render};
use crate::import::{Document, Left};
use crate::model::tree::{Content, Entry};
use crate::model::{ChangeSet, Key, ObjectKind, Revision};
use crate::reconcile::engine::Engine;
use crate::reconcile::preview::preview;

/// No document needs more rounds: each takes something out.
const ROUNDS: usize = 40;

/// Is a document with its text.
pub(super) type Written = (Document, Rendered);

/// Holds what was proven.
pub(super) struct Proven {
    /// The documents that change nothing.
    pub(super) documents: Vec<Written>,
    /// What is in none of them.
    pub(super) left: Vec<Left>,
}

/// Proves documents.
///
/// # Errors
///
/// [`Error::Plan`] when an object cannot be planned at all.
pub(super) async fn prove(
    engine: &mut Engine,
    mut documents: Vec<Document>,
) -> Result<Proven, Error> {
    let mut left = Vec::new();
    // What waits for another resource is no fault of its own while anything else is wrong.
    let mut follows = false;
    for _ in 0..ROUNDS {
        left.extend(without_networks(&mut documents));
        documents.retain(|document| !document.members.is_empty());
        let written: Vec<Written> =
            documents.iter().map(|document| (document.clone(), render(document))).collect();
        let snapshot = read(engine, &written);
        let (mut changed, mut kept) = (false, Vec::new());
        for (mut document, rendered) in written {
            match mend(engine, &snapshot, (&mut document, &rendered), follows).await? {
                Ok((is_changed, out)) => {
                    changed |= is_changed;
                    left.extend(out);
                    kept.push((document, rendered));
                }
                Err(reason) => {
                    changed = true;
                    left.extend(given_up(&document, &reason));
                }
            }
        }
        match (changed, follows) {
            (false, true) => return Ok(Proven { documents: kept, left }),
            (is_changed, _) => follows = !is_changed,
        }
        documents = kept.into_iter().map(|(document, _)| document).collect();
    }
    let reason = "no manifest could be made of it that changes nothing";
    left.extend(documents.iter().flat_map(|document| given_up(document, reason)));
    Ok(Proven { documents: Vec::new(), left })
}

fn given_up(document: &Document, reason: &str) -> Vec<Left> {
    let left = |resource| Left { resource, reason: reason.to_owned() };
    document.members.iter().map(|member| left(member.id.clone())).collect()
}

type Mended = Result<(bool, Vec<Left>), String>;

/// Takes out of a document what its check or its plan finds.
async fn mend(
    engine: &Engine,
    snapshot: &Snapshot,
    (document, rendered): (&mut Document, &Rendered),
    follows: bool,
) -> Result<Mended, Error> {
    let problems = snapshot.problems.get(&*file(&document.key)).cloned().unwrap_or_default();
    match by_problems(document, rendered, &problems) {
        Ok((false, _)) => {}
        mended => return Ok(mended),
    }
    let Some(entry) = snapshot.objects.get(&document.key) else {
        let told = problems.first().map(|problem| problem.message.clone());
        return Ok(Err(told.unwrap_or_else(|| "its manifest is not taken".to_owned())));
    };
    let plan = preview(engine, entry, None).await.map_err(Error::Plan)?;
    Ok(by_plan(document, &plan, follows))
}

/// Returns the file of an object, from the folder that is written to.
pub(super) fn file(key: &Key) -> String {
    match key.kind {
        ObjectKind::Workspace => format!("{}.yaml", key.name),
        ObjectKind::Network => format!("networks/{}.yaml", key.name),
    }
}

/// Reads texts as if they were a commit, and lets the engine plan from them.
fn read(engine: &mut Engine, written: &[Written]) -> Arc<Snapshot> {
    let entry = |text: &str| Entry {
        blob: hex::encode(Sha256::digest(text)).into(),
        content: Content::Bytes(text.as_bytes().into()),
    };
    let changed: BTreeMap<Arc<str>, Entry> = written
        .iter()
        .map(|(document, rendered)| (file(&document.key).into(), entry(&rendered.text)))
        .collect();
    let revision = Revision::new("import");
    let changes = ChangeSet { revision, changed, removed: Vec::new(), full: true };
    let mut cache = Cache::new(Guard::default());
    // Which keys are new is the agent's interest; here all of them are.
    let _ = cache.apply(&changes);
    engine.desired = cache.reader();
    cache.snapshot()
}
