//! Menus of an alert: the facts that somebody may want elsewhere, copied by a key each, and its links, of which one is
//! opened at once and several are chosen from.

use ratatui::{
    Frame,
    layout::Rect,
    text::{Line, Span},
};

use super::menu::{Pick, pick};
use crate::{
    Action, AppContext, Dialog, Effect, Message, Order, Orders, Tone, dialog,
    domain::{Alert, AlertId, AlertLink, Deadline, Timestamp},
    screens::queue::columns::card,
    text::{cut_path, sanitize},
    times,
};

/// A fact that can be copied: its key, its name, and its text where the alert tells it.
struct CopiedFact {
    key: &'static str,
    name: &'static str,
    text: fn(&Alert, &AppContext) -> Option<String>,
    /// True where its text is too long for a line.
    is_long: bool,
}

const fn fact(key: &'static str, name: &'static str, text: fn(&Alert, &AppContext) -> Option<String>) -> CopiedFact {
    CopiedFact { key, name, text, is_long: false }
}

/// The facts, behind the id, whose key is in the keymap.
const FACTS: [CopiedFact; 8] = [
    fact("", "avert id", |alert, _| Some(alert.id.to_string())),
    CopiedFact { is_long: true, ..fact("J", "raw JSON", |alert, cx| Some((cx.alert_json)(alert, cx.now))) },
    fact("n", "network id", |alert, _| given(&alert.provider_id)),
    fact("o", "order number", |alert, _| given(alert.merchant_order_id.as_deref()?)),
    fact("a", "ARN", |alert, _| given(alert.acquirer_reference_number.as_deref()?)),
    fact("l", "last four", |alert, _| given(&alert.card_last_four)),
    fact("d", "descriptor", |alert, _| given(&alert.merchant_descriptor)),
    CopiedFact { is_long: true, ..fact("t", "ticket line", |alert, cx| Some(ticket_line(alert, cx.now))) },
];

fn given(text: &str) -> Option<String> {
    Some(sanitize(text).trim().to_owned()).filter(|text| !text.is_empty())
}

/// An alert in one line for a ticket: its id, its network and the id there, the merchant, the amount, the card as it is
/// shown, the deadline. What the alert does not tell is left out.
pub fn ticket_line(alert: &Alert, now: Timestamp) -> String {
    let merchant =
        if alert.merchant_name.trim().is_empty() { &alert.merchant_descriptor } else { &alert.merchant_name };
    let minute = |moment: Timestamp| moment.format("%Y-%m-%d %H:%M UTC");
    let deadline = match alert.deadline {
        _ if alert.is_over() => format!("status {}", alert.status),
        Deadline::At(moment) => format!("answer by {}", minute(moment)),
        Deadline::HoursLeft(..0) => format!("no time left at {}", minute(now)),
        Deadline::HoursLeft(hours) => format!("due in less than {} h at {}", times::hour_bound(hours), minute(now)),
        Deadline::Unknown => "due time unknown".to_owned(),
    };
    let shown_card = match (alert.card_bin.is_empty(), alert.card_last_four.is_empty()) {
        (true, true) => String::new(),
        _ => format!("card {}", card(alert, u16::MAX)),
    };
    let parts = [
        alert.id.to_string(),
        format!("{} {}", alert.provider, alert.provider_id),
        merchant.clone(),
        alert.money().map_or_else(String::new, |money| money.to_string()),
        shown_card,
        deadline,
    ];
    let parts: Vec<String> =
        parts.iter().map(|part| sanitize(part).trim().to_owned()).filter(|part| !part.is_empty()).collect();
    parts.join(" | ")
}

/// Opens the menu of an alert; its last entry unlinks the order of the shop, or links it again.
pub fn copy(alert: &Alert, cx: &AppContext) -> Orders {
    copy_menu(alert, true, cx)
}

fn copy_menu(alert: &Alert, unlinks: bool, cx: &AppContext) -> Orders {
    let theme = &cx.theme;
    let keys = FACTS.iter().map(|fact| if fact.key.is_empty() { cx.key(Action::CopyId) } else { fact.key.to_owned() });
    let keys: Vec<String> = keys.chain(unlinks.then(|| "u".to_owned())).collect();
    let row = |key: &str, name: &str, value: Option<String>| {
        let name = Span::styled(format!("{name:<19}"), if value.is_none() { theme.quiet } else { theme.strong });
        let value = value.unwrap_or_else(|| "–".to_owned());
        Line::from(vec![Span::styled(format!("{key:<3}"), theme.key), name, Span::styled(value, theme.quiet)])
    };
    let texts: Vec<Option<String>> = FACTS.iter().map(|fact| (fact.text)(alert, cx)).collect();
    let rows = FACTS.iter().zip(&keys).zip(&texts).map(|((fact, key), text)| {
        let shown = if fact.name == "raw JSON" { Some("the whole alert".to_owned()) } else { text.clone() };
        row(key, fact.name, shown)
    });
    let unlink = unlinks.then(|| row("u", "unlink order", Some("or link again".to_owned())));
    let entries = rows.chain(unlink).collect();
    let picked = move |at: usize, cx: &mut AppContext| match FACTS.get(at) {
        Some(fact) => copy_fact(fact, texts[at].as_deref(), cx),
        None => vec![Order::Close, Order::Choose(Action::Unmatch)],
    };
    Pick::new("Copy", entries, picked).keys(keys).open()
}

fn copy_fact(CopiedFact { name, is_long, .. }: &CopiedFact, text: Option<&str>, cx: &mut AppContext) -> Orders {
    let Some(text) = text else {
        cx.notify(Tone::Note, format!("Nothing copied: the alert has no {name}."));
        return Vec::new();
    };
    cx.notify(Tone::Note, if *is_long { format!("Copied the {name}.") } else { format!("Copied the {name}: {text}") });
    vec![Effect::Copy(text.to_owned()).into(), Order::Close]
}

/// An alert that is read before its menu opens.
struct Reading(AlertId);

/// Opens the menu of an alert that has to be read first.
pub fn read(id: AlertId) -> Orders {
    [Effect::Get(id).into()].into_iter().chain(dialog::open(Reading(id))).collect()
}

impl Dialog for Reading {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        match message {
            Message::Alert(id, Ok(alert)) if *id == self.0 => {
                [Order::Close].into_iter().chain(copy_menu(alert, false, cx)).collect()
            }
            Message::Alert(id, Err(error)) if *id == self.0 => {
                cx.notify(Tone::Bad, format!("Nothing copied: {error}"));
                vec![Order::Close]
            }
            Message::Input(event) if event.is_key_press() => vec![Order::Close],
            _ => Vec::new(),
        }
    }

    fn gives_way(&self) -> bool {
        true
    }

    fn draw(&self, _: &mut Frame<'_>, _: Rect, _: &AppContext) {}
}

/// Columns that the settings file is named in at most.
const LONGEST_FILE: u16 = 60;

/// Opens the link of an alert, the menu of several, or says how to have one.
pub fn open_link(alert: &Alert, cx: &mut AppContext) -> Orders {
    let links = cx.settings.links.of(alert);
    match links.as_slice() {
        [] => {
            let kept_in = cx.settings.kept_in.as_ref().map(|file| file.display().to_string());
            let file = kept_in.map_or_else(
                || "the settings".to_owned(),
                |file| cut_path(&file, cx.settings.home.as_deref(), LONGEST_FILE),
            );
            let words = format!(
                "No link is set for {}. Add it in {file}: [links] order = \
                    \"https://shop.example/{{merchantOrderId}}\".",
                alert.provider
            );
            cx.notify(Tone::Note, words);
            Vec::new()
        }
        [only] => go(only, cx),
        _ => links_menu(links, cx),
    }
}

fn links_menu(links: Vec<AlertLink>, cx: &AppContext) -> Orders {
    let theme = &cx.theme;
    let line = |link: &AlertLink| {
        let (style, words) = match &link.address {
            Ok(address) => (theme.strong, address),
            Err(why) => (theme.quiet, why),
        };
        let address = Span::styled(sanitize(words).into_owned(), theme.quiet);
        Line::from(vec![Span::styled(format!("{:<18}", link.to), style), address])
    };
    let title = if cx.settings.browses { "Open in the browser" } else { "Copy the address (no browser here)" };
    pick(title, 0, links.iter().map(line).collect(), move |at, cx| {
        let close = links[at].address.is_ok().then_some(Order::Close);
        close.into_iter().chain(go(&links[at], cx)).collect()
    })
}

/// Opens a link; where there is no browser its address is shown and copied.
fn go(link: &AlertLink, cx: &mut AppContext) -> Orders {
    match &link.address {
        Err(why) => {
            cx.notify(Tone::Note, format!("No address of the {}: {why}.", link.to));
            Vec::new()
        }
        Ok(address) if cx.settings.browses => {
            cx.notify(Tone::Note, format!("Opening {address}"));
            vec![Effect::Browse(address.clone()).into()]
        }
        Ok(address) => {
            cx.notify(Tone::Note, format!("No browser here. Copied {address}"));
            vec![Effect::Copy(address.clone()).into()]
        }
    }
}

/// Tells that a browser did not open.
pub fn not_opened(address: String, why: &str, cx: &mut AppContext) -> Orders {
    cx.notify(Tone::Bad, format!("No browser opened: {}. Copied {address}", why.trim_end_matches('.')));
    vec![Effect::Copy(address).into()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::from_iso;

    #[test]
    fn a_line_for_a_ticket_says_which_alert_how_much_and_until_when() {
        let now = from_iso("2026-03-10T12:00:00Z").unwrap();
        let alert = Alert {
            merchant_name: "Acme\nGmbH".to_owned(),
            provider_id: "7KQ".to_owned(),
            deadline: Deadline::At(now + chrono::Duration::hours(2)),
            outcome: None,
            ..Alert::sample()
        };

        let line = ticket_line(&alert, now);

        let parts: Vec<&str> = line.split(" | ").collect();
        assert_eq!(parts[0], alert.id.to_string());
        assert_eq!(parts[1], format!("{} 7KQ", alert.provider));
        assert_eq!((parts[2], parts[5]), ("Acme·GmbH", "answer by 2026-03-10 14:00 UTC"));
        assert!(parts[4].starts_with("card ") && parts[4].ends_with(&alert.card_last_four), "{line}");
        assert_eq!(line.lines().count(), 1);
    }

    #[test]
    fn what_the_alert_does_not_tell_is_left_out_of_the_line() {
        let now = from_iso("2026-03-10T12:00:00Z").unwrap();
        let alert = Alert { provider_id: "7KQ".to_owned(), deadline: Deadline::HoursLeft(3), ..Alert::default() };

        let line = ticket_line(&alert, now);

        assert!(line.ends_with(" 7KQ | due in less than 4 h at 2026-03-10 12:00 UTC"), "{line}");
    }
}
