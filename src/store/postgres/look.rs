//! The first check of a database: its encoding, and whether a session stays one.

use tokio_postgres::{Client, Error, SimpleQueryMessage};

use super::{connection::Connection, fault::unreachable, pool::Pool, session::DatabaseServer};
use crate::{RefusalCause, StoreError, StoreResult, domain::database::PostgresAddress, work::WorkFault};

/// Most connections of a command that inspects a database or moves it.
const FEW: u32 = 4;

/// Opens a pool for a command that inspects a database or moves it, and the first connection.
pub(super) async fn connect(address: &PostgresAddress) -> StoreResult<(Pool, Connection)> {
    connect_to(&DatabaseServer::at(address)?, FEW).await
}

/// Opens a pool of at most so many connections, and the first one, once the database was checked.
pub(super) async fn connect_to(server: &DatabaseServer, most: u32) -> StoreResult<(Pool, Connection)> {
    let pool = Pool::of(server, most)?;
    let first = pool.take().await?;
    let encoding = setting(first.client()?, "server_encoding").await.map_err(WorkFault::from)?;
    if encoding != "UTF8" {
        return Err(StoreError::Refused(RefusalCause::Encoding, format!("server_encoding is {encoding}")));
    }
    let second = server.client().await.map_err(|error| unreachable(&error))?;
    if !keep_their_own([first.client()?, &second]).await.map_err(WorkFault::from)? {
        return Err(StoreError::Refused(
            RefusalCause::Pooler,
            "what a session sets is gone with its next transaction".to_owned(),
        ));
    }
    Ok((pool, first))
}

/// Returns whether each of two sessions finds what it has set: a pooler in transaction mode gives it to another one.
async fn keep_their_own(sessions: [&Client; 2]) -> Result<bool, Error> {
    const MARK: &str = "avert.session";
    let marked = sessions.map(|session| (session, rand::random::<u64>().to_string()));
    for (session, mark) in &marked {
        session.batch_execute(&format!("SELECT set_config('{MARK}', '{mark}', false)")).await?;
    }
    for (session, mark) in &marked {
        if setting(session, MARK).await? != *mark {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A setting of a session; empty where there is none. Without a statement of its own, which a pooler may not know.
async fn setting(session: &Client, name: &str) -> Result<String, Error> {
    let rows = session.simple_query(&format!("SELECT current_setting('{name}', true)")).await?;
    let value = rows.iter().find_map(|row| if let SimpleQueryMessage::Row(row) = row { row.get(0) } else { None });
    Ok(value.unwrap_or_default().to_owned())
}
