//! Reports for programs: JSON in shapes that stay as they are.
//!
//! In: values of the model. Out: one JSON document with a line break at its end. Names are in
//! camelCase; a member may be added in any release and is removed in none.

use serde::Serialize;
use serde_json::{Value, json};

use crate::model::budget::Forecast;
use crate::model::delta::Timing;
use crate::model::{
    Action, Call, Delta, Freeze, Origin, Plan, Problem, Review, Severity, Step, Verdict,
};
use crate::report::spending::{Period, Spending};
use crate::report::{Summary, Told};

/// Renders plans: `{"summary": {...}, "objects": [{"object", "revision", "holds", "resources":
/// [...], "traced": [...]}]}`.
///
/// `holds` says who suspends the object and until when its drift is snoozed, `traced` who made drift,
/// where that is known (each with `resource`, `field`, `seen`, `changed`).
///
/// A resource has `id`, `kind`, `name`, `account`, `region`, `section`, `action`, `verdict` (with
/// `state` and what belongs to it), `disruption`, `effective` (when AWS applies what disrupts; null
/// for at once), and the lists `changes`, `waits`, `refusals`,
/// `notices` and `calls` (each with `service`, `operation`, `parameters`).
pub fn plan(plans: &[Plan]) -> String {
    let objects: Vec<Value> = plans.iter().map(object).collect();
    document(&json!({ "summary": Summary::of(plans), "objects": objects }))
}

/// Renders what calls were spent on: `{"at", "periods": [{"last", "spent": [...]}], "budgets": [...],
/// "resync"}`.
///
/// A line of `spent` has `scope`, `service`, `operation`, `cause` and `count` (with `sent`,
/// `throttled`, `withheld`); a budget has `scope`, `service`, `fill`, `budget`; `resync` is null, or has
/// `seconds`, `fits` and the `forecasts`, each with `perSecond` and `fits`.
pub fn spending(told: &Spending) -> String {
    let period = |period: &Period| json!({ "last": period.name, "spent": period.spent });
    let periods: Vec<Value> = told.periods.iter().map(period).collect();
    let resync = told.resync.as_ref().map(|(seconds, forecasts)| {
        json!({
            "seconds": seconds,
            "fits": forecasts.iter().all(Forecast::fits),
            "forecasts": forecasts.iter().map(forecast).collect::<Vec<_>>(),
        })
    });
    document(&json!({
        "at": told.at,
        "periods": periods,
        "budgets": told.levels,
        "resync": resync,
    }))
}

fn forecast(forecast: &Forecast) -> Value {
    json!({
        "scope": forecast.scope,
        "service": forecast.service,
        "objects": forecast.objects,
        "reads": forecast.reads,
        "budget": forecast.budget,
        "documentedPerSecond": forecast.documented_per_second,
        "perSecond": forecast.per_second(),
        "fits": forecast.fits(),
    })
}

fn object(plan: &Plan) -> Value {
    let resources: Vec<Value> = plan.steps.iter().map(resource).collect();
    json!({
        "object": plan.key,
        "revision": plan.revision,
        "holds": plan.holds,
        "resources": resources,
        "traced": plan.traced,
    })
}

fn resource(step: &Step) -> Value {
    json!({
        "id": step.resource.to_string(),
        "kind": step.resource.kind,
        "name": step.resource.name,
        "account": step.resource.scope.account,
        "region": step.resource.scope.region,
        "section": step.section,
        "action": action(step.action),
        "verdict": verdict(&step.verdict),
        "disruption": step.disruption,
        "effective": step.effective,
        "changes": step.deltas.iter().map(change).collect::<Vec<_>>(),
        "waits": step.waits,
        "refusals": step.refusals,
        "notices": step.notices,
        "calls": step.calls.iter().map(call).collect::<Vec<_>>(),
    })
}

fn action(action: Action) -> &'static str {
    match action {
        Action::Nothing => "nothing",
        Action::Create => "create",
        Action::Update => "update",
        Action::Adopt => "adopt",
        Action::Read => "read",
        Action::Retain => "retain",
        Action::Delete => "delete",
    }
}

fn verdict(verdict: &Verdict) -> Value {
    match verdict {
        Verdict::Go => json!({ "state": "go" }),
        Verdict::Waiting { code, on } => json!({ "state": "waiting", "code": code, "on": on }),
        Verdict::Deferred { until, why } => {
            json!({ "state": "deferred", "until": until, "why": why })
        }
        Verdict::Reported => json!({ "state": "reported" }),
        Verdict::Blocked { by } => json!({ "state": "blocked", "by": by.to_string() }),
        Verdict::Refused => json!({ "state": "refused" }),
    }
}

fn change(delta: &Delta) -> Value {
    json!({
        "field": delta.field,
        "parameter": delta.parameter,
        "from": delta.from,
        "to": delta.to,
        "why": delta.why,
        "origin": match delta.origin {
            Origin::Git => "git",
            Origin::Drift => "drift",
        },
        "timing": match delta.timing {
            Timing::Window => "window",
            Timing::Immediate => "immediate",
        },
        "disruption": delta.disruption,
        "security": delta.security,
    })
}

fn call(call: &Call) -> Value {
    json!({ "service": call.service, "operation": call.operation, "parameters": call.params })
}

/// Renders problems: `{"errors", "notices", "problems": [{"path", "line", "column", "length",
/// "severity", "code", "message", "hint"}]}`.
pub fn problems(problems: &[Problem]) -> String {
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error).count();
    let list: Vec<Value> = problems.iter().map(problem).collect();
    document(&json!({
        "errors": errors,
        "notices": problems.len() - errors,
        "problems": list,
    }))
}

fn problem(problem: &Problem) -> Value {
    json!({
        "path": problem.position.path,
        "line": problem.position.line,
        "column": problem.position.column,
        "length": problem.length,
        "severity": problem.severity,
        "code": problem.code,
        "message": problem.message,
        "hint": problem.hint,
    })
}

/// Renders what is told about objects: `{"objects": [{"object", "generation", "status"}],
/// "frozen": [{"guard", "digest", "reason", "message", "objects", "revision", "since"}]}`, the
/// status in the shape that the API serves.
pub fn status(objects: &[Told<'_>], frozen: &[Freeze]) -> String {
    let list: Vec<Value> = objects
        .iter()
        .map(|told| {
            json!({
                "object": told.key,
                "generation": told.generation,
                "status": told.status,
            })
        })
        .collect();
    document(&json!({ "objects": list, "frozen": frozen }))
}

/// Renders what a merge would do: the members of a [`Review`] and `safety` (`safe`, `care`,
/// `broken`) with the `verdict` in words.
pub fn review(review: &Review) -> String {
    let verdict = crate::report::review::verdict(review);
    let mut value = serde_json::to_value(review).unwrap_or_default();
    value["safety"] = json!(review.safety());
    value["verdict"] = verdict.into();
    document(&value)
}

/// Renders any value as a document with a line break at its end.
pub fn document(value: &impl Serialize) -> String {
    // Every value here is made of text, numbers and lists, which always serialise.
    serde_json::to_string_pretty(value).map(|text| text + "\n").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Generation, Key, ObjectStatus};
    use crate::report::text::sample;

    #[test]
    fn a_plan_says_what_happens_to_each_resource_and_why_not() {
        let value: Value = serde_json::from_str(&plan(&[sample::plan()])).unwrap();
        assert_eq!(value["summary"]["create"], 1);
        assert_eq!(value["summary"]["deferred"], 1);
        let object = &value["objects"][0];
        assert_eq!(object["object"], "Workspace/team-payments-prod");
        let database = &object["resources"][2];
        assert_eq!(
            database["verdict"],
            json!({
                "state": "deferred",
                "until": "2026-12-01T03:00:00Z",
                "why": "a reboot waits for the maintenance window",
            })
        );
        assert_eq!(
            database["changes"][0],
            json!({
                "field": "sizeClass",
                "parameter": "DBInstanceClass",
                "from": "db.r6g.large",
                "to": "db.r6g.xlarge",
                "why": "the declared class differs",
                "origin": "git",
                "timing": "window",
                "disruption": "Reboot",
                "security": false,
            })
        );
        assert_eq!(database["calls"][0]["operation"], "ModifyDBInstance");
        assert_eq!(database["refusals"][0]["code"], "StorageShrink");
    }

    #[test]
    fn problems_keep_their_positions() {
        let value: Value = serde_json::from_str(&problems(&sample::problems())).unwrap();
        assert_eq!(value["errors"], 1);
        assert_eq!(value["notices"], 1);
        assert_eq!(value["problems"][0]["line"], 9);
        assert_eq!(value["problems"][0]["severity"], "error");
        assert_eq!(value["problems"][1]["hint"], Value::Null);
    }

    #[test]
    fn a_status_is_served_as_the_api_serves_it() {
        let (key, told) = (Key::workspace("a"), ObjectStatus::default());
        let text = status(&[Told { key: &key, generation: Generation(3), status: &told }], &[]);
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["objects"][0]["generation"], 3);
        assert_eq!(value["objects"][0]["status"]["observedGeneration"], 0);
    }
}
