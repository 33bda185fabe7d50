//! Webhook endpoints; their credentials are sealed.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use uuid::Uuid;

use super::handle::SqliteStore;
use super::readers::Reader;
use super::rows::{known_organization, micros, moment};
use super::writer::{Unit, WriteKind};
use super::{audit, signing};
use crate::domain::audit::AuditNote;
use crate::domain::time::Timestamp;
use crate::domain::url::{EndpointUrl, PlainHttp};
use crate::domain::webhook::schedule::{BY_OPERATOR, Failing, REMOVED};
use crate::domain::{Actor, Endpoint, EndpointAuth, EndpointChange, EndpointId, NewEndpoint, OrganizationId, Secret, SigningChange};
use crate::store::seal::{AssociatedData, Seal};
use crate::store::{EndpointStore, EndpointTarget, StoreError, StoreResult};

#[async_trait]
impl EndpointStore for SqliteStore {
    async fn add_endpoint(&self, organization: OrganizationId, endpoint: NewEndpoint, now: Timestamp) -> StoreResult<Endpoint> {
        self.write(WriteKind::Visible, move |unit, by| {
            let added = add(unit, organization, &endpoint, now)?;
            audit::record(unit, by, organization, AuditNote::endpoint_added(&added), now)?;
            Ok(added)
        })
        .await
    }

    async fn endpoints(&self, organization: OrganizationId) -> StoreResult<Vec<Endpoint>> {
        self.read(move |reader| of(reader, organization)).await
    }

    async fn endpoint(&self, organization: OrganizationId, id: EndpointId) -> StoreResult<Option<Endpoint>> {
        self.read(move |reader| one(&reader.conn, organization, id)).await
    }

    async fn change_endpoint(
        &self,
        organization: OrganizationId,
        id: EndpointId,
        change: EndpointChange,
        now: Timestamp,
    ) -> StoreResult<Option<Endpoint>> {
        self.write(WriteKind::Visible, move |unit, by| self::change(unit, by, organization, id, change, now)).await
    }

    async fn remove_endpoint(&self, organization: OrganizationId, id: EndpointId, now: Timestamp) -> StoreResult<bool> {
        self.write(WriteKind::Visible, move |unit, by| remove(unit, by, organization, id, now)).await
    }

    async fn target(&self, organization: OrganizationId, id: EndpointId, now: Timestamp) -> StoreResult<Option<EndpointTarget>> {
        let shared = Arc::clone(&self.shared);
        self.read(move |reader| target(&reader.conn, &shared.seal, organization, id, now)).await
    }
}

fn place(id: &EndpointId) -> AssociatedData<'_> {
    AssociatedData { table: "endpoint", row: id.0.as_bytes(), column: "credential" }
}

/// A credential as columns: its kind, its header's name, and the text to be sealed.
fn columns(auth: &EndpointAuth) -> (&'static str, Option<&String>, String) {
    match auth {
        // A user name has no colon, as in the header that is made of it.
        EndpointAuth::Basic { username, password } => ("basic", None, format!("{username}:{}", password.reveal())),
        EndpointAuth::Header { name, value } => ("header", Some(name), value.reveal().to_owned()),
    }
}

/// Adds an endpoint.
fn add(unit: &Unit<'_>, organization: OrganizationId, endpoint: &NewEndpoint, now: Timestamp) -> StoreResult<Endpoint> {
    let organization = known_organization(unit.conn, organization)?;
    let id = EndpointId::generate();
    let (auth, header, credential) = columns(&endpoint.auth);
    let sealed = unit.shared.seal.seal(place(&id), credential.as_bytes())?;
    unit.conn
        .prepare_cached(
            "INSERT INTO endpoint (id, organization, url, auth, header_name, credential, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![id.0.as_bytes(), organization, endpoint.url.as_str(), auth, header, sealed, micros(now)])?;
    if let Some(secret) = &endpoint.signing {
        signing::rotate(unit, unit.conn.last_insert_rowid(), secret, TimeDelta::zero(), now)?;
    }
    Ok(Endpoint {
        id,
        url: endpoint.url.clone(),
        auth: header.map_or_else(|| "Basic".to_owned(), Clone::clone),
        created_at: now,
        disabled: None,
        failing_since: None,
        signed: endpoint.signing.is_some(),
        old_secret_until: None,
    })
}

const COLUMNS: &str =
    "SELECT e.id, e.url, coalesce(e.header_name, 'Basic'), e.created_at, e.disabled_at, coalesce(e.disabled_reason, ''), e.key,
        EXISTS (SELECT 1 FROM signing_secret s WHERE s.endpoint = e.key),
        (SELECT max(s.ends_at) FROM signing_secret s WHERE s.endpoint = e.key), e.failing_since
    FROM endpoint e JOIN organization o ON o.key = e.organization WHERE o.id = ?1 AND e.removed_at IS NULL";

fn read(row: &Row<'_>) -> StoreResult<Endpoint> {
    let disabled_at: Option<i64> = row.get(4)?;
    let reason: String = row.get(5)?;
    let id = EndpointId(Uuid::from_bytes(row.get(0)?));
    // Plain http was allowed when it was added, or before that had to be asked for.
    let url = EndpointUrl::parse(&row.get::<_, String>(1)?, PlainHttp::Allowed);
    Ok(Endpoint {
        id,
        url: url.map_err(|error| StoreError::Corrupt(format!("the address of endpoint {id}, which {error}")))?,
        auth: row.get(2)?,
        created_at: moment(row.get(3)?)?,
        disabled: disabled_at.map(|at| Ok::<_, StoreError>((moment(at)?, reason))).transpose()?,
        failing_since: row.get::<_, Option<i64>>(9)?.map(moment).transpose()?,
        signed: row.get(7)?,
        old_secret_until: row.get::<_, Option<i64>>(8)?.map(moment).transpose()?,
    })
}

/// The endpoints of an organization, oldest first.
fn of(reader: &Reader, organization: OrganizationId) -> StoreResult<Vec<Endpoint>> {
    let mut statement = reader.conn.prepare_cached(&format!("{COLUMNS} ORDER BY e.key"))?;
    let mut rows = statement.query([organization.0.as_bytes()])?;
    let mut endpoints = Vec::new();
    while let Some(row) = rows.next()? {
        endpoints.push(read(row)?);
    }
    Ok(endpoints)
}

/// One endpoint with its key.
pub(super) fn find(conn: &Connection, organization: OrganizationId, id: EndpointId) -> StoreResult<Option<(i64, Endpoint)>> {
    let mut statement = conn.prepare_cached(&format!("{COLUMNS} AND e.id = ?2"))?;
    let mut rows = statement.query(params![organization.0.as_bytes(), id.0.as_bytes()])?;
    rows.next()?.map(|row| Ok((row.get(6)?, read(row)?))).transpose()
}

/// One endpoint.
fn one(conn: &Connection, organization: OrganizationId, id: EndpointId) -> StoreResult<Option<Endpoint>> {
    Ok(find(conn, organization, id)?.map(|(_, endpoint)| endpoint))
}

/// Changes an endpoint; `None` where there is none such.
fn change(
    unit: &Unit<'_>,
    by: &Actor,
    organization: OrganizationId,
    id: EndpointId,
    change: EndpointChange,
    now: Timestamp,
) -> StoreResult<Option<Endpoint>> {
    let conn = unit.conn;
    let Some((key, before)) = find(conn, organization, id)? else { return Ok(None) };
    let mut change = change.of(&before);
    if let Some(url) = &change.url {
        conn.prepare_cached("UPDATE endpoint SET url = ?2 WHERE key = ?1")?.execute(params![key, url.as_str()])?;
    }
    if let Some(auth) = &change.auth {
        let (auth, header, credential) = columns(auth);
        let sealed = unit.shared.seal.seal(place(&id), credential.as_bytes())?;
        conn.prepare_cached("UPDATE endpoint SET auth = ?2, header_name = ?3, credential = ?4 WHERE key = ?1")?
            .execute(params![key, auth, header, sealed])?;
    }
    let signed_otherwise = match &change.signing {
        Some(SigningChange::Rotate { secret, overlap }) => signing::rotate(unit, key, secret, *overlap, now)?,
        Some(SigningChange::Stop) => signing::stop(conn, key)?,
        None => false,
    };
    change.signing = change.signing.filter(|_| signed_otherwise);
    match change.enabled {
        Some(true) => {
            conn.prepare_cached(
                "UPDATE endpoint SET disabled_at = NULL, disabled_reason = NULL, failing_since = NULL, failed_at = NULL WHERE key = ?1",
            )?
            .execute([key])?;
        }
        Some(false) => disable(conn, key, BY_OPERATOR, now)?,
        None => {}
    }
    if let Some(note) = AuditNote::endpoint_changed(&before, &change) {
        audit::record(unit, by, organization, note, now)?;
    }
    one(conn, organization, id)
}

/// Removes an endpoint: nothing is sent there any more, and its credential is gone. Its deliveries can still be read.
fn remove(unit: &Unit<'_>, by: &Actor, organization: OrganizationId, id: EndpointId, now: Timestamp) -> StoreResult<bool> {
    let conn = unit.conn;
    let Some((key, endpoint)) = find(conn, organization, id)? else { return Ok(false) };
    disable(conn, key, REMOVED, now)?;
    signing::stop(conn, key)?;
    conn.prepare_cached("UPDATE endpoint SET removed_at = ?2, credential = x'' WHERE key = ?1")?.execute(params![key, micros(now)])?;
    audit::record(unit, by, organization, AuditNote::endpoint_removed(&endpoint), now)?;
    Ok(true)
}

/// An endpoint with what sending to it needs.
pub(super) struct SendTarget {
    pub(super) key: i64,
    pub(super) id: EndpointId,
    pub(super) url: String,
    pub(super) auth: EndpointAuth,
    pub(super) signing: Arc<[Secret]>,
}

/// Every endpoint that is not disabled and has something waiting, with the secrets that sign at this moment.
pub(super) fn enabled(unit: &Unit<'_>, now: Timestamp) -> StoreResult<Vec<SendTarget>> {
    let mut statement = unit.conn.prepare_cached(
        "SELECT key, id, url, header_name, credential FROM endpoint e
         WHERE disabled_at IS NULL AND EXISTS (SELECT 1 FROM delivery d WHERE d.endpoint = e.key AND d.state = 'pending')",
    )?;
    let mut rows = statement.query([])?;
    let mut targets = Vec::new();
    while let Some(row) = rows.next()? {
        let id = EndpointId(Uuid::from_bytes(row.get(1)?));
        let key = row.get(0)?;
        let signing = signing::in_force(unit.conn, &unit.shared.seal, key, now)?;
        targets.push(SendTarget { key, id, url: row.get(2)?, auth: auth(row, id, &unit.shared.seal)?, signing });
    }
    Ok(targets)
}

/// Where and how to send to an endpoint, disabled or not.
fn target(
    conn: &Connection,
    seal: &Seal,
    organization: OrganizationId,
    id: EndpointId,
    now: Timestamp,
) -> StoreResult<Option<EndpointTarget>> {
    let mut statement = conn.prepare_cached(
        "SELECT e.key, e.id, e.url, e.header_name, e.credential FROM endpoint e JOIN organization o ON o.key = e.organization
         WHERE o.id = ?1 AND e.id = ?2 AND e.removed_at IS NULL",
    )?;
    let mut rows = statement.query(params![organization.0.as_bytes(), id.0.as_bytes()])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let signing = signing::in_force(conn, seal, row.get(0)?, now)?;
    Ok(Some(EndpointTarget { url: row.get(2)?, auth: auth(row, id, seal)?, signing }))
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
    conn.prepare_cached("UPDATE delivery SET state = 'cancelled', given_up_at = ?2 WHERE endpoint = ?1 AND state = 'pending'")?
        .execute([endpoint, micros(now)])?;
    Ok(())
}

/// Disables an endpoint that wants nothing more or has failed for too long, and writes that down.
pub(super) fn disable_by_itself(unit: &Unit<'_>, endpoint: i64, reason: &str, now: Timestamp) -> StoreResult<()> {
    let (organization, id, disabled): (i64, [u8; 16], bool) = unit
        .conn
        .prepare_cached("SELECT organization, id, disabled_at IS NOT NULL FROM endpoint WHERE key = ?1")?
        .query_row([endpoint], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    if !disabled {
        disable(unit.conn, endpoint, reason, now)?;
        let note = AuditNote::endpoint_disabled(EndpointId(Uuid::from_bytes(id)), reason);
        audit::record_of(unit.conn, &Actor::avert(), organization, note, now)?;
    }
    Ok(())
}

/// The receiver took a delivery: whatever failed before is forgotten.
pub(super) fn succeeded(conn: &Connection, endpoint: i64) -> StoreResult<()> {
    conn.prepare_cached("UPDATE endpoint SET failing_since = NULL, failed_at = NULL WHERE key = ?1 AND failing_since IS NOT NULL")?
        .execute([endpoint])?;
    Ok(())
}

/// An attempt failed at the moment `ended_at`, by a clock that does not jump. An endpoint that has failed for too long is disabled.
pub(super) fn failed(unit: &Unit<'_>, endpoint: i64, ended_at: Timestamp, now: Timestamp) -> StoreResult<()> {
    let known: Option<(Option<i64>, Option<i64>)> = unit
        .conn
        .prepare_cached("SELECT failing_since, failed_at FROM endpoint WHERE key = ?1 AND disabled_at IS NULL")?
        .query_row([endpoint], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let before = match known {
        None => return Ok(()),
        Some((Some(since), Some(last))) => Some(Failing { since: moment(since)?, last: moment(last)? }),
        Some(_) => None,
    };
    let failing = Failing::again(before, ended_at);
    unit.conn.prepare_cached("UPDATE endpoint SET failing_since = ?2, failed_at = ?3 WHERE key = ?1")?.execute([
        endpoint,
        micros(failing.since),
        micros(failing.last),
    ])?;
    failing.disables().map_or(Ok(()), |reason| disable_by_itself(unit, endpoint, &reason, now))
}
