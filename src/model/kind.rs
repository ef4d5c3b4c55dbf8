//! What the code for one type of resource has to state.
//!
//! The trait is pure: facts and calls as data. A kind holds no difference logic, no I/O and no
//! decision about when to act.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::import::Import;
use super::singly::Singly;
use super::within::Within;
use super::{
    Bound, Call, Delta, ErrorClass, KindName, Notice, Observed, Offer, Permission, Refusal,
    Resource, ResourceId, Rule, Scope, Usage,
};

/// Describes one list operation that pages.
#[derive(Debug, Clone, Copy)]
pub struct List {
    /// The operation, for example `DescribeDBInstances`.
    pub operation: &'static str,
    /// The member of the answer that holds the list; also the name of the list in saved answers.
    pub answer: &'static str,
    /// The member by which AWS identifies an item; an answer with an item that lacks it is doubt.
    pub identifier: &'static str,
    /// A request parameter that takes a list, and the values of it that narrow the operation to this
    /// list, where it answers several.
    pub only: Option<(&'static str, &'static [&'static str])>,
    /// A request parameter that is set to `true`, without which the list is not of everything.
    pub flag: Option<&'static str>,
    /// A request parameter that takes the region, of a service whose list is of every region
    /// otherwise.
    pub region: Option<&'static str>,
    /// The request parameter for the page size, and its largest value.
    pub page_size: (&'static str, u32),
    /// The request parameter and the answer's member that carry the continuation.
    pub marker: (&'static str, &'static str),
}

/// How many looks one reading of a single resource serves, where AWS has no list with the detail.
pub const LOOKS_SERVED: i32 = 3;

/// One list as read, complete: its name in the answer and the items.
pub type Lists = BTreeMap<&'static str, Vec<Value>>;

/// States the facts of one type of resource.
pub trait Kind: Send + Sync + 'static {
    /// Returns the name of the kind: the name of its folder.
    fn name(&self) -> KindName;

    /// Returns the service that its calls go to, for example `rds`.
    fn service(&self) -> &'static str;

    /// Tells whether an account has the resources once, and not in every region.
    fn is_global(&self) -> bool {
        false
    }

    /// Returns where the resources of an environment in this account and region live.
    fn home(&self, environment: &Scope) -> Scope {
        if self.is_global() { environment.global() } else { environment.clone() }
    }

    /// Tells whether calls to a service are this kind's.
    fn serves(&self, service: &str) -> bool {
        service == self.service()
    }

    /// Says how resources are read of which AWS has no list; `None` where the lists hold them.
    fn singly(&self) -> Option<&'static dyn Singly> {
        None
    }

    /// Says how resources are read that AWS lists by what they are in; `None` where the lists hold
    /// them.
    fn within(&self) -> Option<&'static dyn Within> {
        None
    }

    /// Says how resources are declared that exist already; `None` where that cannot be said yet.
    fn import(&self) -> Option<&'static dyn Import> {
        None
    }

    /// Returns one call that does what all of these do, at once and all or nothing; `None` where
    /// AWS has no such call, or takes not so much in one.
    fn join(&self, calls: &[&Call]) -> Option<Call> {
        let _ = calls;
        None
    }

    /// Names the parameter of the creating call by which AWS knows a repetition from a second
    /// creation, where it has one.
    fn client_token(&self) -> Option<&'static str> {
        None
    }

    /// Returns the lists that together describe every resource of the kind in a scope.
    fn lists(&self) -> &'static [List];

    /// Joins complete lists to resources by name.
    ///
    /// The members stay as AWS answers them; a kind may add what it joined from a second list
    /// (`Subnets` of a VPC).
    fn assemble(&self, lists: Lists) -> Vec<(String, Map<String, Value>)>;

    /// Returns the read of one name, which confirms its absence by the error that classifies as
    /// [`ErrorClass::NotFound`]; `None` where a complete list is the only proof.
    fn confirm(&self, name: &str) -> Option<Call>;

    /// Tells whether that read describes as much as the lists do; if not, it only says whether the
    /// resource exists, and what was written is read again with the lists.
    fn is_whole_by_name(&self) -> bool {
        true
    }

    /// Tells whether that read is a search, which answers an empty list where no resource has the
    /// name, and not an error.
    fn is_found_by_search(&self) -> bool {
        false
    }

    /// Tells whether that read answers the resource itself, and not a list that holds it.
    fn is_bare_by_name(&self) -> bool {
        false
    }

    /// Tells whether the lists may lag behind what was written by minutes: then nothing that is not as
    /// declared is believed before the read of the name says it too.
    fn do_lists_lag(&self) -> bool {
        false
    }

    /// Tells whether the lists say everything that a comparison with `desired` needs; if not, the
    /// resource is read by its name in every pass.
    fn is_whole_in_lists(&self, desired: &Bound) -> bool {
        let _ = desired;
        true
    }

    /// Returns further reads that a comparison with `desired` needs, such as the parameters of a
    /// group; each answer's list is added to the observation under its own name.
    fn details(&self, desired: &Bound, actual: &Observed) -> Vec<Call> {
        let _ = (desired, actual);
        Vec::new()
    }

    /// Names the reads that one look in [`LOOKS_SERVED`] at a resource may take beyond the lists, for
    /// a forecast; of a kind that no list holds, every look.
    fn reads_of_each(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns what a detail or the tags are by an error of AWS that says that there are none: an
    /// answer, and no doubt. `None` for every other error.
    fn nothing(&self, operation: &str, code: &str) -> Option<Value> {
        let _ = (operation, code);
        None
    }

    /// Returns the read of the tags, for a kind whose describe answer holds none.
    fn read_tags(&self, actual: &Observed) -> Option<Call> {
        let _ = actual;
        None
    }

    /// Names the members, at any depth, that AWS moves by itself and that nothing is compared with.
    fn restless(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the field rules, in the order in which reports show them.
    fn rules(&self) -> &'static [Rule];

    /// Tells whether a resource, as it is declared, is only looked at: nothing of it is made, changed or
    /// owned.
    fn only_reads(&self, resource: &Resource) -> bool {
        let _ = resource;
        self.rules().is_empty()
    }

    /// Says whether the resource is settled enough to be compared and changed.
    fn readiness(&self, actual: &Observed) -> Readiness;

    /// Returns facts about a present resource that a reader should know.
    fn notices(&self, desired: &Bound, actual: &Observed) -> Vec<Notice> {
        let _ = (desired, actual);
        Vec::new()
    }

    /// Returns why a resource that exists cannot be changed to what is declared, whatever differs.
    fn objections(&self, desired: &Bound, actual: &Observed) -> Vec<Refusal> {
        let _ = (desired, actual);
        Vec::new()
    }

    /// Returns what one thing in AWS has in common under all the names that it may be declared by;
    /// `None` where it has one name only.
    fn identity(&self, actual: &Observed) -> Option<String> {
        let _ = actual;
        None
    }

    /// Returns the weekly maintenance window of a resource, as AWS answers it, or as it is declared
    /// where AWS answers none; `None` where nobody says when it is.
    fn window<'a>(&self, desired: &'a Bound, actual: &'a Observed) -> Option<&'a str> {
        let _ = (desired, actual);
        None
    }

    /// Returns the name of the resource that this one is a part of, such as the cluster of an instance.
    fn part_of<'a>(&self, actual: &'a Observed) -> Option<&'a str> {
        let _ = actual;
        None
    }

    /// Names the resources that are parts of this one and take turns when a change restarts them, in
    /// their order: the last is the one whose restart is felt by all.
    fn turns(&self, actual: &Observed) -> Vec<String> {
        let _ = actual;
        Vec::new()
    }

    /// States what other resources may refer to; never a secret.
    fn offers(&self) -> &'static [Offer] {
        &[]
    }

    /// Returns what other resources may refer to of a resource that was read, by name.
    fn outputs(&self, actual: &Observed) -> BTreeMap<String, Value> {
        Offer::outputs(self.offers(), actual)
    }

    /// Tells whether the resource, made anew, lacks what it held before.
    fn starts_empty(&self, desired: &Bound) -> bool {
        let _ = desired;
        true
    }

    /// Returns the calls that make the resource; empty for a kind that is only read.
    fn create(&self, desired: &Bound) -> Vec<Call>;

    /// Returns the calls that mend exactly these differences, in order.
    fn update(&self, desired: &Bound, actual: &Observed, deltas: &[Delta]) -> Vec<Call>;

    /// Returns the calls that give the ownership tag of a resource this value, when it is taken over
    /// and when it is left.
    fn own(&self, id: &ResourceId, actual: &Observed, owner: &str) -> Vec<Call>;

    /// States where a resource names others that it uses, whether or not that is declared: they are
    /// not deleted before it.
    fn usages(&self) -> &'static [Usage] {
        &[]
    }

    /// Returns what AWS was told to hold against a deletion, with what to do about it. The agent
    /// never takes it away by itself.
    fn protection(&self, actual: &Observed) -> Option<Refusal> {
        let _ = actual;
        None
    }

    /// Returns how the resource is deleted; no calls for a kind that is only read.
    ///
    /// `snapshot` is the name under which a kind that holds data keeps it; without one the data go.
    fn delete(&self, id: &ResourceId, actual: &Observed, snapshot: Option<&str>) -> Deletion;

    /// Tells whether nothing can hold what is in a resource but itself: then `deletion: snapshot`, which
    /// means to keep that, leaves it.
    fn has_no_snapshot(&self) -> bool {
        false
    }

    /// Says of a resource that AWS deletes by itself later, and until then gives back to whoever asks,
    /// what a reader should know: a removal has nothing left to do about it.
    fn passing(&self, actual: &Observed) -> Option<Notice> {
        let _ = actual;
        None
    }

    /// Tells whether resources of the kind may refer to each other in a circle, and AWS refuses to
    /// delete one that is referred to: then one that is removed waits for AWS's word, and not for
    /// another that is removed too.
    fn may_be_circular(&self) -> bool {
        false
    }

    /// Returns what an identity has to be allowed for each operation that the kind's code calls.
    fn permissions(&self) -> &'static [Permission];

    /// Returns the name under which CloudTrail knows the resource, given what others may refer to of it.
    ///
    /// Source: the events of the services in "Viewing events with CloudTrail event history".
    fn trail_name(&self, id: &ResourceId, outputs: &BTreeMap<String, Value>) -> String {
        let _ = outputs;
        id.name.to_string()
    }

    /// Returns what an event has to name to be of this resource, where CloudTrail knows only what the resource
    /// is in.
    fn trail_part(&self, id: &ResourceId) -> Option<String> {
        let _ = id;
        None
    }

    /// Returns the events that can change a field, where their parameters do not tell; none where any can.
    fn trail_events(&self, field: &str) -> &'static [&'static str] {
        let _ = field;
        &[]
    }

    /// Says what an error code of the service means for this kind.
    fn classify(&self, code: &str) -> ErrorClass;
}

/// Says how a resource is deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deletion {
    /// The calls, in order.
    pub calls: Vec<Call>,
    /// What a reader should know: what stays of it, and what does not.
    pub notices: Vec<Notice>,
}

/// Says whether a resource can be worked on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Readiness {
    /// It is settled.
    Ready,
    /// It is settled enough for the fields whose rules hold no objection to this status.
    Limited {
        /// The value of the status member, for example `storage-optimization`.
        status: String,
    },
    /// It changes by itself; nothing is sent until it stops. Code and reason.
    Waiting {
        /// A stable code, for example `Creating`.
        code: String,
        /// What it waits for.
        reason: String,
    },
    /// It is in a state that only a person can end. Code and reason.
    Broken {
        /// A stable code, for example `InaccessibleEncryptionCredentials`.
        code: String,
        /// What is wrong and what to do.
        reason: String,
    },
}
