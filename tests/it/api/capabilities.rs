//! The contract of the capabilities beyond the interface: the same sentences hold whichever handle is asked, the
//! engine's own or a client across HTTP with an operator's key. What a handle shows is what the engine shows.

use std::sync::Arc;

use avert::{
    client::{AccessCredential, Client},
    domain::{
        Alert, AlertFilter, AlertId, AlertPatch, AlertQuery, AlertStatus, AtRisk, AttemptId, CaCertificates, Calendar,
        CardScheme, CredentialKind, Currency, Deadline, DeliveryFilter, DeliveryId, DeliveryState, EndpointAuth,
        EndpointChange, EndpointId, EventKind, FindQuery, IngestOptions, KeyScope, NewEndpoint, Outcome, RefundProof,
        RefundState, SalesCount, Secret, SigningChange, TruthKind, TruthReport,
        query::{Vocabulary, parse},
        rule::automatic::{RuleState, StopReason},
        url::{EndpointUrl, PlainHttp},
    },
    service::{
        Alerts, Attempts, Audit, Changes, Credentials, Deployment, Find, Intake, Rules as _, ServiceError, Sources,
        Stats, Truth, Webhooks,
    },
    wire::Dialect,
};
use chrono::Duration;

use super::served::{PATIENCE, Served};
use crate::support::{
    alerts::{noon, open_alert},
    client::client_of,
    tls::Authority,
};

/// A way to the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Its own handle, in this process.
    InProcess,
    /// A client across HTTP with an operator's key, in the current dialect.
    OverHttp,
    /// The same beside client credentials, in the older dialect.
    OverHttpByToken,
}

fn client(served: &Served, operator_key: Option<&str>) -> Client {
    let credential = AccessCredential::ApiKey(Secret::new(served.key.clone()));
    client_of(&format!("http://{}", served.address), Dialect::Current, credential, operator_key, served.clock.clone())
}

async fn open(way: Way) -> (Served, Deployment) {
    let served = Served::start().await;
    let deployment = match way {
        Way::InProcess => Deployment::whole(Arc::new(served.acting.clone())),
        Way::OverHttp => client(&served, Some(&served.operator_key)).deployment(),
        Way::OverHttpByToken => {
            let created = served.acting.create_credential(CredentialKind::Client).await.unwrap();
            let credential = AccessCredential::ClientCredentials { id: created.credential.id, secret: created.secret };
            let url = format!("http://{}", served.address);
            client_of(&url, Dialect::Older, credential, Some(&served.operator_key), served.clock.clone()).deployment()
        }
    };
    (served, deployment)
}

fn endpoint_at(url: &str) -> NewEndpoint {
    let auth = EndpointAuth::Header { name: "X-API-Key".to_owned(), value: Secret::new("k3y") };
    NewEndpoint::new(EndpointUrl::parse(url, PlainHttp::Allowed).unwrap(), auth)
}

/// Runs each sentence in every way.
macro_rules! sentences {
    ($($name:ident,)+) => {$(
        mod $name {
            use super::Way;

            #[tokio::test]
            async fn in_process() {
                super::$name(Way::InProcess).await;
            }

            #[tokio::test]
            async fn over_http() {
                super::$name(Way::OverHttp).await;
            }

            #[tokio::test]
            async fn over_http_in_the_older_dialect() {
                super::$name(Way::OverHttpByToken).await;
            }
        }
    )+};
}

sentences! {
    an_endpoint_is_added_changed_and_removed,
    deliveries_are_listed_told_and_sent_again,
    a_test_event_tells_what_came_of_it,
    a_parked_attempt_is_seen_and_decided_by_a_person,
    the_audit_log_is_read_as_far_back_as_is_asked,
    counts_and_money_at_risk_are_those_of_the_engine,
    insights_within_a_filter_are_those_of_the_engine,
    sums_within_a_filter_are_those_of_the_engine,
    conditions_are_answered_in_this_process_and_refused_across_http,
    a_search_over_all_fields_finds_what_the_engine_finds,
    alerts_on_one_payment_are_found_by_its_reference_whatever_the_card,
    alerts_come_in_with_what_was_given_of_them_and_are_rejected_by_their_lines,
    a_change_is_heard_of_and_none_is_missed,
    whether_anything_can_be_written_is_told,
    reports_and_proofs_are_recorded_and_told_as_the_engine_tells_them,
    sales_are_entered_and_sources_told_as_the_engine_tells_them,
    rules_are_told_with_what_they_did_and_stopped_and_started,
    what_is_not_there_not_valid_or_not_now_is_told_alike,
    a_credential_lives_from_its_creation_to_its_revocation,
}

async fn an_endpoint_is_added_changed_and_removed(way: Way) {
    let (served, deployment) = open(way).await;
    let webhooks = deployment.webhooks.unwrap();
    let signing = Some(Secret::for_signing());

    let ca_certificate: CaCertificates = Authority::new().pem().parse().unwrap();
    let new =
        NewEndpoint { signing, ca_certificate: ca_certificate.clone(), ..endpoint_at("http://shop.example/hooks") };
    let added = webhooks.add_endpoint(new).await.unwrap();
    let rotation = SigningChange::Rotate { secret: Secret::for_signing(), overlap: Duration::hours(2) };
    let all = EndpointChange {
        url: Some("https://shop.example/other".parse().unwrap()),
        auth: Some(EndpointAuth::Basic { username: "shop".to_owned(), password: Secret::new("pw") }),
        enabled: Some(false),
        signing: Some(rotation),
        ca_certificate: Some(CaCertificates::default()),
    };
    let changed = webhooks.change_endpoint(added.id, all).await.unwrap();
    let listed = webhooks.endpoints().await.unwrap();
    let stop = EndpointChange { signing: Some(SigningChange::Stop), ..EndpointChange::default() };
    let unsigned = webhooks.change_endpoint(added.id, stop).await.unwrap();
    let stored = served.acting.endpoints().await.unwrap();
    webhooks.remove_endpoint(added.id).await.unwrap();

    assert_eq!(
        (added.url.reveal(), added.auth.as_str(), added.signed),
        ("http://shop.example/hooks", "X-API-Key", true)
    );
    assert_eq!((changed.url.reveal(), changed.auth.as_str()), ("https://shop.example/other", "Basic"));
    assert_eq!(changed.old_secret_until, Some(noon() + Duration::hours(2)));
    assert_eq!([added.has_ca_certificate, changed.has_ca_certificate], [true, false]);
    assert!(changed.disabled.as_ref().is_some_and(|(at, _)| *at == noon()), "{changed:?}");
    assert_eq!(listed, [changed]);
    assert!(!unsigned.signed);
    assert_eq!(stored, [unsigned]);
    assert_eq!(webhooks.endpoints().await.unwrap(), []);
}

async fn alerts_on_one_payment_are_found_by_its_reference_whatever_the_card(way: Way) {
    let (served, deployment) = open(way).await;
    let duplicates = deployment.duplicates.unwrap();
    let reference = || Some("74320456118200319945216".to_owned());
    let other_card =
        Alert { card_last_four: "9876".to_owned(), acquirer_reference_number: reference(), ..open_alert("B") };
    let stranger = Alert { card_last_four: "5555".to_owned(), ..open_alert("C") };
    let brought = served
        .ingest(vec![Alert { acquirer_reference_number: reference(), ..open_alert("A") }, other_card, stranger])
        .await;
    let [one, other, alone] = [0, 1, 2].map(|at: usize| brought[at].id);

    let found = duplicates.duplicates(vec![one, other, alone, AlertId::generate()]).await.unwrap();

    let mut found: Vec<(AlertId, Vec<AlertId>)> =
        found.iter().map(|(id, others)| (*id, others.iter().map(|other| other.id).collect())).collect();
    let mut expected = vec![(one, vec![other]), (other, vec![one]), (alone, vec![])];
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

async fn a_search_over_all_fields_finds_what_the_engine_finds(way: Way) {
    let (served, deployment) = open(way).await;
    let find = deployment.find.unwrap();
    let order = |id: &str, order: &str| Alert { merchant_order_id: Some(order.to_owned()), ..open_alert(id) };
    let stored = served.ingest([order("A", "SO & Q7"), order("B", "so"), order("C", "SOQ7+x")].into()).await;
    let query = FindQuery::parse("SO Q7").unwrap();

    let found = find.find(&query, 10).await.unwrap();

    let ids = |alerts: &[Alert]| alerts.iter().map(|alert| alert.id).collect::<Vec<_>>();
    assert_eq!(ids(&found), ids(&served.acting.find(&query, 10).await.unwrap()));
    assert_eq!(found.len(), 2, "of {} alerts", stored.len());
    assert_eq!(find.find(&query, 1).await.unwrap().len(), 1);
    assert_eq!(find.find(&FindQuery::parse("nobody").unwrap(), 10).await.unwrap(), []);
    assert_eq!(ids(&find.find(&FindQuery::parse("q7+x").unwrap(), 10).await.unwrap()).len(), 1);
}

async fn deliveries_are_listed_told_and_sent_again(way: Way) {
    let (served, deployment) = open(way).await;
    let webhooks = deployment.webhooks.unwrap();
    let endpoint = webhooks.add_endpoint(endpoint_at("https://shop.example/hooks")).await.unwrap().id;
    let alerts = served.ingest(["A", "B", "C"].map(open_alert).into()).await;
    served.exhaust(noon()).await;
    let none = DeliveryFilter::default();
    let filters = [
        DeliveryFilter { size: Some(2), ..none.clone() },
        DeliveryFilter {
            states: vec![DeliveryState::Exhausted, DeliveryState::Leased],
            endpoint: Some(endpoint),
            ..none.clone()
        },
        DeliveryFilter { alert: Some(alerts[1].id), size: Some(1_000), ..none.clone() },
        DeliveryFilter { kind: Some(EventKind::AlertResolved), ..none.clone() },
    ];

    let mut pages = Vec::new();
    for filter in filters {
        let page = webhooks.deliveries(filter.clone()).await.unwrap();
        assert_eq!(page, served.acting.deliveries(filter).await.unwrap());
        pages.push(page);
    }
    let next = DeliveryFilter { after: pages[0].next, ..none.clone() };
    let rest = webhooks.deliveries(next.clone()).await.unwrap();
    let of_event = DeliveryFilter { event: Some(rest.data[0].event), ..none };
    let of_event = webhooks.deliveries(of_event).await.unwrap();
    let at = rest.data[0].at;
    let since = webhooks.deliveries(DeliveryFilter { from: Some(at), ..DeliveryFilter::default() }).await.unwrap();
    let before = webhooks.deliveries(DeliveryFilter { until: Some(at), ..DeliveryFilter::default() }).await.unwrap();
    let log = webhooks.delivery(rest.data[0].id).await.unwrap();
    let again = webhooks.redeliver(log.delivery.id).await.unwrap();
    let others = webhooks.redeliver_exhausted(endpoint).await.unwrap();

    assert_eq!(pages.iter().map(|page| page.data.len()).collect::<Vec<_>>(), [2, 3, 1, 0]);
    assert_eq!((rest.data.len(), rest.next, of_event.data), (1, None, rest.data));
    assert_eq!(
        (log.attempts.len(), log.attempts[0].status, log.attempts[0].answer.as_str()),
        (1, Some(500), "out of order")
    );
    assert_eq!((since.data.len(), before.data.len()), (3, 0));
    assert!(log.body.contains("alert.created"));
    assert_eq!((again.state, others), (DeliveryState::Pending, 2));
    assert_eq!(webhooks.delivery(log.delivery.id).await, served.acting.delivery(log.delivery.id).await);
}

async fn a_test_event_tells_what_came_of_it(way: Way) {
    let (served, deployment) = open(way).await;
    let webhooks = deployment.webhooks.unwrap();
    let endpoint = webhooks.add_endpoint(endpoint_at("https://shop.example/hooks")).await.unwrap().id;

    let log = webhooks.test_endpoint(endpoint).await.unwrap();

    assert_eq!((log.delivery.test, log.delivery.endpoint, log.attempts.len()), (true, endpoint, 1));
    assert!(log.attempts[0].error.is_some() && log.attempts[0].sent.is_some(), "{log:?}");
    assert_eq!(served.acting.delivery(log.delivery.id).await.unwrap(), log);
}

async fn a_parked_attempt_is_seen_and_decided_by_a_person(way: Way) {
    let (served, deployment) = open(way).await;
    let attempts = deployment.attempts.unwrap();
    let ((alert, first), (_, second)) = (served.parked().await, served.parked().await);

    let seen = attempts.unfinished().await.unwrap();
    let applied = attempts.decide_parked(first, true).await.unwrap();
    let once_more = attempts.decide_parked(first, true).await;
    let not_applied = attempts.decide_parked(second, false).await.unwrap();

    assert_eq!(
        seen.iter().map(|attempt| (attempt.id, attempt.state.as_str())).collect::<Vec<_>>(),
        [(first, "PARKED"), (second, "PARKED")]
    );
    assert_eq!(seen[0].resolution.comments(), "told");
    assert_eq!((applied.id, applied.outcome.map(|outcome| outcome.comments).as_deref()), (alert, Some("told")));
    assert!(matches!(&once_more, Err(ServiceError::Conflict(why)) if why.contains("does not wait")), "{once_more:?}");
    assert_eq!(not_applied.outcome, None);
    assert_eq!(attempts.unfinished().await, served.acting.unfinished().await);
}

async fn the_audit_log_is_read_as_far_back_as_is_asked(way: Way) {
    let (served, deployment) = open(way).await;
    let endpoint = served.acting.add_endpoint(endpoint_at("https://shop.example/hooks")).await.unwrap().id;
    for turn in 0..110 {
        let change = EndpointChange { enabled: Some(turn % 2 == 1), ..EndpointChange::default() };
        served.acting.change_endpoint(endpoint, change).await.unwrap();
    }
    let audit = deployment.audit.unwrap();

    for (before, size, expected) in [(None, 105, 105), (Some(5), 3, 3), (Some(3), 200, 2), (Some(1), 7, 0)] {
        let entries = audit.audit(before, size).await.unwrap();

        assert_eq!(entries.len(), expected);
        assert_eq!(entries, served.acting.audit(before, size).await.unwrap());
    }
}

async fn counts_and_money_at_risk_are_those_of_the_engine(way: Way) {
    let (served, deployment) = open(way).await;
    let soon = Alert { deadline: Deadline::At(noon() + Duration::hours(3)), ..open_alert("SOON") };
    let old = Alert { alert_time: Some(noon() - Duration::days(400)), ..open_alert("OLD") };
    served.ingest(vec![soon, old, open_alert("NEW")]).await;
    let stats = deployment.stats.unwrap();

    let counts = stats.counts().await.unwrap();
    let risks: Vec<Vec<AtRisk>> = [stats.at_risk(4).await.unwrap(), stats.at_risk(u32::MAX).await.unwrap()].into();

    assert_eq!((stats.count_all().await, counts.len()), (Ok(3), 2));
    assert_eq!(counts, served.acting.counts().await.unwrap());
    assert_eq!(risks.iter().map(|risk| risk.iter().map(|risk| risk.alerts).sum::<u64>()).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(risks, [served.acting.at_risk(4).await.unwrap(), served.acting.at_risk(u32::MAX).await.unwrap()]);
}

async fn insights_within_a_filter_are_those_of_the_engine(way: Way) {
    let (served, deployment) = open(way).await;
    let soon = Alert { deadline: Deadline::At(noon() + Duration::hours(3)), ..open_alert("SOON") };
    let far = Alert { deadline: Deadline::At(noon() + Duration::hours(100)), ..open_alert("FAR") };
    let old = Alert { alert_time: Some(noon() - Duration::days(400)), ..open_alert("OLD") };
    served.ingest(vec![soon, far, old]).await;
    let stats = deployment.stats.unwrap();

    for filter in [AlertFilter::default(), AlertFilter { q: Some("soon".to_owned()), ..AlertFilter::default() }] {
        for calendar in [Calendar::UTC, Calendar::of_minutes(345).unwrap(), Calendar::of_minutes(-210).unwrap()] {
            let insights = stats.insights(&filter, calendar).await.unwrap();

            let waiting: u64 = insights.kinds.iter().map(|kind| kind.waiting).sum();
            assert_eq!((waiting, insights.calendar), (if filter.q.is_some() { 1 } else { 3 }, calendar));
            assert_eq!(insights, served.acting.insights(&filter, calendar).await.unwrap());
        }
    }
}

async fn sums_within_a_filter_are_those_of_the_engine(way: Way) {
    let (served, deployment) = open(way).await;
    let dollars = Alert {
        currency: Currency::new("USD"),
        amount: Some("9223372036854.01".parse().unwrap()),
        ..open_alert("DOLLARS")
    };
    served.ingest(vec![open_alert("ONE"), open_alert("TWO"), dollars]).await;
    let stats = deployment.stats.unwrap();

    let all = stats.sums(&AlertFilter::default()).await.unwrap();
    let one = stats.sums(&AlertFilter { q: Some("dollars".to_owned()), ..AlertFilter::default() }).await.unwrap();

    assert_eq!(all.iter().map(|sum| (sum.alerts, sum.unpriced)).collect::<Vec<_>>(), [(2, 0), (1, 0)]);
    assert_eq!(
        one.iter().map(|sum| (sum.alerts, sum.money.to_string())).collect::<Vec<_>>(),
        [(1, "9,223,372,036,854.01 USD".to_owned())]
    );
    assert_eq!(all, served.acting.sums(&AlertFilter::default()).await.unwrap());
}

async fn conditions_are_answered_in_this_process_and_refused_across_http(way: Way) {
    let (served, deployment) = open(way).await;
    served.ingest(vec![Alert { mcc: Some("5941".to_owned()), ..open_alert("TOYS") }, open_alert("OTHER")]).await;
    let (filter, _) = parse("mcc:5941", Vocabulary::Desk).unwrap();

    let listed = deployment.alerts.list(&AlertQuery { filter: filter.clone(), ..AlertQuery::default() }).await;
    let counted = deployment.stats.unwrap().insights(&filter, Calendar::UTC).await;

    match way {
        Way::InProcess => {
            let waiting: u64 = counted.unwrap().kinds.iter().map(|kind| kind.waiting).sum();
            assert_eq!((listed.unwrap().total, waiting), (1, 1));
        }
        Way::OverHttp | Way::OverHttpByToken => {
            let refused = |error: ServiceError| match error {
                ServiceError::InvalidRequest(errors) => errors[0].field.clone(),
                other => panic!("{other}"),
            };
            assert_eq!(
                (refused(listed.unwrap_err()), refused(counted.unwrap_err())),
                ("mcc:5941".to_owned(), "mcc:5941".to_owned())
            );
            assert_ne!(deployment.vocabulary, Vocabulary::Desk);
        }
    }
}

async fn alerts_come_in_with_what_was_given_of_them_and_are_rejected_by_their_lines(way: Way) {
    let (served, deployment) = open(way).await;
    let intake = deployment.intake.unwrap();
    let row = |line, alert: Alert| AlertPatch::read(line, alert, false).without("status");
    let known = AlertId::generate();
    let until = noon() + Duration::hours(7);
    let rows = vec![
        row(3, Alert { deadline: Deadline::HoursLeft(5), ..open_alert("HOURS") }),
        row(5, Alert { amount: None, ..open_alert("NO-AMOUNT") }),
        AlertPatch::read(8, Alert { id: known, deadline: Deadline::At(until), ..open_alert("UNTIL") }, true),
        row(9, Alert { currency: Currency::new(""), ..open_alert("NO-CURRENCY") }),
    ];

    let report = intake.ingest(rows.clone(), IngestOptions { events: false }).await.unwrap();
    let again = intake.ingest(rows, IngestOptions { events: false }).await.unwrap();

    assert_eq!((report.created, report.updated, report.unchanged), (2, 0, 0));
    let rejected: Vec<_> = report.rejected.iter().map(|row| (row.line, row.error.field.as_str())).collect();
    assert_eq!(rejected, [(5, "amount"), (9, "currency")]);
    assert_eq!((again.created, again.unchanged, again.rejected.len()), (0, 2, 2));
    assert_eq!(served.acting.get(known).await.unwrap().deadline, Deadline::At(until));
    let all = served.acting.list(&AlertQuery::default()).await.unwrap().data;
    let hours = all.iter().find(|alert| alert.provider_id == "HOURS").unwrap();
    assert_eq!(hours.deadline, Deadline::At(noon() + Duration::hours(5)));
    assert_eq!(served.acting.deliveries(DeliveryFilter::default()).await.unwrap().data, []);
    assert_eq!(intake.companies().await, served.acting.companies().await);
}

async fn a_change_is_heard_of_and_none_is_missed(way: Way) {
    let (served, deployment) = open(way).await;
    let changes = deployment.changes.unwrap();

    let seen = changes.next_change(0).await.unwrap();
    let (heard, _) = tokio::join!(changes.next_change(seen), served.alert());
    let heard = heard.unwrap();
    // What happens while nobody listens is told to the next who does.
    served.alert().await;
    let newest = tokio::time::timeout(PATIENCE, changes.next_change(heard)).await.unwrap().unwrap();
    // Whoever stops waiting takes nothing away from others.
    assert!(
        tokio::time::timeout(std::time::Duration::from_millis(20), changes.next_change(u64::MAX - 1)).await.is_err()
            || way != Way::InProcess
    );
    let (first, second, _) = tokio::join!(changes.next_change(newest), changes.next_change(newest), served.alert());

    assert!(seen < heard && heard < newest, "{seen} {heard} {newest}");
    assert!(first.unwrap() > newest && second.unwrap() > newest);
    assert_eq!(changes.next_change(0).await, served.acting.next_change(0).await);
}

async fn whether_anything_can_be_written_is_told(way: Way) {
    let (_served, deployment) = open(way).await;

    assert_eq!(deployment.changes.unwrap().try_writing().await, Ok(()));
}

async fn reports_and_proofs_are_recorded_and_told_as_the_engine_tells_them(way: Way) {
    let (served, deployment) = open(way).await;
    let truth = deployment.truth.unwrap();
    let on = |id: &str| {
        let alert = Alert { transaction_id: Some(id.to_owned()), ..open_alert(id) };
        let outcome = Some(Outcome { action_time: Some(noon()), ..Outcome::sample(alert.id) });
        Alert { status: AlertStatus::Resolved, outcome, ..alert }
    };
    let alerts = served.ingest(vec![on("T-1"), on("T-2")]).await;
    let report = |kind, cells: &[(&'static str, &str)]| TruthReport::of_cells(kind, cells.iter().copied()).unwrap();
    // More than one request takes.
    let strangers = (0..100).map(|id| report(TruthKind::Fraud, &[("id", &format!("F-{id}")), ("reason", "6")]));
    let money = [("amount", "129.90"), ("currency", "EUR"), ("at", "2026-03-11T10:00:00Z")];
    let dispute = [[("id", "D-1"), ("transaction_id", "T-1")].as_slice(), &money].concat();
    let refund = [("id", "re_2"), ("reference", "7001"), ("transaction_id", "T-2"), ("status", "failed")];
    let reports = strangers.chain([report(TruthKind::Dispute, &dispute), report(TruthKind::Refund, &refund)]);
    let proof = RefundProof {
        reference: "re_1".to_owned(),
        amount: "129.90".parse().ok(),
        currency: Some(Currency::new("EUR")),
        state: RefundState::Succeeded,
    };

    let counts = truth.record_truth(reports.clone().collect()).await.unwrap();
    let again = truth.record_truth(reports.collect()).await.unwrap();
    let kept = truth.keep_refund(alerts[0].id, proof.clone()).await.unwrap();
    let refunds = truth.refunds(alerts.iter().map(|alert| alert.id).collect()).await.unwrap();
    let (held, contradictions) = (truth.held(30).await.unwrap(), truth.contradictions().await.unwrap());
    truth.dismiss_contradictions(alerts[0].id).await.unwrap();
    let left = truth.contradictions().await.unwrap();
    let nobodys = truth.keep_refund(AlertId::generate(), proof.clone()).await;
    let nameless = truth.keep_refund(alerts[0].id, RefundProof { reference: "N/A".to_owned(), ..proof.clone() }).await;

    assert_eq!((counts.created, counts.matched, again.unchanged), (102, 2, 102));
    assert_eq!((kept, refunds), (proof.clone(), vec![(alerts[0].id, proof.clone())]));
    assert_eq!(held.iter().map(|count| (count.answered, count.disputed)).collect::<Vec<_>>(), [(2, 1)]);
    assert_eq!(held, served.acting.held(30).await.unwrap());
    assert_eq!((contradictions.len(), left.len()), (2, 1));
    assert_eq!(left, served.acting.contradictions().await.unwrap());
    assert!(contradictions.iter().any(|item| item.refund.as_ref() == Some(&proof)), "{contradictions:?}");
    assert!(matches!(nobodys, Err(ServiceError::AlertNotFound(_))), "{nobodys:?}");
    assert!(matches!(nameless, Err(ServiceError::InvalidRequest(_))), "{nameless:?}");
}

async fn sales_are_entered_and_sources_told_as_the_engine_tells_them(way: Way) {
    let (served, deployment) = open(way).await;
    let (truth, sources) = (deployment.truth.unwrap(), deployment.sources.unwrap());
    let month = |month: &str| month.parse().unwrap();

    truth.enter_sales(month("2026-02"), CardScheme::Visa, 7).await.unwrap();
    let entered = truth.enter_sales(month("2026-02"), CardScheme::Visa, 118_200).await.unwrap();
    let other = truth.enter_sales(month("2026-03"), CardScheme::Mastercard, 9).await.unwrap();
    let to_come = truth.enter_sales(month("2026-04"), CardScheme::Visa, 9).await;

    assert_eq!(entered, SalesCount { count: 118_200, entered_at: noon(), ..entered });
    assert_eq!(truth.sales().await.unwrap(), [other, entered]);
    assert_eq!(served.acting.sales().await.unwrap(), [other, entered]);
    assert!(matches!(to_come, Err(ServiceError::InvalidRequest(_))), "{to_come:?}");
    assert_eq!(sources.sources().await.unwrap(), served.acting.sources().await.unwrap());
}

async fn rules_are_told_with_what_they_did_and_stopped_and_started(way: Way) {
    let (served, deployment) = open(way).await;
    let rules = deployment.rules.unwrap();
    served.alert().await;
    served.engine.answer_by_rules_once(0).await.unwrap();

    let active = rules.rules().await.unwrap();
    rules.stop_rules().await.unwrap();
    let stopped = rules.rules().await.unwrap().remove(0);
    rules.start_rules().await.unwrap();
    let started = rules.rules().await.unwrap();

    assert_eq!((&active, active[0].state, active[0].today.answered), (&started, RuleState::Active, 1));
    assert_eq!((stopped.state, stopped.reason), (RuleState::Stopped, Some(StopReason::Operator)));
    assert_eq!(active, served.acting.rules().await.unwrap());
}

async fn what_is_not_there_not_valid_or_not_now_is_told_alike(way: Way) {
    let (served, deployment) = open(way).await;
    let (webhooks, attempts) = (deployment.webhooks.unwrap(), deployment.attempts.unwrap());
    let no_endpoint: EndpointId = "018f0000-0000-7000-8000-0000000000ab".parse().unwrap();
    let (no_delivery, no_attempt) = (DeliveryId(no_endpoint.0), AttemptId(no_endpoint.0));
    let endpoint = webhooks.add_endpoint(endpoint_at("https://shop.example/hooks")).await.unwrap().id;
    served.alert().await;
    let delivery = webhooks.deliveries(DeliveryFilter::default()).await.unwrap().data.remove(0).id;
    let off = EndpointChange { enabled: Some(false), ..EndpointChange::default() };
    webhooks.change_endpoint(endpoint, off).await.unwrap();
    let ours = &served.acting;

    assert_eq!(webhooks.remove_endpoint(no_endpoint).await, ours.remove_endpoint(no_endpoint).await);
    assert_eq!(
        webhooks.test_endpoint(no_endpoint).await,
        Err(ServiceError::NotFound(format!("endpoint {no_endpoint}")))
    );
    assert_eq!(webhooks.delivery(no_delivery).await, ours.delivery(no_delivery).await);
    assert_eq!(attempts.decide_parked(no_attempt, true).await, ours.decide_parked(no_attempt, true).await);
    assert_eq!(webhooks.redeliver(delivery).await, ours.redeliver(delivery).await);
    assert!(matches!(webhooks.redeliver_exhausted(endpoint).await, Err(ServiceError::Conflict(_))));
    let wrong = NewEndpoint { signing: Some(Secret::new("x")), ..endpoint_at("https://shop.example") };
    assert_eq!(webhooks.add_endpoint(wrong.clone()).await, ours.add_endpoint(wrong).await);
}

async fn a_credential_lives_from_its_creation_to_its_revocation(way: Way) {
    let (served, deployment) = open(way).await;
    let credentials = deployment.credentials.unwrap();

    for kind in [CredentialKind::Key(KeyScope::Alerts), CredentialKind::Key(KeyScope::Operator), CredentialKind::Client]
    {
        let created = credentials.create_credential(kind).await.unwrap();
        let listed = credentials.credentials().await.unwrap();
        let revoked = credentials.revoke_credential(kind, &created.credential.id).await.unwrap();

        assert_eq!((created.credential.kind, created.secret.reveal().is_empty()), (kind, false));
        assert!(listed.credentials.contains(&created.credential), "{listed:?}");
        assert_eq!((revoked.credential.id, revoked.credential.revoked_at), (created.credential.id, Some(noon())));
    }
    drop(served);
}

#[tokio::test]
async fn without_an_operators_key_nothing_beyond_the_interface_is_there() {
    let served = Served::start().await;

    let Deployment { intake, webhooks, credentials, attempts, audit, stats, changes, .. } =
        client(&served, None).deployment();

    assert!(intake.is_none() && webhooks.is_none() && credentials.is_none() && attempts.is_none());
    assert!(audit.is_none() && stats.is_none() && changes.is_none());
}

#[tokio::test]
async fn a_wait_for_a_change_ends_where_the_key_does_and_goes_on_where_the_data_were_restored() {
    let served = Served::start().await;
    let client = client(&served, Some(&served.operator_key));
    let newest = client.next_change(0).await.unwrap();

    // A number that is not reached yet is from before the data were restored: the newest one comes at once.
    let fresh = self::client(&served, Some(&served.operator_key));
    assert_eq!(tokio::time::timeout(PATIENCE, fresh.next_change(newest + 1_000)).await.unwrap(), Ok(newest));

    let id = served.operator_key.split('_').nth(2).unwrap().to_owned();
    let (ended, revoked) = tokio::join!(
        client.next_change(newest),
        served.acting.revoke_credential(CredentialKind::Key(KeyScope::Operator), &id)
    );

    revoked.unwrap();
    assert!(matches!(ended, Err(ServiceError::NotAuthorized(_))), "{ended:?}");
}

#[tokio::test]
async fn a_key_that_is_no_operators_opens_nothing_beyond_the_interface() {
    let served = Served::start().await;
    let client = client(&served, Some(&served.key));

    assert!(matches!(client.endpoints().await, Err(ServiceError::NotAuthorized(_))));
    assert!(matches!(client.next_change(0).await, Err(ServiceError::NotAuthorized(_))));
    assert!(matches!(client.unfinished().await, Err(ServiceError::NotAuthorized(_))));
    assert!(matches!(client.audit(None, 1).await, Err(ServiceError::NotAuthorized(_))));
    assert!(matches!(client.count_all().await, Err(ServiceError::NotAuthorized(_))));
    assert!(matches!(client.ingest(Vec::new(), IngestOptions { events: true }).await,
            Ok(report) if report == avert::domain::IngestReport::default()));
}
