//! What is still used, by whomever, is not deleted, and its deletion is not even tried.

use super::*;

fn subnet_groups(fleet: &Fleet) -> BTreeSet<String> {
    fleet.names("DescribeDBSubnetGroups", "DBSubnetGroups", "DBSubnetGroupName")
}

/// Deletes a database behind the agent's back, protected or not.
async fn delete_in_the_console(fleet: &mut Fleet, name: &str) {
    let about = |operation| Call::new("rds", operation).with("DBInstanceIdentifier", name);
    fleet.ask(about("ModifyDBInstance").with("DeletionProtection", false));
    fleet.ask(about("DeleteDBInstance").with("SkipFinalSnapshot", true));
    fleet.run(SignedDuration::from_mins(30)).await;
}

#[tokio::test]
async fn the_group_of_a_removed_network_waits_for_a_database_that_was_left_in_it() {
    let mut fleet = Fleet::new(&[workspace("a", "retain", true), network()]).await;
    fleet.write(&[("0.yaml", "")]).await;
    fleet.run(SignedDuration::from_hours(1)).await;
    assert_eq!(fleet.databases()["a"], "retained:levelset/Workspace/a");
    assert_eq!(fleet.status("a").await, None);
    fleet.write(&[("1.yaml", "")]).await;
    fleet.run(SignedDuration::from_hours(6)).await;
    assert_eq!((fleet.deletes(), subnet_groups(&fleet).len()), (Vec::new(), 1));
    let key = Key::new(ObjectKind::Network, "shared");
    let record = fleet.store.get(&key).await.unwrap().unwrap();
    assert_eq!(record.memory.failures, 0);
    let ready = &record.status.condition(Condition::READY).unwrap().message;
    assert!(ready.contains("db_instance/a uses it"), "{ready}");
    delete_in_the_console(&mut fleet, "a").await;
    assert_eq!(fleet.deletes(), ["DeleteDBSubnetGroup"]);
    assert_eq!(fleet.store.get(&key).await.unwrap(), None);
}

#[tokio::test]
async fn a_group_waits_for_a_database_that_nobody_ever_declared() {
    let mut fleet = Fleet::new(&[network()]).await;
    let stranger = Call::new("rds", "CreateDBInstance")
        .with("DBInstanceIdentifier", "stranger")
        .with("DBSubnetGroupName", "levelset-shared")
        .with("Engine", "postgres")
        .with("DBInstanceClass", "db.t4g.micro")
        .with("AllocatedStorage", 20)
        .with("MasterUsername", "app")
        .with("ManageMasterUserPassword", true);
    fleet.ask(stranger);
    fleet.write(&[("0.yaml", "")]).await;
    fleet.run(SignedDuration::from_hours(6)).await;
    assert_eq!(fleet.deletes(), [""; 0]);
    delete_in_the_console(&mut fleet, "stranger").await;
    assert_eq!(fleet.deletes(), ["DeleteDBSubnetGroup"]);
}

#[tokio::test]
async fn what_uses_a_group_is_not_known_while_the_databases_cannot_be_listed() {
    let mut fleet = Fleet::new(&[network()]).await;
    fleet.sandbox.inject(Rule::new(Effect::Deny).operation("DescribeDBInstances").by("agent"));
    fleet.write(&[("0.yaml", "")]).await;
    fleet.run(SignedDuration::from_hours(3)).await;
    assert_eq!(fleet.deletes(), [""; 0]);
    let key = Key::new(ObjectKind::Network, "shared");
    let record = fleet.store.get(&key).await.unwrap().unwrap();
    let ready = &record.status.condition(Condition::READY).unwrap().message;
    assert!(ready.contains("what uses it: the read was denied"), "{ready}");
}

#[tokio::test]
async fn a_role_that_a_database_of_another_object_watches_with_stays() {
    let roles = "apiVersion: platform.kby.io/v1alpha1\nkind: Workspace\nmetadata: {name: watch}\nspec:\n  \
        environment: production\n  resources:\n    iam: {roles: {rds: {trust: {services: \
        [monitoring.rds.amazonaws.com]}}}}\n  reconcilePolicy: {deletion: delete}\n";
    let watched = workspace("a", "retain", true).replace(
        "      deletionProtection",
        "      monitoring: {intervalSeconds: 60, roleArn: \
         \"arn:aws:iam::123456789012:role/watch-rds\"}\n      deletionProtection",
    );
    let mut fleet = Fleet::new(&[roles.to_owned()]).await;
    fleet.write(&[("1.yaml", &watched)]).await;
    fleet.run(SignedDuration::from_hours(1)).await;
    let arn = "arn:aws:iam::123456789012:role/watch-rds";
    assert_eq!(fleet.sandbox.inspect(&scope())[0]["MonitoringRoleArn"], arn);
    fleet.write(&[("0.yaml", "")]).await;
    fleet.run(SignedDuration::from_hours(6)).await;
    assert_eq!(fleet.deletes(), [""; 0]);
    delete_in_the_console(&mut fleet, "a").await;
    assert!(!fleet.deletes().contains(&"DeleteRole".to_owned()), "it is made anew, and uses it");
    fleet.write(&[("1.yaml", "")]).await;
    fleet.run(SignedDuration::from_hours(1)).await;
    delete_in_the_console(&mut fleet, "a").await;
    assert_eq!(fleet.deletes().last().unwrap(), "DeleteRole");
}
