//! The plan of a merge result beside the plan of its base: what the merge brings about.
//!
//! In: what an object declares and what its plan is, before and after a merge, against the same
//! observation. Out: [`Effect`]s.
//!
//! Invariants: pure; a difference that both plans hold is not the merge's; no time is taken over
//! that depends on when the plans were made (a window is told by its weekday, a grace period as
//! such).

use std::collections::BTreeMap;

use serde_json::Value;

use crate::model::plan::{Action, Step, Verdict};
use crate::model::review::{Effect, FieldCause, FieldReview, Told, When};
use crate::model::{
    Apply, Delta, Disruption, Input, Origin, Plan, Resource, ResourceId, Timing, Wait, Window,
};

/// Holds one side of a merge.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// What would be done.
    pub plan: &'a Plan,
    /// What is declared.
    pub resources: &'a [Resource],
}

/// Holds the maintenance windows of the resources that have one.
pub type Windows = BTreeMap<ResourceId, Window>;

/// Lists what a merge does to the resources of an object, and what is to be done already.
///
/// Resources that are and stay as declared are left out.
pub fn effects(before: Option<Side<'_>>, after: Side<'_>, windows: &Windows) -> Vec<Effect> {
    let steps = after.plan.steps.iter();
    let effect = |step: &Step| {
        let pair = Pair {
            before: before.and_then(|side| find(side.plan, &step.resource)),
            after: step,
            declared: declared(before, after, &step.resource),
            window: windows.get(&step.resource).map(|window| window.opening()),
            snooze: after.plan.holds.snoozed.as_ref().map(|snooze| snooze.until),
        };
        pair.effect()
    };
    steps.map(effect).filter(is_told).collect()
}

/// Lists what a merge declares otherwise, where nothing is known of the cloud; says why not.
pub fn unseen(before: &[Resource], after: &[Resource], why: &str) -> Vec<Effect> {
    let effect = |resource: &Resource| {
        let declared = differences(resource_of(before, &resource.id), Some(resource));
        let when = When::Unknown(why.to_owned());
        let field = |(field, (before, after)): (String, Declared)| FieldReview {
            field,
            actual: None,
            before,
            after,
            cause: FieldCause::Same,
            disruption: Disruption::None,
            security: false,
            changed_by: None,
            when: when.clone(),
        };
        Effect {
            resource: resource.id.clone(),
            section: resource.section.to_string(),
            action: Action::Nothing,
            proposed: true,
            when: when.clone(),
            fields: declared.into_iter().map(field).collect(),
            waits: Vec::new(),
            refusals: told(&resource.refusals, None),
            notices: Vec::new(),
        }
    };
    after.iter().map(effect).filter(|effect| !effect.fields.is_empty()).collect()
}

fn find<'a>(plan: &'a Plan, id: &ResourceId) -> Option<&'a Step> {
    plan.steps.iter().find(|step| step.resource == *id)
}

fn resource_of<'a>(resources: &'a [Resource], id: &ResourceId) -> Option<&'a Resource> {
    resources.iter().find(|resource| resource.id == *id)
}

/// What is declared before and after.
type Declared = (Option<Value>, Option<Value>);

/// The fields of a resource that the merge declares otherwise.
fn declared(
    before: Option<Side<'_>>,
    after: Side<'_>,
    id: &ResourceId,
) -> BTreeMap<String, Declared> {
    let old = before.and_then(|side| resource_of(side.resources, id));
    differences(old, resource_of(after.resources, id))
}

fn differences(before: Option<&Resource>, after: Option<&Resource>) -> BTreeMap<String, Declared> {
    let value = |side: Option<&Resource>, field: &str| side?.fields.get(field).map(shown);
    let names = [before, after].into_iter().flatten().flat_map(|side| side.fields.keys());
    names
        .map(|field| (field.to_string(), (value(before, field), value(after, field))))
        .filter(|(_, (old, new))| old != new)
        .collect()
}

/// Returns the value of a field as far as it is known from the manifest alone.
fn shown(input: &Input) -> Value {
    match input {
        Input::Known(value) | Input::Template { value, .. } => value.clone(),
        Input::Output { of, member } | Input::Select { of, member, .. } => {
            format!("{member} of {of}").into()
        }
    }
}

/// Tells whether a reader of a pull request has to know of it.
fn is_told(effect: &Effect) -> bool {
    let is_quiet = matches!(effect.action, Action::Nothing | Action::Read);
    effect.proposed
        || !effect.fields.is_empty()
        || !effect.waits.is_empty()
        || !effect.refusals.is_empty()
        || (effect.when != When::Nothing && !is_quiet)
        || matches!(effect.when, When::Unknown(_) | When::Settled { .. })
        || effect.notices.iter().any(|notice| notice.proposed)
}

/// Marks what is told with whether it was so before.
fn told<T: Clone + PartialEq>(after: &[T], before: Option<&[T]>) -> Vec<Told<T>> {
    let is_new = |what: &T| before.is_none_or(|before| !before.contains(what));
    after.iter().map(|what| Told { what: what.clone(), proposed: is_new(what) }).collect()
}

/// Holds the steps of one resource.
struct Pair<'a> {
    before: Option<&'a Step>,
    after: &'a Step,
    declared: BTreeMap<String, Declared>,
    /// When the maintenance window opens.
    window: Option<String>,
    snooze: Option<jiff::Timestamp>,
}

impl Pair<'_> {
    fn effect(&self) -> Effect {
        let step = self.after;
        let fields = self.fields();
        let is_field = |wait: &Told<Wait>| fields.iter().any(|it| it.field == wait.what.field);
        let mut waits = told(&step.waits, self.before.map(|step| &*step.waits));
        waits.retain(|wait| !is_field(wait));
        let refusals = told(&step.refusals, self.before.map(|step| &*step.refusals));
        let notices = told(&step.notices, self.before.map(|step| &*step.notices));
        let proposed = self.is_another_action()
            || fields
                .iter()
                .any(|field| field.is_proposed() || field.cause == FieldCause::Accepted)
            || refusals.iter().any(|told| told.proposed)
            || waits.iter().any(|told| told.proposed);
        Effect {
            resource: step.resource.clone(),
            section: step.section.clone(),
            action: step.action,
            proposed,
            when: self.when(),
            fields,
            waits,
            refusals,
            notices,
        }
    }

    /// Tells whether the merge makes, takes over or gives up the resource.
    fn is_another_action(&self) -> bool {
        let is_quiet = |action| matches!(action, Action::Nothing | Action::Read | Action::Update);
        let before = self.before.map(|step| step.action);
        let is_done = self.after.is_farewell() && self.after.is_settled();
        !is_quiet(self.after.action) && before != Some(self.after.action) && !is_done
    }

    fn fields(&self) -> Vec<FieldReview> {
        if self.after.action == Action::Create {
            return self.after.deltas.iter().map(|delta| self.new_value(delta)).collect();
        }
        let mut fields: Vec<FieldReview> =
            self.after.deltas.iter().map(|delta| self.differing(delta)).collect();
        let is_gone = |delta: &&Delta| delta_of(Some(self.after), &delta.field).is_none();
        if !self.after.is_farewell() {
            let before = self.before.filter(|step| step.action != Action::Create);
            let accepted = before.into_iter().flat_map(|step| &step.deltas).filter(is_gone);
            fields.extend(accepted.map(|delta| self.no_longer_differing(delta)));
            let rest = self.rest(&fields);
            fields.extend(rest);
        }
        fields
    }

    fn new_value(&self, delta: &Delta) -> FieldReview {
        FieldReview {
            field: delta.field.clone(),
            actual: None,
            before: None,
            after: some(&delta.to),
            cause: FieldCause::New,
            disruption: Disruption::None,
            security: false,
            changed_by: None,
            when: self.when(),
        }
    }

    /// A field that differs once merged.
    fn differing(&self, delta: &Delta) -> FieldReview {
        let before = delta_of(self.before, &delta.field);
        let declared = self.declared_as(&delta.field);
        let cause = match (before, &declared) {
            (Some(before), None) if before.to == delta.to => match delta.origin {
                Origin::Drift => FieldCause::Drifted,
                Origin::Git => FieldCause::Behind,
            },
            (Some(_), _) => FieldCause::Overtaken,
            (None, _) => FieldCause::Changed,
        };
        let same = || {
            let old = before.map_or(&delta.from, |before| &before.to);
            (some(old), some(&delta.to))
        };
        let (before, after) = declared.unwrap_or_else(same);
        FieldReview {
            field: delta.field.clone(),
            actual: some(&delta.from),
            before,
            after,
            cause,
            disruption: delta.disruption,
            security: delta.security,
            changed_by: None,
            when: self.field_when(delta),
        }
    }

    /// A field that differs from the base and no longer does once merged, or is left alone then, or
    /// waits or is refused.
    fn no_longer_differing(&self, delta: &Delta) -> FieldReview {
        let declared = self.declared_as(&delta.field);
        let (before, after) = declared.unwrap_or_else(|| (some(&delta.to), None));
        let when = self.obstacle(&delta.field);
        FieldReview {
            field: delta.field.clone(),
            actual: some(&delta.from),
            before,
            after,
            cause: if when.is_some() { FieldCause::Overtaken } else { FieldCause::Accepted },
            disruption: Disruption::None,
            security: delta.security,
            changed_by: None,
            when: when.unwrap_or(When::Nothing),
        }
    }

    /// The fields that are declared otherwise and differ in neither plan.
    fn rest(&self, known: &[FieldReview]) -> Vec<FieldReview> {
        let is_known = |name: &str| known.iter().any(|field| field.field == name);
        let is_group = |name: &str| known.iter().any(|it| part(&it.field, name).is_some());
        let all = self.declared.iter().flat_map(|(name, declared)| match is_group(name) {
            true => members(name, declared),
            false => vec![(name.clone(), declared.clone())],
        });
        let others = all.filter(|(name, _)| !is_known(name));
        let field = |(name, (before, after)): (String, Declared)| {
            let when = self.obstacle(&name);
            FieldReview {
                field: name,
                actual: None,
                before,
                after,
                cause: if when.is_some() { FieldCause::Changed } else { FieldCause::Same },
                disruption: Disruption::None,
                security: false,
                changed_by: None,
                when: when.unwrap_or(When::Nothing),
            }
        };
        others.map(field).collect()
    }

    /// Returns what is declared of a field, or of the member of a group that it is, if the merge
    /// declares it otherwise.
    fn declared_as(&self, field: &str) -> Option<Declared> {
        if let Some(declared) = self.declared.get(field) {
            return Some(declared.clone());
        }
        let (member, (before, after)) =
            self.declared.iter().find_map(|(group, it)| Some((part(field, group)?, it)))?;
        let value = |group: &Option<Value>| group.as_ref()?.get(member).cloned();
        let (before, after) = (value(before), value(after));
        (before != after).then_some((before, after))
    }

    /// Says what keeps a field that differs in no way that could be mended from being as declared.
    fn obstacle(&self, field: &str) -> Option<When> {
        if self.after.refusals.iter().any(|refusal| refusal.field == field) {
            return Some(When::Refused);
        }
        let wait = self.after.waits.iter().find(|wait| wait.field == field)?;
        Some(self.after_wait(wait))
    }

    fn field_when(&self, delta: &Delta) -> When {
        if let Some(wait) = self.after.waits.iter().find(|wait| wait.field == delta.field) {
            return self.after_wait(wait);
        }
        let is_queued = delta.apply == Apply::Window
            || (delta.apply == Apply::Queued && delta.timing == Timing::Window);
        match self.after.verdict {
            Verdict::Go if is_queued => When::Window(self.window.clone()),
            Verdict::Go => When::Now,
            _ => self.when(),
        }
    }

    /// Says when the step is carried out.
    fn when(&self) -> When {
        match &self.after.verdict {
            Verdict::Go if self.after.is_settled() => When::Nothing,
            Verdict::Go if self.after.calls.is_empty() => self.first_wait(),
            Verdict::Go if self.after.effective.is_some() => When::Window(self.window.clone()),
            Verdict::Go => When::Now,
            Verdict::Waiting { code, on } => self.settled(code, on),
            Verdict::Deferred { .. } if self.after.is_farewell() => When::Grace,
            Verdict::Deferred { until, .. } if self.after.action == Action::Create => {
                When::Until(*until)
            }
            Verdict::Deferred { .. } => self.first_wait(),
            Verdict::Reported => When::Left,
            Verdict::Blocked { by } => {
                self.settled(super::DEPENDENCY, &format!("{by} is not there yet"))
            }
            Verdict::Refused => When::Refused,
        }
    }

    fn first_wait(&self) -> When {
        self.after.waits.first().map_or(When::Nothing, |wait| self.after_wait(wait))
    }

    fn after_wait(&self, wait: &Wait) -> When {
        match (wait.code.as_str(), self.snooze) {
            ("Window" | "Pending", _) => When::Window(self.window.clone()),
            ("Snoozed", Some(until)) => When::Until(until),
            ("Reported", _) => When::Left,
            _ => self.settled(&wait.code, &wait.reason),
        }
    }

    fn settled(&self, code: &str, on: &str) -> When {
        match code {
            Wait::FROZEN => When::Confirmed,
            "Unknown" | "OwnershipUnknown" | "UnreadableAnswer" => When::Unknown(on.to_owned()),
            _ => When::Settled { code: code.to_owned(), on: on.to_owned() },
        }
    }
}

fn delta_of<'a>(step: Option<&'a Step>, field: &str) -> Option<&'a Delta> {
    step?.deltas.iter().find(|delta| delta.field == field)
}

/// Lists the members of a group that are declared otherwise.
fn members(group: &str, (before, after): &Declared) -> Vec<(String, Declared)> {
    let map = |side: &Option<Value>| side.as_ref().and_then(Value::as_object).cloned();
    let (before, after) = (map(before).unwrap_or_default(), map(after).unwrap_or_default());
    let names: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let value = |name: &String| (before.get(name).cloned(), after.get(name).cloned());
    let named = names.into_iter().map(|name| (format!("{group}.{name}"), value(name)));
    named.filter(|(_, (before, after))| before != after).collect()
}

/// Returns the member of a group that a field is: `work_mem` for `parameters.work_mem`.
fn part<'a>(field: &'a str, group: &str) -> Option<&'a str> {
    field.strip_prefix(group)?.strip_prefix('.')
}

fn some(value: &Value) -> Option<Value> {
    (!value.is_null()).then(|| value.clone())
}

#[cfg(test)]
mod tests;
