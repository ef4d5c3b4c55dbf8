//! Calls of RDS DB parameter groups to the SDK, and its answers to JSON.

use aws_sdk_rds::operation::describe_db_parameter_groups::{
    DescribeDbParameterGroupsOutput, builders::DescribeDBParameterGroupsFluentBuilder,
};
use aws_sdk_rds::operation::describe_db_parameters::{
    DescribeDbParametersOutput, builders::DescribeDBParametersFluentBuilder,
};
use aws_sdk_rds::operation::create_db_parameter_group::{
    CreateDbParameterGroupOutput, builders::CreateDBParameterGroupFluentBuilder,
};
use aws_sdk_rds::operation::modify_db_parameter_group::{
    ModifyDbParameterGroupOutput, builders::ModifyDBParameterGroupFluentBuilder,
};
use aws_sdk_rds::operation::reset_db_parameter_group::{
    ResetDbParameterGroupOutput, builders::ResetDBParameterGroupFluentBuilder,
};
use aws_sdk_rds::operation::delete_db_parameter_group::{
    DeleteDbParameterGroupOutput, builders::DeleteDBParameterGroupFluentBuilder,
};
use aws_sdk_rds::types::DbParameterGroup;
use serde_json::Value;

use crate::kinds::sdk::{Clients, Failure, ask, members, parameters, rds};
use crate::model::Call;

/// Sends one call of this kind.
pub(crate) async fn send(clients: &Clients, call: &Call) -> Result<Value, Failure> {
    let client = &clients.rds;
    match &*call.operation {
        "DescribeDBParameterGroups" => ask!(client.describe_db_parameter_groups(), call),
        "DescribeDBParameters" => ask!(client.describe_db_parameters(), call),
        "CreateDBParameterGroup" => ask!(client.create_db_parameter_group(), call),
        "ModifyDBParameterGroup" => ask!(client.modify_db_parameter_group(), call),
        "ResetDBParameterGroup" => ask!(client.reset_db_parameter_group(), call),
        "DeleteDBParameterGroup" => ask!(client.delete_db_parameter_group(), call),
        _ => rds::send_tags(clients, call).await,
    }
}

parameters!(DescribeDBParameterGroupsFluentBuilder {
    DBParameterGroupName: set_db_parameter_group_name, Filters: set_filters,
    MaxRecords: set_max_records, Marker: set_marker,
});
parameters!(DescribeDBParametersFluentBuilder {
    DBParameterGroupName: set_db_parameter_group_name, Source: set_source, Filters: set_filters,
    MaxRecords: set_max_records, Marker: set_marker,
});
parameters!(CreateDBParameterGroupFluentBuilder {
    DBParameterGroupName: set_db_parameter_group_name,
    DBParameterGroupFamily: set_db_parameter_group_family, Description: set_description,
    Tags: set_tags,
});
parameters!(ModifyDBParameterGroupFluentBuilder {
    DBParameterGroupName: set_db_parameter_group_name, Parameters: set_parameters,
});
parameters!(ResetDBParameterGroupFluentBuilder {
    DBParameterGroupName: set_db_parameter_group_name, ResetAllParameters: set_reset_all_parameters,
    Parameters: set_parameters,
});
parameters!(DeleteDBParameterGroupFluentBuilder {
    DBParameterGroupName: set_db_parameter_group_name,
});

members!(DescribeDbParameterGroupsOutput {
    DBParameterGroups: db_parameter_groups, Marker: marker,
});
members!(DescribeDbParametersOutput { Parameters: parameters, Marker: marker });
members!(CreateDbParameterGroupOutput { DBParameterGroup: db_parameter_group });
members!(ModifyDbParameterGroupOutput { DBParameterGroupName: db_parameter_group_name });
members!(ResetDbParameterGroupOutput { DBParameterGroupName: db_parameter_group_name });
members!(DeleteDbParameterGroupOutput {});
members!(DbParameterGroup {
    DBParameterGroupName: db_parameter_group_name,
    DBParameterGroupFamily: db_parameter_group_family, Description: description,
    DBParameterGroupArn: db_parameter_group_arn,
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::sdk::testing::{check_answer, check_requests, check_structures};

    #[tokio::test]
    async fn every_parameter_is_sent_under_its_name() {
        check_requests!(
            [],
            describe_db_parameter_groups,
            describe_db_parameters,
            create_db_parameter_group,
            modify_db_parameter_group,
            reset_db_parameter_group,
            delete_db_parameter_group,
        );
    }

    #[tokio::test]
    async fn a_full_answer_is_read_whole_and_as_the_aws_cli_reads_it() {
        check_structures!(
            DescribeDbParameterGroupsOutput,
            DescribeDbParametersOutput,
            CreateDbParameterGroupOutput,
            ModifyDbParameterGroupOutput,
            ResetDbParameterGroupOutput,
            DbParameterGroup,
        );
        check_answer!(super, "rds", "DescribeDBParameterGroups");
        check_answer!(super, "rds", "DescribeDBParameters");
    }
}
