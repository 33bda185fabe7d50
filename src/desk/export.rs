//! The export of a list: read to its end, each alert once, into a file that is there as a whole or not at all.

use std::{
    collections::{HashMap, HashSet},
    io::{self, BufWriter},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use chrono::TimeDelta;
use tempfile::NamedTempFile;

use super::{
    file::{begin_new, finish_new},
    records::{Cells, RecordFormat, RecordWriter},
    snoozes::{ChosenAlerts, can_be_aside, page_of},
    whole_list::{Next, PageFacts, PageWalk},
};
use crate::{
    domain::{Alert, AlertId, AlertQuery, Page, PageRequest, RefundProof},
    service::{Alerts, Deployment, ResolveRequest, ServiceError},
};

/// A sink for the alerts of a whole list.
pub trait AlertSink {
    /// Takes an alert in.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn put(&mut self, alert: &Alert) -> io::Result<()>;

    /// Hears that a page is over, of a list of so many.
    fn end_page(&mut self, _: u64) {}

    /// Number of alerts that were taken.
    fn count(&self) -> u64;
}

/// Reason of a list that was not read to its end.
#[derive(Debug, thiserror::Error)]
pub enum ListReadError {
    #[error("{0}")]
    Service(ServiceError),
    /// The alerts that were read could not be written.
    #[error("{0}")]
    Write(io::Error),
}

/// Reads a list to its end, each alert once; with `details` each as it is by itself. Where it is not whole: why, in
/// words.
///
/// # Errors
/// When it cannot be read or kept.
pub async fn read_whole_list(
    alerts: &dyn Alerts,
    query: &mut AlertQuery,
    details: bool,
    mut walk: PageWalk,
    sink: &mut impl AlertSink,
) -> Result<Option<String>, ListReadError> {
    query.page.page = 0;
    loop {
        let page = alerts.list(query).await.map_err(ListReadError::Service)?;
        let facts = PageFacts::of(&page);
        for alert in page.data {
            if walk.meet(alert.id) {
                let alert = if details { alerts.get(alert.id).await.map_err(ListReadError::Service)? } else { alert };
                sink.put(&alert).map_err(ListReadError::Write)?;
            }
        }
        sink.end_page(facts.total);
        match walk.follow(facts) {
            Next::Page(number) => query.page.page = number,
            Next::Done => return Ok(None),
            Next::Short(why) => return Ok(Some(walk.words(why))),
        }
    }
}

/// Writes an alert as JSON, with the proof of its refund where there is one.
type WriteRecord = dyn Fn(&Alert, Option<RefundProof>) -> String + Send + Sync;

/// Format of alerts as records.
#[derive(Clone)]
pub struct AlertRecords {
    /// The columns of a CSV.
    pub columns: Vec<String>,
    pub record: Arc<WriteRecord>,
}

/// Lists of a deployment with the proofs of refunds, which are read with each page and added to the records.
pub struct RefundedAlerts<'d> {
    deployment: &'d Deployment,
    records: &'d AlertRecords,
    /// Those that were read and not written yet; of alerts without one, too.
    read: Mutex<HashMap<AlertId, Option<RefundProof>>>,
}

impl<'d> RefundedAlerts<'d> {
    /// The lists of a deployment, and the format of their alerts as records.
    pub fn of(deployment: &'d Deployment, records: &'d AlertRecords) -> Self {
        Self { deployment, records, read: Mutex::default() }
    }

    /// Returns the record of an alert that was read.
    pub fn record(&self, alert: &Alert) -> String {
        (self.records.record)(alert, self.known().remove(&alert.id).flatten())
    }

    fn known(&self) -> MutexGuard<'_, HashMap<AlertId, Option<RefundProof>>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn read_refunds(&self, ids: Vec<AlertId>) -> Result<(), ServiceError> {
        let Some(truth) = &self.deployment.truth else { return Ok(()) };
        let found = truth.refunds(ids.clone()).await?;
        let mut known = self.known();
        known.extend(ids.into_iter().map(|id| (id, None)));
        known.extend(found.into_iter().map(|(id, proof)| (id, Some(proof))));
        Ok(())
    }
}

#[async_trait]
impl Alerts for RefundedAlerts<'_> {
    async fn list(&self, query: &AlertQuery) -> Result<Page<Alert>, ServiceError> {
        let page = self.deployment.alerts.list(query).await?;
        self.read_refunds(page.data.iter().map(|alert| alert.id).collect()).await?;
        Ok(page)
    }

    async fn get(&self, id: AlertId) -> Result<Alert, ServiceError> {
        let is_read = self.known().contains_key(&id);
        if !is_read {
            self.read_refunds(vec![id]).await?;
        }
        self.deployment.alerts.get(id).await
    }

    async fn clock_lead(&self) -> Result<Option<TimeDelta>, ServiceError> {
        self.deployment.alerts.clock_lead().await
    }

    async fn resolve(&self, id: AlertId, request: ResolveRequest) -> Result<Alert, ServiceError> {
        self.deployment.alerts.resolve(id, request).await
    }
}

/// An export that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportRequest {
    pub path: PathBuf,
    pub format: RecordFormat,
    /// The whole list; its page says how many are read at once.
    pub query: AlertQuery,
    /// The alerts that it is of alone, whatever else matches.
    pub chosen: Option<ChosenAlerts>,
    /// Alerts that are left out while a snooze hides them.
    pub hidden: HashSet<AlertId>,
}

/// Reason for which there is no file, and the progress until then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportFailure {
    pub why: String,
    pub written: u64,
    /// Total of the list, as far as it was known.
    pub total: Option<u64>,
}

/// An export on its way into a file that has no name yet.
struct Exporting<'e, P> {
    writer: RecordWriter<BufWriter<NamedTempFile>>,
    alerts: &'e RefundedAlerts<'e>,
    hidden: HashSet<AlertId>,
    /// Number of alerts that were left out.
    left_out: u64,
    total: Option<u64>,
    progress: P,
}

impl<P: FnMut(u64, u64)> AlertSink for Exporting<'_, P> {
    fn put(&mut self, alert: &Alert) -> io::Result<()> {
        if self.hidden.contains(&alert.id) && can_be_aside(alert) {
            self.left_out += 1;
            return Ok(());
        }
        self.writer.put(&self.alerts.record(alert))
    }

    fn end_page(&mut self, total: u64) {
        let total = total.saturating_sub(self.left_out);
        self.total = Some(total);
        (self.progress)(self.writer.count(), total);
    }

    fn count(&self) -> u64 {
        self.writer.count()
    }
}

/// Exports a list into a new file that only its owner reads. It takes its name when it is whole: what breaks off leaves
/// nothing, and a file that is there is never written over. `progress` hears how many of how many there are.
///
/// # Errors
/// When there is no file.
pub async fn export(
    deployment: &Deployment,
    records: &AlertRecords,
    request: ExportRequest,
    progress: impl FnMut(u64, u64) + Send,
) -> Result<u64, ExportFailure> {
    let ExportRequest { path, format, mut query, chosen, hidden } = request;
    let failed = |written, total| move |why: String| ExportFailure { why, written, total };
    let begun =
        begin_new(&path).and_then(|file| RecordWriter::new(format, records.columns.clone(), Cells::default(), file));
    let writer = begun.map_err(|error| failed(0, None)(in_words(&error)))?;
    let alerts = &RefundedAlerts::of(deployment, records);
    let mut exporting = Exporting { writer, alerts, hidden, left_out: 0, total: None, progress };
    let read = match chosen {
        None => read_whole_list(alerts, &mut query, false, PageWalk::start(), &mut exporting).await,
        Some(chosen) => read_chosen(alerts, &chosen, query, &mut exporting).await.map(|()| None),
    };
    let (written, total) = (exporting.count(), exporting.total);
    let broke_off = failed(written, total);
    match read {
        Ok(None) => {}
        Ok(Some(short)) => return Err(broke_off(short)),
        Err(error) => return Err(broke_off(error.to_string())),
    }
    let ended = exporting.writer.finish().and_then(|(_, file)| finish_new(file, &path));
    ended.map(|()| written).map_err(|error| broke_off(in_words(&error)))
}

/// Reads the alerts of a list that is of these alone, which are few.
async fn read_chosen(
    alerts: &dyn Alerts,
    chosen: &ChosenAlerts,
    mut query: AlertQuery,
    sink: &mut impl AlertSink,
) -> Result<(), ListReadError> {
    query.page = PageRequest { page: 0, size: u32::try_from(chosen.ids.len()).unwrap_or(u32::MAX) };
    let page = page_of(alerts, chosen, &query).await.map_err(ListReadError::Service)?;
    page.data.iter().try_for_each(|alert| sink.put(alert)).map_err(ListReadError::Write)?;
    sink.end_page(page.total);
    Ok(())
}

fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such directory".to_owned(),
        _ => error.to_string(),
    }
}
