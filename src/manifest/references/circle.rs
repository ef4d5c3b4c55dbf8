//! Circles among things that need each other.
//!
//! In: arcs from each resource to what it needs. Out: for each arc of a circle the shortest way
//! round that takes it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use crate::model::Key;

/// Is one resource, by the object and its path in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Node {
    pub(super) key: Key,
    pub(super) path: String,
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.key, self.path)
    }
}

/// Says that one resource needs another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Arc {
    pub(super) from: Node,
    pub(super) to: Node,
}

/// Returns, for each arc that is part of a circle, its place in the list and the circle, from where
/// the arc begins back to there.
pub(super) fn circles(arcs: &[Arc]) -> Vec<(usize, Vec<&Node>)> {
    let mut next: BTreeMap<&Node, BTreeSet<&Node>> = BTreeMap::new();
    for arc in arcs {
        next.entry(&arc.from).or_default().insert(&arc.to);
    }
    let mut found = Vec::new();
    for (at, arc) in arcs.iter().enumerate() {
        if let Some(way) = way(&next, &arc.to, &arc.from) {
            found.push((at, std::iter::once(&arc.from).chain(way).collect()));
        }
    }
    found
}

/// Returns the shortest way from one node to another, both included.
fn way<'a>(
    next: &BTreeMap<&'a Node, BTreeSet<&'a Node>>,
    from: &'a Node,
    to: &'a Node,
) -> Option<Vec<&'a Node>> {
    let mut came: BTreeMap<&Node, &Node> = BTreeMap::new();
    let mut waiting = VecDeque::from([from]);
    while let Some(node) = waiting.pop_front() {
        if node == to {
            let back = std::iter::successors(Some(node), |node| {
                (*node != from).then(|| came.get(node).copied()).flatten()
            });
            let mut way: Vec<&Node> = back.collect();
            way.reverse();
            return Some(way);
        }
        for neighbour in next.get(node).into_iter().flatten() {
            if *neighbour != from && !came.contains_key(neighbour) {
                came.insert(neighbour, node);
                waiting.push_back(neighbour);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn node(name: &str) -> Node {
        Node { key: Key::workspace("w"), path: name.to_owned() }
    }

    fn arcs(text: &[&str]) -> Vec<Arc> {
        let arc = |text: &&str| {
            let (from, to) = text.split_once('>').unwrap();
            Arc { from: node(from), to: node(to) }
        };
        text.iter().map(arc).collect()
    }

    fn told(text: &[&str]) -> Vec<String> {
        let arcs = arcs(text);
        let names = |circle: Vec<&Node>| {
            circle.iter().map(|node| node.path.as_str()).collect::<Vec<_>>().join(">")
        };
        circles(&arcs).into_iter().map(|(at, circle)| format!("{at} {}", names(circle))).collect()
    }

    #[test]
    fn every_arc_of_a_circle_is_told_with_the_way_round() {
        assert_eq!(told(&["a>a"]), ["0 a>a"]);
        assert_eq!(told(&["a>b", "b>c", "c>a"]), ["0 a>b>c>a", "1 b>c>a>b", "2 c>a>b>c"]);
        assert_eq!(told(&["a>b", "b>c", "a>c"]), Vec::<String>::new());
        assert_eq!(told(&["x>a", "a>b", "b>a", "b>y"]), ["1 a>b>a", "2 b>a>b"]);
    }

    proptest! {
        #[test]
        fn what_is_told_goes_round_and_what_is_left_can_be_put_in_order(
            pairs in proptest::collection::vec((0_usize..6, 0_usize..6), 0..14),
        ) {
            let arcs: Vec<Arc> = pairs
                .iter()
                .map(|(a, b)| Arc { from: node(&a.to_string()), to: node(&b.to_string()) })
                .collect();
            let told = circles(&arcs);
            for (at, circle) in &told {
                prop_assert_eq!(circle.first(), circle.last());
                prop_assert_eq!((circle[0], circle[1]), (&arcs[*at].from, &arcs[*at].to));
                for pair in circle.windows(2) {
                    prop_assert!(arcs.iter().any(|arc| (&arc.from, &arc.to) == (pair[0], pair[1])));
                }
            }
            let in_circle: BTreeSet<usize> = told.iter().map(|(at, _)| *at).collect();
            let mut left: Vec<&Arc> = arcs
                .iter()
                .enumerate()
                .filter(|(at, _)| !in_circle.contains(at))
                .map(|(_, arc)| arc)
                .collect();
            // Whoever needs nobody goes, until nobody is left.
            loop {
                let before = left.len();
                let needing: BTreeSet<&Node> = left.iter().map(|arc| &arc.from).collect();
                left.retain(|arc| needing.contains(&arc.to));
                if left.len() == before {
                    break;
                }
            }
            prop_assert!(left.is_empty(), "{:?}", left);
        }
    }
}
