//! The contract of `Alerts`: the same sentences hold whichever handle is asked, the engine's own or a client across
//! HTTP, also at a deployment that spells all it answers in its own way. That of the capabilities beyond the interface
//! is in `api/capabilities.rs`.
//!
//! A further way to the engine is a variant of [`Way`], its opening in [`World::open_with`], and a line in
//! `sentences!`.

use std::{collections::BTreeSet, net::Ipv4Addr, sync::Arc, time::Duration};

use avert::{
    api::{self, ApiOptions},
    client::AccessCredential,
    domain::{
        Alert, AlertFilter, AlertId, AlertQuery, AlertStatus, AlertType, CreatedCredential, CredentialKind, Deadline,
        KeyScope, PageRequest, Provider, Resolution, Sort, SortField, SortOrder, decide,
        resolution::{Decision, OlderRefunded, OlderWord},
    },
    engine::{ActingEngine, Engine, EngineSettings},
    providers::{AlertProvider, Cause, Declined, SubmitResult},
    service::{Alerts, Credentials, ResolveRequest, ServiceError},
    wire::Dialect,
};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::support::{
    alerts::{NOON, noon, open_alert},
    client::client_of,
    clock::ManualClock,
    engine::{Gate, acting, bring_in, engine_with, impatient, network},
    respelling::{Respelling, Spelling},
};

/// A way to the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Its own handle, in this process.
    InProcess,
    /// A client across HTTP with an API key, in the current dialect.
    ApiKey,
    /// A client across HTTP with client credentials and tokens, in the older dialect.
    Token,
    /// The same two at a deployment that spells everything in its own way.
    KeyElsewhere(Spelling),
    TokenElsewhere(Spelling),
}

/// An engine and the handle that the sentences are about.
struct World {
    alerts: Arc<dyn Alerts>,
    /// Whose decisions the handle takes.
    dialect: Dialect,
    /// The engine's own handle, for what has to be there first.
    engine: ActingEngine,
    clock: Arc<ManualClock>,
    /// The engine itself, for another organization.
    whole: Engine,
    _server: Option<DropGuard>,
    _respelling: Option<Respelling>,
    _directory: TempDir,
}

impl World {
    async fn open(way: Way) -> Self {
        Self::open_with(way, network(true, true), impatient()).await
    }

    /// A world whose network answers when the test lets it.
    async fn gated(way: Way) -> (Self, Arc<Gate>) {
        let gate = Gate::new(false, false);
        let settings = EngineSettings { wait_for_winner: Duration::ZERO, ..EngineSettings::default() };
        (Self::open_with(way, gate.clone(), settings).await, gate)
    }

    async fn open_with(way: Way, provider: Arc<dyn AlertProvider>, settings: EngineSettings) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let clock = ManualClock::at(NOON);
        let engine = engine_with(directory.path(), &clock, provider, settings);
        let acting = acting(&engine).await;
        let over_http = match way {
            Way::InProcess => None,
            Way::ApiKey | Way::KeyElsewhere(_) => Some((
                Dialect::Current,
                AccessCredential::ApiKey(
                    acting.create_credential(CredentialKind::Key(KeyScope::Alerts)).await.unwrap().secret,
                ),
            )),
            Way::Token | Way::TokenElsewhere(_) => {
                let CreatedCredential { credential, secret } =
                    acting.create_credential(CredentialKind::Client).await.unwrap();
                Some((Dialect::Older, AccessCredential::ClientCredentials { id: credential.id, secret }))
            }
        };
        let Some((dialect, credential)) = over_http else {
            let alerts = Arc::new(acting.clone());
            return Self {
                alerts,
                dialect: Dialect::Current,
                engine: acting,
                clock,
                whole: engine,
                _server: None,
                _respelling: None,
                _directory: directory,
            };
        };
        let cancel = CancellationToken::new();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(api::serve(listener, engine.clone(), ApiOptions::default(), cancel.clone()));
        let (url, respelling) = match way {
            Way::KeyElsewhere(spelling) | Way::TokenElsewhere(spelling) => {
                let respelling = Respelling::of(url, spelling).await;
                (respelling.url(), Some(respelling))
            }
            _ => (url, None),
        };
        let alerts = Arc::new(client_of(&url, dialect, credential, None, clock.clone()));
        let server = Some(cancel.drop_guard());
        Self {
            alerts,
            dialect,
            engine: acting,
            clock,
            whole: engine,
            _server: server,
            _respelling: respelling,
            _directory: directory,
        }
    }

    async fn holding(self, alerts: impl IntoIterator<Item = Alert>) -> Self {
        let report = bring_in(&self.engine, alerts).await;
        assert!(report.rejected.is_empty(), "{report:?}");
        self
    }

    /// The decision in the words of the handle's dialect.
    fn says(&self, decision: Decision, comments: &str) -> ResolveRequest {
        let comments = comments.to_owned();
        let resolution = match self.dialect {
            Dialect::Current => Resolution::Current { decision, comments },
            Dialect::Older => {
                let (word, refunded) = decision.older_words();
                Resolution::Older { word, refunded, amount_stopped: None, comments }
            }
        };
        ResolveRequest { resolution, idempotency_key: None }
    }

    async fn resolve(&self, id: AlertId, decision: Decision) -> Result<Alert, ServiceError> {
        self.alerts.resolve(id, self.says(decision, "")).await
    }

    async fn ids(&self, query: &AlertQuery) -> Vec<AlertId> {
        self.alerts.list(query).await.unwrap().data.iter().map(|alert| alert.id).collect()
    }
}

/// An alert as every handle sees it: the exact deadline is the engine's own, others get its whole hours.
fn as_seen(alert: Alert, world: &World) -> Alert {
    use avert::domain::time::Clock as _;
    let hours = alert.hours_left(world.clock.now());
    Alert { deadline: Deadline::HoursLeft(hours), ..alert }
}

fn all() -> AlertQuery {
    AlertQuery { page: PageRequest { page: 0, size: 100 }, ..AlertQuery::default() }
}

/// Runs each sentence in a world of every way.
macro_rules! sentences {
    ($($name:ident,)+) => {$(
        mod $name {
            use super::{Spelling, Way};

            #[tokio::test]
            async fn in_process() {
                super::$name(Way::InProcess).await;
            }

            #[tokio::test]
            async fn over_http_with_an_api_key() {
                super::$name(Way::ApiKey).await;
            }

            #[tokio::test]
            async fn over_http_with_a_token() {
                super::$name(Way::Token).await;
            }

            #[tokio::test]
            async fn with_a_key_where_everything_is_spelled_loudly() {
                super::$name(Way::KeyElsewhere(Spelling::Loud)).await;
            }

            #[tokio::test]
            async fn with_a_key_where_everything_is_spelled_sparsely() {
                super::$name(Way::KeyElsewhere(Spelling::Sparse)).await;
            }

            #[tokio::test]
            async fn with_a_token_where_everything_is_spelled_loudly() {
                super::$name(Way::TokenElsewhere(Spelling::Loud)).await;
            }

            #[tokio::test]
            async fn with_a_token_where_everything_is_spelled_sparsely() {
                super::$name(Way::TokenElsewhere(Spelling::Sparse)).await;
            }
        }
    )+};
}

sentences! {
    an_alert_comes_back_with_every_field_it_was_brought_in_with,
    an_alert_nobody_knows_is_not_found,
    a_list_has_its_page_its_total_and_its_order,
    every_filter_means_the_same,
    every_order_is_that_of_the_engine,
    another_organizations_alerts_are_not_there,
    what_breaks_the_rules_is_told_at_its_field,
    each_decision_leads_to_its_row_of_the_table,
    a_resolved_alert_is_the_same_wherever_it_is_read,
    comments_come_back_as_they_were_said,
    a_second_decision_meets_the_outcome_of_the_first,
    a_repeat_under_its_key_gets_the_first_answer_and_another_decision_does_not,
    a_key_that_cannot_be_sent_is_refused,
    what_the_network_refuses_is_not_recorded_and_its_words_are_passed_on,
    an_answer_that_did_not_come_is_unknown_and_not_a_failure,
    a_decision_while_another_is_on_its_way_is_told_so,
    of_many_decisions_at_once_exactly_one_lands,
    an_expired_alert_can_still_be_answered,
}

async fn an_alert_comes_back_with_every_field_it_was_brought_in_with(way: Way) {
    let full = Alert {
        acquirer_bin: Some("400123".to_owned()),
        rule_type: Some("AMOUNT".to_owned()),
        rule_name: Some("Above 10 AED".to_owned()),
        descriptor_contact: Some("John Doe / 971582212233".to_owned()),
        ethoca_merchant_id: Some("E-77".to_owned()),
        chargeback_amount: Some("129.900".parse().unwrap()),
        liability: Some("ISSUER".to_owned()),
        status_code: Some("17".to_owned()),
        merchant_name: "ACME \"Grüße\" 東京".to_owned(),
        has_external_transaction: true,
        ..open_alert("P-1")
    };
    let world = World::open(way).await.holding([full.clone()]).await;

    let read = world.alerts.get(full.id).await.unwrap();

    let kept =
        Alert { company_id: read.company_id, enrollment_id: read.enrollment_id, updated_at: read.updated_at, ..full };
    assert!(read.company_id.is_some() && read.enrollment_id.is_some());
    assert_eq!(as_seen(read, &world), as_seen(kept, &world));
}

async fn an_alert_nobody_knows_is_not_found(way: Way) {
    let world = World::open(way).await;
    let id = AlertId::generate();

    assert_eq!(world.alerts.get(id).await, Err(ServiceError::AlertNotFound(id)));
    assert_eq!(world.resolve(id, Decision::Refunded).await, Err(ServiceError::AlertNotFound(id)));
}

async fn a_list_has_its_page_its_total_and_its_order(way: Way) {
    let with_amount = |amount: &str| Alert { amount: Some(amount.parse().unwrap()), ..open_alert(amount) };
    let alerts = ["9.5", "10", "100.00"].map(with_amount);
    let expected = alerts.each_ref().map(|alert| alert.id);
    let world = World::open(way).await.holding(alerts).await;
    let sort = Sort { field: SortField::Amount, order: SortOrder::Ascending };
    let query = |page| AlertQuery { sort, page: PageRequest { page, size: 2 }, ..AlertQuery::default() };

    let first = world.alerts.list(&query(0)).await.unwrap();
    let beyond = world.alerts.list(&query(7)).await.unwrap();

    assert_eq!((first.total, first.page, first.size), (3, 0, 2));
    assert_eq!(first.data.iter().map(|alert| alert.id).collect::<Vec<_>>(), expected[..2]);
    assert_eq!(world.ids(&query(1)).await, expected[2..]);
    assert_eq!((beyond.total, beyond.data.len()), (3, 0));
}

async fn every_filter_means_the_same(way: Way) {
    let day = |days: i64| noon() - chrono::Duration::days(days);
    let plain = open_alert("PLAIN");
    let verifi = Alert {
        provider: Provider::Verifi,
        alert_type: AlertType::VerifiCancel,
        alert_time: Some(day(2)),
        transaction_time: Some(day(30)),
        deadline: Deadline::At(noon() + chrono::Duration::hours(2)),
        merchant_descriptor: "Zebra & Söhne, 100%".to_owned(),
        ..open_alert("VERIFI-1")
    };
    let resolved = open_alert("RESOLVED-1");
    let company = AlertId::generate().0;
    let of_company = Alert { company_id: Some(avert::domain::CompanyId(company)), ..open_alert("COMPANY") };
    let world = World::open(way).await.holding([plain, verifi, resolved.clone(), of_company]).await;
    world.resolve(resolved.id, Decision::Refunded).await.unwrap();
    let date = |days| Some(day(days).date_naive());
    let filters = [
        AlertFilter { start_date: date(2), end_date: date(2), ..AlertFilter::default() },
        AlertFilter { transaction_start_date: date(31), transaction_end_date: date(29), ..AlertFilter::default() },
        AlertFilter { providers: vec![Provider::Verifi], ..AlertFilter::default() },
        AlertFilter { types: vec![AlertType::VerifiCancel, AlertType::VerifiDispute], ..AlertFilter::default() },
        AlertFilter { statuses: vec![AlertStatus::Resolved, AlertStatus::Invalid], ..AlertFilter::default() },
        AlertFilter { descriptor: Some("zebra & s".to_owned()), ..AlertFilter::default() },
        AlertFilter { outcomes: vec!["resolved".to_owned()], ..AlertFilter::default() },
        AlertFilter { expired: Some(true), ..AlertFilter::default() },
        AlertFilter { expires_in: Some(3), ..AlertFilter::default() },
        AlertFilter { companies: vec![avert::domain::CompanyId(company)], ..AlertFilter::default() },
        AlertFilter { q: Some("plain".to_owned()), ..AlertFilter::default() },
        AlertFilter { q: Some("1234".to_owned()), statuses: vec![AlertStatus::Open], ..AlertFilter::default() },
    ];
    let mut everything = Vec::new();
    for id in world.ids(&all()).await {
        everything.push(world.engine.get(id).await.unwrap());
    }

    for filter in filters {
        let expected: BTreeSet<_> =
            everything.iter().filter(|alert| filter.matches(alert, noon())).map(|alert| alert.id).collect();

        let page = world.alerts.list(&AlertQuery { filter: filter.clone(), ..all() }).await.unwrap();

        assert_eq!(page.data.iter().map(|alert| alert.id).collect::<BTreeSet<_>>(), expected, "{filter:?}");
        assert_eq!(page.total, expected.len() as u64, "{filter:?}");
        assert!(expected.len() < everything.len(), "{filter:?} leaves nothing out");
    }
}

async fn every_order_is_that_of_the_engine(way: Way) {
    let alert = |number: i64| Alert {
        amount: Some(format!("{}.5", 100 - number).parse().unwrap()),
        alert_time: Some(noon() - chrono::Duration::hours(number * 7 % 5)),
        merchant_descriptor: format!("SHOP {}", number * 3 % 5),
        deadline: Deadline::At(noon() + chrono::Duration::hours(1 + number * 2 % 5)),
        ..open_alert(&format!("P-{number}"))
    };
    let world = World::open(way).await.holding((0..5).map(alert)).await;

    for field in SortField::ALL {
        for order in [SortOrder::Ascending, SortOrder::Descending] {
            let query = AlertQuery { sort: Sort { field, order }, ..all() };

            let expected: Vec<_> = world.engine.list(&query).await.unwrap().data.iter().map(|alert| alert.id).collect();

            assert_eq!((world.ids(&query).await, expected.len()), (expected, 5), "{field:?} {order:?}");
        }
    }
}

async fn another_organizations_alerts_are_not_there(way: Way) {
    let (ours, theirs) = (open_alert("OURS"), open_alert("THEIRS"));
    let world = World::open(way).await.holding([ours.clone()]).await;
    world.whole.create_organization("rival").await.unwrap();
    let rival = world.whole.acting_for(world.whole.local_caller(Some("rival")).await.unwrap());
    bring_in(&rival, [theirs.clone()]).await;

    let (read, decided) = (world.alerts.get(theirs.id).await, world.resolve(theirs.id, Decision::Refunded).await);

    assert_eq!(
        (read, decided),
        (Err(ServiceError::AlertNotFound(theirs.id)), Err(ServiceError::AlertNotFound(theirs.id)))
    );
    assert_eq!(world.ids(&all()).await, [ours.id]);
    assert_eq!(world.alerts.list(&all()).await.unwrap().total, 1);
    assert_eq!(rival.get(theirs.id).await.unwrap().outcome, None);
}

async fn what_breaks_the_rules_is_told_at_its_field(way: Way) {
    let alert = open_alert("P-1");
    let world = World::open(way).await.holding([alert.clone()]).await;

    let too_long = world.alerts.resolve(alert.id, world.says(Decision::Refunded, &"x".repeat(251))).await;

    assert!(
        matches!(&too_long, Err(ServiceError::InvalidResolution(errors)) if errors[0].field == "comments"),
        "{too_long:?}"
    );
    assert_eq!(world.engine.get(alert.id).await.unwrap().outcome, None);
}

async fn each_decision_leads_to_its_row_of_the_table(way: Way) {
    for decision in Decision::ALL {
        let alert = open_alert("P-1");
        let world = World::open(way).await.holding([alert.clone()]).await;
        let request = world.says(decision, "");
        let verdict = decide(&request.resolution);

        let resolved = world.alerts.resolve(alert.id, request).await.unwrap();

        let outcome = resolved.outcome.clone().unwrap();
        assert_eq!((resolved.status.clone(), resolved.hours_left(noon())), (verdict.status, 0), "{decision:?}");
        assert_eq!((outcome.outcome, outcome.refunded), (verdict.outcome, verdict.refunded));
        assert_eq!(outcome.dispute_reason_code, verdict.dispute_reason_code);
        assert_eq!((outcome.status.as_str(), outcome.provider_alert_id.as_str()), ("success", "P-1"));
        assert_eq!((outcome.alert_id, outcome.action_time), (alert.id, Some(noon())));
    }
}

async fn a_resolved_alert_is_the_same_wherever_it_is_read(way: Way) {
    let alert = open_alert("P-1");
    let world = World::open(way).await.holding([alert.clone()]).await;

    let resolved = world.resolve(alert.id, Decision::NotRefunded).await.unwrap();

    let resolved = as_seen(resolved, &world);
    assert_eq!(as_seen(world.alerts.get(alert.id).await.unwrap(), &world), resolved);
    assert_eq!(as_seen(world.alerts.list(&all()).await.unwrap().data.remove(0), &world), resolved);
    assert_eq!(as_seen(world.engine.get(alert.id).await.unwrap(), &world), resolved);
}

async fn comments_come_back_as_they_were_said(way: Way) {
    let alert = open_alert("P-1");
    let world = World::open(way).await.holding([alert.clone()]).await;
    let comments = "\"Grüße\" & 東京\nsecond line, \\ and {braces}".to_owned();

    let resolved = world.alerts.resolve(alert.id, world.says(Decision::Refunded, &comments)).await.unwrap();

    assert_eq!(resolved.outcome.unwrap().comments, comments);
}

async fn a_second_decision_meets_the_outcome_of_the_first(way: Way) {
    let alert = open_alert("P-1");
    let world = World::open(way).await.holding([alert.clone()]).await;
    let first = world.resolve(alert.id, Decision::Refunded).await.unwrap();

    // The same decision once more, and another one: an outcome is final against both.
    for decision in [Decision::Refunded, Decision::NotRefunded] {
        let Err(ServiceError::AlreadyResolved(found)) = world.resolve(alert.id, decision).await else {
            panic!("no conflict")
        };

        assert_eq!(found.outcome, first.outcome);
    }
}

async fn a_repeat_under_its_key_gets_the_first_answer_and_another_decision_does_not(way: Way) {
    let alert = open_alert("P-1");
    let world = World::open(way).await.holding([alert.clone()]).await;
    let under_key = |decision| ResolveRequest { idempotency_key: Some("key-1".to_owned()), ..world.says(decision, "") };
    let first = world.alerts.resolve(alert.id, under_key(Decision::Refunded)).await.unwrap();

    let repeat = world.alerts.resolve(alert.id, under_key(Decision::Refunded)).await.unwrap();
    let other = world.alerts.resolve(alert.id, under_key(Decision::NotRefunded)).await;

    assert_eq!(as_seen(repeat, &world), as_seen(first, &world));
    assert_eq!(other, Err(ServiceError::IdempotencyKeyReused));
}

async fn a_key_that_cannot_be_sent_is_refused(way: Way) {
    let alert = open_alert("P-1");
    let world = World::open(way).await.holding([alert.clone()]).await;

    for key in ["", "a b", "é", &"k".repeat(256)] {
        let request = ResolveRequest { idempotency_key: Some(key.to_owned()), ..world.says(Decision::Refunded, "") };
        let Err(ServiceError::InvalidRequest(errors)) = world.alerts.resolve(alert.id, request).await else {
            panic!("{key:?} was taken")
        };

        assert_eq!(errors[0].field, "Idempotency-Key");
    }
    assert_eq!(world.engine.get(alert.id).await.unwrap().outcome, None);
}

async fn what_the_network_refuses_is_not_recorded_and_its_words_are_passed_on(way: Way) {
    let alert = open_alert("P-1");
    let (world, gate) = World::gated(way).await;
    let world = world.holding([alert.clone()]).await;

    gate.let_through(SubmitResult::Declined(Declined::Refused("window closed".to_owned())));
    let refused = world.resolve(alert.id, Decision::Refunded).await;

    let Err(ServiceError::ProviderFailed(why)) = refused else { panic!("{refused:?}") };
    assert!(why.contains("window closed"), "{why}");
    let unchanged = world.alerts.get(alert.id).await.unwrap();
    assert_eq!((unchanged.status, unchanged.outcome), (AlertStatus::Open, None));
}

async fn an_answer_that_did_not_come_is_unknown_and_not_a_failure(way: Way) {
    let alert = open_alert("P-1");
    let (world, gate) = World::gated(way).await;
    let world = world.holding([alert.clone()]).await;

    gate.let_through(SubmitResult::Indeterminate(Cause::TimedOut(Duration::from_secs(1))));
    let unknown = world.resolve(alert.id, Decision::Refunded).await;

    assert!(matches!(unknown, Err(ServiceError::ProviderOutcomeUnknown(_))), "{unknown:?}");
    assert_eq!(world.alerts.get(alert.id).await.unwrap().outcome, None);
}

async fn a_decision_while_another_is_on_its_way_is_told_so(way: Way) {
    let alert = open_alert("P-1");
    let (world, gate) = World::gated(way).await;
    let world = world.holding([alert.clone()]).await;
    let first = tokio::spawn({
        let (alerts, request, id) = (world.alerts.clone(), world.says(Decision::Refunded, ""), alert.id);
        async move { alerts.resolve(id, request).await }
    });
    gate.reached().await;

    let second = world.resolve(alert.id, Decision::NotRefunded).await;

    assert_eq!(second, Err(ServiceError::ResolutionInProgress));
    gate.let_through(SubmitResult::Accepted);
    assert_eq!(first.await.unwrap().unwrap().status, AlertStatus::Resolved);
}

async fn of_many_decisions_at_once_exactly_one_lands(way: Way) {
    let alert = open_alert("P-1");
    let settings = EngineSettings { wait_for_winner: Duration::from_secs(30), ..EngineSettings::default() };
    let world = World::open_with(way, network(true, true), settings).await.holding([alert.clone()]).await;

    let tries = (0..16).map(|index| world.resolve(alert.id, Decision::ALL[index % Decision::ALL.len()]));
    let results = futures::future::join_all(tries).await;

    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    let conflicts = results.iter().filter(|result| matches!(result, Err(ServiceError::AlreadyResolved(_)))).count();
    assert_eq!(conflicts, 15, "{results:?}");
}

async fn an_expired_alert_can_still_be_answered(way: Way) {
    let lapsed = Alert { deadline: Deadline::At(noon() - chrono::Duration::minutes(1)), ..open_alert("P-1") };
    let world = World::open(way).await.holding([lapsed.clone()]).await;
    let expired = world.alerts.get(lapsed.id).await.unwrap();
    assert_eq!((&expired.status, expired.hours_left(noon())), (&AlertStatus::Expired, 0));

    let resolved = world.resolve(lapsed.id, Decision::Refunded).await.unwrap();

    assert_eq!(resolved.status, AlertStatus::Resolved);
    assert_eq!(resolved.expired_at, expired.expired_at);
}

#[tokio::test]
async fn a_stopped_amount_comes_back_in_the_dialect_that_has_it_and_not_in_the_other() {
    let alert = open_alert("P-1");
    let stopped = |amount: &str| {
        let resolution = Resolution::Older {
            word: OlderWord::PartiallyStopped,
            refunded: OlderRefunded::NotSettled,
            amount_stopped: Some(amount.parse().unwrap()),
            comments: String::new(),
        };
        ResolveRequest { resolution, idempotency_key: None }
    };
    let world = World::open(Way::Token).await.holding([alert.clone()]).await;

    let too_much = world.alerts.resolve(alert.id, stopped("129.91")).await;
    let resolved = world.alerts.resolve(alert.id, stopped("29.90")).await.unwrap();

    assert!(
        matches!(&too_much, Err(ServiceError::InvalidResolution(errors)) if errors[0].field == "amountStopped"),
        "{too_much:?}"
    );
    assert_eq!(resolved.outcome.unwrap().amount_stopped.map(|amount| amount.to_string()).as_deref(), Some("29.90"));
    let by_key = World::open(Way::ApiKey).await;
    assert!(matches!(by_key.alerts.resolve(alert.id, stopped("1")).await, Err(ServiceError::InvalidRequest(_))));
}

#[tokio::test]
async fn a_token_that_ends_is_renewed_without_anybody_noticing() {
    let alert = open_alert("P-1");
    let world = World::open(Way::Token).await.holding([alert.clone()]).await;
    world.alerts.get(alert.id).await.unwrap();

    world.clock.advance(chrono::Duration::hours(1));

    world.alerts.get(alert.id).await.unwrap();
    world.resolve(alert.id, Decision::Refunded).await.unwrap();
}
