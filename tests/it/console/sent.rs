//! What a frame sends to the terminal.

use avert::console::compact_backend::CompactBackend;
use chrono::Duration;
use ratatui::{backend::Backend, buffer::Buffer};

use super::{
    fake::morning,
    rig::{Made, Rig},
};
use avert::{
    console::terminal::FrameWriter,
    domain::{Alert, time::Clock},
};

/// The bytes that bring a terminal from one frame to the next.
fn sent(before: &Buffer, after: &Buffer) -> Vec<u8> {
    let mut bytes = Vec::new();
    let writer = FrameWriter::new(&mut bytes);
    let mut backend = CompactBackend::new(writer.clone());
    backend.draw(before.diff(after).into_iter()).unwrap();
    Backend::flush(&mut backend).unwrap();
    writer.present().unwrap();
    drop((backend, writer));
    bytes
}

/// What a key press sends, once what is around the alert under the cursor is known.
fn press(rig: &mut Rig, key: &str) -> Vec<u8> {
    let before = rig.draw();
    rig.press(key);
    let bytes = sent(&before, &rig.draw());
    rig.advance(Duration::milliseconds(100));
    bytes
}

#[test]
fn a_cursor_move_to_an_alert_of_the_same_kind_sends_at_most_a_kilobyte() {
    let now = super::rig::clock().now();
    // Alike in what the detail has lines for, as most neighbours are.
    let alerts: Vec<_> =
        morning(now).into_iter().filter(|alert| !alert.alert_type.is_notice() && alert.rule_name.is_none()).collect();
    let alerts =
        alerts.into_iter().map(|alert| Alert { merchant_order_id: Some("A-10293".to_owned()), ..alert }).collect();
    let mut rig = Made { size: (200, 60), ..Made::of(alerts) }.start();
    press(&mut rig, "j");

    let sizes: Vec<usize> = (0..6).map(|_| press(&mut rig, "j").len()).collect();

    let mut sorted = sizes.clone();
    sorted.sort_unstable();
    assert!(sorted[sorted.len() / 2] <= 1_024, "{sizes:?}");
}

#[test]
fn a_frame_that_changes_nothing_sends_nothing() {
    let mut rig = Made::default().start();
    let before = rig.draw();

    assert_eq!(sent(&before, &rig.draw()), b"");
}
