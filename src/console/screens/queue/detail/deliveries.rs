//! The deliveries of an alert's events in its detail: each in a line, with its host alone where there is little room;
//! what has none even so has its address below.

use ratatui::style::Style;
use ratatui::text::Span;

use super::Parts;
use crate::console::text::{columns, counted, cut, hanging, sanitize};
use crate::console::times;
use crate::domain::{Delivery, DeliveryState};

/// Where a delivery goes, without the scheme.
fn address(delivery: &Delivery) -> String {
    sanitize(delivery.url.split_once("://").map_or(&delivery.url, |(_, address)| address)).into_owned()
}

impl Parts<'_> {
    /// How a delivery stands, and what is known of its tries; `briefly`: but for what one that arrived at once says by
    /// that.
    fn delivery_words(&self, delivery: &Delivery, briefly: bool) -> ((String, Style), String) {
        let now = self.draw.now;
        let (sign, words, style) = self.draw.delivery_state(delivery.state);
        let mut note = Vec::new();
        let at_once = delivery.state == DeliveryState::Delivered && delivery.attempts == 1;
        if delivery.attempts > 0 && !(briefly && at_once) {
            note.push(counted(u64::from(delivery.attempts), "attempt", "attempts"));
        }
        note.extend(delivery.last_result.clone());
        if let Some(due) = delivery.due.filter(|_| delivery.state == DeliveryState::Pending) {
            note.push(if due <= now { "next now".to_owned() } else { format!("next in {}", times::short(due - now)) });
        }
        ((format!("{sign} {words}"), style), sanitize(&note.join(", ")).into_owned())
    }

    /// Each delivery in a line, in as many words as all of them have room for.
    pub(super) fn deliveries(&mut self, deliveries: &[Delivery]) {
        let theme = self.draw.theme;
        let room = self.value_room();
        let place = |delivery: &Delivery, by_host: bool| {
            let address = address(delivery);
            if by_host { address.split('/').next().unwrap_or_default().to_owned() } else { address }
        };
        let in_one = |(briefly, by_host): (bool, bool), delivery: &Delivery| {
            let ((state, _), note) = self.delivery_words(delivery, briefly);
            columns(&state) + 2 + columns(&note) + 3 + columns(&place(delivery, by_host)) <= room
        };
        let ways = [(false, false), (true, false), (true, true)];
        let (briefly, by_host) =
            ways.into_iter().find(|way| deliveries.iter().all(|each| in_one(*way, each))).unwrap_or(ways[2]);
        // Two receivers of one host are told apart by what is behind it.
        let tells = |delivery: &Delivery| {
            let others = deliveries.iter().filter(|other| other.url != delivery.url);
            !by_host || others.into_iter().all(|other| place(other, true) != place(delivery, true))
        };
        let one_line: Vec<bool> =
            deliveries.iter().map(|each| tells(each) && in_one((briefly, by_host), each)).collect();
        for (delivery, one_line) in deliveries.iter().zip(one_line) {
            let label = self.label(&sanitize(delivery.kind.as_str().trim_start_matches("alert.")));
            let ((state, style), note) = self.delivery_words(delivery, one_line && briefly);
            let state_room = columns(&state);
            let mut line = vec![label, Span::styled(state, style)];
            if one_line {
                let between = if note.is_empty() { "" } else { "   " };
                line.push(Span::styled(format!("  {note}{between}{}", place(delivery, by_host)), theme.quiet));
                self.push(line);
                continue;
            }
            let is_short = state_room + 2 + columns(&note) <= room;
            if is_short {
                line.push(Span::styled(format!("  {note}"), theme.quiet));
            }
            self.push(line);
            let note = if is_short { "" } else { &note };
            for words in [note, &cut(&address(delivery), room)] {
                let lines = hanging(self.label(""), words, theme.quiet, self.width);
                lines.into_iter().for_each(|line| self.push(line));
            }
        }
    }
}
