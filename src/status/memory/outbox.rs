//! What is to stand at the Git host, without a disk.

use jiff::Timestamp;

use super::{InMemory, State, truncate};
use crate::model::Token;
use crate::model::outbox::{Outbox, OutboxError, OutboxFuture, Post, Wanted};
use crate::status::change::Change;
use crate::status::store::StoreFuture;

impl State {
    pub(super) fn want(&mut self, wanted: &[Wanted]) {
        for wanted in wanted {
            let kept = Wanted { at: truncate(wanted.at), ..wanted.clone() };
            let post = self.posts.entry(wanted.topic.clone());
            post.and_modify(|post| post.want(kept.clone())).or_insert_with(|| Post::new(kept));
        }
    }

    pub(super) fn posted(&mut self, tried: &Post) {
        if let Some(post) = self.posts.get_mut(&tried.wanted.topic) {
            post.settle(&Post { not_before: tried.not_before.map(truncate), ..tried.clone() });
        }
    }

    pub(super) fn forget_posts(&mut self, before: Timestamp) {
        self.posts.retain(|_, post| !post.is_over(truncate(before)));
    }
}

fn boxed<'a, T: 'a>(future: StoreFuture<'a, T>) -> OutboxFuture<'a, T> {
    Box::pin(async move { future.await.map_err(OutboxError::new) })
}

impl Outbox for InMemory {
    fn posts(&self) -> OutboxFuture<'_, Vec<Post>> {
        boxed(self.read(|state| state.posts.values().cloned().collect()))
    }

    fn want<'a>(&'a self, wanted: &'a [Wanted], token: Token) -> OutboxFuture<'a, ()> {
        boxed(self.write(Change::Want(wanted), token))
    }

    fn record<'a>(&'a self, tried: &'a Post, token: Token) -> OutboxFuture<'a, ()> {
        boxed(self.write(Change::Posted(tried), token))
    }

    fn forget(&self, before: Timestamp, token: Token) -> OutboxFuture<'_, ()> {
        boxed(self.write(Change::ForgetPosts(before), token))
    }
}
