//! Alerts: lists, searches and statistics, ingest, and expiry. Each database finds and writes many rows in its own best
//! way.

use async_trait::async_trait;

use super::alike::alike;
use super::outbox::recipients;
use crate::domain::audit::AuditNote;
use crate::domain::time::Timestamp;
use crate::domain::{
    Alert, AlertFilter, AlertId, AlertPatch, AlertQuery, AlertStatus, AlertType, AtRisk, Calendar, Count, CurrencySum,
    FindQuery, IngestReport, Insights, OrganizationId, Page, Provider, SharedAlert,
};
use crate::store::alert_rows::{NO_DAY, SUMS, currency_sum, notices, word, word_key};
use crate::store::postgres;
use crate::store::units::{UnitContext, UnitOfWork, Units, Way};
use crate::store::work::Work;
use crate::store::{AlertStore, StoreResult, sqlite};

/// A unit of work that each database does in its own way: on SQLite as its reader or its writer does.
macro_rules! on_either {
    (
        $store:ident,
        $way:expr,
        $given:expr,
        $with:ident,
        |$side:ident, $names:pat_param| $sqlite:expr,
        $postgres:expr
    ) => {
        $store
            .unit($way, $given, |unit, $names| {
                Box::pin(async move {
                    match &unit.database {
                        UnitContext::Sqlite(_) => unit.$with(|$side| $sqlite),
                        UnitContext::Postgres($side) => $postgres.await,
                    }
                })
            })
            .await
    };
}

#[async_trait]
impl<S: Units> AlertStore for S {
    async fn list_alerts(
        &self,
        organization: OrganizationId,
        query: &AlertQuery,
        now: Timestamp,
    ) -> StoreResult<Page<SharedAlert>> {
        let is_cheap = is_told_by_counts(&query.filter);
        let way = if is_cheap { Way::ListAtOnce(organization) } else { Way::List(Some(organization)) };
        let given = (organization, query.clone(), now);
        on_either!(
            self,
            way,
            given,
            with_reader,
            |side, (of, query, now)| sqlite::list::list(side, *of, query, *now),
            postgres::list::list(side, *of, query, *now)
        )
    }

    async fn find(&self, organization: OrganizationId, query: &FindQuery, size: u32) -> StoreResult<Vec<Alert>> {
        on_either!(
            self,
            Way::List(Some(organization)),
            (organization, query.clone(), size),
            with_reader,
            |side, (of, query, size)| sqlite::find::find(side, *of, query, *size),
            postgres::find::find(side, *of, query, *size)
        )
    }

    async fn get_alert(&self, organization: OrganizationId, id: AlertId) -> StoreResult<Option<SharedAlert>> {
        on_either!(
            self,
            Way::AtOnce,
            (organization, id),
            with_reader,
            |side, (of, id)| sqlite::list::get(side, *of, *id),
            postgres::list::get(side, *of, *id)
        )
    }

    async fn alike(&self, organization: OrganizationId, ids: Vec<AlertId>) -> StoreResult<Vec<(Alert, Vec<Alert>)>> {
        let given = (organization, ids);
        self.unit(Way::List(Some(organization)), given, |unit, (of, ids)| Box::pin(alike(unit, *of, ids))).await
    }

    async fn count_alerts(&self, organization: OrganizationId) -> StoreResult<u64> {
        on_either!(
            self,
            Way::Turn(organization),
            organization,
            with_reader,
            |side, of| sqlite::list::count_all(side, *of),
            postgres::list::count_all(&side.conn, *of)
        )
    }

    async fn counts(&self, organization: OrganizationId) -> StoreResult<Vec<Count>> {
        self.unit(Way::Turn(organization), organization, |unit, of| Box::pin(counts(unit, *of))).await
    }

    async fn at_risk(
        &self,
        organization: OrganizationId,
        now: Timestamp,
        until: Timestamp,
    ) -> StoreResult<Vec<AtRisk>> {
        let (way, given) = (Way::Turn(organization), (organization, now, until));
        self.unit(way, given, |unit, (of, now, until)| Box::pin(at_risk(unit, *of, *now, *until))).await
    }

    async fn insights(
        &self,
        organization: OrganizationId,
        filter: &AlertFilter,
        calendar: Calendar,
        now: Timestamp,
    ) -> StoreResult<Insights> {
        on_either!(
            self,
            Way::List(Some(organization)),
            (organization, filter.clone(), calendar, now),
            with_reader,
            |side, (of, filter, calendar, now)| sqlite::insights::insights(side, *of, filter, *calendar, *now),
            postgres::insights::insights(side, *of, filter, *calendar, *now)
        )
    }

    async fn sums(
        &self,
        organization: OrganizationId,
        filter: &AlertFilter,
        now: Timestamp,
    ) -> StoreResult<Vec<CurrencySum>> {
        on_either!(
            self,
            Way::List(Some(organization)),
            (organization, filter.clone(), now),
            with_reader,
            |side, (of, filter, now)| sqlite::sums::sums(side, *of, filter, *now),
            postgres::list::sums(side, *of, filter, *now)
        )
    }

    async fn ingest(
        &self,
        organization: OrganizationId,
        rows: Vec<AlertPatch>,
        now: Timestamp,
    ) -> StoreResult<IngestReport> {
        let mut report = IngestReport::default();
        let mut rows = rows.into_iter().peekable();
        while rows.peek().is_some() {
            let given = (organization, rows.by_ref().take(self.most_taken_in()).collect(), now);
            report.add(self.unit(Way::VisibleMuch, given, |unit, given| Box::pin(ingest(unit, given))).await?);
        }
        Ok(report)
    }

    async fn expire_due(&self, now: Timestamp, limit: u32) -> StoreResult<u64> {
        on_either!(
            self,
            Way::VisibleMuch,
            (now, limit),
            with_sqlite,
            |side, (now, limit)| sqlite::expiry::expire_due(side, *now, *limit),
            postgres::expiry::expire_due(side, *now, *limit)
        )
    }

    async fn undo_expiry(&self, now: Timestamp, limit: u32) -> StoreResult<u64> {
        on_either!(
            self,
            Way::VisibleMuch,
            (now, limit),
            with_sqlite,
            |side, (now, limit)| sqlite::expiry::undo(side, *now, *limit),
            postgres::expiry::undo(side, *now, *limit)
        )
    }

    async fn next_deadline(&self) -> StoreResult<Option<Timestamp>> {
        on_either!(
            self,
            Way::Look,
            (),
            with_sqlite,
            |side, ()| sqlite::expiry::next_deadline(side),
            postgres::expiry::next_deadline(&side.conn)
        )
    }
}

/// Returns whether the counts tell the total of a filter: its statements are short, mostly.
fn is_told_by_counts(filter: &AlertFilter) -> bool {
    let AlertFilter {
        start_date: _,
        end_date: _,
        transaction_start_date: None,
        transaction_end_date: None,
        providers: _,
        types: _,
        statuses: _,
        descriptor: None,
        outcomes: _,
        expired: _,
        expires_in: None,
        companies,
        q: None,
        conditions,
    } = filter
    else {
        return false;
    };
    companies.is_empty() && conditions.is_empty()
}

/// Ingests alerts, all in one unit of work. Each database has its own way with many rows at once.
async fn ingest(
    unit: &UnitOfWork<'_>,
    (organization, incoming, now): &(OrganizationId, Vec<AlertPatch>, Timestamp),
) -> Work<IngestReport> {
    let key = unit.known_organization(*organization).await?;
    let (report, named) = match &unit.database {
        UnitContext::Sqlite(_) => {
            let to = recipients(unit, key).await?;
            unit.with_sqlite(|unit| sqlite::ingest::ingest(unit, key, &to, incoming, *now))?
        }
        UnitContext::Postgres(side) => postgres::ingest::ingest(side, key, incoming, *now).await?,
    };
    named.write(unit, key).await?;
    if let Some(note) = AuditNote::alerts_taken_in(&report) {
        unit.note(key, note, *now).await?;
    }
    Ok(report)
}

/// Number of alerts of each kind on each day, earliest day first.
async fn counts(unit: &UnitOfWork<'_>, organization: OrganizationId) -> Work<Vec<Count>> {
    let Some(organization) = unit.organization(organization).await? else { return Ok(Vec::new()) };
    let words = ["provider", "type", "status", "outcome"].map(|column| word(&format!("c.{column}"))).join(", ");
    let all = format!(
        "SELECT c.day, {words}, c.expired, sum(c.alerts)/*+::bigint*/ FROM alert_count c WHERE c.organization = ?1
        GROUP BY c.day, c.provider, c.type, c.status, c.outcome, c.expired HAVING sum(c.alerts) > 0
        ORDER BY 1, 2, 3, 4, 5 NULLS FIRST, 6"
    );
    unit.all(&all, &[&organization], |row| {
        Ok(Count {
            day: Some(row.get(0)?).filter(|day| *day != NO_DAY),
            provider: Provider::parse(row.get(1)?),
            alert_type: AlertType::parse(row.get(2)?),
            status: AlertStatus::parse(row.get(3)?),
            outcome: row.get(4)?,
            expired: row.get(5)?,
            alerts: row.get(6)?,
        })
    })
    .await
}

/// Open alerts that ask for an answer and whose deadline is after `now` and at or before `until`, by currency.
async fn at_risk(
    unit: &UnitOfWork<'_>,
    organization: OrganizationId,
    now: Timestamp,
    until: Timestamp,
) -> Work<Vec<AtRisk>> {
    let Some(organization) = unit.organization(organization).await? else { return Ok(Vec::new()) };
    let sums = format!(
        "SELECT {SUMS} FROM alert a/*-*/ INDEXED BY alert_by_open_deadline/*+*/
        WHERE a.organization = ?1 AND a.open_deadline > ?2 AND a.open_deadline <= ?3 AND a.status = {}
            AND a.type NOT IN ({})
        GROUP BY a.currency ORDER BY count(*) DESC, a.currency",
        word_key(AlertStatus::Open.as_str()),
        notices()
    );
    unit.all(&sums, &[&organization, &now, &until], |row| {
        let CurrencySum { alerts, money, .. } = currency_sum(row, 0)?;
        Ok(AtRisk { alerts, money })
    })
    .await
}
