//! Entering and leaving the terminal: one guard that undoes all that was switched on, whatever ends the console; frames
//! that leave in one write; keys read on a thread of their own.

use std::{
    io::{self, IsTerminal, Write},
    panic::{self, PanicHookInfo},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use crossterm::{
    cursor::{Hide, Show},
    event::{DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture, Event},
    execute, queue,
    style::{ResetColor, force_color_output},
    terminal::{self, EnterAlternateScreen, LeaveAlternateScreen},
};
use tokio::sync::{Notify, mpsc};
use xterm_color::Color;
use zeroize::Zeroize;

use super::{
    Theme,
    terminal_input::{LOOK, Received, TerminalInput, is_in_foreground},
    text::sanitize,
    theme::ThemeName,
};

/// Returns true where there is a terminal to draw on and to read keys from.
pub fn is_there() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Picks the theme: the one that was asked for, none where `NO_COLOR` is set, else what the terminal's background calls
/// for. To be called before the terminal is entered; a terminal that does not say is given a second and gets the 16
/// ANSI colours, or the dark theme where `COLORTERM` announces all colours.
pub fn pick_theme(wanted: Option<ThemeName>) -> Theme {
    let environment = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let name = match wanted {
        Some(name) => name,
        None if environment("NO_COLOR").is_some() => ThemeName::NoColor,
        None => match background() {
            Some(color) if color.perceived_lightness() > 0.5 => ThemeName::Light,
            Some(_) => ThemeName::Dark,
            None if announces_all_colors() => ThemeName::Dark,
            None => ThemeName::Ansi,
        },
    };
    Theme::of(name, has_all_colors())
}

/// Timeout of the query for the background.
const PROBE: Duration = Duration::from_secs(1);

/// Once it has told it, how long the end of its answers may take.
const LAST_ANSWER: Duration = Duration::from_millis(100);

/// The colour of the terminal's background, where it tells that in time.
fn background() -> Option<Color> {
    let takes_queries = std::env::var("TERM").is_ok_and(|term| term != "dumb");
    if !takes_queries || terminal::enable_raw_mode().is_err() {
        return None;
    }
    let color = ask_background();
    let _ = terminal::disable_raw_mode();
    color.ok().flatten()
}

/// Asks for the colour (OSC 11), and then for a status report (DSR), which every terminal gives and hardly anybody else
/// asks for: behind it no colour comes. All other answers were meant for somebody else.
fn ask_background() -> io::Result<Option<Color>> {
    let mut input = TerminalInput::open()?;
    let mut out = io::stdout();
    // Old versions of rxvt-unicode end their answer rightly only where the query ends with BEL.
    out.write_all(b"\x1b]11;?\x07\x1b[5n")?;
    out.flush()?;
    let (mut until, mut color) = (Instant::now() + PROBE, None);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        match input.next(left)? {
            Some(Received::Answer(answer)) if answer == b"\x1b[0n" => return Ok(color),
            Some(Received::Answer(answer)) if answer.starts_with(b"\x1b]11;") => {
                let told = answer[5..].strip_suffix(b"\x1b\\").or(answer[5..].strip_suffix(b"\x07"));
                color = told.and_then(|told| Color::parse(told).ok());
                until = until.min(Instant::now() + LAST_ANSWER);
            }
            _ if left.is_zero() => return Ok(color),
            _ => {}
        }
    }
}

/// Returns true where the terminal says that it has more than 256 colours.
pub fn has_all_colors() -> bool {
    announces_all_colors() || std::env::var("TERM").is_ok_and(|term| term.contains("direct") || term.contains("kitty"))
}

fn announces_all_colors() -> bool {
    std::env::var("COLORTERM").is_ok_and(|value| matches!(value.as_str(), "truecolor" | "24bit"))
}

/// A guard of the terminal's state (raw mode, alternate screen). Dropping the guard gives it back.
pub struct TerminalGuard {
    entered: Arc<AtomicBool>,
    /// True where the mouse is wanted.
    pub mouse: bool,
    previous_hook: Arc<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>,
    /// Wakes the loop when something panicked anywhere in the process.
    pub crashed: Arc<Notify>,
}

impl TerminalGuard {
    /// Takes the terminal. From here on a panic, wherever it happens, first gives the terminal back and is then told as
    /// it was before.
    pub fn enter(mouse: bool) -> io::Result<Self> {
        let (entered, crashed) = (Arc::new(AtomicBool::new(false)), Arc::new(Notify::new()));
        let guard = Self { entered, mouse, previous_hook: Arc::from(panic::take_hook()), crashed };
        let (entered, crashed) = (Arc::clone(&guard.entered), Arc::clone(&guard.crashed));
        let previous = Arc::clone(&guard.previous_hook);
        panic::set_hook(Box::new(move |info| {
            restore(&entered);
            previous(info);
            crashed.notify_one();
        }));
        guard.take(None)?;
        Ok(guard)
    }

    fn take(&self, title: Option<&str>) -> io::Result<()> {
        self.entered.store(true, Ordering::SeqCst);
        // The theme knows whether colours are wanted. Where NO_COLOR is set, crossterm would write each colour as an
        // empty sequence, which resets bold and reverse too.
        force_color_output(true);
        terminal::enable_raw_mode()?;
        let mut out = io::stdout();
        out.write_all(PUSH_TITLE)?;
        if let Some(title) = title {
            out.write_all(title_sequence(title).as_bytes())?;
        }
        execute!(out, EnterAlternateScreen, Hide, EnableBracketedPaste)?;
        self.apply_mouse()
    }

    /// Takes the mouse, or gives it back to the terminal, as is wanted.
    pub fn apply_mouse(&self) -> io::Result<()> {
        let mut out = io::stdout();
        if self.mouse { execute!(out, EnableMouseCapture) } else { execute!(out, DisableMouseCapture) }
    }

    /// Gives the terminal back and stops the process as ctrl-z does everywhere; returns once it is continued.
    pub fn suspend(&self) -> io::Result<()> {
        restore(&self.entered);
        signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP)
    }

    /// Takes the terminal again where it was given back, or a shell has taken it: the process was stopped from outside
    /// and continued. In the background the kernel stops whoever changes its modes, until it is continued in front.
    pub fn regain(&self, title: Option<&str>) -> io::Result<()> {
        use rustix::termios::{LocalModes, Termios, tcgetattr};
        if self.entered.load(Ordering::SeqCst) {
            let is_line_edited = |modes: Termios| modes.local_modes.contains(LocalModes::ICANON);
            if is_in_foreground() && !tcgetattr(io::stdin()).is_ok_and(is_line_edited) {
                return Ok(());
            }
            // Its modes are the shell's, and crossterm takes them for ours still.
            terminal::disable_raw_mode()?;
            restore(&self.entered);
        }
        self.take(title)
    }
}

/// The sequence that sets the terminal's title.
pub fn title_sequence(title: &str) -> String {
    format!("\x1b]0;{}\x1b\\", plain(title))
}

/// Words that neither end a sequence nor part its fields.
pub fn plain(words: &str) -> String {
    sanitize(words).chars().filter(|sign| !sign.is_control()).map(|sign| if sign == ';' { ',' } else { sign }).collect()
}

/// Job control: whether a shell is there that continues the console once it has stopped. The kernel spares an orphaned
/// process group the stop of ctrl-z for the same reason, but not the one that is sent in its place.
pub fn can_stop() -> bool {
    use nix::unistd::{getpgrp, getppid, getsid};
    let (parent, Ok(session)) = (getppid(), getsid(None)) else { return false };
    // A parent of number 0 is in another PID namespace, as that of the first process in a container is.
    getpgrp() != session && parent.as_raw() != 0 && getsid(Some(parent)) == Ok(session)
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        restore(&self.entered);
        // A thread that panics cannot change the hook.
        if !std::thread::panicking() {
            let previous = Arc::clone(&self.previous_hook);
            panic::set_hook(Box::new(move |info| previous(info)));
        }
    }
}

/// Undoes everything, once. Errors are not told: a terminal that is gone needs no restoring.
fn restore(entered: &AtomicBool) {
    if !entered.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout();
    let _ = out.write_all(END_SYNC);
    let _ = queue!(out, DisableMouseCapture, DisableBracketedPaste, ResetColor, LeaveAlternateScreen, Show);
    let _ = out.write_all(POP_TITLE);
    let _ = out.flush();
    // In the background its modes are the shell's, and who changes them is stopped.
    if is_in_foreground() {
        let _ = terminal::disable_raw_mode();
    }
}

/// Keeps the terminal's title, and gives it back (XTWINOPS).
const PUSH_TITLE: &[u8] = b"\x1b[22;0t";
const POP_TITLE: &[u8] = b"\x1b[23;0t";

const BEGIN_SYNC: &[u8] = b"\x1b[?2026h";
const END_SYNC: &[u8] = b"\x1b[?2026l";

/// A frame's usual size in bytes, and more.
const FRAME_BUFFER: usize = 64 * 1024;

/// A buffered writer of frames, each sent in one synchronized write. Clones share one buffer: one is the backend's, one
/// presents.
pub struct FrameWriter<W> {
    shared: Arc<Mutex<Pending<W>>>,
}

struct Pending<W> {
    out: W,
    frame: Vec<u8>,
}

impl<W> Pending<W> {
    /// Empties the frame; a secret may have been in it.
    fn wipe(&mut self) {
        self.frame.as_mut_slice().zeroize();
        self.frame.clear();
        self.frame.shrink_to(FRAME_BUFFER);
    }
}

impl<W> Clone for FrameWriter<W> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<W: Write> FrameWriter<W> {
    /// Collects for this output.
    pub fn new(out: W) -> Self {
        Self { shared: Arc::new(Mutex::new(Pending { out, frame: Vec::with_capacity(FRAME_BUFFER) })) }
    }

    /// Sends what was collected, in one write. Returns how many bytes left.
    pub fn present(&self) -> io::Result<usize> {
        let mut pending = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if pending.frame.is_empty() {
            return Ok(0);
        }
        let Pending { out, frame } = &mut *pending;
        frame.extend_from_slice(END_SYNC);
        let sent = frame.len();
        let result = out.write_all(frame).and_then(|()| out.flush());
        pending.wipe();
        result.map(|()| sent)
    }

    /// Writes at once and outside any frame.
    pub fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let mut pending = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        pending.out.write_all(bytes)?;
        pending.out.flush()
    }

    /// Writes something that changes nothing on the screen: a terminal that is gone answers with an error.
    pub fn heartbeat(&self) -> io::Result<()> {
        self.send(b"\x1b[0m")
    }
}

impl<W> Write for FrameWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut pending = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if pending.frame.is_empty() {
            pending.frame.extend_from_slice(BEGIN_SYNC);
        }
        pending.frame.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    /// Does nothing: a frame leaves as a whole, by [`FrameWriter::present`].
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How long its reader waits at once, where nothing comes.
const IDLE: Duration = Duration::from_secs(60);

/// A reader thread for terminal events, ended on drop.
pub struct KeyReader {
    stop: Arc<AtomicBool>,
    wake: Box<dyn Fn() + Send>,
}

impl KeyReader {
    /// Starts the thread; its events come through the channel.
    pub fn read() -> io::Result<(Self, mpsc::Receiver<io::Result<Event>>)> {
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, receiver) = mpsc::channel(256);
        let stopped = Arc::clone(&stop);
        let mut input = TerminalInput::open()?;
        let wake = Box::new(input.waker()?);
        std::thread::spawn(move || {
            while !stopped.load(Ordering::SeqCst) {
                match input.next(IDLE) {
                    Ok(Some(Received::Event(event))) => {
                        if sender.blocking_send(Ok(event)).is_err() {
                            return;
                        }
                    }
                    Ok(_) => {}
                    // The terminal may be gone: the heartbeat finds that out, and the signal that came before it goes
                    // first.
                    Err(_) => std::thread::sleep(LOOK),
                }
            }
        });
        Ok((Self { stop, wake }, receiver))
    }
}

impl Drop for KeyReader {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        (self.wake)();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Tells every write it gets.
    struct Writes(mpsc::Sender<Vec<u8>>);

    impl Write for Writes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.send(bytes.to_vec()).map_err(io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_frame_leaves_in_one_synchronized_write() {
        let (sender, receiver) = mpsc::channel();
        let writer = FrameWriter::new(Writes(sender));
        let mut backend_side = writer.clone();

        backend_side.write_all(b"one ").unwrap();
        backend_side.flush().unwrap();
        backend_side.write_all(b"two").unwrap();
        let sent = writer.present().unwrap();

        let writes: Vec<_> = receiver.try_iter().collect();
        assert_eq!(writes, [b"\x1b[?2026hone two\x1b[?2026l".to_vec()]);
        assert_eq!(sent, writes[0].len());
    }

    #[test]
    fn nothing_is_written_for_a_frame_that_changed_nothing() {
        let (sender, receiver) = mpsc::channel();

        assert_eq!(FrameWriter::new(Writes(sender)).present().unwrap(), 0);

        assert_eq!(receiver.try_iter().count(), 0);
    }

    #[test]
    fn a_terminal_that_is_gone_ends_the_heartbeat() {
        let (sender, receiver) = mpsc::channel();
        drop(receiver);

        assert!(FrameWriter::new(Writes(sender)).heartbeat().is_err());
    }
}
