//! The statements about what people ask and what guards freeze.

use jiff::Timestamp;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Connection, Row, SqlitePool, query};

use super::rows::{BEGIN, Result, document, json, signed, time, unsigned};
use crate::model::{Ask, Asked, Freeze, Key};
use crate::status::store::Settlement;

pub(super) async fn ask(
    to: &mut SqliteConnection,
    asks: &[Ask],
    by: &str,
    at: Timestamp,
) -> Result<()> {
    let mut transaction = to.begin_with(BEGIN).await?;
    write(&mut transaction, asks, by, at).await?;
    transaction.commit().await
}

async fn write(to: &mut SqliteConnection, asks: &[Ask], by: &str, at: Timestamp) -> Result<()> {
    for ask in asks {
        if matches!(ask, Ask::Resume { .. }) {
            query("DELETE FROM asked WHERE subject = ?1 AND verb IN ('suspend', 'snooze')")
                .bind(ask.subject())
                .execute(&mut *to)
                .await?;
        }
        // A row that is replaced gets a new number, so that it is seen again.
        let statement = "INSERT OR REPLACE INTO asked (verb, subject, ask, person, at) \
            VALUES (?1, ?2, ?3, ?4, ?5)";
        query(statement)
            .bind(ask.verb())
            .bind(ask.subject())
            .bind(json(ask)?)
            .bind(by)
            .bind(at.as_millisecond())
            .execute(&mut *to)
            .await?;
    }
    Ok(())
}

pub(super) async fn since(from: &SqlitePool, number: u64) -> Result<Vec<Asked>> {
    let statement = "SELECT number, ask, person, at FROM asked WHERE number > ?1 ORDER BY number";
    query(statement).bind(signed(number)).fetch_all(from).await?.iter().map(asked).collect()
}

pub(super) async fn of(from: &SqlitePool, key: &Key) -> Result<Vec<Asked>> {
    let statement = "SELECT number, ask, person, at FROM asked WHERE subject = ?1 ORDER BY number";
    query(statement).bind(key.to_string()).fetch_all(from).await?.iter().map(asked).collect()
}

pub(super) async fn answered(to: &mut SqliteConnection, numbers: &[u64]) -> Result<()> {
    for number in numbers {
        query("DELETE FROM asked WHERE number = ?1")
            .bind(signed(*number))
            .execute(&mut *to)
            .await?;
    }
    Ok(())
}

pub(super) async fn settle(to: &mut SqliteConnection, settlement: &Settlement) -> Result<()> {
    let Settlement { request, released, .. } = settlement;
    answered(to, &[request.number]).await?;
    if let Some(guard) = released {
        thaw(to, guard).await?;
    }
    write(to, &settlement.levels(), &request.by, request.at).await
}

pub(super) async fn freeze(to: &mut SqliteConnection, freeze: &Freeze) -> Result<()> {
    let since = Timestamp::from_millisecond(freeze.since.as_millisecond()).unwrap_or(freeze.since);
    query("INSERT OR REPLACE INTO freeze (guard, freeze) VALUES (?1, ?2)")
        .bind(&freeze.guard)
        .bind(json(&Freeze { since, ..freeze.clone() })?)
        .execute(to)
        .await?;
    Ok(())
}

pub(super) async fn thaw(to: &mut SqliteConnection, guard: &str) -> Result<()> {
    query("DELETE FROM freeze WHERE guard = ?1").bind(guard).execute(to).await?;
    Ok(())
}

pub(super) async fn freezes(from: &SqlitePool) -> Result<Vec<Freeze>> {
    let rows = query("SELECT freeze FROM freeze ORDER BY guard").fetch_all(from).await?;
    rows.iter().map(|row| document(row, "freeze")).collect()
}

fn asked(row: &SqliteRow) -> Result<Asked> {
    Ok(Asked {
        number: unsigned(row, 0)?,
        ask: document(row, "ask")?,
        by: row.try_get("person")?,
        at: time(row, "at")?,
    })
}
