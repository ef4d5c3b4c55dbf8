//! What operators do, past the agent: in the console of AWS, and to the clock.

pub(super) mod access;

use futures_util::FutureExt;
use jiff::SignedDuration;
use levelset::model::status::Truth;
use levelset::model::{Ask, Call, Clock, Key, Scope};
use levelset::status::{Record, Store};
use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::{Map, Value, json};

use super::reading::tags_of;
use super::script::{FOREIGN, SECRET, Wish};
use super::spec::{OWNER_TAG, WINDOW, pick};
use super::world::{World, scope};

/// Makes a database that no manifest declares.
pub(super) fn database(name: &str) -> Call {
    Call::new("rds", "CreateDBInstance")
        .with("DBInstanceIdentifier", name)
        .with("Engine", "postgres")
        .with("DBInstanceClass", "db.t4g.micro")
        .with("AllocatedStorage", 20)
        .with("MasterUsername", "app")
        .with("MasterUserPassword", SECRET)
}

/// Makes a call past the agent; AWS may refuse it.
pub(super) fn ask(world: &World, scope: &Scope, call: Call) {
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
    let call = match random.random_range(0..13) {
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
        10 => modify.with("DeletionProtection", random.random::<bool>()),
        11 => modify.with("ManageMasterUserPassword", false).with("MasterUserPassword", SECRET),
        _ => return delete(world, &place, instance),
    };
    ask(world, &place, call);
}

/// Changes up to so many databases at once, as a script does.
pub(super) fn meddle_with_many(world: &World, most: usize, random: &mut StdRng) {
    let (days, how) = (random.random_range(30..35), random.random_range(0..5));
    let all = [scope(true), scope(false)].into_iter().flat_map(|place| {
        world.sandbox.inspect(&place).into_iter().map(move |i| (place.clone(), i))
    });
    for (place, instance) in all.take(most) {
        let modify = Call::new("rds", "ModifyDBInstance")
            .with("DBInstanceIdentifier", instance["DBInstanceIdentifier"].clone());
        let call = match how {
            0..3 => modify.with("DBInstanceClass", "db.m5.large").with("ApplyImmediately", true),
            3 => modify.with("PubliclyAccessible", true),
            _ => modify.with("BackupRetentionPeriod", days).with("ApplyImmediately", true),
        };
        ask(world, &place, call);
    }
}

/// Asks for a standby of every database, in the next maintenance window.
pub(super) fn queue_standbys(world: &World) {
    for place in [scope(true), scope(false)] {
        for instance in world.sandbox.inspect(&place) {
            let call = Call::new("rds", "ModifyDBInstance")
                .with("DBInstanceIdentifier", instance["DBInstanceIdentifier"].clone())
                .with("MultiAZ", true);
            ask(world, &place, call);
        }
    }
}

fn delete(world: &World, place: &Scope, instance: &Map<String, Value>) {
    let name = instance["DBInstanceIdentifier"].as_str().unwrap();
    let about = |operation| Call::new("rds", operation).with("DBInstanceIdentifier", name);
    ask(world, place, about("ModifyDBInstance").with("DeletionProtection", false));
    ask(world, place, about("DeleteDBInstance").with("SkipFinalSnapshot", true));
}

/// Gets some database stuck in what it is doing, for good.
pub(super) fn stick(world: &World, random: &mut StdRng) {
    let place = scope(random.random());
    let instances = world.sandbox.inspect(&place);
    if let Some(name) = instances.first().and_then(|i| i["DBInstanceIdentifier"].as_str()) {
        world.sandbox.stick(&place, name);
    }
}

/// Asks something of the running agent, as the command line does.
pub(super) fn wish(world: &World, wish: Wish, random: &mut StdRng) {
    let known: Vec<Key> = world.records().into_iter().map(|record| record.key).collect();
    if known.is_empty() {
        return;
    }
    let object = pick(random, &known).clone();
    let until = world.clock.now() + SignedDuration::from_secs(60);
    match wish {
        Wish::Suspend => ask_agent(world, Ask::Suspend { object, reason: None }),
        Wish::Resume => resume_all(world),
        Wish::Retry => ask_agent(world, Ask::Retry { object }),
        Wish::Snooze(seconds) => {
            let until = until + SignedDuration::from_secs(seconds);
            ask_agent(world, Ask::Snooze { object, until, reason: None });
        }
        Wish::Confirm => {
            for freeze in world.freezes() {
                confirm(world, freeze.digest);
            }
        }
        Wish::Misconfirm => {
            let shown: Vec<String> = world.freezes().into_iter().map(|it| it.digest).collect();
            let old = world.checker.lock().unwrap().digest_that_is_none_of(&shown);
            confirm(world, old.unwrap_or_else(|| "0123456789ab".to_owned()));
        }
    }
}

fn confirm(world: &World, digest: String) {
    world.check(|checker| {
        checker.confirmed(world, &digest);
        Ok(())
    });
    ask_agent(world, Ask::Confirm { digest });
}

/// Asks that every suspension and snooze ends.
pub(super) fn resume_all(world: &World) {
    let asked = world.store.asked_since(0).now_or_never().unwrap().unwrap();
    for asked in asked {
        if let Ask::Suspend { object, .. } | Ask::Snooze { object, .. } = asked.ask {
            ask_agent(world, Ask::Resume { object });
        }
    }
}

/// Asks that an object which was given up is tried again.
pub(super) fn retry(world: &World, object: Key) {
    ask_agent(world, Ask::Retry { object });
}

/// Asks that every object is tried again which somebody was told to be stuck, by changes without
/// effect or by a contest.
pub(super) fn retry_stuck(world: &World) {
    let is_stuck = |record: &Record| {
        ["Stalled", "Contested"].into_iter().any(|kind| {
            record.status.condition(kind).is_some_and(|told| told.status == Truth::True)
        })
    };
    for record in world.records().into_iter().filter(is_stuck) {
        retry(world, record.key);
    }
}

fn ask_agent(world: &World, ask: Ask) {
    world.note(|| format!("operator: {} {}", ask.verb(), ask.subject()));
    world.check(|checker| {
        checker.asked(world, &ask);
        Ok(())
    });
    world.store.ask(&[ask], "operator", world.clock.now()).now_or_never().unwrap().unwrap();
}

/// Puts in order what has been broken in AWS.
pub(super) fn put_in_order(world: &World) {
    resume_all(world);
    for place in [scope(true), scope(false)] {
        give_tags_back(world, &place);
        access::give_tags_back(world, &place);
        for instance in world.sandbox.inspect(&place) {
            world.sandbox.unstick(&place, instance["DBInstanceIdentifier"].as_str().unwrap());
        }
    }
}

fn give_tags_back(world: &World, place: &Scope) {
    for instance in world.sandbox.inspect(place) {
        let name = instance["DBInstanceIdentifier"].as_str().unwrap();
        let owner = format!("levelset/Workspace/{name}");
        let is_declared = world.repository().declared.contains_key(&Key::workspace(name));
        if name == FOREIGN
            || !is_declared
            || tags_of(&instance["TagList"]).get(OWNER_TAG) == Some(&owner)
        {
            continue;
        }
        let call = Call::new("rds", "AddTagsToResource")
            .with("ResourceName", instance["DBInstanceArn"].clone())
            .with("Tags", json!([{"Key": OWNER_TAG, "Value": owner}]));
        ask(world, place, call);
    }
}

/// Returns the size of every disk that is in force, and the one on its way.
pub(super) fn sizes(world: &World, place: &Scope) -> Vec<(String, (i64, Option<i64>))> {
    let size = |instance: &Map<String, Value>| {
        let pending = instance["PendingModifiedValues"]["AllocatedStorage"].as_i64();
        let size = instance["AllocatedStorage"].as_i64()?;
        Some((instance["DBInstanceIdentifier"].as_str()?.to_owned(), (size, pending)))
    };
    world.sandbox.inspect(place).iter().filter_map(size).collect()
}

/// Puts the clock forward into the maintenance window that manifests declare.
pub(super) fn jump_to_window(world: &World) {
    let window = levelset::model::window::Window::weekly(WINDOW).unwrap();
    let now = world.clock.now();
    let opens = window.next_start(now) + jiff::SignedDuration::from_mins(1);
    world.jump(opens.duration_since(now));
}
