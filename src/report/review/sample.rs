//! Reviews that the tests of every form render.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::model::review::{
    Edit, Effect, FieldCause, FieldReview, Look, ObjectReview, Told, Trouble, When,
};
use crate::model::trail::Changed;
use crate::model::{
    AccountId, Action, Disruption, Holds, Key, KindName, Notice, Refusal, Region, ResourceId,
    Review, Revision, Scope, Wait,
};
use crate::report::text::sample;

/// Returns the review of a merge that touches one object.
pub(crate) fn review(effects: Vec<Effect>) -> Review {
    Review {
        onto: "main".to_owned(),
        base: Revision::new("0".repeat(40)),
        head: Revision::new("1a2b3c4d".repeat(5)),
        look: Look::Live,
        trouble: None,
        problems: Vec::new(),
        frozen: None,
        objects: vec![object("team-payments-prod", effects)],
    }
}

/// Returns an object that the merge changes.
pub(crate) fn object(name: &str, effects: Vec<Effect>) -> ObjectReview {
    ObjectReview {
        key: Key::workspace(name),
        edit: Edit::Changed,
        environment: "production".to_owned(),
        path: "teams/payments.yaml".into(),
        holds: Holds::default(),
        obstacle: None,
        effects,
    }
}

/// Returns what happens to a database.
pub(crate) fn effect(action: Action, when: When) -> Effect {
    let scope = Scope { account: AccountId::new("111122223333"), region: Region::new("eu-west-1") };
    Effect {
        resource: ResourceId { kind: KindName::new("db_instance"), scope, name: "payments".into() },
        section: "database".to_owned(),
        action,
        proposed: true,
        when,
        fields: Vec::new(),
        waits: Vec::new(),
        refusals: Vec::new(),
        notices: Vec::new(),
    }
}

/// Returns a field that the merge changes in place.
pub(crate) fn field(name: &str, before: Value, after: Value) -> FieldReview {
    FieldReview {
        field: name.to_owned(),
        actual: Some(before.clone()),
        before: Some(before),
        after: Some(after),
        cause: FieldCause::Changed,
        disruption: Disruption::None,
        security: false,
        when: When::Now,
        changed_by: None,
    }
}

fn window() -> When {
    When::Window(Some("Sun 05:00 UTC".to_owned()))
}

/// Returns a merge of which every part says `text` wherever a manifest or AWS may say something.
pub(crate) fn everywhere(text: &str) -> Review {
    let told = |proposed| Told { what: refusal(text), proposed };
    let fields = vec![
        field(text, json!(text), json!([text, text])),
        field(text, json!(text), json!(format!("{text}x"))),
        FieldReview {
            cause: FieldCause::Overtaken,
            changed_by: Some(Changed {
                by: text.to_owned(),
                at: Timestamp::UNIX_EPOCH,
                event: text.to_owned(),
            }),
            ..field(text, json!({text: text}), json!(text))
        },
        FieldReview {
            cause: FieldCause::Drifted,
            security: true,
            ..field(text, json!(text), json!(1))
        },
    ];
    let waits = vec![Told {
        what: Wait { field: text.to_owned(), code: text.to_owned(), reason: text.to_owned() },
        proposed: true,
    }];
    let notices = vec![Told {
        what: Notice { field: text.to_owned(), code: text.to_owned(), message: text.to_owned() },
        proposed: false,
    }];
    let when = When::Settled { code: text.to_owned(), on: text.to_owned() };
    let named = |mut effect: Effect| {
        effect.resource.name = text.into();
        effect.section = text.to_owned();
        effect
    };
    let effects = vec![
        named(Effect {
            fields,
            waits,
            refusals: vec![told(true), told(false)],
            notices: notices.clone(),
            ..effect(Action::Update, when.clone())
        }),
        named(Effect { notices, ..effect(Action::Delete, When::Grace) }),
        named(effect(Action::Create, When::Unknown(text.to_owned()))),
        named(effect(Action::Retain, when)),
    ];
    let mut problems = sample::problems();
    problems[0].message = text.to_owned();
    problems[0].source_line = text.to_owned();
    problems[0].hint = Some(text.to_owned());
    problems[0].position.path = text.into();
    let lost = ObjectReview { obstacle: Some(text.to_owned()), ..object(text, Vec::new()) };
    let own =
        ObjectReview { environment: text.to_owned(), path: text.into(), ..object(text, effects) };
    Review { onto: text.to_owned(), problems, objects: vec![own, lost], ..review(Vec::new()) }
}

/// Returns a merge that cannot be made, because of a file of this name.
pub(crate) fn conflict(text: &str) -> Review {
    Review { trouble: Some(Trouble::Conflicts(vec![text.into()])), ..review(Vec::new()) }
}

/// Returns a merge that restarts a database and has it lose its protection.
pub(crate) fn careful() -> Review {
    let class = FieldReview {
        disruption: Disruption::Reboot,
        when: window(),
        ..field("sizeClass", json!("db.r6g.large"), json!("db.r6g.xlarge"))
    };
    let protection =
        FieldReview { security: true, ..field("deletionProtection", json!(true), json!(false)) };
    let drift = FieldReview {
        cause: FieldCause::Drifted,
        actual: Some(json!(1)),
        ..field("backups.retentionDays", json!(14), json!(14))
    };
    let fields = vec![class, protection, drift];
    review(vec![Effect { fields, ..effect(Action::Update, When::Now) }])
}

/// Returns a refusal that says a text everywhere.
pub(crate) fn refusal(text: &str) -> Refusal {
    Refusal {
        field: text.to_owned(),
        code: text.to_owned(),
        message: text.to_owned(),
        help: text.to_owned(),
    }
}
