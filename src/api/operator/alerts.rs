//! The routes of alerts: intake, unfinished attempts, search and duplicates.
//!
//! Intake is one alert, an array, a page or NDJSON, streamed, in batches, each row kept or rejected by itself.

use std::{
    collections::HashSet,
    io::{self, BufReader},
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    time::Duration,
};

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, header::CONTENT_TYPE},
    response::Response,
};
use futures::{StreamExt, TryStreamExt, stream};
use tokio_util::io::{StreamReader, SyncIoBridge};

use super::extract::{JsonBody, Operator, Parameters, answer, page_size};
use crate::{
    access::{PathId, not_encoded},
    alerts::recorded_here,
    domain::{AlertId, AttemptId, FieldError, FindQuery, IngestOptions, IngestReport, MAX_PAGE_SIZE, UnknownWords},
    engine::intake::{self, IntakeError, Taken},
    inbound::framing::{announced, discard},
    list_budget::within,
    problem::{self, Code, Problem},
    service::{Attempts, Find},
    state::{Api, MAX_IMPORT},
    wire::{
        import::{FileFormat, Importer},
        operator::{AttemptDecisionJson, AttemptJson, IngestReportJson, ListJson, MOST_TOLD},
        write,
    },
};

/// Reasons for which a body ended: at its end, over the limit, after its timeout, or broken off.
const WHOLE: u8 = 0;
const TOO_LARGE: u8 = 1;
const TOO_SLOW: u8 = 2;
const BROKEN: u8 = 3;

/// POST /operator/v1/alerts
pub(crate) async fn take_in(
    State(api): State<Api>,
    operator: Operator,
    parameters: Parameters,
    request: Request,
) -> Result<Response, Problem> {
    let mut options = IngestOptions { events: true };
    parameters.read(&["events"], |_, text| {
        options.events = text.parse().map_err(|_| "true or false".to_owned())?;
        Ok(())
    })?;
    let format = format(request.headers())?;
    if announced(request.headers()).is_some_and(|length| length > MAX_IMPORT) {
        discard(request, api.body_timeout);
        return Err(too_large("nothing was imported"));
    }
    let Some(_place) = api.imports.take(operator.acting.caller().organization.organization.id) else {
        return Err(Problem::new(Code::Overloaded, "too many imports are worked on at once, try again"));
    };

    let fate = Arc::new(AtomicU8::new(WHOLE));
    let body = metered(request.into_body(), api.body_timeout, Arc::clone(&fate));
    let reader = SyncIoBridge::new(StreamReader::new(body));
    let (mut total, mut rejected, mut unreadable, mut unknown) =
        (IngestReport::default(), 0_u64, 0_u64, UnknownWords::default());
    let told = |mut taken: Taken| {
        rejected += taken.report.rejected.len() as u64;
        unreadable += taken.report.rejected.iter().filter(|row| row.is_unreadable()).count() as u64;
        // A body full of bad rows must not fill the memory.
        taken.report.rejected.truncate(MOST_TOLD.saturating_sub(total.rejected.len()));
        total.add(taken.report);
        unknown.add(taken.unknown);
    };
    let source = BufReader::with_capacity(64 * 1024, reader);
    intake::take_in(&operator.acting, move || Importer::new(source, format), options, told).await.map_err(|error| {
        match error {
            IntakeError::Service(error) => error.into(),
            IntakeError::Reading(error) => {
                tracing::error!(%error, "reading an import broke off");
                Problem::new(
                    Code::Internal,
                    "reading the alerts broke off by a mistake of the service; earlier rows are kept",
                )
            }
        }
    })?;
    match fate.load(Ordering::Acquire) {
        TOO_LARGE => return Err(too_large("earlier rows are kept")),
        TOO_SLOW => {
            let detail = format!("nothing came for {} s; earlier rows are kept", api.body_timeout.as_secs_f32());
            return Err(Problem::new(Code::RequestTimeout, detail));
        }
        BROKEN => {
            return Err(Problem::new(Code::InvalidRequest, "the body broke off before its end; earlier rows are kept"));
        }
        _ => {}
    }
    if total.created + total.updated + total.unchanged == 0 && rejected > 0 && unreadable == rejected {
        return Err(nothing_read(&total));
    }
    Ok(answer(&IngestReportJson::of(total, rejected, unknown)))
}

/// Refusal of a body without any readable row: it lists the first ten faults.
fn nothing_read(report: &IngestReport) -> Problem {
    let told = report.rejected.iter().take(10);
    let errors = told.map(|row| FieldError::new("body", format!("line {} {}", row.line, row.error.message))).collect();
    Problem::of_fields(Code::InvalidBody, errors)
}

fn too_large(what: &str) -> Problem {
    Problem::new(Code::BodyTooLarge, format!("at most {MAX_IMPORT} bytes are allowed; {what}"))
}

/// Returns the file format that the content type names.
fn format(headers: &HeaderMap) -> Result<Option<FileFormat>, Problem> {
    not_encoded(headers)?;
    let mut given = headers.get_all(CONTENT_TYPE).iter();
    let essence = match (given.next().map(|value| value.to_str()), given.next()) {
        (Some(Ok(text)), None) => text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase(),
        _ => String::new(),
    };
    match essence.as_str() {
        "application/json" => Ok(Some(FileFormat::Json)),
        "application/x-ndjson" | "application/ndjson" | "application/jsonl" => Ok(Some(FileFormat::Ndjson)),
        _ => {
            let detail = "the header Content-Type must be application/json or application/x-ndjson";
            Err(Problem::new(Code::UnsupportedMediaType, detail))
        }
    }
}

/// The body's bytes, ended with an error where there are too many of them, they stop coming, or the connection breaks.
fn metered(
    body: Body,
    patience: Duration,
    fate: Arc<AtomicU8>,
) -> impl futures::Stream<Item = io::Result<axum::body::Bytes>> + Send + Unpin + 'static {
    let ended = move |why: u8, words: &str| {
        fate.store(why, Ordering::Release);
        io::Error::other(words.to_owned())
    };
    let chunks = body.into_data_stream().map_err(io::Error::other);
    let metered = stream::try_unfold((chunks, 0_u64, ended), move |(mut chunks, mut total, ended)| async move {
        match tokio::time::timeout(patience, chunks.next()).await {
            Err(_) => Err(ended(TOO_SLOW, "the body does not come")),
            Ok(None) => Ok(None),
            Ok(Some(Err(_))) => Err(ended(BROKEN, "the body broke off")),
            Ok(Some(Ok(chunk))) => {
                total += chunk.len() as u64;
                if total > MAX_IMPORT {
                    return Err(ended(TOO_LARGE, "the body is too large"));
                }
                Ok(Some((chunk, (chunks, total, ended))))
            }
        }
    });
    metered.boxed()
}

/// GET /operator/v1/attempts
pub(crate) async fn unfinished(operator: Operator) -> Result<Response, Problem> {
    Ok(answer(&ListJson::<AttemptJson>::of(operator.acting.unfinished().await?)))
}

/// POST /operator/v1/attempts/:id/decision
pub(crate) async fn decide(
    State(api): State<Api>,
    operator: Operator,
    PathId(id): PathId<AttemptId>,
    JsonBody(AttemptDecisionJson { applied }): JsonBody<AttemptDecisionJson>,
) -> Result<Response, Problem> {
    let alert = operator.acting.decide_parked(id, applied).await?;
    Ok(recorded_here(problem::json(write::told(&alert, api.engine.clock().now())), [&alert]))
}

/// Default number of search results.
const FOUND: u32 = 20;

/// GET /operator/v1/find
pub(crate) async fn find(
    State(api): State<Api>,
    operator: Operator,
    parameters: Parameters,
) -> Result<Response, Problem> {
    let (mut query, mut size) = (None, FOUND);
    parameters.read(&["q", "size"], |name, text| {
        match name {
            "q" => query = Some(FindQuery::parse(text)?),
            _ => size = page_size(text)?,
        }
        Ok(())
    })?;
    let Some(query) = query else {
        let missing = FieldError::new("q", "is missing: the words to look for, such as an order number");
        return Err(Problem::of_fields(Code::InvalidQuery, vec![missing]));
    };
    let found =
        within(api.list_timeout, "look for a longer word, or for more of them", operator.acting.find(&query, size))
            .await?;
    Ok(recorded_here(problem::json(write::found(&found, api.engine.clock().now())), &found))
}

/// GET /operator/v1/duplicates
pub(crate) async fn duplicates(
    State(api): State<Api>,
    operator: Operator,
    parameters: Parameters,
) -> Result<Response, Problem> {
    let mut ids = None;
    parameters.read(&["ids"], |_, text| {
        ids = Some(read_ids(text)?);
        Ok(())
    })?;
    let Some(ids) = ids else {
        let missing = FieldError::new("ids", "is missing: the ids of alerts, with commas between them");
        return Err(Problem::of_fields(Code::InvalidQuery, vec![missing]));
    };
    let found = within(api.list_timeout, "ask for fewer alerts", operator.acting.on_payments(ids)).await?;
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for (alert, others) in found {
        all.extend(std::iter::once(alert).chain(others).filter(|alert| seen.insert(alert.id)));
    }
    Ok(recorded_here(problem::json(write::found(&all, api.engine.clock().now())), &all))
}

pub(super) fn read_ids(text: &str) -> Result<Vec<AlertId>, String> {
    let allowed = || format!("1 to {MAX_PAGE_SIZE} ids of alerts, which are UUIDs, with commas between them");
    let ids: Result<Vec<AlertId>, _> = text.split(',').map(|id| id.trim().parse()).collect();
    ids.ok().filter(|ids| ids.len() <= MAX_PAGE_SIZE as usize).ok_or_else(allowed)
}
