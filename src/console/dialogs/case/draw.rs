//! Draws the case: what it is about, its alerts, what speaks against a plain answer, and below that facts and timeline
//! in columns.

use ratatui::{
    Frame,
    buffer::Buffer,
    layout::{Constraint, Layout, Margin, Rect},
    style::Modifier,
    text::{Line, Span, Text},
    widgets::Widget,
};

use super::{
    CaseDialog, Target,
    timeline::{KnownOfCase, timeline},
};
use crate::{
    Action, AppContext, Loadable,
    answer_words::{answer_words, by_with_comment, in_words, is_answered_refunded, who_answered},
    dialogs::{
        alert_rows::{self, AlertRow, OF_ONE_PAYMENT},
        answer_form::waits,
    },
    domain::{Alert, Resolution, Timestamp, duplicate},
    screens::activity::result::{progress_of, standing_of},
    screens::queue::{
        columns::{amount, masked},
        detail::{Facet, Part, facets, put},
        facts::Facts,
    },
    text::{counted, hanging, sanitize, wrap_spans},
    times,
    ui::{
        areas::{BESIDE, FILL, ROOMY, stacked},
        fit::{self, KeyHint, Segment},
        table,
    },
};

/// Columns between columns of facts, so that three have room for an id each; and of the moments in the timeline.
const GAP: u16 = 3;
const MOMENT: u16 = 14;

/// From so many rows on a blank line is below the alerts.
const TALL: u16 = 24;

/// What is decided, in one word; its reason stands below, with the alert.
fn brief_word(resolution: &Resolution) -> String {
    let said = in_words(resolution);
    said.split([',', '(']).next().unwrap_or_default().trim_end().to_owned()
}

/// The answer of a case's alert with its time, or the alert's status and until when it is put aside.
fn state(alert: &Alert, cx: &AppContext) -> String {
    match &alert.outcome {
        Some(outcome) => {
            let when = outcome.action_time.map_or_else(String::new, |at| format!(" {}", times::ago(at, cx.now)));
            format!("{}{when}", answer_words(alert, outcome))
        }
        None => {
            let snoozed = cx.snoozes.until(alert.id).map(|at| format!(", snoozed until {}", cx.times().at(at, cx.now)));
            format!("{}{}", sanitize(alert.status.words()), snoozed.unwrap_or_default())
        }
    }
}

/// Describes what an alert shares with the other one of the case that it shares most with: `matched by card, amount,
/// day`. Empty where it is alone.
fn matched_by(alert: &Alert, alerts: &[Alert]) -> String {
    let others = alerts.iter().filter(|other| other.id != alert.id);
    let facts = others.map(|other| duplicate::shared_facts(alert, other)).max_by_key(Vec::len).unwrap_or_default();
    if facts.is_empty() { String::new() } else { format!("matched by {}", facts.join(", ")) }
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
        let lines = self.warning(area.inner(inside).width, cx);
        let [shown, warned] = [self.alerts.len().min(usize::from(area.height / 3).max(2)) + 1, lines.len()]
            .map(|lines| u16::try_from(lines).unwrap_or(u16::MAX));
        let blank = u16::from(area.height >= TALL);
        let [title, matched, _, list, _, warned, _, facts] = stacked(area, [1, 1, 1, shown, blank, warned, 1, FILL]);
        let [title, matched, warned, facts] = [title, matched, warned, facts].map(|part| part.inner(inside));
        fit::draw(&self.title(cx), frame.buffer_mut(), title, |_, ()| {});
        fit::draw(&self.matched_by(cx), frame.buffer_mut(), matched, |_, ()| {});
        self.draw_alerts(frame, list, cx);
        Text::from(lines).render(warned, frame.buffer_mut());
        facts
    }

    /// The payment, and how its alerts stand.
    fn title(&self, cx: &AppContext) -> Vec<Segment<()>> {
        let (theme, alert) = (&cx.theme, self.current());
        let alerts = format!("{} on one payment", counted(self.alerts.len() as u64, "alert", "alerts"));
        let open = self.alerts.iter().filter(|alert| waits(alert, cx)).count();
        vec![
            Segment::new(0, sanitize(&alert.merchant_descriptor), theme.strong),
            Segment::new(3, amount(alert), theme.strong),
            Segment::new(1, sanitize(alert.currency.as_str()), theme.quiet),
            Segment::new(3, masked(alert), theme.plain).or_none(9),
            Segment::new(3, alerts, theme.plain).or_none(8),
            Segment::new(3, format!("{open} open"), theme.warning).or_none(7),
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
        let mut segments = vec![
            Segment::new(0, doubt, style),
            Segment::new(0, matched_by(self.current(), &self.alerts), theme.quiet).cut_to(9, 0),
        ];
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
        let rows: Vec<AlertRow<'_>> = self
            .alerts
            .iter()
            .map(|alert| {
                let over = alert.outcome.is_some();
                let pending = cx.ledger.of(alert.id).map(|pending| (&pending.resolution, progress_of(pending, cx)));
                let at_engine =
                    || cx.unfinished.of(alert.id).map(|attempt| (&attempt.resolution, standing_of(attempt, cx)));
                let (sign, what, style) = match pending.or_else(at_engine).filter(|_| !over) {
                    Some((said, (tone, words))) => {
                        let style = tone.of(theme);
                        ((tone.sign(), style), format!("{}: {words}", brief_word(said)), style)
                    }
                    // What is recorded looks alike, whatever was answered; that money went back is seen by its colour.
                    None if is_answered_refunded(alert) => (("", theme.ok), state(alert, cx), theme.ok),
                    None if over || alert.is_closed(cx.now) => (("", theme.quiet), state(alert, cx), theme.quiet),
                    None => (("", theme.plain), state(alert, cx), theme.plain),
                };
                AlertRow { sign, alert, what, style, quiet: over }
            })
            .collect();
        let table = alert_rows::table(&rows, OF_ONE_PAYMENT, "STATE", table::room(list), cx);
        let note = |area, row| self.targets.push(area, Target::Row(row));
        self.list.draw((&table, &rows), (self.position(), true), theme, frame.buffer_mut(), list, note);
    }

    /// Says that money has gone back already, or that one alone is to be refunded, in lines of this width.
    fn warning(&self, width: u16, cx: &AppContext) -> Vec<Line<'static>> {
        let (theme, refunded) = (&cx.theme, self.refund_words(cx));
        let open = self.alerts.iter().filter(|alert| waits(alert, cx)).count();
        let is_one_of_several = open > 1 && !cx.place.read_only;
        let (title, text) = match &refunded {
            _ if self.alerts.iter().all(|alert| alert.outcome.is_some()) => return Vec::new(),
            Some(refunded) => (refunded.as_str(), "A second refund would pay the cardholder twice. "),
            None if is_one_of_several => ("Refund one of them only.", ""),
            None => return Vec::new(),
        };
        // No key answers where nothing is sent.
        let (key, does) = match refunded.is_some() {
            _ if open == 0 || cx.place.read_only => (String::new(), String::new()),
            true => {
                let answers = format!(" answers {}.", counted(open as u64, "open alert", "open alerts"));
                (cx.key(Action::Invalid), answers)
            }
            false => {
                let reports = " reports this one as refunded, the others as duplicates.".to_owned();
                (cx.key(Action::Refund), reports)
            }
        };
        let parts = [
            (format!("⚠ {title} "), theme.warning.add_modifier(Modifier::BOLD)),
            (text.to_owned(), theme.plain),
            (key, theme.key),
            (does, theme.plain),
        ];
        wrap_spans(&parts.map(|(text, style)| Span::styled(sanitize(&text).into_owned(), style)), width)
    }

    /// Words on a refund of the payment, recorded or under way.
    fn refund_words(&self, cx: &AppContext) -> Option<String> {
        let known = cx.known_decisions();
        // The refund itself goes before an answer that says that there was one.
        let refunded = self.alerts.iter().map(|alert| known.answered(alert)).filter(|alert| alert.was_refunded());
        let refunded = refunded.min_by_key(|alert| alert.says_refunded_before());
        let coming = self.alerts.iter().map(|alert| known.foreseen(alert)).find(|alert| alert.was_refunded());
        let Some(other) = refunded.as_ref().or(coming.as_ref()) else { return self.refunded_elsewhere(cx) };
        let name = format!("{} {}", other.provider, other.provider_id);
        Some(match &refunded {
            // Money does not go back by that answer: it went back before.
            _ if other.says_refunded_before() => format!("Answered as refunded before: {name}."),
            Some(other) => {
                let by = who_answered(other.id, &self.audit, cx.ledger.history(), &cx.place.name);
                format!("Already refunded: {name}{}.", by_with_comment(other, by.as_deref()))
            }
            None if known.may_have_arrived(other.id) => format!("A refund is unconfirmed: {name}."),
            None => format!("A refund is under way: {name}."),
        })
    }

    /// Facts and timeline, beside each other where there is room.
    fn draw_facts(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        let (alert, facts) = (self.current(), self.facts_here());
        let note = |line: Rect, action: Action| self.targets.push(line, Target::Do(action));
        let count = match frame.area().width {
            ROOMY.. => 3,
            BESIDE.. => 2,
            _ => 1,
        };
        let areas = Layout::horizontal(vec![Constraint::Fill(1); count]).spacing(GAP).split(area);
        let width = areas.iter().map(|area| area.width).min().unwrap_or(0);
        let alone = self.alerts.len() == 1;
        let of = |facet| facets(facet, alert, false, facts, cx, width);
        let [decides, own, payment] = [Facet::Decides { alone }, Facet::Own { alone }, Facet::Payment].map(of);
        let told = self.timeline(width, cx);
        let columns = match count {
            3 => vec![vec![decides, own], vec![payment], vec![told]],
            2 => vec![vec![decides, payment], vec![told, own]],
            _ => vec![vec![decides, told, payment, own]],
        };
        let columns: Vec<Vec<Part>> = columns.into_iter().map(|parts| parts.into_iter().flatten().collect()).collect();
        // The facts of a column begin on the line of the others' first one.
        let first = |parts: &[Part]| usize::from(parts.first().is_some_and(Part::is_blank));
        let columns: Vec<_> = columns.iter().map(|parts| &parts[first(parts)..]).zip(areas.iter().copied()).collect();
        put(&columns, &self.scroll, cx, frame.buffer_mut(), area, note);
    }

    fn timeline(&self, width: u16, cx: &AppContext) -> Vec<Part> {
        let theme = &cx.theme;
        let known = KnownOfCase {
            unfinished: &cx.unfinished,
            history: cx.ledger.history(),
            place: &cx.place.name,
            audit: &self.audit,
        };
        let events = timeline(&self.alerts, &known);
        let mut parts =
            vec![Part::of(Line::default()), Part::of(Line::from(Span::styled("WHAT HAPPENED", theme.quiet)))];
        for event in events {
            let at = cx.times().row(event.at, cx.now);
            let moment = Span::styled(format!("{at:<moment$}", moment = usize::from(MOMENT)), theme.quiet);
            parts
                .extend(hanging(moment, &sanitize(&event.what), event.tone.of(theme), width).into_iter().map(Part::of));
        }
        parts
    }

    /// Draws the keys of the footer: the way back, the answers, and what leads to the other alerts and to the rest of
    /// the page.
    pub(super) fn draw_offered(&self, buffer: &mut Buffer, line: Rect, cx: &AppContext) {
        let key = |action, words: &str| KeyHint::new(cx.key(action), words, action);
        let mut offered = vec![key(Action::Back, "back")];
        if !cx.place.read_only {
            let (one, all) = if self.alerts.len() > 1 { ("one ", "all ") } else { ("", "") };
            let answers = [
                (Action::Refund, format!("{one}refunded")),
                (Action::NotRefunded, format!("{all}not refunded")),
                (Action::Invalid, format!("{all}invalid")),
            ];
            // What lapsed or asks for no answer can be ticked in the form, which alone is no reason to offer it.
            let is_offered = self.alerts.len() == 1 || self.alerts.iter().any(|alert| waits(alert, cx));
            let answers = answers.into_iter().filter(|(action, _)| is_offered && self.takes(*action, cx));
            offered.extend(answers.map(|(action, words)| key(action, &words)));
        }
        let staged = cx.ledger.staged();
        offered.extend(staged.first().map(|_| key(Action::Undo, "undo")));
        offered.extend(self.parked(cx).map(|_| key(Action::Settle, "set result")));
        if self.alerts.len() > 1 {
            offered.push(KeyHint::new("tab", "next alert", Action::NextPane));
        }
        if self.scroll.is_needed() {
            offered.push(key(Action::DetailDown, "scroll"));
        }
        offered.push(key(Action::Note, "note"));
        if self.current().outcome.is_none() {
            offered.push(key(Action::Snooze, "snooze"));
        }
        offered.push(key(Action::CopyId, "copy"));
        // The help stays, however narrow it gets: from there every key is found.
        offered.push(KeyHint { stays: true, ..key(Action::Help, "help") });
        let note = |area, action| self.targets.push(area, Target::Do(action));
        fit::draw(&fit::keys(offered, &cx.theme), buffer, line, note);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::AlertId;

    fn alert(arn: &str, auth_code: Option<&str>) -> Alert {
        Alert {
            id: AlertId::generate(),
            card_bin: "411111".to_owned(),
            card_last_four: "1234".to_owned(),
            amount: "9.90".parse().ok(),
            acquirer_reference_number: Some(arn.to_owned()),
            auth_code: auth_code.map(str::to_owned),
            transaction_time: None,
            ..Alert::sample()
        }
    }

    #[test]
    fn an_alert_is_matched_by_what_it_shares_with_the_closest_other_one() {
        let arn = "74320456118200319940007";
        let alerts = [alert(arn, None), alert("", Some("093112")), alert(arn, Some("093112"))];

        let told = [&alerts[0], &alerts[1]].map(|alert| matched_by(alert, &alerts));

        assert_eq!(told, ["matched by card, amount, ARN", "matched by card, amount, auth code"]);
        assert_eq!(matched_by(&alerts[0], &alerts[..1]), "");
    }
}
