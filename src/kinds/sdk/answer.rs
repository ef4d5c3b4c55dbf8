//! The SDK's typed answers to JSON under the API's member names, as the AWS CLI prints them.

use aws_smithy_types::DateTime;
use serde_json::{Map, Value};

/// Turns a part of an answer into JSON.
pub(crate) trait Answer {
    /// Returns the value under the API's member names.
    fn json(&self) -> Value;
}

/// Adds a member that AWS answered; one that it did not is left out.
pub(crate) fn put<A: Answer>(object: &mut Map<String, Value>, member: &str, value: Option<&A>) {
    if let Some(value) = value {
        object.insert(member.to_owned(), value.json());
    }
}

impl Answer for String {
    fn json(&self) -> Value {
        Value::from(self.as_str())
    }
}

impl Answer for bool {
    fn json(&self) -> Value {
        Value::from(*self)
    }
}

impl Answer for i32 {
    fn json(&self) -> Value {
        Value::from(*self)
    }
}

impl Answer for i64 {
    fn json(&self) -> Value {
        Value::from(*self)
    }
}

impl Answer for f64 {
    fn json(&self) -> Value {
        Value::from(*self)
    }
}

impl<A: Answer> Answer for Vec<A> {
    fn json(&self) -> Value {
        self.iter().map(Answer::json).collect()
    }
}

impl Answer for DateTime {
    /// Writes the time as Python's `isoformat` does, which the AWS CLI uses: RFC 3339 in UTC with
    /// `+00:00`, and six digits of a second where there are any.
    fn json(&self) -> Value {
        let nanoseconds = i32::try_from(self.subsec_nanos()).unwrap_or_default();
        let Ok(time) = jiff::Timestamp::new(self.secs(), nanoseconds) else { return Value::Null };
        let format = match nanoseconds / 1_000 {
            0 => "%Y-%m-%dT%H:%M:%S+00:00",
            _ => "%Y-%m-%dT%H:%M:%S.%6f+00:00",
        };
        Value::from(time.strftime(format).to_string())
    }
}

/// Stands for a secret that an answer holds, as RDS itself and the AWS CLI show it.
pub(crate) fn masked(_secret: &String) -> String {
    "****".to_owned()
}

/// Makes a table of an answer's members: `API name: field of the SDK`, or `API name: field via f`.
///
/// The first form is an answer without members.
macro_rules! members {
    ($structure:ty {}) => {
        impl $crate::kinds::sdk::Answer for $structure {
            fn json(&self) -> serde_json::Value {
                serde_json::Value::Object(serde_json::Map::new())
            }
        }
    };
    ($structure:ty { $($name:ident: $field:ident $(via $through:ident)?),* $(,)? }) => {
        impl $crate::kinds::sdk::Answer for $structure {
            fn json(&self) -> serde_json::Value {
                let mut object = serde_json::Map::new();
                $($crate::kinds::sdk::put(
                    &mut object,
                    stringify!($name),
                    self.$field.as_ref()$(.map($through).as_ref())?,
                );)*
                serde_json::Value::Object(object)
            }
        }

        #[cfg(test)]
        impl $crate::kinds::sdk::testing::Table for $structure {
            const ROWS: &'static [(&'static str, &'static str)] =
                &[$((stringify!($name), stringify!($field))),*];
        }
    };
}
pub(crate) use members;

/// Lets words that the SDK knows as enumerations pass as text, both ways; a word that this version
/// of the SDK does not know passes too, for AWS to judge.
macro_rules! enumerations {
    ($($name:ty),* $(,)?) => {
        $(
            impl $crate::kinds::sdk::Answer for $name {
                fn json(&self) -> serde_json::Value {
                    serde_json::Value::from(self.as_str())
                }
            }

            impl $crate::kinds::sdk::Parameter for $name {
                fn read(value: &serde_json::Value) -> Result<Self, $crate::kinds::sdk::Misfit> {
                    <String as $crate::kinds::sdk::Parameter>::read(value)
                        .map(|word| Self::from(word.as_str()))
                }
            }
        )*
    };
}
pub(crate) use enumerations;
