//! Draws the case: what it is about, its alerts, what speaks against a plain answer, and below that facts and timeline
//! in columns.

use ratatui::{
    Frame,
    buffer::Buffer,
    layout::{Constraint, Layout, Margin, Rect},
    style::{Modifier, Style},
    text::{Line, Span, Text},
    widgets::Widget,
};

use super::{
    CaseDialog, Target,
    standing::{Standing, counts, shared_words, shares},
    timeline::{KnownOfCase, Weight, timeline},
};
use crate::{
    Action, AppContext, Loadable,
    answer_words::{answer_words, is_answered_refunded, who_answered},
    dialogs::alert_rows::{self, AlertRow, OF_ONE_PAYMENT},
    domain::{Alert, Dialect, Resolution, Timestamp, resolution::InvalidReason, sanitize::lines},
    screens::queue::{
        columns::{amount, masked},
        detail::{Facet, Part, WIDEST, facets, put},
        facts::Facts,
    },
    text::{counted, cut, hanging, indented_json, sanitize, wrap_indented, wrap_spans},
    times,
    ui::{
        areas::{FILL, stacked},
        fit::{self, KeyHint, Segment},
        table,
    },
    unfinished::in_words,
};

/// From so many columns on facts stand in two columns, and in three.
const TWO: u16 = 100;
const THREE: u16 = 150;

/// Columns between columns of facts, and of the moments in the timeline.
const GAP: u16 = 4;
const MOMENT: u16 = 14;

/// So much of the comment of a refund is told in the warning.
const COMMENT: u16 = 48;

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

/// A warning: its title, what follows, a key and what that does; and the row of the alert that the title names.
struct CaseWarning {
    title: String,
    text: String,
    key: String,
    does: String,
    named: Option<usize>,
}

impl CaseWarning {
    fn lines(&self, width: u16, cx: &AppContext) -> Vec<Line<'static>> {
        let theme = &cx.theme;
        let parts = [
            (format!("{} ", self.title), theme.warning.add_modifier(Modifier::BOLD)),
            (self.text.clone(), theme.plain),
            (self.key.clone(), theme.key),
            (self.does.clone(), theme.plain),
        ];
        wrap_spans(&parts.map(|(text, style)| Span::styled(sanitize(&text).into_owned(), style)), width)
    }
}

impl CaseDialog {
    pub(super) fn draw_all(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.targets.clear();
        alert_rows::open_page(cx, frame.buffer_mut(), area);
        let mut facts = area.inner(Margin::new(2, 1));
        if self.alerts.len() > 1 {
            facts = self.draw_case(frame, area.inner(Margin::new(0, 1)), cx);
        }
        self.draw_facts(frame, facts, cx);
    }

    /// Draws the head of the case, its alerts and the warnings. Returns the area below them.
    fn draw_case(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) -> Rect {
        let inside = Margin::new(2, 0);
        let warning = self.warning(cx);
        let lines = warning.as_ref().map_or_else(Vec::new, |warning| warning.lines(area.inner(inside).width, cx));
        let [shown, warned] = [self.alerts.len().min(usize::from(area.height / 3).max(2)) + 1, lines.len()]
            .map(|lines| u16::try_from(lines).unwrap_or(u16::MAX));
        let blank = u16::from(area.height >= TALL);
        let [title, matched, _, list, _, warned, _, facts] = stacked(area, [1, 1, 1, shown, blank, warned, 1, FILL]);
        let [title, matched, warned, facts] = [title, matched, warned, facts].map(|part| part.inner(inside));
        fit::draw(&self.title(cx), frame.buffer_mut(), title, |_, ()| {});
        fit::draw(&self.matched_by(cx), frame.buffer_mut(), matched, |_, ()| {});
        self.draw_alerts(frame, list, cx);
        Text::from(lines).render(warned, frame.buffer_mut());
        if let Some(named) = warning.and_then(|warning| warning.named) {
            self.targets.push(Rect { height: warned.height.min(1), ..warned }, Target::Row(named));
        }
        facts
    }

    /// The payment, and how its alerts stand.
    fn title(&self, cx: &AppContext) -> Vec<Segment<()>> {
        let (theme, alert) = (&cx.theme, self.current());
        let alerts = format!("{} on one payment", counted(self.alerts.len() as u64, "alert", "alerts"));
        let stand = counts(&self.alerts, cx).join("   ");
        vec![
            Segment::new(0, sanitize(&alert.merchant_descriptor), theme.strong),
            Segment::new(3, amount(alert), theme.strong),
            Segment::new(1, sanitize(alert.currency.as_str()), theme.quiet),
            Segment::new(3, masked(alert), theme.plain).or_none(9),
            Segment::new(3, alerts, theme.plain).or_none(8),
            Segment::new(3, stand, theme.warning).or_none(7),
        ]
    }

    /// Draws the reason for which its alerts belong together, and the time left.
    fn matched_by(&self, cx: &AppContext) -> Vec<Segment<()>> {
        let (theme, now) = (&cx.theme, cx.now);
        let (doubt, style) = if self.is_looking() {
            ("looking for more…  ".to_owned(), theme.quiet)
        } else {
            let failed = |facts: &Facts| match &facts.duplicates {
                Loadable::Failed(error) => Some(format!("not all checked: {error}  ")),
                _ => None,
            };
            (self.facts.values().find_map(failed).unwrap_or_default(), theme.warning)
        };
        let mut segments =
            vec![Segment::new(0, doubt, style), Segment::new(0, shared_words(&self.alerts), theme.quiet).cut_to(9, 0)];
        if let Some((first, at)) = self.first_to_close(now) {
            let urgent = cx.urgency(times::left(first, now).urgency);
            segments.push(Segment::new(4, "first due in", theme.quiet));
            segments.push(Segment::new(1, times::short(at - now), urgent));
            segments.push(Segment::new(2, cx.times().at(at, now), theme.quiet));
        }
        segments
    }

    /// The alert whose window closes first, and when.
    fn first_to_close(&self, now: Timestamp) -> Option<(&Alert, Timestamp)> {
        let open = self.alerts.iter().filter(|alert| alert.outcome.is_none() && alert.expired_at.is_none());
        open.filter_map(|alert| Some((alert, alert.deadline.moment().filter(|at| *at > now)?)))
            .min_by_key(|(_, at)| *at)
    }

    fn draw_alerts(&self, frame: &mut Frame<'_>, list: Rect, cx: &AppContext) {
        let theme = &cx.theme;
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
                        let (sign, words, style) = alert_rows::progress(decision, cx);
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
        let table = alert_rows::table(&rows, OF_ONE_PAYMENT, ("STATE", &titles), table::room(list), cx);
        let note = |area, row| self.targets.push(area, Target::Row(row));
        self.list.draw((&table, &rows), (self.position(), true), theme, frame.buffer_mut(), list, note);
    }

    /// Says that money has gone back already, or that one alone is to be refunded.
    fn warning(&self, cx: &AppContext) -> Option<CaseWarning> {
        if self.alerts.iter().all(|alert| alert.outcome.is_some()) {
            return None;
        }
        let known = cx.known_decisions();
        // The refund itself goes before an answer that says that there was one.
        let refunded = self.alerts.iter().map(|alert| known.answered(alert)).filter(|alert| alert.was_refunded());
        let refunded = refunded.min_by_key(|alert| alert.says_refunded_before());
        let coming = self.alerts.iter().map(|alert| known.foreseen(alert)).find(|alert| alert.was_refunded());
        // The alert that is named here is one of the rows: a click goes to it.
        let other = refunded.as_ref().or(coming.as_ref());
        let named = other.and_then(|other| self.alerts.iter().position(|alert| alert.id == other.id));
        let name = |other: &Alert| format!("{} {}", other.provider, other.provider_id);
        let (title, told) = match (&refunded, other) {
            // Money does not go back by that answer: it went back before.
            (_, Some(other)) if other.says_refunded_before() => {
                (format!("⚠ Refunded before, by the answer to {}.", name(other)), String::new())
            }
            (Some(other), _) => {
                let told = self.refund_told(other, cx);
                let end = if told.is_empty() { "." } else { "," };
                (format!("⚠ Already refunded: {}{end}", name(other)), told)
            }
            (None, Some(other)) => {
                let is_checking = known.may_have_arrived(other.id);
                let title = if is_checking { "⚠ A refund is unconfirmed" } else { "⚠ A refund is under way" };
                let title = format!("{title}: {}.", name(other));
                let would = if is_checking { "may" } else { "would" };
                let text = format!("A second one {would} pay the cardholder twice.");
                return Some(CaseWarning { title, text, key: String::new(), does: String::new(), named });
            }
            (None, None) => match self.refunded_elsewhere(cx) {
                Some(who) => (format!("⚠ {who}"), String::new()),
                None => return self.warning_of_several(cx),
            },
        };
        let sent = self.foreseen.as_ref().filter(|foreseen| !foreseen.refunds).map_or(0, |foreseen| foreseen.sent);
        let (key, does) = match sent {
            // No key answers where nothing is sent.
            0 => (String::new(), String::new()),
            sent => {
                let said = if cx.place.dialect == Dialect::Current { "as invalid" } else { "as it fits" };
                let answers = format!(" answers {} {said}.", counted(sent as u64, "open alert", "open alerts"));
                (cx.key(Action::Invalid), answers)
            }
        };
        let text = format!("{told}A second refund would pay the cardholder twice. ");
        Some(CaseWarning { title, text, key, does, named })
    }

    /// Says that one of several that wait is to be refunded.
    fn warning_of_several(&self, cx: &AppContext) -> Option<CaseWarning> {
        let waits = |alert: &&Alert| Standing::of(alert, cx) == Standing::Waits;
        if cx.place.read_only || self.alerts.iter().filter(waits).count() < 2 {
            return None;
        }
        let (key, does) = if waits(&self.current()) {
            let others = match cx.place.dialect {
                Dialect::Current => "duplicates".to_owned(),
                Dialect::Older => InvalidReason::Duplicate.older_word().to_string(),
            };
            (cx.key(Action::Refund), format!(" reports this one as refunded, the others as {others}."))
        } else {
            ("tab".to_owned(), " goes to the refunded one.".to_owned())
        };
        Some(CaseWarning {
            title: "⚠ Refund one of them only.".to_owned(),
            text: String::new(),
            key,
            does,
            named: None,
        })
    }

    /// Words for a refund behind the name of its alert: `by maria 3 h ago, "reference 88213". `
    fn refund_told(&self, refunded: &Alert, cx: &AppContext) -> String {
        let by = who_answered(refunded.id, &self.audit, cx.journal.history(), cx.journal.place());
        let outcome = refunded.outcome.as_ref();
        let when = outcome.and_then(|outcome| outcome.action_time).map(|at| times::ago(at, cx.now));
        let who_and_when = by.into_iter().chain(when).collect::<Vec<_>>().join(" ");
        let comment = outcome.map_or("", |outcome| &outcome.comments).replace('\n', " / ");
        let comment = Some(cut(comment.trim_end_matches('.'), COMMENT)).filter(|comment| !comment.is_empty());
        let parts =
            [Some(who_and_when).filter(|told| !told.is_empty()), comment.map(|comment| format!("\"{comment}\""))];
        let told = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
        if told.is_empty() { told } else { format!("{told}. ") }
    }

    /// Facts and timeline, beside each other where there is room.
    fn draw_facts(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        let (alert, facts) = (self.current(), self.facts_here());
        let note = |line: Rect, action: Action| self.targets.push(line, Target::Do(action));
        if self.raw {
            let json = (cx.alert_json)(alert, cx.now);
            let lines = wrap_indented(&lines(&indented_json(&json)), area.width.min(WIDEST));
            let parts: Vec<Part> =
                lines.into_iter().map(|line| Part::of(Line::from(Span::styled(line, cx.theme.plain)))).collect();
            put(&[(&parts, area)], &self.scroll, cx, frame.buffer_mut(), area, note);
            return;
        }
        let count = match area.width {
            THREE.. => 3,
            TWO.. => 2,
            _ => 1,
        };
        let areas = Layout::horizontal(vec![Constraint::Fill(1); count]).spacing(GAP).split(area);
        let (fact, last) = (areas[0].width, areas[count - 1].width);
        let alone = self.alerts.len() == 1;
        let of = |facet, width| facets(facet, alert, false, facts, cx, width);
        let decides = |width| of(Facet::Decides { alone }, width);
        let own = |width| of(Facet::Own { alone }, width);
        let payment = |width| of(Facet::Payment, width);
        let told = |width| self.timeline(width, cx);
        let columns: Vec<Vec<Vec<Part>>> = match count {
            3 => vec![vec![decides(fact), own(fact)], vec![payment(fact)], vec![told(last)]],
            2 => vec![vec![decides(fact), payment(fact)], vec![told(last), own(last)]],
            _ => vec![vec![decides(last), told(last), payment(last), own(last)]],
        };
        let columns = columns.into_iter().map(|parts| parts.into_iter().flatten().collect());
        let columns: Vec<Vec<Part>> = columns.collect();
        // The facts of a column begin on the line of the others' first one.
        let first = |parts: &[Part]| usize::from(parts.first().is_some_and(Part::is_blank));
        let columns: Vec<_> = columns.iter().map(|parts| &parts[first(parts)..]).zip(areas.iter().copied()).collect();
        put(&columns, &self.scroll, cx, frame.buffer_mut(), area, note);
    }

    fn timeline(&self, width: u16, cx: &AppContext) -> Vec<Part> {
        let theme = &cx.theme;
        let known = KnownOfCase {
            facts: &self.facts,
            unfinished: &cx.unfinished,
            notes: &cx.notes,
            history: cx.journal.history(),
            place: cx.journal.place(),
            audit: &self.audit,
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

    /// Draws the keys of the footer: the way back, the answers, and what leads to the other alerts and to the rest of
    /// the page.
    pub(super) fn draw_offered(&self, buffer: &mut Buffer, line: Rect, cx: &AppContext) {
        let key = |action, words: &str| KeyHint::new(cx.key(action), words, action);
        let mut offered = vec![key(Action::Back, "back")];
        if !cx.place.read_only {
            let invalid = if cx.place.dialect == Dialect::Current { "invalid" } else { "other word" };
            let (one, all) = if self.alerts.len() > 1 { (" one", "all ") } else { ("", "") };
            let answers = [
                (Action::Refund, format!("refund{one}")),
                (Action::NotRefunded, format!("{all}not refunded")),
                (Action::Invalid, format!("{all}{invalid}")),
            ];
            // What lapsed or asks for no answer can be ticked in the form, which alone is no reason to offer it.
            let waits = self.alerts.iter().any(|alert| Standing::of(alert, cx) == Standing::Waits);
            let is_offered = waits || self.alerts.len() == 1;
            let answers = answers.into_iter().filter(|(action, _)| is_offered && self.takes(*action, cx));
            offered.extend(answers.map(|(action, words)| key(action, &words)));
        }
        offered.extend(self.parked(cx).map(|_| key(Action::Settle, "set result")));
        if self.alerts.len() > 1 {
            offered.push(KeyHint::new("tab", "next alert", Action::NextPane));
        }
        if self.scroll.is_needed() {
            offered.push(key(Action::DetailDown, "scroll"));
        }
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
