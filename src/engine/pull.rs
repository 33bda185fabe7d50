//! Polling networks and sources: page by page from a stored cursor, the alerts of a network through the ordinary
//! intake, the rows of a source's list as the events that its webhooks bring.
//!
//! The cursor is stored after the page: when the process dies in between, the page comes again and does nothing. One
//! process pulls from a place at a time, by a lease in the database. A row that is no alert is logged and counted, and
//! does not hold up the others.

use std::{fmt, sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

use crate::{
    domain::{AlertPatch, Answers, FieldError, IngestOptions, IngestReport, Origin, Provider, RejectedRow, redact},
    handle::{Caller, Engine, Gateways, later, locked, until},
    metrics,
    providers::{AlertSource, Submission},
    store::{Actor, PullEnd, StoreResult},
    wire::read::{self, UnknownNames},
};

/// Longest time to read and store a page; then another process may pull.
const LEASE: Duration = Duration::from_secs(150);
/// The longest pause after failures, unless the usual one is longer.
const LONGEST_PAUSE: Duration = Duration::from_secs(15 * 60);
/// Interval at which the loop checks for a turn that is due.
const POLL: Duration = Duration::from_secs(5);
/// Most pages of a source's list in a turn; the next one goes on behind them.
const MOST_PAGES: u32 = 500;
/// Most of them for each second between two turns: Justt is asked half as often as it allows.
const PAGES_A_SECOND: u32 = 8;
/// Number of rejected rows of a page that are logged one by one.
const TOLD: usize = 20;

/// Owner of pulled rows, which says what they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PullOf {
    /// Alerts of a network.
    Network(Provider),
    /// Events of a list of the source of this name.
    Source { name: String, list: String },
}

impl fmt::Display for PullOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Network(network) => network.fmt(f),
            Self::Source { name, .. } => write!(f, "source {name}"),
        }
    }
}

/// A place to poll.
#[derive(Clone)]
pub struct PullFrom {
    pub of: PullOf,
    pub source: Arc<dyn AlertSource>,
    /// Name that tells one source from another: a cursor is good for one only.
    pub place: String,
    /// Name or id of the organization that the alerts are for; nothing where there is only one.
    pub organization: Option<String>,
    /// Interval between two turns.
    pub every: Duration,
}

impl PullFrom {
    fn most_pages(&self) -> u32 {
        match self.of {
            PullOf::Network(_) => u32::MAX,
            PullOf::Source { .. } => {
                let pages = self.every.as_secs().saturating_mul(PAGES_A_SECOND.into());
                u32::try_from(pages).map_or(MOST_PAGES, |pages| pages.clamp(PAGES_A_SECOND, MOST_PAGES))
            }
        }
    }

    fn key(&self) -> String {
        format!("{} {}", self.of, self.place)
    }
}

impl fmt::Debug for PullFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PullFrom").field("of", &self.of).field("place", &self.place).finish_non_exhaustive()
    }
}

/// The result of a poll.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pulled {
    /// The source is not due, or another process pulls from it.
    NotNow,
    /// A number of pages is stored.
    Pages {
        /// Number of pages, the last, empty one included.
        pages: u32,
        report: IngestReport,
    },
    /// The poll failed, in words; pages stored before stay.
    Failed(String),
}

impl Engine {
    /// Pulls what there is, where it is due and nobody else does.
    ///
    /// # Errors
    /// When the store cannot do it now; what was stored stays, and comes again.
    pub async fn pull_once(&self, from: &PullFrom) -> StoreResult<Pulled> {
        let (key, now) = (from.key(), self.now());
        let longest = from.every.max(LONGEST_PAUSE);
        let Some(lease) = self.store().claim_pull(&key, now, later(now, LEASE)).await? else {
            return Ok(Pulled::NotNow);
        };
        let turn = self.turn(from, &key, lease.generation, lease.cursor).await;
        let failed_pause = || from.every.saturating_mul(1 << lease.failures.min(16)).min(longest);
        let (pause, failure) = match &turn {
            Ok(Pulled::Failed(why)) => (failed_pause(), Some(why.clone())),
            Ok(_) => (from.every, None),
            Err(error) => (failed_pause(), Some(error.to_string())),
        };
        metrics::pulled(from.of.to_string(), failure.is_none());
        let ended_at = self.now();
        if let PullOf::Source { name, list } = &from.of {
            self.told_of_poll(name, list, failure.clone(), ended_at).await;
        }
        let end = PullEnd { ended_at, next_at: later(ended_at, pause), failure };
        // If the store does not take even this, the lease runs out.
        let ended = self.store().end_pull(&key, lease.generation, end).await;
        turn.and_then(|turn| ended.map(|_| turn))
    }

    async fn turn(
        &self,
        from: &PullFrom,
        key: &str,
        generation: i64,
        mut cursor: Option<String>,
    ) -> StoreResult<Pulled> {
        let caller = match self.local_caller(from.organization.as_deref()).await {
            Ok(caller) => {
                let name = match &from.of {
                    PullOf::Network(network) => format!("gateway {network}"),
                    source @ PullOf::Source { .. } => source.to_string(),
                };
                let origin = from.place.clone();
                Caller { actor: Actor { name, origin, ..caller.actor }, ..caller }
            }
            Err(error) => return Ok(Pulled::Failed(format!("it is not settled for which organization: {error}"))),
        };
        let mut report = IngestReport::default();
        let most = from.most_pages();
        for pages in 1..=most {
            let page = match from.source.pull(cursor.as_deref()).await {
                Ok(page) => page,
                Err(why) => return Ok(Pulled::Failed(redact::words(&why))),
            };
            let (last, taken) = match &from.of {
                PullOf::Network(network) => {
                    let last = page.rows.is_empty() || page.cursor.is_none() || page.cursor == cursor;
                    (last, self.take_in(network, &caller, &page.rows).await)
                }
                PullOf::Source { name, .. } => (page.is_last, self.take_events(name, &caller, page.rows).await),
            };
            match taken {
                Ok(taken) => report.add(taken),
                Err(why) => return Ok(Pulled::Failed(why)),
            }
            let now = self.now();
            if !self.store().advance_pull(key, generation, page.cursor.clone(), now, later(now, LEASE)).await? {
                return Ok(Pulled::Failed("another process has taken over".to_owned()));
            }
            if let PullOf::Network(network) = &from.of {
                metrics::page_stored(network, now);
            }
            if last || pages == most {
                return Ok(Pulled::Pages { pages, report });
            }
            cursor = page.cursor;
        }
        Ok(Pulled::NotNow)
    }

    /// Takes the rows of a page in.
    async fn take_in(&self, network: &Provider, caller: &Caller, rows: &[String]) -> Result<IngestReport, String> {
        let mut unknown = UnknownNames::default();
        let mut rejected = Vec::new();
        let mut alerts = Vec::with_capacity(rows.len());
        for (row, line) in rows.iter().zip(1..) {
            match read::incoming(row, line, &mut unknown).and_then(|alert| of_network(alert, network)) {
                Ok(alert) => alerts.push(alert),
                Err(error) => rejected.push(RejectedRow { line, error }),
            }
        }
        if !unknown.names().is_empty() {
            tracing::debug!(%network, fields = ?unknown.names(), "fields of pulled alerts that are not known");
        }
        let mut report =
            self.ingest(caller, alerts, IngestOptions { events: true }).await.map_err(|error| error.to_string())?;
        report.rejected.append(&mut rejected);
        report.rejected.sort_by_key(|row| row.line);
        for row in report.rejected.iter().take(TOLD) {
            let (line, field, reason) = (row.line, redact::words(&row.error.field), redact::words(&row.error.message));
            tracing::warn!(%network, line, field, reason, "a pulled alert was rejected");
        }
        let more = report.rejected.len().saturating_sub(TOLD);
        if more > 0 {
            tracing::warn!(%network, more, "further pulled alerts of the page were rejected");
        }
        metrics::pulled_alerts(network, &report);
        Ok(report)
    }

    /// Pulls from a source until cancelled; with the engine's other loops.
    pub fn pull(&self, from: PullFrom, cancel: CancellationToken) {
        self.inner.tasks.spawn(run(self.clone(), from, cancel));
    }
}

/// Refuses another network's alert: its decision would go to another gateway.
fn of_network(row: AlertPatch, network: &Provider) -> Result<AlertPatch, FieldError> {
    if row.alert.provider == *network {
        return Ok(AlertPatch { from_gateway: true, ..row });
    }
    Err(FieldError::new("provider", format!("is {}: alerts of {network} come from this gateway", row.alert.provider)))
}

async fn run(engine: Engine, from: PullFrom, cancel: CancellationToken) {
    let mut failing = false;
    loop {
        let turn = tokio::select! {
            () = cancel.cancelled() => return,
            turn = engine.pull_once(&from) => turn,
        };
        let is_idle = matches!(turn, Ok(Pulled::NotNow));
        let failure = match turn {
            Ok(Pulled::NotNow) => None,
            Ok(Pulled::Pages { pages, report }) => {
                let (created, updated, rejected) = (report.created, report.updated, report.rejected.len());
                if created + updated > 0 || rejected > 0 || failing {
                    tracing::info!(network = %from.of, pages, created, updated, rejected, "alerts were pulled");
                }
                failing = false;
                None
            }
            Ok(Pulled::Failed(why)) => Some(why),
            Err(error) => Some(error.to_string()),
        };
        if let Some(why) = failure {
            failing = true;
            tracing::warn!(network = %from.of, why, "alerts could not be pulled, trying again later");
        }
        let pause = match engine.store().pull_state(&from.key()).await {
            // A source that is due and not this process's turn is another's.
            Ok(Some(state)) if !is_idle || state.next_at > engine.now() => {
                until(state.next_at, engine.now()).clamp(Duration::from_millis(100), POLL)
            }
            _ => POLL,
        };
        tokio::select! {
            () = cancel.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}

impl Engine {
    /// Records which networks have a gateway, with its address, and which have none any more. Nothing is written where
    /// that is known.
    ///
    /// # Errors
    /// When the store cannot do it now.
    pub async fn keep_gateways(&self, set: impl IntoIterator<Item = (Provider, Option<String>)>) -> StoreResult<()> {
        let known = self.store().gateways().await?;
        let of = |network: &Provider| known.iter().find(|(known, _)| known == network).map(|(_, url)| url.clone());
        let changed: Vec<_> = set.into_iter().filter(|(network, url)| of(network) != *url).collect();
        if changed.is_empty() { Ok(()) } else { self.store().keep_gateways(changed).await }
    }

    /// The networks that have a gateway here, read again when something has changed.
    async fn gateways(&self) -> StoreResult<Gateways> {
        // Taken before the read: what changes meanwhile is read again.
        let number = *self.inner.changes.borrow();
        if let Some((read_at, known)) = &*locked(&self.inner.gateways)
            && *read_at == number
        {
            return Ok(Arc::clone(known));
        }
        let known = Gateways::from(self.store().gateways().await?);
        *locked(&self.inner.gateways) = Some((number, Arc::clone(&known)));
        Ok(known)
    }

    /// Returns the reason for which a network is closed from here. Another engine on this database sends its decisions
    /// to a gateway, and this one has none.
    pub(super) async fn closed(&self, submission: &Submission) -> Option<String> {
        let network = &submission.provider;
        match &submission.origin {
            Some(Origin { answers: Answers::Here, .. }) => return None,
            Some(Origin { answers: Answers::Native, source, .. }) => {
                let is_here = self.inner.providers.has_source(source);
                let why = || format!("not sent: source {source} takes the answers, and there is no key for it here");
                return (!is_here).then(why);
            }
            Some(Origin { answers: Answers::Gateway, .. }) | None => {}
        }
        if self.inner.providers.has_own(network) {
            return None;
        }
        match self.gateways().await {
            Ok(known) => {
                let (_, url) = known.iter().find(|(known, _)| known == network)?;
                Some(format!(
                    "not sent: decisions to {network} go through a gateway here ({url}); these settings name none: \
                        give --config FILE"
                ))
            }
            // Better none than one that the wrong side has answered.
            Err(error) => Some(format!(
                "not sent: it cannot be seen whether answers to {network} go through a gateway here: {error}"
            )),
        }
    }
}
