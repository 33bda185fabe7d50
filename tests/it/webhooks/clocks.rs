//! Retries and clocks: a date that jumps sends nothing early, and one that is set back keeps nothing waiting longer
//! than its gap.

use avert::domain::{Alert, DeliveryState};
use chrono::Duration;

use super::house::House;
use crate::support::{
    alerts::{NOON, open_alert},
    clock::MachineClocks,
    receiver::{Answer, Receiver},
};

/// A house whose one delivery has failed once and is tried again after 5 s.
async fn failed_once(clocks: &MachineClocks) -> (House, Receiver, Alert) {
    let house = House::on_machine(clocks).await;
    let receiver = Receiver::answering(Answer::Status(503)).await;
    house.endpoint(&receiver).await;
    let alert = open_alert("P-1");
    house.ingest([alert.clone()]).await;
    house.dispatcher().run_once().await.unwrap();
    (house, receiver, alert)
}

/// What is tried by a process that is just looking.
async fn tries(house: &House) -> u64 {
    house.dispatcher().run_once().await.unwrap().attempted
}

#[tokio::test]
async fn a_clock_set_back_a_day_keeps_no_retry_waiting_longer_than_its_gap() {
    let clocks = MachineClocks::at(NOON);
    let (house, receiver, alert) = failed_once(&clocks).await;

    clocks.jump(-Duration::days(1));
    clocks.pass(6);

    assert_eq!((tries(&house).await, receiver.count()), (1, 2));
    assert_eq!(house.deliveries(alert.id).await[0].attempts, 2);
}

#[tokio::test]
async fn a_clock_that_was_ahead_for_long_and_is_set_right_keeps_nothing_waiting() {
    let clocks = MachineClocks::at(NOON);
    let (house, receiver, alert) = failed_once(&clocks).await;
    clocks.jump(Duration::days(1));
    let mut tried = Vec::new();
    for _ in 0..=40 {
        clocks.pass(30);
        tried.push(tries(&house).await);
    }

    clocks.jump(-Duration::days(1));
    clocks.pass(1);
    let at_once = tries(&house).await;

    let before: u64 = tried.iter().sum();
    assert_eq!(at_once, 1, "its gap was laid down by a clock that was wrong");
    assert_eq!(u64::try_from(receiver.count()).unwrap(), 1 + before + at_once);
    assert_eq!(house.deliveries(alert.id).await[0].state, DeliveryState::Pending);
}

#[tokio::test]
async fn a_clock_that_jumps_ahead_sends_no_retry_early() {
    let clocks = MachineClocks::at(NOON);
    let (house, receiver, _) = failed_once(&clocks).await;

    clocks.jump(Duration::days(1));
    clocks.pass(3);
    let early = tries(&house).await;
    clocks.pass(4);
    let due = tries(&house).await;

    assert_eq!((early, due, receiver.count()), (0, 1, 2));
}

#[tokio::test]
async fn what_is_new_while_the_date_is_wrong_goes_out_at_once_and_tells_the_hours_that_are_left() {
    let clocks = MachineClocks::at(NOON);
    let (house, receiver, _) = failed_once(&clocks).await;

    clocks.jump(Duration::days(1));
    house.ingest([open_alert("P-2")]).await;

    assert_eq!(tries(&house).await, 1);
    let told = receiver.requests().pop().unwrap().json();
    assert_eq!(told["payload"]["hoursLeft"], 23);
}
