//! The application: what is shown and what happens to it. [`App::update`] takes one message and says what is to be done; it never waits.

use std::collections::HashMap;

use chrono::{Duration, Timelike};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseEventKind};
use ratatui::layout::Rect;

use super::decisions::Decisions;
use super::effects::{Effect, Keep};
use super::hits::Hits;
use super::keymap::{Action, Context, Key};
use super::look::Look;
use super::message::{Answer, Message};
use super::mouse::Mouse;
use super::overlays::Overlay;
use super::screens::filter_form::FilterForm;
use super::screens::help::Help;
use super::screens::prompt::{Prompt, Purpose};
use super::screens::queue::Queue;
use super::screens::queue::layout::SMALLEST;
use super::screens::resolve_form::Choice;
use super::screens::settings::Settings;
use super::screens::views_menu;
use super::session::{AlertJson, ConsoleSettings, Place};
use super::theme::Theme;
use super::toasts::{Toasts, Tone};
use super::unsettled::Unsettled;
use super::widgets::menu;
use super::widgets::text_input::Typed;
use crate::desk::{Draft, Layout, SavedView};
use crate::domain::time::SharedClock;
use crate::domain::{AlertId, Timestamp};
use crate::service::ServiceError;

/// How soon it is tried again whether the service can write, while it cannot.
const WRITE_AGAIN: Duration = Duration::seconds(5);

/// What the desk had kept when the console was opened.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    /// What the screen looked like.
    pub layout: Layout,
    /// Views under names of one's own.
    pub views: Vec<SavedView>,
    /// Decisions that were begun.
    pub drafts: HashMap<AlertId, Draft>,
    /// What could not be read, in words.
    pub troubles: Vec<String>,
}

/// Everything the application is made with.
pub struct Parts {
    /// Where one is.
    pub place: Place,
    /// How one likes it.
    pub settings: ConsoleSettings,
    /// The colours.
    pub theme: Theme,
    /// The present.
    pub clock: SharedClock,
    /// Writes an alert as JSON.
    pub alert_json: AlertJson,
    /// Whether the service tells of changes and of more than the interface does.
    pub operator: bool,
    /// Whether keys and clients can be managed from here.
    pub credentials: bool,
    /// What was kept.
    pub kept: Kept,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
}

/// The screens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScreenName {
    /// Alerts and their answers.
    Queue,
    /// Keys and clients, and what the console is set to.
    Settings,
}

impl ScreenName {
    /// Every screen, in the order of the header, with the name it is kept under, the word for it and what goes to it.
    pub const ALL: [(Self, &'static str, &'static str, Action); 2] =
        [(Self::Queue, "queue", "Queue", Action::ShowQueue), (Self::Settings, "settings", "Settings", Action::ShowSettings)];

    fn kept(name: Option<&str>) -> Self {
        Self::ALL.iter().find(|(_, kept, ..)| Some(*kept) == name).map_or(Self::Queue, |(screen, ..)| *screen)
    }

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(screen, ..)| *screen == self).map_or("", |(_, kept, ..)| kept)
    }
}

/// The application.
pub struct App {
    pub(super) place: Place,
    pub(super) settings: ConsoleSettings,
    pub(super) theme: Theme,
    clock: SharedClock,
    alert_json: AlertJson,
    pub(super) now: Timestamp,
    pub(super) area: Rect,
    pub(super) screen: ScreenName,
    pub(super) queue: Queue,
    pub(super) settings_screen: Settings,
    /// Since when nothing can be written at the service, and why.
    pub(super) unwritten: Option<(Timestamp, ServiceError)>,
    write_due: Option<Timestamp>,
    pub(super) decisions: Decisions,
    pub(super) unsettled: Unsettled,
    pub(super) operator: bool,
    pub(super) overlay: Option<Overlay>,
    pub(super) toasts: Toasts,
    pub(super) mouse: Mouse,
    pub(super) hits: Hits,
    pub(super) views: Vec<SavedView>,
    /// The view that was deleted last, and where it stood.
    pub(super) deleted_view: Option<(usize, SavedView)>,
    /// Leaving as soon as what is with the service has come back.
    pub(super) leaving: bool,
    pub(super) drafts: HashMap<AlertId, Draft>,
    pub(super) last_change: u64,
    kept: Layout,
    dirty: bool,
}

impl App {
    /// The application as it was left, and what has to be asked first.
    pub fn new(parts: Parts) -> (Self, Vec<Effect>) {
        let Parts { place, settings, theme, clock, alert_json, operator, credentials, kept, size } = parts;
        let now = clock.now();
        let area = Rect::new(0, 0, size.0, size.1);
        let mut queue = Queue::new(&kept.layout, &kept.views, operator, area, now);
        let mut effects = queue.start(now);
        effects.extend(queue.settle(now));
        let screen = ScreenName::kept(kept.layout.screen.as_deref());
        let mut app = Self {
            mouse: Mouse::new(settings.mouse),
            place,
            settings,
            theme,
            clock,
            alert_json,
            now,
            area,
            kept: Layout { screen: Some(screen.name().to_owned()), ..queue.kept() },
            screen,
            queue,
            settings_screen: Settings::new(credentials),
            unwritten: None,
            write_due: operator.then_some(now),
            decisions: Decisions::default(),
            unsettled: Unsettled::default(),
            operator,
            overlay: None,
            toasts: Toasts::default(),
            hits: Hits::default(),
            views: kept.views,
            deleted_view: None,
            leaving: false,
            drafts: kept.drafts,
            last_change: 0,
            dirty: true,
        };
        if operator {
            app.unsettled.changed(now);
        }
        for trouble in kept.troubles {
            app.tell(Tone::Bad, trouble);
        }
        (app, effects)
    }

    /// Takes a message in and says what is to be done.
    pub fn update(&mut self, message: Message) -> Vec<Effect> {
        // Terminals tell of every cell the mouse passes over; none of it means anything here.
        if matches!(&message, Message::Input(Event::Mouse(mouse)) if mouse.kind == MouseEventKind::Moved) {
            return Vec::new();
        }
        self.now = self.clock.now();
        self.dirty = true;
        let mut effects = match message {
            Message::Input(event) => self.input(event),
            Message::Tick => Vec::new(),
            Message::Suspend => vec![Effect::Suspend],
            Message::Page(ticket, answer) => {
                self.queue.page(ticket, answer, self.now);
                self.news_for_form();
                Vec::new()
            }
            Message::Counted(listing, answer) => {
                self.queue.counted(listing, answer);
                Vec::new()
            }
            Message::CountedAll(answer) => {
                self.queue.all.answer(answer);
                Vec::new()
            }
            Message::AtRisk(answer) => {
                self.queue.at_risk.answer(answer);
                Vec::new()
            }
            Message::Alert(_, answer) => self.took_alert(answer),
            Message::Deliveries(id, answer) => {
                if self.queue.facts.alert == Some(id) {
                    self.queue.facts.deliveries.answer(answer);
                }
                Vec::new()
            }
            Message::SameCard(id, answer) => {
                self.queue.take_same_card(id, answer);
                self.news_for_form();
                Vec::new()
            }
            Message::Changed(answer) => self.changed(answer),
            Message::Resolved(key, answer) => self.resolved(key, answer),
            Message::LookedUp(key, answer) => self.looked_up(key, answer),
            Message::Credentials(answer) => {
                self.listed_credentials(answer);
                Vec::new()
            }
            Message::CredentialCreated(answer) => {
                self.credential_created(answer);
                Vec::new()
            }
            Message::CredentialRevoked(kind, id, answer) => {
                self.credential_revoked(kind, &id, answer);
                Vec::new()
            }
            Message::Written(answer) => {
                self.written(answer);
                Vec::new()
            }
            Message::Unsettled(answer) => self.take_unsettled(answer),
            Message::Settled(id, applied, answer) => self.settled(id, applied, answer),
            Message::DeskFailed(words) => {
                self.tell(Tone::Bad, format!("This could not be kept on the desk: {words}"));
                Vec::new()
            }
        };
        effects.extend(self.settle());
        effects
    }

    /// What follows from whatever happened, and what is due.
    fn settle(&mut self) -> Vec<Effect> {
        let now = self.now;
        self.toasts.expire(now);
        self.show_arrived_secret();
        self.queue.freeze(self.overlay.is_some(), now);
        // While it is asked what to do with them, none leaves.
        self.decisions.hold(matches!(self.overlay, Some(Overlay::Leave)), now);
        let mut effects: Vec<Effect> = Vec::new();
        for decision in self.decisions.leave(now) {
            effects.push(Effect::Resolve(decision.key, decision.alert.id, decision.request()));
        }
        effects.extend(self.decisions.looks(now).into_iter().map(|(key, id)| Effect::LookUp(key, id)));
        if self.unsettled.take_due(now) {
            effects.push(Effect::Unsettled);
        }
        effects.extend(self.queue.settle(now));
        if self.screen == ScreenName::Settings {
            effects.extend(self.settings_screen.settle(now));
        }
        if self.write_due.is_some_and(|due| due <= now) {
            // Asked again by the answer.
            self.write_due = None;
            effects.push(Effect::TryWriting);
        }
        let kept = Layout { screen: Some(self.screen.name().to_owned()), ..self.queue.kept() };
        if kept != self.kept {
            effects.push(Effect::Keep(Keep::Layout(kept.clone())));
            self.kept = kept;
        }
        if self.leaving && self.decisions.sending() == 0 {
            effects.push(Effect::Quit);
        }
        self.make_room_for_notes();
        effects
    }

    /// Notes hide no row: where they need more than the line that is kept for them, the screen above gets shorter.
    fn make_room_for_notes(&mut self) {
        let more = u16::try_from(self.notes(self.area.width).len().saturating_sub(1)).unwrap_or(0);
        if more != self.queue.more_notes {
            self.queue.more_notes = more;
            self.queue.resize(self.area);
        }
    }

    /// When [`Message::Tick`] is wanted next. Nothing that can be seen changes by itself before that.
    pub fn next_wake(&self) -> Timestamp {
        let minute = self.now + Duration::seconds(60 - i64::from(self.now.second())) - Duration::nanoseconds(self.now.nanosecond().into());
        let settings = (self.screen == ScreenName::Settings).then(|| self.settings_screen.next_wake()).flatten();
        let others = [
            self.decisions.next_wake(self.now),
            self.unsettled.next_wake(),
            self.toasts.next_wake(),
            self.queue.next_wake(),
            settings,
            self.write_due,
        ];
        others.into_iter().flatten().fold(minute, Timestamp::min)
    }

    /// Whether there is something to draw that was not drawn yet; it counts as drawn from now on.
    pub fn take_dirty(&mut self) -> bool {
        std::mem::take(&mut self.dirty)
    }

    /// How many decisions were made and have not left.
    pub fn unsent(&self) -> usize {
        self.decisions.staged().len()
    }

    /// The Queue screen.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// The decisions on their way.
    pub fn decisions(&self) -> &Decisions {
        &self.decisions
    }

    pub(super) fn look(&self) -> Look<'_> {
        Look {
            theme: &self.theme,
            now: self.now,
            zone: self.settings.zone,
            keymap: &self.settings.keymap,
            decisions: &self.decisions,
            unsettled: &self.unsettled,
            dialect: self.place.dialect,
        }
    }

    pub(super) fn is_too_small(&self) -> bool {
        self.area.width < SMALLEST.0 || self.area.height < SMALLEST.1
    }

    pub(super) fn tell(&mut self, tone: Tone, text: impl Into<String>) {
        self.toasts.tell(tone, text, self.now);
    }

    fn input(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Resize(columns, rows) => {
                self.area = Rect::new(0, 0, columns, rows);
                self.queue.resize(self.area);
                Vec::new()
            }
            // Whoever comes back after trouble wants to know at once.
            Event::FocusGained if self.queue.link.trouble.is_some() => self.queue.refresh(self.now),
            Event::FocusGained | Event::FocusLost => Vec::new(),
            Event::Key(key) if key.kind == KeyEventKind::Release => Vec::new(),
            Event::Key(KeyEvent { code: KeyCode::Char('c'), modifiers: KeyModifiers::CONTROL, .. }) => self.quit(),
            Event::Key(key) if self.is_too_small() => {
                let quits = self.settings.keymap.action(&[Context::Always], key.into()) == Some(Action::Quit);
                if quits { self.quit() } else { Vec::new() }
            }
            _ if self.is_too_small() || self.leaving => Vec::new(),
            event => match self.overlay.take() {
                Some(overlay) => self.input_to_overlay(overlay, &event),
                None => self.input_to_screen(event),
            },
        }
    }

    fn input_to_screen(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Key(key) if self.is_searching() => self.key_to_search(key),
            Event::Key(key) => match self.settings.keymap.action(&self.contexts(), Key::from(key)) {
                Some(action) => self.act(action),
                None => Vec::new(),
            },
            Event::Paste(text) => self.paste(&text),
            Event::Mouse(event) => self.mouse_event(event),
            _ => Vec::new(),
        }
    }

    fn paste(&mut self, text: &str) -> Vec<Effect> {
        let search = self.queue.search.as_mut().filter(|_| self.screen == ScreenName::Queue);
        let pasted = search.map(|search| search.input.paste(text));
        match pasted {
            Some(Ok(())) => self.queue.typed(self.now),
            Some(Err(why)) => self.tell(Tone::Bad, why),
            None => {
                let search = self.settings.keymap.key_of(Action::Search);
                self.tell(Tone::Note, format!("Nothing was pasted: no field is open. {search} opens the search."));
            }
        }
        Vec::new()
    }

    fn key_to_search(&mut self, key: KeyEvent) -> Vec<Effect> {
        match key.code {
            KeyCode::Enter => return self.queue.close_search(true),
            KeyCode::Esc => return self.queue.close_search(false),
            // The list can be walked while one types.
            KeyCode::Down => return self.act(Action::Down),
            KeyCode::Up => return self.act(Action::Up),
            _ => {}
        }
        let typed = self.queue.search.as_mut().map(|search| search.input.key(key));
        if typed == Some(Typed::Changed) {
            self.queue.typed(self.now);
        }
        Vec::new()
    }

    /// Whether the search line has the keys.
    pub(super) fn is_searching(&self) -> bool {
        self.screen == ScreenName::Queue && self.queue.search.is_some()
    }

    /// Whose keys work on the screen, the nearest first.
    pub(super) fn contexts(&self) -> [Context; 2] {
        match self.screen {
            ScreenName::Queue => [Context::Queue, Context::Always],
            ScreenName::Settings => [Context::Settings, Context::Always],
        }
    }

    pub(super) fn go_to(&mut self, screen: ScreenName) {
        if screen == ScreenName::Settings && self.screen != screen {
            self.settings_screen.refresh(self.now);
        }
        self.screen = screen;
    }

    /// Takes in whether the service can write, and asks again: soon where it cannot, else with the minute.
    fn written(&mut self, answer: Answer<()>) {
        let minute = Duration::seconds(60 - i64::from(self.now.second())) - Duration::nanoseconds(self.now.nanosecond().into());
        match answer {
            Ok(()) => {
                if self.unwritten.take().is_some() {
                    self.tell(Tone::Good, "Decisions can be recorded again.");
                }
                self.write_due = Some(self.now + minute);
            }
            Err(error) => {
                let since = self.unwritten.take().map_or(self.now, |(since, _)| since);
                self.unwritten = Some((since, error));
                self.write_due = Some(self.now + WRITE_AGAIN);
            }
        }
    }

    /// Something could not be done: where that may be for want of room, it is looked at now whether anything can be written.
    pub(super) fn note_unwritten(&mut self, error: &ServiceError) {
        if matches!(error, ServiceError::Unavailable(_)) && self.write_due.is_some() {
            self.write_due = Some(self.now);
        }
    }

    /// Does what a key, a click or the help asks for.
    pub(super) fn act(&mut self, action: Action) -> Vec<Effect> {
        match action {
            Action::ShowQueue => self.go_to(ScreenName::Queue),
            Action::ShowSettings => self.go_to(ScreenName::Settings),
            Action::Help => self.overlay = Some(Overlay::Help(Help::of(self.contexts()))),
            Action::Undo => return self.undo(),
            Action::Mouse => {
                let on = self.mouse.toggle();
                let key = self.settings.keymap.key_of(Action::Mouse);
                let words = if on { "The mouse is avert's again." } else { "The mouse is the terminal's: text can be selected." };
                self.tell(Tone::Note, format!("{words} {key} changes it back."));
                return vec![Effect::Mouse(on)];
            }
            Action::Redraw => return vec![Effect::Redraw],
            Action::Suspend => return vec![Effect::Suspend],
            Action::Quit => return self.quit(),
            _ if self.screen == ScreenName::Settings => return self.act_in_settings(action),
            _ => return self.act_in_queue(action),
        }
        Vec::new()
    }

    fn act_in_queue(&mut self, action: Action) -> Vec<Effect> {
        let page = i64::from(self.queue.regions().rows.height.saturating_sub(1).max(1));
        let listing = &mut self.queue.listing;
        match action {
            Action::Down => listing.move_by(1),
            Action::Up => listing.move_by(-1),
            Action::PageDown if self.queue.page => self.scroll_detail(page),
            Action::PageUp if self.queue.page => self.scroll_detail(-page),
            Action::PageDown => listing.move_by(page),
            Action::PageUp => listing.move_by(-page),
            Action::Top => listing.move_to(0),
            Action::Bottom => listing.move_to(u64::MAX),
            Action::DetailDown => self.scroll_detail(3),
            Action::DetailUp => self.scroll_detail(-3),
            Action::DetailWider => self.move_divider(self.queue.divider.saturating_sub(3)),
            Action::DetailNarrower => self.move_divider(self.queue.divider.saturating_add(3)),
            Action::Open => self.open_page(),
            Action::Back => self.back(),
            Action::Search => {
                self.queue.page = false;
                self.queue.resize(self.area);
                self.queue.open_search();
            }
            Action::Filter => {
                let form = FilterForm::new(self.queue.filter(), self.queue.sort());
                self.overlay = Some(Overlay::Filter(Box::new(form)));
            }
            Action::Views => {
                let at = views_menu::names(&self.views).iter().position(|name| *name == self.queue.view.name);
                self.overlay = Some(Overlay::Views(menu::Choice::at(at.unwrap_or(0))));
            }
            Action::Columns => self.overlay = Some(Overlay::Columns(menu::Choice::default())),
            Action::Jump => self.overlay = Some(Overlay::Prompt(Prompt::new(Purpose::Jump, ""))),
            Action::SortNext => return self.queue.sort_next(),
            Action::SortReverse => return self.queue.sort_by(self.queue.sort().field),
            Action::Refund => return self.open_form(Choice::Refunded),
            Action::NotRefunded => return self.open_form(Choice::NotRefunded),
            Action::Invalid => return self.open_form(Choice::Invalid),
            Action::Settle => return self.open_settle(),
            Action::CopyId => return self.copy(false),
            Action::CopyJson => return self.copy(true),
            Action::Refresh => return self.queue.refresh(self.now),
            // The others belong to every screen, to another one, or to what lies over the screen, which is asked first.
            _ => {}
        }
        Vec::new()
    }

    /// Gives the alert under the cursor the whole page.
    fn open_page(&mut self) {
        if self.queue.current().is_some() {
            self.queue.page = true;
            self.queue.resize(self.area);
        }
    }

    fn back(&mut self) {
        if self.toasts.clear() {
            return;
        }
        if self.queue.page {
            self.queue.page = false;
            self.queue.resize(self.area);
            return;
        }
        if let Some(id) = self.queue.current().map(|alert| alert.id) {
            self.decisions.dismiss(id);
        }
    }

    pub(super) fn scroll_detail(&mut self, lines: i64) {
        let scrolled = i64::from(self.queue.detail_scroll).saturating_add(lines);
        self.queue.detail_scroll = u16::try_from(scrolled.max(0)).unwrap_or(u16::MAX).min(self.queue.detail_most.get());
    }

    pub(super) fn move_divider(&mut self, percent: u8) {
        self.queue.divider = percent.clamp(20, 90);
        self.queue.resize(self.area);
    }

    fn copy(&mut self, json: bool) -> Vec<Effect> {
        let Some(alert) = self.queue.current() else { return Vec::new() };
        let (text, words) = if json {
            ((self.alert_json)(alert, self.now), "The alert was copied as JSON.".to_owned())
        } else {
            (alert.id.to_string(), format!("Copied {}", alert.id))
        };
        self.tell(Tone::Note, words);
        vec![Effect::Copy(text)]
    }

    fn quit(&mut self) -> Vec<Effect> {
        if self.leaving {
            // Asked a second time: what is with the service goes on there.
            return vec![Effect::Quit];
        }
        if self.unsent() > 0 && !self.is_too_small() {
            let effects = self.keep_open_form();
            self.overlay = Some(Overlay::Leave);
            return effects;
        }
        self.decisions.take_back_all();
        self.leave_now()
    }

    pub(super) fn leave_now(&mut self) -> Vec<Effect> {
        let effects = self.keep_open_form();
        self.leaving = true;
        effects
    }
}
