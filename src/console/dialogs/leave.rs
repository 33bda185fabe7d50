//! The dialog that asks before leaving while decisions have not left yet.

use crossterm::event::{Event, KeyCode, KeyEvent};
use ratatui::Frame;
use ratatui::layout::Rect;

use super::menu::NO_FIELD;
use crate::console::text::{columns, counted, cut};
use crate::console::widgets::menu::centered;
use crate::console::{AppContext, ClickTargets, Dialog, Effect, Message, Order, Orders, Pen, Tone};

/// What to do with decisions that have not left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// Send them now, then leave.
    Send,
    /// Take them back and leave.
    TakeBack,
    /// Do not leave.
    Stay,
}

impl Choice {
    const ALL: [(Self, char, &'static str); 3] =
        [(Self::Send, 's', "send now and leave"), (Self::TakeBack, 't', "take back and leave"), (Self::Stay, 'x', "stay")];

    /// What a key means here. Enter is the safe choice: nothing final is ever one stray Enter.
    fn of(key: KeyEvent) -> Option<Self> {
        match key.code {
            KeyCode::Enter | KeyCode::Esc => Some(Self::Stay),
            KeyCode::Char(typed) => {
                Self::ALL.iter().find(|(_, letter, _)| *letter == typed.to_ascii_lowercase()).map(|(choice, ..)| *choice)
            }
            _ => None,
        }
    }
}

/// The dialog while it is open.
#[derive(Debug)]
pub struct Leave {
    targets: ClickTargets<Choice>,
}

impl Leave {
    /// Asks. Until it is answered no decision leaves.
    pub fn ask(cx: &mut AppContext) -> Self {
        cx.decisions.hold(true, cx.now);
        Self { targets: ClickTargets::default() }
    }
}

impl Dialog for Leave {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        let choice = match message {
            Message::Input(Event::Key(key)) => Choice::of(*key),
            Message::Input(event @ Event::Mouse(_)) => self.targets.clicked(event),
            Message::Input(Event::Paste(_)) => {
                cx.notify(Tone::Note, NO_FIELD);
                None
            }
            _ => None,
        };
        let Some(choice) = choice else { return Vec::new() };
        cx.decisions.hold(false, cx.now);
        match choice {
            Choice::Send => cx.decisions.send_now(cx.now),
            Choice::TakeBack => drop(cx.decisions.take_back_all()),
            Choice::Stay => {}
        }
        cx.leaving = choice != Choice::Stay;
        vec![Order::Close]
    }

    fn abandon(&mut self, cx: &mut AppContext) -> Vec<Effect> {
        cx.decisions.hold(false, cx.now);
        Vec::new()
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.targets.clear();
        let theme = &cx.theme;
        let staged = cx.decisions.staged();
        let shown = staged.len().min(4);
        let height = u16::try_from(shown).unwrap_or(0) + 10;
        let panel = centered(area, 56.min(area.width.saturating_sub(4)), height);
        let inside = theme.open_panel(frame.buffer_mut(), panel);
        let mut y = inside.y;
        let mut line = |text: &str, style, frame: &mut Frame<'_>| {
            let row = Rect { y, height: 1, ..inside };
            y += 1;
            if row.y < inside.bottom() { Pen::new(frame.buffer_mut(), row).put(text, style) } else { Rect::default() }
        };
        let verb = if staged.len() == 1 { "has" } else { "have" };
        let many = counted(staged.len() as u64, "decision", "decisions");
        line(&format!("{many} {verb} not left yet"), theme.strong, frame);
        line("", theme.plain, frame);
        for (decision, _) in staged.iter().take(shown) {
            let text = format!("{}  {} {}", decision.word(), decision.alert.provider, decision.subject());
            line(&cut(&text, inside.width), theme.plain, frame);
        }
        if staged.len() > shown {
            line(&format!("and {} more", staged.len() - shown), theme.quiet, frame);
        }
        line("", theme.plain, frame);
        for (choice, letter, words) in Choice::ALL {
            let key = if choice == Choice::Stay { "enter".to_owned() } else { letter.to_string() };
            let text = format!(" {key} ");
            let area = line(&text, if choice == Choice::Stay { theme.primary } else { theme.button }, frame);
            if area.width > 0 {
                let rest = Rect { x: area.right() + 1, width: inside.right().saturating_sub(area.right() + 1), ..area };
                Pen::new(frame.buffer_mut(), rest).put(words, theme.plain);
                self.targets.push(Rect { width: columns(&text) + 1 + columns(words), ..area }, choice);
            }
        }
    }
}
