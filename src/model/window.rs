//! Maintenance and backup windows: `ddd:hh:mm-ddd:hh:mm` each week, `hh:mm-hh:mm` each day, in UTC.
//!
//! Source of the format: the API reference of `CreateDBInstance`, members
//! `PreferredMaintenanceWindow` and `PreferredBackupWindow`. Letter case carries no meaning.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const NAMES: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const DAY: i64 = 24 * 60;
const WEEK: i64 = 7 * DAY;

/// Holds a window that comes back every week or every day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Minutes from Monday 00:00 UTC, or from midnight for a daily window.
    start: i64,
    /// The length in minutes; at least 1.
    minutes: i64,
    /// The period in minutes.
    period: i64,
}

impl Window {
    /// Reads a weekly window, for example `Sun:05:00-Sun:06:00`.
    pub fn weekly(text: &str) -> Option<Self> {
        let (start, end) = text.split_once('-')?;
        Self::between(week_minute(start)?, week_minute(end)?, WEEK)
    }

    /// Reads a daily window, for example `02:00-03:00`.
    pub fn daily(text: &str) -> Option<Self> {
        let (start, end) = text.split_once('-')?;
        Self::between(day_minute(start)?, day_minute(end)?, DAY)
    }

    fn between(start: i64, end: i64, period: i64) -> Option<Self> {
        let minutes = (end - start).rem_euclid(period);
        (minutes > 0).then_some(Self { start, minutes, period })
    }

    /// Returns the length in minutes.
    pub fn minutes(self) -> i64 {
        self.minutes
    }

    /// Says when the window opens, for example `Sun 05:00 UTC`, or `02:00 UTC` each day.
    pub fn opening(self) -> String {
        let (hour, minute) = (self.start % DAY / 60, self.start % 60);
        let day = usize::try_from(self.start / DAY).ok().and_then(|day| NAMES.get(day));
        match day.filter(|_| self.period == WEEK) {
            Some(day) => format!("{day} {hour:02}:{minute:02} UTC"),
            None => format!("{hour:02}:{minute:02} UTC"),
        }
    }

    /// Tells whether two windows share a minute in any week.
    pub fn overlaps(self, other: Self) -> bool {
        let covers = |window: Self, minute: i64| {
            (minute - window.start).rem_euclid(window.period) < window.minutes
        };
        let starts =
            |window: Self| (0..WEEK / window.period).map(move |n| window.start + n * window.period);
        starts(other).any(|minute| covers(self, minute))
            || starts(self).any(|minute| covers(other, minute))
    }

    /// Tells whether the window is open at a time.
    pub fn is_open(self, at: Timestamp) -> bool {
        (minute_of_week(at) - self.start).rem_euclid(self.period) < self.minutes
    }

    /// Returns the next time at which the window opens; `at` itself when it opens then.
    pub fn next_start(self, at: Timestamp) -> Timestamp {
        let seconds = at.as_second();
        let minute_start = seconds - seconds.rem_euclid(60);
        let on_the_minute = at == Timestamp::from_second(minute_start).unwrap_or(at);
        let now = minute_of_week(at) + i64::from(!on_the_minute);
        let base = minute_start + if on_the_minute { 0 } else { 60 };
        let ahead = (self.start - now).rem_euclid(self.period);
        Timestamp::from_second(base)
            .and_then(|base| base.checked_add(SignedDuration::from_mins(ahead)))
            .unwrap_or(at)
    }
}

fn minute_of_week(at: Timestamp) -> i64 {
    let civil = TimeZone::UTC.to_datetime(at);
    let day = i64::from(civil.weekday().to_monday_zero_offset());
    day * DAY + i64::from(civil.hour()) * 60 + i64::from(civil.minute())
}

fn week_minute(text: &str) -> Option<i64> {
    let (day, time) = text.split_once(':')?;
    let day = DAYS.iter().position(|name| day.trim().eq_ignore_ascii_case(name))?;
    Some(i64::try_from(day).ok()? * DAY + day_minute(time)?)
}

fn day_minute(text: &str) -> Option<i64> {
    let (hour, minute) = text.trim().split_once(':')?;
    let number = |text: &str, limit: i64| {
        (text.len() == 2).then(|| text.parse::<i64>().ok())?.filter(|n| (0..limit).contains(n))
    };
    Some(number(hour, 24)? * 60 + number(minute, 60)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn letter_case_carries_no_meaning() {
        assert_eq!(Window::weekly("Sun:05:00-SUN:06:00"), Window::weekly("sun:05:00-sun:06:00"));
    }

    #[test]
    fn an_opening_is_told_as_people_say_it() {
        assert_eq!(Window::weekly("SUN:05:00-sun:06:00").unwrap().opening(), "Sun 05:00 UTC");
        assert_eq!(Window::daily("02:30-03:00").unwrap().opening(), "02:30 UTC");
    }

    #[test]
    fn a_window_may_wrap_around_the_week() {
        let window = Window::weekly("sun:23:30-mon:00:30").unwrap();
        assert_eq!(window.minutes(), 60);
        assert!(window.is_open(at("2026-11-29T23:45:00Z")));
        assert!(window.is_open(at("2026-11-30T00:29:59Z")));
        assert!(!window.is_open(at("2026-11-30T00:30:00Z")));
    }

    #[test]
    fn the_next_start_is_in_this_week_or_the_next() {
        let window = Window::weekly("sun:05:00-sun:06:00").unwrap();
        assert_eq!(window.next_start(at("2026-11-28T10:00:01Z")), at("2026-11-29T05:00:00Z"));
        assert_eq!(window.next_start(at("2026-11-29T05:00:00Z")), at("2026-11-29T05:00:00Z"));
        assert_eq!(window.next_start(at("2026-11-29T05:00:01Z")), at("2026-12-06T05:00:00Z"));
    }

    #[test]
    fn a_daily_window_opens_every_day() {
        let window = Window::daily("23:30-00:30").unwrap();
        assert_eq!(window.next_start(at("2026-11-29T23:31:00Z")), at("2026-11-30T23:30:00Z"));
    }

    #[test]
    fn a_daily_window_overlaps_a_weekly_one_on_its_day() {
        let daily = Window::daily("05:30-06:30").unwrap();
        assert!(daily.overlaps(Window::weekly("sun:05:00-sun:06:00").unwrap()));
        assert!(!daily.overlaps(Window::weekly("sun:07:00-sun:08:00").unwrap()));
    }

    #[test]
    fn what_is_no_window_is_not_read() {
        for text in [
            "",
            "sun:05:00",
            "sun:5:00-sun:06:00",
            "sun:25:00-sun:26:00",
            "xyz:05:00-xyz:06:00",
            "sun:05:00-sun:05:00",
        ] {
            assert_eq!(Window::weekly(text), None, "{text}");
        }
    }
}
