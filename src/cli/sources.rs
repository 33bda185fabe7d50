//! `avert sources`: whose webhooks become alerts and reports, what they sent, and what became of it.

use std::{
    fs,
    io::{self, Read as _},
    path::Path,
};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::{
    args::SourcesCommand,
    context::Context,
    failure::SaidAlready,
    local::{Local, engine_settings},
    output::{ListColumns, Report, Rows, record},
    source_settings::source,
};
use crate::{
    config::Settings,
    domain::{
        Answers, CompanyId, EnrollmentId, EventState, FieldError, IntakeTerms,
        card::mask_card_numbers,
        source::{SourceEvent, SourceStatus},
        time::{Clock as _, SystemClock, Timestamp, to_iso},
    },
    engine::Remapped,
    service::{ServiceError, Sources as _},
    store::EventResult,
    wire::{operator::TruthReportJson, write},
};

pub(super) async fn run(context: Context, command: SourcesCommand) -> anyhow::Result<()> {
    let mut mapped = true;
    let report = match command {
        SourcesCommand::List => listing(&Local::existing_for(&context).await?.1.sources().await?),
        SourcesCommand::Test { name, file } => {
            let (report, result) = test(&context.settings, &name, &file)?;
            mapped = result;
            report
        }
        SourcesCommand::Events { name, size } => {
            let acting = Local::existing_for(&context).await?.1;
            events(&acting.source_events(&name, size).await?)
        }
        SourcesCommand::Remap { name } => {
            let Remapped { mapped, unmapped } = Local::existing_for(&context).await?.1.remap(&name).await?;
            let words = format!("{mapped} mapped, {unmapped} still unmapped");
            Report::one(json!({"mapped": mapped, "unmapped": unmapped}), words)
        }
    };
    context.output.print(&report)?;
    if mapped { Ok(()) } else { bail!(SaidAlready) }
}

fn listing(sources: &[SourceStatus]) -> Report {
    let note =
        sources.is_empty().then(|| "there are no sources; `avert help sources` says how one is set up".to_owned());
    ListColumns::new()
        .both("name", "NAME", |source: &SourceStatus| json!(source.name))
        .both("preset", "PRESET", |source| json!(source.preset))
        .member("answers", |source| json!(source.answers.map(Answers::as_str)))
        .shown("ANSWERS", |source| source.answers.map_or("not set up", Answers::as_str).to_owned())
        .both("received", "RECEIVED", |source| json!(source.received))
        .both("mapped", "MAPPED", |source| json!(source.mapped))
        .both("ignored", "IGNORED", |source| json!(source.ignored))
        .both("unmapped", "UNMAPPED", |source| json!(source.unmapped))
        .both("rejected", "REJECTED", |source| json!(source.rejected))
        .both("lastReceived", "LAST RECEIVED", |source| json!(source.last_received.map(to_iso)))
        .report(sources, note)
}

/// Maps the events of a body without storing them; true where all were mapped or ignored.
fn test(settings: &Settings, name: &str, file: &Path) -> anyhow::Result<(Report, bool)> {
    let found = settings.sources.iter().find(|(known, _)| known.0 == name);
    let (_, set) = found.ok_or_else(|| ServiceError::NotFound(format!("source {name}")))?;
    let mut body = Vec::new();
    match file == Path::new("-") {
        true => io::stdin().read_to_end(&mut body).context("stdin cannot be read").map(drop)?,
        false => body = fs::read(file).map_err(|error| misused!("{}: cannot be read: {error}", file.display()))?,
    }
    let now = SystemClock.now();
    let terms = IntakeTerms {
        company: CompanyId::default(),
        enrollment: EnrollmentId::default(),
        windows: &engine_settings(settings).windows,
        events: false,
        now,
    };
    let source = source(name, set, false, None)?;
    let results: Vec<EventResult> = source.events(body).iter().map(|event| source.map(event, &terms)).collect();
    let is_fine = results.iter().all(|result| result.state() != EventState::Unmapped);
    let told: anyhow::Result<_> = results.into_iter().map(|result| told(result, now)).collect();
    let (records, said): (Vec<Value>, Vec<String>) = told?;
    let document = if let [one] = &records[..] { one.clone() } else { Value::Array(records.clone()) };
    let table = Rows { note: Some(said.join("\n")), ..Rows::default() };
    Ok((Report::new(document, records, table), is_fine))
}

/// Tells what an event would become, as JSON and in words.
fn told(result: EventResult, now: Timestamp) -> anyhow::Result<(Value, String)> {
    let mut said = result.state().as_str().to_owned();
    let mut document = json!({"result": said, "alert": null, "reasons": []});
    match result {
        EventResult::Alert(row) => {
            let alert = row.alert;
            document["alert"] = serde_json::from_slice(&write::told(&alert, now))?;
            let money = alert.money().map(|money| money.to_string()).unwrap_or_default();
            said += &format!(": {} {} {}, {money}", alert.provider, alert.alert_type, alert.provider_id);
        }
        EventResult::Report(report) => {
            let money = report.money().map(|money| format!(", {money}")).unwrap_or_default();
            said += &format!(": {} {}{money}", report.kind.as_str(), report.id);
            document["report"] = record(TruthReportJson::from(*report));
        }
        EventResult::Ignored => {}
        EventResult::Unmapped(reasons) => {
            let reasons: Vec<String> = reasons.iter().map(FieldError::to_string).collect();
            said = [vec![said], reasons.clone()].concat().join("\n");
            document["reasons"] = json!(reasons);
        }
    }
    Ok((document, said))
}

fn events(events: &[SourceEvent]) -> Report {
    let report = |event: &SourceEvent| event.report.as_ref().map(|(kind, id)| format!("{} {id}", kind.as_str()));
    let note = events.is_empty().then(|| "this source has sent nothing that is kept".to_owned());
    ListColumns::new()
        .member("id", |event: &SourceEvent| json!(event.id))
        .both("receivedAt", "RECEIVED", |event| json!(to_iso(event.received_at)))
        .both("event", "EVENT", |event| json!(event.event))
        .both("state", "STATE", |event| json!(event.state.as_str()))
        .both("alert", "ALERT", |event| json!(event.alert.map(|alert| alert.to_string())))
        .both("report", "REPORT", move |event| json!(report(event)))
        .member("reasons", |event| json!(event.reasons))
        .shown("REASONS", |event| event.reasons.join("; "))
        .member("body", |event| json!(mask_card_numbers(&String::from_utf8_lossy(&event.body))))
        .report(events, note)
}
