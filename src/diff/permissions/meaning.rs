//! Both sides of a comparison as sets: a protocol, its ports and one peer each.
//!
//! AWS puts rules of the same protocol and ports together, and takes what it merged apart again in
//! no order. It adds to a group its account, name, VPC and peering state, which mean nothing.

use serde_json::Value;

use super::Rules;
use crate::model::traffic::permission_of;
use crate::model::{Peer, Peers, Traffic};

/// Reads declared rules; the peer `self` is the group itself.
pub(super) fn declared(list: &Value, own: &str) -> Result<Rules, String> {
    let mut rules = Rules::new();
    for item in list.as_array().into_iter().flatten() {
        let text = item.as_str().unwrap_or_default();
        let (rule, description) = match text.split_once(" (") {
            Some((rule, rest)) => (rule, rest.strip_suffix(')').map(str::to_owned)),
            None => (text, None),
        };
        let mut traffic: Traffic = rule.parse().map_err(|_| format!("the rule \"{text}\""))?;
        if traffic.peer == Peer::Group("self".to_owned()) {
            traffic.peer = Peer::Group(own.to_owned());
        }
        let kept = rules.entry(traffic).or_default();
        *kept = kept.take().or(description);
    }
    Ok(rules)
}

/// Reads what AWS has, of one kind of peers.
pub(super) fn there(list: Option<&Value>, peers: Peers, account: &str) -> Result<Rules, String> {
    let mut rules = Rules::new();
    for permission in list.and_then(Value::as_array).into_iter().flatten() {
        let read = permission_of(permission, peers, account);
        let unreadable = || format!("AWS answered the rule {permission}, which cannot be read");
        rules.extend(read.ok_or_else(unreadable)?);
    }
    Ok(rules)
}
