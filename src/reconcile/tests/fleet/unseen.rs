//! Drift of objects that are not looked at any more: what was reverted counts, and what is frozen stays so.

use super::*;

#[tokio::test]
async fn what_was_reverted_counts_also_when_its_object_was_not_looked_at_since() {
    let mut fleet = Fleet::new(12, 0).await;
    fleet.console(0..5, "BackupRetentionPeriod", 1);
    fleet.sweep().await;
    let mut environments = BTreeMap::new();
    for _ in 0..2 {
        assert_eq!(fleet.frozen(), None);
        fleet.triggers = None;
        let engine = Arc::get_mut(&mut fleet.scene.engine).unwrap();
        std::mem::swap(&mut engine.environments, &mut environments);
        fleet.start().await;
        fleet.commit().await;
        fleet.sweep().await;
    }
    let before = fleet.calls();
    fleet.console(5..7, "BackupRetentionPeriod", 1);
    fleet.sweep().await;
    assert_eq!((fleet.changes_since(before).len(), fleet.frozen().unwrap().1), (0, 2));
}

#[tokio::test]
async fn drift_stays_frozen_while_its_object_is_not_looked_at() {
    let mut fleet = Fleet::new(12, 0).await;
    fleet.console(0..12, "BackupRetentionPeriod", 1);
    fleet.sweep().await;
    let shown = fleet.frozen().unwrap();
    let mut environments = BTreeMap::new();
    for _ in 0..2 {
        fleet.triggers = None;
        let engine = Arc::get_mut(&mut fleet.scene.engine).unwrap();
        std::mem::swap(&mut engine.environments, &mut environments);
        fleet.start().await;
        fleet.commit().await;
        fleet.sweep().await;
        fleet.scene.wait(SignedDuration::from_hours(2));
        assert_eq!(fleet.frozen().unwrap(), shown);
    }
}
