//! All accounts and regions, and the way of one call through rate limit, faults, model and log.
//!
//! A pure state machine: time comes in with each call, randomness from the seed, and nothing
//! happens between two calls that is not caught up with at the second one.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde_json::{Map, Value};

use super::args::Args;
use super::cloud_trail::History;
use super::ec2;
use super::faults::{Bucket, Effect, Faults, Strike};
use super::iam;
use super::log::{Entry, Log};
use super::refusal::{Answer, Refusal};
use super::services::{self, Shared, Site, State};
use super::settings::Settings;
use super::spoil::{is_empty, spoil};
use crate::model::{Call, Scope};

/// Holds everything.
#[derive(Debug)]
pub(super) struct World {
    pub(super) settings: Settings,
    pub(super) faults: Faults,
    pub(super) log: Log,
    pub(super) shared: Shared,
    random: StdRng,
    fortune: StdRng,
    states: BTreeMap<Scope, State>,
    buckets: BTreeMap<(Scope, String), Bucket>,
}

impl World {
    /// Makes a world without accounts; each appears, with its default VPC, when it is first named.
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            faults: Faults::default(),
            log: Log::new(settings.log_limit),
            shared: Shared::default(),
            random: StdRng::seed_from_u64(settings.seed),
            // Faults draw from a sequence of their own: adding a rule moves no id.
            fortune: StdRng::seed_from_u64(settings.seed ^ 0x5eed_fa17),
            states: BTreeMap::new(),
            buckets: BTreeMap::new(),
            settings,
        }
    }

    /// Decides which faults strike a call.
    pub(super) fn strike(&mut self, scope: &Scope, by: &str, call: &Call) -> Strike {
        self.faults.strike(&mut self.fortune, scope, by, call)
    }

    /// Takes one call through rate limit, faults and model, and writes it down.
    pub(super) fn serve(
        &mut self,
        now: Timestamp,
        scope: &Scope,
        by: &Arc<str>,
        call: &Call,
        strike: Strike,
    ) -> Answer {
        let refused = self.gate(now, scope, call, strike.effect);
        let refused = refused.or_else(|| self.forbidden(by, call));
        let (answer, applied) = match refused {
            Some(refusal) => (Err(refusal), false),
            None => {
                let answer = self.execute(now, scope, by, call, strike.effect);
                let applied = answer.is_ok();
                (distort(answer, strike.effect, call), applied)
            }
        };
        let refusal = answer.as_ref().err();
        self.log.write(&Entry { at: now, scope, by, call, refusal, applied, fault: strike.name() });
        answer
    }

    /// Runs something at one account and region, at this time.
    pub(super) fn at<T>(
        &mut self,
        now: Timestamp,
        scope: &Scope,
        by: &Arc<str>,
        run: impl FnOnce(&mut Site<'_>) -> T,
    ) -> T {
        let state = self.states.entry(scope.clone()).or_insert_with(|| {
            let mut state = State::default();
            ec2::seed_default(&mut state.ec2, scope, &mut self.random);
            state
        });
        let mut site = Site {
            scope,
            by,
            now,
            stale: None,
            settings: &self.settings,
            random: &mut self.random,
            state,
            shared: &mut self.shared,
        };
        site.advance();
        run(&mut site)
    }

    /// Lists the accounts and regions that were ever named.
    pub(super) fn scopes(&self) -> Vec<Scope> {
        self.states.keys().cloned().collect()
    }

    fn gate(
        &mut self,
        now: Timestamp,
        scope: &Scope,
        call: &Call,
        effect: Option<Effect>,
    ) -> Option<Refusal> {
        if effect == Some(Effect::LoseRequest) {
            return Some(Refusal::lost());
        }
        if effect == Some(Effect::Throttle) || !self.within_rate(now, scope, call) {
            return Some(throttled(call));
        }
        match effect {
            Some(Effect::ServerError) => Some(server_error(call)),
            Some(Effect::Deny) => Some(denied(call)),
            Some(Effect::Refuse(code)) => {
                Some(Refusal::new(code, format!("The service refuses {call}")))
            }
            _ => None,
        }
    }

    /// Holds a call of an assumed role against the role's policies, if that is asked for.
    fn forbidden(&self, by: &str, call: &Call) -> Option<Refusal> {
        if !self.settings.enforce_policies || call.service == "sts" {
            return None;
        }
        let session = self.shared.sessions.get(by)?;
        let scope = self
            .states
            .keys()
            .find(|scope| scope.account == session.account && **scope == scope.global())?;
        let role = self.states.get(scope)?.iam.roles.get(&session.role.to_lowercase())?;
        (!iam::access::allows(role, call)).then(|| denied(call))
    }

    fn within_rate(&mut self, now: Timestamp, scope: &Scope, call: &Call) -> bool {
        let rate = match &*call.service {
            "rds" => self.settings.rds_rate,
            "ec2" => self.settings.ec2_rate,
            _ => None,
        };
        let Some(rate) = rate else { return true };
        let key = (scope.clone(), call.service.to_string());
        self.buckets.entry(key).or_insert_with(|| Bucket::new(rate, now)).take(now)
    }

    fn execute(
        &mut self,
        now: Timestamp,
        scope: &Scope,
        by: &Arc<str>,
        call: &Call,
        effect: Option<Effect>,
    ) -> Answer {
        let Some(calls) = spoil(call, effect) else {
            return self.carry_out(now, scope, by, call, effect);
        };
        let mut first = None;
        for call in calls.iter().filter(|call| !is_empty(call)) {
            let answer = self.carry_out(now, scope, by, call, effect)?;
            first.get_or_insert(answer);
        }
        Ok(first.unwrap_or_else(|| Value::Object(Map::new())))
    }

    fn carry_out(
        &mut self,
        now: Timestamp,
        scope: &Scope,
        by: &Arc<str>,
        call: &Call,
        effect: Option<Effect>,
    ) -> Answer {
        if call.service == "cloudtrail" {
            let history = History {
                records: self.log.since(0),
                sessions: &self.shared.sessions,
                settings: &self.settings,
                now,
                scope,
            };
            return history.answer(call);
        }
        let operation = services::find(&call.service, &call.operation).ok_or_else(|| {
            Refusal::new("InvalidAction", format!("Could not find operation {call}"))
        })?;
        let args = Args::new(&call.params);
        if let Some((name, _)) = args.iter().find(|(name, _)| !operation.accepts.contains(name)) {
            let text = format!("the sandbox does not model the parameter {name} of {call}");
            return Err(Refusal::new("NotModelled", text));
        }
        self.at(now, scope, by, |site| {
            site.stale = match effect {
                Some(Effect::Stale(by)) => now.checked_sub(by).ok(),
                _ => None,
            };
            (operation.run)(site, args)
        })
    }
}

fn throttled(call: &Call) -> Refusal {
    match &*call.service {
        "ec2" => Refusal::new("RequestLimitExceeded", "Request limit exceeded."),
        _ => Refusal::new("Throttling", "Rate exceeded"),
    }
}

fn server_error(call: &Call) -> Refusal {
    let code = if call.service == "ec2" { "InternalError" } else { "InternalFailure" };
    Refusal::new(code, "An internal error has occurred")
}

fn denied(call: &Call) -> Refusal {
    let text = format!("User is not authorized to perform: {call}");
    Refusal::new(if call.service == "ec2" { "UnauthorizedOperation" } else { "AccessDenied" }, text)
}

/// Spoils the answer of a call that was executed.
fn distort(answer: Answer, effect: Option<Effect>, call: &Call) -> Answer {
    match effect {
        Some(Effect::LoseAnswer) => Err(Refusal::lost()),
        Some(Effect::ServerErrorAfter) => Err(server_error(call)),
        Some(Effect::PartialPage(keep)) => answer.map(|mut value| {
            if let Some(Value::Array(list)) = value
                .as_object_mut()
                .and_then(|members| members.values_mut().find(|v| v.is_array()))
            {
                list.truncate(keep);
            }
            value
        }),
        _ => answer,
    }
}
