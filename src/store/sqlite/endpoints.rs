//! Webhook endpoints; their credentials are sealed.

use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::readers::Reader;
use super::rows::{known_organization, micros, moment, organization_key};
use super::writer::Unit;
use crate::domain::time::Timestamp;
use crate::domain::{EndpointId, OrganizationId};
use crate::service::{Endpoint, EndpointAuth, NewEndpoint, Secret};
use crate::store::seal::{Place, Seal};
use crate::store::{StoreError, StoreResult};

fn place(id: &EndpointId) -> Place<'_> {
    Place { table: "endpoint", row: id.0.as_bytes(), column: "credential" }
}

/// Adds an endpoint.
pub(super) fn add(unit: &Unit<'_>, organization: OrganizationId, endpoint: &NewEndpoint, now: Timestamp) -> StoreResult<Endpoint> {
    let organization = known_organization(unit.conn, organization)?;
    let id = EndpointId::generate();
    let (auth, header, credential) = match &endpoint.auth {
        // A user name has no colon, as in the header that is made of it.
        EndpointAuth::Basic { username, password } => ("basic", None, format!("{username}:{}", password.reveal())),
        EndpointAuth::Header { name, value } => ("header", Some(name), value.reveal().to_owned()),
    };
    let sealed = unit.shared.seal.seal(place(&id), credential.as_bytes())?;
    unit.conn
        .prepare_cached(
            "INSERT INTO endpoint (id, organization, url, auth, header_name, credential, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![id.0.as_bytes(), organization, endpoint.url, auth, header, sealed, micros(now)])?;
    Ok(Endpoint {
        id,
        url: endpoint.url.clone(),
        auth: header.map_or_else(|| "Basic".to_owned(), Clone::clone),
        created_at: now,
        disabled: None,
    })
}

/// The endpoints of an organization, oldest first.
pub(super) fn of(reader: &Reader, organization: OrganizationId) -> StoreResult<Vec<Endpoint>> {
    let conn = &reader.conn;
    let Some(organization) = organization_key(conn, organization)? else { return Ok(Vec::new()) };
    let mut statement = conn.prepare_cached(
        "SELECT id, url, coalesce(header_name, 'Basic'), created_at, disabled_at, coalesce(disabled_reason, '')
         FROM endpoint WHERE organization = ?1 ORDER BY key",
    )?;
    let mut rows = statement.query([organization])?;
    let mut endpoints = Vec::new();
    while let Some(row) = rows.next()? {
        let disabled_at: Option<i64> = row.get(4)?;
        let reason: String = row.get(5)?;
        endpoints.push(Endpoint {
            id: EndpointId(Uuid::from_bytes(row.get(0)?)),
            url: row.get(1)?,
            auth: row.get(2)?,
            created_at: moment(row.get(3)?)?,
            disabled: disabled_at.map(|at| Ok::<_, StoreError>((moment(at)?, reason))).transpose()?,
        });
    }
    Ok(endpoints)
}

/// An endpoint as one sends to it.
pub(super) struct Target {
    pub(super) key: i64,
    pub(super) id: EndpointId,
    pub(super) url: String,
    pub(super) auth: EndpointAuth,
}

/// Every endpoint that is not disabled and has something waiting.
pub(super) fn enabled(unit: &Unit<'_>) -> StoreResult<Vec<Target>> {
    let mut statement = unit.conn.prepare_cached(
        "SELECT key, id, url, header_name, credential FROM endpoint e
         WHERE disabled_at IS NULL AND EXISTS (SELECT 1 FROM delivery d WHERE d.endpoint = e.key AND d.state = 'pending')",
    )?;
    let mut rows = statement.query([])?;
    let mut targets = Vec::new();
    while let Some(row) = rows.next()? {
        let id = EndpointId(Uuid::from_bytes(row.get(1)?));
        targets.push(Target { key: row.get(0)?, id, url: row.get(2)?, auth: auth(row, id, &unit.shared.seal)? });
    }
    Ok(targets)
}

fn auth(row: &Row<'_>, id: EndpointId, seal: &Seal) -> StoreResult<EndpointAuth> {
    let corrupt = || StoreError::Corrupt(format!("the credential of endpoint {id}, which cannot be opened; add the endpoint anew"));
    let sealed: Vec<u8> = row.get(4)?;
    let credential = seal.open(place(&id), &sealed).and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(corrupt)?;
    Ok(match row.get(3)? {
        Some(name) => EndpointAuth::Header { name, value: Secret::new(credential) },
        None => {
            let (username, password) = credential.split_once(':').ok_or_else(corrupt)?;
            EndpointAuth::Basic { username: username.to_owned(), password: Secret::new(password) }
        }
    })
}

/// Sends nothing more to an endpoint.
pub(super) fn disable(conn: &Connection, endpoint: i64, reason: &str, now: Timestamp) -> StoreResult<()> {
    conn.prepare_cached("UPDATE endpoint SET disabled_at = ?2, disabled_reason = ?3 WHERE key = ?1 AND disabled_at IS NULL")?
        .execute(params![endpoint, micros(now), reason])?;
    conn.prepare_cached("UPDATE delivery SET state = 'cancelled' WHERE endpoint = ?1 AND state = 'pending'")?.execute([endpoint])?;
    Ok(())
}
