//! The laws of policy documents: however a document is written it is no difference, and whatever
//! changes its meaning is one.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// A statement as sets, from which spellings are made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Statement {
    sid: Option<u8>,
    allows: bool,
    /// Whether the list of actions says what is not meant.
    all_but: bool,
    actions: BTreeSet<u8>,
    resources: BTreeSet<u8>,
    principals: BTreeSet<(u8, u8)>,
    conditions: BTreeMap<(u8, u8), BTreeSet<u8>>,
}

/// The operators in two spellings, and what makes a value of a number in two spellings.
type Spelled = fn(u8) -> [Value; 2];
const OPERATORS: [([&str; 2], Spelled); 6] = [
    (["StringEquals", "stringequals"], |n| [json!(format!("V{n}")), json!(format!("V{n}"))]),
    (["StringNotLike", "StringNotLike"], |n| [json!(format!("v{n}*")), json!(format!("v{n}*"))]),
    (["ArnEquals", "ArnLike"], |n| [json!(format!("arn:{n}")), json!(format!("arn:{n}"))]),
    (["NumericEquals", "NumericEquals"], |n| [json!(n), json!(format!("{n}.0"))]),
    (["BoolIfExists", "boolIfExists"], |n| {
        [json!(n % 2 == 0), json!(if n % 2 == 0 { "True" } else { "false" })]
    }),
    (["IpAddress", "ipAddress"], |n| {
        [json!(format!("10.0.0.{n}")), json!(format!("10.0.0.{n}/32"))]
    }),
];

/// Draws the choices of one spelling.
struct Pen(u64);

impl Pen {
    fn flip(&mut self) -> bool {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 63 == 1
    }

    /// Writes a set: in any order, with repetitions, as one thing when it is one.
    fn set(&mut self, mut items: Vec<Value>) -> Value {
        if items.len() == 1 && self.flip() {
            return items.remove(0);
        }
        if self.flip() {
            items.reverse();
        }
        if self.flip()
            && let Some(first) = items.first().cloned()
        {
            items.push(first);
        }
        items.into()
    }

    fn action(&mut self, number: u8) -> Value {
        match (number, self.flip()) {
            (0, true) => json!("*:*"),
            (0, false) => json!("*"),
            (_, true) => json!(format!("s3:Get{number}")),
            (_, false) => json!(format!("S3:gET{number}")),
        }
    }

    fn principal(&mut self, (kind, number): (u8, u8)) -> (&'static str, Value) {
        match kind % 4 {
            0 if self.flip() => ("AWS", json!(format!("{number:012}"))),
            0 => ("AWS", json!(format!("arn:aws:iam::{number:012}:root"))),
            1 => ("AWS", json!(format!("arn:aws:iam::{number:012}:role/x"))),
            2 => ("AWS", json!(format!("AROA{number:012}"))),
            _ => ("Service", json!(format!("s{number}.amazonaws.com"))),
        }
    }

    fn statement(&mut self, it: &Statement) -> Value {
        let actions = it.actions.iter().map(|n| self.action(*n)).collect();
        let actions = self.set(actions);
        let resources =
            it.resources.iter().map(|n| json!(format!("arn:aws:s3:::R{n}/**"))).collect();
        let mut principals: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for principal in &it.principals {
            let (kind, name) = self.principal(*principal);
            principals.entry(kind).or_default().push(name);
        }
        let mut conditions: BTreeMap<String, BTreeMap<String, Value>> = BTreeMap::new();
        for ((operator, key), values) in &it.conditions {
            let (names, value) = OPERATORS[usize::from(*operator)];
            let values =
                values.iter().map(|n| value(*n)[usize::from(self.flip())].clone()).collect();
            let key = if self.flip() { format!("aws:Key{key}") } else { format!("AWS:kEY{key}") };
            let name = names[usize::from(self.flip())].to_owned();
            conditions.entry(name).or_default().insert(key, self.set(values));
        }
        let principals: Map<String, Value> = principals
            .into_iter()
            .map(|(kind, names)| (kind.to_owned(), self.set(names)))
            .collect();
        json!({
            "Sid": it.sid.map(|n| format!("S{n}")),
            "Effect": if it.allows { "Allow" } else { "Deny" },
            (if it.all_but { "NotAction" } else { "Action" }): actions,
            "Resource": self.set(resources),
            "Principal": principals,
            "Condition": conditions,
        })
    }

    fn document(&mut self, statements: &[Statement]) -> Value {
        let written = statements.iter().map(|one| self.statement(one)).collect();
        let document = json!({"Version": "2012-10-17", "Statement": self.set(written)});
        match (self.flip(), self.flip()) {
            (false, _) => document,
            (true, false) => serde_json::to_string_pretty(&document).unwrap().into(),
            (true, true) => {
                let all = percent_encoding::NON_ALPHANUMERIC;
                percent_encoding::utf8_percent_encode(&document.to_string(), all).to_string().into()
            }
        }
    }
}

fn statement() -> impl Strategy<Value = Statement> {
    let few = || prop::collection::btree_set(0u8..6, 1..4);
    let conditions = prop::collection::btree_map((0u8..6, 0u8..3), few(), 0..3);
    let principals = prop::collection::btree_set((0u8..4, 0u8..4), 0..3);
    (prop::option::of(0u8..3), any::<bool>(), any::<bool>(), few(), few(), principals, conditions)
        .prop_map(|(sid, allows, all_but, actions, resources, principals, conditions)| Statement {
            sid,
            allows,
            all_but,
            actions,
            resources,
            principals,
            conditions,
        })
}

fn toggle<T: Ord>(set: &mut BTreeSet<T>, item: T) {
    if !set.remove(&item) {
        set.insert(item);
    }
}

/// Changes what a statement means; the number says how.
fn changed(mut it: Statement, how: u8, number: u8) -> Statement {
    match how % 6 {
        0 => it.allows = !it.allows,
        1 => it.all_but = !it.all_but,
        2 => toggle(&mut it.actions, 10 + number),
        3 => toggle(&mut it.resources, 10 + number),
        4 => toggle(&mut it.principals, (number % 4, number)),
        _ => {
            // A key that no other has, so that the values cannot be there already.
            it.conditions.insert((number % 6, 9), BTreeSet::from([number]));
        }
    }
    it
}

fn same(want: &Value, have: &Value) -> bool {
    compared(want, Some(have), "aws").unwrap().is_none()
}

proptest! {
    #[test]
    fn however_it_is_written_it_is_no_difference(
        statements in prop::collection::vec(statement(), 1..4), one: u64, other: u64,
    ) {
        let want = Pen(one).document(&statements);
        let mut again = statements.clone();
        again.reverse();
        again.extend(statements.first().cloned());
        let have = Pen(other).document(&again);
        prop_assert!(same(&want, &have), "{want}\n{have}");
    }

    #[test]
    fn whatever_changes_the_meaning_is_a_difference(
        statements in prop::collection::vec(statement(), 1..4),
        how: u8, number in 0u8..6, one: u64, other: u64,
    ) {
        let mut edited = statements.clone();
        let last = edited.pop().unwrap();
        edited.push(changed(last, how, number));
        let plain = |all: &[Statement]| -> BTreeSet<Statement> {
            all.iter().map(|one| Statement { sid: None, ..one.clone() }).collect()
        };
        // Two statements can become one, or trade places.
        prop_assume!(plain(&statements) != plain(&edited));
        let (want, have) = (Pen(one).document(&statements), Pen(other).document(&edited));
        prop_assert!(!same(&want, &have), "{want}\n{have}");
        prop_assert!(!same(&have, &want), "{have}\n{want}");
    }

    #[test]
    fn one_statement_more_or_less_is_a_difference(
        statements in prop::collection::btree_set(statement(), 2..4), one: u64, other: u64,
    ) {
        let all: Vec<Statement> = statements.into_iter().collect();
        let plain = |it: &Statement| Statement { sid: None, ..it.clone() };
        prop_assume!(all[1..].iter().all(|it| plain(it) != plain(&all[0])));
        let (want, have) = (Pen(one).document(&all), Pen(other).document(&all[1..]));
        prop_assert!(!same(&want, &have) && !same(&have, &want), "{want}\n{have}");
    }
}
