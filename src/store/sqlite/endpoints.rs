//! Webhook endpoints; their credentials are sealed.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;
use rusqlite::{Connection, Row};

use super::handle::SqliteStore;
use super::rows::known_organization;
use super::statements::{Statements as _, cell, micros, moment, optional_moment};
use super::writer::{Unit, WriteKind};
use super::{addresses, audit, data_key, signing};
use crate::domain::audit::AuditNote;
use crate::domain::time::Timestamp;
use crate::domain::url::{EndpointUrl, PlainHttp};
use crate::domain::webhook::schedule::{BY_OPERATOR, Failing, REMOVED};
use crate::domain::{
    Actor, Endpoint, EndpointAuth, EndpointChange, EndpointId, NewEndpoint, OrganizationId, Secret, SigningChange,
};
use crate::store::seal::Seal;
use crate::store::{EndpointStore, EndpointTarget, StoreError, StoreResult, sealed};

#[async_trait]
impl EndpointStore for SqliteStore {
    async fn add_endpoint(
        &self,
        organization: OrganizationId,
        endpoint: NewEndpoint,
        most: u32,
        now: Timestamp,
    ) -> StoreResult<Option<Endpoint>> {
        self.write(WriteKind::Visible, move |unit, by| {
            let owner = known_organization(unit.conn, organization)?;
            let has: u32 = unit.conn.one(
                "SELECT count(*) FROM endpoint WHERE organization = ?1 AND removed_at IS NULL",
                [owner],
                cell,
            )?;
            if has >= most {
                return Ok(None);
            }
            let added = add(unit, owner, &endpoint, now)?;
            audit::record(unit, by, organization, AuditNote::endpoint_added(&added), now)?;
            Ok(Some(added))
        })
        .await
    }

    async fn endpoints(&self, organization: OrganizationId) -> StoreResult<Vec<Endpoint>> {
        self.read(move |reader| reader.conn.all(&format!("{COLUMNS} ORDER BY e.key"), [organization], read)).await
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
        self.write(WriteKind::Visible, move |unit, by| {
            let conn = unit.conn;
            let Some((key, endpoint)) = find(conn, organization, id)? else { return Ok(false) };
            disable(conn, key, REMOVED, now)?;
            signing::stop(conn, key)?;
            conn.run(
                "UPDATE endpoint SET removed_at = ?2, credential = x'', sealed_url = NULL WHERE key = ?1",
                (key, micros(now)),
            )?;
            audit::record(unit, by, organization, AuditNote::endpoint_removed(&endpoint), now)?;
            Ok(true)
        })
        .await
    }

    async fn target(
        &self,
        organization: OrganizationId,
        id: EndpointId,
        now: Timestamp,
    ) -> StoreResult<Option<EndpointTarget>> {
        let shared = Arc::clone(&self.shared);
        self.read(move |reader| {
            target(&reader.conn, &data_key::seal(&reader.conn, &shared.data_key)?, organization, id, now)
        })
        .await
    }
}

/// Adds an endpoint.
fn add(unit: &Unit<'_>, organization: i64, endpoint: &NewEndpoint, now: Timestamp) -> StoreResult<Endpoint> {
    let id = EndpointId::generate();
    let seal = unit.seal()?;
    let (auth, header, sealed) = sealed::credential(&seal, &id, &endpoint.auth)?;
    let (url, sealed_url) = sealed::address(&seal, &id, &endpoint.url)?;
    unit.conn.run(
        "INSERT INTO endpoint (id, organization, url, sealed_url, auth, header_name, credential, created_at, \
            ca_certificate)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        (id, organization, url, sealed_url, auth, header, sealed, micros(now), endpoint.ca_certificate.to_string()),
    )?;
    if let Some(secret) = &endpoint.signing {
        signing::rotate(unit, unit.conn.last_insert_rowid(), secret, TimeDelta::zero(), now)?;
    }
    Ok(Endpoint {
        id,
        url: endpoint.url.masked(),
        auth: header.map_or_else(|| "Basic".to_owned(), Clone::clone),
        created_at: now,
        disabled: None,
        last_success: None,
        failing_since: None,
        signed: endpoint.signing.is_some(),
        old_secret_until: None,
        has_ca_certificate: !endpoint.ca_certificate.is_empty(),
    })
}

const COLUMNS: &str =
    "SELECT e.id, e.url, coalesce(e.header_name, 'Basic'), e.created_at, e.disabled_at, coalesce(e.disabled_reason, \
        ''), e.key,
        EXISTS (SELECT 1 FROM signing_secret s WHERE s.endpoint = e.key),
        (SELECT max(s.ends_at) FROM signing_secret s WHERE s.endpoint = e.key), e.failing_since, e.succeeded_at, \
        e.ca_certificate <> ''
    FROM endpoint e JOIN organization o ON o.key = e.organization WHERE o.id = ?1 AND e.removed_at IS NULL";

fn read(row: &Row<'_>) -> StoreResult<Endpoint> {
    let id = row.get(0)?;
    let reason = row.get(5)?;
    // Plain http was allowed when it was added, or before that had to be asked for.
    let url = EndpointUrl::parse(&row.get::<_, String>(1)?, PlainHttp::Allowed);
    Ok(Endpoint {
        id,
        url: url.map_err(|error| StoreError::Corrupt(format!("the address of endpoint {id}, which {error}")))?,
        auth: row.get(2)?,
        created_at: moment(row.get(3)?)?,
        disabled: optional_moment(row, 4)?.map(|at| (at, reason)),
        last_success: optional_moment(row, 10)?,
        failing_since: optional_moment(row, 9)?,
        signed: row.get(7)?,
        old_secret_until: optional_moment(row, 8)?,
        has_ca_certificate: row.get(11)?,
    })
}

/// One endpoint with its key.
pub(super) fn find(
    conn: &Connection,
    organization: OrganizationId,
    id: EndpointId,
) -> StoreResult<Option<(i64, Endpoint)>> {
    conn.first(&format!("{COLUMNS} AND e.id = ?2"), (organization, id), |row| Ok((row.get(6)?, read(row)?)))
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
    let seal = unit.seal()?;
    let known = "SELECT url, sealed_url FROM endpoint WHERE key = ?1";
    let known = conn.one(known, [key], |row| addresses::whole(row, 0, 1, &id, &seal))?;
    let mut change = change.of(&before);
    change.url = change.url.filter(|url| url.reveal() != known.reveal());
    if let Some(url) = &change.url {
        let (url, sealed) = sealed::address(&seal, &id, url)?;
        conn.run("UPDATE endpoint SET url = ?2, sealed_url = ?3 WHERE key = ?1", (key, url, sealed))?;
    }
    if let Some(auth) = &change.auth {
        let (auth, header, sealed) = sealed::credential(&seal, &id, auth)?;
        conn.run(
            "UPDATE endpoint SET auth = ?2, header_name = ?3, credential = ?4 WHERE key = ?1",
            (key, auth, header, sealed),
        )?;
    }
    if let Some(named) = &change.ca_certificate {
        conn.run("UPDATE endpoint SET ca_certificate = ?2 WHERE key = ?1", (key, named.to_string()))?;
    }
    let signed_otherwise = match &change.signing {
        Some(SigningChange::Rotate { secret, overlap }) => signing::rotate(unit, key, secret, *overlap, now)?,
        Some(SigningChange::Stop) => signing::stop(conn, key)?,
        None => false,
    };
    change.signing = change.signing.filter(|_| signed_otherwise);
    match change.enabled {
        Some(true) => {
            conn.run(
                "UPDATE endpoint SET disabled_at = NULL, disabled_reason = NULL, failing_since = NULL, failed_at = \
                    NULL WHERE key = ?1",
                [key],
            )?;
        }
        Some(false) => disable(conn, key, BY_OPERATOR, now)?,
        None => {}
    }
    if let Some(note) = AuditNote::endpoint_changed(&before, &change) {
        audit::record(unit, by, organization, note, now)?;
    }
    one(conn, organization, id)
}

/// An endpoint with what sending to it needs.
pub(super) struct SendTarget {
    pub(super) key: i64,
    pub(super) id: EndpointId,
    pub(super) organization: OrganizationId,
    pub(super) url: Secret,
    pub(super) auth: EndpointAuth,
    pub(super) signing: Arc<[Secret]>,
    pub(super) ca_certificate: Arc<str>,
}

/// Every endpoint that is not disabled and has something waiting, with the secrets that sign at this moment.
pub(super) fn enabled(unit: &Unit<'_>, now: Timestamp) -> StoreResult<Vec<SendTarget>> {
    let (conn, seal) = (unit.conn, &unit.seal()?);
    conn.all(
        "SELECT e.key, e.id, e.url, e.header_name, e.credential, e.sealed_url, o.id, e.ca_certificate
         FROM endpoint e JOIN organization o ON o.key = e.organization
         WHERE e.disabled_at IS NULL AND EXISTS (SELECT 1 FROM delivery d WHERE d.endpoint = e.key AND d.state = \
         'pending')",
        [],
        |row| {
            let (key, id) = (row.get(0)?, row.get(1)?);
            let signing = signing::in_force(conn, seal, key, now)?;
            let url = addresses::whole(row, 2, 5, &id, seal)?;
            Ok(SendTarget {
                key,
                id,
                organization: row.get(6)?,
                url,
                auth: auth(row, id, seal)?,
                signing,
                ca_certificate: row.get(7)?,
            })
        },
    )
}

/// Where and how to send to an endpoint, disabled or not.
fn target(
    conn: &Connection,
    seal: &Seal,
    organization: OrganizationId,
    id: EndpointId,
    now: Timestamp,
) -> StoreResult<Option<EndpointTarget>> {
    conn.first(
        "SELECT e.key, e.id, e.url, e.header_name, e.credential, e.sealed_url, e.ca_certificate
         FROM endpoint e JOIN organization o ON o.key = e.organization WHERE o.id = ?1 AND e.id = ?2 AND e.removed_at \
         IS NULL",
        (organization, id),
        |row| {
            let signing = signing::in_force(conn, seal, row.get(0)?, now)?;
            let url = addresses::whole(row, 2, 5, &id, seal)?;
            Ok(EndpointTarget { url, auth: auth(row, id, seal)?, signing, ca_certificate: row.get(6)? })
        },
    )
}

fn auth(row: &Row<'_>, id: EndpointId, seal: &Seal) -> StoreResult<EndpointAuth> {
    sealed::open_credential(seal, &id, row.get(3)?, &row.get::<_, Vec<u8>>(4)?)
}

/// Sends nothing more to an endpoint.
pub(super) fn disable(conn: &Connection, endpoint: i64, reason: &str, now: Timestamp) -> StoreResult<()> {
    let now = micros(now);
    conn.run(
        "UPDATE endpoint SET disabled_at = ?2, disabled_reason = ?3 WHERE key = ?1 AND disabled_at IS NULL",
        (endpoint, now, reason),
    )?;
    conn.run(
        "UPDATE delivery SET state = 'cancelled', given_up_at = ?2 WHERE endpoint = ?1 AND state = 'pending'",
        [endpoint, now],
    )?;
    Ok(())
}

/// Disables an endpoint that wants nothing more or has failed for too long, and writes that down.
pub(super) fn disable_by_itself(unit: &Unit<'_>, endpoint: i64, reason: &str, now: Timestamp) -> StoreResult<()> {
    let enabled = "SELECT organization, id FROM endpoint WHERE key = ?1 AND disabled_at IS NULL";
    if let Some((organization, id)) = unit.conn.first(enabled, [endpoint], |row| Ok((row.get(0)?, row.get(1)?)))? {
        disable(unit.conn, endpoint, reason, now)?;
        audit::record_of(unit.conn, &Actor::avert(), organization, AuditNote::endpoint_disabled(id, reason), now)?;
    }
    Ok(())
}

/// The receiver took a delivery: whatever failed before is forgotten. What is so already is not written again: one
/// commit has many of these.
pub(super) fn succeeded(conn: &Connection, endpoint: i64, now: Timestamp) -> StoreResult<()> {
    let sql = "UPDATE endpoint SET failing_since = NULL, failed_at = NULL, succeeded_at = ?2
        WHERE key = ?1 AND (failing_since IS NOT NULL OR failed_at IS NOT NULL OR succeeded_at IS NOT ?2)";
    conn.run(sql, [endpoint, micros(now)])?;
    Ok(())
}

/// An attempt failed at the moment `ended_at`, by a clock that does not jump. An endpoint that has failed for too long
/// is disabled.
pub(super) fn failed(unit: &Unit<'_>, endpoint: i64, ended_at: Timestamp, now: Timestamp) -> StoreResult<()> {
    let known = "SELECT failing_since, failed_at FROM endpoint WHERE key = ?1 AND disabled_at IS NULL";
    let known = unit.conn.first(known, [endpoint], |row| Ok((optional_moment(row, 0)?, optional_moment(row, 1)?)))?;
    let Some((since, last)) = known else { return Ok(()) };
    let before = since.zip(last).map(|(since, last)| Failing { since, last });
    let failing = Failing::again(before, ended_at);
    let values = [endpoint, micros(failing.since), micros(failing.last)];
    unit.conn.run("UPDATE endpoint SET failing_since = ?2, failed_at = ?3 WHERE key = ?1", values)?;
    failing.disables().map_or(Ok(()), |reason| disable_by_itself(unit, endpoint, &reason, now))
}
