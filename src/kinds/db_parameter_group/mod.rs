//! RDS DB parameter groups.

pub(crate) mod sdk;

use serde_json::{Map, Value};

use crate::model::kind::{List, Lists};
use crate::model::{Bound, Call, Delta, ErrorClass, Kind, KindName, Observed, Readiness, Rule};

/// The name of the kind.
pub const NAME: KindName = KindName::new("db_parameter_group");

/// The kind.
pub const KIND: DbParameterGroup = DbParameterGroup;

/// States the facts of the kind.
#[derive(Debug, Clone, Copy)]
pub struct DbParameterGroup;

impl Kind for DbParameterGroup {
    fn name(&self) -> KindName {
        NAME
    }

    fn service(&self) -> &'static str {
        "rds"
    }

    fn lists(&self) -> &'static [List] {
        &[]
    }

    fn assemble(&self, _lists: Lists) -> Vec<(String, Map<String, Value>)> {
        Vec::new()
    }

    fn confirm(&self, _name: &str) -> Option<Call> {
        None
    }

    fn rules(&self) -> &'static [Rule] {
        &[]
    }

    fn readiness(&self, _actual: &Observed) -> Readiness {
        Readiness::Ready
    }

    fn create(&self, _desired: &Bound) -> Vec<Call> {
        Vec::new()
    }

    fn update(&self, _desired: &Bound, _actual: &Observed, _deltas: &[Delta]) -> Vec<Call> {
        Vec::new()
    }

    fn adopt(&self, _desired: &Bound, _actual: &Observed) -> Vec<Call> {
        Vec::new()
    }

    fn classify(&self, _code: &str) -> ErrorClass {
        ErrorClass::Invalid
    }
}
