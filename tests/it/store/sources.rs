//! Sources: an event is stored once, sealed, with its alert in the same commit, and counted.

use std::{fs, sync::Arc};

use avert::{
    domain::{
        Alert, AlertStatus, Answers, CutOffs, Deadline, DeliveryFilter, EndpointAuth, EventKind, EventState,
        FieldError, NewEndpoint, Origin, Secret, TruthKind, TruthReport, source::SourceStatus,
    },
    store::{EventResult, EventsOf, IncomingEvent},
};
use chrono::Duration;

use super::{
    Fixture,
    ground::{Ground as _, Postgres, Sqlite},
    resolutions::{claim, resolve},
    row,
};
use crate::support::{
    alerts::{noon, open_alert},
    store::file,
};

contract!(
    an_event_is_stored_with_its_alert_and_the_events_of_that_in_one_commit,
    a_repeat_is_counted_and_changes_nothing,
    the_same_id_of_another_source_is_another_event,
    events_that_come_in_any_order_are_one_alert,
    what_could_not_be_mapped_is_kept_and_mapped_once_later,
    what_waits_for_a_map_stands_before_newer_events,
    what_was_rejected_is_only_counted,
    an_answered_alert_is_not_set_back_by_a_late_event,
    an_expired_alert_is_not_set_back_by_a_late_event,
    an_event_that_was_sent_earlier_fills_in_what_is_unknown_and_changes_nothing_else,
    a_report_is_stored_with_its_event_and_an_earlier_one_does_not_set_it_back,
    a_source_that_fails_for_ten_minutes_is_reported_once_until_it_works_again,
    a_list_that_cannot_be_polled_is_reported_beside_events_that_come,
    an_alert_that_was_there_before_keeps_that_no_source_brought_it,
    bodies_open_after_the_data_key_was_rotated,
    events_beyond_their_retention_are_pruned_and_their_alerts_stay,
);

fn origin() -> Option<Origin> {
    Some(Origin { source: "shop".to_owned(), answers: Answers::Here, reference: String::new() })
}

fn mapped(alert: &Alert) -> EventResult {
    EventResult::Alert(Box::new(row(&Alert { origin: origin(), ..alert.clone() }, true).without("id")))
}

fn unmapped() -> EventResult {
    EventResult::Unmapped(vec![
        FieldError::new("amount", "is \"4111\": a decimal is needed"),
        FieldError::new("", "no kind"),
    ])
}

fn event(source: &str, id: &str, result: EventResult) -> IncomingEvent {
    IncomingEvent {
        source: source.to_owned(),
        event: id.to_owned(),
        sent_at: None,
        body: format!("body of {id}").into_bytes(),
        result,
    }
}

async fn receive(fixture: &Fixture, event: IncomingEvent) -> bool {
    fixture.store.receive_event(fixture.organization, event, noon()).await.unwrap()
}

async fn counts(fixture: &Fixture) -> Vec<SourceStatus> {
    fixture.store.source_counts(fixture.organization).await.unwrap()
}

/// The alerts by their network's ids.
async fn stored(fixture: &Fixture) -> Vec<Alert> {
    let (mut alerts, _) = fixture.list(&Default::default()).await;
    alerts.sort_by(|one, other| one.provider_id.cmp(&other.provider_id));
    alerts
}

async fn an_event_is_stored_with_its_alert_and_the_events_of_that_in_one_commit(fixture: Fixture) {
    let auth = EndpointAuth::Header { name: "X-Token".to_owned(), value: Secret::new("t") };
    let endpoint = NewEndpoint::new("https://shop.example/".parse().unwrap(), auth);
    fixture.store.add_endpoint(fixture.organization, endpoint, 32, noon()).await.unwrap().unwrap();
    let alert = open_alert("P-1");

    let is_new = receive(&fixture, event("shop", "evt_1", mapped(&alert))).await;

    assert!(is_new);
    let stored = stored(&fixture).await;
    assert_eq!((stored.len(), &stored[0].origin), (1, &origin()));
    let events = fixture.store.source_events(fixture.organization, "shop", EventsOf::Shown, 10).await.unwrap();
    assert_eq!((events[0].body.as_slice(), events[0].state), (b"body of evt_1".as_slice(), EventState::Mapped));
    assert_eq!((events[0].alert, events[0].received_at), (Some(stored[0].id), noon()));
    let deliveries = fixture.store.deliveries(fixture.organization, DeliveryFilter::default()).await.unwrap();
    assert_eq!(deliveries.data.len(), 1);
    let expected = SourceStatus {
        name: "shop".to_owned(),
        received: 1,
        mapped: 1,
        last_received: Some(noon()),
        ..SourceStatus::default()
    };
    assert_eq!(counts(&fixture).await, [expected]);
}

async fn a_repeat_is_counted_and_changes_nothing(fixture: Fixture) {
    let first = event("shop", "evt_1", mapped(&open_alert("P-1")));
    let again = event("shop", "evt_1", mapped(&open_alert("P-2")));

    let told = [receive(&fixture, first.clone()).await, receive(&fixture, first).await, receive(&fixture, again).await];

    assert_eq!(told, [true, false, false]);
    let known = |source: &'static str| {
        let ids = ["evt_1", "evt_9"].map(str::to_owned).to_vec();
        fixture.store.known_events(fixture.organization, source, ids)
    };
    assert_eq!(known("shop").await.unwrap(), ["evt_1"]);
    assert!(known("bank").await.unwrap().is_empty());
    assert_eq!(stored(&fixture).await.len(), 1);
    let counts = counts(&fixture).await;
    assert_eq!((counts[0].received, counts[0].mapped), (3, 1));
}

async fn the_same_id_of_another_source_is_another_event(fixture: Fixture) {
    for source in ["shop", "bank"] {
        assert!(receive(&fixture, event(source, "evt_1", mapped(&open_alert(source)))).await);
    }

    assert_eq!(stored(&fixture).await.len(), 2);
    let names: Vec<String> = counts(&fixture).await.into_iter().map(|counts| counts.name).collect();
    assert_eq!(names, ["bank", "shop"]);
}

async fn events_that_come_in_any_order_are_one_alert(fixture: Fixture) {
    let alert = open_alert("P-1");
    let told = Alert { issuer: "HSBC".to_owned(), ..alert.clone() };
    for (id, alert) in [("evt_2", &told), ("evt_1", &alert), ("evt_3", &told)] {
        assert!(receive(&fixture, event("shop", id, mapped(alert))).await);
    }

    let stored = stored(&fixture).await;

    assert_eq!((stored.len(), stored[0].issuer.as_str(), stored[0].deadline), (1, "HSBC", alert.deadline));
    let events = fixture.store.source_events(fixture.organization, "shop", EventsOf::Shown, 10).await.unwrap();
    assert!(events.iter().all(|event| event.alert == Some(stored[0].id)), "{events:?}");
}

async fn what_could_not_be_mapped_is_kept_and_mapped_once_later(fixture: Fixture) {
    receive(&fixture, event("shop", "evt_1", unmapped())).await;
    receive(&fixture, event("shop", "evt_2", EventResult::Ignored)).await;
    receive(&fixture, event("shop", "evt_3", mapped(&open_alert("P-3")))).await;
    let open = |after| {
        let (store, of) = (Arc::clone(&fixture.store), fixture.organization);
        async move { store.source_events(of, "shop", EventsOf::OpenAfter(after), 10).await.unwrap() }
    };
    let kept = open(0).await;
    assert_eq!(kept.iter().map(|event| event.event.as_str()).collect::<Vec<_>>(), ["evt_1", "evt_2"]);
    assert_eq!(kept[0].reasons, ["amount is wrong: a decimal is needed", "no kind"]);
    assert_eq!(open(kept[0].number).await.len(), 1);
    let remap = |result| fixture.store.remap_event(fixture.organization, kept[0].id, result, noon());

    let told = [
        remap(unmapped()).await.unwrap(),
        remap(mapped(&open_alert("P-1"))).await.unwrap(),
        remap(mapped(&open_alert("P-2"))).await.unwrap(),
    ];

    assert_eq!(told, [true, true, false]);
    let names: Vec<String> = stored(&fixture).await.into_iter().map(|alert| alert.provider_id).collect();
    assert_eq!(names, ["P-1", "P-3"]);
    let counts = counts(&fixture).await.remove(0);
    assert_eq!((counts.received, counts.mapped, counts.ignored, counts.unmapped), (3, 2, 1, 0));
}

async fn what_waits_for_a_map_stands_before_newer_events(fixture: Fixture) {
    let results = [unmapped(), unmapped(), mapped(&open_alert("P-1")), EventResult::Ignored];
    for (number, result) in results.into_iter().enumerate() {
        receive(&fixture, event("shop", &format!("evt_{number}"), result)).await;
    }
    let of = |size| fixture.store.source_events(fixture.organization, "shop", EventsOf::Shown, size);

    let (all, first) = (of(10).await.unwrap(), of(1).await.unwrap());

    let names: Vec<&str> = all.iter().chain(&first).map(|event| event.event.as_str()).collect();
    assert_eq!(names, ["evt_1", "evt_0", "evt_3", "evt_2", "evt_1"]);
}

async fn what_was_rejected_is_only_counted(fixture: Fixture) {
    for _ in 0..2 {
        fixture.store.count_rejected(fixture.organization, "shop", noon()).await.unwrap();
    }

    let counts = counts(&fixture).await.remove(0);

    assert_eq!((counts.rejected, counts.received, counts.last_received), (2, 0, None));
}

async fn an_answered_alert_is_not_set_back_by_a_late_event(fixture: Fixture) {
    let alert = open_alert("P-1");
    receive(&fixture, event("shop", "evt_2", mapped(&alert))).await;
    let known = stored(&fixture).await.remove(0);
    let answered = resolve(&fixture, claim(&fixture, &known)).await;

    receive(&fixture, event("shop", "evt_1", mapped(&alert))).await;

    let after = fixture.get(&known).await;
    assert!(after.outcome.is_some());
    assert_eq!((after.status, after.outcome), (answered.status, answered.outcome));
}

async fn an_expired_alert_is_not_set_back_by_a_late_event(fixture: Fixture) {
    let alert = open_alert("P-1");
    receive(&fixture, event("shop", "evt_2", mapped(&alert))).await;
    let known = stored(&fixture).await.remove(0);
    let late = known.deadline.moment().unwrap() + Duration::days(1);
    fixture.store.expire_due(late, 10).await.unwrap();
    let news = Alert { deadline: Deadline::At(late + Duration::days(2)), issuer: "HSBC".to_owned(), ..alert.clone() };

    fixture.store.receive_event(fixture.organization, event("shop", "evt_1", mapped(&news)), late).await.unwrap();

    let after = fixture.get(&known).await;
    assert_eq!((after.status, after.deadline, after.issuer.as_str()), (AlertStatus::Expired, known.deadline, "HSBC"));
}

/// The event as its sender sent it so many minutes after noon.
fn sent(minutes: i64, event: IncomingEvent) -> IncomingEvent {
    IncomingEvent { sent_at: Some(noon() + Duration::minutes(minutes)), ..event }
}

async fn an_event_that_was_sent_earlier_fills_in_what_is_unknown_and_changes_nothing_else(fixture: Fixture) {
    let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let of = |issuer: &str, mcc: &str| Alert { issuer: issuer.to_owned(), mcc: given(mcc), ..open_alert("P-1") };
    let told = async |minutes, id: &str, alert: Alert| {
        receive(&fixture, sent(minutes, event("shop", id, mapped(&alert)))).await;
        let known = stored(&fixture).await.remove(0);
        (known.issuer, known.mcc.unwrap_or_default())
    };

    let first = told(5, "evt_2", of("HSBC", "")).await;
    let earlier = told(1, "evt_1", of("Bank of old", "5411")).await;
    let later = told(9, "evt_3", of("Santander", "5812")).await;

    let words = |issuer: &str, mcc: &str| (issuer.to_owned(), mcc.to_owned());
    assert_eq!(first, words("HSBC", ""));
    assert_eq!(earlier, words("HSBC", "5411"));
    assert_eq!(later, words("Santander", "5812"));
}

fn dispute(status: &str, reason: Option<&str>) -> EventResult {
    let report = TruthReport {
        id: "dp_1".to_owned(),
        status: Some(status.to_owned()),
        reason: reason.map(str::to_owned),
        ..TruthReport::default()
    };
    EventResult::Report(Box::new(TruthReport { transaction_id: Some("TX-7".to_owned()), ..report }))
}

async fn a_report_is_stored_with_its_event_and_an_earlier_one_does_not_set_it_back(fixture: Fixture) {
    let alert = Alert { transaction_id: Some("TX-7".to_owned()), ..open_alert("P-1") };
    receive(&fixture, event("shop", "evt_0", mapped(&alert))).await;
    let known = stored(&fixture).await.remove(0);
    let truth = async || {
        let mut reports = fixture.store.truth_of(fixture.organization, known.id).await.unwrap();
        assert_eq!(reports.len(), 1);
        let (report, _) = reports.remove(0);
        (report.status.unwrap_or_default(), report.reason)
    };

    receive(&fixture, sent(5, event("shop", "evt_2", dispute("lost", None)))).await;
    let first = truth().await;
    receive(&fixture, sent(1, event("shop", "evt_1", dispute("needs_response", Some("4837"))))).await;
    let earlier = truth().await;
    receive(&fixture, sent(9, event("shop", "evt_3", dispute("won", None)))).await;
    let later = truth().await;

    assert_eq!(first, ("lost".to_owned(), None));
    assert_eq!(earlier, ("lost".to_owned(), Some("4837".to_owned())));
    assert_eq!(later, ("won".to_owned(), Some("4837".to_owned())));
    let events = fixture.store.source_events(fixture.organization, "shop", EventsOf::Shown, 1).await.unwrap();
    let report = Some((TruthKind::Dispute, "dp_1".to_owned()));
    assert_eq!((events[0].state, &events[0].alert, &events[0].report), (EventState::Mapped, &None, &report));
    assert_eq!(counts(&fixture).await[0].mapped, 4);
}

/// An endpoint that is marked for failing sources; what it was told of them, in order.
async fn watcher(fixture: &Fixture) -> impl AsyncFn() -> Vec<String> {
    let auth = EndpointAuth::Header { name: "X-Token".to_owned(), value: Secret::new("t") };
    let mut endpoint = NewEndpoint::new("https://shop.example/".parse().unwrap(), auth);
    endpoint.subscription.events = vec![EventKind::SourceFailing];
    fixture.store.add_endpoint(fixture.organization, endpoint, 32, noon()).await.unwrap().unwrap();
    let (store, of) = (Arc::clone(&fixture.store), fixture.organization);
    async move || {
        let page = store.deliveries(of, DeliveryFilter::default()).await.unwrap();
        let mut told = Vec::new();
        for delivery in page.data.iter().rev() {
            told.push(store.delivery(of, delivery.id).await.unwrap().unwrap().body);
        }
        told
    }
}

async fn a_source_that_fails_for_ten_minutes_is_reported_once_until_it_works_again(fixture: Fixture) {
    let told = watcher(&fixture).await;
    let at = |minutes| noon() + Duration::minutes(minutes);
    let fails = async |minutes| fixture.store.count_rejected(fixture.organization, "shop", at(minutes)).await.unwrap();
    let comes = async |minutes, id: &str, result| {
        let event = event("shop", id, result);
        fixture.store.receive_event(fixture.organization, event, at(minutes)).await.unwrap();
    };

    fails(0).await;
    comes(9, "evt_1", unmapped()).await;
    let before = told().await;
    fails(10).await;
    fails(11).await;
    let after = told().await;
    comes(12, "evt_2", mapped(&open_alert("P-1"))).await;
    fails(13).await;
    let again = told().await;
    comes(23, "evt_3", unmapped()).await;

    assert_eq!(before, Vec::<String>::new());
    assert_eq!(after, ["source.failing shop events the signatures of its events are wrong"]);
    assert_eq!(again, after);
    assert_eq!(told().await[1..], ["source.failing shop events its events cannot be mapped"]);
}

async fn a_list_that_cannot_be_polled_is_reported_beside_events_that_come(fixture: Fixture) {
    let told = watcher(&fixture).await;
    let polled = async |minutes, failure: Option<&str>| {
        let at = noon() + Duration::minutes(minutes);
        fixture.store.end_poll(fixture.organization, "shop", "refunds", failure.map(str::to_owned), at).await.unwrap();
    };

    polled(0, Some("it answered 500")).await;
    receive(&fixture, event("shop", "evt_1", mapped(&open_alert("P-1")))).await;
    polled(5, None).await;
    polled(6, Some("it answered 500")).await;
    polled(10, Some("it answered 500")).await;
    let before = told().await;
    polled(16, Some("it answered 503")).await;

    assert_eq!(before, Vec::<String>::new());
    assert_eq!(told().await, ["source.failing shop refunds it answered 503"]);
}

async fn an_alert_that_was_there_before_keeps_that_no_source_brought_it(fixture: Fixture) {
    let alert = open_alert("P-1");
    fixture.bring(std::slice::from_ref(&alert)).await;

    receive(&fixture, event("shop", "evt_1", mapped(&alert))).await;

    assert_eq!(fixture.get(&alert).await.origin, None);
}

async fn bodies_open_after_the_data_key_was_rotated(fixture: Fixture) {
    receive(&fixture, event("shop", "evt_1", unmapped())).await;

    let key = fixture.key_file();
    avert::store::rekeying::rotate_data_key(&fixture.store, &key, None, noon(), |_| {}).await.unwrap();

    let events = fixture.store.source_events(fixture.organization, "shop", EventsOf::Shown, 10).await.unwrap();
    assert_eq!(events[0].body, b"body of evt_1");
}

async fn events_beyond_their_retention_are_pruned_and_their_alerts_stay(fixture: Fixture) {
    receive(&fixture, event("shop", "evt_1", mapped(&open_alert("P-1")))).await;
    let later = noon() + Duration::days(1);
    fixture.store.receive_event(fixture.organization, event("shop", "evt_2", unmapped()), later).await.unwrap();

    let cut_offs = CutOffs { source_events: Some(later), ..CutOffs::default() };
    let pruned = fixture.store.prune(cut_offs, 10, later).await.unwrap();

    assert_eq!(pruned.source_events, 1);
    let events = fixture.store.source_events(fixture.organization, "shop", EventsOf::Shown, 10).await.unwrap();
    assert_eq!(events.iter().map(|event| event.event.as_str()).collect::<Vec<_>>(), ["evt_2"]);
    assert_eq!(stored(&fixture).await.len(), 1);
}

#[tokio::test]
async fn no_body_is_in_the_file_as_it_came() {
    let directory = tempfile::tempdir().unwrap();
    let fixture = Fixture::start(Arc::new(Sqlite::at(directory.path()))).await;
    let secret = IncomingEvent { body: b"4111111111111111".to_vec(), ..event("shop", "evt_1", unmapped()) };

    receive(&fixture, secret).await;

    let holds = |bytes: &[u8]| bytes.windows(16).any(|window| window == b"4111111111111111");
    let files = fs::read_dir(file(directory.path()).parent().unwrap()).unwrap();
    let found: Vec<_> = files.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    assert!(found.len() >= 2 && found.iter().all(|path| !holds(&fs::read(path).unwrap())), "{found:?}");
}

#[tokio::test]
async fn what_comes_and_what_is_rejected_write_in_one_order_and_do_not_deadlock() {
    let Some(ground) = Postgres::fresh().await else { return };
    let hands = ground.database.client().await;
    let fixture = Fixture::start(Arc::new(ground)).await;
    let noted = "CREATE TABLE written (number bigserial, name text);
        CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN INSERT INTO written (name) VALUES (TG_TABLE_NAME); RETURN NULL; END $$;
        CREATE TRIGGER noted AFTER INSERT ON source_count FOR EACH STATEMENT EXECUTE FUNCTION note();
        CREATE TRIGGER noted AFTER INSERT ON source_failing FOR EACH STATEMENT EXECUTE FUNCTION note();";
    hands.batch_execute(noted).await.unwrap();

    receive(&fixture, event("shop", "evt_1", unmapped())).await;
    fixture.store.count_rejected(fixture.organization, "shop", noon()).await.unwrap();

    let written = hands.query("SELECT name FROM written ORDER BY number", &[]).await.unwrap();
    let written: Vec<String> = written.iter().map(|row| row.get(0)).collect();
    assert_eq!(written, ["source_failing", "source_count", "source_failing", "source_count"]);
}
