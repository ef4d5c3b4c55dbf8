//! When objects were looked at and found as their records say, beside those records: a row of a few
//! bytes, where a record takes thousands.

use jiff::Timestamp;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Row, query};

use super::rows::{Result, time, undecodable};
use crate::model::Key;
use crate::status::store::Look;

pub(super) async fn write(to: &mut SqliteConnection, looks: &[Look]) -> Result<()> {
    let statement = "INSERT INTO look (object, at, next_run, not_before) \
        SELECT object, ?2, ?3, ?4 FROM object WHERE object = ?1 \
        ON CONFLICT (object) DO UPDATE SET at = excluded.at, next_run = excluded.next_run, \
        not_before = excluded.not_before";
    for look in looks {
        query(statement)
            .bind(look.key.to_string())
            .bind(look.at.as_millisecond())
            .bind(look.next_run.map(Timestamp::as_millisecond))
            .bind(look.not_before.as_millisecond())
            .execute(&mut *to)
            .await?;
    }
    Ok(())
}

/// Forgets the look at an object: its record is of a later pass, or gone.
pub(super) async fn forget(to: &mut SqliteConnection, key: &Key) -> Result<()> {
    query("DELETE FROM look WHERE object = ?1").bind(key.to_string()).execute(to).await?;
    Ok(())
}

/// Reads the look in a row of a record, if there is one.
pub(super) fn of(row: &SqliteRow, key: &Key) -> Result<Option<Look>> {
    if row.try_get::<Option<i64>, _>("looked_at")?.is_none() {
        return Ok(None);
    }
    let next_run: Option<i64> = row.try_get("next_run")?;
    let next_run = next_run.map(Timestamp::from_millisecond).transpose();
    Ok(Some(Look {
        key: key.clone(),
        at: time(row, "looked_at")?,
        next_run: next_run.map_err(|source| undecodable("next_run", source))?,
        not_before: time(row, "not_before")?,
    }))
}
