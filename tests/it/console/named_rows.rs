//! Rows of the Activity screen name alerts by what those are known by, whatever list they are in.

use avert::domain::{Alert, AlertId, AlertStatus, time::Clock};
use chrono::Duration;

use super::{
    activity::{desk, started},
    fake::morning,
    rig::{Made, clock},
    settling::unfinished,
};

#[test]
fn what_the_engine_has_not_finished_is_named_though_no_list_has_its_alert() {
    let mut alerts = morning(clock().now());
    let lapsed = ["LAPSED-77", "LAPSED-78"].map(|provider_id| Alert {
        id: AlertId::generate(),
        provider_id: provider_id.to_owned(),
        merchant_order_id: None,
        status: AlertStatus::Expired,
        expired_at: Some(clock().now() - Duration::hours(9)),
        ..alerts[2].clone()
    });
    alerts.extend(lapsed.clone());
    let mut rig = started(Made { alerts, size: (160, 40), ..desk() });
    *rig.service.unfinished.lock().unwrap() = lapsed.iter().map(|alert| unfinished(alert.id, "PARKED")).collect();
    rig.hear();
    rig.advance(Duration::seconds(1));

    rig.press("4");

    // The cursor is on one of them alone.
    let screen = rig.screen();
    assert!(screen.contains("LAPSED-77") && screen.contains("LAPSED-78"), "{screen}");
    assert!(!lapsed.iter().any(|alert| screen.contains(&alert.id.to_string())), "{screen}");
}
