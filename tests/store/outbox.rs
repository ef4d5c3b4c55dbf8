//! What every outbox has to do, whatever it is made of.

use jiff::Timestamp;
use levelset::model::outbox::{Outbox, Post, Topic, Wanted};
use levelset::model::{Key, Revision, Shard};
use levelset::status::Store;

fn at(millisecond: i64) -> Timestamp {
    Timestamp::from_millisecond(1_795_910_400_000 + millisecond).unwrap()
}

fn status(context: &str, content: &str) -> Wanted {
    let topic =
        Topic::Status { revision: Revision::new("0".repeat(40)), context: context.to_owned() };
    Wanted { topic, content: content.to_owned(), at: at(1) }
}

fn comment(number: u64, content: &str) -> Wanted {
    let topic = Topic::Comment { pull_request: number };
    Wanted { topic, content: content.to_owned(), at: at(2) }
}

pub(super) async fn check<S: Store + Outbox>(store: &S) {
    wanting(store).await;
    settling(store).await;
    forgetting(store).await;
    lasting(store).await;
    fencing(store).await;
}

async fn wanting<S: Store + Outbox>(store: &S) {
    let token = store.grant(Shard(0)).await.unwrap();
    assert!(store.posts().await.unwrap().is_empty());
    let (sync, validate) = (status("a/sync", "1"), status("a/validate", "ä\n\"'"));
    let report = comment(7, "2");
    store.want(&[report.clone(), validate.clone(), sync.clone()], token).await.unwrap();
    let expected = [sync.clone(), validate, report].map(Post::new);
    assert_eq!(store.posts().await.unwrap(), expected);
    let later = Wanted { at: at(9), ..sync.clone() };
    store.want(&[later], token).await.unwrap();
    assert_eq!(store.posts().await.unwrap(), expected, "the same content again changes nothing");
}

async fn settling<S: Store + Outbox>(store: &S) {
    let token = store.grant(Shard(0)).await.unwrap();
    let first = store.posts().await.unwrap()[0].clone();
    let failed = Post { failures: 2, not_before: Some(at(500)), ..first.clone() };
    store.record(&failed, token).await.unwrap();
    assert_eq!(store.posts().await.unwrap()[0], failed);
    let sent = Post { sent: Some("1".to_owned()), handle: Some("h".to_owned()), ..first.clone() };
    store.record(&sent, token).await.unwrap();
    assert_eq!(store.posts().await.unwrap()[0], sent);
    assert!(sent.is_settled());
    let changed = status("a/sync", "3");
    store.want(std::slice::from_ref(&changed), token).await.unwrap();
    let refused = Post { refused: Some("no".to_owned()), ..sent.clone() };
    store.record(&refused, token).await.unwrap();
    let post = store.posts().await.unwrap()[0].clone();
    let expected = Post { wanted: changed, ..sent };
    assert_eq!(post, expected, "an outcome of what is no longer wanted holds nothing up");
}

async fn forgetting<S: Store + Outbox>(store: &S) {
    let token = store.grant(Shard(0)).await.unwrap();
    let report = store.posts().await.unwrap().pop().unwrap();
    store.record(&Post { refused: Some("no".to_owned()), ..report }, token).await.unwrap();
    store.forget(at(2), token).await.unwrap();
    assert_eq!(store.posts().await.unwrap().len(), 3, "nothing that is settled is that old");
    store.forget(at(100), token).await.unwrap();
    let left = store.posts().await.unwrap();
    assert_eq!(left.len(), 2);
    assert!(left.iter().all(|post| !post.is_settled()), "what is owed is never forgotten");
    store.record(&Post::new(comment(7, "2")), token).await.unwrap();
    assert_eq!(store.posts().await.unwrap(), left, "what is forgotten stays so");
}

async fn lasting<S: Store + Outbox>(store: &S) {
    let token = store.grant(Shard(0)).await.unwrap();
    let before = store.posts().await.unwrap();
    let topic = Topic::Hook { hook: "ops".to_owned(), object: Key::workspace("a") };
    for content in ["drifted", ""] {
        let told = Wanted { topic: topic.clone(), content: content.to_owned(), at: at(3) };
        store.want(std::slice::from_ref(&told), token).await.unwrap();
        let sent = Post { sent: Some(content.to_owned()), ..Post::new(told) };
        store.record(&sent, token).await.unwrap();
        store.forget(at(9999), token).await.unwrap();
        let is_kept = store.posts().await.unwrap().contains(&sent);
        assert_eq!(is_kept, !content.is_empty(), "what stands of an object is told no second time");
    }
    assert_eq!(store.posts().await.unwrap(), before);
}

async fn fencing<S: Store + Outbox>(store: &S) {
    let old = store.grant(Shard(0)).await.unwrap();
    store.grant(Shard(0)).await.unwrap();
    let before = store.posts().await.unwrap();
    let error = store.want(&[comment(8, "x")], old).await.unwrap_err().to_string();
    assert!(error.contains("another agent took over"), "{error}");
    assert!(store.record(&Post::new(comment(7, "y")), old).await.is_err());
    assert!(store.forget(at(9999), old).await.is_err());
    assert_eq!(store.posts().await.unwrap(), before);
}
