//! Holds every call of the agent against the laws.

use std::time::Duration;

use levelset::sandbox::log::Record as Logged;
use serde_json::Value;

use super::{Bucket, Checker, Held, Law, Pass, Portrait, READING, SLACK, broken, hold, target};
use crate::sim::access::{group_name, role_name};
use crate::sim::reading::{in_force, is_as, parameter_group, tags_of};
use crate::sim::spec::{Annotations, Doc, OWNER_TAG, Workspace};
use crate::sim::world::{ACCOUNTS, World};

/// A run has fewer calls for each object; more of them are a loop in which no time passes.
const MOST_CALLS: u64 = 30_000;

const POSTPONED: [&str; 19] = [
    "Throttling",
    "RequestLimitExceeded",
    "DBInstanceNotFound",
    "DBParameterGroupNotFound",
    "DBSubnetGroupNotFoundFault",
    "DBInstanceAlreadyExists",
    "DBParameterGroupAlreadyExists",
    "DBSubnetGroupAlreadyExists",
    "InvalidDBInstanceState",
    "InvalidDBParameterGroupState",
    "InvalidDBSubnetGroupStateFault",
    "InvalidGroup.NotFound",
    "InvalidPermission.NotFound",
    "InvalidGroup.Duplicate",
    "InvalidPermission.Duplicate",
    "DependencyViolation",
    "NoSuchEntity",
    "EntityAlreadyExists",
    "DeleteConflict",
];

/// Tells whether a refusal may only mean that the storage was changed hours ago.
fn may_be_locked(call: &Logged) -> bool {
    let storage = ["AllocatedStorage", "StorageType", "Iops", "StorageThroughput"];
    let codes = ["InvalidParameterCombination", "InvalidParameterValue"];
    call.refused.as_deref().is_some_and(|code| codes.contains(&code))
        && storage.iter().any(|parameter| call.params.contains_key(*parameter))
}

/// Sees the call that has just been made.
pub(in crate::sim) fn called(world: &World, portrait: Option<Portrait>) {
    world.check(|checker| {
        for call in checker.new_calls(world) {
            if &*call.by == "agent" {
                note(world, &call);
                checker.call(world, &call, portrait.as_ref())?;
            }
        }
        checker.look_at_time(world)
    });
}

fn note(world: &World, call: &Logged) {
    world.note(|| {
        let params = Value::Object(call.params.clone());
        let refused = call.refused.as_deref().unwrap_or("ok");
        let fault = call.fault.map(|fault| format!(" ({fault})")).unwrap_or_default();
        let account = call.scope.account.as_str();
        format!("{account} {} {params} -> {refused}{fault}", call.operation)
    });
}

impl Checker {
    fn call(&mut self, world: &World, call: &Logged, portrait: Option<&Portrait>) -> Held {
        self.calls += 1;
        if self.calls > MOST_CALLS * world.profile.workspaces as u64 {
            return Err(broken(Law::BudgetsAreKept, "the agent calls without end"));
        }
        let outcome = call.fault.or(call.refused.as_ref().map(|_| "refused"));
        self.count(format!("{} {}", call.operation, outcome.unwrap_or("ok")));
        self.spend(world, call)?;
        is_known(world, call)?;
        if call.fault == Some("stale") {
            self.stale = Some(world.clock.passed());
        }
        if call.fault == Some("partial-page") {
            self.short = Some(world.clock.passed());
        }
        let task = tokio::task::try_id();
        let Some(pass) = task.and_then(|task| self.passes.get_mut(&task)) else { return Ok(()) };
        let failed = call.refused.as_deref().is_some_and(|code| !POSTPONED.contains(&code));
        pass.failed |= failed && !may_be_locked(call) && portrait.is_some();
        if let Some(name) = target(&call.params).filter(|_| portrait.is_none()) {
            pass.confirmed.insert(format!("{} {name}", call.operation), call.refused.clone());
        }
        let Some(portrait) = portrait else { return Ok(()) };
        let pass = pass.clone();
        self.write(world, call, portrait, &pass)
    }

    fn spend(&mut self, world: &World, call: &Logged) -> Held {
        let Some((burst, rate)) = self.budgets.get(&call.service).copied() else { return Ok(()) };
        let now = world.clock.passed();
        let key = (call.scope.clone(), call.service.clone());
        let bucket = self.buckets.entry(key).or_insert(Bucket { tokens: burst, at: now });
        let gained = (now - bucket.at).as_secs_f64() * rate;
        (bucket.tokens, bucket.at) = ((bucket.tokens + gained).min(burst) - 1.0, now);
        // A call that had its token spends a while on the way, and then arrives with others.
        let early = world.profile.latency.as_secs_f64() * rate + 0.01;
        hold(Law::BudgetsAreKept, bucket.tokens >= -early, || {
            format!("more than {burst} calls and {rate} a second went to {}", call.service)
        })
    }

    fn write(&mut self, world: &World, call: &Logged, portrait: &Portrait, pass: &Pass) -> Held {
        self.writes += 1;
        let (name, since) = (portrait.name.clone(), self.known_since(pass));
        let writing = Writing { world, call, portrait, pass, name, since };
        writing.is_allowed()?;
        writing.is_fresh(self)?;
        writing.is_due(self)?;
        writing.is_released(self)?;
        let reverts = writing.is_wanted(self)? && writing.is_countable();
        self.is_sent_rarely(&writing)?;
        writing.is_ours(self)?;
        writing.is_made_once()?;
        writing.is_declared()?;
        writing.flushes_nothing(self)?;
        writing.is_no_idle(self)?;
        if writing.makes_or_deletes() {
            self.forget_sent(writing.name());
        }
        let task = tokio::task::try_id();
        if let Some(pass) = task.and_then(|task| self.passes.get_mut(&task)) {
            pass.reverts |= reverts;
        }
        let object = self.objects.entry(pass.key.clone()).or_default();
        let versions = world.repository().versions.get(&pass.key).map_or(0, Vec::len);
        let retries = writing.docs().iter().map(Doc::retries).max().unwrap_or(u32::MAX);
        // Of what only the store knows, the default counts.
        let retries =
            if writing.leaves() || writing.is_deletion() { retries.max(10) } else { retries };
        hold(
            Law::FailuresHaveACeiling,
            object.failures < retries
                || object.versions != versions
                || object.generation != object.counted,
            || format!("{} has failed {} times and is tried again", pass.key, object.failures),
        )
    }

    /// Tells whether somebody else changed a resource so late that a pass need not know.
    pub(super) fn is_meddled(&self, name: &str, pass: &Pass) -> bool {
        self.meddled.get(name).is_some_and(|at| *at + SLACK >= pass.began)
    }

    pub(super) fn is_stale(&self, pass: &Pass) -> bool {
        self.stale.is_some_and(|at| at + SLACK >= pass.began)
    }

    /// Tells whether a list that lacked something may be shared with a pass.
    pub(super) fn is_short(&self, pass: &Pass) -> bool {
        self.short.is_some_and(|at| at + SLACK >= pass.began)
    }
}

/// One write and everything that it is judged by.
pub(super) struct Writing<'a> {
    pub(super) world: &'a World,
    pub(super) call: &'a Logged,
    pub(super) portrait: &'a Portrait,
    pub(super) pass: &'a Pass,
    name: Option<String>,
    /// Since when the versions of the manifest count that the pass may know.
    since: Duration,
}

impl Writing<'_> {
    pub(super) fn text(&self) -> String {
        let params = Value::Object(self.call.params.clone());
        format!("{} {params} in a pass of {}", self.call.operation, self.pass.key)
    }

    pub(super) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    /// Returns the versions of the manifest that the pass may know.
    pub(super) fn docs(&self) -> Vec<Doc> {
        let repository = self.world.repository();
        repository.in_force_since(&self.pass.key, self.since).into_iter().cloned().collect()
    }

    /// Returns the annotations that the pass may know.
    pub(super) fn annotations(&self) -> Vec<Annotations> {
        let since = self.pass.began.saturating_sub(READING);
        let repository = self.world.repository();
        repository.annotated_since(&self.pass.key, since).into_iter().cloned().collect()
    }

    pub(super) fn specs(&self) -> Vec<Workspace> {
        self.docs().iter().filter_map(|doc| doc.as_workspace().cloned()).collect()
    }

    fn is_allowed(&self) -> Held {
        hold(Law::OnlyTheHolderWrites, self.world.lease.is_held(), || self.text())
    }

    /// Returns the tag that what the call is about has to carry.
    pub(super) fn owner(&self) -> String {
        match self.name().strip_prefix("levelset-") {
            Some(network @ ("core" | "shared")) => format!("levelset/Network/{network}"),
            _ => format!("levelset/Workspace/{}", self.pass.key.name),
        }
    }

    /// Returns the tag of what was left when its manifest was removed.
    fn retained(&self) -> String {
        format!("retained:{}", self.owner())
    }

    /// Tells whether a call does nothing but leave what no manifest names any more, or take up again
    /// what was left.
    pub(super) fn leaves_or_takes_up(&self) -> bool {
        let before = self.portrait.tags.as_ref().and_then(|tags| tags.get(OWNER_TAG));
        let is_left = before == Some(&self.retained()) || before == Some(&self.owner());
        self.leaves() || (is_left && self.tags_only(&self.owner()))
    }

    /// Tells whether a call does nothing but leave what no manifest names any more.
    pub(super) fn leaves(&self) -> bool {
        let since = self.pass.began.saturating_sub(READING);
        let is_gone = self.world.repository().may_be_gone_since(&self.pass.key, since)
            || self.leaves_a_section();
        is_gone && self.tags_only(&self.retained())
    }

    /// Tells whether some version of the manifest lacks what the call is about.
    pub(super) fn leaves_a_section(&self) -> bool {
        let (name, of) = (self.name(), &*self.pass.key.name);
        self.specs().iter().any(|spec| match name {
            _ if name == group_name(of) => !spec.access.has_group(),
            _ if name == role_name(of) => spec.access.role.is_none(),
            _ if name == parameter_group(of) => !spec.database || spec.parameters.is_empty(),
            _ => !spec.database,
        })
    }

    /// Tells whether what has the name is another resource from now on.
    fn makes_or_deletes(&self) -> bool {
        self.call.applied && (self.is_deletion() || self.call.operation.starts_with("Create"))
    }

    fn tags_only(&self, owner: &str) -> bool {
        let tags = self.call.params.get("Tags").map(tags_of).unwrap_or_default();
        ["AddTagsToResource", "CreateTags", "TagRole"].contains(&self.call.operation.as_str())
            && tags.len() == 1
            && tags.get(OWNER_TAG).is_some_and(|tag| tag == owner)
    }

    fn is_ours(&self, checker: &Checker) -> Held {
        let makes =
            self.call.operation.starts_with("Create") && self.call.operation != "CreateTags";
        if makes || checker.is_meddled(self.name(), self.pass) {
            return Ok(());
        }
        let Some(tags) = &self.portrait.tags else { return Ok(()) };
        if !tags.contains_key(OWNER_TAG) && self.is_adoption() {
            return Ok(());
        }
        let tag = tags.get(OWNER_TAG);
        let is_ours = tag == Some(&self.owner()) || tag == Some(&self.retained());
        hold(Law::OnlyOursIsTouched, is_ours, || format!("{}, which carries {tags:?}", self.text()))
    }

    fn flushes_nothing(&self, checker: &Checker) -> Held {
        let params = &self.call.params;
        if params.get("ApplyImmediately") != Some(&Value::Bool(true)) {
            return Ok(());
        }
        let Some(instance) = &self.portrait.instance else { return Ok(()) };
        let pending = instance["PendingModifiedValues"].as_object().unwrap();
        let foreign: Vec<&String> = pending
            .keys()
            .filter(|member| *member != "PendingCloudwatchLogsExports")
            .filter(|member| !params.contains_key(*member))
            .collect();
        let excused = checker.is_meddled(self.name(), self.pass) || checker.is_stale(self.pass);
        hold(Law::NobodysQueueIsFlushed, excused || foreign.is_empty(), || {
            format!("{} flushes {foreign:?}", self.text())
        })
    }

    fn is_no_idle(&self, checker: &Checker) -> Held {
        let Some(instance) = &self.portrait.instance else { return Ok(()) };
        if self.call.operation != "ModifyDBInstance"
            || checker.is_meddled(self.name(), self.pass)
            || checker.is_stale(self.pass)
        {
            return Ok(());
        }
        let pending = &instance["PendingModifiedValues"];
        let is_idle = |(parameter, value): (&String, &Value)| match parameter.as_str() {
            "DBInstanceIdentifier" | "ApplyImmediately" => true,
            name => match pending.get(name) {
                Some(queued) if name == "AllocatedStorage" => {
                    grown(&in_force(instance, name), value) == queued.as_i64()
                }
                Some(queued) => is_as(name, value, queued),
                None => is_as(name, value, &in_force(instance, name)),
            },
        };
        hold(Law::WritesChangeSomething, !self.call.params.iter().all(is_idle), || self.text())
    }
}

/// Returns what AWS makes of a disk that is to grow: less than a tenth more becomes a tenth more.
fn grown(from: &Value, to: &Value) -> Option<i64> {
    let (from, to) = (from.as_i64()?, to.as_i64()?);
    Some(if to > from { to.max((from * 11 + 9) / 10) } else { to })
}

/// Holds any call against the environments that the agent knows.
fn is_known(world: &World, call: &Logged) -> Held {
    let name = ACCOUNTS.iter().find(|(_, account)| *account == call.scope.account.as_str());
    let is_known = name.is_some_and(|(environment, _)| world.is_configured(environment));
    hold(Law::OnlyKnownAccountsAreCalled, is_known, || {
        format!("{} in {}", call.operation, call.scope)
    })
}
