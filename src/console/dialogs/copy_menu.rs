//! The copy menu: the facts of an alert that somebody may want elsewhere, each with a key of its own.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::menu::{List, OpenMenu};
use crate::console::screens::queue::columns::card;
use crate::console::text::sanitize;
use crate::console::widgets::menu::Selection;
use crate::console::{
    Action, AppContext, Dialog, Effect, KeyContext, Loadable, Message, Order, Orders, Tone, dialog, times,
};
use crate::domain::{Alert, AlertId, Deadline, Timestamp};

/// A fact that can be copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopiedFact {
    Id,
    Json,
    NetworkId,
    Order,
    Arn,
    LastFour,
    Descriptor,
    Ticket,
    /// No fact: it unlinks the order of the shop, or links it again.
    Unlink,
}

impl CopiedFact {
    /// All of them, with the letter of those that have no key in the keymap, and their words.
    const ALL: [(Self, Option<char>, &'static str); 9] = [
        (Self::Id, None, "avert id"),
        (Self::Json, Some('J'), "raw JSON"),
        (Self::NetworkId, Some('n'), "network id"),
        (Self::Order, Some('o'), "order number"),
        (Self::Arn, Some('a'), "ARN"),
        (Self::LastFour, Some('l'), "last four"),
        (Self::Descriptor, Some('d'), "descriptor"),
        (Self::Ticket, Some('t'), "ticket line"),
        (Self::Unlink, Some('u'), "unlink order"),
    ];

    /// The text of it; nothing where the alert does not tell it.
    fn text(self, alert: &Alert, cx: &AppContext) -> Option<String> {
        let given = |text: &str| Some(sanitize(text).trim().to_owned()).filter(|text| !text.is_empty());
        match self {
            Self::Id => Some(alert.id.to_string()),
            Self::Json => Some((cx.alert_json)(alert, cx.now)),
            Self::NetworkId => given(&alert.provider_id),
            Self::Order => given(alert.merchant_order_id.as_deref()?),
            Self::Arn => given(alert.acquirer_reference_number.as_deref()?),
            Self::LastFour => given(&alert.card_last_four),
            Self::Descriptor => given(&alert.merchant_descriptor),
            Self::Ticket => Some(ticket_line(alert, cx.now)),
            Self::Unlink => Some("or link again".to_owned()),
        }
    }
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

/// The menu while it is open.
#[derive(Debug)]
pub struct CopyMenu {
    id: AlertId,
    alert: Loadable<Box<Alert>>,
    /// What is copied as soon as the alert is here.
    wanted: Option<CopiedFact>,
    /// True where its order can be unlinked here.
    unlinks: bool,
    menu: OpenMenu,
}

/// Opens the menu of an alert.
pub fn open(alert: &Alert) -> Orders {
    let menu = CopyMenu::of(alert.id, Loadable::Loaded(Box::new(alert.clone())));
    dialog::open(CopyMenu { unlinks: true, ..menu })
}

/// Opens the menu of an alert that has to be read first.
pub fn read(id: AlertId) -> Orders {
    dialog::open(CopyMenu::of(id, Loadable::Loading)).into_iter().chain([Effect::Get(id).into()]).collect()
}

impl CopyMenu {
    fn of(id: AlertId, alert: Loadable<Box<Alert>>) -> Self {
        let menu = OpenMenu::new(Selection::default(), &[KeyContext::Menu], Action::MenuPick);
        Self { id, alert, wanted: None, unlinks: false, menu }
    }

    /// The facts that it lists.
    fn facts(&self) -> impl ExactSizeIterator<Item = (CopiedFact, Option<char>, &'static str)> + use<> {
        let listed = if self.unlinks { CopiedFact::ALL.len() } else { CopiedFact::ALL.len() - 1 };
        CopiedFact::ALL.into_iter().take(listed)
    }

    fn text(&self, fact: CopiedFact, cx: &AppContext) -> Option<String> {
        match self.alert.loaded() {
            Some(alert) => fact.text(alert, cx),
            None => (fact == CopiedFact::Id).then(|| self.id.to_string()),
        }
    }

    fn copy(&mut self, fact: CopiedFact, cx: &mut AppContext) -> Orders {
        if fact == CopiedFact::Unlink {
            return vec![Order::Close, Order::Choose(Action::Unmatch)];
        }
        let name = CopiedFact::ALL.iter().find(|(known, ..)| *known == fact).map_or("", |(_, _, name)| name);
        let Some(text) = self.text(fact, cx) else {
            if self.alert.loaded().is_some() {
                cx.notify(Tone::Note, format!("Nothing copied: the alert has no {name}."));
            } else {
                self.wanted = Some(fact);
            }
            return Vec::new();
        };
        let words = match fact {
            CopiedFact::Id => format!("Copied {text}"),
            CopiedFact::Json => "Copied the alert as JSON.".to_owned(),
            CopiedFact::LastFour => "Copied the card's last four.".to_owned(),
            CopiedFact::Ticket => {
                "Copied a line for a ticket: id, network, merchant, amount, card, deadline.".to_owned()
            }
            _ => format!("Copied the {name}: {text}"),
        };
        cx.notify(Tone::Note, words);
        vec![Effect::Copy(text).into(), Order::Close]
    }

    /// The fact that a key copies by itself.
    fn by_key(&self, key: KeyEvent, cx: &AppContext) -> Option<CopiedFact> {
        let keymap = &cx.settings.keymap;
        if keymap.action(&[KeyContext::Menu], key.into()).is_some() {
            return None;
        }
        if keymap.action(&[KeyContext::Queue, KeyContext::Always], key.into()) == Some(Action::CopyId) {
            return Some(CopiedFact::Id);
        }
        let KeyCode::Char(letter) = key.code else { return None };
        let plain = !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        self.facts().find(|(_, known, _)| plain && *known == Some(letter)).map(|(fact, ..)| fact)
    }

    fn line<'l>(&self, (fact, letter, name): (CopiedFact, Option<char>, &'static str), cx: &AppContext) -> Line<'l> {
        let theme = &cx.theme;
        let key = match fact {
            CopiedFact::Id => cx.key(Action::CopyId),
            _ => letter.map(String::from).unwrap_or_default(),
        };
        let (value, style) = match (self.text(fact, cx), &self.alert) {
            (Some(_), _) if fact == CopiedFact::Json => ("the whole alert".to_owned(), theme.quiet),
            (Some(text), _) => (text, theme.quiet),
            (None, Loadable::Loaded(_)) => ("–".to_owned(), theme.quiet),
            (None, Loadable::Failed(error)) => (sanitize(&error.to_string()).into_owned(), theme.danger),
            (None, _) => ("reading…".to_owned(), theme.quiet),
        };
        let absent = value == "–";
        let name = Span::styled(format!("{name:<19}"), if absent { theme.quiet } else { theme.strong });
        Line::from(vec![Span::styled(format!("{key:<3}"), theme.key), name, Span::styled(value, style)])
    }
}

impl Dialog for CopyMenu {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        match message {
            Message::Alert(id, answer) if *id == self.id => {
                self.alert.answer(answer.clone().map(Box::new));
                return self.wanted.take().map_or_else(Vec::new, |wanted| self.copy(wanted, cx));
            }
            Message::Input(event) => {
                if let Event::Key(key) = event
                    && let Some(fact) = self.by_key(*key, cx)
                {
                    return self.copy(fact, cx);
                }
                let length = self.facts().len();
                match (self.menu.update(event, length, cx), self.menu.chosen.index(length)) {
                    (Some(Action::MenuClose), _) => return vec![Order::Close],
                    (Some(Action::MenuPick), Some(at)) => return self.copy(CopiedFact::ALL[at].0, cx),
                    _ => {}
                }
            }
            _ => {}
        }
        Vec::new()
    }

    fn gives_way(&self) -> bool {
        true
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        let entries = self.facts().map(|fact| self.line(fact, cx)).collect();
        self.menu.draw(List { title: "Copy", entries, pick: Some("copy"), ..List::default() }, frame, area, cx);
    }
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
