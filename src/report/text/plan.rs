//! A plan as a diff, in the manner that people know.
//!
//! In: plans. Out: one block for each object, one header for each resource that is not as declared,
//! one row for each field, and a line that counts.

use serde_json::Value;

use crate::model::delta::{Timing, Wait};
use crate::model::status::Traced;
use crate::model::{
    Action, Apply, Delta, Difference, Disruption, Notice, Origin, Plan, Refusal, Step, Verdict,
};
use crate::report::style::{Ink, Style};
use crate::report::summary::Summary;
use crate::report::text::value;

const FIELD: &str = "      ";
const DETAIL: &str = "          ";

/// Renders plans as a diff with a summary line; resources that are as declared are only counted.
pub fn plan(plans: &[Plan], style: Style) -> String {
    let mut text = String::new();
    for plan in plans.iter().filter(|plan| plan.steps.iter().any(is_shown)) {
        text.push_str(&header(plan, style));
        for step in plan.steps.iter().filter(|step| is_shown(step)) {
            text.push_str(&resource(step, style));
            let of_step = plan.traced.iter().filter(|it| it.resource == step.resource);
            text.extend(of_step.map(|it| traced(&step.section, it, style)));
        }
        text.push('\n');
    }
    text.push_str(&totals(&Summary::of(plans), style));
    text
}

fn is_shown(step: &Step) -> bool {
    !step.is_settled() || !step.notices.is_empty()
}

fn header(plan: &Plan, style: Style) -> String {
    let at = plan.revision.as_ref().map_or(String::new(), |r| format!(" at {}", r.short()));
    format!("{}{at}\n{}", style.paint(Ink::Strong, &plan.key), holds(plan, style))
}

/// Says who keeps the agent from doing what the plan shows.
fn holds(plan: &Plan, style: Style) -> String {
    let line = |word: &str, rest: String| format!("  {} {rest}\n", style.paint(Ink::Warning, word));
    let mut text = String::new();
    if plan.holds.is_suspended() {
        let rest = format!("by {}; nothing is changed", plan.holds.suspenders());
        text.push_str(&line("suspended", rest));
    }
    if let Some(snooze) = &plan.holds.snoozed {
        let rest = format!("until {:.0} by {}; drift is left", snooze.until, snooze.by);
        text.push_str(&line("snoozed", rest));
    }
    text
}

fn totals(summary: &Summary, style: Style) -> String {
    if summary.has_differences() {
        format!("{} {}\n", style.paint(Ink::Strong, "Plan:"), summary.sentence())
    } else {
        let what = format!("Nothing to do: {} unchanged", summary.unchanged);
        format!("{}\n", style.paint(Ink::Added, what))
    }
}

/// Renders one resource: its header, its fields, and what keeps it from happening.
fn resource(step: &Step, style: Style) -> String {
    let (sign, ink) = sign(step.action);
    let mut text = format!(
        "  {} {} in {}{}\n",
        style.paint(ink, sign),
        style.paint(Ink::Strong, &step.resource),
        step.resource.scope,
        consequence(step, style),
    );
    text.push_str(&verdict(&step.verdict, style));
    text.extend(step.effective.map(|when| {
        format!("{FIELD}{} from {when:.0}\n", style.paint(Ink::Warning, "AWS applies it"))
    }));
    text.push_str(&fields(step, style));
    text.extend(step.refusals.iter().map(|refusal| refused(&step.section, refusal, style)));
    text.extend(step.waits.iter().map(|wait| waits(&step.section, wait, style)));
    text.extend(step.notices.iter().map(|notice| noticed(&step.section, notice, style)));
    text
}

fn sign(action: Action) -> (&'static str, Ink) {
    match action {
        Action::Create => ("+", Ink::Added),
        Action::Update => ("~", Ink::Changed),
        Action::Adopt => ("^", Ink::Changed),
        Action::Retain => ("o", Ink::Changed),
        Action::Delete => ("-", Ink::Removed),
        Action::Nothing | Action::Read => ("=", Ink::Faint),
    }
}

/// Says what the step does in words, with the worst of what it disrupts.
fn consequence(step: &Step, style: Style) -> String {
    let what = match step.action {
        Action::Create => ", to be created",
        Action::Update => ", to be changed",
        Action::Adopt => ", to be adopted",
        Action::Retain if step.is_settled() => ", left in AWS",
        Action::Retain => ", to be left in AWS under a tag that says so",
        Action::Delete if step.is_settled() => ", gone",
        Action::Delete => ", to be deleted",
        Action::Nothing | Action::Read => "",
    };
    match disrupts(step.disruption) {
        Some(how) => format!("{what}; {}", style.paint(Ink::Warning, how)),
        None => what.to_owned(),
    }
}

/// Says in words what a change disrupts; `None` for nothing.
pub(in crate::report) fn disrupts(disruption: Disruption) -> Option<&'static str> {
    Some(match disruption {
        Disruption::None => return None,
        Disruption::Brief => "brief interruption",
        Disruption::Reboot => "reboot",
        Disruption::Failover => "failover",
        Disruption::StorageLock => "locks storage changes for six hours or more",
        Disruption::Replace => "replacement",
    })
}

fn verdict(verdict: &Verdict, style: Style) -> String {
    let line =
        |word: &str, rest: String| format!("{FIELD}{} {rest}\n", style.paint(Ink::Warning, word));
    match verdict {
        Verdict::Go | Verdict::Refused => String::new(),
        Verdict::Waiting { code, on } => line("waiting", format!("[{code}]: {on}")),
        Verdict::Deferred { until, why } => line("deferred", format!("until {until}: {why}")),
        Verdict::Reported => line("reported only:", "this difference is left as it is".to_owned()),
        Verdict::Blocked { by } => line("waits", format!("until {by} is there")),
    }
}

/// Renders the differences; for a resource that is made every value is new.
fn fields(step: &Step, style: Style) -> String {
    match step.action {
        Action::Create => values(&step.section, &step.deltas, style),
        _ => deltas(&step.section, &step.deltas, style),
    }
}

/// Renders the values that a creation sets.
fn values(section: &str, deltas: &[Delta], style: Style) -> String {
    let (names, width) = names(section, deltas);
    let row = |(name, delta): (&String, &Delta)| {
        let sign = style.paint(Ink::Added, "+");
        let why = match delta.why.as_str() {
            "" | "declared" => String::new(),
            why => format!("  {}", style.paint(Ink::Faint, format!("({why})"))),
        };
        if value::is_long(&Value::Null, &delta.to) {
            let lines = value::by_line(&Value::Null, &delta.to, DETAIL, style);
            return format!("{FIELD}{sign} {name}{why}\n{lines}");
        }
        let to = style.paint(Ink::Added, value::inline(&delta.to));
        format!("{FIELD}{sign} {name:<width$}  {to}{why}\n")
    };
    names.iter().zip(deltas).map(row).collect()
}

/// Renders differences with their names in one column.
pub(super) fn deltas(section: &str, deltas: &[Delta], style: Style) -> String {
    let (names, width) = names(section, deltas);
    let row = |(name, delta): (&String, &Delta)| difference(name, width, delta, style);
    names.iter().zip(deltas).map(row).collect()
}

/// Returns the fields as a reader of the manifest knows them, and the length of the longest.
fn names(section: &str, deltas: &[Delta]) -> (Vec<String>, usize) {
    let names: Vec<String> = deltas.iter().map(|delta| path(section, &delta.field)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    (names, width)
}

fn difference(name: &str, width: usize, delta: &Delta, style: Style) -> String {
    let sign = style.paint(Ink::Changed, "~");
    let facts = facts(delta, style);
    let why = match delta.why.as_str() {
        "" => String::new(),
        why => format!("{DETAIL}{}\n", style.paint(Ink::Faint, why)),
    };
    if value::is_long(&delta.from, &delta.to) {
        let lines = value::by_line(&delta.from, &delta.to, DETAIL, style);
        return format!("{FIELD}{sign} {name}  {facts}\n{why}{lines}");
    }
    let from = style.paint(Ink::Removed, value::inline(&delta.from));
    let to = style.paint(Ink::Added, value::inline(&delta.to));
    format!("{FIELD}{sign} {name:<width$}  {from} -> {to}  {facts}\n{why}")
}

/// Says where a difference comes from, what mending it disrupts, and when it may happen.
fn facts(delta: &Delta, style: Style) -> String {
    let origin = match delta.origin {
        Origin::Git => style.paint(Ink::Faint, "git"),
        Origin::Drift => style.paint(Ink::Warning, "drift"),
    };
    let mut facts = vec![origin];
    facts.extend(disrupts(delta.disruption).map(|how| style.paint(Ink::Warning, how)));
    if delta.security {
        facts.push(style.paint(Ink::Bad, "security"));
    }
    facts.extend(when(delta).map(str::to_owned));
    format!("({})", facts.join(", "))
}

/// Says when AWS applies a change, where that is not self-evident.
fn when(delta: &Delta) -> Option<&'static str> {
    match (delta.apply, delta.timing) {
        (Apply::Window, _) | (Apply::Queued, Timing::Window) => Some("in the maintenance window"),
        (Apply::Queued, Timing::Immediate) => Some("at once"),
        (Apply::AtOnce, _) => disrupts(delta.disruption).map(|_| "at once"),
    }
}

/// Says who made drift.
fn traced(section: &str, traced: &Traced, style: Style) -> String {
    let word = style.paint(Ink::Warning, "changed outside Git:");
    let what = match traced.field.as_str() {
        Difference::EXISTENCE => section.to_owned(),
        field => path(section, field),
    };
    format!("{FIELD}{word} {what}, {}\n", traced.changed)
}

pub(super) fn refused(section: &str, refusal: &Refusal, style: Style) -> String {
    let word = style.paint(Ink::Bad, format!("refused[{}]", refusal.code));
    let at = path(section, &refusal.field);
    let help = match refusal.help.as_str() {
        "" => String::new(),
        help => format!("{DETAIL}{} {help}\n", style.paint(Ink::Help, "help:")),
    };
    format!("{FIELD}{word} {at}: {}\n{help}", refusal.message)
}

pub(super) fn waits(section: &str, wait: &Wait, style: Style) -> String {
    let word = style.paint(Ink::Warning, format!("waits[{}]", wait.code));
    format!("{FIELD}{word} {}: {}\n", path(section, &wait.field), wait.reason)
}

pub(super) fn noticed(section: &str, notice: &Notice, style: Style) -> String {
    let word = style.paint(Ink::Help, format!("notice[{}]", notice.code));
    format!("{FIELD}{word} {}: {}\n", path(section, &notice.field), notice.message)
}

/// Returns the place in the manifest: the section, and the field when there is one.
fn path(section: &str, field: &str) -> String {
    match (section, field) {
        ("", field) => field.to_owned(),
        (section, "") => section.to_owned(),
        (section, field) => format!("{section}.{field}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::trail::Changed;
    use crate::model::{Holder, Holds, Snooze};
    use crate::report::text::sample;

    #[test]
    fn a_plan_reads_as_a_diff_and_ends_with_its_counts() {
        let expected = r#"Workspace/team-payments-prod at 1a2b3c4d
  + db_parameter_group/team-payments-prod in 111122223333/eu-west-1, to be created
      + database.family      "postgres15"
      + database.parameters  (default at creation)
          + {
          +   "rds.force_ssl": "1"
          + }
  ~ db_instance/team-payments-prod in 111122223333/eu-west-1, to be changed; reboot
      deferred until 2026-12-01T03:00:00Z: a reboot waits for the maintenance window
      ~ database.sizeClass  "db.r6g.large" -> "db.r6g.xlarge"  (git, reboot, in the maintenance window)
          the declared class differs
      ~ database.tags  (drift, security)
            {
          -   "team": "billing",
          +   "team": "payments",
              "tier": "gold"
            }
      refused[StorageShrink] database.storage.sizeGiB: 200 GiB cannot become 100 GiB
          help: declare at least 200
      waits[StorageOptimization] database.storage.iops: the volume is still being optimised
      notice[RebootRequired] database: a parameter takes effect at the next restart

Plan: 1 to create, 1 to change, 1 refused, 1 unchanged; 1 deferred
"#;
        assert_eq!(plan(&[sample::plan()], Style::Plain), expected);
    }

    #[test]
    fn a_plan_without_work_is_one_line() {
        let settled = Plan { steps: vec![sample::step("vpc", Action::Read)], ..sample::plan() };
        assert_eq!(plan(&[settled], Style::Plain), "Nothing to do: 1 unchanged\n");
    }

    #[test]
    fn a_plan_that_somebody_holds_back_says_who() {
        let since = "2026-11-29T12:00:00Z".parse().unwrap();
        let alice = Holder::Person { name: "alice".to_owned(), since, reason: None };
        let git = Holder::Annotation { path: "a.yaml".into(), line: 6 };
        let until = "2026-12-01T00:00:00Z".parse().unwrap();
        let snoozed = Some(Snooze { until, by: git });
        let plan = Plan { holds: Holds { suspended: vec![alice], snoozed }, ..sample::plan() };
        let expected = "\
Workspace/team-payments-prod at 1a2b3c4d
  suspended by alice since 2026-11-29T12:00:00Z; nothing is changed
  snoozed until 2026-12-01T00:00:00Z by the annotation at a.yaml:6; drift is left
";
        assert!(super::plan(&[plan], Style::Plain).starts_with(expected));
    }

    #[test]
    fn drift_says_who_made_it_where_that_is_known() {
        let mut plan = sample::plan();
        let changed = Changed {
            by: "arn:aws:iam::111122223333:user/eve".to_owned(),
            at: "2026-11-30T10:00:00Z".parse().unwrap(),
            event: "AddTagsToResource".to_owned(),
        };
        let traced = |resource, field: &str| Traced {
            resource,
            field: field.to_owned(),
            seen: changed.at,
            changed: changed.clone(),
        };
        let steps = &plan.steps;
        plan.traced = vec![
            traced(steps[2].resource.clone(), "tags"),
            traced(steps[1].resource.clone(), Difference::EXISTENCE),
        ];
        let text = super::plan(&[plan], Style::Plain);
        let event =
            "AddTagsToResource by arn:aws:iam::111122223333:user/eve at 2026-11-30T10:00:00Z";
        for what in ["database.tags", "database"] {
            let line = format!("      changed outside Git: {what}, {event}\n");
            assert!(text.contains(&line), "{text}");
        }
    }

    #[test]
    fn what_aws_holds_back_for_its_window_says_from_when() {
        let mut plan = sample::plan();
        plan.steps[2].effective = Some("2026-12-01T03:00:00Z".parse().unwrap());
        let text = super::plan(&[plan], Style::Plain);
        assert!(text.contains("      AWS applies it from 2026-12-01T03:00:00Z\n"), "{text}");
    }

    #[test]
    fn every_verdict_says_why_nothing_happens() {
        let by = sample::step("vpc", Action::Read).resource;
        let line = |given: Verdict| verdict(&given, Style::Plain);
        assert_eq!(line(Verdict::Go), "");
        assert_eq!(
            line(Verdict::Waiting { code: "Creating".into(), on: "the creation".into() }),
            "      waiting [Creating]: the creation\n"
        );
        assert_eq!(
            line(Verdict::Blocked { by }),
            "      waits until vpc/team-payments-prod is there\n"
        );
        assert!(line(Verdict::Reported).contains("reported only"));
    }

    #[test]
    fn colours_change_nothing_but_the_colours() {
        let coloured = plan(&[sample::plan()], Style::Coloured);
        let stripped = anstream::adapter::strip_str(&coloured).to_string();
        assert!(coloured.contains("\u{1b}["));
        assert_eq!(stripped, plan(&[sample::plan()], Style::Plain));
    }
}
