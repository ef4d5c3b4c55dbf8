//! What Git named again meanwhile has a whole grace period before it, whoever saw that.

use super::*;

#[tokio::test]
async fn a_file_that_was_back_begins_a_new_grace_period_though_no_pass_saw_it() {
    let text = workspace("a", "delete", false);
    let mut fleet = Fleet::new(std::slice::from_ref(&text)).await;
    fleet.write(&[("0.yaml", "")]).await;
    fleet.run(GRACE - SignedDuration::from_mins(10)).await;
    fleet.write(&[("0.yaml", &text)]).await;
    fleet.write(&[("0.yaml", "")]).await;
    fleet.run(GRACE - SignedDuration::from_mins(1)).await;
    assert_eq!(fleet.deletes(), [""; 0]);
    fleet.run(SignedDuration::from_mins(30)).await;
    assert_eq!(fleet.deletes(), ["DeleteDBInstance", "DeleteDBParameterGroup"]);
}

#[tokio::test]
async fn a_section_that_was_back_begins_a_new_grace_period_though_no_pass_saw_it() {
    let text = workspace("a", "delete", false);
    let without = without_database(&text);
    let mut fleet = Fleet::new(std::slice::from_ref(&text)).await;
    fleet.write(&[("0.yaml", &without)]).await;
    fleet.run(GRACE - SignedDuration::from_mins(10)).await;
    for last in [without.as_str(), ""] {
        fleet.write(&[("0.yaml", &text)]).await;
        fleet.write(&[("0.yaml", last)]).await;
        fleet.run(GRACE - SignedDuration::from_mins(1)).await;
        assert_eq!(fleet.deletes(), [""; 0]);
    }
    fleet.run(SignedDuration::from_mins(30)).await;
    assert_eq!(fleet.deletes(), ["DeleteDBInstance", "DeleteDBParameterGroup"]);
}

#[tokio::test]
async fn an_edit_of_something_else_begins_no_new_grace_period() {
    let text = workspace("a", "delete", false);
    let mut fleet = Fleet::new(std::slice::from_ref(&text)).await;
    fleet.write(&[("0.yaml", &without_database(&text))]).await;
    for interval in [310, 320, 330] {
        fleet.run(GRACE / 4).await;
        let policy = format!("reconcilePolicy: {{resyncIntervalSeconds: {interval}, ");
        let edited = without_database(&text).replace("reconcilePolicy: {", &policy);
        fleet.write(&[("0.yaml", &edited)]).await;
    }
    fleet.run(SignedDuration::from_mins(45)).await;
    assert_eq!(fleet.deletes(), ["DeleteDBInstance", "DeleteDBParameterGroup"]);
}

#[tokio::test]
async fn a_file_that_was_back_begins_a_new_grace_period_though_the_agent_died_before_its_pass() {
    let text = workspace("a", "delete", false);
    let mut fleet = Fleet::new(std::slice::from_ref(&text)).await;
    fleet.write(&[("0.yaml", "")]).await;
    fleet.run(GRACE - SignedDuration::from_mins(10)).await;
    fleet.files.insert("0.yaml".to_owned(), text);
    fleet.restart().await;
    fleet.files.remove("0.yaml");
    fleet.restart().await;
    fleet.run(GRACE - SignedDuration::from_mins(1)).await;
    assert_eq!(fleet.deletes(), [""; 0]);
    fleet.run(SignedDuration::from_mins(30)).await;
    assert_eq!(fleet.deletes(), ["DeleteDBInstance", "DeleteDBParameterGroup"]);
}
