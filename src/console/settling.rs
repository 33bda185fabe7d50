//! What the engine has not settled, in the console: asked for, told of, and settled by a person's word where only a person can.

use crossterm::event::{Event, MouseButton, MouseEventKind};

use super::app::App;
use super::effects::Effect;
use super::hits::Hit;
use super::keymap::Action;
use super::message::Answer;
use super::overlays::Overlay;
use super::screens::settle::{Settle, SettleStep};
use super::toasts::Tone;
use super::unsettled::{Stage, in_words};
use crate::domain::{Alert, AlertId, UnsettledResolution};

impl App {
    /// Opens the dialog on the decision that waits for a person: the one under the cursor, else the oldest.
    pub(super) fn open_settle(&mut self) -> Vec<Effect> {
        let current = self.queue.current();
        let here = current.and_then(|alert| self.unsettled.of(alert.id)).filter(|unsettled| Stage::of(unsettled) == Stage::Parked);
        let Some(unsettled) = here.or_else(|| self.unsettled.parked().next()).cloned() else {
            let words = if self.operator {
                "No decision waits for a person's word."
            } else {
                "Only the service itself knows which decisions wait for a person's word: ask its operator."
            };
            self.tell(Tone::Note, words);
            return Vec::new();
        };
        if self.place.read_only {
            self.tell(Tone::Note, "This place is read-only: nothing is settled from here.");
            return Vec::new();
        }
        let (alert, production) = (unsettled.alert, self.place.is_production());
        let known = self.queue.listing.find(alert).cloned();
        self.overlay = Some(Overlay::Settle(Box::new(Settle::new(unsettled, known, production))));
        vec![Effect::Get(alert)]
    }

    pub(super) fn input_to_settle(&mut self, mut dialog: Box<Settle>, event: &Event) -> Vec<Effect> {
        let step = match event {
            Event::Key(key) => dialog.key(*key),
            Event::Mouse(mouse) => match (mouse.kind, self.hits.at(mouse.column, mouse.row)) {
                (MouseEventKind::Down(MouseButton::Left), Some(Hit::Settle(spot))) => dialog.press(spot),
                _ => SettleStep::Ignored,
            },
            Event::Paste(_) => {
                self.tell(Tone::Note, "Nothing was pasted: no field is open.");
                SettleStep::Stay
            }
            _ => SettleStep::Ignored,
        };
        match step {
            SettleStep::Close => Vec::new(),
            SettleStep::Settle(applied) => {
                self.unsettled.said(dialog.alert_id());
                vec![Effect::Settle(dialog.attempt(), dialog.alert_id(), applied)]
            }
            SettleStep::Stay | SettleStep::Ignored => {
                self.overlay = Some(Overlay::Settle(dialog));
                Vec::new()
            }
        }
    }

    /// Takes in what the engine has not settled.
    pub(super) fn take_unsettled(&mut self, answer: Answer<Vec<UnsettledResolution>>) -> Vec<Effect> {
        // What it told last stands until it tells something else; the link says by itself that it does not answer.
        let Ok(all) = answer else { return Vec::new() };
        let news = self.unsettled.take(all);
        if let Some(first) = news.first() {
            let key = self.settings.keymap.key_of(Action::Settle);
            let what = match news.len() {
                1 => format!("{} waits for a person's word", in_words(&first.resolution)),
                many => format!("{many} decisions wait for a person's word"),
            };
            self.tell(Tone::Bad, format!("{what}: the network cannot tell whether it arrived. {key} opens it."));
        }
        if let Some(Overlay::Settle(dialog)) = &mut self.overlay {
            let waits = self.unsettled.parked().any(|parked| parked.id == dialog.attempt());
            if !waits {
                dialog.set_gone();
            }
        }
        Vec::new()
    }

    /// Takes an alert in as it is now: the list, an open form and the dialog hear of it.
    pub(super) fn took_alert(&mut self, answer: Answer<Alert>) -> Vec<Effect> {
        let Ok(alert) = answer else { return Vec::new() };
        self.queue.take_alert(&alert);
        if let Some(Overlay::Settle(dialog)) = &mut self.overlay {
            dialog.set_alert(&alert);
        }
        self.news_for_form();
        Vec::new()
    }

    /// What came of a person's word.
    pub(super) fn settled(&mut self, id: AlertId, applied: bool, answer: Answer<Alert>) -> Vec<Effect> {
        self.unsettled.changed(self.now);
        match answer {
            Ok(alert) => {
                self.decisions.settled(id);
                let subject = alert.money().map_or_else(|| alert.provider_id.clone(), |money| money.to_string());
                let subject = format!("{} {subject}", alert.provider);
                let words = if applied || alert.outcome.is_some() {
                    format!("{subject} is {}", alert.status)
                } else {
                    format!("{subject}: on record that the network did not apply it. It can be answered again.")
                };
                self.tell(Tone::Good, words);
                self.queue.take_alert(&alert);
                self.queue.changed(self.now);
                if alert.outcome.is_some() { self.drop_draft(id) } else { Vec::new() }
            }
            Err(error) => {
                self.tell(Tone::Bad, format!("Your word on the decision was not taken: {error}"));
                vec![Effect::Get(id)]
            }
        }
    }
}
