//! The record sets of hosted zones, by the zone.

use serde_json::{Map, Value, json};

use super::{Saved, is_list, not_recorded};
use crate::model::{Call, CallError};

/// The member that holds them.
pub(super) const CONTENT: &str = "ResourceRecordSets";

/// Tells whether a value holds lists by the ids of zones.
pub(super) fn are_lists(value: &Value) -> bool {
    value.as_object().is_some_and(|zones| zones.values().all(is_list))
}

/// Says what is wrong with a list that is not said to be of one of several zones.
pub(super) fn check(answers: &Map<String, Value>) -> Result<(), String> {
    let zones = answers.get("HostedZones").and_then(Value::as_array).map_or(0, Vec::len);
    let is_list = answers.get(CONTENT).is_some_and(Value::is_array);
    match is_list && zones > 1 {
        true => Err(format!(
            "{CONTENT} is the list of one zone, and HostedZones holds {zones}: make it an object of \
             lists by the ids of the zones"
        )),
        false => Ok(()),
    }
}

fn bare(id: &str) -> &str {
    id.strip_prefix("/hostedzone/").unwrap_or(id)
}

impl Saved {
    /// The record sets of one zone.
    pub(super) fn record_sets(&self, call: &Call) -> Result<Value, CallError> {
        let zone = bare(call.text("HostedZoneId").unwrap_or_default());
        let lacking = || not_recorded(call, &format!("{CONTENT} of the zone {zone}"));
        let items = match self.answers.get(CONTENT).ok_or_else(lacking)? {
            Value::Object(zones) => {
                let is_it = |(id, _): &(&String, &Value)| bare(id) == zone;
                zones.iter().find(is_it).map(|(_, items)| items).ok_or_else(lacking)?
            }
            items => items,
        };
        Ok(json!({ (CONTENT): items }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds;

    fn read(answers: Value, zone: &str) -> Result<usize, String> {
        let saved =
            Saved::parse(&answers.to_string(), kinds::all()).map_err(|it| it.to_string())?;
        let call = Call::new("route53", "ListResourceRecordSets").with("HostedZoneId", zone);
        let answer = saved.answer(&call).map_err(|error| error.message)?;
        Ok(answer[CONTENT].as_array().unwrap().len())
    }

    #[test]
    fn record_sets_are_told_apart_by_their_zone() {
        let record = json!({"Name": "a.example.com.", "Type": "A"});
        let several = json!({
            "HostedZones": [{"Id": "/hostedzone/Z1"}, {"Id": "/hostedzone/Z2"}],
            (CONTENT): {"/hostedzone/Z1": [record], "Z2": []},
        });
        assert_eq!(read(several.clone(), "Z1"), Ok(1));
        assert_eq!(read(several.clone(), "Z2"), Ok(0));
        let unknown = read(several, "Z3").unwrap_err();
        assert_eq!(unknown, "ResourceRecordSets of the zone Z3");
        let one = json!({"HostedZones": [{"Id": "/hostedzone/Z1"}], (CONTENT): [record]});
        assert_eq!(read(one, "Z1"), Ok(1));
        let mixed = json!({"HostedZones": [{"Id": "Z1"}, {"Id": "Z2"}], (CONTENT): [record]});
        assert!(read(mixed, "Z1").unwrap_err().contains("HostedZones holds 2"));
        assert!(read(json!({(CONTENT): {"Z1": [1]}}), "Z1").unwrap_err().contains("no list"));
    }
}
