//! A clock that jumps makes nothing lapse wrongly: an engine with both of its clocks in the test's hands.

use avert::domain::time::Clock as _;
use avert::domain::{AlertStatus, Deadline};
use avert::engine::{Engine, EngineSettings};
use avert::service::Alerts as _;
use chrono::TimeDelta;
use tempfile::TempDir;

use crate::support::alerts::{NOON, open_alert};
use crate::support::clock::MachineClocks;
use crate::support::engine::{acting, bring_in, engine_with, impatient, network};

fn engine_of(clocks: &MachineClocks, home: &TempDir) -> Engine {
    let settings = EngineSettings { monotonic_clock: Some(clocks.counting.clone()), ..impatient() };
    engine_with(home.path(), &clocks.date, network(true, true), settings)
}

#[tokio::test]
async fn a_clock_that_jumps_and_is_set_right_again_has_made_nothing_lapse() {
    let home = tempfile::tempdir().unwrap();
    let clocks = MachineClocks::at(NOON);
    let engine = engine_of(&clocks, &home);
    let acting = acting(&engine).await;
    let alert = open_alert("P-1");
    bring_in(&acting, [alert.clone()]).await;
    assert_eq!(engine.expire_once().await, Ok(0));

    clocks.jump(TimeDelta::days(2));
    assert_eq!(engine.expire_once().await, Ok(0));
    clocks.pass(300);
    assert_eq!(engine.expire_once().await, Ok(0));
    clocks.jump(-TimeDelta::days(2));

    assert_eq!(engine.expire_once().await, Ok(0));
    assert_eq!(acting.get(alert.id).await.unwrap().status, AlertStatus::Open);
}

#[tokio::test]
async fn an_alert_that_comes_in_while_the_clock_is_wrong_does_not_lapse_on_arrival() {
    let home = tempfile::tempdir().unwrap();
    let clocks = MachineClocks::at(NOON);
    let engine = engine_of(&clocks, &home);
    let acting = acting(&engine).await;
    bring_in(&acting, [open_alert("P-1")]).await;
    clocks.jump(TimeDelta::days(2));

    let alert = open_alert("P-2");
    bring_in(&acting, [alert.clone()]).await;

    assert_eq!(acting.get(alert.id).await.unwrap().status, AlertStatus::Open);
}

#[tokio::test]
async fn a_date_that_goes_on_evenly_is_the_truth_after_ten_minutes() {
    let home = tempfile::tempdir().unwrap();
    let clocks = MachineClocks::at(NOON);
    let engine = engine_of(&clocks, &home);
    let acting = acting(&engine).await;
    let alert = open_alert("P-1");
    bring_in(&acting, [alert.clone()]).await;
    clocks.jump(TimeDelta::days(2));

    let mut lapsed = Vec::new();
    for _ in 0..=20 {
        lapsed.push(engine.expire_once().await.unwrap());
        clocks.pass(30);
    }

    assert_eq!(lapsed.iter().position(|lapsed| *lapsed == 1), Some(20), "{lapsed:?}");
    assert_eq!(acting.get(alert.id).await.unwrap().status, AlertStatus::Expired);
}

#[tokio::test]
async fn what_lapses_by_the_counting_clock_lapses_while_the_date_is_wrong() {
    let home = tempfile::tempdir().unwrap();
    let clocks = MachineClocks::at(NOON);
    let engine = engine_of(&clocks, &home);
    let acting = acting(&engine).await;
    let mut alert = open_alert("P-1");
    alert.deadline = Deadline::At(clocks.date.now() + TimeDelta::minutes(2));
    bring_in(&acting, [alert]).await;
    clocks.jump(TimeDelta::days(2));
    assert_eq!(engine.expire_once().await, Ok(0));

    clocks.pass(121);

    assert_eq!(engine.expire_once().await, Ok(1));
}

#[tokio::test]
async fn a_machine_that_slept_has_not_jumped() {
    let home = tempfile::tempdir().unwrap();
    let clocks = MachineClocks::at(NOON);
    let engine = engine_of(&clocks, &home);
    let acting = acting(&engine).await;
    bring_in(&acting, [open_alert("P-1")]).await;

    clocks.pass(86_400);

    assert_eq!(engine.expire_once().await, Ok(1));
}
