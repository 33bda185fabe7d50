//! Rules that answer by themselves, by engines on each kind of store: never past a check, never over a limit, once.

use std::sync::{Arc, Mutex};

use avert::{
    domain::{
        Actor, Alert, AlertId, AlertType, AuditEntry, Currency, Deadline, DeliveryFilter, EndpointAuth, EventKind,
        NewEndpoint, Provider, RefundProof, RefundState, Secret, Subscription, TruthKind, TruthReport,
        resolution::Decision,
        rule::{
            automatic::{AutomaticRule, RuleLimits, RuleState, RuleStatus, RuleTurn, StopReason},
            parse_rules,
        },
    },
    engine::{ActingEngine, Engine, EngineRules, EngineSettings},
    providers::{Providers, Simulator, simulator::Fault},
    service::{Alerts as _, Rules as _},
    store::Claim,
};
use chrono::Duration;
use rstest::rstest;

use super::{
    Fixture,
    ground::{Ground as _, Postgres},
    resolutions::claim,
};
use crate::support::{
    alerts::{NOON, noon, open_alert},
    clock::ManualClock,
    engine::{acting, impatient, network, says},
    postgres::waits_for_a_lock,
};

contract!(
    a_rule_with_limits_answers_once_and_under_its_name,
    a_line_is_dry_for_its_first_day_and_so_is_a_changed_one,
    what_a_check_would_hold_is_not_answered,
    an_earlier_rule_that_only_suggests_keeps_a_later_one_from_answering,
    a_refund_that_succeeded_lets_a_rule_report_it_and_never_deny_it,
    a_payment_counts_as_refunded_by_a_refund_of_its_whole_amount_that_succeeded,
    the_limits_of_a_day_hold_for_two_nodes,
    two_nodes_refund_a_payment_once,
    another_alert_of_a_refunded_order_or_transaction_is_left_to_people,
    an_alert_that_has_changed_is_judged_as_it_is_now,
    a_line_that_another_node_reads_otherwise_answers_nothing,
    a_console_beside_a_service_answers_nothing,
    a_refund_before_the_alert_is_no_proof_of_a_refund_since,
    stopped_rules_stay_stopped_on_every_node_until_they_are_started,
    a_stop_is_reported_once_a_day_where_that_is_wanted,
    a_file_that_cannot_be_read_stops_its_rules_until_it_can,
    a_rule_whose_answers_fail_stops_itself,
    a_node_whose_clock_is_an_hour_off_doubles_nothing,
);

const SMALL: &str = "small: amount<200 currency:EUR,USD -> refunded \"below the fee\"";

fn limits(per_day: u32) -> RuleLimits {
    RuleLimits {
        per_day,
        amount_per_day: "5000 EUR".parse().unwrap(),
        from: Some(noon().date_naive()),
        refunds_elsewhere: true,
    }
}

/// An engine with rules in a file that the test writes, on the store of a fixture.
struct Node {
    engine: Engine,
    acting: ActingEngine,
    clock: Arc<ManualClock>,
    network: Arc<Simulator>,
    file: Arc<Mutex<Result<String, String>>>,
}

impl Node {
    async fn new(fixture: &Fixture, text: &str, limits: RuleLimits) -> Self {
        Self::with(fixture, text, limits, network(true, true)).await
    }

    async fn with(fixture: &Fixture, text: &str, limits: RuleLimits, network: Arc<Simulator>) -> Self {
        let (clock, file) = (ManualClock::at(NOON), Arc::new(Mutex::new(Ok(text.to_owned()))));
        let kept = Arc::clone(&file);
        let read = move || kept.lock().unwrap().clone().map(|text| parse_rules(&text).unwrap());
        let rules = EngineRules::new(vec![("small".to_owned(), limits)], Arc::new(read));
        let settings = EngineSettings { rules, ..impatient() };
        let store = Arc::clone(&fixture.store);
        let engine = Engine::new(store, Providers::all(network.clone()), clock.clone(), settings);
        let acting = acting(&engine).await;
        Self { engine, acting, clock, network, file }
    }

    /// Applies the rules once, and returns how many answers were recorded.
    async fn round(&self) -> u64 {
        self.engine.answer_by_rules_once(0).await.unwrap().answered
    }

    async fn state(&self) -> RuleStatus {
        self.acting.rules().await.unwrap().remove(0)
    }

    /// Entries of the audit log with this action.
    async fn noted(&self, action: &str) -> Vec<AuditEntry> {
        let organization = self.acting.caller().organization.organization.id;
        let all = self.engine.store().audit(organization, None, 100).await.unwrap();
        all.into_iter().filter(|entry| entry.action == action).collect()
    }
}

/// An alert on a payment of its own, due in a week.
fn alert(number: u32) -> Alert {
    Alert {
        card_last_four: format!("{number:04}"),
        auth_code: Some(format!("A{number:05}")),
        merchant_order_id: Some(format!("A-{number}")),
        deadline: Deadline::At(noon() + Duration::days(7)),
        ..open_alert(&format!("P-{number}"))
    }
}

/// A succeeded refund of a transaction of 129.90 EUR at a time.
fn refund(transaction: &str, at: &str) -> TruthReport {
    let cells = [
        ("id", "re_1"),
        ("transaction_id", transaction),
        ("amount", "129.90"),
        ("currency", "EUR"),
        ("status", "succeeded"),
        ("at", at),
    ];
    TruthReport::of_cells(TruthKind::Refund, cells).unwrap()
}

async fn a_rule_with_limits_answers_once_and_under_its_name(fixture: Fixture) {
    let node = Node::new(&fixture, SMALL, limits(5)).await;
    let (small, large) = (alert(1), Alert { amount: "200.00".parse().ok(), ..alert(2) });
    fixture.bring(&[small.clone(), large.clone()]).await;

    let rounds = [node.round().await, node.round().await];

    assert_eq!(rounds, [1, 0]);
    let answered = fixture.get(&small).await;
    assert!(answered.was_refunded() && fixture.get(&large).await.outcome.is_none());
    assert_eq!(answered.outcome.unwrap().comments, "below the fee");
    assert_eq!(node.network.accepted().len(), 1);
    let [entry] = node.noted("alert.resolved").await.try_into().unwrap();
    assert_eq!((entry.actor.as_str(), entry.person.as_str()), ("avert", "rule:small"));
    let state = node.state().await;
    assert_eq!(
        (state.state, state.today.answered, state.today.amount.to_string().as_str()),
        (RuleState::Active, 1, "129.90")
    );
}

async fn a_line_is_dry_for_its_first_day_and_so_is_a_changed_one(fixture: Fixture) {
    let node = Node::new(&fixture, SMALL, RuleLimits { from: None, ..limits(5) }).await;
    let alert = alert(1);
    fixture.bring(std::slice::from_ref(&alert)).await;

    let dry = [node.round().await, node.round().await];
    let [entry] = node.noted("rule.would_answer").await.try_into().unwrap();
    let seen = node.state().await;
    *node.file.lock().unwrap() = Ok(SMALL.replace("200", "150"));
    node.clock.advance(Duration::hours(24));
    let changed = node.round().await;
    node.clock.advance(Duration::hours(23));
    let still = node.round().await;
    node.clock.advance(Duration::hours(1));
    let active = node.round().await;

    assert_eq!((dry, changed, still, active), ([0, 0], 0, 0, 1));
    assert_eq!(
        (entry.subject, entry.person.as_str(), entry.detail.as_str()),
        (alert.id.to_string(), "rule:small", "REFUNDED")
    );
    assert_eq!((seen.state, seen.since, seen.would_have_answered), (RuleState::Dry, noon(), 1));
}

async fn what_a_check_would_hold_is_not_answered(fixture: Fixture) {
    let twin = alert(3);
    let refunded = Alert {
        id: AlertId::generate(),
        provider_id: "T".to_owned(),
        merchant_order_id: Some("of another shop".to_owned()),
        transaction_id: None,
        ..twin.clone()
    };
    let by_rule = Alert {
        provider: Provider::Verifi,
        alert_type: AlertType::VerifiDispute,
        rule_name: Some("Above 10".to_owned()),
        ..alert(4)
    };
    let held = [
        Alert { alert_type: AlertType::VerifiFraudNotice, provider: Provider::Verifi, ..alert(1) },
        Alert { deadline: Deadline::At(noon() - Duration::minutes(1)), ..alert(2) },
        twin,
        by_rule,
        Alert { currency: Currency::new("USD"), ..alert(5) },
    ];
    let node = Node::new(&fixture, SMALL, limits(5)).await;
    fixture.bring(&[held.as_slice(), std::slice::from_ref(&refunded)].concat()).await;
    node.acting.resolve(refunded.id, says(Decision::Refunded)).await.unwrap();

    let answered = node.round().await;
    let alone =
        Node::new(&fixture, SMALL, RuleLimits { amount_per_day: "100 EUR".parse().unwrap(), ..limits(5) }).await;
    fixture.bring(&[alert(6)]).await;
    let above = alone.round().await;

    assert_eq!((answered, above), (0, 0));
    assert_eq!(node.network.submissions(), 1);
    assert_eq!(alone.state().await.state, RuleState::Active);
}

async fn an_earlier_rule_that_only_suggests_keeps_a_later_one_from_answering(fixture: Fixture) {
    let text = format!("people: issuer:hsbc -> not-refunded\n{SMALL}");
    let node = Node::new(&fixture, &text, limits(5)).await;
    fixture.bring(&[alert(1), Alert { issuer: "Lloyds".to_owned(), ..alert(2) }]).await;

    let answered = node.round().await;

    assert_eq!(answered, 1);
}

async fn a_refund_that_succeeded_lets_a_rule_report_it_and_never_deny_it(fixture: Fixture) {
    let limits = RuleLimits { refunds_elsewhere: false, ..limits(5) };
    let node = Node::new(&fixture, SMALL, limits.clone()).await;
    let denying = Node::new(&fixture, &SMALL.replace("refunded", "not-refunded"), limits).await;
    let alert = Alert { transaction_id: Some("T-1".to_owned()), ..alert(1) };
    fixture.bring(std::slice::from_ref(&alert)).await;
    let refund = refund("T-1", "2026-03-10T11:30:00Z");

    let unproven = node.round().await;
    fixture.store.record_truth(fixture.organization, vec![refund], noon()).await.unwrap();
    let denied = denying.round().await;
    let proven = node.round().await;

    assert_eq!((unproven, denied, proven), (0, 0, 1));
}

async fn a_payment_counts_as_refunded_by_a_refund_of_its_whole_amount_that_succeeded(fixture: Fixture) {
    let node = Node::new(&fixture, SMALL, RuleLimits { refunds_elsewhere: false, ..limits(5) }).await;
    let paid = |number| Alert { transaction_id: Some(format!("T-{number}")), ..alert(number) };
    let alerts = [paid(1), paid(2), paid(3), paid(4)];
    fixture.bring(&alerts).await;
    let told = |id: &str, transaction: &str, amount: &str, status: &str| TruthReport {
        id: id.to_owned(),
        amount: amount.parse().ok(),
        status: Some(status.to_owned()),
        ..refund(transaction, "2026-03-10T11:30:00Z")
    };
    let refunds = vec![
        told("re_1", "T-1", "129.90", "succeeded"),
        told("re_2", "T-2", "5", "succeeded"),
        told("re_3", "T-3", "129.90", "failed"),
    ];
    fixture.store.record_truth(fixture.organization, refunds, noon()).await.unwrap();
    let amount = "129.90".parse().ok();
    let (reference, currency, state) = ("re_4".to_owned(), Some(Currency::new("EUR")), RefundState::Succeeded);
    let proof = RefundProof { reference, amount, currency, state };
    fixture.store.keep_refund(fixture.organization, alerts[3].id, proof, noon()).await.unwrap();

    node.round().await;

    let mut answered = Vec::new();
    for alert in &alerts {
        answered.push(fixture.get(alert).await.was_refunded());
    }
    assert_eq!(answered, [true, false, false, true]);
}

async fn the_limits_of_a_day_hold_for_two_nodes(fixture: Fixture) {
    let other = fixture.another().await;
    let network = network(true, true);
    let node = Node::with(&fixture, SMALL, limits(3), Arc::clone(&network)).await;
    let second = Node::with(&other, SMALL, limits(3), Arc::clone(&network)).await;
    fixture.bring(&(1..=8).map(alert).collect::<Vec<_>>()).await;

    let (one, two) = tokio::join!(node.round(), second.round());
    let again = node.round().await;
    let state = second.state().await;
    [&node, &second].iter().for_each(|node| node.clock.advance(Duration::hours(12)));
    let next_day = node.round().await;

    assert_eq!((one + two, again, next_day), (3, 0, 3));
    assert_eq!(network.submissions(), 6);
    assert_eq!((state.state, state.reason, state.today.answered), (RuleState::Stopped, Some(StopReason::Limit), 3));
}

async fn two_nodes_refund_a_payment_once(fixture: Fixture) {
    let other = fixture.another().await;
    let network = network(true, true);
    let node = Node::with(&fixture, SMALL, limits(9), Arc::clone(&network)).await;
    let second = Node::with(&other, SMALL, limits(9), Arc::clone(&network)).await;
    let twins = |number: u32| {
        let twin = Alert { id: AlertId::generate(), provider: Provider::Cdrn, ..alert(number) };
        [alert(number), Alert { alert_type: AlertType::VerifiDispute, ..twin }]
    };
    fixture.bring(&(1..=4).flat_map(twins).collect::<Vec<_>>()).await;

    let (one, two) = tokio::join!(node.round(), second.round());

    assert_eq!((one + two, network.submissions()), (4, 4));
}

async fn another_alert_of_a_refunded_order_or_transaction_is_left_to_people(fixture: Fixture) {
    let node = Node::new(&fixture, SMALL, limits(5)).await;
    let refunded = Alert { transaction_id: Some("ch_1".to_owned()), ..alert(1) };
    let unlike = |number| Alert { amount: "99.00".parse().ok(), ..alert(number) };
    let of_transaction = Alert { transaction_id: Some("ch_1".to_owned()), ..unlike(2) };
    let of_order = Alert { merchant_order_id: refunded.merchant_order_id.clone(), ..unlike(3) };
    fixture.bring(&[refunded.clone(), of_transaction, of_order]).await;
    node.acting.resolve(refunded.id, says(Decision::Refunded)).await.unwrap();

    let answered = node.round().await;

    assert_eq!((answered, node.network.submissions()), (0, 1));
}

async fn an_alert_that_has_changed_is_judged_as_it_is_now(fixture: Fixture) {
    let rule = AutomaticRule::new(parse_rules(SMALL).unwrap().remove(0), limits(5)).unwrap();
    let changed = Alert { amount: "400.00".parse().ok(), ..alert(1) };
    fixture.bring(std::slice::from_ref(&changed)).await;
    fixture.store.keep_rules(fixture.organization, vec![("small".to_owned(), rule.hash())], noon()).await.unwrap();

    let turn = fixture.store.turn_of_rule(fixture.organization, rule, changed.id, noon()).await.unwrap();

    assert_eq!(turn, RuleTurn::Held("it does not match any more".to_owned()));
}

async fn a_line_that_another_node_reads_otherwise_answers_nothing(fixture: Fixture) {
    let rule = AutomaticRule::new(parse_rules(SMALL).unwrap().remove(0), limits(5)).unwrap();
    let alert = alert(1);
    fixture.bring(std::slice::from_ref(&alert)).await;
    let others = vec![("small".to_owned(), "of another line".to_owned())];
    fixture.store.keep_rules(fixture.organization, others, noon()).await.unwrap();

    let turn = fixture.store.turn_of_rule(fixture.organization, rule, alert.id, noon()).await.unwrap();

    assert_eq!(turn, RuleTurn::Held("its line is another one".to_owned()));
}

async fn a_console_beside_a_service_answers_nothing(fixture: Fixture) {
    let node = Node::new(&fixture, SMALL, limits(5)).await;
    node.round().await;
    fixture.bring(&[alert(1)]).await;
    let service = fixture.service().await;

    let beside = node.round().await;
    service.close();
    drop(service);
    let alone = node.round().await;

    assert_eq!((beside, alone), (0, 1));
}

/// A rule's claim waits for whoever claims by another rule, or has another alert on the payment.
#[rstest]
#[case("SELECT name FROM rule WHERE name = '' FOR UPDATE")]
#[case("SELECT key FROM alert WHERE provider_id = 'P-2' FOR NO KEY UPDATE")]
#[tokio::test]
async fn a_rule_claims_alone_among_the_rules_and_on_the_payment_on_postgres(#[case] held: &str) {
    let Some(ground) = Postgres::fresh().await else { return };
    let hands = ground.database.client().await;
    let fixture = Fixture::start(Arc::new(ground)).await;
    let rule = AutomaticRule::new(parse_rules(SMALL).unwrap().remove(0), limits(5)).unwrap();
    let (one, other) = (alert(1), Alert { merchant_order_id: alert(1).merchant_order_id, ..alert(2) });
    fixture.bring(&[one.clone(), other]).await;
    fixture.store.keep_rules(fixture.organization, vec![("small".to_owned(), rule.hash())], noon()).await.unwrap();
    hands.batch_execute(&format!("BEGIN; {held}")).await.unwrap();

    let claiming = tokio::spawn({
        let (store, request) = (Arc::clone(&fixture.store), claim(&fixture, &one));
        async move { store.claim_by_rule(request, rule).await }
    });
    let waited = waits_for_a_lock(&hands, &claiming).await;
    hands.batch_execute("COMMIT").await.unwrap();

    let claimed = claiming.await.unwrap().unwrap();
    assert!(waited && matches!(claimed, Some(Claim::Claimed { .. })), "{waited}, {claimed:?}");
}

async fn a_refund_before_the_alert_is_no_proof_of_a_refund_since(fixture: Fixture) {
    let node = Node::new(&fixture, SMALL, RuleLimits { refunds_elsewhere: false, ..limits(5) }).await;
    let alert = Alert { transaction_id: Some("T-1".to_owned()), ..alert(1) };
    fixture.bring(std::slice::from_ref(&alert)).await;
    let earlier = refund("T-1", "2026-03-09T09:00:00Z");
    fixture.store.record_truth(fixture.organization, vec![earlier], noon()).await.unwrap();

    let answered = node.round().await;

    assert_eq!(answered, 0);
}

async fn stopped_rules_stay_stopped_on_every_node_until_they_are_started(fixture: Fixture) {
    let other = fixture.another().await;
    let node = Node::new(&fixture, SMALL, limits(5)).await;
    fixture.bring(&[alert(1)]).await;

    node.acting.stop_rules().await.unwrap();
    let restarted = Node::new(&other, SMALL, limits(5)).await;
    let stopped = [node.round().await, restarted.round().await];
    let state = restarted.state().await;
    node.acting.start_rules().await.unwrap();
    let started = restarted.round().await;

    assert_eq!((stopped, started), ([0, 0], 1));
    assert_eq!((state.state, state.reason), (RuleState::Stopped, Some(StopReason::Operator)));
    let [stop] = node.noted("rules.stopped").await.try_into().unwrap();
    assert_eq!((stop.actor, stop.detail.as_str()), (Actor::at_this_machine().name, StopReason::Operator.words()));
}

async fn a_stop_is_reported_once_a_day_where_that_is_wanted(fixture: Fixture) {
    let node = Node::new(&fixture, SMALL, limits(1)).await;
    let wanted = Subscription { events: vec![EventKind::RuleStopped], ..Subscription::default() };
    for subscription in [wanted, Subscription::default()] {
        let auth = EndpointAuth::Header { name: "X-Token".to_owned(), value: Secret::new("token") };
        let new = NewEndpoint { subscription, ..NewEndpoint::new("https://a.example".parse().unwrap(), auth) };
        fixture.store.add_endpoint(fixture.organization, new, 32, noon()).await.unwrap();
    }
    fixture.bring(&[alert(1), alert(2), alert(3)]).await;
    let reported = async || {
        let all = fixture.store.deliveries(fixture.organization, DeliveryFilter::default()).await.unwrap();
        all.data.iter().filter(|delivery| delivery.kind == EventKind::RuleStopped).count()
    };

    node.round().await;
    node.acting.stop_rules().await.unwrap();
    let today = reported().await;
    let all = fixture.store.deliveries(fixture.organization, DeliveryFilter::default()).await.unwrap().data;
    let of_event = DeliveryFilter { event: Some(all[0].event), ..DeliveryFilter::default() };
    let of_event = fixture.store.deliveries(fixture.organization, of_event).await.unwrap().data;
    node.acting.start_rules().await.unwrap();
    node.clock.advance(Duration::hours(24));
    node.round().await;
    let tomorrow = reported().await;

    assert_eq!((today, tomorrow), (1, 2));
    assert_eq!((all[0].kind.clone(), of_event), (EventKind::RuleStopped, vec![all[0].clone()]));
}

async fn a_file_that_cannot_be_read_stops_its_rules_until_it_can(fixture: Fixture) {
    let node = Node::new(&fixture, SMALL, limits(5)).await;
    node.round().await;
    fixture.bring(&[alert(1)]).await;

    *node.file.lock().unwrap() = Err("gone".to_owned());
    let unreadable = node.round().await;
    let record = fixture.store.rules(fixture.organization, noon()).await.unwrap().pop().unwrap();
    *node.file.lock().unwrap() = Ok(SMALL.to_owned());
    let readable = node.round().await;

    assert_eq!((unreadable, readable), (0, 1));
    assert_eq!(record.stop.map(|stop| stop.reason), Some(StopReason::File));
}

async fn a_rule_whose_answers_fail_stops_itself(fixture: Fixture) {
    let network = network(true, true);
    network.script(std::iter::repeat_n(Some(Fault::Refusal), 9));
    let node = Node::with(&fixture, SMALL, limits(9), network).await;
    fixture.bring(&(1..=5).map(alert).collect::<Vec<_>>()).await;

    for _ in 0..4 {
        node.round().await;
    }
    let state = node.state().await;

    assert_eq!((state.state, state.reason), (RuleState::Stopped, Some(StopReason::Failures)));
    assert_eq!(node.network.submissions(), 3);
}

async fn a_node_whose_clock_is_an_hour_off_doubles_nothing(fixture: Fixture) {
    let other = fixture.another().await;
    let network = network(true, true);
    let late = Node::with(&fixture, SMALL, RuleLimits { from: None, ..limits(3) }, Arc::clone(&network)).await;
    let ahead = Node::with(&other, SMALL, RuleLimits { from: None, ..limits(3) }, Arc::clone(&network)).await;
    ahead.clock.advance(Duration::hours(1));
    fixture.bring(&(1..=8).map(alert).collect::<Vec<_>>()).await;

    let (first, second) = (ahead.round().await, late.round().await);
    [&late, &ahead].iter().for_each(|node| node.clock.advance(Duration::hours(24)));
    let early = late.round().await;
    let (one, two) = tokio::join!(ahead.round(), late.round());

    assert_eq!((first, second, early), (0, 0, 0), "the line was seen by the clock that is ahead");
    assert_eq!((one + two, network.submissions()), (3, 3));
}
