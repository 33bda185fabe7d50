//! Words that come in may be any, and any number of them.

use serde_json::{Value, json};

use crate::support::{binary::run_ok, operations::import};

#[test]
fn a_list_is_in_the_order_of_its_words_however_many_there_are() {
    let home = tempfile::tempdir().unwrap();
    let line = |number: u32| {
        let alert = json!({"providerId": format!("P-{number}"), "provider": format!("NETWORK {number:04}"),
            "type": format!("KIND {}", 9_999 - number),
            "amount": "1.00", "currency": "EUR", "hoursLeft": 20});
        format!("{alert}\n")
    };
    import(home.path(), &(0..1_500).map(line).collect::<String>());

    for (field, order, first) in
        [("provider", "ASC", "P-0"), ("provider", "DESC", "P-1499"), ("type", "ASC", "P-1499"), ("type", "DESC", "P-0")]
    {
        let sorted = run_ok(
            home.path(),
            &["alerts", "list", "--sort-field", field, "--sort-order", order, "--size", "1", "--output", "json"],
        );
        let page: Value = serde_json::from_str(&sorted).unwrap();
        assert_eq!((&page["total"], &page["data"][0]["providerId"]), (&json!(1_500), &json!(first)), "{field} {order}");
    }
}
