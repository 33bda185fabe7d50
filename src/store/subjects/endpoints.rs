//! Webhook endpoints; their credentials are sealed.
//!
//! The secrets that deliveries are signed with, sealed. An endpoint's newest one has no end; those before it sign along
//! until theirs.

use std::sync::Arc;

use chrono::TimeDelta;
use uuid::Uuid;

use super::{subscriptions::subscription, truth::take_turn};
use crate::{
    StoreError,
    cells::{BoundValues, StoredRow, cell},
    domain::{
        Endpoint, EndpointAuth, EndpointChange, EndpointId, EventKind, EventTemplate, NewEndpoint, OrganizationId,
        Provider, Secret, SigningChange, Subscription,
        audit::AuditNote,
        signing,
        time::Timestamp,
        url::{EndpointUrl, PlainHttp},
        webhook::schedule::{BY_OPERATOR, REMOVED},
    },
    encryption::{self, CHECK, SIGNING_SECRET, Seal},
    error::Work,
    units::{UnitOfWork, Way, units},
};

/// Target of a delivery: address, authentication and signing secrets of an endpoint.
#[derive(Debug, Clone)]
pub struct EndpointTarget {
    /// The whole address: its query may carry a secret.
    pub url: Secret,
    pub auth: EndpointAuth,
    /// The secrets to sign with, newest first; none where the endpoint gets no signatures.
    pub signing: Arc<[Secret]>,
    /// The certificates (PEM) that are trusted there; empty for this machine's authorities.
    pub ca_certificate: Arc<str>,
}

units! {
    /// Units of work on webhook endpoints. Credentials are stored encrypted.
    EndpointStore:

    /// Adds an endpoint; `None` where the organization has `most` already, disabled ones included.
    async fn add_endpoint(
        organization: OrganizationId,
        [ref] endpoint: NewEndpoint,
        most: u32,
        now: Timestamp,
    ) -> Option<Endpoint> {
        Way::Visible, organization => add
    }

    /// The endpoints of an organization, oldest first.
    async fn endpoints(organization: OrganizationId) -> Vec<Endpoint> {
        Way::ByKey, organization => of_organization
    }

    /// One endpoint; removed ones are not found.
    async fn endpoint(organization: OrganizationId, id: EndpointId) -> Option<Endpoint> {
        Way::ByKey, organization => find
    }

    /// Changes an endpoint; `None` when there is none such. Disabling cancels its pending deliveries.
    async fn change_endpoint(
        organization: OrganizationId,
        id: EndpointId,
        [ref] change: EndpointChange,
        now: Timestamp,
    ) -> Option<Endpoint> {
        Way::Visible, organization => change_endpoint
    }

    /// Removes an endpoint with its credential; its deliveries stay to be read. `false` when there is none such.
    async fn remove_endpoint(organization: OrganizationId, id: EndpointId, now: Timestamp) -> bool {
        Way::Visible, organization => remove
    }

    /// Address, authentication and signing secrets of an endpoint, disabled or not; `None` when there is none such.
    async fn target(organization: OrganizationId, id: EndpointId, now: Timestamp) -> Option<EndpointTarget> {
        Way::Read, organization => target
    }
}

/// Adds an endpoint where there is room.
async fn add(
    unit: &UnitOfWork<'_>,
    owner: i64,
    endpoint: &NewEndpoint,
    most: u32,
    now: Timestamp,
) -> Work<Option<Endpoint>> {
    let seal = &unit.sealing().await?;
    // Of two who add one at once, the second one counts the first one's.
    take_turn(unit, owner).await?;
    let has = "SELECT count(*) FROM endpoint WHERE organization = ?1 AND removed_at IS NULL";
    if unit.one(has, &[&owner], cell::<u32>).await? >= most {
        return Ok(None);
    }
    let id = EndpointId::generate();
    let (auth, header, credential) = encryption::credential(seal, &id, &endpoint.auth)?;
    let (url, sealed_url) = encryption::address(seal, &id, &endpoint.url)?;
    let certificate = endpoint.ca_certificate.to_string();
    let added = "INSERT INTO endpoint (id, organization, url, sealed_url, auth, header_name, credential, created_at, \
            ca_certificate, events, providers, template, minutes)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) RETURNING key";
    let Subscription { events, providers, template, minutes } = &endpoint.subscription;
    let events = joined(events.iter().map(EventKind::as_str));
    let providers = joined(providers.iter().map(Provider::as_str));
    let template = template.map_or("", EventTemplate::as_str);
    let values: BoundValues<'_> = &[
        &id,
        &owner,
        &url,
        &sealed_url,
        &auth,
        &header,
        &credential,
        &now,
        &certificate,
        &events,
        &providers,
        &template,
        minutes,
    ];
    let key = unit.one(added, values, cell).await?;
    if let Some(secret) = &endpoint.signing {
        rotate_secret(unit, key, secret, TimeDelta::zero(), now).await?;
    }
    let added = find(unit, owner, id).await?;
    if let Some(added) = &added {
        unit.note(owner, AuditNote::new("endpoint.added", &added.id, added.url.to_string()), now).await?;
    }
    Ok(added)
}

fn joined<'w>(words: impl Iterator<Item = &'w str>) -> String {
    words.collect::<Vec<_>>().join(",")
}

const COLUMNS: &str =
    "SELECT e.id, e.url, coalesce(e.header_name, 'Basic'), e.created_at, e.disabled_at, coalesce(e.disabled_reason, \
        ''),
        EXISTS (SELECT 1 FROM signing_secret s WHERE s.endpoint = e.key),
        (SELECT max(s.ends_at) FROM signing_secret s WHERE s.endpoint = e.key), e.failing_since, e.succeeded_at, \
        e.ca_certificate <> '', e.events, e.providers, e.template, e.minutes
    FROM endpoint e WHERE e.organization = ?1 AND e.removed_at IS NULL";

fn read(row: &StoredRow<'_>) -> Work<Endpoint> {
    let id: EndpointId = row.get(0)?;
    let reason = row.get(5)?;
    // Plain http was allowed when it was added, or before that had to be asked for.
    let url = EndpointUrl::parse(row.get(1)?, PlainHttp::Allowed);
    Ok(Endpoint {
        id,
        url: url.map_err(|error| StoreError::Corrupt(format!("the address of endpoint {id}, which {error}")))?,
        auth: row.get(2)?,
        created_at: row.get(3)?,
        disabled: row.get::<Option<_>>(4)?.map(|at| (at, reason)),
        last_success: row.get(9)?,
        failing_since: row.get(8)?,
        signed: row.get(6)?,
        old_secret_until: row.get(7)?,
        has_ca_certificate: row.get(10)?,
        subscription: subscription(row, 11)?,
    })
}

async fn of_organization(unit: &UnitOfWork<'_>, owner: i64) -> Work<Vec<Endpoint>> {
    unit.all(&format!("{COLUMNS} ORDER BY e.key"), &[&owner], read).await
}

/// One endpoint.
pub(super) async fn find(unit: &UnitOfWork<'_>, owner: i64, id: EndpointId) -> Work<Option<Endpoint>> {
    unit.first(&format!("{COLUMNS} AND e.id = ?2"), &[&owner, &id], read).await
}

/// The key of an endpoint that was not removed.
pub(super) async fn endpoint_key(unit: &UnitOfWork<'_>, owner: i64, id: EndpointId) -> Work<Option<i64>> {
    let key = "SELECT key FROM endpoint WHERE organization = ?1 AND id = ?2 AND removed_at IS NULL\
        /*+ FOR NO KEY UPDATE*/";
    unit.first(key, &[&owner, &id], cell).await
}

/// The same with the endpoint, which nobody else changes from here on.
async fn find_to_change(unit: &UnitOfWork<'_>, owner: i64, id: EndpointId) -> Work<Option<(i64, Endpoint)>> {
    let key = endpoint_key(unit, owner, id).await?;
    Ok(key.zip(find(unit, owner, id).await?))
}

/// Changes an endpoint; `None` where there is none such.
async fn change_endpoint(
    unit: &UnitOfWork<'_>,
    owner: i64,
    id: EndpointId,
    change: &EndpointChange,
    now: Timestamp,
) -> Work<Option<Endpoint>> {
    let seal = &unit.sealing().await?;
    let Some((key, before)) = find_to_change(unit, owner, id).await? else { return Ok(None) };
    let known = "SELECT url, sealed_url FROM endpoint WHERE key = ?1";
    let known = unit.one(known, &[&key], |row| whole(row, 0, id, seal)).await?;
    let mut change = change.clone().of(&before);
    change.url = change.url.filter(|url| url.reveal() != known.reveal());
    if let Some(url) = &change.url {
        let (url, sealed) = encryption::address(seal, &id, url)?;
        unit.run("UPDATE endpoint SET url = ?2, sealed_url = ?3 WHERE key = ?1", &[&key, &url, &sealed]).await?;
    }
    if let Some(auth) = &change.auth {
        let (auth, header, sealed) = encryption::credential(seal, &id, auth)?;
        let changed = "UPDATE endpoint SET auth = ?2, header_name = ?3, credential = ?4 WHERE key = ?1";
        unit.run(changed, &[&key, &auth, &header, &sealed]).await?;
    }
    if let Some(named) = &change.ca_certificate {
        unit.run("UPDATE endpoint SET ca_certificate = ?2 WHERE key = ?1", &[&key, &named.to_string()]).await?;
    }
    let signed_otherwise = match &change.signing {
        Some(SigningChange::Rotate { secret, overlap }) => rotate_secret(unit, key, secret, *overlap, now).await?,
        Some(SigningChange::Stop) => stop_signing(unit, key).await?,
        None => false,
    };
    change.signing = change.signing.filter(|_| signed_otherwise);
    match change.enabled {
        Some(true) => {
            let enabled = "UPDATE endpoint SET disabled_at = NULL, disabled_reason = NULL, failing_since = NULL, \
                    failed_at = NULL, failure_reported = FALSE
                WHERE key = ?1";
            unit.run(enabled, &[&key]).await?;
        }
        Some(false) => disable(unit, key, BY_OPERATOR, now).await?,
        None => {}
    }
    if let Some(note) = AuditNote::endpoint_changed(&before, &change) {
        unit.note(owner, note, now).await?;
    }
    find(unit, owner, id).await
}

async fn remove(unit: &UnitOfWork<'_>, owner: i64, id: EndpointId, now: Timestamp) -> Work<bool> {
    let Some((key, endpoint)) = find_to_change(unit, owner, id).await? else { return Ok(false) };
    disable(unit, key, REMOVED, now).await?;
    stop_signing(unit, key).await?;
    let removed = "UPDATE endpoint SET removed_at = ?2, credential = ?3, sealed_url = NULL WHERE key = ?1";
    unit.run(removed, &[&key, &now, &[0_u8; 0]]).await?;
    unit.note(owner, AuditNote::new("endpoint.removed", &id, endpoint.url.to_string()), now).await?;
    Ok(true)
}

/// An endpoint as the target of deliveries.
pub(super) struct SendTarget {
    pub(super) key: i64,
    pub(super) id: EndpointId,
    pub(super) organization: OrganizationId,
    pub(super) target: EndpointTarget,
}

/// The endpoints that a condition selects, with the secrets that sign at this moment.
async fn targets(
    unit: &UnitOfWork<'_>,
    condition: &str,
    values: BoundValues<'_>,
    now: Timestamp,
) -> Work<Vec<SendTarget>> {
    let selected = format!(
        "SELECT e.key, e.id, o.id, e.url, e.sealed_url, e.header_name, e.credential, e.ca_certificate, {CHECK}
         FROM endpoint e JOIN organization o ON o.key = e.organization WHERE {condition} ORDER BY e.key"
    );
    let mut targets = unit
        .all(&selected, values, |row| {
            let (id, seal) = (row.get(1)?, unit.seal_of(row, 8)?);
            let auth = encryption::open_credential(&seal, &id, row.get(5)?, row.get(6)?)?;
            let (url, ca_certificate) = (whole(row, 3, id, &seal)?, row.get(7)?);
            let target = EndpointTarget { url, auth, signing: Arc::new([]), ca_certificate };
            Ok(SendTarget { key: row.get(0)?, id, organization: row.get(2)?, target })
        })
        .await?;
    for found in &mut targets {
        found.target.signing = secrets_in_force(unit, found.key, now).await?;
    }
    Ok(targets)
}

/// Every endpoint that is not disabled and has something waiting that is due.
pub(super) async fn with_due_deliveries(unit: &UnitOfWork<'_>, now: Timestamp) -> Work<Vec<SendTarget>> {
    let due = "e.disabled_at IS NULL
        AND EXISTS (SELECT 1 FROM delivery d WHERE d.endpoint = e.key AND d.state = 'pending' AND d.due <= ?1)";
    targets(unit, due, &[&now], now).await
}

/// Address, authentication and signing secrets of an endpoint, disabled or not.
async fn target(unit: &UnitOfWork<'_>, owner: i64, id: EndpointId, now: Timestamp) -> Work<Option<EndpointTarget>> {
    let named = "e.organization = ?1 AND e.id = ?2 AND e.removed_at IS NULL";
    Ok(targets(unit, named, &[&owner, &id], now).await?.pop().map(|found| found.target))
}

/// The whole address, from the columns `url` and `sealed_url`, the first of which is at this place.
fn whole(row: &StoredRow<'_>, url: usize, id: EndpointId, seal: &Seal) -> Work<Secret> {
    Ok(encryption::open_address(seal, &id, row.get(url)?, row.get(url + 1)?)?)
}

/// Disables an endpoint, and cancels its pending deliveries.
pub(super) async fn disable(unit: &UnitOfWork<'_>, endpoint: i64, reason: &str, now: Timestamp) -> Work<()> {
    // Units of work that record deliveries to it right now go first: theirs are cancelled too.
    unit.lock("SELECT key FROM endpoint WHERE key = ?1/*+ FOR UPDATE*/", &[&endpoint]).await?;
    let disabled = "UPDATE endpoint SET disabled_at = ?2, disabled_reason = ?3 WHERE key = ?1 AND disabled_at IS NULL";
    unit.run(disabled, &[&endpoint, &now, &reason]).await?;
    let cancelled =
        "UPDATE delivery SET state = 'cancelled', given_up_at = ?2 WHERE endpoint = ?1 AND state = 'pending'";
    unit.run(cancelled, &[&endpoint, &now]).await.map(drop)
}

/// Signs with this secret from now on; those before it sign along for so long at most. `false` where it is the newest
/// one already.
async fn rotate_secret(
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
    let sealed = SIGNING_SECRET.seal(&seal, id.as_bytes(), secret.reveal().as_bytes())?;
    let added = "INSERT INTO signing_secret (id, endpoint, secret, created_at) VALUES (?1, ?2, ?3, ?4)";
    unit.run(added, &[&id, &endpoint, &sealed, &now]).await?;
    Ok(true)
}

/// Signs nothing any more. `false` where nothing was signed.
async fn stop_signing(unit: &UnitOfWork<'_>, endpoint: i64) -> Work<bool> {
    Ok(unit.run("DELETE FROM signing_secret WHERE endpoint = ?1", &[&endpoint]).await? > 0)
}

/// The secrets that sign at this moment, newest first.
async fn secrets_in_force(unit: &UnitOfWork<'_>, endpoint: i64, now: Timestamp) -> Work<Arc<[Secret]>> {
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
        let secret = SIGNING_SECRET.open_text(&unit.seal_of(row, 4)?, id.as_bytes(), row.get(2)?)?;
        Ok(Known { key: row.get(0)?, secret: Secret::new(secret), ends_at: row.get(3)? })
    })
    .await
}
