//! The loop: wait for a key, a message or the next moment something changes; update; run the effects; draw when nothing
//! waits.

use std::{future::poll_fn, io, task::Poll, time::Duration};

use crossterm::{Command as _, clipboard::CopyToClipboard, event::Event};
use ratatui::{Terminal, backend::Backend, layout::Rect};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::mpsc::{self, Receiver, UnboundedReceiver},
    time::Instant,
};

use super::{
    Effect, Message, Theme,
    app::{App, DeskState},
    compact_backend::CompactBackend,
    runner::Runner,
    session::{ConsoleError, NextConsole, Session},
    terminal::{FrameWriter, KeyReader, TerminalGuard, can_stop, title_sequence},
};
use crate::desk::{Desk, DeskAddress};

/// Thirty frames a second.
const FRAME: Duration = Duration::from_millis(33);

/// Measures a frame that changes nothing on the screen: its drawing alone.
const UNSEEN: Duration = Duration::from_millis(4);

/// A frame that is so late is drawn though more is waiting.
const OVERDUE: Duration = Duration::from_millis(100);

/// Heartbeat: interval of the look whether the terminal is still there, and whether somebody else has changed files.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// Frame pacing: a token bucket of four frames that is refilled thirty times a second. A key and the answers to it come
/// to the screen without waiting for each other or for those of the key before, and never more than the terminal can
/// take.
#[derive(Debug)]
struct FramePacer {
    next: Instant,
}

impl FramePacer {
    fn drawn(&mut self, now: Instant, cost: Duration) {
        self.next = self.next.max(now.checked_sub(FRAME * 3).unwrap_or(now)) + cost;
    }
}

/// The surface that the event loop draws on. The real one, or one that a test looks at.
pub trait Surface {
    /// Draws a frame; whether anything of the screen changed.
    ///
    /// # Errors
    /// When the terminal cannot be written to.
    fn draw(&mut self, app: &mut App) -> io::Result<bool>;

    /// Does an effect on the terminal.
    ///
    /// # Errors
    /// When the terminal cannot be written to.
    fn perform(&mut self, effect: Effect) -> io::Result<()>;

    /// Asks whether the terminal is still there.
    ///
    /// # Errors
    /// When it is not.
    fn heartbeat(&mut self) -> io::Result<()>;
}

/// Goes round until the user leaves. Keys come before messages, and both before drawing.
///
/// # Errors
/// When nothing can be read from the terminal, or written to it.
pub async fn drive(
    app: &mut App,
    stage: &mut impl Surface,
    keys: &mut Receiver<io::Result<Event>>,
    messages: &mut UnboundedReceiver<Message>,
    runner: &mut Runner,
    first: Vec<Effect>,
) -> io::Result<()> {
    let mut effects = first;
    let mut pacer = FramePacer { next: Instant::now() };
    let mut heartbeat = tokio::time::interval(HEARTBEAT);
    heartbeat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut dirty_since: Option<Instant> = None;
    loop {
        for effect in effects.drain(..) {
            match runner.run(effect) {
                None => {}
                Some(Effect::Quit) => return Ok(()),
                Some(effect) => stage.perform(effect)?,
            }
        }
        if app.take_dirty() {
            dirty_since.get_or_insert_with(Instant::now);
        }
        // When messages never stop coming, what they say is seen all the same.
        let overdue = dirty_since.is_some_and(|since| since.elapsed() >= OVERDUE);
        let wake = (app.next_wake() - app.clock.now()).to_std().unwrap_or_default();
        let message = tokio::select! {
            biased;
            key = keys.recv(), if !overdue => Message::Input(key.ok_or(io::ErrorKind::UnexpectedEof)??),
            Some(message) = messages.recv(), if !overdue => message,
            () = tokio::time::sleep_until(pacer.next), if dirty_since.is_some() => {
                let changed = stage.draw(app)?;
                pacer.drawn(Instant::now(), if changed { FRAME } else { UNSEEN });
                dirty_since = None;
                continue;
            }
            () = tokio::time::sleep(wake) => Message::Tick,
            _ = heartbeat.tick() => {
                runner.read_what_changed();
                stage.heartbeat()?;
                continue;
            }
        };
        effects = app.update(message);
    }
}

/// The real terminal.
struct Screen {
    terminal: Terminal<CompactBackend<FrameWriter<io::Stdout>>>,
    writer: FrameWriter<io::Stdout>,
    guard: TerminalGuard,
    /// The title; none where it is left alone.
    title: Option<String>,
}

impl Screen {
    fn redraw(&mut self) -> io::Result<()> {
        self.guard.regain(self.title.as_deref())?;
        // Not `Terminal::clear`, which asks for the cursor's place and waits for an answer.
        self.terminal.backend_mut().forget();
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::new(0, 0, size.width, size.height))
    }
}

impl Surface for Screen {
    fn draw(&mut self, app: &mut App) -> io::Result<bool> {
        self.terminal.draw(|frame| app.draw(frame))?;
        self.writer.present().map(|sent| sent > 0)
    }

    fn perform(&mut self, effect: Effect) -> io::Result<()> {
        match effect {
            Effect::Suspend => {
                self.guard.suspend()?;
                self.redraw()
            }
            Effect::Title(title) => self.writer.send(title_sequence(self.title.insert(title)).as_bytes()),
            Effect::Mouse(on) => {
                self.guard.mouse = on;
                self.guard.apply_mouse()
            }
            Effect::Remind(reminder) => self.writer.send(reminder.sequence().as_bytes()),
            Effect::Copy(text) => {
                let mut sequence = String::new();
                let written = CopyToClipboard::to_clipboard_from(text.reveal()).write_ansi(&mut sequence);
                written.map_err(io::Error::other)?;
                self.writer.send(sequence.as_bytes())
            }
            Effect::Redraw => self.redraw(),
            _ => Ok(()),
        }
    }

    fn heartbeat(&mut self) -> io::Result<()> {
        self.writer.heartbeat()
    }
}

/// Takes the terminal and goes round.
pub(super) async fn run(
    mut session: Session,
    theme: Theme,
    (desk, address): (Option<Desk>, Option<DeskAddress>),
    kept: DeskState,
) -> Result<Option<NextConsole>, ConsoleError> {
    let gone = |error| ConsoleError::TerminalGone { error, lost: String::new() };
    let mut signals = Signals::listen().map_err(gone)?;
    let guard = TerminalGuard::enter(session.settings.mouse).map_err(gone)?;
    let (crashed, writer) = (guard.crashed.clone(), FrameWriter::new(io::stdout()));
    let terminal = Terminal::new(CompactBackend::new(writer.clone())).map_err(gone)?;
    let size = terminal.backend().size().map_err(gone)?;
    let (_reader, mut keys) = KeyReader::read().map_err(gone)?;
    let (sender, mut messages) = mpsc::unbounded_channel();
    session.place.read_only = session.deployment.is_read_only();
    session.place.unstoppable = !can_stop();
    let (deployment, records) = (session.deployment.clone(), session.alert_records.clone());
    let mut runner = Runner::new(deployment, desk, records, sender.clone());
    (runner.keeper, runner.rules) = (session.keeper.take(), session.rules.take());
    (runner.profiles, runner.address) = (session.profiles.take(), address);
    let (mut app, first) = App::new(session, theme, kept, (size.width, size.height));
    let mut screen = Screen { terminal, writer, guard, title: None };

    // A stop from outside is what ctrl-z is from inside.
    let result = tokio::select! {
        biased;
        () = crashed.notified() => Err(ConsoleError::Crashed),
        name = signals.wait(|message| { let _ = sender.send(message); }) => Err(ConsoleError::Terminated {
            signal: name, lost: String::new() }),
        end = drive(&mut app, &mut screen, &mut keys, &mut messages, &mut runner, first) => match end {
            Ok(()) => Ok(app.next_console().cloned()),
            Err(error) => Err(gone(error)),
        },
    };
    drop(screen);
    for effect in app.end() {
        runner.run(effect);
    }
    runner.finish().await;
    let lost = app.lost_words(std::iter::from_fn(|| messages.try_recv().ok()));
    result.map_err(|error| match error {
        ConsoleError::TerminalGone { error, .. } => ConsoleError::TerminalGone { error, lost },
        ConsoleError::Terminated { signal, .. } => ConsoleError::Terminated { signal, lost },
        other => other,
    })
}

/// The signals that end the console, the one that stops it, and the one that continues it.
struct Signals {
    ends: [(Signal, &'static str); 6],
    stop: Signal,
    go_on: Signal,
}

impl Signals {
    fn listen() -> io::Result<Self> {
        let stop = signal(SignalKind::from_raw(signal_hook::consts::SIGTSTP))?;
        let go_on = signal(SignalKind::from_raw(signal_hook::consts::SIGCONT))?;
        let ends = [
            (signal(SignalKind::terminate())?, "SIGTERM"),
            (signal(SignalKind::hangup())?, "SIGHUP"),
            (signal(SignalKind::interrupt())?, "SIGINT"),
            (signal(SignalKind::quit())?, "SIGQUIT"),
            (signal(SignalKind::user_defined1())?, "SIGUSR1"),
            (signal(SignalKind::user_defined2())?, "SIGUSR2"),
        ];
        Ok(Self { ends, stop, go_on })
    }

    /// Waits for a signal that ends the console; its name.
    async fn wait(&mut self, tell: impl Fn(Message)) -> &'static str {
        loop {
            tokio::select! {
                name = poll_fn(|cx| {
                    let came = self.ends.iter_mut().find_map(|(signal,
                        name)| signal.poll_recv(cx).is_ready().then_some(*name));
                    came.map_or(Poll::Pending, Poll::Ready)
                }) => return name,
                _ = self.stop.recv() => tell(Message::Suspend),
                _ = self.go_on.recv() => tell(Message::Continued),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_soon_after_a_key_is_drawn_at_once_and_what_follows_waits_its_turn() {
        let begin = Instant::now();
        let mut pacer = FramePacer { next: begin };
        let later = |millis| begin + Duration::from_millis(millis);

        pacer.drawn(later(1_000), FRAME);
        let answer = pacer.next;
        for more in [1_002, 1_004, 1_006] {
            pacer.drawn(later(more), FRAME);
        }

        assert!(answer <= later(1_000));
        assert_eq!(pacer.next, later(1_033));
    }

    #[test]
    fn no_more_than_thirty_frames_a_second_are_drawn_over_time() {
        let begin = Instant::now();
        let mut pacer = FramePacer { next: begin };

        let frames = (0..10_000).map(|millis| begin + Duration::from_millis(millis)).filter(|now| {
            let is_due = pacer.next <= *now;
            if is_due {
                pacer.drawn(*now, FRAME);
            }
            is_due
        });

        let frames = frames.count();
        assert!((300..=305).contains(&frames), "{frames} frames in ten seconds");
    }
}
