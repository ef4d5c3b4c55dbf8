//! How a VPC is named by what is in it; a VPC itself is only read, and nothing declares it.

use crate::model::Observed;
use crate::model::import::{Around, Draft, Import};

impl Import for super::Vpc {
    fn known_as(&self, actual: &Observed) -> Vec<(String, Option<&'static str>)> {
        actual.text("VpcId").map(|id| (id.to_owned(), Some("vpcId"))).into_iter().collect()
    }

    fn draft(&self, _name: &str, _actual: &Observed, _around: &dyn Around) -> Option<Draft> {
        None
    }
}
