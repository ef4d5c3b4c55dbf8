//! The spellings of policy documents that AWS and people use, and what is more than a spelling.

use serde_json::json;

use super::*;

fn compare(want: &Value, have: &Value) -> Option<String> {
    compared(want, Some(have), "aws").unwrap()
}

fn trust(principal: Value) -> Value {
    json!({"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole"}
    ]})
}

fn allow(action: Value, resource: Value, condition: Value) -> Value {
    json!({"Version": "2012-10-17", "Statement": {
        "Effect": "Allow", "Action": action, "Resource": resource, "Condition": condition
    }})
}

#[test]
fn an_encoded_answer_is_the_document_that_was_sent() {
    let want = trust(json!({"Service": "ecs-tasks.amazonaws.com"}));
    let pretty = serde_json::to_string_pretty(&want).unwrap();
    let encoded =
        percent_encoding::utf8_percent_encode(&pretty, percent_encoding::NON_ALPHANUMERIC);
    assert_eq!(compare(&want, &encoded.to_string().into()), None);
    assert_eq!(compare(&want, &pretty.into()), None);
}

#[test]
fn a_plus_in_an_encoded_answer_is_a_plus() {
    let want = allow(json!("s3:GetObject"), json!("arn:aws:s3:::a+b"), json!({}));
    let encoded = want.to_string().replace('"', "%22").replace('{', "%7B");
    assert_eq!(compare(&want, &encoded.into()), None);
}

fn assert_same(cases: impl IntoIterator<Item = (Value, Value)>) {
    for (want, have) in cases {
        assert_eq!(compare(&want, &have), None, "{want}\n{have}");
        assert_eq!(compare(&have, &want), None, "{have}\n{want}");
    }
}

#[test]
fn one_principal_in_two_spellings_is_no_difference() {
    let services = |names: &[&str]| trust(json!({ "Service": names }));
    assert_same([
        (
            trust(json!({"AWS": "123456789012"})),
            trust(json!({"AWS": "arn:aws:iam::123456789012:root"})),
        ),
        (
            trust(json!({"AWS": "000000000012"})),
            trust(json!({"AWS": ["arn:aws:iam::000000000012:root"]})),
        ),
        (trust(json!("*")), trust(json!({"AWS": "*"}))),
        (services(&["a.amazonaws.com", "b.a"]), services(&["b.a", "a.amazonaws.com", "b.a"])),
    ]);
}

#[test]
fn one_statement_in_two_spellings_is_no_difference() {
    let on_all = |action: Value| allow(action, json!("*"), json!({}));
    assert_same([
        (on_all(json!("S3:getobject")), on_all(json!(["s3:GetObject"]))),
        (allow(json!("*:*"), json!("**"), json!({})), on_all(json!("*"))),
        (json!({"Statement": []}), json!({"Version": "2008-10-17", "Id": "x", "Statement": []})),
    ]);
}

#[test]
fn one_condition_in_two_spellings_is_no_difference() {
    let when = |condition: Value| allow(json!("s3:*"), json!("*"), condition);
    let spellings = [
        [
            json!({"Bool": {"aws:SecureTransport": true}}),
            json!({"bool": {"AWS:securetransport": ["True"]}}),
        ],
        [
            json!({"NumericLessThanIfExists": {"s3:max-keys": 10}}),
            json!({"NumericLessThanIfExists": {"s3:max-keys": "10.0"}}),
        ],
        [
            json!({"IpAddress": {"aws:SourceIp": "10.0.0.1"}}),
            json!({"IpAddress": {"aws:SourceIp": ["10.0.0.1/32"]}}),
        ],
        [
            json!({"ForAnyValue:ArnEquals": {"aws:SourceArn": "arn:a"}}),
            json!({"ForAnyValue:ArnLike": {"aws:SourceArn": "arn:a"}}),
        ],
    ];
    assert_same(spellings.map(|[one, other]| (when(one), when(other))));
}

#[test]
fn another_meaning_is_a_difference_that_says_what_it_is() {
    let role = "arn:aws:iam::123456789012:role/ci";
    let account = trust(json!({"AWS": "123456789012"}));
    let other_version = json!({"Version": "2008-10-17", "Statement": account["Statement"]});
    let cases = [
        // The principal was deleted: AWS shows its id and lets nobody in.
        (
            trust(json!({"AWS": role})),
            trust(json!({"AWS": "AROAEXAMPLEID1234567"})),
            "only AWS has Principal AWS AROAEXAMPLEID1234567; only Git has Principal AWS \
          arn:aws:iam::123456789012:role/ci",
        ),
        (
            account.clone(),
            trust(json!("*")),
            "only AWS has Principal AWS *; only Git has Principal AWS arn:aws:iam::123456789012:root",
        ),
        (
            account.clone(),
            trust(json!({"AWS": "arn:aws-cn:iam::123456789012:root"})),
            "only AWS has Principal AWS arn:aws-cn:iam::123456789012:root; only Git has Principal AWS \
          arn:aws:iam::123456789012:root",
        ),
        (
            trust(json!({"Federated": "*"})),
            trust(json!("*")),
            "only AWS has Principal AWS *; only Git has Principal Federated *",
        ),
        (account, other_version, "Version is 2008-10-17, declared is 2012-10-17"),
        (
            allow(json!("s3:GetObject"), json!("*"), json!({})),
            allow(json!(["s3:GetObject", "s3:PutObject"]), json!("*"), json!({})),
            "only AWS has Action s3:putobject",
        ),
        (
            allow(json!("s3:*"), json!("arn:aws:s3:::A"), json!({})),
            allow(json!("s3:*"), json!("arn:aws:s3:::a"), json!({})),
            "only AWS has Resource arn:aws:s3:::a; only Git has Resource arn:aws:s3:::A",
        ),
        (
            allow(json!("s3:*"), json!("*"), json!({"StringEquals": {"aws:a": "x"}})),
            allow(json!("s3:*"), json!("*"), json!({"StringLike": {"aws:a": "x"}})),
            "only AWS has Condition stringlike aws:a x; only Git has Condition stringequals aws:a x",
        ),
    ];
    for (want, have, why) in cases {
        assert_eq!(compare(&want, &have).as_deref(), Some(why), "{want}\n{have}");
    }
}

#[test]
fn a_sid_counts_where_it_is_declared() {
    let with = |sid: Option<&str>| json!({"Statement": [{"Sid": sid, "Effect": "Allow", "Action": "a:b", "Resource": "*"}]});
    assert_eq!(compare(&with(None), &with(Some("Visual0"))), None);
    assert_eq!(compare(&with(Some("A")), &with(Some("A"))), None);
    let why = compare(&with(Some("A")), &with(Some("B")));
    assert_eq!(why.as_deref(), Some("a statement has another Sid"));
}

#[test]
fn what_cannot_be_read_is_neither_the_same_nor_a_difference() {
    let want = trust(json!("*"));
    for have in [json!("no document"), json!("%FF%FE"), json!({"Statement": ["a"]}), json!([1])] {
        assert!(compared(&want, Some(&have), "aws").is_err(), "{have}");
    }
}
