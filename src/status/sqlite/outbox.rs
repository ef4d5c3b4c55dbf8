//! The statements about what is to stand at the Git host.

use jiff::Timestamp;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Row, SqlitePool, query};

use super::Sqlite;
use super::rows::{Result, signed, time, undecodable, unsigned};
use crate::model::Token;
use crate::model::outbox::{Outbox, OutboxError, OutboxFuture, Post, Wanted};
use crate::status::change::Change;
use crate::status::store::StoreFuture;

pub(super) async fn want(to: &mut SqliteConnection, wanted: &[Wanted]) -> Result<()> {
    // The same content again is the same wish.
    let statement = "INSERT INTO post (topic, wanted, since) VALUES (?1, ?2, ?3) \
        ON CONFLICT (topic) DO UPDATE SET wanted = excluded.wanted, since = excluded.since, \
        failures = 0, not_before = NULL, refused = NULL WHERE wanted != excluded.wanted";
    for wanted in wanted {
        query(statement)
            .bind(wanted.topic.to_string())
            .bind(&wanted.content)
            .bind(wanted.at.as_millisecond())
            .execute(&mut *to)
            .await?;
    }
    Ok(())
}

pub(super) async fn settle(to: &mut SqliteConnection, tried: &Post) -> Result<()> {
    query("UPDATE post SET sent = ?2, handle = ?3 WHERE topic = ?1")
        .bind(tried.wanted.topic.to_string())
        .bind(&tried.sent)
        .bind(&tried.handle)
        .execute(&mut *to)
        .await?;
    // What was wanted meanwhile has an outcome of its own.
    let outcome = "UPDATE post SET failures = ?3, not_before = ?4, refused = ?5 \
        WHERE topic = ?1 AND wanted = ?2";
    query(outcome)
        .bind(tried.wanted.topic.to_string())
        .bind(&tried.wanted.content)
        .bind(signed(tried.failures.into()))
        .bind(tried.not_before.map(Timestamp::as_millisecond))
        .bind(&tried.refused)
        .execute(to)
        .await?;
    Ok(())
}

pub(super) async fn forget(to: &mut SqliteConnection, before: Timestamp) -> Result<()> {
    // As `Post::is_over` tells: what is about an object stays until its content is empty.
    let statement = "DELETE FROM post WHERE since < ?1 AND (refused IS NOT NULL OR sent = wanted) \
        AND (wanted = '' OR topic LIKE 'status %' OR topic LIKE 'comment %')";
    query(statement).bind(before.as_millisecond()).execute(to).await?;
    Ok(())
}

async fn all(from: &SqlitePool) -> Result<Vec<Post>> {
    let statement =
        "SELECT failures, topic, wanted, since, sent, handle, not_before, refused FROM post";
    let rows = query(statement).fetch_all(from).await?;
    let mut posts = rows.iter().map(post).collect::<Result<Vec<Post>>>()?;
    posts.sort_by(|a, b| a.wanted.topic.cmp(&b.wanted.topic));
    Ok(posts)
}

fn post(row: &SqliteRow) -> Result<Post> {
    let topic: &str = row.try_get("topic")?;
    let topic = topic.parse().map_err(|source| undecodable("topic", source))?;
    let wanted = Wanted { topic, content: row.try_get("wanted")?, at: time(row, "since")? };
    let is_held = row.try_get::<Option<i64>, _>("not_before")?.is_some();
    Ok(Post {
        sent: row.try_get("sent")?,
        handle: row.try_get("handle")?,
        failures: u32::try_from(unsigned(row, 0)?).unwrap_or(u32::MAX),
        not_before: is_held.then(|| time(row, "not_before")).transpose()?,
        refused: row.try_get("refused")?,
        wanted,
    })
}

fn boxed<'a, T: 'a>(future: StoreFuture<'a, T>) -> OutboxFuture<'a, T> {
    Box::pin(async move { future.await.map_err(OutboxError::new) })
}

impl Outbox for Sqlite {
    fn posts(&self) -> OutboxFuture<'_, Vec<Post>> {
        let action = || "read what is to stand at the Git host".to_owned();
        boxed(self.read(action, all(&self.readers)))
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
