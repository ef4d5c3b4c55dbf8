//! Puts drafts together to documents.
//!
//! In: what can be declared, and where each goes. Out: documents in which every resource has a name,
//! names of AWS stand only where they do not follow from that, and what one resource knows of another
//! in the same object is a reference.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::group::{FURTHER, group};
use super::names::{free, key, slug};
use super::references::{Put, escape, refer};
use super::survey::folded;
use super::{Document, Found, Left, Member, Wishes};
use crate::model::import::{Section, Several};
use crate::model::sheet::{Entry, Node, Sheet};
use crate::model::{Key, ObjectKind, ResourceId, inverse};

/// The most of one section in a workspace: some kinds cost a read of each in every pass.
const MOST: usize = 50;

/// Keys of tags that name the owner.
const OWNERS: [&str; 2] = ["owner", "team"];

/// Puts documents together; returns with them what is in none, and why.
pub fn compose(found: &[Found], wishes: &Wishes) -> (Vec<Document>, Vec<Left>) {
    let places = group(found, wishes);
    let mut desk =
        Desk { wishes, found, documents: BTreeMap::new(), at: BTreeMap::new(), left: Vec::new() };
    let mut names = BTreeSet::new();
    let order = |section: &Section| match section {
        Section::Object(_) => 0,
        Section::Own(_) => 1,
        Section::Part(_) => 2,
        Section::Several(_) => 3,
        Section::With(_) | Section::Nowhere(_) => 4,
    };
    let mut ordered: Vec<usize> = (0..found.len()).collect();
    ordered.sort_by_key(|at| order(&found[*at].draft.section));
    for at in ordered {
        let one = &found[at];
        match (&one.draft.section, &places[at]) {
            (_, Err(reason)) => desk.leave(one, reason),
            (Section::Object(kind), Ok(_)) => desk.object(at, *kind, &mut names),
            (Section::Own(path), Ok(name)) => desk.single(at, name, path),
            (Section::Part(path), Ok(name)) => desk.part(at, name, path),
            (Section::Several(several), Ok(name)) => desk.several(at, name, several),
            (Section::With(id), Ok(_)) => desk.with(at, id),
            (Section::Nowhere(reason), Ok(_)) => desk.leave(one, reason),
        }
    }
    desk.finish()
}

struct Desk<'a> {
    wishes: &'a Wishes,
    found: &'a [Found],
    documents: BTreeMap<Key, Document>,
    /// Where each resource was put: the document, and the path in it.
    at: Put,
    left: Vec<Left>,
}

impl Desk<'_> {
    fn leave(&mut self, one: &Found, reason: &str) {
        self.left.push(Left { resource: one.id.clone(), reason: reason.to_owned() });
    }

    fn document(&mut self, key: Key) -> &mut Document {
        let environment = self.wishes.environment.clone();
        self.documents.entry(key.clone()).or_insert_with(|| Document {
            key,
            environment,
            owner: None,
            sheet: Sheet::default(),
            members: Vec::new(),
            originals: BTreeMap::new(),
        })
    }

    /// Puts a resource into a document, and its members at a path of it; it goes with what stands at
    /// these paths.
    fn put(&mut self, at: usize, key: Key, path: &str, sheet: Sheet, paths: Vec<String>) {
        let one = &self.found[at];
        let (id, owner) = (one.id.clone(), owner(one));
        let document = self.document(key.clone());
        document.owner = document.owner.take().or(owner);
        let target = if path.is_empty() { &mut document.sheet } else { document.sheet.sheet(path) };
        target.merge(sheet);
        document.members.push(Member { id, paths });
        self.at.insert(at, (key, path.to_owned()));
    }

    /// A draft of an object of its own: a network, which is called after its VPC or its group.
    fn object(&mut self, at: usize, kind: ObjectKind, names: &mut BTreeSet<String>) {
        let one = &self.found[at];
        let mut sheet = one.draft.sheet.clone();
        let vpc = match sheet.get("vpcName") {
            Some(Node::Value(Value::String(name))) => Some(name.clone()),
            _ => None,
        };
        let Some(vpc) = vpc else {
            let reason = sheet.remarks.first().cloned().unwrap_or_default();
            return self.leave(one, &reason);
        };
        let own = one.draft.name.as_ref().map_or(&*one.id.name, |(_, name)| name.as_str());
        let name = free(&[slug(&vpc), slug(own)], names);
        if name == vpc {
            sheet.remove("vpcName");
        }
        if let Some((field, real)) = &one.draft.name
            && *real != format!("{}-{name}", self.wishes.agent)
        {
            sheet.put(field, real.as_str());
        }
        self.put(at, Key::new(kind, name.as_str()), "", sheet, Vec::new());
    }

    /// The resource that a workspace is made for.
    fn single(&mut self, at: usize, name: &str, path: &str) {
        let one = &self.found[at];
        let mut sheet = Sheet::default();
        let mut own = one.draft.sheet.clone();
        if let Some((field, real)) = &one.draft.name
            && real != name
        {
            sheet.put(field, real.as_str());
        }
        let rest = std::mem::take(&mut own.entries);
        sheet.remarks = own.remarks;
        // The name stands after what the resource is: the first three say that.
        let (head, tail) = rest.split_at(rest.len().min(3));
        let named = std::mem::take(&mut sheet.entries);
        sheet.entries = head.iter().cloned().chain(named).chain(tail.iter().cloned()).collect();
        let key = Key::new(ObjectKind::Workspace, name);
        self.put(at, key, path, sheet, vec![path.to_owned()]);
    }

    fn part(&mut self, at: usize, name: &str, path: &str) {
        let one = &self.found[at];
        let key = Key::new(ObjectKind::Workspace, name);
        let sheet = one.draft.sheet.clone();
        let there = self.documents.get(&key).and_then(|document| document.sheet.get(path));
        let there = match there {
            Some(Node::Sheet(there)) => there.clone(),
            _ => Sheet::default(),
        };
        if !there.clone().merge(sheet.clone()).is_empty() {
            return self.leave(one, FURTHER);
        }
        let new = sheet.paths().into_iter().filter(|own| there.get(own).is_none());
        let paths = new.map(|own| format!("{path}.{own}")).collect();
        self.put(at, key, path, sheet, paths);
    }

    fn several(&mut self, at: usize, name: &str, several: &Several) {
        let one = &self.found[at];
        let (document, name) = self.room(name, several.path);
        let mut sheet = Sheet::default();
        let real = one.draft.name.as_ref();
        let end = several.end.as_deref().unwrap_or_default();
        let derived = |entry: &str| match several.joint {
            Some(joint) => format!("{name}{joint}{entry}{end}"),
            None => entry.to_owned(),
        };
        let rest = real.zip(several.joint).and_then(|((_, real), joint)| {
            let rest = real.strip_prefix(&name)?.strip_prefix(joint)?.strip_suffix(end)?;
            (key(rest) == rest).then(|| rest.to_owned())
        });
        let candidates: Vec<String> =
            rest.into_iter().chain(several.keys.iter().map(|text| key(text))).collect();
        let mut taken = entries(self.documents.get(&document), several.path);
        let entry = free(&candidates, &mut taken);
        if let Some((field, real)) = real
            && *real != derived(&entry)
        {
            sheet.put(field, real.as_str());
        }
        for (field, value) in &several.common {
            sheet.put(field, value.clone());
        }
        sheet.merge(one.draft.sheet.clone());
        let path = format!("{}.{entry}", several.path);
        self.put(at, document, &path.clone(), sheet, vec![path]);
    }

    /// What stands in the entry of another resource: what that is made from is said before the rest.
    fn with(&mut self, at: usize, id: &ResourceId) {
        let one = &self.found[at];
        let holder = self.at.iter().find(|(other, _)| self.found[**other].id == *id);
        let Some((holder, (key, path))) = holder.map(|(other, place)| (*other, place.clone()))
        else {
            return self.leave(one, "what it goes with is left out");
        };
        let name_of = |one: &Found| one.draft.name.as_ref().map(|(_, name)| name.clone());
        let name =
            one.draft.name.as_ref().filter(|(_, _)| name_of(one) != name_of(&self.found[holder]));
        let entry = self.document(key.clone()).sheet.sheet(&path);
        let rest = std::mem::take(entry);
        let is_name = |entry: &Entry| entry.key == "name";
        entry.entries.extend(rest.entries.iter().filter(|it| is_name(it)).cloned());
        if let Some((field, real)) = name {
            entry.put(field, real.as_str());
        }
        entry.merge(one.draft.sheet.clone());
        entry.merge(rest);
        self.put(at, key, &path.clone(), Sheet::default(), vec![path]);
    }

    /// Returns the document of a workspace, or of a further one where the section is full.
    fn room(&self, name: &str, path: &str) -> (Key, String) {
        let names = std::iter::once(name.to_owned()).chain((2..).map(|n| format!("{name}-{n}")));
        for name in names.take(1000) {
            let key = Key::new(ObjectKind::Workspace, name.as_str());
            if entries(self.documents.get(&key), path).len() < MOST {
                return (key, name);
            }
        }
        (Key::new(ObjectKind::Workspace, name), name.to_owned())
    }

    fn finish(mut self) -> (Vec<Document>, Vec<Left>) {
        self.name_objects();
        self.leave_implied();
        self.hoist();
        for document in self.documents.values_mut() {
            document.sheet.each_text(&mut |text, is_inside| *text = escape(text, is_inside));
        }
        refer(&mut self.documents, self.found, &self.at);
        self.narrow();
        let Self { documents, left, .. } = self;
        (documents.into_values().collect(), left)
    }

    /// Writes the names of objects that declare what a resource is in.
    fn name_objects(&mut self) {
        let known: BTreeMap<String, Key> = self
            .at
            .iter()
            .filter(|(_, (key, _))| key.kind != ObjectKind::Workspace)
            .flat_map(|(at, (key, _))| {
                self.found[*at].known.iter().map(|(text, _)| (text.clone(), key.clone()))
            })
            .collect();
        for (at, (key, _)) in &self.at {
            for (path, text) in &self.found[*at].draft.objects {
                let (Some(named), Some(document)) =
                    (known.get(&folded(text)), self.documents.get_mut(key))
                else {
                    continue;
                };
                document.sheet.put(path, &*named.name);
                let section = path.split('.').next().unwrap_or_default();
                first(document.sheet.sheet(section), path.rsplit('.').next().unwrap_or_default());
            }
        }
    }

    /// Takes away what follows from another resource of the same object.
    fn leave_implied(&mut self) {
        for (at, (key, path)) in &self.at {
            for (field, text) in &self.found[*at].draft.implied {
                let is_here = |other: &usize| {
                    let known = &self.found[*other].known;
                    known.iter().any(|(known, _)| *known == folded(text))
                };
                let is_implied =
                    self.at.iter().any(|(other, (its, _))| its == key && is_here(other));
                if let Some(document) = self.documents.get_mut(key).filter(|_| is_implied) {
                    document.sheet.remove(&format!("{path}.{field}"));
                }
            }
        }
    }

    /// Writes once what all entries of a section have in common.
    fn hoist(&mut self) {
        let mut shared: BTreeMap<(Key, &str, &str), Common> = BTreeMap::new();
        for (at, (key, path)) in &self.at {
            let Section::Several(several) = &self.found[*at].draft.section else { continue };
            for (field, value) in &several.common {
                let of = shared.entry((key.clone(), several.path, field)).or_default();
                of.push((path.clone(), value.clone()));
            }
        }
        for ((key, section, field), values) in shared {
            let Some(document) = self.documents.get_mut(&key) else { continue };
            let count = entries(Some(document), section).len();
            let first_value = values[0].1.clone();
            if values.len() < count || values.iter().any(|(_, value)| *value != first_value) {
                continue;
            }
            for (path, _) in &values {
                document.sheet.remove(&format!("{path}.{field}"));
            }
            let parent = section.rsplit_once('.').map_or(section, |(parent, _)| parent);
            document.sheet.put(&format!("{parent}.{field}"), first_value);
            first(document.sheet.sheet(parent), field);
        }
    }

    /// Keeps what was asked for: workspaces with something in them that has the tags and is in the VPC,
    /// and the networks that they name.
    fn narrow(&mut self) {
        if self.wishes.tags.is_empty() && self.wishes.vpc.is_none() {
            return;
        }
        let wishes = self.wishes;
        let is_meant = |one: &Found| {
            let tags = one.actual.tags.as_ref();
            let has = |(key, value): &(String, String)| {
                tags.and_then(|tags| tags.get(key)).is_some_and(|there| there == value)
            };
            let is_there =
                wishes.vpc.as_ref().is_none_or(|vpc| one.draft.vpc.as_ref() == Some(vpc));
            wishes.tags.iter().all(has) && is_there
        };
        let mut meant: BTreeSet<Key> = self
            .at
            .iter()
            .filter(|(at, _)| is_meant(&self.found[**at]))
            .map(|(_, (key, _))| key.clone())
            .collect();
        let named: Vec<Key> = self
            .documents
            .iter()
            .filter(|(key, _)| meant.contains(key))
            .filter_map(|(_, document)| network_of(document))
            .collect();
        meant.extend(named);
        self.documents.retain(|key, _| meant.contains(key));
    }
}

/// What the entries of a section say of a member, with their paths.
type Common = Vec<(String, Value)>;

/// Returns the network that a workspace names.
pub(super) fn network_of(document: &Document) -> Option<Key> {
    match document.sheet.get("network.vpcRef")? {
        Node::Value(Value::String(name)) => Some(Key::new(ObjectKind::Network, name.as_str())),
        _ => None,
    }
}

/// Moves a member to the front.
fn first(sheet: &mut Sheet, key: &str) {
    if let Some(at) = sheet.entries.iter().position(|entry| entry.key == key) {
        let entry = sheet.entries.remove(at);
        sheet.entries.insert(0, entry);
    }
}

/// Lists the names in a section.
fn entries(document: Option<&Document>, path: &str) -> BTreeSet<String> {
    match document.and_then(|document| document.sheet.get(path)) {
        Some(Node::Sheet(section)) => {
            section.entries.iter().map(|entry| entry.key.clone()).collect()
        }
        _ => BTreeSet::new(),
    }
}

fn owner(one: &Found) -> Option<String> {
    let tags = inverse::tags(&one.actual)?;
    let find = |wanted: &&str| {
        let of = tags.iter().find(|(key, _)| key.eq_ignore_ascii_case(wanted));
        of.and_then(|(_, value)| value.as_str()).map(str::to_owned)
    };
    OWNERS.iter().find_map(find)
}
