//! The log of tries: what was sent, what came back, and no secret in either.

use avert::{
    domain::{DeliveryLog, EndpointAuth, NewEndpoint, Secret},
    service::Webhooks,
};
use chrono::Duration;

use super::house::House;
use crate::support::{
    alerts::{noon, open_alert},
    receiver::{Answer, Receiver},
};

async fn log(house: &House, endpoint: NewEndpoint) -> DeliveryLog {
    house.engine.add_endpoint(endpoint).await.unwrap();
    let alert = open_alert("A1");
    house.ingest([alert.clone()]).await;
    house.dispatcher().run_once().await.unwrap();
    let delivery = house.deliveries(alert.id).await.remove(0);
    house.engine.delivery(delivery.id).await.unwrap()
}

fn headers(log: &DeliveryLog, number: usize) -> Vec<(&str, &str)> {
    let sent = log.attempts[number].sent.as_ref().expect("a request");
    sent.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

#[tokio::test]
async fn a_try_tells_every_header_that_the_receiver_got_save_the_credential() {
    let house = House::new().await;
    let receiver = Receiver::start().await;
    let secret = Secret::for_signing();
    let auth = EndpointAuth::Basic { username: "desk".to_owned(), password: Secret::new("hunter22") };

    let log = log(
        &house,
        NewEndpoint { signing: Some(secret.clone()), ..NewEndpoint::new(receiver.url().parse().unwrap(), auth) },
    )
    .await;

    let [request] = &receiver.requests()[..] else { panic!("one request") };
    let told = headers(&log, 0);
    for (name, value) in &told {
        let expected = if *name == "authorization" { "Basic ****" } else { request.header(name) };
        assert_eq!(*value, expected, "{name}");
    }
    let names: Vec<&str> = told.iter().map(|(name, _)| *name).collect();
    for name in ["authorization", "user-agent", "content-type", "webhook-id", "webhook-timestamp", "webhook-signature"]
    {
        assert!(names.contains(&name), "{name} is missing in {names:?}");
    }
    assert_eq!(log.attempts[0].sent.as_ref().unwrap().url, receiver.url());
    assert_eq!(log.body.as_bytes(), request.body);
    let shown = format!("{log:?}");
    for secret in ["hunter22", "ZGVzazpodW50ZXIyMg==", secret.reveal().trim_start_matches("whsec_")] {
        assert!(!shown.contains(secret), "{secret}");
    }
}

#[tokio::test]
async fn a_header_of_the_receivers_choice_is_told_by_its_name_alone() {
    let house = House::new().await;
    let receiver = Receiver::start().await;
    let auth = EndpointAuth::Header { name: "Authorization".to_owned(), value: Secret::new("Bearer s3cret") };

    let log = log(&house, NewEndpoint::new(receiver.url().parse().unwrap(), auth)).await;

    assert!(headers(&log, 0).contains(&("authorization", "****")));
    assert!(!headers(&log, 0).iter().any(|(name, _)| *name == "webhook-signature"));
}

#[tokio::test]
async fn each_try_tells_what_it_sent_itself_and_what_came_of_it() {
    let house = House::new().await;
    let receiver = Receiver::start().await;
    receiver.answer_next([Answer::Body(503, b"try later".to_vec()), Answer::Close]);
    let auth = EndpointAuth::Header { name: "X-Key".to_owned(), value: Secret::new("s3cret") };
    let first = log(&house, NewEndpoint::new(receiver.url().parse().unwrap(), auth)).await;

    house.clock.advance(Duration::seconds(6));
    house.dispatcher().run_once().await.unwrap();
    let log = house.engine.delivery(first.delivery.id).await.unwrap();

    assert_eq!(
        (log.attempts[0].status, log.attempts[0].answer.as_str(), &log.attempts[0].error),
        (Some(503), "try later", &None)
    );
    assert_eq!((log.attempts[1].status, log.attempts[1].answer.as_str()), (None, ""));
    assert!(log.attempts[1].error.is_some());
    let sent =
        |number| headers(&log, number).into_iter().find(|(name, _)| *name == "webhook-timestamp").unwrap().1.to_owned();
    assert_eq!(
        [sent(0), sent(1)],
        [noon(), noon() + Duration::seconds(6)].map(|moment| moment.timestamp().to_string())
    );
}
