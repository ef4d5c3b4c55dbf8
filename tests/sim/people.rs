//! What developers do in the repository.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use levelset::model::{Clock, Key, ObjectKind};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::access::Access;
use super::console;
use super::repository::{File, Repository, Tree};
use super::script::{Event, FOREIGN};
use super::spec::{Annotations, CLASSES, Deletion, Doc, Spec, Workspace, pick};
use super::world::{World, scope};

/// Makes the first commit, and what was there before it.
pub(super) fn begin(world: &World, seed: u64) {
    let mut random = StdRng::seed_from_u64(seed ^ 0x6007);
    let mut gates = StdRng::seed_from_u64(seed ^ 0x9a7e);
    let mut workspace = |n| {
        let spec = Workspace::random(&mut random);
        Doc::workspace(
            &format!("team-{n}"),
            Workspace { access: Box::new(Access::random(&mut gates)), ..spec },
        )
    };
    let mut docs: Vec<Doc> = (0..world.profile.workspaces).map(&mut workspace).collect();
    if world.profile.taken {
        let spec = Workspace::random(&mut random);
        console::ask(world, &scope(spec.production), console::database(FOREIGN));
        docs.push(Doc::workspace(FOREIGN, spec));
    }
    world.repository().commit(|tree| {
        put(tree, "README.yaml", File::Note);
        if random.random() {
            put(tree, "core.yaml", File::Good(vec![Doc::network("core", &mut random)]));
        }
        while !docs.is_empty() {
            let rest = docs.split_off(docs.len().min(random.random_range(1..3)));
            let path = format!("teams/{}.yaml", docs[0].key.name);
            put(tree, &path, File::Good(std::mem::replace(&mut docs, rest)));
        }
    });
}

/// Does what an event asks of a developer; tells whether it was one.
pub(super) fn develop(world: &World, event: &Event, random: &mut StdRng) -> bool {
    let mut repository = world.repository();
    match event {
        Event::Edit => repository.commit(|tree| edit(tree, random)),
        Event::Admit => repository.commit(|tree| {
            if let Some(Spec::Workspace(spec)) = some_doc(tree, random).map(|doc| &mut doc.spec) {
                spec.access.edit(random);
            }
        }),
        Event::Resize => repository.commit(|tree| {
            for (_, spec) in workspaces(tree) {
                spec.class = *pick::<&str>(random, &CLASSES);
            }
        }),
        Event::Tune => repository.commit(|tree| {
            workspaces(tree).for_each(|(_, spec)| spec.tune(random));
        }),
        Event::Break => repository.commit(|tree| {
            if let Some(path) = some_path(tree, random) {
                let docs = tree[&path].docs().to_vec();
                let broken =
                    if random.random() { File::Unreadable(docs) } else { File::Mistaken(docs) };
                put(tree, &path, broken);
            }
        }),
        Event::Mend => repository.commit(mend),
        Event::Rename => repository.commit(|tree| {
            if let Some(path) = some_path(tree, random) {
                let file = tree.remove(&path).unwrap();
                tree.insert(format!("moved/{}", path.replace('/', "-")).into(), file);
            }
        }),
        Event::Section => repository.commit(|tree| {
            if let Some(Spec::Workspace(spec)) = some_doc(tree, random).map(|doc| &mut doc.spec) {
                spec.database ^= true;
            }
        }),
        _ => {
            return take_away(&mut repository, event, random)
                || annotate(&mut repository, world.clock.now(), event, random);
        }
    }
    true
}

/// Takes objects out of Git, or puts them back; tells whether an event asks for that.
fn take_away(repository: &mut Repository, event: &Event, random: &mut StdRng) -> bool {
    match event {
        Event::Remove => repository.commit(|tree| {
            for _ in 0..random.random_range(1..4) {
                let path = some_path(tree, random);
                path.and_then(|path| tree.remove(&path));
            }
        }),
        Event::Doom => repository.commit(|tree| doom(tree, random)),
        Event::Repent => {
            let word = *pick(random, &[Deletion::Retain, Deletion::Snapshot]);
            let path = doomed(&repository.head, random);
            repository.commit(|tree| say(tree, path.as_ref(), word));
            repository.commit(|tree| drop(path.and_then(|path| tree.remove(&path))));
        }
        Event::Bury => repository.commit(|tree| bury(tree, random)),
        Event::DoomAndBury => {
            repository.commit(|tree| doom(tree, random));
            repository.commit(|tree| bury(tree, random));
        }
        Event::Empty => repository.commit(Tree::clear),
        Event::Return => {
            let ever = repository.ever.clone();
            repository.commit(|tree| restore(tree, &ever));
        }
        Event::ForcePush => {
            let past = pick(random, &repository.past).clone();
            repository.commit(|tree| *tree = past);
        }
        _ => return false,
    }
    true
}

/// Changes annotations; tells whether an event asks for that.
fn annotate(
    repository: &mut Repository,
    now: Timestamp,
    event: &Event,
    random: &mut StdRng,
) -> bool {
    let mut on_some = |change: &dyn Fn(&mut Annotations)| {
        repository.commit(|tree| {
            if let Some(doc) = some_doc(tree, random) {
                change(&mut doc.annotations);
            }
        });
    };
    match event {
        Event::Annotate => on_some(&|annotations| annotations.note += 1),
        Event::Suspend => on_some(&|annotations| annotations.suspended ^= true),
        Event::Snooze(seconds) => {
            let until = now + SignedDuration::from_secs(*seconds);
            on_some(&|annotations| annotations.snoozed_until = Some(until));
        }
        Event::Adopt => repository.commit(|tree| {
            let taken = docs(tree).filter(|doc| &*doc.key.name == FOREIGN);
            taken.for_each(|doc| doc.annotations.adopts = true);
        }),
        _ => return false,
    }
    true
}

fn edit(tree: &mut Tree, random: &mut StdRng) {
    if let Some(doc) = some_doc(tree, random) {
        match &mut doc.spec {
            Spec::Workspace(spec) => spec.edit(random),
            Spec::Network { resync, .. } => *resync = random.random_range(300..900),
        }
    }
}

/// Prepares everything in some file for its deletion.
fn doom(tree: &mut Tree, random: &mut StdRng) {
    let path = some_path(tree, random);
    say(tree, path.as_ref(), Deletion::doom(random));
}

/// Lets everything in a file say something about its deletion.
fn say(tree: &mut Tree, path: Option<&Arc<str>>, word: Deletion) {
    let file = path.and_then(|path| tree.get_mut(path));
    let file = file.map(Arc::make_mut).and_then(File::docs_mut);
    for doc in file.into_iter().flatten() {
        match &mut doc.spec {
            Spec::Network { deletion, .. } => *deletion = word,
            Spec::Workspace(spec) => spec.doom(word),
        }
    }
}

/// Removes a file that says what is to be deleted, if there is one.
fn bury(tree: &mut Tree, random: &mut StdRng) {
    doomed(tree, random).and_then(|path| tree.remove(&path));
}

/// Names a file that says what is to be deleted, if there is one.
fn doomed(tree: &Tree, random: &mut StdRng) -> Option<Arc<str>> {
    let is_doomed = |doc: &Doc| doc.deletion() != Deletion::Retain;
    let doomed = tree.iter().filter(|(_, file)| file.docs().iter().any(is_doomed));
    let paths: Vec<&Arc<str>> = doomed.map(|(path, _)| path).collect();
    (!paths.is_empty()).then(|| Arc::clone(pick::<&Arc<str>>(random, &paths)))
}

fn mend(tree: &mut Tree) {
    for file in tree.values_mut().filter(|file| file.is_broken()) {
        *file = Arc::new(File::Good(file.docs().to_vec()));
    }
}

/// Brings back every object that was ever declared, as it was last.
fn restore(tree: &mut Tree, ever: &BTreeMap<Key, Doc>) {
    let docs = tree.values().flat_map(|file| file.docs());
    let there: BTreeSet<Key> = docs.map(|doc| doc.key.clone()).collect();
    for (key, doc) in ever.iter().filter(|(key, _)| !there.contains(key)) {
        let path = format!("back/{}.yaml", key.to_string().replace('/', "-"));
        put(tree, &path, File::Good(vec![doc.clone()]));
    }
}

fn put(tree: &mut Tree, path: &str, file: File) {
    tree.insert(path.into(), Arc::new(file));
}

/// Returns every object of a commit that is being made.
fn docs(tree: &mut Tree) -> impl Iterator<Item = &mut Doc> {
    tree.values_mut().filter_map(|file| Arc::make_mut(file).docs_mut()).flatten()
}

fn workspaces(tree: &mut Tree) -> impl Iterator<Item = (&Key, &mut Workspace)> {
    docs(tree).filter_map(|doc| match &mut doc.spec {
        Spec::Workspace(spec) => Some((&doc.key, spec)),
        Spec::Network { .. } => None,
    })
}

fn some_path(tree: &Tree, random: &mut StdRng) -> Option<Arc<str>> {
    let files = tree.iter().filter(|(_, file)| !file.docs().is_empty());
    let paths: Vec<&Arc<str>> = files.map(|(path, _)| path).collect();
    (!paths.is_empty()).then(|| Arc::clone(pick::<&Arc<str>>(random, &paths)))
}

fn some_doc<'a>(tree: &'a mut Tree, random: &mut StdRng) -> Option<&'a mut Doc> {
    let path = some_path(tree, random)?;
    let docs = Arc::make_mut(tree.get_mut(&path)?).docs_mut()?;
    let chosen = random.random_range(0..docs.len());
    docs.get_mut(chosen)
}

/// Puts in order what has been broken in the repository, and ends every request for stillness.
pub(super) fn put_in_order(world: &World) {
    {
        let mut repository = world.repository();
        let ever = repository.ever.clone();
        repository.commit(|tree| {
            mend(tree);
            restore(tree, &ever);
            for doc in docs(tree) {
                (doc.annotations.suspended, doc.annotations.snoozed_until) = (false, None);
            }
        });
    }
    console::retry_stuck(world);
    // Half of them by hand, half with another number in the manifest, which a network has not.
    let (asked, failed): (Vec<Key>, Vec<Key>) = failed(world).into_iter().partition(|key| {
        key.kind == ObjectKind::Network || key.name.ends_with(['0', '2', '4', '6', '8'])
    });
    asked.into_iter().for_each(|key| console::retry(world, key));
    let sizes: BTreeMap<String, (i64, Option<i64>)> = [true, false]
        .into_iter()
        .flat_map(|production| console::sizes(world, &scope(production)))
        .collect();
    world.repository().commit(|tree| {
        for (key, spec) in workspaces(tree) {
            (spec.reports, spec.database) = (false, true);
            if failed.contains(key) {
                spec.retries += 1;
            }
            // A disk never shrinks, and takes one change in six hours.
            if let (Some(size), Some((actual, pending))) = (&mut spec.size, sizes.get(&*key.name)) {
                *size = pending.unwrap_or((*size).max(*actual));
            }
        }
    });
}

fn failed(world: &World) -> Vec<Key> {
    world
        .records()
        .into_iter()
        .filter(|record| {
            let failed = record.status.condition("Failed");
            failed.is_some_and(|failed| failed.reason == "RetriesExhausted")
        })
        .map(|record| record.key)
        .collect()
}
