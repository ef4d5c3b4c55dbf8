//! Reads what there is: the lists of every kind, and of single resources only what no list holds.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::cli::error::Error;
use crate::cli::output::Output;
use crate::import::survey::Seen;
use crate::import::{Survey, Wishes, survey};
use crate::kinds;
use crate::model::import::Section;
use crate::model::{Doubt, Kind, KindName, Observed, ResourceId, Scope};
use crate::observe::Observer;

/// Holds what was read.
pub(super) struct Reading {
    /// What was read, sorted.
    pub(super) survey: Survey,
    /// What could not be read, and why.
    pub(super) unread: Vec<(String, Doubt)>,
    /// Kinds that cannot be imported yet.
    pub(super) not_yet: Vec<KindName>,
    /// How many resources were read.
    pub(super) read: usize,
}

/// Reads everything that can be imported.
///
/// # Errors
///
/// [`Error::Unread`] when nothing could be read.
pub(super) async fn read(
    observer: &Observer,
    scope: &Scope,
    wishes: &Wishes,
    is_offline: bool,
    output: &Output,
) -> Result<Reading, Error> {
    let mut seen: Vec<Seen> = Vec::new();
    let (mut unread, mut not_yet) = (Vec::new(), Vec::new());
    let progress = output.progress("reading AWS", kinds::all().len());
    for kind in kinds::all() {
        if kind.import().is_none() {
            not_yet.push(kind.name());
            continue;
        }
        match observer.every(*kind, &kind.home(scope)).await {
            Ok(all) => seen.extend(all.into_iter().map(|(id, actual)| (*kind, id, actual))),
            // Saved answers are of what somebody saved.
            Err(Doubt::NotRecorded(_)) if is_offline => {}
            Err(doubt) => unread.push((kind.name().to_string(), doubt)),
        }
        progress.advance();
    }
    progress.finish();
    if let (true, Some((kind, doubt))) = (seen.is_empty(), unread.first()) {
        return Err(Error::Unread(format!("{kind}: {doubt}")));
    }
    let read = seen.len();
    details(observer, &mut seen, wishes, &mut unread).await;
    Ok(Reading { survey: survey(&seen, wishes), unread, not_yet, read })
}

/// Reads what no list holds of what may be declared: the tags of some kinds, the parameters of groups.
/// What no other resource uses is not asked for.
async fn details(
    observer: &Observer,
    seen: &mut Vec<Seen>,
    wishes: &Wishes,
    unread: &mut Vec<(String, Doubt)>,
) {
    let first = survey(seen, wishes);
    let used: BTreeSet<String> = first.found.iter().flat_map(|it| it.draft.uses.clone()).collect();
    let wanted: BTreeSet<&ResourceId> = first
        .found
        .iter()
        .filter(|it| !matches!(it.draft.section, Section::Part(_)) || is_used(it, &used))
        .map(|it| &it.id)
        .collect();
    let mut lost = BTreeSet::new();
    for (kind, id, actual) in seen.iter_mut().filter(|(_, id, _)| wanted.contains(id)) {
        match one(observer, *kind, id, actual).await {
            Ok(more) => *actual = more,
            Err(doubt) => {
                unread.push((id.to_string(), doubt));
                lost.insert(id.clone());
            }
        }
    }
    seen.retain(|(_, id, _)| !lost.contains(id));
}

fn is_used(one: &crate::import::Found, used: &BTreeSet<String>) -> bool {
    one.known.iter().any(|(text, _)| used.contains(text))
}

async fn one(
    observer: &Observer,
    kind: &dyn Kind,
    id: &ResourceId,
    actual: &Arc<Observed>,
) -> Result<Arc<Observed>, Doubt> {
    let calls = kind.import().map(|import| import.reads(actual)).unwrap_or_default();
    let more = match calls.is_empty() {
        true => Arc::clone(actual),
        false => observer.more(kind, id, actual, calls).await?,
    };
    observer.tags(kind, id, more).await
}
