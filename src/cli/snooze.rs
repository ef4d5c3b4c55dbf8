//! `levelset snooze OBJECT`: drift is reported and not reverted for a while.

use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

use super::clock::now;
use super::error::Error;
use super::output::Output;
use super::settings::Flags;
use super::store::{ask, find};
use super::{Exit, reason};
use crate::manifest::annotations::moment;
use crate::model::Ask;

const WHAT: &str = "\
Changes from Git are still applied. Where an annotation of the manifest snoozes the object too, the
later of the two times counts. `levelset resume` ends it early.";

/// Report the drift of an object and leave it, for a while
#[derive(Debug, clap::Args)]
#[command(after_help = WHAT)]
pub(super) struct Arguments {
    /// The object: its name, or Workspace/NAME where the name is not enough
    object: String,
    /// Until when: 2026-12-01T08:00:00Z, or a date, which means its start in UTC
    #[arg(long, value_name = "TIME", value_parser = time, required_unless_present = "length")]
    until: Option<Timestamp>,
    /// For how long from now on: 4h, 90m, 2d
    #[arg(long = "for", id = "length", value_name = "LENGTH", conflicts_with = "until")]
    length: Option<Span>,
    /// Why, for those who wonder
    #[arg(long, value_name = "TEXT", value_parser = reason::parse)]
    reason: Option<String>,
}

pub(super) fn run(
    arguments: &Arguments,
    flags: &Flags,
    output: &mut Output,
) -> Result<Exit, Error> {
    let now = now();
    let until = end(arguments.until, arguments.length, now);
    if until <= now {
        return Err(Error::NotAhead { until, now });
    }
    let object = find(flags, &arguments.object)?.key;
    let line = format!("drift of {object} is reported and not reverted until {until:.0}\n");
    ask(flags, &[Ask::Snooze { object, until, reason: arguments.reason.clone() }], now)?;
    output.print(&line)?;
    Ok(Exit::Done)
}

fn time(text: &str) -> Result<Timestamp, String> {
    moment(text).ok_or_else(|| "it is no RFC 3339 time and no date".to_owned())
}

/// Days and longer are those of UTC; a length beyond the end of time ends there.
fn end(until: Option<Timestamp>, length: Option<Span>, now: Timestamp) -> Timestamp {
    let Some(length) = length else { return until.unwrap_or(now) };
    let end = now.to_zoned_datetime(TimeZone::UTC).checked_add(length);
    end.map_or(Timestamp::MAX, |end| end.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_counted_from_now_on() {
        let now: Timestamp = "2026-11-29T12:00:00Z".parse().unwrap();
        for (length, expected) in [
            ("4h", "2026-11-29T16:00:00Z"),
            ("90m", "2026-11-29T13:30:00Z"),
            ("2d", "2026-12-01T12:00:00Z"),
            ("1 month", "2026-12-29T12:00:00Z"),
            ("PT1H", "2026-11-29T13:00:00Z"),
        ] {
            let end = end(None, Some(length.parse().unwrap()), now);
            assert_eq!(end.to_string(), expected, "{length}");
        }
        assert!(end(None, Some("-1h".parse().unwrap()), now) < now);
    }
}
