//! A clock that jumps makes nothing lapse wrongly: an engine with both of its clocks in the test's hands.

use avert::{
    domain::{AlertStatus, Deadline, time::Clock as _},
    engine::{ActingEngine, Engine, EngineSettings},
    service::Alerts as _,
};
use chrono::TimeDelta;
use tempfile::TempDir;

use crate::support::{
    alerts::{NOON, open_alert},
    clock::MachineClocks,
    engine::{acting, bring_in, engine_with, impatient, network},
};

/// A machine that was booted at noon, and an engine at work on it.
async fn booted() -> (TempDir, MachineClocks, Engine, ActingEngine) {
    let (home, clocks) = (tempfile::tempdir().unwrap(), MachineClocks::at(NOON));
    let engine = engine_of(&clocks, &home);
    let acting = acting(&engine).await;
    (home, clocks, engine, acting)
}

fn engine_of(clocks: &MachineClocks, home: &TempDir) -> Engine {
    let settings = EngineSettings { monotonic_clock: Some(clocks.counting.clone()), ..impatient() };
    engine_with(home.path(), &clocks.date, network(true, true), settings)
}

#[tokio::test]
async fn a_clock_that_jumps_and_is_set_right_again_has_made_nothing_lapse() {
    let (_home, clocks, engine, acting) = booted().await;
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
    let (_home, clocks, _, acting) = booted().await;
    bring_in(&acting, [open_alert("P-1")]).await;
    clocks.jump(TimeDelta::days(2));

    let alert = open_alert("P-2");
    bring_in(&acting, [alert.clone()]).await;

    assert_eq!(acting.get(alert.id).await.unwrap().status, AlertStatus::Open);
}

#[tokio::test]
async fn a_date_that_goes_on_evenly_is_the_truth_after_ten_minutes() {
    let (_home, clocks, engine, acting) = booted().await;
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
    let (_home, clocks, engine, acting) = booted().await;
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
    let (_home, clocks, engine, acting) = booted().await;
    bring_in(&acting, [open_alert("P-1")]).await;

    clocks.pass(86_400);

    assert_eq!(engine.expire_once().await, Ok(1));
}

#[tokio::test]
async fn a_restart_inside_a_jump_leaves_nothing_expired_that_was_not() {
    let home = tempfile::tempdir().unwrap();
    let clocks = MachineClocks::at(NOON);
    let engine = engine_of(&clocks, &home);
    let alert = open_alert("P-1");
    bring_in(&acting(&engine).await, [alert.clone()]).await;
    assert_eq!(engine.expire_once().await, Ok(0));
    drop(engine);

    clocks.jump(TimeDelta::days(2));
    let engine = engine_of(&clocks, &home);
    engine.recall_clock().await.unwrap();
    let acting = acting(&engine).await;
    let new = open_alert("P-2");
    bring_in(&acting, [new.clone()]).await;
    let lapsed = engine.expire_once().await;

    assert_eq!(lapsed, Ok(0));
    for id in [alert.id, new.id] {
        let alert = acting.get(id).await.unwrap();
        assert_eq!(
            (alert.status.clone(), alert.expired_at, alert.hours_left(engine.clock().now())),
            (AlertStatus::Open, None, 23)
        );
    }
}

#[tokio::test]
async fn processes_that_live_for_a_moment_confirm_a_date_together() {
    let home = tempfile::tempdir().unwrap();
    let clocks = MachineClocks::at(NOON);
    let alert = open_alert("P-1");
    let first = engine_of(&clocks, &home);
    bring_in(&acting(&first).await, [alert.clone()]).await;
    first.expire_once().await.unwrap();
    clocks.jump(TimeDelta::days(2));

    let mut lapsed = Vec::new();
    for _ in 0..=5 {
        lapsed.push(engine_of(&clocks, &home).expire_once().await.unwrap());
        clocks.pass(120);
    }

    assert_eq!(lapsed, [0, 0, 0, 0, 0, 1]);
}

#[tokio::test]
async fn what_has_lapsed_by_a_date_that_is_set_right_is_open_again() {
    let (_home, clocks, engine, acting) = booted().await;
    let alert = open_alert("P-1");
    bring_in(&acting, [alert.clone()]).await;
    clocks.jump(TimeDelta::days(2));
    for _ in 0..=20 {
        engine.expire_once().await.unwrap();
        clocks.pass(30);
    }
    let wrong = acting.get(alert.id).await.unwrap();

    clocks.jump(-TimeDelta::days(2));
    let right = [engine.expire_once().await.unwrap(), engine.expire_once().await.unwrap()];

    assert_eq!(wrong.status, AlertStatus::Expired);
    let alert = acting.get(alert.id).await.unwrap();
    assert_eq!((right, alert.status, alert.expired_at), ([0, 0], AlertStatus::Open, None));
    clocks.pass(86_400);
    assert_eq!(engine.expire_once().await, Ok(1), "and lapses in its time");
}

#[tokio::test]
async fn a_date_that_is_set_right_while_the_machine_is_booted_opens_what_had_lapsed_too() {
    let home = tempfile::tempdir().unwrap();
    let clocks = MachineClocks::at(NOON);
    let alert = open_alert("P-1");
    bring_in(&acting(&engine_of(&clocks, &home)).await, [alert.clone()]).await;
    clocks.jump(TimeDelta::days(2));
    assert_eq!(engine_of(&clocks, &home).expire_once().await, Ok(1), "nothing is known of a first start");

    clocks.jump(-TimeDelta::days(2));
    let engine = engine_of(&clocks.booted(), &home);
    engine.expire_once().await.unwrap();

    assert_eq!(acting(&engine).await.get(alert.id).await.unwrap().status, AlertStatus::Open);
}
