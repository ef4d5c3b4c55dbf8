//! The statements about what calls were spent on.

use jiff::Timestamp;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Row, SqlitePool, query};

use super::rows::{Result, document, json, signed, undecodable, unsigned};
use crate::model::budget::{Count, Level};
use crate::model::{AccountId, Cause, Region, Scope, Spent};
use crate::status::spending::{HOUR, Page, dropped_before, folded_before, slot};

/// Says that a stored word names no cause.
#[derive(Debug, thiserror::Error)]
#[error("\"{0}\" is no cause of a call")]
struct UnknownCause(String);

pub(super) async fn write(to: &mut SqliteConnection, page: &Page) -> Result<()> {
    for spent in &page.spent {
        add(to, slot(page.at), spent).await?;
    }
    for level in &page.levels {
        query("INSERT OR REPLACE INTO bucket (account, region, service, level) VALUES (?1, ?2, ?3, ?4)")
            .bind(level.scope.account.as_str())
            .bind(level.scope.region.as_str())
            .bind(&level.service)
            .bind(json(level)?)
            .execute(&mut *to)
            .await?;
    }
    fold(to, page.at).await
}

async fn add(to: &mut SqliteConnection, at: i64, spent: &Spent) -> Result<()> {
    let statement = "INSERT INTO spent \
        (at, account, region, service, operation, cause, sent, throttled, withheld) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
        ON CONFLICT DO UPDATE SET sent = sent + excluded.sent, \
        throttled = throttled + excluded.throttled, withheld = withheld + excluded.withheld";
    query(statement)
        .bind(at)
        .bind(spent.scope.account.as_str())
        .bind(spent.scope.region.as_str())
        .bind(&spent.service)
        .bind(&spent.operation)
        .bind(spent.cause.as_str())
        .bind(signed(spent.count.sent))
        .bind(signed(spent.count.throttled))
        .bind(signed(spent.count.withheld))
        .execute(to)
        .await?;
    Ok(())
}

/// Adds what is older than an hour up to whole hours, and drops what is older than a day.
async fn fold(to: &mut SqliteConnection, at: Timestamp) -> Result<()> {
    let add = "INSERT INTO spent \
        SELECT at - at % ?2 AS hour, account, region, service, operation, cause, \
        sum(sent), sum(throttled), sum(withheld) FROM spent WHERE at < ?1 AND at % ?2 != 0 \
        GROUP BY hour, account, region, service, operation, cause \
        ON CONFLICT DO UPDATE SET sent = sent + excluded.sent, \
        throttled = throttled + excluded.throttled, withheld = withheld + excluded.withheld";
    let drop = "DELETE FROM spent WHERE (at < ?1 AND at % ?2 != 0) OR at < ?3";
    query(add).bind(folded_before(at)).bind(HOUR).execute(&mut *to).await?;
    query(drop).bind(folded_before(at)).bind(HOUR).bind(dropped_before(at)).execute(to).await?;
    Ok(())
}

pub(super) async fn since(from: &SqlitePool, since: Timestamp) -> Result<Vec<Spent>> {
    let statement = "SELECT account, region, service, operation, cause, \
        sum(sent), sum(throttled), sum(withheld) FROM spent WHERE at >= ?1 \
        GROUP BY account, region, service, operation, cause";
    let rows = query(statement).bind(since.as_millisecond()).fetch_all(from).await?;
    let mut all = rows.iter().map(spent).collect::<Result<Vec<Spent>>>()?;
    all.sort();
    Ok(all)
}

pub(super) async fn levels(from: &SqlitePool) -> Result<Vec<Level>> {
    let statement = "SELECT level FROM bucket ORDER BY account, region, service";
    query(statement).fetch_all(from).await?.iter().map(|row| document(row, "level")).collect()
}

fn spent(row: &SqliteRow) -> Result<Spent> {
    let text = |column| row.try_get::<String, _>(column);
    let word = text("cause")?;
    let cause = Cause::of(&word).ok_or_else(|| undecodable("cause", UnknownCause(word)))?;
    let scope =
        Scope { account: AccountId::new(text("account")?), region: Region::new(text("region")?) };
    let count = Count {
        sent: unsigned(row, 5)?,
        throttled: unsigned(row, 6)?,
        withheld: unsigned(row, 7)?,
    };
    Ok(Spent { scope, service: text("service")?, operation: text("operation")?, cause, count })
}
