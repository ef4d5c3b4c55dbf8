//! One run: lives of the agent, one after the other, while the script is played.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use jiff::SignedDuration;
use levelset::model::Clock;
use rand::SeedableRng;
use rand::rngs::StdRng;

use super::checker::{Violation, is_quiet, verify};
use super::console;
use super::life::{Feed, start};
use super::mutant::Mutant;
use super::people;
use super::script::{CALM, Event, Script};
use super::world::{Over, World};

type Events = VecDeque<(Duration, u64, Event)>;

/// What became of a run.
pub(super) struct Outcome {
    pub(super) violation: Option<Violation>,
    pub(super) trace: Vec<String>,
    pub(super) tally: BTreeMap<String, u64>,
}

struct Run {
    world: Arc<World>,
    events: Events,
    /// How many writes had been made when everything had converged.
    writes: u64,
    /// True when a further maintenance window was waited for.
    is_extended: bool,
    /// True when a life began that has not been told the whole folder yet.
    is_due: bool,
}

/// Plays a seed to its end, or to the first violation.
pub(super) fn run(seed: u64, mutant: Mutant, keeps_trace: bool) -> Outcome {
    play(Script::of(seed), seed, mutant, keeps_trace)
}

/// Plays a script; what it leaves open follows from the seed.
pub(super) fn play(script: Script, seed: u64, mutant: Mutant, keeps_trace: bool) -> Outcome {
    let Script { profile, events } = script;
    let world = Arc::new(World::new(seed, profile, mutant, keeps_trace));
    world.note(|| format!("{:?}", world.profile));
    people::begin(&world, seed);
    let mut run = Run {
        world: Arc::clone(&world),
        events: events.into(),
        writes: 0,
        is_extended: false,
        is_due: false,
    };
    let violation = run.live_on(seed);
    let tally = std::mem::take(&mut world.checker.lock().unwrap().tally);
    Outcome { violation, trace: world.take_trace(), tally }
}

impl Run {
    fn live_on(&mut self, seed: u64) -> Option<Violation> {
        for life in 0.. {
            let mut builder = tokio::runtime::Builder::new_current_thread();
            let runtime = builder.enable_time().start_paused(true).build().unwrap();
            runtime.block_on(self.live(seed.wrapping_add(life)));
            // Whatever the agent was at is dropped where it stands.
            drop(runtime);
            match self.world.take_over() {
                Some(Over::Broken(violation)) => return Some(violation),
                Some(Over::Crashed) => {
                    self.world.checker.lock().unwrap().restarted();
                    self.lie_dead();
                }
                Some(Over::Finished) | None => break,
            }
        }
        None
    }

    async fn live(&mut self, seed: u64) {
        let world = Arc::clone(&self.world);
        world.clock.begin_life();
        world.check(|checker| {
            checker.count("lives");
            checker.confirmed_fresh(&world);
            Ok(())
        });
        if world.lease.is_safe() || world.lease.last_token().is_none() {
            world.lease.hold(world.grant());
        }
        let feed = start(&world, seed);
        self.is_due = true;
        self.deliver(Some(&feed));
        while !world.is_over() && feed.is_held() {
            let Some((at, ..)) = self.events.front() else {
                world.end(Over::Finished);
                break;
            };
            let wait = at.saturating_sub(world.clock.passed());
            tokio::select! {
                biased;
                () = world.ended.notified() => {}
                () = tokio::time::sleep(wait) => {
                    let (_, number, event) = self.events.pop_front().unwrap();
                    self.play(&event, number, Some(&feed));
                }
            }
        }
        world.clock.end_life();
    }

    /// Lets time pass, and the script go on, while no agent runs.
    fn lie_dead(&mut self) {
        let until = self.world.clock.passed() + self.world.downtime();
        while let Some((at, number, event)) = self.events.pop_front_if(|(at, ..)| *at < until) {
            self.world.clock.set_passed(at);
            self.play(&event, number, None);
        }
        self.world.clock.set_passed(until);
        // What ended the run while the agent was dead is looked at in the next life.
    }

    fn deliver(&mut self, feed: Option<&Feed>) {
        let world = &self.world;
        let is_cut = world.is_cut.load(Ordering::Relaxed);
        let Some(feed) = feed.filter(|_| !is_cut) else { return };
        let whole = std::mem::take(&mut self.is_due);
        let (at, now) = (world.clock.passed(), world.clock.now());
        let (change_set, changed) = world.repository().deliver(whole, at, now);
        feed.deliver(world, change_set);
        world.check(|checker| {
            checker.woken();
            checker.confirmed_fresh(world);
            if !whole {
                changed.iter().for_each(|key| checker.delivered(world, key));
            }
            changed.iter().for_each(|key| checker.begin_anew(key));
            Ok(())
        });
    }

    fn play(&mut self, event: &Event, number: u64, feed: Option<&Feed>) {
        let world = Arc::clone(&self.world);
        world.note(|| format!("-- {event:?}"));
        let mut random = StdRng::seed_from_u64(number);
        world.check(|checker| {
            checker.count(format!("event {}", name_of(event)));
            checker.look_at_time(&world)
        });
        if people::develop(&world, event, &mut random) {
            return self.deliver(feed);
        }
        match event {
            Event::Console => console::meddle(&world, &mut random),
            Event::Mass(most) => console::meddle_with_many(&world, *most, &mut random),
            Event::Rummage => console::access::meddle(&world, &mut random),
            Event::Open => console::access::open(&world, &mut random),
            Event::Queue => console::queue_standbys(&world),
            Event::Ask(wish) => console::wish(&world, *wish, &mut random),
            Event::Stick => console::stick(&world, &mut random),
            Event::Unconfigure => world.configure(false),
            Event::Configure => world.configure(true),
            Event::Cut => world.is_cut.store(true, Ordering::Relaxed),
            Event::Join => self.join(feed),
            Event::Publish => drop(world.sandbox.publish_version("postgres", "15.99")),
            Event::Fault(number, rule) => world.set_faults(|all| all.push((*number, rule.clone()))),
            Event::EndOfFault(number) => world.set_faults(|all| all.retain(|(n, _)| n != number)),
            Event::Crash(points) if feed.is_some() => world.light_fuse(Some(*points)),
            Event::Jump(seconds) => world.jump(SignedDuration::from_secs(*seconds)),
            Event::Expire(grace) => world.lease.expire(world.clock.passed() + *grace),
            Event::Regain => self.regain(),
            Event::Calm => self.calm(feed),
            Event::JumpToWindow => console::jump_to_window(&world),
            Event::JumpAWeek => world.jump(SignedDuration::from_hours(7 * 24)),
            Event::Verify if !self.is_extended && self.waits_for_a_window() => self.extend(number),
            Event::Verify => {
                verify(&world);
                self.writes = world.checker.lock().unwrap().writes();
            }
            Event::End => is_quiet(&world, self.writes),
            _ => {}
        }
    }

    /// Another agent has had the right to write meanwhile.
    fn regain(&self) {
        if !self.world.lease.is_safe() {
            self.world.grant();
            self.world.lease.hold(self.world.grant());
            self.world.check(|checker| {
                checker.regained(&self.world);
                Ok(())
            });
        }
    }

    fn calm(&mut self, feed: Option<&Feed>) {
        let world = Arc::clone(&self.world);
        world.light_fuse(None);
        world.set_faults(Vec::clear);
        self.regain();
        people::put_in_order(&world);
        console::put_in_order(&world);
        world.configure(true);
        self.join(feed);
    }

    /// Tells whether some object waits for a maintenance window: what could not be sent before the
    /// last one opened is queued for the next one.
    fn waits_for_a_window(&self) -> bool {
        self.world.records().iter().any(|record| {
            let ready = record.status.condition("Ready");
            ready.is_some_and(|ready| ready.reason == "Deferred")
        })
    }

    /// Waits for one more maintenance window.
    fn extend(&mut self, number: u64) {
        self.is_extended = true;
        self.world.jump(SignedDuration::from_hours(7 * 24));
        for (at, ..) in &mut self.events {
            *at += CALM;
        }
        self.events.push_front((self.world.clock.passed() + CALM, number, Event::Verify));
    }

    fn join(&mut self, feed: Option<&Feed>) {
        self.world.is_cut.store(false, Ordering::Relaxed);
        self.deliver(feed);
    }
}

/// Returns the first word of an event.
fn name_of(event: &Event) -> String {
    format!("{event:?}").chars().take_while(|c| c.is_alphabetic()).collect()
}
