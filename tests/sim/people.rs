//! What people do: developers in the repository, operators in the console.

use futures_util::FutureExt;
use levelset::model::{Call, Clock, Key, Scope};
use levelset::status::Store;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::{Map, Value, json};

use super::repository::{File, Tree};
use super::script::{Event, FOREIGN, SECRET};
use super::spec::{CLASSES, Doc, OWNER_TAG, Spec, Workspace, pick, tags_of};
use super::world::{World, scope};

/// Makes the first commit, and what was there before it.
pub(super) fn begin(world: &World, seed: u64) {
    let mut random = StdRng::seed_from_u64(seed ^ 0x6007);
    let mut docs: Vec<Doc> = (0..world.profile.workspaces)
        .map(|n| Doc::workspace(&format!("team-{n}"), Workspace::random(&mut random)))
        .collect();
    if world.profile.taken {
        let spec = Workspace::random(&mut random);
        console(world, &scope(spec.production), database(FOREIGN));
        docs.push(Doc::workspace(FOREIGN, spec));
    }
    world.repository().commit(|tree| {
        tree.insert("README.yaml".to_owned(), File::Note);
        if random.random() {
            tree.insert("core.yaml".to_owned(), File::Good(vec![Doc::network("core")]));
        }
        while !docs.is_empty() {
            let rest = docs.split_off(docs.len().min(random.random_range(1..3)));
            let path = format!("teams/{}.yaml", docs[0].key.name);
            tree.insert(path, File::Good(std::mem::replace(&mut docs, rest)));
        }
    });
}

fn database(name: &str) -> Call {
    Call::new("rds", "CreateDBInstance")
        .with("DBInstanceIdentifier", name)
        .with("Engine", "postgres")
        .with("DBInstanceClass", "db.t4g.micro")
        .with("AllocatedStorage", 20)
        .with("MasterUsername", "app")
        .with("MasterUserPassword", SECRET)
}

/// Does what an event asks of a developer; tells whether it was one.
pub(super) fn develop(world: &World, event: &Event, random: &mut StdRng) -> bool {
    let mut repository = world.repository();
    match event {
        Event::Edit => repository.commit(|tree| edit(tree, random)),
        Event::Resize => repository.commit(|tree| {
            for doc in tree.values_mut().filter_map(File::docs_mut).flatten() {
                if let Spec::Workspace(spec) = &mut doc.spec {
                    spec.class = *pick::<&str>(random, &CLASSES);
                }
            }
        }),
        Event::Annotate => repository.commit(|tree| {
            if let Some(doc) = some_doc(tree, random) {
                doc.note += 1;
            }
        }),
        Event::Break => repository.commit(|tree| {
            if let Some(path) = some_path(tree, random) {
                let docs = tree[&path].docs().to_vec();
                let broken =
                    if random.random() { File::Unreadable(docs) } else { File::Mistaken(docs) };
                tree.insert(path, broken);
            }
        }),
        Event::Mend => repository.commit(mend),
        Event::Rename => repository.commit(|tree| {
            if let Some(path) = some_path(tree, random) {
                let file = tree.remove(&path).unwrap();
                tree.insert(format!("moved/{}", path.replace('/', "-")), file);
            }
        }),
        Event::Remove => repository.commit(|tree| {
            for _ in 0..random.random_range(1..4) {
                let path = some_path(tree, random);
                path.and_then(|path| tree.remove(&path));
            }
        }),
        Event::Empty => repository.commit(Tree::clear),
        Event::Return => {
            let past = repository.past.clone();
            repository.commit(|tree| restore(tree, &past));
        }
        Event::ForcePush => {
            let past = pick(random, &repository.past).clone();
            repository.commit(|tree| *tree = past);
        }
        _ => return false,
    }
    true
}

fn edit(tree: &mut Tree, random: &mut StdRng) {
    if let Some(doc) = some_doc(tree, random) {
        match &mut doc.spec {
            Spec::Workspace(spec) => spec.edit(random),
            Spec::Network { resync } => *resync = random.random_range(300..900),
        }
    }
}

fn mend(tree: &mut Tree) {
    for file in tree.values_mut().filter(|file| file.is_broken()) {
        *file = File::Good(file.docs().to_vec());
    }
}

/// Brings back every object that a past commit had, as it was last.
fn restore(tree: &mut Tree, past: &[Tree]) {
    let names =
        |tree: &Tree, key: &Key| tree.values().flat_map(File::docs).any(|doc| doc.key == *key);
    for before in past.iter().rev() {
        for (path, file) in before {
            let lost: Vec<Doc> =
                file.docs().iter().filter(|doc| !names(tree, &doc.key)).cloned().collect();
            if lost.is_empty() && file.docs().is_empty() {
                tree.entry(path.clone()).or_insert(File::Note);
            }
            for doc in lost {
                let path = format!("back/{}.yaml", doc.key.to_string().replace('/', "-"));
                tree.insert(path, File::Good(vec![doc]));
            }
        }
    }
}

fn some_path(tree: &Tree, random: &mut StdRng) -> Option<String> {
    let files = tree.iter().filter(|(_, file)| !file.docs().is_empty());
    let paths: Vec<&String> = files.map(|(path, _)| path).collect();
    (!paths.is_empty()).then(|| (*pick(random, &paths)).clone())
}

fn some_doc<'a>(tree: &'a mut Tree, random: &mut StdRng) -> Option<&'a mut Doc> {
    let path = some_path(tree, random)?;
    let docs = tree.get_mut(&path)?.docs_mut()?;
    let chosen = random.random_range(0..docs.len());
    docs.get_mut(chosen)
}

/// Makes a call past the agent; AWS may refuse it.
pub(super) fn console(world: &World, scope: &Scope, call: Call) {
    let answer = world.sandbox.door("console").ask(scope, &call);
    world.note(|| {
        let refused = answer.as_ref().err().map_or("ok", |error| &error.code);
        format!("console: {} {} -> {refused}", call.operation, Value::Object(call.params.clone()))
    });
    world.check(|checker| {
        checker.meddled(world);
        Ok(())
    });
}

/// Changes something of some database.
pub(super) fn meddle(world: &World, random: &mut StdRng) {
    let place = scope(random.random());
    let instances = world.sandbox.inspect(&place);
    let ours = |instance: &&Map<String, Value>| instance["DBInstanceIdentifier"] != FOREIGN;
    let instances: Vec<_> = instances.iter().filter(ours).collect();
    if instances.is_empty() {
        return;
    }
    let instance = *pick(random, &instances);
    let text = |member: &str| instance[member].as_str().unwrap().to_owned();
    let modify = Call::new("rds", "ModifyDBInstance")
        .with("DBInstanceIdentifier", text("DBInstanceIdentifier"));
    let now = random.random::<bool>();
    let tag = |operation| Call::new("rds", operation).with("ResourceName", text("DBInstanceArn"));
    let call = match random.random_range(0..12) {
        0 | 1 => modify.with("DBInstanceClass", "db.m5.large").with("ApplyImmediately", now),
        2 => modify.with("BackupRetentionPeriod", random.random_range(1..30)),
        3 => modify.with("PubliclyAccessible", true),
        4 | 5 => modify.with("MultiAZ", true).with("ApplyImmediately", false),
        6 => modify.with("PreferredBackupWindow", "10:00-10:30"),
        7 => {
            let team = json!([{"Key": "team", "Value": "somebody"}]);
            tag("AddTagsToResource").with("Tags", team)
        }
        8 => tag("RemoveTagsFromResource").with("TagKeys", json!([OWNER_TAG])),
        9 => {
            let owner = json!([{"Key": OWNER_TAG, "Value": "other/Workspace/theirs"}]);
            tag("AddTagsToResource").with("Tags", owner)
        }
        10 => modify.with("ManageMasterUserPassword", false).with("MasterUserPassword", SECRET),
        _ => return delete(world, &place, instance),
    };
    console(world, &place, call);
}

/// Asks for a standby of every database, in the next maintenance window.
pub(super) fn queue_standbys(world: &World) {
    for place in [scope(true), scope(false)] {
        for instance in world.sandbox.inspect(&place) {
            let call = Call::new("rds", "ModifyDBInstance")
                .with("DBInstanceIdentifier", instance["DBInstanceIdentifier"].clone())
                .with("MultiAZ", true);
            console(world, &place, call);
        }
    }
}

fn delete(world: &World, place: &Scope, instance: &Map<String, Value>) {
    let name = instance["DBInstanceIdentifier"].as_str().unwrap();
    let about = |operation| Call::new("rds", operation).with("DBInstanceIdentifier", name);
    console(world, place, about("ModifyDBInstance").with("DeletionProtection", false));
    console(world, place, about("DeleteDBInstance").with("SkipFinalSnapshot", true));
}

/// Puts in order what people have broken.
pub(super) fn put_in_order(world: &World) {
    {
        let mut repository = world.repository();
        let past = repository.past.clone();
        repository.commit(|tree| {
            mend(tree);
            restore(tree, &past);
            mend(tree);
        });
    }
    for production in [true, false] {
        give_tags_back(world, &scope(production));
    }
    let failed: Vec<Key> = failed(world);
    let sizes: Vec<(String, i64)> =
        [true, false].into_iter().flat_map(|production| sizes(world, &scope(production))).collect();
    world.repository().commit(|tree| {
        for doc in tree.values_mut().filter_map(File::docs_mut).flatten() {
            let Spec::Workspace(spec) = &mut doc.spec else { continue };
            if failed.contains(&doc.key) {
                spec.retries += 1;
            }
            // A disk never shrinks.
            let grown = sizes.iter().find(|(name, _)| *name == *doc.key.name);
            spec.size = spec.size.map(|size| grown.map_or(size, |(_, grown)| size.max(*grown)));
        }
    });
}

fn failed(world: &World) -> Vec<Key> {
    let records = world.store.all().now_or_never().unwrap().unwrap();
    records
        .into_iter()
        .filter(|record| {
            let failed = record.status.condition("Failed");
            failed.is_some_and(|failed| failed.reason == "RetriesExhausted")
        })
        .map(|record| record.key)
        .collect()
}

fn sizes(world: &World, place: &Scope) -> Vec<(String, i64)> {
    let size = |instance: &Map<String, Value>| {
        let pending = instance["PendingModifiedValues"]["AllocatedStorage"].as_i64();
        let size = pending.max(instance["AllocatedStorage"].as_i64())?;
        Some((instance["DBInstanceIdentifier"].as_str()?.to_owned(), size))
    };
    world.sandbox.inspect(place).iter().filter_map(size).collect()
}

fn give_tags_back(world: &World, place: &Scope) {
    for instance in world.sandbox.inspect(place) {
        let name = instance["DBInstanceIdentifier"].as_str().unwrap();
        let owner = format!("levelset/Workspace/{name}");
        if name == FOREIGN || tags_of(&instance["TagList"]).get(OWNER_TAG) == Some(&owner) {
            continue;
        }
        let call = Call::new("rds", "AddTagsToResource")
            .with("ResourceName", instance["DBInstanceArn"].clone())
            .with("Tags", json!([{"Key": OWNER_TAG, "Value": owner}]));
        console(world, place, call);
    }
}

/// Puts the clock forward into the maintenance window that manifests declare.
pub(super) fn jump_to_window(world: &World) {
    let window = levelset::model::window::Window::weekly(super::spec::WINDOW).unwrap();
    let now = world.clock.now();
    let opens = window.next_start(now) + jiff::SignedDuration::from_mins(1);
    world.jump(opens.duration_since(now));
}
