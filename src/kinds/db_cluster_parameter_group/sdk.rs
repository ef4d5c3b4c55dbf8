//! Calls of RDS DB cluster parameter groups to the SDK, and its answers to JSON.

use aws_sdk_rds::operation::describe_db_cluster_parameter_groups::{
    DescribeDbClusterParameterGroupsOutput, builders::DescribeDBClusterParameterGroupsFluentBuilder,
};
use aws_sdk_rds::operation::describe_db_cluster_parameters::{
    DescribeDbClusterParametersOutput, builders::DescribeDBClusterParametersFluentBuilder,
};
use aws_sdk_rds::operation::create_db_cluster_parameter_group::{
    CreateDbClusterParameterGroupOutput, builders::CreateDBClusterParameterGroupFluentBuilder,
};
use aws_sdk_rds::operation::modify_db_cluster_parameter_group::{
    ModifyDbClusterParameterGroupOutput, builders::ModifyDBClusterParameterGroupFluentBuilder,
};
use aws_sdk_rds::operation::reset_db_cluster_parameter_group::{
    ResetDbClusterParameterGroupOutput, builders::ResetDBClusterParameterGroupFluentBuilder,
};
use aws_sdk_rds::operation::delete_db_cluster_parameter_group::{
    DeleteDbClusterParameterGroupOutput, builders::DeleteDBClusterParameterGroupFluentBuilder,
};
use aws_sdk_rds::types::DbClusterParameterGroup;
use serde_json::Value;

use crate::kinds::sdk::{Clients, Failure, ask, members, parameters, rds};
use crate::model::Call;

/// Sends one call of this kind.
pub(crate) async fn send(clients: &Clients, call: &Call) -> Result<Value, Failure> {
    let client = &clients.rds;
    match &*call.operation {
        "DescribeDBClusterParameterGroups" => {
            ask!(client.describe_db_cluster_parameter_groups(), call)
        }
        "DescribeDBClusterParameters" => ask!(client.describe_db_cluster_parameters(), call),
        "CreateDBClusterParameterGroup" => ask!(client.create_db_cluster_parameter_group(), call),
        "ModifyDBClusterParameterGroup" => ask!(client.modify_db_cluster_parameter_group(), call),
        "ResetDBClusterParameterGroup" => ask!(client.reset_db_cluster_parameter_group(), call),
        "DeleteDBClusterParameterGroup" => ask!(client.delete_db_cluster_parameter_group(), call),
        _ => rds::send_tags(clients, call).await,
    }
}

parameters!(DescribeDBClusterParameterGroupsFluentBuilder {
    DBClusterParameterGroupName: set_db_cluster_parameter_group_name, Filters: set_filters,
    MaxRecords: set_max_records, Marker: set_marker,
});
parameters!(DescribeDBClusterParametersFluentBuilder {
    DBClusterParameterGroupName: set_db_cluster_parameter_group_name, Source: set_source,
    Filters: set_filters, MaxRecords: set_max_records, Marker: set_marker,
});
parameters!(CreateDBClusterParameterGroupFluentBuilder {
    DBClusterParameterGroupName: set_db_cluster_parameter_group_name,
    DBParameterGroupFamily: set_db_parameter_group_family, Description: set_description,
    Tags: set_tags,
});
parameters!(ModifyDBClusterParameterGroupFluentBuilder {
    DBClusterParameterGroupName: set_db_cluster_parameter_group_name, Parameters: set_parameters,
});
parameters!(ResetDBClusterParameterGroupFluentBuilder {
    DBClusterParameterGroupName: set_db_cluster_parameter_group_name,
    ResetAllParameters: set_reset_all_parameters, Parameters: set_parameters,
});
parameters!(DeleteDBClusterParameterGroupFluentBuilder {
    DBClusterParameterGroupName: set_db_cluster_parameter_group_name,
});

members!(DescribeDbClusterParameterGroupsOutput {
    DBClusterParameterGroups: db_cluster_parameter_groups, Marker: marker,
});
members!(DescribeDbClusterParametersOutput { Parameters: parameters, Marker: marker });
members!(CreateDbClusterParameterGroupOutput {
    DBClusterParameterGroup: db_cluster_parameter_group,
});
members!(ModifyDbClusterParameterGroupOutput {
    DBClusterParameterGroupName: db_cluster_parameter_group_name,
});
members!(ResetDbClusterParameterGroupOutput {
    DBClusterParameterGroupName: db_cluster_parameter_group_name,
});
members!(DeleteDbClusterParameterGroupOutput {});
members!(DbClusterParameterGroup {
    DBClusterParameterGroupName: db_cluster_parameter_group_name,
    DBParameterGroupFamily: db_parameter_group_family, Description: description,
    DBClusterParameterGroupArn: db_cluster_parameter_group_arn,
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::sdk::testing::{check_answer, check_requests, check_structures};

    #[tokio::test]
    async fn every_parameter_is_sent_under_its_name() {
        check_requests!(
            [],
            describe_db_cluster_parameter_groups,
            describe_db_cluster_parameters,
            create_db_cluster_parameter_group,
            modify_db_cluster_parameter_group,
            reset_db_cluster_parameter_group,
            delete_db_cluster_parameter_group,
        );
    }

    #[tokio::test]
    async fn a_full_answer_is_read_whole_and_as_the_aws_cli_reads_it() {
        check_structures!(
            DescribeDbClusterParameterGroupsOutput,
            DescribeDbClusterParametersOutput,
            CreateDbClusterParameterGroupOutput,
            ModifyDbClusterParameterGroupOutput,
            ResetDbClusterParameterGroupOutput,
            DbClusterParameterGroup,
        );
        check_answer!(super, "rds", "DescribeDBClusterParameterGroups");
        check_answer!(super, "rds", "DescribeDBClusterParameters");
    }
}
