//! How long a failed key waits: exponential, with full jitter above a floor.
//!
//! In: the number of failures, the bounds and a random number. Out: a duration. The jitter is
//! drawn from the whole range (AWS Architecture Blog, "Exponential Backoff and Jitter"), so that
//! keys that failed together do not come back together; the floor of half the base keeps a lucky
//! draw from retrying at once.
//!
//! It does not count failures and does not say which errors count.

use std::time::Duration;

/// The ceiling of the first delay.
pub const BASE: Duration = Duration::from_secs(1);

/// Returns the delay after the `failures`-th failure in a row.
///
/// It lies between `base / 2` and `min(max, base * 2^(failures - 1))`, even where `random` is drawn
/// evenly from all of `u64`. When `max` is below `base / 2`, the floor wins.
pub fn delay(failures: u32, base: Duration, max: Duration, random: u64) -> Duration {
    let floor = base / 2;
    let span = nanos(ceiling(failures, base, max).saturating_sub(floor));
    // The high half of a 128-bit product maps all of u64 evenly onto 0..=span.
    let share = (u128::from(random) * (u128::from(span) + 1)) >> 64;
    floor.saturating_add(Duration::from_nanos(u64::try_from(share).unwrap_or(span)))
}

/// Returns the longest delay after the `failures`-th failure in a row.
pub fn ceiling(failures: u32, base: Duration, max: Duration) -> Duration {
    let doublings = failures.saturating_sub(1).min(31);
    base.saturating_mul(1 << doublings).min(max)
}

/// Returns whole nanoseconds, at most the 584 years that fit.
fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MAX: Duration = Duration::from_secs(900);

    #[test]
    fn the_ceiling_doubles_from_the_base_up_to_the_maximum() {
        let seconds: Vec<u64> = (1..=12).map(|n| ceiling(n, BASE, MAX).as_secs()).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
    }

    #[test]
    fn the_smallest_draw_gives_the_floor_and_the_largest_the_ceiling() {
        assert_eq!(delay(5, BASE, MAX, 0), Duration::from_millis(500));
        assert_eq!(delay(5, BASE, MAX, u64::MAX), Duration::from_secs(16));
        assert_eq!(delay(1, BASE, MAX, u64::MAX), BASE);
    }

    #[test]
    fn half_of_the_draws_give_half_of_the_range() {
        let middle = delay(6, BASE, MAX, u64::MAX / 2);
        assert_eq!(middle.as_millis(), 16_250);
    }

    #[test]
    fn a_maximum_of_zero_does_not_make_a_hot_loop() {
        assert_eq!(delay(9, BASE, Duration::ZERO, u64::MAX), BASE / 2);
    }

    proptest! {
        #[test]
        fn no_count_and_no_bound_overflows_or_leaves_the_range(
            failures: u32, base in 1u64..=u64::MAX, max: u64, random: u64,
        ) {
            let (base, max) = (Duration::from_millis(base), Duration::from_millis(max));
            let delay = delay(failures, base, max, random);
            prop_assert!(delay >= base / 2);
            prop_assert!(delay <= ceiling(failures, base, max).max(base / 2));
        }

        #[test]
        fn one_more_failure_never_shortens_the_wait_of_the_same_draw(
            failures in 0u32..200, random: u64,
        ) {
            let longer = delay(failures + 1, BASE, MAX, random);
            prop_assert!(longer >= delay(failures, BASE, MAX, random));
        }
    }
}
