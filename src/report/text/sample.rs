//! Values that the tests of every report render.

use serde_json::{Value, json};

use crate::model::delta::{Timing, Wait};
use crate::model::{
    AccountId, Action, Apply, Call, Delta, Disruption, Holds, Key, KindName, Notice, Origin, Plan,
    Position, Problem, Refusal, Region, ResourceId, Revision, Scope, Severity, Step, Verdict,
};

/// Returns a plan in which one resource is as declared, one is made, one waits for its window.
pub(crate) fn plan() -> Plan {
    Plan {
        key: Key::workspace("team-payments-prod"),
        revision: Some(Revision::new("1a2b3c4d5e6f")),
        holds: Holds::default(),
        steps: vec![step("db_subnet_group", Action::Nothing), created(), deferred()],
        traced: Vec::new(),
    }
}

/// Returns an empty step for a resource of a kind.
pub(crate) fn step(kind: &'static str, action: Action) -> Step {
    let scope = Scope { account: AccountId::new("111122223333"), region: Region::new("eu-west-1") };
    Step {
        resource: ResourceId {
            kind: KindName::new(kind),
            scope,
            name: "team-payments-prod".into(),
        },
        section: "database".to_owned(),
        action,
        verdict: Verdict::Go,
        deltas: Vec::new(),
        calls: Vec::new(),
        disruption: Disruption::None,
        effective: None,
        waits: Vec::new(),
        refusals: Vec::new(),
        notices: Vec::new(),
    }
}

fn created() -> Step {
    let call = Call::new("rds", "CreateDBParameterGroup")
        .with("DBParameterGroupFamily", "postgres15")
        .with("DBParameterGroupName", "team-payments-prod");
    let value = |field: &str, to, why: &str| Delta {
        field: field.to_owned(),
        from: Value::Null,
        to,
        why: why.to_owned(),
        apply: Apply::AtOnce,
        disruption: Disruption::None,
        ..class()
    };
    let deltas = vec![
        value("family", json!("postgres15"), "declared"),
        value("parameters", json!({"rds.force_ssl": "1"}), "default at creation"),
    ];
    Step { calls: vec![call], deltas, ..step("db_parameter_group", Action::Create) }
}

fn deferred() -> Step {
    let call = Call::new("rds", "ModifyDBInstance")
        .with("DBInstanceClass", "db.r6g.xlarge")
        .with("DBInstanceIdentifier", "team-payments-prod");
    Step {
        verdict: Verdict::Deferred {
            until: "2026-12-01T03:00:00Z".parse().unwrap(),
            why: "a reboot waits for the maintenance window".to_owned(),
        },
        deltas: vec![class(), tags()],
        calls: vec![call],
        disruption: Disruption::Reboot,
        waits: vec![Wait {
            field: "storage.iops".to_owned(),
            code: "StorageOptimization".to_owned(),
            reason: "the volume is still being optimised".to_owned(),
        }],
        refusals: vec![Refusal {
            field: "storage.sizeGiB".to_owned(),
            code: "StorageShrink".to_owned(),
            message: "200 GiB cannot become 100 GiB".to_owned(),
            help: "declare at least 200".to_owned(),
        }],
        notices: vec![Notice {
            field: String::new(),
            code: "RebootRequired".to_owned(),
            message: "a parameter takes effect at the next restart".to_owned(),
        }],
        ..step("db_instance", Action::Update)
    }
}

fn class() -> Delta {
    Delta {
        field: "sizeClass".to_owned(),
        parameter: "DBInstanceClass".to_owned(),
        from: json!("db.r6g.large"),
        to: json!("db.r6g.xlarge"),
        why: "the declared class differs".to_owned(),
        disruption: Disruption::Reboot,
        security: false,
        apply: Apply::Queued,
        origin: Origin::Git,
        timing: Timing::Window,
    }
}

fn tags() -> Delta {
    Delta {
        field: "tags".to_owned(),
        parameter: "Tags".to_owned(),
        from: json!({"team": "billing", "tier": "gold"}),
        to: json!({"team": "payments", "tier": "gold"}),
        why: String::new(),
        disruption: Disruption::None,
        security: true,
        apply: Apply::AtOnce,
        origin: Origin::Drift,
        timing: Timing::Immediate,
    }
}

/// Returns an error and a notice.
pub(crate) fn problems() -> Vec<Problem> {
    let place = |line, column| Position { path: "teams/payments.yaml".into(), line, column };
    vec![
        Problem {
            position: place(9, 7),
            severity: Severity::Error,
            code: "UnknownField".to_owned(),
            message: "unknown field `sizeclass` in `database`".to_owned(),
            hint: Some("did you mean `sizeClass`?".to_owned()),
            source_line: "      sizeclass: db.r6g.large".to_owned(),
            length: 9,
        },
        Problem {
            position: place(20, 1),
            severity: Severity::Notice,
            code: "StatusIgnored".to_owned(),
            message: "`status` belongs to the agent and is ignored".to_owned(),
            hint: None,
            source_line: "status: {}".to_owned(),
            length: 6,
        },
    ]
}
