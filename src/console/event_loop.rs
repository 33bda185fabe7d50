//! The loop: wait for a key, a message or the next moment something changes; update; run the effects; draw when nothing
//! waits.

use std::{future::poll_fn, io, task::Poll, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use crossterm::{clipboard::CopyToClipboard, event::Event};
use ratatui::{Terminal, backend::Backend, layout::Rect};
use tokio::{
    sync::mpsc::{self, Receiver, UnboundedReceiver},
    time::Instant,
};
use zeroize::Zeroize;

use super::{
    Effect, Message, Theme,
    app::{App, DeskState, Parts},
    compact_backend::CompactBackend,
    runner::Runner,
    session::{ConsoleError, LostAtEnd, NextConsole, Session, SessionInfo},
    terminal::{FrameWriter, KeyReader, TerminalGuard, can_stop, may_write_in_background},
    terminal_input::{LOOK, is_in_foreground},
};
use crate::{
    desk::{Desk, DeskAddress},
    domain::time::SharedClock,
};

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

/// End of the event loop.
#[derive(Debug)]
pub enum End {
    /// Its user left.
    Left,
    /// Nothing can be read from the terminal, or written to it.
    Gone(io::Error),
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

/// Goes round until the user leaves or the terminal is gone. Keys come before messages, and both before drawing.
pub async fn drive(
    app: &mut App,
    stage: &mut impl Surface,
    keys: &mut Receiver<io::Result<Event>>,
    messages: &mut UnboundedReceiver<Message>,
    runner: &mut Runner,
    first: Vec<Effect>,
    clock: &SharedClock,
) -> End {
    let mut effects = first;
    let mut pacer = FramePacer { next: Instant::now() };
    let mut heartbeat = tokio::time::interval(HEARTBEAT);
    heartbeat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut dirty_since: Option<Instant> = None;
    loop {
        for effect in effects.drain(..) {
            let result = match runner.run(effect) {
                None => Ok(()),
                Some(Effect::Quit) => return End::Left,
                Some(effect) => stage.perform(effect),
            };
            if let Err(error) = result {
                return End::Gone(error);
            }
        }
        if app.take_dirty() {
            dirty_since.get_or_insert_with(Instant::now);
        }
        // When messages never stop coming, what they say is seen all the same.
        let overdue = dirty_since.is_some_and(|since| since.elapsed() >= OVERDUE);
        let wake = (app.next_wake() - clock.now()).to_std().unwrap_or_default();
        let message = tokio::select! {
            biased;
            key = keys.recv(), if !overdue => match key {
                Some(Ok(event)) => Message::Input(event),
                Some(Err(error)) => return End::Gone(error),
                None => return End::Gone(io::Error::from(io::ErrorKind::UnexpectedEof)),
            },
            Some(message) = messages.recv(), if !overdue => message,
            () = tokio::time::sleep_until(pacer.next), if dirty_since.is_some() => {
                match stage.draw(app) {
                    Ok(changed) => pacer.drawn(Instant::now(), if changed { FRAME } else { UNSEEN }),
                    Err(error) => return End::Gone(error),
                }
                dirty_since = None;
                continue;
            }
            () = tokio::time::sleep(wake) => Message::Tick,
            _ = heartbeat.tick() => {
                runner.read_what_changed();
                if let Err(error) = stage.heartbeat() {
                    return End::Gone(error);
                }
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
    /// True where a shell has had the terminal since the last frame.
    away: bool,
}

impl Screen {
    /// Returns true where the terminal is ours; where a shell has had it, it is taken again.
    fn has_terminal(&mut self) -> io::Result<bool> {
        if !is_in_foreground() {
            self.away = true;
            return Ok(false);
        }
        if self.away {
            self.redraw()?;
        }
        Ok(true)
    }

    fn redraw(&mut self) -> io::Result<()> {
        self.away = false;
        self.guard.regain(self.title.as_deref())?;
        // Not `Terminal::clear`, which asks for the cursor's place and waits for an answer.
        self.terminal.backend_mut().forget();
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::new(0, 0, size.width, size.height))
    }
}

impl Surface for Screen {
    fn draw(&mut self, app: &mut App) -> io::Result<bool> {
        if !self.has_terminal()? {
            return Ok(false);
        }
        self.terminal.draw(|frame| app.draw(frame))?;
        // Stopped from outside meanwhile, and continued in the background.
        if !self.has_terminal()? {
            self.writer.discard();
            return Ok(false);
        }
        self.writer.present().map(|sent| sent > 0)
    }

    fn perform(&mut self, effect: Effect) -> io::Result<()> {
        let is_ours = self.has_terminal()?;
        match effect {
            // A call is heard, whoever has the terminal.
            Effect::Notice(notice) if is_ours || may_write_in_background() => {
                self.writer.send(notice.sequence().as_bytes())
            }
            Effect::Title(title) if !is_ours => {
                self.title = title;
                Ok(())
            }
            Effect::Mouse(on) if !is_ours => {
                self.guard.keep_mouse(on);
                Ok(())
            }
            Effect::Suspend => {
                self.guard.suspend()?;
                self.away = true;
                self.has_terminal().map(drop)
            }
            _ if !is_ours => Ok(()),
            Effect::Copy(text) => {
                let mut sequence = String::new();
                let written = crossterm::Command::write_ansi(&CopyToClipboard::to_clipboard_from(text), &mut sequence);
                written.map_err(io::Error::other)?;
                self.writer.send(sequence.as_bytes())
            }
            Effect::CopySecret(secret) => {
                // OSC 52, made here so that every copy of the secret on the way is wiped.
                let mut encoded = BASE64.encode(secret.reveal());
                let mut sequence = format!("\x1b]52;c;{encoded}\x1b\\");
                encoded.zeroize();
                let sent = self.writer.send(sequence.as_bytes());
                sequence.zeroize();
                sent
            }
            Effect::Title(title) => {
                let sent = self.writer.send(&self.guard.title(title.as_deref()));
                self.title = title;
                sent
            }
            Effect::Mouse(on) => self.guard.set_mouse(on),
            Effect::Redraw => self.redraw(),
            _ => Ok(()),
        }
    }

    fn heartbeat(&mut self) -> io::Result<()> {
        if self.has_terminal()? { self.writer.heartbeat() } else { Ok(()) }
    }
}

/// Takes the terminal and goes round.
pub(super) async fn run(
    session: Session,
    theme: Theme,
    (desk, address): (Option<Desk>, Option<DeskAddress>),
    kept: DeskState,
) -> Result<Option<NextConsole>, ConsoleError> {
    let gone = |error| ConsoleError::TerminalGone { error, lost: LostAtEnd::default() };
    let Session { deployment, clock, place, settings, alert_json, alert_records, rules, profiles, keeper, .. } =
        session;
    let title = settings.notices.title.then(|| format!("avert: {}", super::text::sanitize(&place.name)));
    let mut signals = Signals::listen().map_err(gone)?;
    let guard = TerminalGuard::enter(settings.mouse, title.as_deref(), settings.reports.clone()).map_err(gone)?;
    let (crashed, writer) = (guard.crashed.clone(), FrameWriter::new(io::stdout()));
    let terminal = Terminal::new(CompactBackend::new(writer.clone())).map_err(gone)?;
    let size = terminal.backend().size().map_err(gone)?;
    let (_reader, mut keys) = KeyReader::read().map_err(gone)?;
    let (sender, mut messages) = mpsc::unbounded_channel();
    let operator = deployment.changes.is_some();
    let vocabulary = deployment.vocabulary;
    let place = SessionInfo { read_only: deployment.is_read_only(), unstoppable: !can_stop(), ..place };
    let mut runner = Runner::new(deployment, desk, alert_records, sender.clone());
    (runner.keeper, runner.rules, runner.profiles, runner.address) = (keeper, rules, profiles, address);
    let parts = Parts {
        place,
        settings,
        theme,
        clock: clock.clone(),
        alert_json,
        operator,
        vocabulary,
        kept,
        size: (size.width, size.height),
    };
    let (mut app, first) = App::new(parts);
    let mut screen = Screen { terminal, writer, guard, title, away: false };

    // A stop from outside is what ctrl-z is from inside.
    let result = tokio::select! {
        biased;
        () = crashed.notified() => Err(ConsoleError::Crashed),
        name = signals.wait(|message| { let _ = sender.send(message); }) => Err(ConsoleError::Terminated {
            signal: name, lost: LostAtEnd::default() }),
        end = drive(&mut app, &mut screen, &mut keys, &mut messages, &mut runner, first, &clock) => match end {
            End::Left => Ok(app.next_console().cloned()),
            End::Gone(error) => Err(gone(error)),
        },
    };
    drop(screen);
    let (effects, mut lost) = app.end();
    for effect in effects {
        runner.run(effect);
    }
    runner.finish().await;
    lost.unkept.extend(app.lost_texts(std::iter::from_fn(|| messages.try_recv().ok())));
    result.map_err(|error| match error {
        ConsoleError::TerminalGone { error, .. } => ConsoleError::TerminalGone { error, lost },
        ConsoleError::Terminated { signal, .. } => ConsoleError::Terminated { signal, lost },
        other => other,
    })
}

/// The signals that end the console, the one that stops it, and the one that continues it.
struct Signals {
    #[cfg(unix)]
    ends: [(tokio::signal::unix::Signal, &'static str); 6],
    #[cfg(unix)]
    stop: tokio::signal::unix::Signal,
    #[cfg(unix)]
    go_on: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
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
        // No signal tells what runs already that it is in the foreground again.
        let mut away = false;
        loop {
            tokio::select! {
                name = poll_fn(|cx| {
                    let came = self.ends.iter_mut().find_map(|(signal,
                        name)| signal.poll_recv(cx).is_ready().then_some(*name));
                    came.map_or(Poll::Pending, Poll::Ready)
                }) => return name,
                _ = self.stop.recv() => {
                    tell(Message::Suspend);
                    continue;
                }
                _ = self.go_on.recv() => {}
                () = tokio::time::sleep(LOOK), if away => {}
            }
            away = !is_in_foreground();
            if !away {
                tell(Message::Continued);
            }
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    async fn wait(&mut self, _tell: impl Fn(Message)) -> &'static str {
        match tokio::signal::ctrl_c().await {
            Ok(()) => "ctrl-c",
            Err(_) => std::future::pending().await,
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
