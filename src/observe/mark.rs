//! What stands for an answer of AWS: equal answers have equal marks.
//!
//! In: an observation. Out: eight bytes to know the same answer by, in the place of the thousands that
//! the answer takes. What moves by itself and is compared with nothing is left out
//! ([`Kind::restless`]).

use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use serde_json::{Map, Value};

use crate::model::{Kind, Observed};

/// Stands for an answer of AWS about one resource.
///
/// Two answers that differ have the same mark once in 2^64 pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark(u64);

/// Makes marks.
///
/// Its key is another one in each process, so that nobody who writes to AWS can make two answers that
/// differ and have one mark.
#[derive(Debug, Default)]
pub(super) struct Marker(RandomState);

impl Marker {
    /// Returns the mark of an answer.
    pub(super) fn mark(&self, kind: &dyn Kind, observed: &Observed) -> Mark {
        let mut hasher = self.0.build_hasher();
        object(&observed.members, kind.restless(), &mut hasher);
        observed.tags.hash(&mut hasher);
        Mark(hasher.finish())
    }
}

fn object(members: &Map<String, Value>, restless: &[&str], hasher: &mut impl Hasher) {
    for (name, member) in members.iter().filter(|(name, _)| !restless.contains(&name.as_str())) {
        name.hash(hasher);
        value(member, restless, hasher);
    }
    // Where an object ends is part of it; no name begins with this byte.
    hasher.write_u8(0xff);
}

fn value(of: &Value, restless: &[&str], hasher: &mut impl Hasher) {
    match of {
        Value::Object(members) => {
            hasher.write_u8(1);
            object(members, restless, hasher);
        }
        Value::Array(items) => {
            hasher.write_u8(2);
            hasher.write_usize(items.len());
            items.iter().for_each(|item| value(item, restless, hasher));
        }
        plain => {
            hasher.write_u8(3);
            plain.hash(hasher);
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::kinds;
    use crate::model::KindName;
    use crate::observe::observed;

    fn marks<const N: usize>(answers: [Value; N]) -> [Mark; N] {
        let marker = Marker::default();
        let kind = kinds::find(&KindName::new("db_instance")).unwrap();
        answers.map(|answer| {
            let Value::Object(members) = answer else { unreachable!() };
            marker.mark(kind, &observed(members, Timestamp::UNIX_EPOCH))
        })
    }

    #[test]
    fn what_moves_by_itself_leaves_the_mark_as_it_is_and_everything_else_does_not() {
        let [plain, later, moved, tagged] = marks([
            json!({"AllocatedStorage": 20, "TagList": [{"Key": "a", "Value": "b"}]}),
            json!({"AllocatedStorage": 20, "LatestRestorableTime": "2026-11-25T12:00:00Z",
                "TagList": [{"Key": "a", "Value": "b"}]}),
            json!({"AllocatedStorage": 21, "TagList": [{"Key": "a", "Value": "b"}]}),
            json!({"AllocatedStorage": 20, "TagList": [{"Key": "a", "Value": "c"}]}),
        ]);
        assert_eq!(plain, later);
        assert_ne!(plain, moved);
        assert_ne!(plain, tagged);
    }

    #[test]
    fn where_a_member_stands_is_part_of_the_mark() {
        let [one, two, three, four] = marks([
            json!({"a": {"b": 1, "c": 2}}),
            json!({"a": {"b": 1}, "c": 2}),
            json!({"a": [1], "b": [2]}),
            json!({"a": [1, "b", 2]}),
        ]);
        assert_ne!(one, two);
        assert_ne!(three, four);
    }

    #[test]
    fn nothing_is_compared_with_what_moves_by_itself() {
        for kind in kinds::all() {
            for rule in kind.rules() {
                let is_restless = |name: &&str| rule.member.split('.').any(|part| part == *name);
                assert!(!kind.restless().iter().any(is_restless), "{}", rule.field);
            }
        }
    }
}
