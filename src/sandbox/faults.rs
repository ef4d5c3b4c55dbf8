//! Faults: what goes wrong between a caller and the sandbox, by scripted or seeded rules.

use std::time::Duration;

use jiff::Timestamp;
use rand::RngExt;
use rand::rngs::StdRng;

use super::settings::Rate;
use crate::model::{Call, Scope};

/// Says what happens to a call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Effect {
    /// Refused with the service's throttling code, before it is looked at.
    Throttle,
    /// Answered later by this much.
    Latency(Duration),
    /// Applied; the answer never arrives.
    LoseAnswer,
    /// Never arrives, and no answer comes.
    LoseRequest,
    /// Refused with an internal error of the service, not applied.
    ServerError,
    /// Applied, then answered with an internal error of the service.
    ServerErrorAfter,
    /// Refused for lack of a permission.
    Deny,
    /// Refused with a code that AWS gives for reasons of its own, before it is looked at.
    Refuse(&'static str),
    /// The first list of the answer holds at most this many items; the rest is reachable through
    /// the marker only if the full page had one.
    PartialPage(usize),
    /// A read that sees nothing of what was written in the last while.
    Stale(Duration),
    /// Applied without one of its parameters: a member of the call, or an entry of its list
    /// `Parameters`.
    Ignore(&'static str),
    /// A change of two parameters of a group that never hold together: one of them is taken, and the
    /// other one is put back to its default.
    Rivals(&'static str, &'static str),
}

impl Effect {
    fn name(self) -> &'static str {
        match self {
            Self::Throttle => "throttle",
            Self::Latency(_) => "latency",
            Self::LoseAnswer => "lose-answer",
            Self::LoseRequest => "lose-request",
            Self::ServerError => "server-error",
            Self::ServerErrorAfter => "server-error-after",
            Self::Deny => "deny",
            Self::Refuse(_) => "refuse",
            Self::PartialPage(_) => "partial-page",
            Self::Stale(_) => "stale",
            Self::Ignore(_) => "ignore",
            Self::Rivals(..) => "rivals",
        }
    }
}

/// States which calls meet with a fault.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    effect: Effect,
    service: Option<String>,
    operation: Option<String>,
    by: Option<String>,
    scope: Option<Scope>,
    skip: u32,
    times: Option<u32>,
    chance: f64,
    fired: u64,
}

impl Rule {
    /// Makes a rule that strikes every call.
    pub fn new(effect: Effect) -> Self {
        Self {
            effect,
            service: None,
            operation: None,
            by: None,
            scope: None,
            skip: 0,
            times: None,
            chance: 1.0,
            fired: 0,
        }
    }

    /// Limits the rule to a service.
    #[must_use]
    pub fn service(mut self, service: &str) -> Self {
        self.service = Some(service.to_owned());
        self
    }

    /// Limits the rule to an operation, or with a star at its end to those that begin so.
    #[must_use]
    pub fn operation(mut self, operation: &str) -> Self {
        self.operation = Some(operation.to_owned());
        self
    }

    /// Limits the rule to a caller.
    #[must_use]
    pub fn by(mut self, by: &str) -> Self {
        self.by = Some(by.to_owned());
        self
    }

    /// Limits the rule to an account and region.
    #[must_use]
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = Some(scope);
        self
    }

    /// Lets this many matching calls pass first.
    #[must_use]
    pub fn skip(mut self, calls: u32) -> Self {
        self.skip = calls;
        self
    }

    /// Ends the rule after this many strikes.
    #[must_use]
    pub fn times(mut self, strikes: u32) -> Self {
        self.times = Some(strikes);
        self
    }

    /// Strikes a matching call with this probability only, from 0 to 1.
    #[must_use]
    pub fn chance(mut self, chance: f64) -> Self {
        self.chance = chance;
        self
    }

    fn matches(&self, scope: &Scope, by: &str, call: &Call) -> bool {
        let operation = |pattern: &String| match pattern.strip_suffix('*') {
            Some(prefix) => call.operation.starts_with(prefix),
            None => *pattern == *call.operation,
        };
        self.times != Some(0)
            && self.service.as_ref().is_none_or(|service| *service == *call.service)
            && self.operation.as_ref().is_none_or(operation)
            && self.by.as_ref().is_none_or(|name| name == by)
            && self.scope.as_ref().is_none_or(|place| place == scope)
    }

    fn strikes(&mut self, random: &mut StdRng) -> bool {
        if self.chance < 1.0 && random.random::<f64>() >= self.chance {
            return false;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        if let Some(times) = &mut self.times {
            *times -= 1;
        }
        self.fired += 1;
        true
    }
}

/// Says what becomes of one call.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Strike {
    /// How much later it is looked at.
    pub(super) latency: Duration,
    /// What else happens to it.
    pub(super) effect: Option<Effect>,
}

impl Strike {
    /// Returns the name of the fault for the log.
    pub(super) fn name(self) -> Option<&'static str> {
        let slow = (!self.latency.is_zero()).then_some("latency");
        self.effect.map(Effect::name).or(slow)
    }
}

/// Holds the rules that are in force.
#[derive(Debug, Default)]
pub(super) struct Faults {
    rules: Vec<Rule>,
}

impl Faults {
    /// Adds a rule.
    pub(super) fn add(&mut self, rule: Rule) {
        self.rules.push(rule);
    }

    /// Drops all rules.
    pub(super) fn clear(&mut self) {
        self.rules.clear();
    }

    /// Returns how often each rule struck, in the order in which they were added.
    pub(super) fn fired(&self) -> Vec<u64> {
        self.rules.iter().map(|rule| rule.fired).collect()
    }

    /// Decides about one call: latencies add up, and of the other rules the first one strikes.
    pub(super) fn strike(
        &mut self,
        random: &mut StdRng,
        scope: &Scope,
        by: &str,
        call: &Call,
    ) -> Strike {
        let mut strike = Strike::default();
        for rule in &mut self.rules {
            let slows = matches!(rule.effect, Effect::Latency(_));
            let due = (slows || strike.effect.is_none()) && rule.matches(scope, by, call);
            if !due || !rule.strikes(random) {
                continue;
            }
            match rule.effect {
                Effect::Latency(more) => strike.latency += more,
                effect => strike.effect = Some(effect),
            }
        }
        strike
    }
}

/// Counts calls against a rate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bucket {
    rate: Rate,
    tokens: f64,
    at: Timestamp,
}

impl Bucket {
    /// Makes a full bucket.
    pub(super) fn new(rate: Rate, now: Timestamp) -> Self {
        Self { rate, tokens: rate.burst, at: now }
    }

    /// Takes one token, or tells that there is none.
    pub(super) fn take(&mut self, now: Timestamp) -> bool {
        let elapsed = now.duration_since(self.at).as_secs_f64().max(0.0);
        self.tokens = (self.tokens + elapsed * self.rate.per_second).min(self.rate.burst);
        self.at = now;
        let granted = self.tokens >= 1.0;
        if granted {
            self.tokens -= 1.0;
        }
        granted
    }
}
