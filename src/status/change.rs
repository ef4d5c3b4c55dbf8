//! The writes of a store as values, so that every store names and fences them alike.

use std::fmt;

use jiff::Timestamp;

use super::spending::Page;
use super::store::{Declared, Event, Intent, Look, Record, Settlement};
use crate::model::outbox::{Post, Wanted};
use crate::model::{Freeze, Key, ResourceId};

/// Holds one write; its text completes "cannot ...".
#[derive(Debug, Clone, Copy)]
pub(super) enum Change<'a> {
    Put(&'a Record, &'a [Event], &'a [u64]),
    Looked(&'a [Look]),
    Declare(&'a [Declared]),
    Remove(&'a Key),
    Intend(&'a Intent),
    Resolve(&'a Key, &'a ResourceId),
    Settle(&'a Settlement),
    Freeze(&'a Freeze),
    Thaw(&'a str),
    Spend(&'a Page),
    Want(&'a [Wanted]),
    Posted(&'a Post),
    ForgetPosts(Timestamp),
}

impl fmt::Display for Change<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Put(record, ..) => write!(f, "write the record of {}", record.key),
            Self::Looked(looks) => write!(f, "write when {} objects were looked at", looks.len()),
            Self::Declare(declared) => {
                write!(f, "write the generations of {} objects", declared.len())
            }
            Self::Remove(key) => write!(f, "remove the record of {key}"),
            Self::Intend(intent) => write!(f, "record the intent for {}", intent.resource),
            Self::Resolve(key, resource) => {
                write!(f, "resolve the intent of {key} for {resource}")
            }
            Self::Settle(settlement) => {
                write!(f, "settle the confirmation by {}", settlement.request.by)
            }
            Self::Freeze(freeze) => write!(f, "record what the guard \"{}\" froze", freeze.guard),
            Self::Thaw(guard) => write!(f, "record that the guard \"{guard}\" froze nothing"),
            Self::Spend(_) => write!(f, "write what calls were spent on"),
            Self::Want(_) => write!(f, "record what is to stand at the Git host"),
            Self::Posted(post) => write!(f, "record how it went with {}", post.wanted.topic),
            Self::ForgetPosts(_) => write!(f, "forget what stands at the Git host"),
        }
    }
}
