//! A rule that stages by itself: taken back, left alone, and started again.

use serde_json::Value;

use super::{Day, alert, leave};
use crate::support::binary::run_ok;

const NAMED: (&str, &str) = ("AVERT_AUTO_RULES", "small");

impl Day {
    fn import(&self, alert: &Value) {
        let file = self.path().join("more.ndjson");
        std::fs::write(&file, format!("{alert}\n")).unwrap();
        run_ok(self.path(), &["import", file.to_str().unwrap()]);
    }

    /// Each decision of the desk: its alert, the rule that staged it, and its fate.
    fn journal(&self) -> Vec<[String; 3]> {
        let text = run_ok(self.path(), &["journal", "export", "--output", "json"]);
        let all: Vec<Value> = serde_json::from_str(&text).unwrap();
        let text = |decision: &Value, name: &str| decision[name].as_str().unwrap_or_default().to_owned();
        all.iter().map(|decision| ["providerId", "rule", "fate"].map(|name| text(decision, name))).collect()
    }
}

#[test]
fn what_is_taken_back_stays_back_the_next_one_leaves_by_the_rule_and_a_restart_repeats_none() {
    let day = Day::with("", [alert(1, "ETHOCA", "ETHOCA_CUSTOMER_DISPUTE", 3)]);
    let rules = day.path().join("rules.txt");
    std::fs::write(&rules, "small: amount<45 currency:EUR -> refunded \"below the fee\"\n").unwrap();
    let rules = ("AVERT_RULES", rules.to_str().unwrap());

    let mut terminal = day.open_with(&[NAMED, rules, ("AVERT_GRACE_SECONDS", "60")], 120, 40);
    terminal.wait_for("small: 1 staged, leaves in 60 s, u takes it back");
    terminal.wait_for("rules act: small");
    terminal.press("u");
    terminal.wait_for("Taken back: REFUNDED");
    leave(terminal);
    day.import(&alert(2, "ETHOCA", "ETHOCA_CUSTOMER_DISPUTE", 5));
    let terminal = day.open_with(&[NAMED, rules, ("AVERT_GRACE_SECONDS", "1")], 120, 40);
    terminal.wait_for("by desk rule small: 1 recorded");
    leave(terminal);
    day.import(&alert(3, "ETHOCA", "ETHOCA_CUSTOMER_DISPUTE", 7));
    let terminal = day.open_with(&[NAMED, rules, ("AVERT_GRACE_SECONDS", "1")], 120, 40);
    terminal.wait_for("by desk rule small: 1 recorded");
    leave(terminal);

    let decision = |id: &str, fate: &str| [id.to_owned(), "small".to_owned(), fate.to_owned()];
    assert_eq!(
        day.journal(),
        [decision("DAY-1", "takenBack"), decision("DAY-2", "recorded"), decision("DAY-3", "recorded")]
    );
    assert_eq!(day.status(1), "OPEN");
    assert_eq!(day.alert(2)["outcome"]["comments"], "below the fee");
}

#[test]
fn a_name_that_no_rule_has_keeps_the_console_from_opening_and_is_named_with_those_there_are() {
    let day = Day::with("", [alert(1, "ETHOCA", "ETHOCA_CUSTOMER_DISPUTE", 3)]);
    let rules = day.path().join("rules.txt");
    std::fs::write(&rules, "small: mcc:1 -> refunded\ngone: mcc:2 -> refunded\n").unwrap();

    let terminal = day.open_with(&[("AVERT_AUTO_RULES", "smal"), ("AVERT_RULES", rules.to_str().unwrap())], 120, 40);
    let (code, written) = terminal.wait_exit();

    let said = String::from_utf8_lossy(&written).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("names the rule \"smal\"") && said.contains("there are: small, gone"), "{said}");
}
