//! What a review says, and in which words.

use serde_json::json;

use super::sample::{careful, conflict, effect, field, object, refusal, review};
use super::*;
use crate::model::review::{Effect, FieldCause, FieldReview, Look, Told, When};
use crate::model::trail::Changed;
use crate::model::webhook::Host;
use crate::model::{Action, Disruption};
use crate::report::markdown::markdown;

fn told(review: &Review) -> String {
    markdown(&page(review), Host::GitHub, None)
}

fn updated(fields: Vec<FieldReview>) -> Review {
    review(vec![Effect { fields, ..effect(Action::Update, When::Now) }])
}

#[test]
fn the_whole_of_a_small_report() {
    let expected = "\
### ⚠️\u{a0}Look before you merge: 1 reboot, changes 1 protection

|  | Is it safe to merge? |
|:--|:--|
| ✅\u{a0}Manifests | Good; 1 object is touched |
| ✅\u{a0}Refused | Nothing |
| ✅\u{a0}Removed | Nothing |
| ⚠️\u{a0}Interrupted | **1 resource is interrupted**<br>`db_instance/payments`: reboot, in the window Sun 05:00 UTC |
| ⚠️\u{a0}Protection | **1 protection is changed**<br>`database.deletionProtection` of `db_instance/payments`: `true` → `false` |
| ℹ️\u{a0}Drift | **1 difference is there whether or not this is merged**<br>`database.backups.retentionDays` of `db_instance/payments` |
| 🕓\u{a0}When | **Some of it comes later**<br>in the window Sun 05:00 UTC |

<details open>
<summary>⚠️\u{a0}<b>Workspace/team-payments-prod</b> in production: changes 2 fields, 1 field differs already</summary>

<sub>declared in</sub> `teams/payments.yaml`

⚠️\u{a0}`db_instance/payments` in eu-west-1 is changed

| Field | Change | What happens |
|:--|:--|:--|
| `database.sizeClass` | `db.r6g.large` → `db.r6g.xlarge` | reboot, in the window Sun 05:00 UTC |
| `database.deletionProtection` | `true` → `false` | at once, a protection |
| `database.backups.retentionDays` | `1` → `14` | **drift**, put right at once |

- ℹ️\u{a0}What differs already is so whether or not this is merged.
- ℹ️\u{a0}To keep what AWS has: `levelset accept team-payments-prod database.backups.retentionDays`

</details>

`1a2b3c4d` <sub>into</sub> `main`<sub>: merged in memory and compared with AWS as it is; nothing was changed. Levelset</sub>

";
    assert_eq!(told(&careful()), expected);
}

#[test]
fn the_verdict_says_the_worst_first() {
    let change = || field("backups.retentionDays", json!(7), json!(14));
    let reboot = FieldReview { disruption: Disruption::Reboot, ..change() };
    let locked = FieldReview { disruption: Disruption::StorageLock, ..change() };
    let refused = vec![Told { what: refusal("no"), proposed: true }];
    for (effects, expected) in [
        (vec![], "Safe to merge: nothing changes in AWS"),
        (
            vec![Effect { fields: vec![change(), locked], ..effect(Action::Update, When::Now) }],
            "Safe to merge: changes 2 fields; nothing is interrupted",
        ),
        (
            vec![
                Effect { fields: vec![reboot], ..effect(Action::Update, When::Now) },
                effect(Action::Delete, When::Grace),
            ],
            "Look before you merge: deletes 1 resource, 1 reboot",
        ),
        (
            vec![Effect { refusals: refused, ..effect(Action::Delete, When::Refused) }],
            "Not ready to merge: 1 change is refused",
        ),
    ] {
        assert_eq!(verdict(&review(effects)), expected);
    }
    assert_eq!(verdict(&conflict("a.yaml")), "Not ready to merge: conflicts in 1 file");
}

#[test]
fn what_is_so_already_is_no_reason_against_a_merge() {
    let drift = FieldReview {
        cause: FieldCause::Drifted,
        security: true,
        disruption: Disruption::Reboot,
        ..field("publiclyAccessible", json!(false), json!(false))
    };
    let known = Told { what: refusal("no"), proposed: false };
    let effect = Effect {
        proposed: false,
        fields: vec![drift],
        refusals: vec![known],
        ..effect(Action::Update, When::Now)
    };
    assert_eq!(verdict(&review(vec![effect])), "Safe to merge: nothing changes in AWS");
}

#[test]
fn a_change_over_a_change_in_aws_is_told_three_ways() {
    let field = FieldReview {
        cause: FieldCause::Overtaken,
        actual: Some(json!(3)),
        ..field("backups.retentionDays", json!(7), json!(14))
    };
    let text = told(&updated(vec![field]));
    assert!(text.contains("| `7` on main, `3` in AWS → `14` |"), "{text}");
    assert!(
        text.starts_with("### ⚠️\u{a0}Look before you merge: 1 field was changed in AWS meanwhile")
    );
}

#[test]
fn whom_aws_refused_and_in_which_account_is_not_told() {
    let why = "the read was denied: User: arn:aws:sts::111122223333:assumed-role/x is not";
    let text = told(&review(vec![effect(Action::Nothing, When::Unknown(why.to_owned()))]));
    assert!(text.contains("the read was denied"), "{text}");
    assert!(!text.contains("111122223333") && !text.contains("arn"), "{text}");
}

#[test]
fn a_long_value_is_told_line_by_line() {
    let field = field("tags", json!({"team": "a", "tier": "x"}), json!({"team": "b", "tier": "x"}));
    let text = told(&updated(vec![field]));
    assert!(text.contains("```diff\n  {\n-   \"team\": \"a\",\n+   \"team\": \"b\",\n"), "{text}");
}

#[test]
fn a_number_in_quotes_is_told_from_a_number() {
    let text = told(&updated(vec![field("version", json!("15"), json!("15.4-rds.1"))]));
    assert!(text.contains("| `\"15\"` → `15.4-rds.1` |"), "{text}");
}

#[test]
fn many_objects_have_a_row_each_and_the_rest_is_counted() {
    let fields = vec![field("a", json!(1), json!(2))];
    let one = Effect { fields, ..effect(Action::Update, When::Now) };
    let objects = (0..40).map(|n| object(&format!("team-{n:02}"), vec![one.clone()])).collect();
    let text = told(&Review { objects, ..review(Vec::new()) });
    assert!(text.contains("| ✅\u{a0}`Workspace/team-14` | changes 1 field | at once |"), "{text}");
    assert!(text.contains("| <sub>and 25 more, below</sub> |"), "{text}");
    assert_eq!(text.matches("<details>").count(), 40);
}

#[test]
fn what_is_not_compared_is_not_called_safe() {
    let look = Look::Withheld("it comes from a fork".to_owned());
    let review = Review { look, ..review(Vec::new()) };
    assert_eq!(verdict(&review), "Look before you merge: not compared with AWS");
    assert!(
        told(&review)
            .contains("| ⚠️\u{a0}AWS | **It was not compared with AWS**: it comes from a fork |")
    );
}

#[test]
fn whoever_made_drift_is_named_by_neither_account_nor_role() {
    let by = |cause| FieldReview {
        cause,
        changed_by: Some(Changed {
            by: "arn:aws:sts::111122223333:assumed-role/Admin/alice".to_owned(),
            at: jiff::Timestamp::UNIX_EPOCH,
            event: "ModifyDBInstance".to_owned(),
        }),
        ..field("port", json!(1), json!(2))
    };
    let fields = vec![by(FieldCause::Drifted), by(FieldCause::Overtaken)];
    let text = told(&review(vec![Effect { fields, ..effect(Action::Update, When::Now) }]));
    assert!(text.contains("**drift** by alice, "), "{text}");
    assert!(text.contains("**replaces a change made in AWS** by alice, "), "{text}");
    assert!(!text.contains("111122223333") && !text.contains("Admin"), "{text}");
}
