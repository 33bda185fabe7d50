//! Alerts coming in: who they are, what a known one takes over, and the events of new ones.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::counts::CountChanges;
use super::interned::Dictionary;
use super::organizations::Named;
use super::outbox::{self, Recipients};
use super::rows::{self, Stored, WordKeys, known_organization, search_text};
use super::writer::Unit;
use crate::domain::time::Timestamp;
use crate::domain::{Alert, EventKind, IngestReport, OrganizationId};
use crate::store::{IngestRow, StoreResult};

/// Takes alerts in, all in one unit of work.
pub(super) fn ingest(
    unit: &mut Unit<'_>,
    organization: OrganizationId,
    incoming: Vec<IngestRow>,
    now: Timestamp,
) -> StoreResult<IngestReport> {
    let organization = known_organization(unit.conn, organization)?;
    let recipients = Recipients::of(unit.conn, organization)?;
    let mut report = IngestReport::default();
    let mut counts = CountChanges::default();
    let mut search = SearchChanges::default();
    let mut named = Named::default();
    for row in incoming {
        match find(unit.conn, unit.dictionary, organization, &row)? {
            None => {
                named.note(&row.alert);
                create(unit, organization, &row, &recipients, now, &mut counts, &mut search)?;
                report.created += 1;
            }
            Some(stored) => {
                let merged = merged(&stored.alert, row);
                if merged == stored.alert {
                    report.unchanged += 1;
                } else {
                    named.note(&merged);
                    change(unit, organization, &stored, Alert { updated_at: Some(now), ..merged }, &mut counts, &mut search)?;
                    report.updated += 1;
                }
            }
        }
    }
    counts.write(unit.conn, unit.change)?;
    search.write(unit.conn, organization)?;
    named.write(unit.conn, organization)?;
    Ok(report)
}

/// The alert that a row is about, where it is known: by id where it was given, else by provider and provider id.
fn find(conn: &Connection, dictionary: &mut Dictionary, organization: i64, row: &IngestRow) -> StoreResult<Option<Stored>> {
    if row.by_id {
        return rows::read_by_id(conn, dictionary, organization, row.alert.id);
    }
    // Without a provider id there is nothing to recognise an alert by.
    let provider = dictionary.words.find(conn, row.alert.provider.as_str())?;
    let Some(provider) = provider.filter(|_| !row.alert.provider_id.is_empty()) else { return Ok(None) };
    // Ids given by hand can make two of one identity; the older one is meant.
    let key: Option<i64> = conn
        .prepare_cached(
            "SELECT key FROM alert INDEXED BY alert_by_identity
             WHERE organization = ?1 AND provider_id = ?2 AND provider = ?3 ORDER BY key LIMIT 1",
        )?
        .query_row(params![organization, row.alert.provider_id, provider], |row| row.get(0))
        .optional()?;
    key.map(|key| Ok(Stored { key, alert: rows::read_by_key(conn, dictionary, key)? })).transpose()
}

fn create(
    unit: &mut Unit<'_>,
    organization: i64,
    row: &IngestRow,
    recipients: &Recipients,
    now: Timestamp,
    counts: &mut CountChanges,
    search: &mut SearchChanges,
) -> StoreResult<()> {
    let words = WordKeys::intern(unit.conn, unit.dictionary, &row.alert)?;
    let key = rows::insert(unit.conn, unit.dictionary, organization, &row.alert, words, unit.change)?;
    counts.add(words.count_key(organization, &row.alert));
    search.add(key, &row.alert);
    if row.event {
        outbox::record_event(unit, recipients, &EventKind::AlertCreated, key, &row.alert, now)?;
    }
    Ok(())
}

fn change(
    unit: &mut Unit<'_>,
    organization: i64,
    stored: &Stored,
    alert: Alert,
    counts: &mut CountChanges,
    search: &mut SearchChanges,
) -> StoreResult<()> {
    let before = WordKeys::intern(unit.conn, unit.dictionary, &stored.alert)?;
    let after = WordKeys::intern(unit.conn, unit.dictionary, &alert)?;
    counts.shift(before.count_key(organization, &stored.alert), after.count_key(organization, &alert));
    search.replace(stored.key, &stored.alert, &alert);
    rows::update(unit.conn, unit.dictionary, organization, &Stored { key: stored.key, alert }, after, unit.change)
}

/// What a known alert is after a row: provider data are taken over where the row has them; outcome, status, deadline and the service's
/// own times stay, and of a resolved alert every time does.
fn merged(stored: &Alert, row: IngestRow) -> Alert {
    let resolved = stored.outcome.is_some();
    let new = row.alert;
    let text = |new: String, old: &str| if new.is_empty() { old.to_owned() } else { new };
    fn given<T: Clone>(new: Option<T>, old: &Option<T>) -> Option<T> {
        new.or_else(|| old.clone())
    }
    Alert {
        id: stored.id,
        provider_id: text(new.provider_id, &stored.provider_id),
        provider: new.provider,
        alert_type: new.alert_type,
        alert_time: new.alert_time.filter(|_| row.alert_time_given && !resolved).or(stored.alert_time),
        enrollment_id: new.enrollment_id.filter(|_| row.enrollment_given).or(stored.enrollment_id),
        company_id: new.company_id.filter(|_| row.company_given).or(stored.company_id),
        issuer: text(new.issuer, &stored.issuer),
        card_bin: text(new.card_bin, &stored.card_bin),
        card_last_four: text(new.card_last_four, &stored.card_last_four),
        card_expiration_date: given(new.card_expiration_date, &stored.card_expiration_date),
        acquirer_bin: given(new.acquirer_bin, &stored.acquirer_bin),
        status: stored.status.clone(),
        status_code: given(new.status_code, &stored.status_code),
        rule_type: given(new.rule_type, &stored.rule_type),
        rule_name: given(new.rule_name, &stored.rule_name),
        installment_number: given(new.installment_number, &stored.installment_number),
        pricing_tier: given(new.pricing_tier, &stored.pricing_tier),
        transaction_time: new.transaction_time.filter(|_| row.transaction_time_given && !resolved).or(stored.transaction_time),
        merchant_descriptor: text(new.merchant_descriptor, &stored.merchant_descriptor),
        descriptor_contact: given(new.descriptor_contact, &stored.descriptor_contact),
        ethoca_merchant_id: given(new.ethoca_merchant_id, &stored.ethoca_merchant_id),
        merchant_id: text(new.merchant_id, &stored.merchant_id),
        merchant_order_id: given(new.merchant_order_id, &stored.merchant_order_id),
        merchant_name: text(new.merchant_name, &stored.merchant_name),
        partner_id: given(new.partner_id, &stored.partner_id),
        partner_name: given(new.partner_name, &stored.partner_name),
        client_name: given(new.client_name, &stored.client_name),
        caid: given(new.caid, &stored.caid),
        mcc: given(new.mcc, &stored.mcc),
        amount: given(new.amount, &stored.amount),
        currency: if new.currency.as_str().is_empty() { stored.currency.clone() } else { new.currency },
        transaction_type: text(new.transaction_type, &stored.transaction_type),
        initiated_by: text(new.initiated_by, &stored.initiated_by),
        liability: given(new.liability, &stored.liability),
        auth_code: given(new.auth_code, &stored.auth_code),
        source: given(new.source, &stored.source),
        reason_code: given(new.reason_code, &stored.reason_code),
        acquirer_reference_number: given(new.acquirer_reference_number, &stored.acquirer_reference_number),
        transaction_id: given(new.transaction_id, &stored.transaction_id),
        chargeback_amount: given(new.chargeback_amount, &stored.chargeback_amount),
        chargeback_currency: given(new.chargeback_currency, &stored.chargeback_currency),
        payment_type: given(new.payment_type, &stored.payment_type),
        created_at: stored.created_at,
        updated_at: stored.updated_at,
        expired_at: stored.expired_at,
        has_external_transaction: new.has_external_transaction || stored.has_external_transaction,
        outcome: stored.outcome.clone(),
        deadline: stored.deadline,
    }
}

/// Changes of the search index, written together at the end: the index gathers in memory what no other statement interrupts.
#[derive(Debug, Default)]
struct SearchChanges {
    added: Vec<(i64, String)>,
    replaced: Vec<(i64, String, String)>,
}

impl SearchChanges {
    fn add(&mut self, key: i64, alert: &Alert) {
        self.added.push((key, search_text(alert)));
    }

    fn replace(&mut self, key: i64, old: &Alert, new: &Alert) {
        let (old, new) = (search_text(old), search_text(new));
        if old != new {
            self.replaced.push((key, old, new));
        }
    }

    fn write(self, conn: &Connection, organization: i64) -> StoreResult<()> {
        let mut insert = conn.prepare_cached("INSERT INTO alert_search (alert, organization, text) VALUES (?1, ?2, ?3)")?;
        for (key, text) in &self.added {
            insert.execute(params![key, organization, text])?;
        }
        let mut update = conn.prepare_cached("UPDATE alert_search SET text = ?2 WHERE alert = ?1")?;
        for (key, _, new) in &self.replaced {
            update.execute(params![key, new])?;
        }
        let mut index = conn.prepare_cached("INSERT INTO alert_trigram (rowid, text) VALUES (?1, ?2)")?;
        for (key, text) in &self.added {
            index.execute(params![key, text])?;
        }
        let mut unindex = conn.prepare_cached("INSERT INTO alert_trigram (alert_trigram, rowid, text) VALUES ('delete', ?1, ?2)")?;
        for (key, old, new) in &self.replaced {
            unindex.execute(params![key, old])?;
            index.execute(params![key, new])?;
        }
        Ok(())
    }
}
