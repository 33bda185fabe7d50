//! Deliveries to an endpoint that fails three requests of ten: none is lost without a word, none goes out again behind
//! a 200.

use avert::{
    domain::{Alert, Delivery, DeliveryState, webhook::schedule::GAPS_SECONDS},
    service::Webhooks as _,
};
use chrono::Duration;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};

use super::house::House;
use crate::support::{
    alerts::open_alert,
    receiver::{Answer, Receiver},
    size::sized,
};

/// Deliveries of a plain run, at full size, and on one desk.
const DELIVERIES: (u64, u64) = (400, 1_000_000);
const ON_A_DESK: usize = 400;
/// Requests that an endpoint may need for the deliveries of a desk.
const ANSWERS: usize = ON_A_DESK * 3;

/// An answer by chance, and whether it takes the delivery.
fn answer(chance: &mut StdRng) -> (Answer, bool) {
    if chance.random_bool(0.7) {
        return (Answer::Status(200), true);
    }
    let faults = [
        Answer::Status(500),
        Answer::Status(404),
        Answer::With(429, "retry-after", "20".to_owned()),
        Answer::With(302, "location", "/elsewhere".to_owned()),
        Answer::Close,
    ];
    (faults[chance.random_range(0..faults.len())].clone(), false)
}

/// One desk's alerts and their outcomes, told until nothing waits any more.
async fn desk(seed: u64) {
    let mut chance = StdRng::seed_from_u64(seed);
    let (answers, takes): (Vec<Answer>, Vec<bool>) = (0..ANSWERS).map(|_| answer(&mut chance)).unzip();
    let (house, receiver) = (House::new().await, Receiver::answering(Answer::Status(500)).await);
    receiver.answer_next(answers);
    house.endpoint(&receiver).await;
    let alerts: Vec<Alert> = (0..ON_A_DESK / 2).map(|number| open_alert(&format!("A{number}"))).collect();
    house.ingest(alerts.clone()).await;
    for alert in &alerts {
        house.resolve(alert.id).await;
    }
    let mut dispatcher = house.dispatcher();

    // A jittered gap is at most a fifth longer. The breaker may cost a turn now and then.
    for _ in 0..GAPS_SECONDS.len() * 3 {
        dispatcher.run_once().await.unwrap();
        house.clock.advance(Duration::hours(29));
    }

    let disabled = house.engine.endpoints().await.unwrap()[0].disabled.is_some();
    let mut deliveries: Vec<Delivery> = Vec::new();
    for alert in &alerts {
        deliveries.extend(house.deliveries(alert.id).await);
    }
    let requests = receiver.requests();
    let taken = takes[..requests.len()].iter().filter(|takes| **takes).count();
    let delivered = deliveries.iter().filter(|delivery| delivery.state == DeliveryState::Delivered).count();
    assert_eq!((deliveries.len(), delivered), (ON_A_DESK, taken), "seed {seed}: every 200 is one delivery");
    for delivery in deliveries {
        let sent = requests.iter().filter(|request| request.header("webhook-id") == delivery.event.to_string()).count();
        assert_eq!(u32::try_from(sent).unwrap(), delivery.attempts, "seed {seed}: {delivery:?}");
        // An endpoint that takes nothing for five days is disabled, which cancels what still waits.
        let gave_up = match delivery.state {
            DeliveryState::Exhausted => sent > GAPS_SECONDS.len(),
            DeliveryState::Cancelled => disabled,
            _ => false,
        };
        assert!(delivery.state == DeliveryState::Delivered || gave_up, "seed {seed}: {delivery:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_sent_again_where_three_requests_of_ten_fail() {
    let deliveries: u64 = sized(DELIVERIES.0, DELIVERIES.1);
    let first: u64 = rand::random();
    for number in 0..deliveries.div_ceil(ON_A_DESK as u64) {
        desk(first.wrapping_add(number)).await;
    }
}
