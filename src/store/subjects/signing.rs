//! The secrets that deliveries are signed with, sealed. An endpoint's newest one has no end; those before it sign along
//! until theirs.

use std::sync::Arc;

use chrono::TimeDelta;
use uuid::Uuid;

use crate::domain::time::Timestamp;
use crate::domain::{Secret, signing};
use crate::store::sealed::{self, CHECK};
use crate::store::units::UnitOfWork;
use crate::store::work::Work;

/// Signs with this secret from now on; those before it sign along for so long at most. `false` where it is the newest
/// one already.
pub(super) async fn rotate(
    unit: &UnitOfWork<'_>,
    endpoint: i64,
    secret: &Secret,
    overlap: TimeDelta,
    now: Timestamp,
) -> Work<bool> {
    let seal = unit.sealing().await?;
    let known = all(unit, endpoint).await?;
    let secrets: Vec<_> = known.iter().map(|known| (known.secret.clone(), known.ends_at)).collect();
    let Some(ends) = signing::rotate(&secrets, secret, overlap, now) else { return Ok(false) };
    for (old, until) in known.iter().zip(ends) {
        match until {
            Some(until) => {
                unit.run("UPDATE signing_secret SET ends_at = ?2 WHERE key = ?1", &[&old.key, &until]).await?
            }
            None => unit.run("DELETE FROM signing_secret WHERE key = ?1", &[&old.key]).await?,
        };
    }
    let id = Uuid::new_v4();
    let sealed = sealed::signing_secret(&seal, id.as_bytes(), secret)?;
    let added = "INSERT INTO signing_secret (id, endpoint, secret, created_at) VALUES (?1, ?2, ?3, ?4)";
    unit.run(added, &[&id, &endpoint, &sealed, &now]).await?;
    Ok(true)
}

/// Signs nothing any more. `false` where nothing was signed.
pub(super) async fn stop(unit: &UnitOfWork<'_>, endpoint: i64) -> Work<bool> {
    Ok(unit.run("DELETE FROM signing_secret WHERE endpoint = ?1", &[&endpoint]).await? > 0)
}

/// The secrets that sign at this moment, newest first.
pub(super) async fn in_force(unit: &UnitOfWork<'_>, endpoint: i64, now: Timestamp) -> Work<Arc<[Secret]>> {
    let known = all(unit, endpoint).await?.into_iter();
    Ok(known.filter(|known| signing::signs_at(known.ends_at, now)).map(|known| known.secret).collect())
}

struct Known {
    key: i64,
    secret: Secret,
    ends_at: Option<Timestamp>,
}

/// Every secret of an endpoint, newest first.
async fn all(unit: &UnitOfWork<'_>, endpoint: i64) -> Work<Vec<Known>> {
    let secrets =
        format!("SELECT key, id, secret, ends_at, {CHECK} FROM signing_secret WHERE endpoint = ?1 ORDER BY key DESC");
    unit.all(&secrets, &[&endpoint], |row| {
        let id: Uuid = row.get(1)?;
        let secret = sealed::open_signing_secret(&unit.seal_of(row, 4)?, id.as_bytes(), row.get(2)?)?;
        Ok(Known { key: row.get(0)?, secret, ends_at: row.get(3)? })
    })
    .await
}
