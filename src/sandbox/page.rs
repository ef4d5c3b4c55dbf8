//! Paging: which part of a list an answer holds, and how the next one is asked for.
//!
//! A marker names the last item that was sent, so that items which come or go between two pages
//! shift nothing.

use serde_json::{Map, Value, json};

use super::args::Args;
use super::refusal::{Answer, Refusal};

/// States how an API pages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paging {
    /// The parameter for the page size.
    pub(super) size: &'static str,
    /// Its smallest and largest value.
    pub(super) range: (i64, i64),
    /// The page size when none is asked for.
    pub(super) default: i64,
    /// The parameter and member that hold the marker.
    pub(super) marker: &'static str,
}

/// The RDS API pages by 100 unless 20 to 100 are asked for.
pub(super) const RDS: Paging =
    Paging { size: "MaxRecords", range: (20, 100), default: 100, marker: "Marker" };

/// The EC2 API pages by 1,000 unless 5 to 1,000 are asked for.
pub(super) const EC2: Paging =
    Paging { size: "MaxResults", range: (5, 1000), default: 1000, marker: "NextToken" };

/// Launch templates come in pages of up to 200.
pub(super) const TEMPLATES: Paging =
    Paging { size: "MaxResults", range: (1, 200), default: 200, marker: "NextToken" };

/// The Auto Scaling API pages by 50 unless 1 to 100 are asked for.
pub(super) const AUTO_SCALING: Paging =
    Paging { size: "MaxRecords", range: (1, 100), default: 50, marker: "NextToken" };

/// The IAM API pages by 100 unless 1 to 1,000 are asked for.
pub(super) const IAM: Paging =
    Paging { size: "MaxItems", range: (1, 1000), default: 100, marker: "Marker" };

/// The Secrets Manager API pages by 100 unless 1 to 100 are asked for.
pub(super) const SECRETS: Paging =
    Paging { size: "MaxResults", range: (1, 100), default: 100, marker: "NextToken" };

/// The S3 API pages buckets by 10,000 unless fewer are asked for.
pub(super) const BUCKETS: Paging =
    Paging { size: "MaxBuckets", range: (1, 10_000), default: 10_000, marker: "ContinuationToken" };

impl Paging {
    /// Answers one page of `items`, which are in the order of their names.
    ///
    /// Only what is on the page is described; what `describe` makes nothing of is left out.
    pub(super) fn answer<'n, T>(
        self,
        args: Args<'_>,
        list: &str,
        items: impl Iterator<Item = (&'n str, T)>,
        describe: impl Fn(&'n str, T) -> Option<Value>,
    ) -> Answer {
        let size = self.read_size(args)?;
        let after = args.text(self.marker)?.map(decode).transpose()?;
        let mut rest = items
            .skip_while(|(name, _)| after.as_deref().is_some_and(|last| *name <= last))
            .filter_map(|(name, item)| Some((name, describe(name, item)?)));
        let (names, page): (Vec<&str>, Vec<Value>) = rest.by_ref().take(size).unzip();
        let mut answer = Map::new();
        answer.insert(list.to_owned(), Value::Array(page));
        if let (Some(last), Some(_)) = (names.last(), rest.next()) {
            answer.insert(self.marker.to_owned(), json!(hex::encode(last)));
        }
        Ok(Value::Object(answer))
    }

    fn read_size(self, args: Args<'_>) -> Result<usize, Refusal> {
        let size = args.integer(self.size)?.unwrap_or(self.default);
        let (low, high) = self.range;
        if !(low..=high).contains(&size) {
            let text =
                format!("Invalid value {size} for {}. Must be between {low} and {high}", self.size);
            return Err(Refusal::value(text));
        }
        Ok(usize::try_from(size).unwrap_or(usize::MAX))
    }
}

fn decode(marker: &str) -> Result<String, Refusal> {
    hex::decode(marker)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .ok_or_else(|| Refusal::value(format!("The marker {marker} is invalid or has expired")))
}
