//! What the values of a record alone prove wrong.

use super::spec::RecordType;
use crate::model::reference::has_marker;
use crate::model::{Finding, dns};

/// The most characters of all values of a record set, quotes and spaces included.
const LONGEST: usize = 32_000;

/// Checks the values that a manifest states; what comes from elsewhere is looked at when it is known.
pub(super) fn values(
    record_type: RecordType,
    values: &[String],
    place: &str,
    found: &mut Vec<Finding>,
) {
    if values.is_empty() {
        let message = "a record without a value is none";
        let hint = "add a value, or remove the record";
        found.push(Finding::error(place, "EmptyValues", message).hint(hint));
    }
    if record_type == RecordType::Cname && values.len() > 1 {
        let message = "a CNAME has one value";
        found.push(Finding::error(place, "SeveralValuesOfCname", message));
    }
    let length: usize = values.iter().map(String::len).sum();
    if length > LONGEST {
        let message = format!("the values have {length} characters, and may have {LONGEST}");
        found.push(Finding::error(place, "ValuesTooLong", message));
    }
    for (at, value) in values.iter().enumerate().filter(|(_, value)| !has_marker(value)) {
        if let Err(malformed) = dns::Value::read(record_type.as_str(), value) {
            let place = format!("{place}/{at}");
            found.push(Finding::error(&place, "InvalidRecordValue", malformed.to_string()));
        }
    }
    for at in dns::duplicates(record_type.as_str(), values) {
        let message = "the value is there already";
        found.push(Finding::error(&format!("{place}/{at}"), "DuplicateValue", message));
    }
}
