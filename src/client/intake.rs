//! Bringing alerts in to another avert.

use async_trait::async_trait;
use reqwest::Method;

use super::handle::Client;
use crate::domain::{AlertPatch, Company, IngestOptions, IngestReport, RejectedRow};
use crate::service::{Intake, ServiceError};
use crate::wire::operator::{CompanyJson, IngestReportJson, ListJson, MOST_TOLD, lines_of};

#[async_trait]
impl Intake for Client {
    /// In requests so small that each can tell of every row that it rejects.
    async fn ingest(&self, rows: Vec<AlertPatch>, options: IngestOptions) -> Result<IngestReport, ServiceError> {
        let (inner, mut total) = (&self.inner, IngestReport::default());
        for rows in rows.chunks(MOST_TOLD) {
            let call = inner.call(Method::POST, &format!("/alerts?events={}", options.events))?;
            let call =
                call.body("application/x-ndjson", lines_of(rows, inner.http.now())).within(inner.http.write_timeout);
            let report = inner
                .tell::<IngestReportJson>(call, "it is not known what was taken in: bring the same alerts in again")
                .await?;
            let mut report = IngestReport::from(report);
            report.rejected.iter_mut().for_each(|rejected| rejected.line = line_of(rows, rejected));
            total.add(report);
        }
        Ok(total)
    }

    async fn companies(&self) -> Result<Vec<Company>, ServiceError> {
        Ok(self.inner.ask::<ListJson<CompanyJson>>("/companies").await?.items())
    }
}

/// The line in its own source of a row that was rejected by its line in a request.
fn line_of(rows: &[AlertPatch], rejected: &RejectedRow) -> u64 {
    let index = usize::try_from(rejected.line.saturating_sub(1)).ok();
    index.and_then(|index| rows.get(index)).map_or(rejected.line, |row| row.line)
}
