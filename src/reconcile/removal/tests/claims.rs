//! Who else asks for what leaves is known however Git changes, and is not worked out for each object.

use super::*;
use crate::reconcile::claims::Index;

fn index(fleet: &Fleet) -> Arc<Index> {
    fleet.engine.claims.index(&fleet.engine, &fleet.engine.desired.snapshot())
}

#[tokio::test]
async fn the_others_are_expanded_once_however_many_objects_leave() {
    let objects = ["a", "b", "c"].map(|name| workspace(name, "delete", false));
    let mut fleet = Fleet::new(&objects).await;
    let before = index(&fleet);
    fleet.write(&[("0.yaml", ""), ("1.yaml", "")]).await;
    fleet.run(SignedDuration::from_hours(3)).await;
    assert_eq!((fleet.status("a").await, fleet.status("b").await), (None, None));
    assert!(Arc::ptr_eq(&before, &index(&fleet)));
    fleet.write(&[("2.yaml", &workspace("c", "retain", false))]).await;
    assert!(!Arc::ptr_eq(&before, &index(&fleet)));
}

#[tokio::test]
async fn what_is_taken_over_during_the_grace_period_is_handed_on() {
    let mut fleet = Fleet::new(&[workspace("a", "delete", false)]).await;
    fleet.write(&[("0.yaml", "")]).await;
    fleet.run(SignedDuration::from_mins(30)).await;
    let taker = workspace("b", "retain", false)
        .replace("engine: postgres", "identifier: a\n      adopt: true\n      engine: postgres");
    fleet.write(&[("b.yaml", &taker)]).await;
    fleet.run(SignedDuration::from_hours(3)).await;
    assert_eq!(fleet.databases(), [("a".to_owned(), "levelset/Workspace/b".to_owned())].into());
}
