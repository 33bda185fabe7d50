//! Stripe's interface: its lists of early fraud warnings, disputes and refunds, and the charge of a warning.

use serde_json::{Value, json};

use crate::{
    domain::Timestamp,
    polls::{ListPage, PollPlace, event_id, rows},
};

/// Address of its interface.
pub const BASE: &str = "https://api.stripe.com";

/// Its lists, each with the type of the events that its rows are.
pub const LISTS: [(&str, &str); 3] = [
    ("radar/early_fraud_warnings", "radar.early_fraud_warning.updated"),
    ("disputes", "charge.dispute.updated"),
    ("refunds", "refund.updated"),
];

/// Returns the path of a page of a list, newest rows first; warnings come with their charges.
pub fn page_path(list: &str, place: &PollPlace) -> String {
    let expanded = if list == LISTS[0].0 { "&expand[]=data.charge" } else { "" };
    let after = if place.page.is_empty() { String::new() } else { format!("&starting_after={}", place.page) };
    format!("v1/{list}?limit=100&created[gte]={}{after}{expanded}", place.from.timestamp())
}

/// Reads a page of a list.
///
/// # Errors
/// Where it is no page.
pub fn page(kind: &str, page: &Value, now: Timestamp) -> Result<ListPage, String> {
    let rows = rows(page)?;
    let has_more = page.get("has_more").and_then(Value::as_bool).ok_or("its page does not say \"has_more\"")?;
    let event = |row: &Value| {
        let id = event_id(id_of(row).unwrap_or_default(), row);
        json!({"id": id, "type": kind, "created": now.timestamp(), "data": {"object": row}})
    };
    let last = rows.last().filter(|_| has_more).map(|last| id_of(last).ok_or("the last row of its page has no id"));
    Ok(ListPage { events: rows.iter().map(event).collect(), next: last.transpose()?.map(str::to_owned) })
}

/// Returns an id that can stand in an address.
fn id_of(object: &Value) -> Option<&str> {
    is_id(object.get("id")?.as_str()?)
}

fn is_id(text: &str) -> Option<&str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!text.is_empty() && text.chars().all(is_plain)).then_some(text)
}

/// Returns the path of the charge that a warning names without holding it.
pub fn charge_path(event: &Value) -> Option<String> {
    let kind = event.get("type")?.as_str()?;
    let charge = event.pointer("/data/object/charge")?.as_str().and_then(is_id)?;
    kind.starts_with("radar.early_fraud_warning.").then(|| format!("v1/charges/{charge}"))
}

/// Puts the charge into the warning that named it.
pub fn put_charge(event: &mut Value, charge: Value) {
    if let Some(place) = event.pointer_mut("/data/object/charge")
        && charge.get("id") == Some(&*place)
    {
        *place = charge;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::from_iso;

    fn noon() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    #[test]
    fn a_page_is_asked_for_by_the_time_of_creation_and_the_row_before_it() {
        let first = PollPlace::read(None, noon());
        let next = PollPlace { page: "dp_9".to_owned(), ..first.clone() };

        assert_eq!(page_path("disputes", &next), "v1/disputes?limit=100&created[gte]=1772539200&starting_after=dp_9");
        assert!(page_path(LISTS[0].0, &first).ends_with("&created[gte]=1772539200&expand[]=data.charge"));
    }

    #[test]
    fn rows_become_the_events_of_its_webhooks_and_the_same_row_the_same_event() {
        let list = |amount: u32, has_more: bool| {
            let rows = json!([{"id": "dp_1", "amount": 1}, {"id": "dp_2", "amount": amount}]);
            json!({"has_more": has_more, "data": rows})
        };
        let read = |list| page("charge.dispute.updated", &list, noon()).unwrap();
        let ids = |page: &ListPage| page.events.iter().map(|event| event["id"].clone()).collect::<Vec<_>>();
        let (once, again, changed) = (read(list(1, true)), read(list(1, false)), read(list(2, false)));

        assert_eq!((once.next.as_deref(), again.next.as_deref()), (Some("dp_2"), None));
        assert_eq!(
            (&once.events[0]["type"], &once.events[0]["data"]["object"]["id"]),
            (&json!("charge.dispute.updated"), &json!("dp_1"))
        );
        assert_eq!(ids(&once), ids(&again));
        assert_eq!(ids(&once)[0], ids(&changed)[0]);
        assert_ne!(ids(&once)[1], ids(&changed)[1]);
        for wrong in [json!({"data": []}), json!({"has_more": true, "data": [{"id": "a/b"}]}), json!(null)] {
            assert!(page("refund.updated", &wrong, noon()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_charge_that_a_warning_names_takes_the_place_of_its_name() {
        let warning = |charge: Value| {
            let object = json!({"charge": charge});
            json!({"type": "radar.early_fraud_warning.created", "data": {"object": object}})
        };
        let mut event = warning(json!("ch_1"));

        assert_eq!(charge_path(&event).as_deref(), Some("v1/charges/ch_1"));
        put_charge(&mut event, json!({"id": "ch_2"}));
        assert_eq!(event, warning(json!("ch_1")), "another charge");
        put_charge(&mut event, json!({"id": "ch_1", "amount": 1}));
        assert_eq!(event, warning(json!({"id": "ch_1", "amount": 1})));
        for none in [warning(json!("../secret")), warning(json!({"id": "ch_1"})), json!({"type": "refund.created"})] {
            assert_eq!(charge_path(&none), None);
        }
    }
}
