//! Sorts what was seen: what can be declared, how, and what nobody declares.
//!
//! In: every resource that was read, with its kind. Out: a [`Survey`]. A kind makes a draft of each of
//! its resources; it may look around for what the others are called.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::owners::owner;
use super::{Found, Left, Wishes};
use crate::model::import::{Around, Section};
use crate::model::{Kind, KindName, Observed, Readiness, ResourceId, Scope};

/// Is a resource that was read.
pub type Seen = (&'static dyn Kind, ResourceId, Arc<Observed>);

/// Holds what was sorted.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    /// What can be declared.
    pub found: Vec<Found>,
    /// What nobody declares, and why.
    pub left: Vec<Left>,
}

/// Sorts resources.
pub fn survey(seen: &[Seen], wishes: &Wishes) -> Survey {
    let view = View::of(seen, wishes.production);
    let mut survey = Survey::default();
    for (kind, id, actual) in seen {
        let Some(import) = kind.import() else { continue };
        let passed = import.passed_over(&id.name, actual);
        let reason = passed.or_else(|| unsettled(*kind, actual));
        let reason = reason.or_else(|| owner(actual.tags.as_ref()?, wishes.managed));
        if let Some(reason) = reason {
            survey.left.push(Left { resource: id.clone(), reason });
            continue;
        }
        let around = At { view: &view, scope: &id.scope };
        let Some(draft) = import.draft(&id.name, actual, &around) else { continue };
        if let Section::Nowhere(reason) = draft.section {
            survey.left.push(Left { resource: id.clone(), reason });
            continue;
        }
        let mut known = import.known_as(actual);
        known.iter_mut().for_each(|(text, _)| *text = folded(text));
        known.push((id.to_string(), None));
        survey.found.push(Found { id: id.clone(), actual: Arc::clone(actual), draft, known });
    }
    survey
}

/// Says why something is in no state to be declared.
fn unsettled(kind: &dyn Kind, actual: &Observed) -> Option<String> {
    match kind.readiness(actual) {
        Readiness::Ready | Readiness::Limited { .. } => None,
        Readiness::Waiting { reason, .. } | Readiness::Broken { reason, .. } => Some(reason),
    }
}

/// Returns a text in the spelling in which it is looked up: names of DNS in lower case, without the
/// dot at the end.
pub(super) fn folded(text: &str) -> String {
    match text.starts_with("arn:") {
        true => text.to_owned(),
        false => text.trim_end_matches('.').to_ascii_lowercase(),
    }
}

/// Knows what was seen.
struct View<'a> {
    seen: &'a [Seen],
    by_text: BTreeMap<String, (&'a ResourceId, &'a Observed)>,
    parts: BTreeMap<String, Vec<&'a Observed>>,
    production: bool,
}

impl<'a> View<'a> {
    fn of(seen: &'a [Seen], production: bool) -> Self {
        let (mut by_text, mut parts) = (BTreeMap::new(), BTreeMap::<_, Vec<_>>::new());
        for (kind, id, actual) in seen {
            for (text, _) in kind.import().iter().flat_map(|it| it.known_as(actual)) {
                by_text.insert(folded(&text), (id, &**actual));
            }
            if let Some(whole) = kind.part_of(actual).filter(|whole| !whole.is_empty()) {
                parts.entry(whole.to_ascii_lowercase()).or_default().push(&**actual);
            }
        }
        Self { seen, by_text, parts, production }
    }
}

/// Looks around from one resource.
struct At<'a> {
    view: &'a View<'a>,
    scope: &'a Scope,
}

impl Around for At<'_> {
    fn find(&self, text: &str) -> Option<(&ResourceId, &Observed)> {
        self.view.by_text.get(&folded(text)).copied()
    }

    fn parts(&self, whole: &str) -> Vec<&Observed> {
        self.view.parts.get(whole).cloned().unwrap_or_default()
    }

    fn users(&self, kind: &KindName, name: &str, used: &Observed) -> Vec<&ResourceId> {
        let uses = |(user, _, actual): &&Seen| {
            let mut of_kind = user.usages().iter().filter(|usage| usage.of == *kind);
            of_kind.any(|usage| usage.is_seen(actual, name, used))
        };
        self.view.seen.iter().filter(uses).map(|(_, id, _)| id).collect()
    }

    fn scope(&self) -> &Scope {
        self.scope
    }

    fn is_production(&self) -> bool {
        self.view.production
    }
}
