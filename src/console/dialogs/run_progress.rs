//! The progress of a run: how far the alerts are that were answered together, what became of each, and what can be done
//! about it.

use crossterm::event::{Event, KeyCode, KeyEvent, MouseEventKind};
use ratatui::{Frame, buffer::Buffer, layout::Rect};

use super::{
    alert_rows::{self, AlertRow, OF_QUEUE},
    answer_form::{self, Choice},
};
use crate::{
    Action, AppContext, ClickTargets, Dialog, KeyContext, Message, Pen, Task, Tasks,
    answer_words::{answered_as, in_words},
    decisions::PendingDecision,
    desk::Fate,
    dialog,
    domain::AlertId,
    idle::{NO_RUN, OTHER_PLACE},
    keymap::Chord,
    resolving::{briefly, fate_of_run},
    runs::{LeftOut, RunItem, RunRow, RunState},
    screens::{activity::result::result_of, on_every_page, why_idle_on_page},
    times,
    ui::{
        areas::{FILL, inset, stacked},
        fit::{self, KeyHint, Segment},
        table::{self, Cursor},
    },
};

/// The keys of every screen work here too, after its own.
const CONTEXTS: [KeyContext; 1] = [KeyContext::Always];

/// What a click can meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Row(usize),
    Do(Deed),
}

/// What can be done here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deed {
    /// Action of a key that every page has.
    Everywhere(Action),
    /// Go to the alert under the cursor.
    GoTo,
    Pause,
    Retry,
    Dismiss,
}

/// The dialog while it is open; it shows the newest run.
#[derive(Debug, Default)]
pub struct RunProgress {
    list: Cursor,
    /// The alert that the cursor was put on; it is on the first row before.
    chosen: Option<AlertId>,
    targets: ClickTargets<Target>,
}

impl RunProgress {
    /// What can be done now, each with its key and words.
    fn offered(run: &RunState<'_>, cx: &AppContext) -> Vec<(Deed, String, &'static str)> {
        let here = run.items.iter().any(|item| item.pending.is_some_and(PendingDecision::is_here));
        let of = |action| (Deed::Everywhere(action), cx.key(action));
        let (back, esc) = of(Action::Back);
        let (undo, u) = of(Action::Undo);
        // The key of an answer that was undone opens its form as it was filled in.
        let undone = run.items.iter().find(|item| item.fate() == Fate::Undone).filter(|_| !here);
        let draft = |item: &RunItem<'_>| {
            cx.answer_drafts.all().iter().rfind(|draft| !draft.case && draft.alerts.contains(&item.alert.id))
        };
        let form = undone.and_then(draft).map(|draft| of(Choice::of_parts(&draft.answer, cx.place.dialect).action()));
        let pause = if cx.ledger.is_paused(run.number) { "go on" } else { "pause" };
        let all = [
            (true, back, esc, "back"),
            (true, Deed::GoTo, "enter".to_owned(), "to the alert"),
            (here, undo, u, "undo"),
            (here, Deed::Pause, "ctrl-p".to_owned(), pause),
            (run.has_ended() && run.failed().next().is_some(), Deed::Retry, "r".to_owned(), "answer failed ones again"),
            (run.has_ended() && !here, Deed::Dismiss, "x".to_owned(), "dismiss"),
        ];
        let offered = all.into_iter().filter(|(is_offered, ..)| *is_offered);
        let offered = offered.map(|(_, deed, key, words)| (deed, key, words));
        offered.chain(form.map(|(deed, key)| (deed, key, "answer"))).collect()
    }

    /// The row of the cursor.
    fn position(&self, run: &RunState<'_>) -> usize {
        self.chosen.and_then(|id| run.rows().iter().position(|row| row.alert().id == id)).unwrap_or(0)
    }

    fn key(&mut self, key: KeyEvent, cx: &mut AppContext) -> Tasks {
        let Some(run) = cx.newest_run() else { return vec![Task::Close] };
        self.list.at = self.position(&run);
        let rows = run.rows();
        if key.modifiers.is_empty() && self.list.key(key.code, rows.len()) {
            self.chosen = rows.get(self.list.at).map(|row| row.alert().id);
            return Vec::new();
        }
        let pressed = Chord::from(key);
        let deed = Self::offered(&run, cx)
            .into_iter()
            .find(|(_, key, _)| key.parse::<Chord>().is_ok_and(|key| key == pressed))
            .map(|(deed, ..)| deed);
        match deed.or_else(|| cx.settings.keymap.action(&CONTEXTS, pressed).map(Deed::Everywhere)) {
            Some(deed) => self.perform(deed, cx),
            None => {
                cx.hint_unknown(key);
                Vec::new()
            }
        }
    }

    fn perform(&mut self, deed: Deed, cx: &mut AppContext) -> Tasks {
        let Some(run) = cx.newest_run() else { return vec![Task::Close] };
        let number = run.number;
        match deed {
            Deed::Everywhere(Action::Back) => return vec![Task::Close],
            Deed::Everywhere(action) if Choice::by(action).is_some() => return vec![Task::Close, Task::Act(action)],
            // What waits is asked about, over this page.
            Deed::Everywhere(Action::Refresh) => return vec![Task::Act(Action::Refresh)],
            Deed::Everywhere(action) => {
                return on_every_page(action).unwrap_or_else(|| {
                    cx.hint_idle(action, Some(OTHER_PLACE));
                    Vec::new()
                });
            }
            Deed::GoTo => {
                // Wherever it is by now: what is answered leaves the list.
                let alert = run.rows().get(self.position(&run)).map(|row| Box::new(row.alert().clone()));
                let goes = alert.map(|alert| [Task::Act(Action::ShowQueue), Message::GoToFound(alert).into()]);
                return std::iter::once(Task::Leave).chain(goes.into_iter().flatten()).collect();
            }
            Deed::Pause if cx.ledger.is_paused(number) => cx.ledger.release_paused(number, cx.now),
            Deed::Pause => cx.ledger.pause(number),
            Deed::Retry => {
                let failed = run.failed().map(|item| (item.alert.clone(), item.resolution.clone())).collect();
                return answer_form::again(failed, cx);
            }
            Deed::Dismiss => {
                cx.runs.dismiss(number);
                return vec![Task::Close];
            }
        }
        Vec::new()
    }

    /// Title of the page: what was answered and how, since when, and how many have their result.
    fn title(run: &RunState<'_>, cx: &AppContext) -> Vec<Segment<()>> {
        let theme = &cx.theme;
        let mut said: Vec<String> = run.items.iter().map(|item| in_words(item.resolution)).collect();
        said.dedup();
        let said = if let [only] = said.as_slice() { only.clone() } else { String::new() };
        let when = match run.ended_at() {
            Some(at) => format!("ended {}", cx.times().row(at, cx.now)),
            None => format!("begun {}", times::ago(run.started, cx.now)),
        };
        let done = run.items.iter().filter(|item| item.has_ended()).count();
        vec![
            Segment::new(0, run.subject, theme.strong),
            Segment::new(3, said, theme.plain).or_none(8),
            Segment::new(3, when, theme.quiet).or_none(9),
            Segment::new(3, format!("{done} of {}", run.items.len()), theme.strong).right(),
        ]
    }
}

/// A row as it is drawn.
fn alert_row<'a>(row: RunRow<'a>, cx: &AppContext) -> AlertRow<'a> {
    let (sign, what, style, quiet) = match row {
        RunRow::Decided(item) => {
            let (tone, words) = result_of(item.record, cx);
            let style = tone.of(&cx.theme);
            let words = match item.fate() == Fate::AlreadyAnswered && item.alert.outcome.is_some() {
                true => format!("already answered: {}", answered_as(item.alert)),
                false => briefly(&words),
            };
            ((tone.sign(), style), words, style, item.is_done())
        }
        // Nothing was done with it, and its time goes on.
        RunRow::LeftOut(LeftOut { alert, why, care }) => {
            let (sign, style) = if *care { ("⚠", cx.theme.warning) } else { ("–", cx.theme.quiet) };
            ((sign, style), why.clone(), style, alert.outcome.is_some())
        }
    };
    AlertRow { sign, alert: row.alert(), what, style, quiet }
}

impl Dialog for RunProgress {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Tasks {
        match message {
            Message::Input(Event::Key(key)) => self.key(*key, cx),
            Message::Input(Event::Mouse(mouse))
                if matches!(mouse.kind, MouseEventKind::ScrollDown | MouseEventKind::ScrollUp) =>
            {
                let code = if mouse.kind == MouseEventKind::ScrollDown { KeyCode::Down } else { KeyCode::Up };
                self.key(code.into(), cx)
            }
            Message::Input(event) => match self.targets.clicked(event) {
                Some(Target::Row(row)) => {
                    self.chosen = cx.newest_run().and_then(|run| run.rows().get(row).map(|row| row.alert().id));
                    Vec::new()
                }
                Some(Target::Do(deed)) => self.perform(deed, cx),
                None => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    fn contexts(&self) -> &'static [KeyContext] {
        &CONTEXTS
    }

    fn why_idle(&self, action: Action, cx: &AppContext) -> Option<&'static str> {
        if action == Action::Refresh { None } else { why_idle_on_page(action, cx) }
    }

    fn act(&mut self, action: Action, cx: &mut AppContext) -> Option<Tasks> {
        Some(self.perform(Deed::Everywhere(action), cx))
    }

    fn takes_questions(&self) -> bool {
        true
    }

    fn tells_fate(&self, cx: &AppContext) -> Option<String> {
        cx.newest_run().map(|run| fate_of_run(run.number))
    }

    fn is_stale(&self, cx: &AppContext) -> bool {
        cx.runs.is_empty()
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.targets.clear();
        alert_rows::open_page(cx, frame.buffer_mut(), area);
        let Some(run) = cx.newest_run() else { return };
        let [_, title, _, said, _, list] = stacked(area, [1, 1, 1, 1, 1, FILL]);
        let [title, said] = [title, said].map(|line| inset(line, 2, 2));
        fit::draw(&Self::title(&run, cx), frame.buffer_mut(), title, |_, ()| {});
        let words = run.words(cx.ledger.is_paused(run.number));
        Pen::new(frame.buffer_mut(), said).put(&words, cx.theme.plain);
        let rows: Vec<AlertRow<'_>> = run.rows().into_iter().map(|row| alert_row(row, cx)).collect();
        let table = alert_rows::table(&rows, OF_QUEUE, "RESULT", table::room(list), cx);
        let note = |area, row| self.targets.push(area, Target::Row(row));
        let at = (self.position(&run), true);
        self.list.draw((&table, &rows), at, &cx.theme, frame.buffer_mut(), list, note);
    }

    fn draw_keys(&self, buffer: &mut Buffer, line: Rect, cx: &AppContext) {
        let Some(run) = cx.newest_run() else { return };
        let keys = Self::offered(&run, cx).into_iter().map(|(deed, key, words)| KeyHint::new(key, words, deed));
        fit::draw(&fit::keys(keys, &cx.theme), buffer, line, |area, deed| self.targets.push(area, Target::Do(deed)));
    }
}

/// Opens it, or says that there is nothing to show.
pub fn open(cx: &mut AppContext) -> Tasks {
    if cx.runs.is_empty() {
        cx.hint_idle(Action::Bulk, Some(NO_RUN));
        return Vec::new();
    }
    dialog::open(RunProgress::default())
}
