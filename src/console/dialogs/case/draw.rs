//! Draws the case: what it is about, its alerts, what speaks against a plain answer, and below that facts and timeline
//! in columns.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Margin, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::shared::{shared_words, shares};
use super::standing::{Standing, counts, duplicate_words, key_words};
use super::timeline::{KnownOfCase, Weight, timeline};
use super::{CaseDialog, Target};
use crate::console::answer_words::{answer_words, is_answered_refunded, who_answered};
use crate::console::dialogs::alert_rows::{self, AlertRow, of_one_payment};
use crate::console::screens::queue::columns::{amount, masked};
use crate::console::screens::queue::detail::{Facet, Part, WIDEST, facets, put};
use crate::console::screens::queue::facts::Facts;
use crate::console::suggestion::order_advice;
use crate::console::text::{columns, cut, hanging, indented_json, sanitize, wrap_indented, wrap_spans};
use crate::console::unfinished::in_words;
use crate::console::{Action, AppContext, DrawContext, Loadable, Pen, times};
use crate::domain::sanitize::lines;
use crate::domain::{Alert, Dialect, Resolution, Timestamp};
use crate::ui::areas::{FILL, stacked};
use crate::ui::fit::{self, KeyHint};
use crate::ui::table;

/// From so many columns on facts stand in two columns, and in three.
const TWO: u16 = 100;
const THREE: u16 = 150;

/// Columns between columns of facts, and of the moments in the timeline.
const GAP: u16 = 4;
const MOMENT: u16 = 14;

/// Blank columns between why they belong together and how long there is.
const APART_FROM: u16 = 4;

/// Columns of facts, at least and at most, where what happened stands beside two of them.
const FACTS: (u16, u16) = (42, 58);

/// So much of the comment of a refund is told in the warning.
const COMMENT: u16 = 48;

/// So many alerts of a case are measured for the room of their facts.
const MEASURED: usize = 12;

/// From so many rows on a blank line is below the alerts.
const TALL: u16 = 24;

/// What is decided, in one word; its reason stands below, with the alert.
fn brief_word(resolution: &Resolution) -> String {
    let said = in_words(resolution);
    said.split([',', '(']).next().unwrap_or_default().trim_end().to_owned()
}

/// The answer of a case's alert with its time, or the alert's status.
fn state(alert: &Alert, now: Timestamp) -> String {
    match &alert.outcome {
        Some(outcome) => {
            let word = answer_words(alert, outcome);
            let when = outcome.action_time.map_or_else(String::new, |at| format!(" {}", times::ago(at, now)));
            format!("{word}{when}")
        }
        None => sanitize(alert.status.as_str()).into_owned(),
    }
}

/// The same, and until when it is put aside.
fn state_here(alert: &Alert, cx: &AppContext) -> String {
    let until = cx.snoozes.until(alert.id).filter(|_| alert.outcome.is_none());
    let snoozed = until.map_or_else(String::new, |at| format!(", snoozed until {}", cx.times().at(at, cx.now)));
    format!("{}{snoozed}", state(alert, cx.now))
}

/// What is said after a warning, with a key in it.
#[derive(Default)]
struct Told {
    before: String,
    key: String,
    after: String,
}

impl Told {
    fn plain(text: &str) -> Self {
        Self { before: text.to_owned(), ..Self::default() }
    }

    fn with_key(self, key: &str, after: &str) -> Self {
        Self { key: key.to_owned(), after: after.to_owned(), ..self }
    }
}

/// A warning in lines, and the row of the alert that its words in one style name.
#[derive(Default)]
struct CaseWarning {
    lines: Vec<Line<'static>>,
    named: Option<(usize, Style)>,
}

impl CaseDialog {
    pub(super) fn draw_all(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.targets.clear();
        let draw = cx.draw_context();
        alert_rows::open_page(&draw, frame.buffer_mut(), area);
        let mut facts = area.inner(Margin::new(2, 1));
        if self.alerts.len() > 1 {
            facts = self.draw_case(frame, area.inner(Margin::new(0, 1)), cx);
        }
        self.draw_facts(frame, facts, cx);
    }

    /// Draws the head of the case, its alerts and the warnings. Returns the area below them.
    fn draw_case(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) -> Rect {
        let (theme, now) = (&cx.theme, cx.now);
        let inside = area.inner(Margin::new(2, 0));
        let closes = self.first_to_close(now).map(|(first, at)| {
            let words = ["first due in ".to_owned(), times::short(at - now), format!("  {}", cx.times().at(at, now))];
            (words, cx.draw_context().urgency(times::left(first, now).urgency))
        });
        let needed = closes.as_ref().map_or(0, |(words, _)| words.iter().map(|words| columns(words)).sum::<u16>());
        let (doubt, style) = if self.facts.values().any(|facts| facts.duplicates == Loadable::Loading) {
            ("looking for more…  ".to_owned(), theme.quiet)
        } else {
            let error = self.facts.values().find_map(|facts| failure(&facts.duplicates));
            (error.map_or_else(String::new, |error| format!("not all checked: {error}  ")), theme.warning)
        };
        // Why they belong together is said on every screen, and how long there is on a line of its own where not both
        // have room. What only some share is not worth half a word.
        let room = inside.width.max(columns(&doubt)) - columns(&doubt);
        let shared = shared_words(&self.alerts).unwrap_or_default();
        let shared = if columns(&shared) > room { shared.split("; ").next().unwrap_or(&shared) } else { &shared };
        let is_beside = columns(shared) + APART_FROM + needed <= room;
        let open: Vec<&Alert> = self.alerts.iter().filter(|alert| Standing::of(alert, cx) == Standing::Waits).collect();
        let warning = self.warning(inside.width, &open, cx);
        let [shown, warned] = [self.alerts.len().min(usize::from(area.height / 3).max(2)) + 1, warning.lines.len()]
            .map(|lines| u16::try_from(lines).unwrap_or(u16::MAX));
        let (own_line, blank) = (u16::from(!is_beside), u16::from(area.height >= TALL));
        let [title, beside, below, _, list, _, warned, _, facts] =
            stacked(area, [1, 1, own_line, 1, shown, blank, warned, 1, FILL]);
        let [title, beside, below, warned, facts] =
            [title, beside, below, warned, facts].map(|line| line.inner(Margin::new(2, 0)));
        self.draw_alerts(frame, list, cx);
        for (line, row) in warning.lines.iter().zip(warned.rows()) {
            let mut pen = Pen::new(frame.buffer_mut(), row);
            for span in line {
                let put = pen.put(&span.content, span.style);
                if let Some((named, _)) = warning.named.filter(|(_, named)| span.style == *named) {
                    self.targets.push(put, Target::Row(named));
                }
            }
        }
        let alert = self.current();
        let mut pen = Pen::new(frame.buffer_mut(), title);
        pen.put(&sanitize(&alert.merchant_descriptor), theme.strong);
        pen.skip(3);
        pen.put(&amount(alert), theme.strong);
        pen.put(&format!(" {}", sanitize(alert.currency.as_str())), theme.quiet);
        pen.skip(3);
        if area.width >= TWO {
            pen.put(&masked(alert), theme.plain);
            pen.skip(3);
        }
        pen.put_whole(&format!("{} alerts on one payment", self.alerts.len()), theme.plain);
        pen.skip(3);
        for (words, calls) in counts(&self.alerts, cx) {
            pen.put_whole(&words, if calls { theme.warning } else { theme.quiet });
            pen.skip(3);
        }
        let mut pen = Pen::new(frame.buffer_mut(), beside);
        pen.put(&doubt, style);
        pen.put(shared, theme.quiet);
        match is_beside {
            true => pen.skip(if shared.is_empty() { 0 } else { APART_FROM }),
            false => pen = Pen::new(frame.buffer_mut(), below),
        }
        if let Some(([first, left, at], urgent)) = closes {
            pen.put_whole(&first, theme.quiet);
            pen.put_whole(&left, urgent);
            pen.put_whole(&at, theme.quiet);
        }
        facts
    }

    /// The alert whose window closes first, and when.
    fn first_to_close(&self, now: Timestamp) -> Option<(&Alert, Timestamp)> {
        let open = self.alerts.iter().filter(|alert| alert.outcome.is_none() && alert.expired_at.is_none());
        open.filter_map(|alert| Some((alert, alert.deadline.moment().filter(|at| *at > now)?)))
            .min_by_key(|(_, at)| *at)
    }

    fn draw_alerts(&self, frame: &mut Frame<'_>, list: Rect, cx: &AppContext) {
        let theme = &cx.theme;
        let draw = cx.draw_context();
        let foreseen = self.foreseen.as_ref();
        let mut titles = vec!["SHARES".to_owned()];
        titles.extend(foreseen.map(|foreseen| match foreseen.refunds {
            true => format!("WITH {}", cx.key(Action::Refund)),
            false if cx.place.dialect == Dialect::Current => format!("WITH {}: INVALID", cx.key(Action::Invalid)),
            false => format!("WITH {}", cx.key(Action::Invalid)),
        }));
        let rows: Vec<AlertRow<'_>> = self
            .alerts
            .iter()
            .map(|alert| {
                let shares = shares(alert, &self.alerts);
                let told = state_here(alert, cx);
                let over = alert.outcome.is_some();
                let (sign, what, style) = match (&alert.outcome, cx.decisions.of(alert.id)) {
                    // What is recorded has one sign, whatever was answered; that money went back for it is seen by its
                    // colour.
                    (Some(_), _) => {
                        let style = if is_answered_refunded(alert) { theme.ok } else { theme.quiet };
                        (("✓", style), told, style)
                    }
                    (None, Some(decision)) => {
                        let (sign, words, style) = alert_rows::progress(decision, &cx.draw_context());
                        (sign, format!("{}: {words}", brief_word(&decision.resolution)), style)
                    }
                    (None, None) if let Some(attempt) = cx.unfinished.of(alert.id) => {
                        let (sign, words, style) = alert_rows::progress_at_engine(attempt, theme);
                        (sign, format!("{}: {words}", brief_word(&attempt.resolution)), style)
                    }
                    (None, None) if Standing::of(alert, cx) == Standing::Lapsed => {
                        (("–", theme.quiet), told, theme.quiet)
                    }
                    (None, None) => (("·", theme.accent), told, theme.plain),
                };
                let gets = foreseen.map_or_else(String::new, |foreseen| foreseen.gets(alert.id).to_owned());
                let beside = vec![(shares, if over { theme.quiet } else { theme.plain }), (gets, theme.accent)];
                AlertRow { sign, alert, what, style, quiet: over, beside }
            })
            .collect();
        let table =
            alert_rows::table(&rows, of_one_payment(&self.alerts), ("STATE", &titles), table::room(list), &draw);
        let note = |area, row| self.targets.push(area, Target::Row(row));
        self.list.draw((&table, &rows), (self.position(), true), theme, frame.buffer_mut(), list, note);
    }

    /// Says that money has gone back already, or that one alone is to be refunded.
    fn warning(&self, width: u16, open: &[&Alert], cx: &AppContext) -> CaseWarning {
        let theme = &cx.theme;
        if self.alerts.iter().all(|alert| alert.outcome.is_some()) {
            return CaseWarning::default();
        }
        let known = cx.known_decisions();
        // The refund itself goes before an answer that says that there was one.
        let refunded = self.alerts.iter().map(|alert| known.answered(alert)).filter(|alert| alert.was_refunded());
        let refunded = refunded.min_by_key(|alert| alert.says_refunded_before());
        let coming = self.alerts.iter().map(|alert| known.foreseen(alert)).find(|alert| alert.was_refunded());
        let key = |action| cx.key(action);
        let said = match cx.place.dialect {
            Dialect::Current => "as invalid",
            Dialect::Older => "as it fits",
        };
        let sent = self.foreseen.as_ref().filter(|foreseen| !foreseen.refunds).map_or(0, |foreseen| foreseen.sent);
        // What was refunded is told of beside those that wait, or is one of them.
        let paid_twice = |beside: bool| {
            let whom = match (sent, open.len()) {
                (1, 1) => "it".to_owned(),
                (2, 2) => "both".to_owned(),
                (sent, waiting) if beside && sent == waiting => "the others".to_owned(),
                (sent, waiting) if sent == waiting => format!("all {sent}"),
                (sent, waiting) => format!("{sent} of {waiting} open"),
            };
            let told = Told::plain("A second refund would pay the cardholder twice. ");
            match (open.len(), sent) {
                (0, _) => Told::plain("A second refund would pay the cardholder twice."),
                // No key answers where nothing is sent.
                _ if cx.place.read_only => Told::plain("A second refund would pay the cardholder twice."),
                (_, 0) => told.with_key(&key(Action::Invalid), " answers it so."),
                _ => told.with_key(&key(Action::Invalid), &format!(" answers {whom} {said}.")),
            }
        };
        // The alert that is named here is one of the rows: a click goes to it.
        let named = refunded.as_ref().or(coming.as_ref()).map(|other| other.id);
        let named = named.and_then(|id| self.alerts.iter().position(|alert| alert.id == id));
        let (title, text) = match (refunded, coming) {
            (Some(other), _) => {
                let what = if other.says_refunded_before() {
                    "Refunded before, by the answer to"
                } else {
                    "Already refunded:"
                };
                let title = format!("⚠ {what} {} {}", other.provider, other.provider_id);
                let told = paid_twice(true);
                (title, Told { before: format!("{} {}", self.refund_told(&other, cx), told.before), ..told })
            }
            // Money does not go back by that answer: it went back before.
            (None, Some(other)) if other.says_refunded_before() => {
                let title = format!("⚠ Refunded before, by the answer to {} {}.", other.provider, other.provider_id);
                (title, paid_twice(true))
            }
            (None, Some(other)) => {
                let (how_far, would) = match known.may_have_arrived(other.id) {
                    true => ("is unconfirmed", "may"),
                    false => ("is under way", "would"),
                };
                let title = format!("⚠ A refund {how_far}: {} {}.", other.provider, other.provider_id);
                (title, Told::plain(&format!("A second one {would} pay the cardholder twice.")))
            }
            (None, None) => match self.refunded_elsewhere(cx) {
                Some(who) => (format!("⚠ {who}"), paid_twice(false)),
                None if open.len() < 2 || cx.place.read_only => return CaseWarning::default(),
                None => {
                    let title = "⚠ Refund one of them only.".to_owned();
                    let follows = match cx.place.dialect {
                        Dialect::Current => " reports this one as refunded, the others as duplicates.".to_owned(),
                        dialect => format!(" reports this one as refunded, the others {}.", duplicate_words(dialect)),
                    };
                    let text = match open.iter().any(|alert| alert.id == self.cursor) {
                        true => Told::plain("").with_key(&key(Action::Refund), &follows),
                        false => Told::plain("").with_key("tab", " goes to the refunded one."),
                    };
                    (title, text)
                }
            },
        };
        let strong = theme.warning.add_modifier(Modifier::BOLD);
        let blank = if title.ends_with('.') { " " } else { "" };
        let parts = [
            (format!("{title}{blank}"), strong),
            (text.before, theme.plain),
            (text.key, theme.key),
            (text.after, theme.plain),
        ];
        let parts = parts.map(|(text, style)| Span::styled(sanitize(&text).into_owned(), style));
        let wrapped = |parts| wrap_spans(parts, width);
        let (in_one, apart) = (wrapped(&parts), [wrapped(&parts[..2]), wrapped(&parts[2..])].concat());
        // What a key does stands on a line of its own where that costs none.
        let has_key = !parts[2].content.is_empty();
        let lines = if has_key && in_one.len() > 1 && apart.len() <= in_one.len() { apart } else { in_one };
        CaseWarning { lines, named: named.map(|row| (row, strong)) }
    }

    /// What is known of a refund behind the name of its alert: `, by maria 3 h ago, "reference 88213"; the shop's order
    /// too.`
    fn refund_told(&self, refunded: &Alert, cx: &AppContext) -> String {
        let by = who_answered(refunded.id, self.audit.entries(), cx.journal.history(), cx.journal.place());
        let outcome = refunded.outcome.as_ref();
        let when = outcome.and_then(|outcome| outcome.action_time).map(|at| times::ago(at, cx.now));
        let who_and_when: Vec<String> = by.into_iter().chain(when).collect();
        let comment = outcome.map_or("", |outcome| &outcome.comments).replace('\n', " / ");
        let comment = cut(comment.trim_end_matches('.'), COMMENT);
        let comment = if comment.is_empty() { String::new() } else { format!("\"{comment}\"") };
        let told = [who_and_when.join(" "), comment]
            .into_iter()
            .filter(|part| !part.is_empty())
            .map(|part| format!(", {part}"));
        let order = if self.order_says_refunded() { "; the order too" } else { "" };
        format!("{}{order}.", told.collect::<String>())
    }

    /// Returns true where the shop's order says of an alert that waits that it was refunded before.
    fn order_says_refunded(&self) -> bool {
        let mut waiting = self.alerts.iter().filter(|alert| alert.outcome.is_none());
        waiting.any(|alert| {
            let advice = self.facts.get(&alert.id).and_then(|facts| order_advice(alert, facts));
            advice.is_some_and(|(_, advice)| advice.was_refunded_before())
        })
    }

    /// Facts and timeline, beside each other where there is room.
    fn draw_facts(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        let draw = cx.draw_context();
        let alert = self.current();
        let none = Facts::of(alert.id);
        let facts = self.facts.get(&alert.id).unwrap_or(&none);
        let note = |line: Rect, action: Action| self.targets.push(line, Target::Do(action));
        if self.raw {
            let json = (cx.alert_json)(alert, cx.now);
            let lines = wrap_indented(&lines(&indented_json(&json)), area.width.min(WIDEST));
            let parts: Vec<Part> =
                lines.into_iter().map(|line| Part::of(Line::from(Span::styled(line, cx.theme.plain)))).collect();
            put(&[(&parts, area)], &self.scroll, &draw, frame.buffer_mut(), area, note);
            return;
        }
        // What happened is told in sentences: where there are three columns it is the widest.
        let facts_beside = match area.width {
            THREE.. => vec![(area.width / 10 * 3).min(FACTS.1); 2],
            TWO.. => vec![self.room_of_facts((area.width - GAP) / 2, &draw)],
            _ => Vec::new(),
        };
        let widths = facts_beside.into_iter().map(Constraint::Length).chain([Constraint::Fill(1)]);
        let areas = Layout::horizontal(widths).spacing(GAP).split(area);
        let (count, fact, last) = (areas.len(), areas[0].width, areas[areas.len() - 1].width);
        let alone = self.alerts.len() == 1;
        let of = |facet, width| facets(facet, alert, false, facts, &draw, width);
        let order_told = !alone && self.alerts.iter().any(|alert| cx.known_decisions().answered(alert).was_refunded());
        let decides = |width| of(Facet::Decides { alone, order_told }, width);
        let own = |width| of(Facet::Own { alone }, width);
        let payment = |width| of(Facet::Payment, width);
        let told = |width| self.timeline(width, cx);
        let both = |first: Vec<Part>, second: Vec<Part>| first.into_iter().chain(second).collect();
        let columns: Vec<Vec<Part>> = match (count, alone) {
            (3, true) => vec![both(decides(fact), own(fact)), payment(fact), told(last)],
            (3, false) => vec![payment(fact), both(decides(fact), own(fact)), told(last)],
            (2, true) => vec![both(decides(fact), own(fact)), both(payment(last), told(last))],
            (2, false) => vec![both(decides(fact), payment(fact)), both(told(last), own(last))],
            // In one column what decides comes first; the other alerts stand above it.
            (_, true) => vec![both(decides(last), both(payment(last), both(own(last), told(last))))],
            (_, false) => vec![both(decides(last), both(told(last), both(payment(last), own(last))))],
        };
        // The facts of a column begin on the line of the others' first one.
        let first = |parts: &[Part]| usize::from(parts.first().is_some_and(Part::is_blank));
        let columns: Vec<_> = columns.iter().map(|parts| &parts[first(parts)..]).zip(areas.iter().copied()).collect();
        put(&columns, &self.scroll, &draw, frame.buffer_mut(), area, note);
    }

    /// How much of so much room the facts in the first of two columns need, whichever alert they are of: sentences
    /// beside them have the rest.
    fn room_of_facts(&self, most: u16, draw: &DrawContext<'_>) -> u16 {
        let alone = self.alerts.len() == 1;
        let second = if alone { Facet::Own { alone } } else { Facet::Payment };
        let widest = |alert: &Alert| {
            let none = Facts::of(alert.id);
            let facts = self.facts.get(&alert.id).unwrap_or(&none);
            let parts = [Facet::Decides { alone, order_told: false }, second]
                .into_iter()
                .flat_map(|facet| facets(facet, alert, false, facts, draw, most));
            parts.map(|part| part.width()).max().unwrap_or(0)
        };
        self.alerts.iter().take(MEASURED).map(widest).fold(FACTS.0, u16::max).min(most)
    }

    fn timeline(&self, width: u16, cx: &AppContext) -> Vec<Part> {
        let theme = &cx.theme;
        let known = KnownOfCase {
            facts: &self.facts,
            unfinished: &cx.unfinished,
            notes: &cx.notes,
            history: cx.journal.history(),
            place: cx.journal.place(),
            audit: self.audit.entries(),
        };
        let events = timeline(&self.alerts, &known);
        let mut parts =
            vec![Part::of(Line::default()), Part::of(Line::from(Span::styled("WHAT HAPPENED", theme.quiet)))];
        for event in events {
            let style: Style = match event.weight {
                Weight::Plain => theme.plain,
                Weight::Good => theme.ok,
                Weight::Bad => theme.warning,
                Weight::Quiet => theme.quiet,
            };
            let at = cx.times().row(event.at, cx.now);
            let moment = Span::styled(format!("{at:<moment$}", moment = usize::from(MOMENT)), theme.quiet);
            parts.extend(hanging(moment, &sanitize(&event.what), style, width).into_iter().map(Part::of));
        }
        parts
    }

    /// What comes first in the footer: the way back, the answers, and what leads to the other alerts and to the rest of
    /// the page.
    fn offered_first(&self, cx: &AppContext) -> Vec<KeyHint<Action>> {
        let key = |action, words: &str| KeyHint::new(cx.key(action), words, action);
        let mut offered = vec![key(Action::Back, "back")];
        let waits = self.alerts.iter().filter(|alert| Standing::of(alert, cx) == Standing::Waits).count();
        if !cx.place.read_only {
            let refunded = self.alerts.iter().any(Alert::was_refunded) || self.refunded_elsewhere(cx).is_some();
            let words = key_words(waits > 1, refunded, cx.place.dialect);
            let mut answers: Vec<_> =
                [Action::Refund, Action::NotRefunded, Action::Invalid].into_iter().zip(words).collect();
            // What fits where money has gone back already comes first.
            if refunded {
                answers.rotate_right(1);
            }
            // What lapsed or asks for no answer can be ticked in the form, which alone is no reason to offer it.
            let alone = self.alerts.len() == 1;
            let is_here = Standing::of(self.current(), cx) == Standing::Waits;
            answers.retain(|(action, _)| {
                self.takes(*action, cx) && (alone || if *action == Action::Refund { is_here } else { waits > 0 })
            });
            let answers = answers.into_iter();
            offered
                .extend(answers.map(|(action, (words, brief))| KeyHint { brief: Some(brief), ..key(action, &words) }));
        }
        offered.extend(self.parked(cx).map(|_| key(Action::Settle, "set result")));
        if self.alerts.len() > 1 {
            offered.push(KeyHint::new("tab", "next alert", Action::NextPane));
        }
        if self.scroll.is_needed() {
            offered.push(key(Action::DetailDown, "scroll"));
        }
        offered
    }

    pub(super) fn draw_offered(&self, buffer: &mut Buffer, line: Rect, cx: &AppContext) {
        let key = |action, words: &str| KeyHint::new(cx.key(action), words, action);
        let mut offered = self.offered_first(cx);
        offered.push(key(Action::Note, "note"));
        if self.current().outcome.is_none() {
            let is_aside = cx.snoozes.until(self.current().id).is_some();
            offered.push(key(Action::Snooze, if is_aside { "wake" } else { "snooze" }));
        }
        offered.push(key(Action::CopyId, "copy"));
        offered.push(key(Action::Raw, if self.raw { "facts" } else { "JSON" }));
        // The help stays, however narrow it gets: from there every key is found.
        offered.push(KeyHint { stays: true, ..key(Action::Help, "help") });
        let note = |area, action| self.targets.push(area, Target::Do(action));
        fit::draw(&fit::keys(offered, &cx.theme), buffer, line, note);
    }
}

fn failure(loadable: &Loadable<Vec<Alert>>) -> Option<String> {
    match loadable {
        Loadable::Failed(error) => Some(error.to_string()),
        _ => None,
    }
}
