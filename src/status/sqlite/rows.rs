//! The statements: rows to values and back.

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Connection, Row, SqlitePool, query};

use super::{asked, looks, outbox, spending};
use crate::model::policy::DeletionPolicy;
use crate::model::{AccountId, Generation, Key, KindName, Region, ResourceId, Scope, Shard, Token};
use crate::status::change::Change;
use crate::status::memory::oldest_kept;
use crate::status::store::{Declared, Event, Forgotten, HISTORY_PER_OBJECT, Intent, Record};

pub(super) type Result<T> = std::result::Result<T, sqlx::Error>;

pub(super) const BEGIN: &str = "BEGIN IMMEDIATE";

/// Makes one write in one transaction; or makes none and returns the number that overtook ours.
pub(super) async fn write(
    to: &mut SqliteConnection,
    change: Change<'_>,
    token: Token,
) -> Result<std::result::Result<(), u64>> {
    let mut transaction = to.begin_with(BEGIN).await?;
    let seen = see(&mut transaction, token).await?;
    if seen > token.number {
        transaction.rollback().await?;
        return Ok(Err(seen));
    }
    apply(&mut transaction, change, token).await?;
    transaction.commit().await?;
    Ok(Ok(()))
}

/// Notes and returns the next number for a shard.
pub(super) async fn grant(to: &mut SqliteConnection, shard: Shard) -> Result<u64> {
    let mut transaction = to.begin_with(BEGIN).await?;
    let statement = "INSERT INTO shard (shard, token) \
        VALUES (?1, (SELECT coalesce(max(token), 0) + 1 FROM shard)) \
        ON CONFLICT (shard) DO UPDATE SET token = excluded.token RETURNING token";
    let row = query(statement).bind(shard.0).fetch_one(&mut *transaction).await?;
    let number = unsigned(&row, 0)?;
    transaction.commit().await?;
    Ok(number)
}

/// Notes the token and returns the highest number seen for its shard, this one included.
async fn see(to: &mut SqliteConnection, token: Token) -> Result<u64> {
    let statement = "INSERT INTO shard (shard, token) VALUES (?1, ?2) \
        ON CONFLICT (shard) DO UPDATE SET token = max(token, excluded.token) RETURNING token";
    let row = query(statement).bind(token.shard.0).bind(signed(token.number)).fetch_one(to).await?;
    unsigned(&row, 0)
}

async fn apply(to: &mut SqliteConnection, change: Change<'_>, token: Token) -> Result<()> {
    match change {
        Change::Put(record, events, answered) => {
            put(to, record, token).await?;
            looks::forget(to, &record.key).await?;
            append(to, events).await?;
            asked::answered(to, answered).await
        }
        Change::Looked(made) => looks::write(to, made).await,
        Change::Declare(declared) => declare(to, declared, token).await,
        Change::Remove(key) => remove(to, key).await,
        Change::Intend(intent) => intend(to, intent).await,
        Change::Resolve(key, resource) => resolve(to, key, resource).await,
        Change::Settle(settlement) => asked::settle(to, settlement).await,
        Change::Freeze(freeze) => asked::freeze(to, freeze).await,
        Change::Thaw(guard) => asked::thaw(to, guard).await,
        Change::Spend(page) => spending::write(to, page).await,
        Change::Want(wanted) => outbox::want(to, wanted).await,
        Change::Posted(tried) => outbox::settle(to, tried).await,
        Change::ForgetPosts(before) => outbox::forget(to, before).await,
    }
}

async fn put(to: &mut SqliteConnection, record: &Record, token: Token) -> Result<()> {
    let statement = "INSERT INTO object \
        (object, generation, digest, status, memory, token, deletion) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
        ON CONFLICT (object) DO UPDATE SET generation = max(generation, excluded.generation), \
        digest = iif(generation > excluded.generation, digest, excluded.digest), \
        deletion = iif(generation > excluded.generation, deletion, excluded.deletion), \
        status = excluded.status, memory = excluded.memory, token = excluded.token";
    query(statement)
        .bind(record.key.to_string())
        .bind(signed(record.generation.0))
        .bind(&record.digest)
        .bind(json(&record.status)?)
        .bind(json(&record.memory)?)
        .bind(signed(token.number))
        .bind(word(&record.deletion)?)
        .execute(to)
        .await?;
    Ok(())
}

async fn declare(to: &mut SqliteConnection, declared: &[Declared], token: Token) -> Result<()> {
    let statement = "INSERT INTO object \
        (object, generation, digest, status, memory, token, deletion) \
        VALUES (?1, ?2, ?3, '{}', '{}', ?4, ?5) \
        ON CONFLICT (object) DO UPDATE SET generation = max(generation, excluded.generation), \
        digest = iif(generation > excluded.generation, digest, excluded.digest), \
        deletion = iif(generation > excluded.generation, deletion, excluded.deletion), \
        memory = iif(generation > excluded.generation, memory, json_remove(memory, '$.removed')), \
        token = excluded.token";
    for object in declared {
        query(statement)
            .bind(object.key.to_string())
            .bind(signed(object.generation.0))
            .bind(&object.digest)
            .bind(signed(token.number))
            .bind(word(&object.deletion)?)
            .execute(&mut *to)
            .await?;
    }
    Ok(())
}

async fn append(to: &mut SqliteConnection, events: &[Event]) -> Result<()> {
    for event in events {
        query("INSERT INTO event (object, at, reason, message) VALUES (?1, ?2, ?3, ?4)")
            .bind(event.key.to_string())
            .bind(event.at.as_millisecond())
            .bind(&event.reason)
            .bind(&event.message)
            .execute(&mut *to)
            .await?;
        let surplus = "DELETE FROM event WHERE object = ?1 AND id <= \
            (SELECT id FROM event WHERE object = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)";
        query(surplus)
            .bind(event.key.to_string())
            .bind(HISTORY_PER_OBJECT)
            .execute(&mut *to)
            .await?;
    }
    if let Some(newest) = events.iter().map(|event| event.at).max() {
        query("DELETE FROM event WHERE at < ?1")
            .bind(oldest_kept(newest).as_millisecond())
            .execute(to)
            .await?;
    }
    Ok(())
}

async fn remove(to: &mut SqliteConnection, key: &Key) -> Result<()> {
    let remember = "INSERT INTO forgotten (object, generation) \
        SELECT object, generation FROM object WHERE object = ?1 \
        ON CONFLICT (object) DO UPDATE SET generation = excluded.generation";
    for statement in [
        remember,
        "DELETE FROM object WHERE object = ?1",
        "DELETE FROM look WHERE object = ?1",
        "DELETE FROM intent WHERE object = ?1",
        "DELETE FROM asked WHERE subject = ?1",
    ] {
        query(statement).bind(key.to_string()).execute(&mut *to).await?;
    }
    Ok(())
}

async fn intend(to: &mut SqliteConnection, intent: &Intent) -> Result<()> {
    let statement = "INSERT OR REPLACE INTO intent \
        (account, region, kind, name, object, operation, at, deletion) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let id = &intent.resource;
    query(statement)
        .bind(id.scope.account.as_str())
        .bind(id.scope.region.as_str())
        .bind(id.kind.as_str())
        .bind(&*id.name)
        .bind(intent.key.to_string())
        .bind(&intent.operation)
        .bind(intent.at.as_millisecond())
        .bind(word(&intent.deletion)?)
        .execute(to)
        .await?;
    Ok(())
}

async fn resolve(to: &mut SqliteConnection, key: &Key, id: &ResourceId) -> Result<()> {
    let statement = "DELETE FROM intent \
        WHERE account = ?1 AND region = ?2 AND kind = ?3 AND name = ?4 AND object = ?5";
    query(statement)
        .bind(id.scope.account.as_str())
        .bind(id.scope.region.as_str())
        .bind(id.kind.as_str())
        .bind(&*id.name)
        .bind(key.to_string())
        .execute(to)
        .await?;
    Ok(())
}

pub(super) async fn all(from: &SqlitePool) -> Result<Vec<Record>> {
    let statement = "SELECT object, generation, digest, status, memory, deletion, \
        look.at AS looked_at, next_run, not_before \
        FROM object LEFT JOIN look USING (object) ORDER BY object";
    query(statement).fetch_all(from).await?.iter().map(record).collect()
}

pub(super) async fn get(from: &SqlitePool, key: &Key) -> Result<Option<Record>> {
    let statement = "SELECT object, generation, digest, status, memory, deletion, \
        look.at AS looked_at, next_run, not_before \
        FROM object LEFT JOIN look USING (object) WHERE object = ?1";
    query(statement)
        .bind(key.to_string())
        .fetch_optional(from)
        .await?
        .as_ref()
        .map(record)
        .transpose()
}

pub(super) async fn forgotten(from: &SqlitePool) -> Result<Vec<Forgotten>> {
    let statement = "SELECT object, generation FROM forgotten ORDER BY object";
    let rows = query(statement).fetch_all(from).await?;
    let forgotten = |row: &SqliteRow| {
        Ok(Forgotten { key: key(row, "object")?, generation: Generation(unsigned(row, 1)?) })
    };
    rows.iter().map(forgotten).collect()
}

pub(super) async fn intents_for(from: &SqlitePool, id: &ResourceId) -> Result<Vec<Intent>> {
    let statement = "SELECT account, region, kind, name, object, operation, at, deletion FROM intent \
        WHERE account = ?1 AND region = ?2 AND kind = ?3 AND name = ?4 ORDER BY object";
    let rows = query(statement)
        .bind(id.scope.account.as_str())
        .bind(id.scope.region.as_str())
        .bind(id.kind.as_str())
        .bind(&*id.name)
        .fetch_all(from)
        .await?;
    rows.iter().map(intent_of).collect()
}

pub(super) async fn intents(from: &SqlitePool, key: &Key) -> Result<Vec<Intent>> {
    let statement = "SELECT account, region, kind, name, object, operation, at, deletion FROM intent \
        WHERE object = ?1 ORDER BY kind, account, region, name";
    query(statement).bind(key.to_string()).fetch_all(from).await?.iter().map(intent_of).collect()
}

pub(super) async fn history(from: &SqlitePool, key: &Key, limit: u32) -> Result<Vec<Event>> {
    let statement = "SELECT object, at, reason, message FROM event WHERE object = ?1 \
        ORDER BY id DESC LIMIT ?2";
    let rows = query(statement).bind(key.to_string()).bind(limit).fetch_all(from).await?;
    rows.iter().map(event).collect()
}

fn record(row: &SqliteRow) -> Result<Record> {
    let mut record = Record {
        key: key(row, "object")?,
        generation: Generation(unsigned(row, 1)?),
        digest: row.try_get("digest")?,
        deletion: policy(row, "deletion")?,
        status: document(row, "status")?,
        memory: document(row, "memory")?,
    };
    if let Some(look) = looks::of(row, &record.key)? {
        record.looked(&look);
    }
    Ok(record)
}

fn intent_of(row: &SqliteRow) -> Result<Intent> {
    let text = |column| row.try_get::<String, _>(column);
    let scope =
        Scope { account: AccountId::new(text("account")?), region: Region::new(text("region")?) };
    let kind = KindName::owned(text("kind")?);
    Ok(Intent {
        key: key(row, "object")?,
        resource: ResourceId { kind, scope, name: text("name")?.into() },
        operation: text("operation")?,
        deletion: policy(row, "deletion")?,
        at: time(row, "at")?,
    })
}

fn event(row: &SqliteRow) -> Result<Event> {
    Ok(Event {
        key: key(row, "object")?,
        at: time(row, "at")?,
        reason: row.try_get("reason")?,
        message: row.try_get("message")?,
    })
}

fn key(row: &SqliteRow, column: &'static str) -> Result<Key> {
    row.try_get::<String, _>(column)?.parse().map_err(|source| undecodable(column, source))
}

pub(super) fn time(row: &SqliteRow, column: &'static str) -> Result<Timestamp> {
    Timestamp::from_millisecond(row.try_get(column)?).map_err(|source| undecodable(column, source))
}

pub(super) fn document<T: DeserializeOwned>(row: &SqliteRow, column: &'static str) -> Result<T> {
    let text: &str = row.try_get(column)?;
    serde_json::from_str(text).map_err(|source| undecodable(column, source))
}

/// Reads a word of the manifests.
fn policy(row: &SqliteRow, column: &'static str) -> Result<DeletionPolicy> {
    let text: String = row.try_get(column)?;
    serde_json::from_value(text.into()).map_err(|source| undecodable(column, source))
}

/// Writes it.
fn word(policy: &DeletionPolicy) -> Result<String> {
    json(policy).map(|text| text.trim_matches('"').to_owned())
}

pub(super) fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|source| sqlx::Error::Encode(Box::new(source)))
}

pub(super) fn undecodable(
    column: &str,
    source: impl std::error::Error + Send + Sync + 'static,
) -> sqlx::Error {
    sqlx::Error::ColumnDecode { index: column.to_owned(), source: Box::new(source) }
}

/// SQLite's integers are signed; a counter from 1 does not reach the difference.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn unsigned(row: &SqliteRow, column: usize) -> Result<u64> {
    let number: i64 = row.try_get(column)?;
    u64::try_from(number).map_err(|source| undecodable("number", source))
}
