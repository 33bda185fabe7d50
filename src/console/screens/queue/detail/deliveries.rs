//! The deliveries of an alert's events in its detail: each in a line where all have room in one, else with its address below.

use ratatui::style::Style;
use ratatui::text::Span;

use super::Parts;
use crate::console::text::{columns, counted, cut, sanitize, wrap};
use crate::console::times;
use crate::domain::{Delivery, DeliveryState};

/// Where a delivery goes, without the scheme.
fn address(delivery: &Delivery) -> String {
    sanitize(delivery.url.split_once("://").map_or(&delivery.url, |(_, address)| address)).into_owned()
}

impl Parts<'_> {
    /// How a delivery stands, and what is known of its tries; `briefly`: but for what one that arrived at once says by that.
    fn delivery_words(&self, delivery: &Delivery, briefly: bool) -> ((String, Style), String) {
        let now = self.draw.now;
        let (sign, words, style) = self.draw.delivery_state(delivery.state);
        let mut note = Vec::new();
        let at_once = delivery.state == DeliveryState::Delivered && delivery.attempts == 1;
        if delivery.attempts > 0 && !(briefly && at_once) {
            note.push(counted(u64::from(delivery.attempts), "try", "tries"));
        }
        note.extend(delivery.last_result.clone());
        if let Some(due) = delivery.due.filter(|_| delivery.state == DeliveryState::Pending) {
            note.push(if due <= now { "next now".to_owned() } else { format!("next in {}", times::spell(due - now)) });
        }
        ((format!("{sign} {words}"), style), sanitize(&note.join(", ")).into_owned())
    }

    /// Each delivery in a line where all of them have room in one, else with its address below.
    pub(super) fn deliveries(&mut self, deliveries: &[Delivery]) {
        let theme = self.draw.theme;
        let label_room = self.label_room();
        let room = self.width.saturating_sub(label_room).max(8);
        let in_one = |briefly: &bool| {
            deliveries.iter().all(|delivery| {
                let ((state, _), note) = self.delivery_words(delivery, *briefly);
                columns(&state) + 2 + columns(&note) + 3 + columns(&address(delivery)) <= room
            })
        };
        let one_line = [false, true].into_iter().find(in_one);
        let indent = " ".repeat(usize::from(label_room));
        for delivery in deliveries {
            let label = self.label(&sanitize(delivery.kind.as_str().trim_start_matches("alert.")));
            let ((state, style), note) = self.delivery_words(delivery, one_line.unwrap_or(false));
            let state_room = columns(&state);
            let mut line = vec![label, Span::styled(state, style)];
            if one_line.is_some() {
                let between = if note.is_empty() { "" } else { "   " };
                line.push(Span::styled(format!("  {note}{between}{}", address(delivery)), theme.quiet));
                self.push(line);
                continue;
            }
            let is_short = state_room + 2 + columns(&note) <= room;
            if is_short {
                line.push(Span::styled(format!("  {note}"), theme.quiet));
            }
            self.push(line);
            let below = if is_short { Vec::new() } else { wrap(&note, room) };
            for words in below.into_iter().chain([cut(&address(delivery), room).into_owned()]) {
                self.push(vec![Span::raw(indent.clone()), Span::styled(words, theme.quiet)]);
            }
        }
    }
}
