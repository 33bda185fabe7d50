//! What text from outside can do to the screen: nothing.

use avert::domain::time::Clock;

use super::{
    fake::morning,
    rig::{Made, clock},
};

#[test]
fn text_from_a_network_can_neither_steer_the_terminal_nor_break_a_line() {
    let mut alerts = morning(clock().now());
    alerts[0].merchant_descriptor = "EVIL\u{1b}[2J\u{7}\r\nSHOP\u{202e}PIZ".to_owned();
    alerts[0].issuer = "Bank\u{9b}31m of\tNowhere".to_owned();
    alerts[0].provider_id = "\u{1b}]52;c;AAAA\u{7}".to_owned();
    alerts[0].rule_name = Some("rule\u{0}".to_owned());
    let mut rig = Made { alerts, size: (160, 50), ..Made::default() }.start();

    for keys in ["g", "r", "esc", "enter", "esc"] {
        rig.press(keys);
        let buffer = rig.draw();
        for cell in buffer.content() {
            assert!(!cell.symbol().contains(|c: char| c.is_control() || c == '\u{202e}'), "{:?}", cell.symbol());
        }
    }
    assert!(rig.screen().contains("EVIL·[2J···SHOPPIZ"), "{}", rig.screen());
}

#[test]
fn wide_characters_push_nothing_out_of_its_column() {
    let mut rig = Made { size: (160, 50), ..Made::default() }.start();

    let screen = rig.screen();

    let column = |line: &str, text: &str| unicode_width::UnicodeWidthStr::width(&line[..line.find(text).unwrap()]);
    let wide = screen.lines().find(|line| line.contains("東京")).unwrap();
    let plain = screen.lines().find(|line| line.contains("SUB-8630")).unwrap();
    assert_eq!(column(wide, "SUB-8598"), column(plain, "SUB-8630"), "{screen}");
}
