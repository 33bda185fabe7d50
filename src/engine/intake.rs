//! Intake of alerts: validates, completes and stores rows that were read, batch by batch. Whole sources are read ahead
//! while the batch before is stored.

use std::io::BufRead;

use tokio::{sync::mpsc, task::JoinError};

use super::handle::{Caller, Engine, service_error};
use crate::{
    domain::{
        AlertPatch, AlertType, IngestOptions, IngestReport, IntakeTerms, Money, Provider, RejectedRow, UnknownWords,
        batch, intake::SourceRows,
    },
    service::{Intake, ServiceError},
    wire::{import::Importer, read::UnknownNames},
};

impl Engine {
    /// Ingests alerts, batch by batch; a row that is rejected does not hold up the others.
    pub(super) async fn ingest(
        &self,
        caller: &Caller,
        rows: Vec<AlertPatch>,
        options: IngestOptions,
    ) -> Result<IngestReport, ServiceError> {
        let organization = &caller.organization;
        let terms = IntakeTerms {
            company: organization.default_company,
            enrollment: organization.default_enrollment,
            windows: &self.settings().windows,
            events: options.events,
            now: self.now(),
        };
        let store = self.signed(caller);
        let mut report = IngestReport::default();
        let mut rows = rows.into_iter().peekable();
        while rows.peek().is_some() {
            let mut batch = Vec::with_capacity(rows.len().min(batch::INTAKE));
            for row in rows.by_ref().take(batch::INTAKE) {
                let line = row.line;
                match row.validate() {
                    Ok(row) => batch.push(row.complete(&terms)),
                    Err(error) => report.rejected.push(RejectedRow { line, error }),
                }
            }
            if !batch.is_empty() {
                report.add(store.ingest(organization.organization.id, batch, terms.now).await.map_err(service_error)?);
            }
        }
        report.rejected.sort_by_key(|rejected| rejected.line);
        Ok(report)
    }
}

/// Result of a batch of a source.
#[derive(Debug, Default)]
pub struct Taken {
    /// Counts of the batch; rows that could not be read count as rejected, all by line.
    pub report: IngestReport,
    /// Unknown words that came up for the first time.
    pub unknown: UnknownWords,
    /// The first amount of each currency without decimals that has a fraction.
    pub fractions: Vec<Money>,
    /// Number of bytes of the source that have been read.
    pub read: u64,
}

/// Error of a source that was not read to its end. Batches before it are stored.
#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    /// A batch could not be stored.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// Reading ended by a mistake of our own.
    #[error(transparent)]
    Reading(#[from] JoinError),
}

/// Takes everything in that a source holds, in constant memory: one batch is read while another is stored. Each is told
/// as it is done.
///
/// # Errors
/// When a batch cannot be stored.
pub async fn take_in<R: BufRead + Send + 'static>(
    service: &impl Intake,
    source: impl FnOnce() -> Importer<R> + Send + 'static,
    options: IngestOptions,
    mut tell: impl FnMut(Taken),
) -> Result<(), IntakeError> {
    let (sender, mut batches) = mpsc::channel(1);
    let reading = tokio::task::spawn_blocking(move || read(source(), &sender));
    while let Some((rows, mut taken)) = batches.recv().await {
        let unreadable = std::mem::take(&mut taken.report.rejected);
        taken.report = service.ingest(rows, options).await?;
        taken.report.rejected.extend(unreadable);
        taken.report.rejected.sort_by_key(|row| row.line);
        tell(taken);
    }
    Ok(reading.await?)
}

/// Reads the whole source in batches; ends early when nobody takes them any more.
fn read<R: BufRead>(mut source: Importer<R>, batches: &mpsc::Sender<(Vec<AlertPatch>, Taken)>) {
    let (mut providers, mut types) = (UnknownNames::default(), UnknownNames::default());
    let mut known = SourceRows::default();
    let mut fractions: Vec<Money> = Vec::new();
    loop {
        let (mut rows, mut taken, mut count) = (Vec::new(), Taken::default(), 0);
        for row in source.by_ref().take(batch::INTAKE) {
            count += 1;
            match row.and_then(|row| known.admit(row)) {
                Ok(row) => {
                    if let Provider::Other(name) = &row.alert.provider
                        && !name.is_empty()
                    {
                        providers.add(name);
                    }
                    if let AlertType::Other(name) = &row.alert.alert_type
                        && !name.is_empty()
                    {
                        types.add(name);
                    }
                    for money in fractions_of(&row) {
                        if fractions.iter().all(|known| !known.currency.is_same(&money.currency)) {
                            taken.fractions.push(money.clone());
                            fractions.push(money);
                        }
                    }
                    rows.push(row);
                }
                Err(row) => taken.report.rejected.push(row),
            }
        }
        taken.unknown = UnknownWords {
            fields: source.new_unknown_fields(),
            providers: providers.take_new(),
            types: types.take_new(),
        };
        taken.read = source.bytes_read();
        if batches.blocking_send((rows, taken)).is_err() || count < batch::INTAKE {
            return;
        }
    }
}

/// The amounts of a row with a fraction in a currency that has no decimals: mostly one of them is wrong.
fn fractions_of(row: &AlertPatch) -> impl Iterator<Item = Money> {
    let alert = &row.alert;
    let disputed = alert.money();
    let charged_back = alert.chargeback_amount.zip(alert.chargeback_currency.clone());
    let charged_back = charged_back.map(|(amount, currency)| Money { amount, currency });
    disputed.into_iter().chain(charged_back).filter(Money::is_finer_than_its_currency)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::import::FileFormat;

    #[test]
    fn a_source_is_read_to_its_end_in_batches() {
        let text: String = (0..batch::INTAKE + 5).map(|_| "{\"amount\": true}\n").collect();
        let (sender, mut batches) = mpsc::channel(4);

        read(Importer::new(std::io::Cursor::new(text), Some(FileFormat::Ndjson)), &sender);

        let sizes: Vec<usize> = std::iter::from_fn(|| batches.try_recv().ok())
            .map(|(rows, taken)| rows.len() + taken.report.rejected.len())
            .collect();
        assert_eq!(sizes, [batch::INTAKE, 5]);
    }
}
