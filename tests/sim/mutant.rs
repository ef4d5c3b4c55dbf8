//! Ways in which the agent could be wrong, each put between the agent and the world.
//!
//! They prove that the checker sees what it is there to see.

use std::borrow::Cow;

use jiff::SignedDuration;
use levelset::desired::Guard;
use levelset::model::status::{Condition, Truth};
use levelset::model::tree::Content;
use levelset::model::{Call, CallError, ErrorClass, ObjectStatus, Target};
use levelset::status::Record;
use serde_json::{Value, json};

use super::access::role_name;
use super::checker::Law;
use super::reading::parameter_group;
use super::script::SECRET;
use super::spec::OWNER_TAG;

/// Names one way to be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mutant {
    /// The agent as it is.
    None,
    /// After a lost answer to a create, sends it again under another name.
    SecondName,
    /// Takes a failed read for absence.
    BlindReader,
    /// Records no intent.
    DropsIntents,
    /// Believes everything to be its own.
    OwnsAll,
    /// Makes room for a change by deleting.
    Deleter,
    /// Sends a parameter that nobody declared.
    Adorner,
    /// Applies every change at once.
    Hasty,
    /// Does not see what somebody else has queued.
    Blinkered,
    /// Looks at objects before they may be looked at.
    FastQueue,
    /// Forgets how often an object has failed.
    Forgetful,
    /// Tells when it will try again, in words.
    Talkative,
    /// Tells that all is well.
    Liar,
    /// Forgets for how long it has waited.
    Restless,
    /// Does not see that an object is suspended.
    Sleepless,
    /// Reverts drift that is to be left.
    Eager,
    /// Goes on in an environment that its configuration no longer holds.
    Nostalgic,
    /// Does not hear what people ask of it.
    Deaf,
    /// Tells a password.
    Gossip,
    /// Starts changes late.
    SlowQueue,
    /// Knows no budget, and asks everything twice.
    Spender,
    /// Starts with an empty memory.
    Amnesia,
    /// Writes without the right to.
    DeafFence,
    /// Takes a file that it cannot read for a removed one.
    BrokenIsGone,
    /// Asks nobody when many objects vanish.
    Unguarded,
    /// Sees drift that is not there.
    Dreamer,
    /// Changes nothing and says that it did.
    Pretender,
    /// Waits for no grace period.
    Impatient,
    /// Reads every word about deletion as the least careful one.
    Presumptuous,
    /// Does not read the history of the branch.
    Shortsighted,
    /// Takes no final snapshot.
    Careless,
    /// Does not see who is let in from anywhere.
    Tolerant,
    /// Lets everybody in.
    Opener,
    /// Deletes a role before the database that uses it is gone.
    Uprooter,
    /// Deletes a parameter group before the database that uses it is gone.
    Backwards,
    /// Asks nobody when many objects drift.
    Reckless,
    /// Takes any digest for the one that is shown.
    Gullible,
    /// Believes the repository to be confirmed while it cannot be reached.
    Deluded,
    /// Forgets what AWS took without effect.
    Insistent,
    /// Counts being throttled as a failure.
    ThrottledIsFailed,
}

impl Mutant {
    /// Every mutant with the law that it breaks.
    pub(super) const ALL: [(Self, Law); 39] = [
        (Self::SecondName, Law::NothingIsMadeTwice),
        (Self::BlindReader, Law::AbsenceIsProven),
        (Self::DropsIntents, Law::IntentsComeFirst),
        (Self::OwnsAll, Law::OnlyOursIsTouched),
        (Self::Deleter, Law::NothingIsDeletedEarly),
        (Self::Impatient, Law::NothingIsDeletedEarly),
        (Self::Presumptuous, Law::DeletionNeedsGitsWord),
        (Self::Shortsighted, Law::DeletionNeedsGitsWord),
        (Self::Careless, Law::DeletionNeedsGitsWord),
        (Self::Tolerant, Law::DangerEndsAtOnce),
        (Self::Opener, Law::OnlyWhatIsDeclaredTravels),
        (Self::Uprooter, Law::DependentsGoFirst),
        (Self::Backwards, Law::DependentsGoFirst),
        (Self::Reckless, Law::FrozenMeansStill),
        (Self::Gullible, Law::FrozenMeansStill),
        (Self::Deluded, Law::StaleMeansStill),
        (Self::Insistent, Law::NothingIsSentInVain),
        (Self::Adorner, Law::OnlyWhatIsDeclaredTravels),
        (Self::Hasty, Law::OnlyWhatIsDeclaredTravels),
        (Self::Blinkered, Law::NobodysQueueIsFlushed),
        (Self::FastQueue, Law::PassesKeepTheirDistance),
        (Self::Forgetful, Law::FailuresHaveACeiling),
        (Self::ThrottledIsFailed, Law::WaitingIsNotFailing),
        (Self::Talkative, Law::StatusHoldsNoDuration),
        (Self::Liar, Law::ReadyMeansSo),
        (Self::Restless, Law::NoLoopIsHot),
        (Self::Sleepless, Law::SuspendedMeansStill),
        (Self::Eager, Law::DriftIsLeftWhereAsked),
        (Self::Nostalgic, Law::OnlyKnownAccountsAreCalled),
        (Self::Deaf, Law::APersonsWordIsKept),
        (Self::Gossip, Law::SecretsStayOut),
        (Self::SlowQueue, Law::ChangesStartAtOnce),
        (Self::Spender, Law::BudgetsAreKept),
        (Self::Amnesia, Law::GenerationsGrow),
        (Self::DeafFence, Law::OnlyTheHolderWrites),
        (Self::BrokenIsGone, Law::OnlyWhatIsGoneIsRemoved),
        (Self::Unguarded, Law::OnlyWhatIsGoneIsRemoved),
        (Self::Dreamer, Law::WritesChangeSomething),
        (Self::Pretender, Law::EverythingConverges),
    ];

    pub(super) fn swallows(self, call: &Call) -> bool {
        self == Self::Pretender && call.operation == "ModifyDBInstance"
    }

    /// Returns the call that is sent instead.
    pub(super) fn call(self, call: &Call) -> Call {
        let call = call.clone();
        match self {
            Self::Adorner if call.operation == "ModifyDBInstance" => {
                call.with("AutoMinorVersionUpgrade", false)
            }
            Self::Opener if call.operation == "AuthorizeSecurityGroupIngress" => {
                let mut rules = call.params["IpPermissions"].clone();
                rules[0]["IpRanges"] = json!([{"CidrIp": "0.0.0.0/0"}]);
                call.with("IpPermissions", rules)
            }
            Self::Hasty if call.operation == "ModifyDBInstance" => {
                call.with("ApplyImmediately", true)
            }
            Self::Careless if call.params.contains_key("FinalDBSnapshotIdentifier") => {
                let mut call = call.with("SkipFinalSnapshot", true);
                call.params.remove("FinalDBSnapshotIdentifier");
                call
            }
            _ => call,
        }
    }

    /// Returns a further call that follows an answer.
    pub(super) fn further(self, call: &Call, answer: &Result<Value, CallError>) -> Option<Call> {
        if self == Self::Spender {
            return call.is_read().then(|| call.clone());
        }
        let name = call.text("DBInstanceIdentifier")?;
        match (self, answer) {
            (Self::SecondName, Err(error))
                if error.class == ErrorClass::Ambiguous && call.operation.starts_with("Create") =>
            {
                Some(call.clone().with("DBInstanceIdentifier", format!("{name}-2")))
            }
            (Self::Deleter, Ok(_)) if call.operation == "ModifyDBInstance" => {
                let delete =
                    Call::new("rds", "DeleteDBInstance").with("DBInstanceIdentifier", name);
                Some(delete.with("SkipFinalSnapshot", true))
            }
            (Self::Uprooter, Ok(_)) if call.operation == "DeleteDBInstance" => {
                Some(Call::new("iam", "DeleteRole").with("RoleName", role_name(name)))
            }
            (Self::Backwards, Ok(_)) if call.operation == "DeleteDBInstance" => {
                let delete = Call::new("rds", "DeleteDBParameterGroup");
                Some(delete.with("DBParameterGroupName", parameter_group(name)))
            }
            _ => None,
        }
    }

    /// Returns what the agent is told.
    pub(super) fn answer(
        self,
        target: &Target,
        call: &Call,
        answer: Result<Value, CallError>,
    ) -> Result<Value, CallError> {
        match (self, answer) {
            (Self::BlindReader, Err(error)) if call.is_read() => Err(as_absent(error)),
            (Self::ThrottledIsFailed, Err(error)) if error.class == ErrorClass::Throttled => {
                Err(CallError { class: ErrorClass::Transient, ..error })
            }
            (Self::OwnsAll, Ok(answer)) if call.service == "rds" => Ok(as_owned(target, answer)),
            (Self::Blinkered, Ok(answer)) => Ok(without_queue(answer)),
            (Self::Tolerant, Ok(answer)) => Ok(without_the_world(answer)),
            (Self::Dreamer, Ok(answer)) => Ok(as_dreamt(answer)),
            (_, answer) => answer,
        }
    }

    /// Returns the record that is written instead.
    pub(super) fn record(self, record: &Record) -> Cow<'_, Record> {
        let mut record = Cow::Borrowed(record);
        match self {
            Self::Forgetful => record.to_mut().memory.failures = 0,
            Self::Talkative => say(&mut record.to_mut().status, ", and is tried again in 12 s"),
            Self::Insistent => {
                for known in record.to_mut().memory.resources.values_mut() {
                    known.accepted_changes.clear();
                }
            }
            Self::Restless => record.to_mut().memory.waits = 0,
            Self::Liar => pretend(&mut record.to_mut().status),
            Self::Gossip => say(&mut record.to_mut().status, SECRET),
            _ => {}
        }
        record
    }

    pub(super) fn queue_is_ahead_by(self) -> SignedDuration {
        match self {
            Self::FastQueue => SignedDuration::from_mins(10),
            Self::SlowQueue => SignedDuration::from_secs(-5),
            _ => SignedDuration::ZERO,
        }
    }

    /// Returns how the guard on mass drift is set.
    pub(super) fn bounds(self, guard: Guard) -> Guard {
        match self {
            Self::Reckless => Guard { max_objects: 1000, ..guard },
            _ => guard,
        }
    }

    /// Returns what a file is read as.
    pub(super) fn misreads(self, content: &Content) -> Option<String> {
        let Content::Bytes(bytes) = content else { return None };
        let text = String::from_utf8_lossy(bytes);
        match self {
            Self::Sleepless => Some(text.replace("/suspend: \"true\"", "/suspend: \"false\"")),
            Self::Presumptuous => {
                let word = |text: String, word| text.replace(word, "deletion: delete");
                let text = text.into_owned();
                Some(["deletion: retain", "deletion: snapshot"].into_iter().fold(text, word))
            }
            Self::Eager => Some(
                text.replace("drift: report", "drift: revert")
                    .replace("/snooze-until: \"2", "/snooze-until: \"1"),
            ),
            _ => None,
        }
    }

    /// Tells whether a file is delivered as one that is gone.
    pub(super) fn hides(self, content: &Content) -> bool {
        let Content::Bytes(bytes) = content else { return false };
        let text = String::from_utf8_lossy(bytes);
        self == Self::BrokenIsGone && (text.contains("broken: [") || text.contains("enviroment:"))
    }
}

fn say(status: &mut ObjectStatus, what: &str) {
    if let Some(condition) = status.conditions.first_mut() {
        condition.message.push_str(what);
    }
}

/// Tells that everything is as declared.
fn pretend(status: &mut ObjectStatus) {
    for condition in status.conditions.iter_mut().filter(|c| c.kind == Condition::READY) {
        condition.status = Truth::True;
    }
}

fn as_absent(error: CallError) -> CallError {
    CallError { class: ErrorClass::NotFound, ..error }
}

/// Puts on everything the tag that the agent looks for.
fn as_owned(target: &Target, mut answer: Value) -> Value {
    let kind = if target.kind.as_str() == "db_subnet_group" { "Network" } else { "Workspace" };
    for instance in instances(&mut answer) {
        let owner =
            format!("levelset/{kind}/{}", instance["DBInstanceIdentifier"].as_str().unwrap());
        instance["TagList"] = json!([{"Key": OWNER_TAG, "Value": owner}]);
    }
    answer
}

fn without_queue(mut answer: Value) -> Value {
    for instance in instances(&mut answer) {
        instance["PendingModifiedValues"].as_object_mut().unwrap().remove("MultiAZ");
    }
    answer
}

/// Leaves out of every security group what lets everybody in.
fn without_the_world(mut answer: Value) -> Value {
    let groups = answer.get_mut("SecurityGroups").and_then(Value::as_array_mut);
    for group in groups.into_iter().flatten() {
        let permissions = group["IpPermissions"].as_array_mut().unwrap();
        permissions.retain(|permission| permission["IpRanges"][0]["CidrIp"] != "0.0.0.0/0");
    }
    answer
}

fn as_dreamt(mut answer: Value) -> Value {
    for instance in instances(&mut answer) {
        instance["DBInstanceClass"] = json!("db.m5.24xlarge");
    }
    answer
}

fn instances(answer: &mut Value) -> impl Iterator<Item = &mut Value> {
    answer.get_mut("DBInstances").and_then(Value::as_array_mut).into_iter().flatten()
}
