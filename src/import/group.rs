//! Which resources are one workspace.
//!
//! In: what can be declared. Out: for each the name of its object, or why it has none. A resource that
//! a workspace is made for has one of its own; parts go to the only one that uses them; the others to
//! the only workspace that they have to do with: by a text with which one names the other, by the
//! beginning of their name, or by a tag that says whose they are. What is left stands together.

use std::collections::{BTreeMap, BTreeSet};

use super::names::{free, slug};
use super::survey::folded;
use super::{Found, Wishes};
use crate::model::ResourceId;
use crate::model::import::Section;
use crate::model::inverse;

/// Tags whose values are taken for the name of a workspace, where nothing else says it.
const TELLING: [&str; 6] = ["service", "application", "app", "project", "team", "owner"];

/// Why a part is left out that there is one of already.
pub(super) const FURTHER: &str =
    "a workspace has one of its own, and this is a further one; it is named";

/// The workspace of what belongs to none.
const SHARED: &str = "shared";

/// Says where each resource goes, in the order of the resources.
pub(super) type Places = Vec<Result<String, String>>;

/// Groups resources.
pub(super) fn group(found: &[Found], wishes: &Wishes) -> Places {
    let relations = Relations::of(found);
    let mut places: Vec<Option<Result<String, String>>> = vec![None; found.len()];
    let mut taken = BTreeSet::new();
    for (at, one) in found.iter().enumerate() {
        let Section::Own(_) = one.draft.section else { continue };
        let own = slug(&one.id.name);
        let candidates = match tag(one, wishes.group_by.as_deref()) {
            Some(value) => vec![slug(&value), slug(&format!("{value}-{own}"))],
            None => vec![own],
        };
        places[at] = Some(Ok(free(&candidates, &mut taken)));
    }
    for (at, one) in found.iter().enumerate() {
        if let Section::Object(_) | Section::With(_) = one.draft.section {
            places[at] = Some(Ok(String::new()));
        }
    }
    for at in 0..found.len() {
        if let Section::Part(_) = found[at].draft.section {
            places[at] = Some(part(at, found, &relations, &places));
        }
    }
    by_tag(found, wishes, &mut places);
    by_relation(found, &relations, &mut places);
    by_name(found, &taken, &mut places);
    let rest = |(place, one): (Option<Result<String, String>>, &Found)| {
        place.unwrap_or_else(|| Ok(telling(one).unwrap_or_else(|| SHARED.to_owned())))
    };
    let places = places.into_iter().zip(found).map(rest).collect();
    together(found, &relations, places)
}

/// Returns which resource an id is of.
fn position(found: &[Found], id: &ResourceId) -> Option<usize> {
    found.iter().position(|one| one.id == *id)
}

/// Puts what stands in the entry of another resource where that is, and parts where their users are;
/// leaves out what needs another one that is left out.
fn together(found: &[Found], relations: &Relations, mut places: Places) -> Places {
    let lacks = |id: &ResourceId| Err(format!("{id}, which goes with it, is left out"));
    for (one, place) in found.iter().zip(&mut places) {
        if let Some(id) = one.draft.needs.iter().find(|id| position(found, id).is_none()) {
            *place = lacks(id);
        }
    }
    for (at, one) in found.iter().enumerate() {
        if let Section::With(id) = &one.draft.section {
            let holder = position(found, id).and_then(|holder| places[holder].clone().ok());
            places[at] = holder.map_or_else(|| lacks(id), Ok);
        }
    }
    of_others(found, relations, &mut places);
    places
}

/// Knows who names whom.
struct Relations {
    /// For each resource those that it has to do with.
    of: Vec<BTreeSet<usize>>,
    /// For each resource those that name it.
    users: Vec<BTreeSet<usize>>,
}

impl Relations {
    fn of(found: &[Found]) -> Self {
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, one) in found.iter().enumerate() {
            known.extend(one.known.iter().map(|(text, _)| (text.as_str(), at)));
        }
        let mut of = vec![BTreeSet::new(); found.len()];
        let mut users = vec![BTreeSet::new(); found.len()];
        for (at, one) in found.iter().enumerate() {
            let holder = match &one.draft.section {
                Section::With(id) => position(found, id),
                _ => None,
            };
            let at = holder.unwrap_or(at);
            for text in &one.draft.uses {
                let text = folded(text);
                // What is in a bucket, or made by a group, has to do with that.
                let within = text.split_once('/').map_or("", |(whole, _)| whole);
                let other = known.get(text.as_str()).or_else(|| known.get(within));
                let Some(other) = other.filter(|it| **it != at) else { continue };
                users[*other].insert(at);
                of[at].insert(*other);
                of[*other].insert(at);
            }
        }
        Self { of, users }
    }
}

/// Lists those for whose sake a part is: what workspaces are made for, if that is among its users.
fn users_of(at: usize, found: &[Found], relations: &Relations) -> Vec<usize> {
    let is_own = |user: &&usize| matches!(found[**user].draft.section, Section::Own(_));
    let own: Vec<usize> = relations.users[at].iter().filter(is_own).copied().collect();
    if own.is_empty() { relations.users[at].iter().copied().collect() } else { own }
}

/// Puts parts where their users are that no workspace is made for; what a workspace is made for comes
/// first.
fn of_others(found: &[Found], relations: &Relations, places: &mut Places) {
    let path_of = |at: usize| match found[at].draft.section {
        Section::Part(path) => Some(path),
        _ => None,
    };
    for at in 0..found.len() {
        let Some(path) = path_of(at).filter(|_| places[at] == Ok(String::new())) else { continue };
        let user = users_of(at, found, relations).first().map(|user| places[*user].clone());
        let place = user.and_then(Result::ok);
        let is_taken = |other: usize| {
            path_of(other) == Some(path) && places[other].as_ref().ok() == place.as_ref()
        };
        let place = match (&place, (0..found.len()).any(is_taken)) {
            (None, _) => Err("what uses it is left out".to_owned()),
            (Some(_), true) => Err(FURTHER.to_owned()),
            (Some(place), false) => Ok(place.clone()),
        };
        places[at] = place;
    }
}

/// Finds the workspace of the only one that uses a part; empty where that is not known yet.
fn part(
    at: usize,
    found: &[Found],
    relations: &Relations,
    places: &[Option<Result<String, String>>],
) -> Result<String, String> {
    match users_of(at, found, relations).as_slice() {
        [] => Err("nothing that is imported uses it".to_owned()),
        [only] => places[*only].clone().unwrap_or_else(|| Ok(String::new())),
        many => {
            let names: Vec<&str> = many.iter().map(|user| &*found[*user].id.name).collect();
            Err(format!(
                "it is shared by {}, which name it; no manifest declares it",
                names.join(", ")
            ))
        }
    }
}

fn tag(one: &Found, key: Option<&str>) -> Option<String> {
    let tags = one.actual.tags.as_ref()?;
    tags.get(key?).filter(|value| !value.trim().is_empty()).cloned()
}

fn by_tag(found: &[Found], wishes: &Wishes, places: &mut [Option<Result<String, String>>]) {
    for (one, place) in found.iter().zip(places) {
        if place.is_none()
            && let Some(value) = tag(one, wishes.group_by.as_deref())
        {
            *place = Some(Ok(slug(&value)));
        }
    }
}

fn by_relation(
    found: &[Found],
    relations: &Relations,
    places: &mut [Option<Result<String, String>>],
) {
    let is_placed = |place: &Option<Result<String, String>>| match place {
        Some(Ok(name)) if !name.is_empty() => Some(name.clone()),
        _ => None,
    };
    loop {
        let mut changed = false;
        for at in 0..found.len() {
            if places[at].is_some() {
                continue;
            }
            let around: BTreeSet<String> =
                relations.of[at].iter().filter_map(|other| is_placed(&places[*other])).collect();
            if around.len() == 1 {
                places[at] = around.into_iter().next().map(Ok);
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

/// A name that begins with that of a workspace and a sign belongs to it: the longest one counts.
fn by_name(
    found: &[Found],
    workspaces: &BTreeSet<String>,
    places: &mut [Option<Result<String, String>>],
) {
    for (one, place) in found.iter().zip(places) {
        if place.is_some() {
            continue;
        }
        let name = one.draft.name.as_ref().map_or(&*one.id.name, |(_, name)| name.as_str());
        let name = name.to_lowercase();
        let begins = |workspace: &&String| {
            let rest = name.strip_prefix(workspace.as_str());
            rest.is_some_and(|rest| rest.starts_with(['-', '/', '_', '.']))
        };
        let longest = workspaces.iter().filter(begins).max_by_key(|workspace| workspace.len());
        *place = longest.cloned().map(Ok);
    }
}

/// Returns what a tag says of whose a resource is.
fn telling(one: &Found) -> Option<String> {
    let tags = inverse::tags(&one.actual)?;
    let find = |wanted: &&str| {
        let of = tags.iter().find(|(key, _)| key.eq_ignore_ascii_case(wanted));
        of.and_then(|(_, value)| value.as_str()).filter(|value| !value.trim().is_empty())
    };
    TELLING.iter().find_map(find).map(slug)
}
