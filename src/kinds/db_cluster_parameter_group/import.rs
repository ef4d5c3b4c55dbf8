//! How a DB cluster parameter group that exists is declared: as the parameters of the cluster that
//! uses it.

use crate::kinds::parameter_group::{self, Place};
use crate::model::import::{Around, Draft, Import};
use crate::model::{Call, Observed};

impl Import for super::DbClusterParameterGroup {
    fn passed_over(&self, name: &str, _actual: &Observed) -> Option<String> {
        parameter_group::passed_over(name)
    }

    fn reads(&self, actual: &Observed) -> Vec<Call> {
        parameter_group::reads(&super::NAMING, actual)
    }

    fn draft(&self, name: &str, actual: &Observed, _around: &dyn Around) -> Option<Draft> {
        let place = Place {
            section: "database",
            group: "cluster.parameterGroup",
            parameters: "cluster.parameters",
        };
        parameter_group::draft(&super::NAMING, &place, name, actual)
    }
}
