//! The values that flow between the stages, and the ports through which a stage reaches the world.
//!
//! Everything here is plain data (serialisable, comparable, cheap to clone) or a trait without an
//! implementation. In: nothing. Out: the vocabulary of every other module.
//!
//! Invariants: no I/O, no clock, no randomness, no SDK, no async runtime. A fact that a stage did
//! not do is a value with a reason, never a missing value.

pub mod alert;
pub mod ask;
pub mod block;
pub mod budget;
pub mod call;
pub mod clock;
pub mod cloud;
pub mod compare;
pub mod delta;
pub mod desired;
pub mod dns;
pub mod fence;
pub mod freeze;
pub mod handle;
pub mod hold;
pub mod id;
pub mod import;
pub mod inverse;
pub mod kind;
pub mod listener;
pub mod observed;
pub mod outbox;
pub mod outcome;
pub mod permission;
pub mod plan;
pub mod policy;
pub mod problem;
pub mod recipe;
pub mod reference;
pub mod review;
pub mod rules;
pub mod sheet;
pub mod singly;
pub mod status;
pub mod traffic;
pub mod trail;
pub mod tree;
pub mod usage;
pub mod version;
pub mod webhook;
pub mod window;
pub mod within;

pub use ask::{Ask, Asked};
pub use block::Block;
pub use budget::{Budget, Cause, Spent};
pub use call::{Call, CallError, ErrorClass};
pub use clock::Clock;
pub use cloud::{Cloud, Target};
pub use compare::{Compare, Peers};
pub use delta::{Delta, Diff, Difference, Notice, Origin, Refusal, Timing, Wait};
pub use desired::{Bound, Input, Output, Resource, Unresolved};
pub use fence::{Fence, Lost};
pub use freeze::Freeze;
pub use hold::{Holder, Holds, Snooze};
pub use id::{
    AccountId, Generation, Key, KindName, ObjectKind, Region, ResourceId, Revision, Scope, Shard,
    Token,
};
pub use import::Import;
pub use kind::{Kind, Readiness};
pub use observed::{Doubt, Observation, Observed};
pub use outcome::{Attempt, StepOutcome};
pub use permission::{Grant, Permission};
pub use plan::{Action, Plan, Step, Verdict};
pub use policy::Policy;
pub use problem::{Finding, Position, Problem, Severity};
pub use reference::{Offer, Reference};
pub use review::Review;
pub use rules::{Apply, Change, Disruption, Hold, Rule, Yield};
pub use status::{Condition, ObjectStatus, ResourceStatus};
pub use traffic::{Peer, Ports, Protocol, Traffic};
pub use tree::{ChangeSet, Entry, Tree};
pub use usage::Usage;
pub use window::Window;
