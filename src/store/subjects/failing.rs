//! Failures of endpoints and sources: counted, reported to endpoints that are marked for it, and in the end a reason to
//! disable an endpoint.

use super::{
    deliveries::record_events,
    endpoints::{disable, find},
    subscriptions::{Recipient, recipients},
};
use crate::{
    cells::StoredRow,
    domain::{
        Actor, EndpointId, EventKind, EventSubject, audit::AuditNote, source::FailingSource, time::Timestamp,
        webhook::schedule::Failing,
    },
    error::Work,
    units::UnitOfWork,
};

/// Disables an endpoint that refuses further deliveries or has failed for too long, and adds that to the audit log.
pub(super) async fn disable_by_itself(unit: &UnitOfWork<'_>, endpoint: i64, reason: &str, now: Timestamp) -> Work<()> {
    let enabled = "SELECT organization, id FROM endpoint WHERE key = ?1 AND disabled_at IS NULL/*+ FOR NO KEY UPDATE*/";
    if let Some((organization, id)) = unit.first(enabled, &[&endpoint], |row| Ok((row.get(0)?, row.get(1)?))).await? {
        disable(unit, endpoint, reason, now).await?;
        unit.note_of(&Actor::avert(), organization, AuditNote::endpoint_disabled(id, reason), now).await?;
        report_failing(unit, organization, endpoint, id, now).await?;
    }
    Ok(())
}

/// Records a success: the receiver accepted a delivery, and earlier failures no longer count. Equal values are not
/// written again: one commit has many of these.
pub(super) async fn succeeded(unit: &UnitOfWork<'_>, endpoint: i64, now: Timestamp) -> Work<()> {
    let taken = "UPDATE endpoint SET failing_since = NULL, failed_at = NULL, succeeded_at = ?2, \
            failure_reported = FALSE
        WHERE key = ?1 AND (failing_since IS NOT NULL OR failed_at IS NOT NULL OR succeeded_at IS DISTINCT FROM ?2)";
    unit.run(taken, &[&endpoint, &now]).await.map(drop)
}

/// Records a failed attempt that ended at `ended_at`, by a clock that does not jump. An endpoint that has failed for
/// too long is disabled.
pub(super) async fn failed(unit: &UnitOfWork<'_>, endpoint: i64, ended_at: Timestamp, now: Timestamp) -> Work<()> {
    let known = "SELECT failing_since, failed_at, failure_reported, organization, id FROM endpoint
        WHERE key = ?1 AND disabled_at IS NULL/*+ FOR NO KEY UPDATE*/";
    let read = |row: &StoredRow<'_>| {
        let before = row.get::<Option<_>>(0)?.zip(row.get(1)?).map(|(since, last)| Failing { since, last });
        Ok((Failing::again(before, ended_at), row.get::<bool>(2)?, row.get(3)?, row.get(4)?))
    };
    let Some((failing, reported, organization, id)) = unit.first(known, &[&endpoint], read).await? else {
        return Ok(());
    };
    let report = !reported && failing.is_lasting();
    let failed = "UPDATE endpoint SET failing_since = ?2, failed_at = ?3, failure_reported = ?4 WHERE key = ?1";
    unit.run(failed, &[&endpoint, &failing.since, &failing.last, &(reported || report)]).await?;
    if report {
        report_failing(unit, organization, endpoint, id, now).await?;
    }
    match failing.disables() {
        Some(reason) => disable_by_itself(unit, endpoint, &reason, now).await,
        None => Ok(()),
    }
}

/// Tells the other endpoints that are marked for it that an endpoint fails, or was disabled for it.
async fn report_failing(
    unit: &UnitOfWork<'_>,
    organization: i64,
    endpoint: i64,
    id: EndpointId,
    now: Timestamp,
) -> Work<()> {
    let Some(failing) = find(unit, organization, id).await? else { return Ok(()) };
    let subject = EventSubject::Endpoint(&failing);
    record_for(unit, organization, &EventKind::EndpointFailing, subject, Some(endpoint), now).await
}

/// Records that a part of a source works again, or has failed, in words. Lasting failures are reported once, until it
/// works again.
pub(super) async fn source_ended(
    unit: &UnitOfWork<'_>,
    organization: i64,
    source: &str,
    part: &str,
    failure: Option<&str>,
    now: Timestamp,
) -> Work<()> {
    let Some(reason) = failure else {
        let works = "DELETE FROM source_failing WHERE organization = ?1 AND source = ?2 AND part = ?3";
        return unit.run(works, &[&organization, &source, &part]).await.map(drop);
    };
    let known = "SELECT since, failed_at, reported FROM source_failing
        WHERE organization = ?1 AND source = ?2 AND part = ?3/*+ FOR NO KEY UPDATE*/";
    let read = |row: &StoredRow<'_>| Ok((Failing { since: row.get(0)?, last: row.get(1)? }, row.get::<bool>(2)?));
    let (before, reported) = unit.first(known, &[&organization, &source, &part], read).await?.unzip();
    let failing @ Failing { since, last } = Failing::again(before, now);
    let reported = reported.unwrap_or_default();
    let report = !reported && failing.is_lasting();
    let failed = "INSERT INTO source_failing (organization, source, part, since, failed_at, reported)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (organization, source, part) DO UPDATE
        SET since = excluded.since, failed_at = excluded.failed_at, reported = excluded.reported";
    unit.run(failed, &[&organization, &source, &part, &since, &last, &(reported || report)]).await?;
    if !report {
        return Ok(());
    }
    let failing = FailingSource { name: source.to_owned(), part: part.to_owned(), since, reason: reason.to_owned() };
    record_for(unit, organization, &EventKind::SourceFailing, EventSubject::Source(&failing), None, now).await
}

/// Records an event for the endpoints that are marked for it, but for the one that it is about.
pub(super) async fn record_for(
    unit: &UnitOfWork<'_>,
    organization: i64,
    kind: &EventKind,
    subject: EventSubject<'_>,
    about: Option<i64>,
    now: Timestamp,
) -> Work<()> {
    for Recipient { key, subscription, .. } in recipients(unit, organization).await? {
        if Some(key) != about && subscription.takes(kind, None) {
            let body = (unit.context.render)(kind, subject, subscription.template, now);
            record_events(unit, &[key], kind, &[(None, body)], "", now).await?;
        }
    }
    Ok(())
}
