//! A deployment that is opened read-only: whoever asks it, each write of each capability is refused, and each read
//! passes.

use std::collections::BTreeSet;

use avert::{
    domain::{
        AlertFilter, AlertQuery, AttemptId, Calendar, CardScheme, CredentialKind, DeliveryFilter, EndpointAuth,
        EndpointChange, FindQuery, IngestOptions, KeyScope, NewEndpoint, RefundProof, RefundState, Resolution, Secret,
        query::Vocabulary, resolution::Decision,
    },
    engine::ActingEngine,
    service::{Credentials, Deployment, ResolveRequest, ServiceError, Webhooks},
};

use crate::support::{
    alerts::open_alert,
    engine::{Desk, bring_in, deliveries_of, incoming},
};

/// The methods that the seam declares to be a `read` or a `write`.
fn declared(access: &str) -> BTreeSet<&'static str> {
    let lines = include_str!("../../src/service/lib.rs").lines();
    let methods =
        lines.filter_map(|line| line.trim_start().strip_prefix(access)?.strip_prefix(" fn ")?.split_once('('));
    methods.map(|(name, _)| name).collect()
}

/// All that a write could change, in one text.
async fn data(engine: &ActingEngine) -> String {
    let whole = Deployment::whole(std::sync::Arc::new(engine.clone()));
    let alerts = whole.alerts.list(&AlertQuery::default()).await;
    let audit = whole.audit.unwrap().audit(None, 1_000).await;
    let deliveries = engine.deliveries(DeliveryFilter { size: Some(1_000), ..DeliveryFilter::default() }).await;
    format!("{alerts:?} {audit:?} {deliveries:?} {:?} {:?}", engine.endpoints().await, engine.credentials().await)
}

#[tokio::test]
async fn each_write_of_each_capability_is_refused_and_each_read_passes() {
    let desk = Desk::new().await;
    let new = |path: &str| {
        let auth = EndpointAuth::Header { name: "X-Api-Key".to_owned(), value: Secret::new("k") };
        NewEndpoint::new(format!("https://shop.example/{path}").parse().unwrap(), auth)
    };
    let endpoint = desk.acting.add_endpoint(new("there")).await.unwrap().id;
    let alert = open_alert("P-1");
    bring_in(&desk.acting, [alert.clone()]).await;
    let delivery = deliveries_of(&desk.acting, alert.id).await[0].id;
    let kind = CredentialKind::Key(KeyScope::Alerts);
    let key = desk.acting.create_credential(kind).await.unwrap().credential.id;
    let before = data(&desk.acting).await;

    let caller = desk.acting.caller().clone();
    let (whole, shown) = (desk.engine.deployment(caller.clone()), desk.engine.deployment(caller).read_only());
    assert!(shown.is_read_only() && !whole.is_read_only());
    assert_eq!([shown.vocabulary, whole.vocabulary], [Vocabulary::Desk; 2]);
    let (mut writes, mut reads) = (BTreeSet::new(), BTreeSet::new());
    macro_rules! of {
        ($deployment:ident alerts) => {
            $deployment.alerts
        };
        ($deployment:ident $capability:ident) => {
            $deployment.$capability.as_ref().unwrap()
        };
    }
    macro_rules! refused {
        ($capability:ident.$method:ident($($argument:expr),*)) => {
            writes.insert(stringify!($method));
            assert_eq!(of!(shown $capability).$method($($argument),*).await, Err(ServiceError::ReadOnly));
        };
    }
    macro_rules! passes {
        ($capability:ident.$method:ident($($argument:expr),*)) => {
            reads.insert(stringify!($method));
            let answer = of!(shown $capability).$method($($argument),*).await;
            assert!(answer.is_ok(), "{answer:?}");
            assert_eq!(answer, of!(whole $capability).$method($($argument),*).await);
        };
    }

    let resolution = Resolution::Current { decision: Decision::Refunded, comments: String::new() };
    refused!(alerts.resolve(alert.id, ResolveRequest { resolution, idempotency_key: None }));
    refused!(intake.ingest(vec![incoming(open_alert("P-2"))], IngestOptions { events: true }));
    refused!(webhooks.add_endpoint(new("new")));
    refused!(webhooks.change_endpoint(endpoint, EndpointChange { enabled: Some(false), ..EndpointChange::default() }));
    refused!(webhooks.test_endpoint(endpoint));
    refused!(webhooks.redeliver(delivery));
    refused!(webhooks.redeliver_exhausted(endpoint));
    refused!(webhooks.remove_endpoint(endpoint));
    refused!(credentials.create_credential(kind));
    refused!(credentials.revoke_credential(kind, &key));
    refused!(attempts.decide_parked(AttemptId::generate(), true));
    let proof = RefundProof { reference: "re_1".to_owned(), amount: None, currency: None, state: RefundState::Pending };
    refused!(truth.record_truth(Vec::new()));
    refused!(truth.keep_refund(alert.id, proof));
    refused!(truth.dismiss_contradictions(alert.id));
    refused!(rules.stop_rules());
    refused!(rules.start_rules());
    refused!(truth.enter_sales("2026-03".parse().unwrap(), CardScheme::Visa, 9));

    passes!(alerts.list(&AlertQuery::default()));
    passes!(alerts.get(alert.id));
    passes!(alerts.clock_lead());
    passes!(intake.companies());
    passes!(webhooks.endpoints());
    passes!(webhooks.deliveries(DeliveryFilter::default()));
    passes!(webhooks.delivery(delivery));
    passes!(credentials.credentials());
    passes!(attempts.unfinished());
    passes!(duplicates.duplicates(vec![alert.id]));
    passes!(find.find(&FindQuery::parse("P-1").unwrap(), 10));
    passes!(audit.audit(None, 10));
    passes!(truth.refunds(vec![alert.id]));
    passes!(truth.held(30));
    passes!(truth.contradictions());
    passes!(rules.rules());
    passes!(truth.sales());
    passes!(sources.sources());
    passes!(stats.count_all());
    passes!(stats.counts());
    passes!(stats.at_risk(24));
    passes!(stats.sums(&AlertFilter::default()));
    passes!(stats.insights(&AlertFilter::default(), Calendar::UTC));
    passes!(changes.next_change(0));
    passes!(changes.try_writing());

    assert_eq!((writes, reads), (declared("write"), declared("read")), "each one is tried");
    assert_eq!(data(&desk.acting).await, before, "what passes changes nothing");
}
