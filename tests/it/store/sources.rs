//! Sources: an event is stored once, sealed, with its alert in the same commit, and counted.

use std::{fs, sync::Arc};

use avert::{
    domain::{
        Alert, Answers, CutOffs, DeliveryFilter, EndpointAuth, EventState, FieldError, NewEndpoint, Origin, Secret,
        source::SourceStatus,
    },
    store::{EventResult, EventsOf, IncomingEvent},
};
use chrono::Duration;

use super::{
    Fixture,
    ground::Sqlite,
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
    what_was_rejected_is_only_counted,
    an_answered_alert_is_not_set_back_by_a_late_event,
    an_alert_that_was_there_before_keeps_that_no_source_brought_it,
    bodies_open_after_the_data_key_was_rotated,
    events_beyond_their_retention_are_pruned_and_their_alerts_stay,
);

fn origin() -> Option<Origin> {
    Some(Origin { source: "shop".to_owned(), answers: Answers::Here })
}

fn mapped(alert: &Alert) -> EventResult {
    EventResult::Alert(Box::new(row(&Alert { origin: origin(), ..alert.clone() }, true).without("id")))
}

fn unmapped() -> EventResult {
    EventResult::Unmapped(vec![FieldError::new("amount", "is missing"), FieldError::new("", "no kind")])
}

fn event(source: &str, id: &str, result: EventResult) -> IncomingEvent {
    IncomingEvent {
        source: source.to_owned(),
        event: id.to_owned(),
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
    let events = fixture.store.source_events(fixture.organization, "shop", EventsOf::Newest, 10).await.unwrap();
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
    let events = fixture.store.source_events(fixture.organization, "shop", EventsOf::Newest, 10).await.unwrap();
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
    assert_eq!(kept[0].reasons, ["amount is missing", "no kind"]);
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

async fn what_was_rejected_is_only_counted(fixture: Fixture) {
    for _ in 0..2 {
        fixture.store.count_rejected(fixture.organization, "shop").await.unwrap();
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

    let events = fixture.store.source_events(fixture.organization, "shop", EventsOf::Newest, 10).await.unwrap();
    assert_eq!(events[0].body, b"body of evt_1");
}

async fn events_beyond_their_retention_are_pruned_and_their_alerts_stay(fixture: Fixture) {
    receive(&fixture, event("shop", "evt_1", mapped(&open_alert("P-1")))).await;
    let later = noon() + Duration::days(1);
    fixture.store.receive_event(fixture.organization, event("shop", "evt_2", unmapped()), later).await.unwrap();

    let cut_offs = CutOffs { source_events: Some(later), ..CutOffs::default() };
    let pruned = fixture.store.prune(cut_offs, 10, later).await.unwrap();

    assert_eq!(pruned.source_events, 1);
    let events = fixture.store.source_events(fixture.organization, "shop", EventsOf::Newest, 10).await.unwrap();
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
