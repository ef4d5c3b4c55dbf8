//! Calls of RDS DB subnet groups to the SDK, and its answers to JSON.

use aws_sdk_rds::operation::describe_db_subnet_groups::{
    DescribeDbSubnetGroupsOutput, builders::DescribeDBSubnetGroupsFluentBuilder,
};
use aws_sdk_rds::operation::create_db_subnet_group::{
    CreateDbSubnetGroupOutput, builders::CreateDBSubnetGroupFluentBuilder,
};
use aws_sdk_rds::operation::modify_db_subnet_group::{
    ModifyDbSubnetGroupOutput, builders::ModifyDBSubnetGroupFluentBuilder,
};
use aws_sdk_rds::operation::delete_db_subnet_group::{
    DeleteDbSubnetGroupOutput, builders::DeleteDBSubnetGroupFluentBuilder,
};
use serde_json::Value;

use crate::kinds::sdk::{Clients, Failure, ask, members, parameters, rds};
use crate::model::Call;

/// Sends one call of this kind.
pub(crate) async fn send(clients: &Clients, call: &Call) -> Result<Value, Failure> {
    let client = &clients.rds;
    match &*call.operation {
        "DescribeDBSubnetGroups" => ask!(client.describe_db_subnet_groups(), call),
        "CreateDBSubnetGroup" => ask!(client.create_db_subnet_group(), call),
        "ModifyDBSubnetGroup" => ask!(client.modify_db_subnet_group(), call),
        "DeleteDBSubnetGroup" => ask!(client.delete_db_subnet_group(), call),
        _ => rds::send_tags(clients, call).await,
    }
}

parameters!(DescribeDBSubnetGroupsFluentBuilder {
    DBSubnetGroupName: set_db_subnet_group_name, Filters: set_filters, MaxRecords: set_max_records,
    Marker: set_marker,
});
parameters!(CreateDBSubnetGroupFluentBuilder {
    DBSubnetGroupName: set_db_subnet_group_name,
    DBSubnetGroupDescription: set_db_subnet_group_description, SubnetIds: set_subnet_ids,
    Tags: set_tags,
});
parameters!(ModifyDBSubnetGroupFluentBuilder {
    DBSubnetGroupName: set_db_subnet_group_name,
    DBSubnetGroupDescription: set_db_subnet_group_description, SubnetIds: set_subnet_ids,
});
parameters!(DeleteDBSubnetGroupFluentBuilder {
    DBSubnetGroupName: set_db_subnet_group_name,
});

members!(DescribeDbSubnetGroupsOutput { DBSubnetGroups: db_subnet_groups, Marker: marker });
members!(CreateDbSubnetGroupOutput { DBSubnetGroup: db_subnet_group });
members!(ModifyDbSubnetGroupOutput { DBSubnetGroup: db_subnet_group });
members!(DeleteDbSubnetGroupOutput {});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::sdk::testing::{check_answer, check_requests, check_structures};

    #[tokio::test]
    async fn every_parameter_is_sent_under_its_name() {
        check_requests!(
            [],
            describe_db_subnet_groups,
            create_db_subnet_group,
            modify_db_subnet_group,
            delete_db_subnet_group,
        );
    }

    #[tokio::test]
    async fn a_full_answer_is_read_whole_and_as_the_aws_cli_reads_it() {
        check_structures!(
            DescribeDbSubnetGroupsOutput,
            CreateDbSubnetGroupOutput,
            ModifyDbSubnetGroupOutput,
        );
        check_answer!(super, "rds", "DescribeDBSubnetGroups");
    }
}
