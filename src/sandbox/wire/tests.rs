//! The wire format in both directions.

use serde_json::json;

use super::*;
use crate::sandbox::refusal::Refusal;

fn params(dialect: Dialect, body: &str) -> serde_json::Value {
    read(dialect, format!("Action=X&Version=1&{body}").as_bytes()).unwrap().params.into()
}

#[test]
fn query_lists_lose_the_name_of_their_items() {
    let body = "Tags.Tag.1.Key=a&Tags.Tag.1.Value=b%20c&Tags.Tag.2.Key=d&Tags.Tag.2.Value=\
                &VpcSecurityGroupIds.VpcSecurityGroupId.1=sg-1&TagKeys.member.2=y&TagKeys.member.1=x";
    assert_eq!(
        params(Dialect::Query, body),
        json!({
            "Tags": [{"Key": "a", "Value": "b c"}, {"Key": "d", "Value": ""}],
            "VpcSecurityGroupIds": ["sg-1"],
            "TagKeys": ["x", "y"],
        })
    );
}

#[test]
fn lists_inside_structures_and_lists_are_read() {
    let body = "Filters.Filter.1.Name=engine&Filters.Filter.1.Values.Value.1=postgres\
                &CloudwatchLogsExportConfiguration.EnableLogTypes.member.1=postgresql";
    assert_eq!(
        params(Dialect::Query, body),
        json!({
            "Filters": [{"Name": "engine", "Values": ["postgres"]}],
            "CloudwatchLogsExportConfiguration": {"EnableLogTypes": ["postgresql"]},
        })
    );
}

#[test]
fn an_empty_query_list_is_its_bare_name() {
    assert_eq!(params(Dialect::Query, "VpcSecurityGroupIds="), json!({"VpcSecurityGroupIds": []}));
}

#[test]
fn ec2_lists_have_the_name_of_one_item() {
    let body = "Filter.1.Name=tag%3AName&Filter.1.Value.1=a&Filter.1.Value.2=b&VpcId.1=vpc-1";
    assert_eq!(
        params(Dialect::Ec2, body),
        json!({"Filters": [{"Name": "tag:Name", "Values": ["a", "b"]}], "VpcIds": ["vpc-1"]})
    );
}

#[test]
fn more_than_nine_items_keep_their_order() {
    let body: Vec<String> =
        (1..=12).map(|n| format!("SubnetIds.SubnetIdentifier.{n}=s{n}")).collect();
    let ids = params(Dialect::Query, &body.join("&"))["SubnetIds"].clone();
    assert_eq!((&ids[1], &ids[9], &ids[11]), (&json!("s2"), &json!("s10"), &json!("s12")));
}

#[test]
fn numbers_and_truth_values_are_typed_and_checked() {
    let typed = params(Dialect::Query, "AllocatedStorage=20&MultiAZ=true&EngineVersion=15");
    assert_eq!(typed, json!({"AllocatedStorage": 20, "MultiAZ": true, "EngineVersion": "15"}));
    let code = |body: &str| read(Dialect::Query, body.as_bytes()).unwrap_err().code;
    assert_eq!(code("Action=X&AllocatedStorage=twenty"), "MalformedInput");
    assert_eq!(code("AllocatedStorage=20"), "MissingAction");
    assert_eq!(code("Action=X&a.1=x&a=y"), "MalformedQueryString");
    assert_eq!(code(&format!("Action=X&{}=y", "a.".repeat(40))), "MalformedQueryString");
}

#[test]
fn answers_are_wrapped_as_each_protocol_does() {
    let value = json!({"TagList": [{"Key": "a<b", "Value": "&"}], "Gone": null});
    assert_eq!(
        answer("rds", "ListTagsForResource", "id", &value),
        "<ListTagsForResourceResponse xmlns=\"http://rds.amazonaws.com/doc/2014-10-31/\">\
         <ListTagsForResourceResult><TagList><Tag><Key>a&lt;b</Key><Value>&amp;</Value></Tag></TagList>\
         </ListTagsForResourceResult><ResponseMetadata><RequestId>id</RequestId></ResponseMetadata>\
         </ListTagsForResourceResponse>"
    );
    let value = json!({"Vpcs": [{"VpcId": "vpc-1", "IsDefault": false, "Tags": []}]});
    assert_eq!(
        answer("ec2", "DescribeVpcs", "id", &value),
        "<DescribeVpcsResponse xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\">\
         <requestId>id</requestId><vpcSet><item><isDefault>false</isDefault><tagSet></tagSet>\
         <vpcId>vpc-1</vpcId></item></vpcSet></DescribeVpcsResponse>"
    );
}

#[test]
fn errors_say_whose_fault_they_are() {
    let xml = error("rds", "id", &Refusal::new("InternalFailure", "x"));
    assert!(xml.contains("<Type>Receiver</Type><Code>InternalFailure</Code>"), "{xml}");
    let xml = error("ec2", "id", &Refusal::new("RequestLimitExceeded", "x"));
    assert!(xml.starts_with("<Response><Errors><Error><Code>RequestLimitExceeded</Code>"), "{xml}");
}
