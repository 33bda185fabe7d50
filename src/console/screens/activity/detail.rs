//! Draws all that is known of a row of the journal: its steps, what was sent, and its alert as it is now.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::proof::{RowTone, alert_now, live, looked_words, step_words};
use super::rows::{Happening, row_of};
use super::run::DecidedTogether;
use super::state::ActivityScreen;
use super::webhooks::outcome_told;
use super::words::name_of;
use crate::console::decisions::State;
use crate::console::resolving::UNLOOKED;
use crate::console::screens::queue::columns::masked;
use crate::console::text::{columns, count, sanitize, wrap};
use crate::console::widgets::scrollbar;
use crate::console::{Action, AppContext, KeyContext, Loadable};
use crate::desk::{DecisionFate, DecisionRecord, Note};
use crate::domain::{Alert, AlertId, AuditEntry, Timestamp};

/// From so many columns on what was sent stands beside the steps.
const BESIDE: u16 = 96;

/// Columns of the labels, and of a step's time.
const LABEL: u16 = 14;

/// Draws the row under the cursor, scrolled as it was left.
pub fn draw(screen: &ActivityScreen, rows: &[Happening<'_>], cx: &AppContext, buffer: &mut Buffer, area: Rect) {
    let Some(happening) = rows.get(screen.cursor.row(rows)).filter(|_| !area.is_empty()) else { return };
    // A blank column is between a text and its scrollbar, which stands below that of the list.
    let bar = Rect { x: area.right(), width: 1, ..area }.intersection(buffer.area);
    let area = Rect { width: area.width.saturating_sub(1), ..area };
    let beside = area.width >= BESIDE;
    let width = if beside { area.width * 11 / 20 } else { area.width };
    let mut page = Page { cx, width, lines: Vec::new() };
    page.head(happening, area.width);
    let top = page.lines.len();
    page.body(happening, screen);
    let mut right = Page { cx, width: area.width.saturating_sub(width + 3), lines: Vec::new() };
    let other = if beside { &mut right } else { &mut page };
    match happening {
        Happening::Decision(record) | Happening::Part(record) => other.sent(record),
        Happening::Run(together) => other.said_of_all(together),
        _ => {}
    }
    if let Some(alert) = happening.alert() {
        if other.lines.last().is_some_and(|line| line.width() > 0) {
            other.gap();
        }
        other.alert(screen, alert);
    }
    for page in [&mut page, &mut right] {
        let used = page.lines.iter().rposition(|line| line.width() > 0).map_or(0, |last| last + 1);
        page.lines.truncate(used);
    }
    let lines = page.lines.len().max(top + right.lines.len());
    let most = u16::try_from(lines).unwrap_or(u16::MAX).saturating_sub(area.height);
    let at = screen.scrolled.get().0.min(most);
    screen.scrolled.set((at, most));
    put(&page.lines, at, buffer, area);
    if beside {
        let mut blank = vec![Line::default(); top];
        blank.append(&mut right.lines);
        put_beside(
            &blank,
            at,
            buffer,
            Rect { x: area.x + width + 3, width: area.width.saturating_sub(width + 3), ..area },
        );
    }
    scrollbar::draw(&cx.theme, buffer, bar, u64::from(at), lines as u64);
}

fn put(lines: &[Line<'static>], at: u16, buffer: &mut Buffer, area: Rect) {
    for (line, y) in lines.iter().skip(usize::from(at)).zip(area.y..area.bottom()) {
        buffer.set_line(area.x, y, line, area.width);
    }
}

/// The same where lines without a word leave what is there.
fn put_beside(lines: &[Line<'static>], at: u16, buffer: &mut Buffer, area: Rect) {
    for (line, y) in lines.iter().skip(usize::from(at)).zip(area.y..area.bottom()) {
        if line.width() > 0 {
            buffer.set_line(area.x, y, line, area.width);
        }
    }
}

/// The lines of a row.
struct Page<'c> {
    cx: &'c AppContext,
    width: u16,
    lines: Vec<Line<'static>>,
}

impl Page<'_> {
    fn gap(&mut self) {
        self.lines.push(Line::default());
    }

    /// A label and a text beside it, in as many lines as it takes.
    fn fact(&mut self, label: &str, columns: u16, text: &str, style: Style) {
        let quiet = self.cx.theme.quiet;
        for (index, line) in wrap(text, self.width.saturating_sub(columns).max(8)).into_iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            let label = format!("{label:<width$}", width = usize::from(columns));
            self.lines.push(Line::from(vec![Span::styled(label, quiet), Span::styled(line, style)]));
        }
    }

    /// What happened, or is to happen, at a moment.
    fn step(&mut self, at: Timestamp, words: &str, style: Style) {
        let times = self.cx.times();
        let when = format!("{}{}", times.moment(at, self.cx.now), times.which(at));
        self.fact(&when, LABEL.max(columns(&when) + 2), words, style);
    }

    fn title(&mut self, text: &'static str) {
        self.lines.push(Line::styled(text, self.cx.theme.quiet));
    }

    /// What it is, in one line as wide as there is room.
    fn head(&mut self, happening: &Happening<'_>, width: u16) {
        let theme = &self.cx.theme;
        let sentence = match happening {
            Happening::Told(told) => Some(&told.words),
            Happening::Noted(note) => Some(&note.text),
            _ => None,
        };
        if let Some(words) = sentence {
            let lines = words.lines().flat_map(|line| wrap(&sanitize(line), width));
            self.lines.extend(lines.map(|line| Line::styled(line, theme.strong)));
            self.gap();
            return;
        }
        let row = row_of(happening, self.cx);
        let mut spans =
            vec![Span::styled(row.what, theme.strong), Span::raw("   "), Span::styled(row.named, theme.plain)];
        if let Some(record) = happening.record()
            && record.said.alert.order.is_some()
        {
            spans.extend([
                Span::raw("   "),
                Span::styled(sanitize(&record.said.alert.provider_id).into_owned(), theme.quiet),
            ]);
        }
        self.lines.push(Line::from(spans));
        self.gap();
    }

    fn body(&mut self, happening: &Happening<'_>, screen: &ActivityScreen) {
        match happening {
            Happening::Decision(record) | Happening::Part(record) => {
                self.steps(record);
                self.outcome_told(record, screen);
                self.gap();
            }
            Happening::Run(together) => self.run(together),
            Happening::Noted(note) => self.note(note, &row_of(happening, self.cx).named),
            Happening::Attempt(attempt) => {
                let row = row_of(happening, self.cx);
                let theme = self.cx.theme;
                self.fact("sent", LABEL, &self.cx.times().full(attempt.started_at), theme.plain);
                self.fact("by", LABEL, &row.who, theme.plain);
                self.fact("known", LABEL, &sanitize(&attempt.detail), theme.plain);
                self.fact("now", LABEL, &row.proof, row.tone.of(&theme));
            }
            Happening::Audit(entry) => self.audit(entry),
            Happening::Told(told) => {
                let theme = self.cx.theme;
                self.fact("told", LABEL, &self.cx.times().full(told.at), theme.plain);
                if let Some(alert) = &told.alert {
                    self.fact("about", LABEL, &name_of(alert), theme.plain);
                }
            }
        }
    }

    fn note(&mut self, note: &Note, named: &str) {
        let theme = self.cx.theme;
        self.fact("noted", LABEL, &self.cx.times().full(note.at), theme.plain);
        if let Some(user) = &note.user {
            self.fact("by", LABEL, &sanitize(user), theme.plain);
        }
        self.fact("about", LABEL, named, theme.plain);
        self.fact("", LABEL, "It is kept on this machine; the service never sees it.", theme.quiet);
        self.gap();
    }

    fn run(&mut self, together: &DecidedTogether<'_>) {
        let (cx, theme) = (self.cx, self.cx.theme);
        let first = together.decisions.first();
        let by = first
            .and_then(|record| record.user.as_deref())
            .map(|user| format!(" by {}", sanitize(user)))
            .unwrap_or_default();
        self.step(together.made_at(), &format!("staged together{by}"), theme.plain);
        for (words, tone) in together.fates(cx) {
            self.fact("", LABEL, &words, tone.of(&theme));
        }
        self.gap();
    }

    /// What was said of all decisions of a run.
    fn said_of_all(&mut self, together: &DecidedTogether<'_>) {
        let theme = self.cx.theme;
        self.title("DECIDED TOGETHER");
        for (word, number) in together.decided() {
            self.fact(&count(number), LABEL, &word, theme.plain);
        }
        let sums: Vec<String> = together.sums().iter().map(|sum| sanitize(&sum.to_string()).into_owned()).collect();
        if !sums.is_empty() {
            self.fact("money", LABEL, &sums.join("  "), theme.plain);
        }
        let mut comments = together.decisions.iter().map(|record| &record.said.comments);
        let first = comments.next().filter(|first| !first.is_empty());
        if let Some(comment) = first.filter(|first| comments.all(|other| other == *first)) {
            self.fact("comments", LABEL, &sanitize(comment), theme.plain);
        }
        self.gap();
    }

    /// Whether the merchant's systems were told of the outcome, where the decision is recorded and the service says so.
    fn outcome_told(&mut self, record: &DecisionRecord, screen: &ActivityScreen) {
        let (cx, theme) = (self.cx, self.cx.theme);
        let is_recorded = matches!(record.fate(), DecisionFate::Recorded(_) | DecisionFate::AsDecided(_));
        if let Some((at, words, tone)) =
            outcome_told(screen.deliveries_of(record.said.alert.id), cx.times(), cx.now).filter(|_| is_recorded)
        {
            match at {
                Some(at) => self.step(at, &words, tone.of(&theme)),
                None => self.fact("", LABEL, &words, tone.of(&theme)),
            }
        }
    }

    fn audit(&mut self, entry: &AuditEntry) {
        let theme = self.cx.theme;
        let from = if entry.origin.is_empty() { String::new() } else { format!(", from {}", sanitize(&entry.origin)) };
        self.fact("when", LABEL, &self.cx.times().full(entry.at), theme.plain);
        self.fact("by", LABEL, &format!("{}{from}", sanitize(&entry.actor)), theme.plain);
        if !entry.person.is_empty() {
            self.fact("says to be", LABEL, &sanitize(&entry.person), theme.plain);
        }
        self.fact("what", LABEL, &sanitize(&entry.action), theme.plain);
        self.fact("to", LABEL, &sanitize(&entry.subject), theme.plain);
        self.fact("more", LABEL, &sanitize(&entry.detail), theme.plain);
        self.fact("entry", LABEL, &entry.number.to_string(), theme.quiet);
    }

    fn steps(&mut self, record: &DecisionRecord) {
        let theme = self.cx.theme;
        for (index, (at, fate)) in record.happened().enumerate() {
            let (mut words, tone) = step_words(fate);
            if index == 0 {
                let user = record.user.as_deref().map(sanitize);
                words.push_str(&match (&record.rule, user) {
                    (Some(rule), Some(user)) => format!(" by desk rule {}, at the console of {user}", sanitize(rule)),
                    (Some(rule), None) => format!(" by desk rule {}", sanitize(rule)),
                    (None, Some(user)) => format!(" by {user}"),
                    (None, None) => String::new(),
                });
            }
            self.step(*at, &words, tone.of(&theme));
        }
        if let Some(why) = &record.unlooked {
            self.fact("", LABEL, &format!("{UNLOOKED}: {}", sanitize(why)), theme.warning);
        }
        let pending = live(record, self.cx);
        match pending.map(|decision| (decision, &decision.state)) {
            Some((_, State::Checking(_))) if self.cx.unfinished.parked_on(record.said.alert.id).is_some() => {
                let key = self.cx.key(Action::Settle);
                self.fact(
                    "",
                    LABEL,
                    &format!("waits for a person's word: {key} says what became of it"),
                    theme.warning,
                );
            }
            Some((decision, State::Checking(polling))) => {
                let outcome = if polling.polls == 0 { "" } else { ": no outcome yet" };
                self.fact("", LABEL, &format!("{}{outcome}", looked_words(decision, polling.polls)), theme.quiet);
                if let Some(at) = polling.next_wake() {
                    self.step(at, "next look; it is never sent twice by itself", theme.accent);
                }
                if !self.cx.place.read_only {
                    let goes = self.cx.settings.keymap.key_in(KeyContext::Activity, Action::GoToAlert);
                    self.fact("", LABEL, &format!("{goes} goes to its alert for a new answer"), theme.quiet);
                }
            }
            Some((_, State::Staged(due))) => self.step(*due, "it leaves", theme.accent),
            _ => {}
        }
        if record.dismissed {
            self.fact("", LABEL, "seen to: it calls for nobody any more", theme.quiet);
        }
    }

    /// What went out, or would have.
    fn sent(&mut self, record: &DecisionRecord) {
        let (theme, said) = (self.cx.theme, &record.said);
        self.title(if record.sent_at().is_some() { "SENT" } else { "NOT SENT" });
        self.fact("refunded", LABEL, &sanitize(&said.refunded), theme.plain);
        for (label, value) in [("resolution", &said.resolution), ("amountStopped", &said.amount_stopped)] {
            if let Some(value) = value {
                self.fact(label, LABEL, &sanitize(value), theme.plain);
            }
        }
        if !said.comments.is_empty() {
            self.fact("comments", LABEL, &sanitize(&said.comments), theme.plain);
        }
        self.gap();
        self.title("IDEMPOTENCY-KEY");
        self.fact("", 0, &sanitize(&record.key), theme.quiet);
        self.gap();
    }

    /// What one knows an alert by.
    fn facts_of(&mut self, alert: &Alert) {
        let theme = self.cx.theme;
        let kind = format!("{} {}", alert.provider, alert.alert_type.words());
        let money = alert.money().map_or_else(|| "–".to_owned(), |money| money.to_string());
        let order = alert.merchant_order_id.as_deref().unwrap_or("–");
        let told = |at| self.cx.times().full_within(at, self.width.saturating_sub(LABEL));
        // When it closes is of account as long as it waits, and after that when it was answered.
        let closes = alert.deadline.moment().filter(|_| alert.outcome.is_none()).map(told).unwrap_or_default();
        let answered = alert.outcome.as_ref().and_then(|outcome| outcome.action_time).map(told).unwrap_or_default();
        let facts = [
            ("closes", closes.as_str()),
            ("answered", &answered),
            ("network", &kind),
            ("amount", &money),
            ("card", &masked(alert)),
            ("descriptor", &alert.merchant_descriptor),
            ("order", order),
        ];
        for (label, text) in facts.into_iter().filter(|(_, text)| !text.is_empty()) {
            self.fact(label, LABEL, &sanitize(text), theme.plain);
        }
    }

    /// The alert as it is now.
    fn alert(&mut self, screen: &ActivityScreen, id: AlertId) {
        let (theme, now) = (self.cx.theme, self.cx.now);
        self.title("THE ALERT NOW");
        match screen.alert_now(id) {
            Some((at, Loadable::Loaded(alert))) => {
                let (stands, read) =
                    (alert_now(alert, now), format!("read at {}", self.cx.times().moment_with_clock(at, now)));
                let in_one = columns(&stands) + 3 + columns(&read) <= self.width;
                let read = Span::styled(read, theme.quiet);
                if in_one {
                    self.lines.push(Line::from(vec![Span::styled(stands, theme.strong), Span::raw("   "), read]));
                } else {
                    self.lines
                        .extend(wrap(&stands, self.width).into_iter().map(|line| Line::styled(line, theme.strong)));
                    self.lines.push(read.into());
                }
                self.facts_of(alert);
            }
            Some((_, Loadable::Failed(error))) => {
                let words = format!("It cannot be read: {}", sanitize(&error.to_string()));
                self.lines.extend(
                    wrap(&words, self.width).into_iter().map(|line| Line::styled(line, RowTone::Unsure.of(&theme))),
                );
            }
            Some((_, Loadable::Loading | Loadable::NotAsked)) | None => {
                self.lines.push(Line::styled("Reading…", theme.quiet));
            }
        }
    }
}
