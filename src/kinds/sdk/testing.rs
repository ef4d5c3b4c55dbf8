//! What tests need to hold the tables of parameters and members against the SDK.

/// Gives a table's rows: the API's name and the SDK's.
pub(crate) trait Table {
    /// The rows.
    const ROWS: &'static [(&'static str, &'static str)];
}
