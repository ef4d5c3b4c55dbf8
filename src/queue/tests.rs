//! The queue, by example; its laws stand in `laws`.

use super::*;

const CHANGE: Lane = Lane::Change;
const RESYNC: Lane = Lane::Resync;

/// Returns the time `seconds` after the start of the test.
fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_900_000_000 + seconds).unwrap()
}

/// Takes and ends passes until nothing is ready at `now`; returns the keys in order.
fn drain(queue: &mut Queue<&'static str>, now: i64) -> Vec<&'static str> {
    let mut order = Vec::new();
    while let Some(taken) = queue.take(at(now)) {
        order.push(taken.key);
        assert!(queue.done(&taken.key, at(now), None, None));
    }
    order
}

#[test]
fn a_key_that_is_added_twice_is_taken_once() {
    let mut queue = Queue::new();
    queue.add("a", CHANGE, at(0), at(0));
    queue.add("a", CHANGE, at(0), at(0));
    assert_eq!(queue.depth(), 1);
    assert_eq!(drain(&mut queue, 0), ["a"]);
    assert_eq!((queue.counters().adds, queue.counters().deduplicated), (1, 1));
}

#[test]
fn the_earlier_of_two_times_counts_whichever_came_first() {
    let mut queue = Queue::new();
    queue.add("late then early", CHANGE, at(300), at(0));
    queue.add("late then early", CHANGE, at(10), at(0));
    queue.add("early then late", CHANGE, at(20), at(0));
    queue.add("early then late", CHANGE, at(300), at(0));
    assert_eq!(queue.due(&"late then early"), Some((CHANGE, at(10))));
    assert_eq!(queue.due(&"early then late"), Some((CHANGE, at(20))));
}

#[test]
fn nothing_is_taken_before_it_is_due_and_next_due_tells_when() {
    let mut queue = Queue::new();
    assert_eq!(queue.next_due(at(0)), None);
    queue.add("a", RESYNC, at(30), at(0));
    assert_eq!(queue.next_due(at(0)), Some(at(30)));
    assert_eq!(queue.take(at(29)), None);
    assert_eq!(queue.next_due(at(45)), Some(at(45)));
    let taken = queue.take(at(45)).unwrap();
    assert_eq!(taken, Taken { key: "a", lane: RESYNC, waited: Duration::from_secs(15) });
}

#[test]
fn a_key_in_flight_is_not_handed_out_again_and_comes_back_right_after_done() {
    let mut queue = Queue::new();
    queue.add("a", RESYNC, at(0), at(0));
    let _ = queue.take(at(0)).unwrap();
    queue.add("a", CHANGE, at(1), at(1));
    assert_eq!((queue.take(at(2)), queue.in_flight(), queue.depth()), (None, 1, 0));
    queue.done(&"a", at(3), Some((RESYNC, at(303))), None);
    assert_eq!(queue.due(&"a"), Some((CHANGE, at(1))));
    assert_eq!(queue.take(at(3)).unwrap().waited, Duration::from_secs(2));
}

#[test]
fn no_lane_and_no_number_of_wake_ups_jumps_a_not_before() {
    let mut queue = Queue::new();
    queue.add("a", CHANGE, at(0), at(0));
    let _ = queue.take(at(0)).unwrap();
    queue.add("a", CHANGE, at(0), at(0));
    queue.done(&"a", at(1), None, Some(at(60)));
    queue.add("a", CHANGE, at(2), at(2));
    queue.add("a", RESYNC, at(2), at(2));
    assert_eq!(queue.next_due(at(2)), Some(at(60)));
    assert_eq!(queue.take(at(59)), None);
    assert!(queue.take(at(60)).is_some());
}

#[test]
fn a_not_before_outlives_a_rest_and_a_forgetting() {
    let mut queue = Queue::new();
    queue.add("a", CHANGE, at(0), at(0));
    let _ = queue.take(at(0)).unwrap();
    queue.done(&"a", at(0), None, Some(at(60)));
    queue.forget(&"a");
    assert_eq!(queue.take(at(30)), None);
    queue.add("a", CHANGE, at(30), at(30));
    assert_eq!(queue.due(&"a"), Some((CHANGE, at(60))));
}

#[test]
fn a_change_cuts_a_backoff_short_where_only_the_minimum_interval_is_a_not_before() {
    let mut queue = Queue::new();
    queue.add("a", CHANGE, at(0), at(0));
    let _ = queue.take(at(0)).unwrap();
    queue.done(&"a", at(0), Some((CHANGE, at(900))), Some(at(5)));
    assert_eq!(queue.due(&"a"), Some((CHANGE, at(900))));
    queue.add("a", CHANGE, at(1), at(1));
    assert_eq!(queue.due(&"a"), Some((CHANGE, at(5))));
}

#[test]
fn a_restored_not_before_holds_a_key_before_and_after_it_is_added() {
    let mut queue = Queue::new();
    queue.hold("held first", at(60));
    queue.add("held first", CHANGE, at(0), at(0));
    queue.add("held last", CHANGE, at(0), at(0));
    queue.hold("held last", at(70));
    queue.hold("held last", at(10));
    assert_eq!(queue.due(&"held first"), Some((CHANGE, at(60))));
    assert_eq!(queue.due(&"held last"), Some((CHANGE, at(70))));
}

#[test]
fn a_key_held_while_it_is_in_flight_waits_for_the_later_of_both_times() {
    let mut queue = Queue::new();
    queue.add("a", CHANGE, at(0), at(0));
    let _ = queue.take(at(0)).unwrap();
    queue.hold("a", at(60));
    queue.done(&"a", at(1), Some((CHANGE, at(1))), Some(at(20)));
    assert_eq!(queue.due(&"a"), Some((CHANGE, at(60))));
}

#[test]
fn a_change_goes_before_resyncs_that_have_waited_longer() {
    let mut queue = Queue::new();
    queue.add("resync 1", RESYNC, at(0), at(0));
    queue.add("resync 2", RESYNC, at(0), at(0));
    queue.add("change", CHANGE, at(59), at(59));
    assert_eq!(drain(&mut queue, 59), ["change", "resync 1", "resync 2"]);
}

#[test]
fn a_key_that_gets_both_lanes_is_in_change() {
    let mut queue = Queue::new();
    queue.add("other", RESYNC, at(0), at(0));
    queue.add("change last", RESYNC, at(1), at(1));
    queue.add("change last", CHANGE, at(2), at(2));
    queue.add("change first", CHANGE, at(2), at(2));
    queue.add("change first", RESYNC, at(2), at(2));
    assert_eq!(drain(&mut queue, 2), ["change last", "change first", "other"]);
    assert_eq!(queue.counters().changes_taken, 2);
}

#[test]
fn keys_that_are_ready_at_the_same_time_go_in_the_order_of_arrival() {
    let mut queue = Queue::new();
    for key in ["c", "a", "d", "b"] {
        queue.add(key, CHANGE, at(5), at(0));
    }
    assert_eq!(drain(&mut queue, 9), ["c", "a", "d", "b"]);
}

#[test]
fn a_busy_key_goes_behind_the_keys_that_wait() {
    let mut queue = Queue::new();
    for (second, key) in ["busy", "b", "c"].into_iter().enumerate() {
        queue.add(key, CHANGE, at(i64::try_from(second).unwrap()), at(0));
    }
    let _ = queue.take(at(3)).unwrap();
    queue.done(&"busy", at(3), Some((CHANGE, at(3))), None);
    assert_eq!(drain(&mut queue, 3), ["b", "c", "busy"]);
}

/// Takes `count` keys while one change is always ready; returns the positions of the resyncs.
fn resyncs_in_a_flood_of_changes(now: i64, count: usize) -> Vec<usize> {
    let mut queue = Queue::new();
    for key in 0..100 {
        queue.add(key, RESYNC, at(0), at(0));
    }
    queue.add(1000, CHANGE, at(now), at(now));
    let mut positions = Vec::new();
    for position in 0..count {
        let taken = queue.take(at(now)).unwrap();
        if taken.lane == RESYNC {
            positions.push(position);
            queue.done(&taken.key, at(now), None, None);
        } else {
            queue.done(&taken.key, at(now), Some((CHANGE, at(now))), None);
        }
    }
    positions
}

#[test]
fn a_flood_of_changes_lets_one_aged_resync_pass_after_every_eight() {
    assert_eq!(resyncs_in_a_flood_of_changes(60, 30), [8, 17, 26]);
}

#[test]
fn a_flood_of_changes_goes_before_every_resync_that_has_not_aged() {
    assert_eq!(resyncs_in_a_flood_of_changes(59, 30), [] as [usize; 0]);
}

#[test]
fn a_change_waits_for_at_most_one_of_ten_thousand_aged_resyncs() {
    let mut queue = Queue::new();
    for key in 0..10_000 {
        queue.add(key, RESYNC, at(0), at(0));
    }
    for round in 0..100 {
        queue.add(20_000 + round, CHANGE, at(600), at(600));
        let takes = (0..2).map(|_| queue.take(at(600)).unwrap().key);
        assert!(takes.collect::<Vec<_>>().contains(&(20_000 + round)));
    }
}

#[test]
fn a_forgotten_key_is_not_taken_and_its_running_pass_brings_nothing_back() {
    let mut queue = Queue::new();
    queue.add("queued", CHANGE, at(0), at(0));
    queue.add("running", CHANGE, at(0), at(0));
    queue.forget(&"queued");
    let _ = queue.take(at(0)).unwrap();
    queue.add("running", CHANGE, at(1), at(1));
    queue.forget(&"running");
    assert!(queue.done(&"running", at(2), Some((RESYNC, at(2))), None));
    assert_eq!((queue.take(at(1000)), queue.depth(), queue.in_flight()), (None, 0, 0));
}

#[test]
fn a_key_that_is_forgotten_and_woken_while_it_runs_comes_back_for_the_wake_up() {
    let mut queue = Queue::new();
    queue.add("a", RESYNC, at(0), at(0));
    let _ = queue.take(at(0)).unwrap();
    queue.forget(&"a");
    queue.add("a", CHANGE, at(1), at(1));
    assert_eq!(queue.take(at(1)), None);
    queue.done(&"a", at(2), Some((RESYNC, at(0))), None);
    assert_eq!(queue.due(&"a"), Some((CHANGE, at(1))));
}

#[test]
fn done_for_a_key_that_is_not_in_flight_changes_nothing() {
    let mut queue = Queue::new();
    queue.add("a", CHANGE, at(0), at(0));
    assert!(!queue.done(&"a", at(0), Some((RESYNC, at(9))), Some(at(9))));
    assert!(!queue.done(&"b", at(0), Some((RESYNC, at(9))), Some(at(9))));
    assert_eq!(queue.due(&"a"), Some((CHANGE, at(0))));
    assert_eq!(queue.depth(), 1);
}

#[test]
fn depth_counts_what_is_queued_and_ready_depth_what_is_due() {
    let mut queue = Queue::new();
    queue.add("now", CHANGE, at(0), at(0));
    queue.add("later", RESYNC, at(10), at(0));
    queue.add("last", CHANGE, at(20), at(0));
    assert_eq!((queue.depth(), queue.ready_depth(at(0))), (3, 1));
    assert_eq!((queue.depth(), queue.ready_depth(at(10))), (3, 2));
    assert_eq!(queue.oldest_age(at(15)), Duration::from_secs(15));
    assert_eq!(queue.take(at(10)).unwrap().key, "now");
    assert_eq!(queue.ready_depth(at(10)), 1);
    assert_eq!(queue.ready_depth(at(0)), 0, "also when the clock goes back");
    queue.add("early", CHANGE, at(0), at(0));
    queue.forget(&"later");
    assert_eq!((queue.ready_depth(at(0)), queue.ready_depth(at(20))), (1, 2));
}

#[test]
fn the_longest_running_pass_is_the_one_that_was_taken_first() {
    let mut queue = Queue::new();
    assert_eq!(queue.longest_running(at(0)), Duration::ZERO);
    queue.add("a", CHANGE, at(0), at(0));
    queue.add("b", CHANGE, at(0), at(0));
    let (first, second) = (queue.take(at(1)).unwrap(), queue.take(at(5)).unwrap());
    assert_eq!(queue.longest_running(at(9)), Duration::from_secs(8));
    queue.done(&first.key, at(9), None, None);
    assert_eq!(queue.longest_running(at(9)), Duration::from_secs(4));
    queue.done(&second.key, at(9), None, None);
}

#[test]
fn a_follow_up_counts_as_an_add() {
    let mut queue = Queue::new();
    queue.add("a", CHANGE, at(0), at(0));
    let _ = queue.take(at(0)).unwrap();
    queue.done(&"a", at(0), Some((CHANGE, at(1))), None);
    assert_eq!(queue.counters().adds, 2);
}

#[test]
fn a_key_that_is_woken_without_end_takes_its_turn_like_every_other() {
    let mut queue = Queue::new();
    for key in ["noisy", "b", "c", "d"] {
        queue.add(key, CHANGE, at(0), at(0));
    }
    let mut taken = Vec::new();
    for now in 0..4 {
        let worker = queue.take(at(now)).unwrap();
        for _ in 0..100 {
            queue.add("noisy", CHANGE, at(now), at(now));
        }
        taken.push(worker.key);
    }
    assert_eq!(taken, ["noisy", "b", "c", "d"]);
    assert_eq!((queue.take(at(9)), queue.in_flight()), (None, 4), "one worker is all it gets");
    queue.done(&"noisy", at(9), None, None);
    assert_eq!(queue.depth(), 1, "a hundred wake-ups are one");
}

#[test]
fn a_clock_that_goes_back_makes_keys_wait_and_nothing_else() {
    let mut queue = Queue::new();
    queue.add("a", CHANGE, at(100), at(100));
    assert_eq!(queue.take(at(50)), None);
    assert_eq!(queue.oldest_age(at(50)), Duration::ZERO);
    let taken = queue.take(at(100)).unwrap();
    assert_eq!(queue.longest_running(at(50)), Duration::ZERO);
    assert!(queue.done(&taken.key, at(50), None, None));
}

#[test]
fn keys_that_rest_are_not_remembered_for_ever() {
    let mut queue = Queue::new();
    for key in 0..1000 {
        queue.add(key, CHANGE, at(key), at(key));
        let _ = queue.take(at(key)).unwrap();
        queue.done(&key, at(key), None, Some(at(key + 5)));
    }
    assert!(queue.slots.len() <= 7, "{} keys are remembered", queue.slots.len());
}
