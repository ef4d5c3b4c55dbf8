//! What API calls were spent on, for people at a terminal.
//!
//! In: a [`Spending`]. Out: a table of calls, the buckets, and whether an interval fits.

use std::fmt::Write as _;

use crate::model::budget::{Count, Forecast, Level};
use crate::report::spending::Spending;
use crate::report::style::{Ink, Style};

/// How wide the name of a line is at least.
const NAME: usize = 42;

/// Renders what was spent, how the budgets stand, and what was asked about resyncs.
pub fn spending(told: &Spending, style: Style) -> String {
    let mut text = table(told, style);
    text.push('\n');
    text.push_str(&style.paint(Ink::Strong, format!("BUDGETS at {:.0}", told.at)));
    text.push('\n');
    if told.levels.is_empty() {
        text.push_str("no call has been made yet\n");
    }
    told.levels.iter().for_each(|it| text.push_str(&level(it, style)));
    if let Some((seconds, forecasts)) = &told.resync {
        text.push('\n');
        text.push_str(&style.paint(Ink::Strong, format!("RESYNC EVERY {seconds} s")));
        text.push('\n');
        if forecasts.is_empty() {
            text.push_str("no resource is known yet\n");
        }
        forecasts.iter().for_each(|it| text.push_str(&forecast(it, style)));
    }
    text
}

fn table(told: &Spending, style: Style) -> String {
    let heads = told.periods.iter().map(|it| format!("LAST {}", it.name.to_uppercase()));
    let mut text = style.paint(Ink::Strong, row("CALLS", heads)) + "\n";
    for ((scope, service), lines) in told.by_service() {
        let _ = writeln!(text, "{scope} {service}");
        let mut sums = vec![Count::default(); told.periods.len()];
        for ((operation, cause), counts) in lines {
            let name = format!("  {operation} {}", cause.as_str());
            let sent = counts.iter().map(|count| count.sent.to_string());
            text.push_str(&(row(&name, sent) + "\n"));
            sums.iter_mut().zip(&counts).for_each(|(sum, count)| sum.add(*count));
        }
        for (name, of) in [
            ("  throttled by AWS", (|it| it.throttled) as fn(&Count) -> u64),
            ("  not sent for lack of budget", |it| it.withheld),
        ] {
            if sums.iter().any(|sum| of(sum) > 0) {
                let line = row(name, sums.iter().map(|sum| of(sum).to_string()));
                text.push_str(&(style.paint(Ink::Warning, line) + "\n"));
            }
        }
    }
    text
}

fn row(name: &str, cells: impl Iterator<Item = String>) -> String {
    cells.fold(format!("{name:<NAME$}"), |line, cell| format!("{line} {cell:>12}"))
}

fn level(level: &Level, style: Style) -> String {
    let Level { scope, service, fill, budget, .. } = level;
    let mut text = format!(
        "{scope} {service}: {:.0} of {} calls, {} of them for writes alone, {:.1} a second",
        fill.tokens.floor(),
        budget.burst,
        budget.write_reserve,
        fill.per_second
    );
    if fill.per_second < budget.per_second {
        let slowed = format!(" (slowed by throttling; {:.1} otherwise)", budget.per_second);
        text.push_str(&style.paint(Ink::Warning, slowed));
    }
    text + "\n"
}

fn forecast(it: &Forecast, style: Style) -> String {
    let (scope, service, objects) = (&it.scope, &it.service, it.objects);
    let verdict = match it.fits() {
        true => style.paint(Ink::Added, "it fits"),
        false => style.paint(Ink::Bad, "it does not fit"),
    };
    let mut text = format!(
        "{scope} {service}: {verdict}: {objects} objects cost at most {:.2} calls a second of {:.1}",
        it.per_second(),
        it.budget.per_second
    );
    if let Some(documented) = it.documented_per_second {
        let _ = write!(text, "; AWS allows {documented:.1}, shared with everybody there");
    }
    text.push('\n');
    for read in &it.reads {
        let _ = writeln!(
            text,
            "  {}: {} calls, {:.2} times a second",
            read.operation, read.calls, read.times_per_second
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::model::budget::{Fill, Read};
    use crate::model::{AccountId, Budget, Cause, Region, Scope, Spent};
    use crate::report::spending::Period;

    const BUDGET: Budget = Budget { burst: 150, per_second: 6.0, write_reserve: 30 };

    fn scope() -> Scope {
        Scope { account: AccountId::new("111122223333"), region: Region::new("eu-west-1") }
    }

    fn spent(operation: &str, cause: Cause, sent: u64, throttled: u64) -> Spent {
        let count = Count { sent, throttled, withheld: 0 };
        let (service, operation) = ("rds".to_owned(), operation.to_owned());
        Spent { scope: scope(), service, operation, cause, count }
    }

    fn told(times_per_second: f64) -> Spending {
        let minute = vec![spent("DescribeDBInstances", Cause::List, 5, 0)];
        let hour = vec![
            spent("CreateDBInstance", Cause::Create, 2, 1),
            spent("DescribeDBInstances", Cause::List, 300, 0),
        ];
        let fill = Fill { tokens: 29.7, per_second: 3.0 };
        let at = Timestamp::UNIX_EPOCH;
        let service = "rds".to_owned();
        let level = Level { scope: scope(), service: service.clone(), fill, budget: BUDGET, at };
        let operation = "DescribeDBInstances".to_owned();
        let forecast = Forecast {
            scope: scope(),
            service,
            objects: 500,
            reads: vec![Read { operation, calls: 5, times_per_second }],
            budget: BUDGET,
            documented_per_second: Some(12.0),
        };
        let periods =
            vec![Period { name: "minute", spent: minute }, Period { name: "hour", spent: hour }];
        Spending { at, periods, levels: vec![level], resync: Some((60, vec![forecast])) }
    }

    #[test]
    fn the_report_shows_calls_by_cause_the_buckets_and_a_plain_verdict() {
        let expected = "\
CALLS                                       LAST MINUTE    LAST HOUR
111122223333/eu-west-1 rds
  CreateDBInstance create                             0            2
  DescribeDBInstances list                            5          300
  throttled by AWS                                    0            1

BUDGETS at 1970-01-01T00:00:00Z
111122223333/eu-west-1 rds: 29 of 150 calls, 30 of them for writes alone, 3.0 a second \
(slowed by throttling; 6.0 otherwise)

RESYNC EVERY 60 s
111122223333/eu-west-1 rds: it fits: 500 objects cost at most 1.00 calls a second of 6.0; \
AWS allows 12.0, shared with everybody there
  DescribeDBInstances: 5 calls, 0.20 times a second
";
        assert_eq!(spending(&told(0.2), Style::Plain), expected);
        assert!(spending(&told(2.0), Style::Plain).contains("it does not fit: 500 objects"));
    }
}
