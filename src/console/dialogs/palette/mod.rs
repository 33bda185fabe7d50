//! The palette: what can be done and gone to, by a few letters of it; what it runs is what the keys run.

pub mod offers;

use crossterm::event::Event;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::alert_search::{AlertSearch, is_typed};
use super::found_rows::lines;
use super::menu::{List, OpenMenu};
use crate::console::text::{columns, cut, sanitize};
use crate::console::widgets::menu::{Selection, is_roomy};
use crate::console::widgets::panel::PanelWidth;
use crate::console::widgets::text_input::Typed;
use crate::console::{
    Action, AppContext, Dialog, Effect, KeyContext, Message, Order, Orders, Pen, TextInput, Theme, Tone,
};
use crate::domain::{Alert, AlertId, Timestamp};

use offers::{PaletteGoal, PaletteOffer};

/// Blank columns before the scrollbar.
const BEFORE_BAR: u16 = 2;

/// The most columns for the names, fewer where there are few columns, and for the keys.
const NAMES: u16 = 24;
const FEW_NAMES: u16 = 21;
const KEYS: u16 = 16;

/// In fewer columns what an offer does stands under the list alone, in so many lines.
const NARROW: u16 = 60;
const BELOW: u16 = 2;

/// So many of what was used last stand on top while nothing is typed.
const RECENT: usize = 5;

/// From so many letters on alerts are looked for too, and so many are shown.
const LOOKED_FOR: usize = 2;
const ALERTS: usize = 6;

/// The palette while it is open.
#[derive(Debug)]
pub struct Palette {
    input: TextInput,
    menu: OpenMenu,
    offers: Vec<PaletteOffer>,
    search: AlertSearch,
    /// Whether the best alert is gone to as soon as it is known.
    goes: bool,
    /// Whether a page lies between it and the screen, which is left with it.
    over_page: bool,
}

/// A choice that is held as itself while what is found comes in.
enum HeldChoice {
    Alert(AlertId),
    Idle(PaletteGoal),
}

/// A line of it.
enum PaletteRow<'p> {
    Offer(&'p PaletteOffer),
    Alert(&'p Alert),
}

impl Palette {
    /// The palette with these offers.
    pub fn of(offers: Vec<PaletteOffer>, over_page: bool) -> Self {
        let menu = OpenMenu::new(Selection::default(), &[KeyContext::Menu], Action::MenuPick);
        Self { input: TextInput::one_line(""), menu, offers, search: AlertSearch::default(), goes: false, over_page }
    }

    /// The offers that fit, then the alerts, and last what does nothing now.
    fn rows(&self, cx: &AppContext) -> Vec<PaletteRow<'_>> {
        let typed = self.input.text();
        let recent = if typed.trim().is_empty() { &cx.recent[..cx.recent.len().min(RECENT)] } else { &cx.recent };
        let ranked = offers::ranked(&self.offers, &typed, recent).into_iter().map(|at| &self.offers[at]);
        let (idle, offers): (Vec<_>, Vec<_>) = ranked.partition(|offer| is_behind(offer, &typed));
        let looked_for = is_looked_for(&typed);
        let alerts = self.search.alerts().iter().filter(|_| looked_for).take(ALERTS).map(PaletteRow::Alert);
        offers.into_iter().map(PaletteRow::Offer).chain(alerts).chain(idle.into_iter().map(PaletteRow::Offer)).collect()
    }

    /// The headings over the rows. What fits best stands without them, but alerts and what does nothing now do not.
    fn headings<'r>(&self, rows: &[PaletteRow<'r>], cx: &AppContext) -> Vec<(usize, &'r str)> {
        let typed = self.input.text();
        let first_alert = rows.iter().position(|row| matches!(row, PaletteRow::Alert(_))).map(|at| (at, "Alerts"));
        let first_idle =
            rows.iter().position(|row| matches!(row, PaletteRow::Offer(offer) if is_behind(offer, &typed)));
        let idle = first_idle.map(|at| (at, "Nothing to do here now"));
        if !self.input.is_empty() {
            return first_alert.into_iter().chain(idle).collect();
        }
        let rows = &rows[..first_idle.unwrap_or(rows.len())];
        let used = rows
            .iter()
            .take_while(|row| {
                matches!(row,
                PaletteRow::Offer(offer) if cx.recent.iter().take(RECENT).any(|id| *id == offer.goal.id()))
            })
            .count();
        let mut headings: Vec<(usize, &str)> = if used > 0 { vec![(0, "Used last")] } else { Vec::new() };
        for (at, row) in rows.iter().enumerate().skip(used) {
            let PaletteRow::Offer(offer) = row else { continue };
            if headings.last().is_none_or(|(first, heading)| *heading != offer.group || *first < used) {
                headings.push((at, &offer.group));
            }
        }
        headings.extend(idle);
        headings
    }

    fn search(&mut self) -> Orders {
        let typed = self.input.text();
        self.search.search(if is_looked_for(&typed) { &typed } else { "" })
    }

    fn typed(&mut self, cx: &AppContext) {
        self.menu.chosen = Selection::default();
        self.goes = false;
        self.search.typed(cx);
    }

    /// What is chosen, where it is held as itself. An offer that does something stands above all alerts and keeps its
    /// row; of one that does nothing now the first row says only that nothing else was found yet.
    fn held(&self, cx: &AppContext) -> Option<HeldChoice> {
        let rows = self.rows(cx);
        let at = self.menu.chosen.index(rows.len())?;
        match rows[at] {
            PaletteRow::Alert(alert) => Some(HeldChoice::Alert(alert.id)),
            PaletteRow::Offer(offer) if at > 0 && is_behind(offer, &self.input.text()) => {
                Some(HeldChoice::Idle(offer.goal.clone()))
            }
            PaletteRow::Offer(_) => None,
        }
    }

    /// Whether an alert is gone to once it is found: nothing else goes by what is typed, or the alerts are of what was
    /// typed before.
    fn waits_for_alert(&self, cx: &AppContext) -> bool {
        let rows = self.rows(cx);
        match self.menu.chosen.index(rows.len()) {
            None => true,
            Some(_) if self.search.is_current() || !is_looked_for(&self.input.text()) => false,
            Some(at) => match rows[at] {
                PaletteRow::Alert(_) => true,
                PaletteRow::Offer(offer) => at == 0 && is_behind(offer, &self.input.text()),
            },
        }
    }

    /// Takes in what was found. An offer that is chosen stays so; an alert stays so as itself, not as a row.
    fn take_found(&mut self, chosen: Option<&HeldChoice>, cx: &mut AppContext) -> Orders {
        let goes = std::mem::take(&mut self.goes);
        let rows = self.rows(cx);
        let is = |row: &PaletteRow<'_>, held: &HeldChoice| match (row, held) {
            (PaletteRow::Alert(alert), HeldChoice::Alert(id)) => alert.id == *id,
            (PaletteRow::Offer(offer), HeldChoice::Idle(goal)) => offer.goal == *goal,
            _ => false,
        };
        let first = rows.iter().position(|row| matches!(row, PaletteRow::Alert(_)));
        let same = chosen.filter(|_| !goes).and_then(|held| rows.iter().position(|row| is(row, held)));
        let at = if goes || chosen.is_some() { same.or(first) } else { None };
        drop(rows);
        match at {
            Some(at) => self.menu.chosen = Selection::at(at),
            None if chosen.is_some() => self.menu.chosen = Selection::default(),
            None => {}
        }
        if goes { self.pick(cx) } else { Vec::new() }
    }

    /// Does what is chosen.
    fn pick(&self, cx: &mut AppContext) -> Orders {
        let rows = self.rows(cx);
        let Some(at) = self.menu.chosen.index(rows.len()) else { return Vec::new() };
        let mut orders = vec![Effect::GiveUpFind.into(), Order::Close];
        // What leads elsewhere leaves the page that lies between.
        let leave = self.over_page.then_some(Order::Leave);
        let (goal, is_idle) = match rows[at] {
            // What did nothing when the palette was opened may do something by now, or says itself why it does not.
            PaletteRow::Offer(offer) => (offer.goal.clone(), offer.idle.is_some()),
            PaletteRow::Alert(alert) => {
                let found = Message::GoToFound(Box::new(alert.clone()));
                return orders.into_iter().chain(leave).chain([Order::Act(Action::ShowQueue), found.into()]).collect();
            }
        };
        drop(rows);
        if !is_idle {
            cx.used(goal.id());
        }
        match goal {
            PaletteGoal::Act(action) => orders.push(Order::Choose(action)),
            PaletteGoal::InList(list, action) => orders.extend([Order::Choose(list), Order::Choose(action)]),
            PaletteGoal::Setting(setting) => {
                orders.extend(
                    leave.into_iter().chain([Order::Act(Action::ShowSettings), Message::GoToSetting(setting).into()]),
                );
            }
            PaletteGoal::Open(next) => orders.extend(leave.into_iter().chain([Message::OpenConsole(next).into()])),
            PaletteGoal::View(name) => match cx.views.named(&name, cx.now, cx.calendar()) {
                Some(Ok(view)) => orders
                    .extend(leave.into_iter().chain([Order::Act(Action::ShowQueue), Message::ShowView(view).into()])),
                Some(Err(error)) => cx.notify(Tone::Bad, format!("The view {name} cannot be read: {error}")),
                None => {}
            },
        }
        orders
    }

    /// The rows of these alerts.
    fn alert_lines(&self, alerts: &[Alert], room: u16, cx: &AppContext) -> Vec<Line<'_>> {
        match self.search.shown() {
            Some((query, Ok(found))) => lines(alerts, query, found, room, cx),
            _ => Vec::new(),
        }
    }

    /// What is to be known of the search for alerts: that it is on its way, that it failed, what it could not look at.
    fn note(&self, cx: &AppContext) -> (String, ratatui::style::Style) {
        let theme = &cx.theme;
        if !is_looked_for(&self.input.text()) {
            return (String::new(), theme.quiet);
        }
        match self.search.shown() {
            _ if !self.search.is_current() => ("alerts: looking…".to_owned(), theme.quiet),
            Some((_, Err(error))) => (format!("alerts: {}", sanitize(&error.to_string())), theme.danger),
            Some((_, Ok(found))) if found.alerts.len() > ALERTS => {
                (format!("alerts: the best {ALERTS}; {} shows more", cx.key(Action::Find)), theme.quiet)
            }
            Some((_, Ok(found))) if found.alerts.is_empty() => ("alerts: none found".to_owned(), theme.quiet),
            _ => match self.search.limits().last() {
                Some(limit) => (sanitize(limit).into_owned(), theme.warning),
                None => (String::new(), theme.quiet),
            },
        }
    }
}

/// Whether an offer stands behind all that can be done or gone to: it does nothing now, and what is typed is not its
/// very name.
fn is_behind(offer: &PaletteOffer, typed: &str) -> bool {
    offer.idle.is_some() && !offers::is_named(offer, typed)
}

/// What is said of an offer: what it does, or why it does nothing now.
fn said_of(offer: &PaletteOffer) -> &str {
    offer.idle.unwrap_or(&offer.about)
}

/// Whether alerts are looked for by what is typed.
fn is_looked_for(typed: &str) -> bool {
    typed.trim().chars().count() >= LOOKED_FOR
}

/// How wide the names of these offers are, as far as names get.
fn widest_name(offers: &[PaletteOffer], room: u16) -> u16 {
    let widest = offers.iter().map(|offer| columns(&sanitize(&offer.name))).max().unwrap_or(0);
    widest.min(if room < NARROW {
        room.saturating_sub(KEYS + 4)
    } else if room < 2 * NARROW - 20 {
        FEW_NAMES
    } else {
        NAMES
    })
}

/// What is left for what an offer does, beside its name and its keys.
fn about_room(offer: &PaletteOffer, names: u16, room: u16) -> u16 {
    room.saturating_sub(names + 2 + columns(&cut(&offer.keys, KEYS)) + 2)
}

/// An offer in so many columns: its name, what it does, and its keys at the end; all of it quiet where it does nothing
/// now.
fn offer_line<'l>(offer: &PaletteOffer, names: u16, room: u16, theme: &Theme) -> Line<'l> {
    let keys = cut(&offer.keys, KEYS).into_owned();
    let name = cut(&sanitize(&offer.name), names).into_owned();
    let pad = names.saturating_sub(columns(&name)) + 2;
    let about_room = about_room(offer, names, room);
    let about = if room < NARROW { String::new() } else { cut(&sanitize(said_of(offer)), about_room).into_owned() };
    let gap = (about_room + 2).saturating_sub(columns(&about));
    let blanks = |count: u16| " ".repeat(usize::from(count));
    let (name_style, key_style) =
        if offer.idle.is_some() { (theme.quiet, theme.quiet) } else { (theme.strong, theme.key) };
    Line::from(vec![
        Span::styled(name, name_style),
        Span::raw(blanks(pad)),
        Span::styled(about, theme.quiet),
        Span::raw(blanks(gap)),
        Span::styled(keys, key_style),
    ])
}

impl Dialog for Palette {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        match message {
            Message::Tick if self.search.next_due().is_some_and(|due| due <= cx.now) => return self.search(),
            Message::Found(query, answer) => {
                let chosen = self.held(cx);
                if self.search.answered(query, answer) {
                    return self.take_found(chosen.as_ref(), cx);
                }
            }
            // What is typed is searched for, so letters are no commands here.
            Message::Input(Event::Key(key)) if is_typed(key) => {
                let typed = self.input.key(*key);
                if typed == Typed::Changed {
                    self.typed(cx);
                }
            }
            Message::Input(Event::Paste(text)) => match self.input.paste(text) {
                Ok(changed) => {
                    self.typed(cx);
                    changed.into_iter().for_each(|words| cx.notify(Tone::Note, words));
                }
                Err(why) => cx.notify(Tone::Note, why),
            },
            Message::Input(event) => {
                let length = self.rows(cx).len();
                match self.menu.update(event, length, cx) {
                    Some(Action::MenuClose) => return vec![Effect::GiveUpFind.into(), Order::Close],
                    // There may be an alert that goes by it, and those of what was typed before are not meant.
                    Some(Action::MenuPick) if self.waits_for_alert(cx) => self.goes = !self.search.is_current(),
                    Some(Action::MenuPick) => return self.pick(cx),
                    _ => {}
                }
            }
            _ => {}
        }
        Vec::new()
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        let theme = &cx.theme;
        let room = OpenMenu::room(PanelWidth::Search, area).saturating_sub(BEFORE_BAR);
        let rows = self.rows(cx);
        let names = widest_name(&self.offers, room);
        let alerts = rows.iter().filter(|row| matches!(row, PaletteRow::Alert(_))).count();
        let mut alerts = self.alert_lines(&self.search.alerts()[..alerts], room, cx).into_iter();
        let line = |row: &PaletteRow<'_>| match row {
            PaletteRow::Offer(offer) => Some(offer_line(offer, names, room, theme)),
            PaletteRow::Alert(_) => alerts.next(),
        };
        let entries: Vec<Line<'_>> = rows.iter().filter_map(line).collect();
        let is_narrow = room < NARROW;
        let empty = match (is_looked_for(&self.input.text()), self.search.shown()) {
            (false, _) => "Nothing here goes by that.",
            (true, Some((_, Ok(_)))) if self.search.is_current() => "Nothing here goes by that, and no alert has it.",
            (true, _) => "",
        };
        let below = match self.menu.chosen.index(rows.len()).map(|at| &rows[at]) {
            Some(PaletteRow::Offer(offer))
                if is_narrow || columns(&sanitize(said_of(offer))) > about_room(offer, names, room) =>
            {
                said_of(offer).to_owned()
            }
            _ => String::new(),
        };
        let pick = match self.menu.chosen.index(rows.len()).map(|at| &rows[at]) {
            Some(PaletteRow::Offer(PaletteOffer { idle: Some(_), .. })) => Some("say why"),
            Some(PaletteRow::Offer(PaletteOffer { goal: PaletteGoal::Act(_) | PaletteGoal::InList(..), .. })) => {
                Some("run")
            }
            _ => None,
        };
        let groups = self.headings(&rows, cx);
        let above = u16::from(is_roomy(area));
        let list = List {
            title: "Palette",
            entries,
            groups,
            empty,
            width: PanelWidth::Search,
            field: above + 2,
            below: sanitize(&below).into_owned(),
            below_lines: if is_narrow { BELOW } else { 1 },
            pick,
            ..List::default()
        };
        let fields = self.menu.draw(list, frame, area, cx);
        let field = Rect { y: fields.y + above, height: 1, ..fields };
        let what = "what to do, a screen, a view, a profile, an alert";
        self.input.draw_field(frame, field, theme, true, what);
        let (words, style) = self.note(cx);
        Pen::new(frame.buffer_mut(), Rect { y: field.y + 1, ..field }).put(&words, style);
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.search.next_due()
    }
}
