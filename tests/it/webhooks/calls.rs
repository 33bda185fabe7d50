//! Calls that reach people: an alert about to expire, at an endpoint that wants a line of text.

use avert::{
    domain::{
        Alert, Deadline, EndpointAuth, EndpointId, EventKind, EventTemplate, NewEndpoint, Secret, Subscription,
        time::Clock as _,
    },
    service::Webhooks,
};
use chrono::Duration;
use serde_json::json;

use super::house::House;
use crate::support::{alerts::open_alert, receiver::Receiver};

async fn endpoint(house: &House, receiver: &Receiver, template: Option<EventTemplate>) -> EndpointId {
    let auth = EndpointAuth::Basic { username: "desk".to_owned(), password: Secret::new("hunter22") };
    let subscription =
        Subscription { events: vec![EventKind::AlertExpiring], template, minutes: 30, ..Subscription::default() };
    let new = NewEndpoint { subscription, ..NewEndpoint::new(receiver.url().parse().unwrap(), auth) };
    house.add_endpoint(new).await.id
}

#[tokio::test]
async fn an_alert_about_to_expire_reaches_its_endpoints_in_the_form_that_each_takes() {
    let house = House::new().await;
    let (program, people) = (Receiver::start().await, Receiver::start().await);
    endpoint(&house, &program, None).await;
    endpoint(&house, &people, Some(EventTemplate::Slack)).await;
    let deadline = Deadline::At(house.clock.now() + Duration::minutes(28));
    let alert = Alert { deadline, ..open_alert("E-1") };
    house.ingest([alert.clone()]).await;

    house.call_expiring().await;
    house.dispatcher().run_once().await.unwrap();

    let body = |receiver: &Receiver| receiver.requests()[0].json();
    assert_eq!([program.count(), people.count()], [1, 1], "alert.created goes to neither");
    assert_eq!(
        (&body(&program)["event"], &body(&program)["payload"]["id"]),
        (&json!("alert.expiring"), &json!(alert.id.to_string()))
    );
    assert_eq!(body(&people), json!({"text": "ETHOCA alert E-1 due in 28m, not answered: 129.90 EUR"}));
}

#[tokio::test]
async fn a_test_has_the_form_that_its_endpoint_takes() {
    let house = House::new().await;
    house.sends_tests();
    let people = Receiver::start().await;
    let endpoint = endpoint(&house, &people, Some(EventTemplate::Slack)).await;

    house.engine.test_endpoint(endpoint).await.unwrap();

    let body = people.requests()[0].json();
    assert_eq!(body.as_object().unwrap().len(), 1);
    assert!(body["text"].as_str().unwrap().starts_with("ETHOCA alert TEST-"), "{body}");
}
