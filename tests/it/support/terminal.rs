//! The real binary in a pseudo-terminal: press keys, wait for words on the screen.

use std::{
    io::{Read, Write},
    num::NonZeroU16,
    path::Path,
    sync::{Arc, Condvar, Mutex},
    time::{Duration, Instant},
};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use super::binary::{binary, surroundings};

/// How long a word may take to come to the screen before the test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the terminal shows, and a signal for each change of it.
type Screen = Arc<(Mutex<Shown>, Condvar)>;

/// Begin and end of a synchronized update (DEC private mode 2026): what is between them is no picture yet.
const BEGIN: &[u8] = b"\x1b[?2026h";
const END: &[u8] = b"\x1b[?2026l";

struct Shown {
    parser: vt100::Parser,
    raw: Vec<u8>,
    /// The pictures since the last key, beginning with the one that was there then.
    frames: Vec<String>,
    /// Whether a picture has begun that is not whole.
    drawing: bool,
    closed: bool,
    /// Whether nobody looks any longer.
    unwatched: bool,
}

impl Shown {
    fn take(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(end) = rest.windows(END.len()).position(|window| window == END) {
            let (frame, after) = rest.split_at(end + END.len());
            self.parser.process(frame);
            self.keep_frame();
            rest = after;
        }
        self.parser.process(rest);
        // A mark may have come in two parts.
        let from = self.raw.len().saturating_sub(END.len());
        self.raw.extend_from_slice(bytes);
        let last = |mark: &[u8]| self.raw[from..].windows(mark.len()).rposition(|window| window == mark);
        match (last(BEGIN), last(END)) {
            (None, None) => {}
            (begin, end) => self.drawing = begin > end,
        }
        if !self.drawing {
            self.keep_frame();
        }
    }

    fn keep_frame(&mut self) {
        let frame = self.parser.screen().contents();
        if self.frames.last() != Some(&frame) {
            self.frames.push(frame);
        }
    }

    fn last_frame(&self) -> &str {
        self.frames.last().map_or("", String::as_str)
    }
}

fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).expect("a terminal with cells")
}

/// A running program; ended when dropped.
struct Running(Box<dyn Child + Send + Sync>);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A program in a terminal of its own; ended when dropped.
pub struct Terminal {
    master: Box<dyn MasterPty + Send>,
    child: Running,
    keyboard: Box<dyn Write + Send>,
    screen: Screen,
}

impl Terminal {
    /// Starts the binary on this data directory in a terminal of this size, in the dark theme.
    pub fn start(data_dir: &Path, arguments: &[&str], columns: u16, rows: u16) -> Self {
        Self::start_with(data_dir, arguments, &[], columns, rows)
    }

    /// The same with variables of its own; an empty value takes one away.
    pub fn start_with(
        data_dir: &Path,
        arguments: &[&str],
        variables: &[(&str, &str)],
        columns: u16,
        rows: u16,
    ) -> Self {
        Self::start_program(&binary(), data_dir, arguments, variables, columns, rows)
    }

    /// The same with another program.
    pub fn start_program(
        program: &Path,
        data_dir: &Path,
        arguments: &[&str],
        variables: &[(&str, &str)],
        columns: u16,
        rows: u16,
    ) -> Self {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a pseudo-terminal");
        let mut command = CommandBuilder::new(program);
        command.args(arguments);
        for (name, value) in surroundings(data_dir) {
            command.env(name, value);
        }
        command.env("AVERT_DATA_DIR", data_dir);
        command.env("AVERT_THEME", "dark");
        command.env("TERM", "xterm-256color");
        for (name, value) in variables {
            match value.is_empty() {
                true => command.env_remove(name),
                false => command.env(name, value),
            }
        }
        let child = Running(pair.slave.spawn_command(command).expect("the program starts"));
        drop(pair.slave);
        let keyboard = pair.master.take_writer().expect("a writer");
        let mut output = pair.master.try_clone_reader().expect("a reader");
        let shown = Shown {
            parser: vt100::Parser::new(cells(rows), cells(columns), 0),
            raw: Vec::new(),
            frames: Vec::new(),
            drawing: false,
            closed: false,
            unwatched: false,
        };
        let screen: Screen = Arc::new((Mutex::new(shown), Condvar::new()));
        let painter = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut buffer = [0_u8; 16 * 1024];
            loop {
                let read = output.read(&mut buffer).unwrap_or(0);
                let (shown, changed) = &*painter;
                let mut shown = shown.lock().unwrap();
                shown.take(&buffer[..read]);
                shown.closed = read == 0;
                changed.notify_all();
                if read == 0 || shown.unwatched {
                    return;
                }
            }
        });
        Self { master: pair.master, child, keyboard, screen }
    }

    /// Sends these bytes as if they had been typed.
    pub fn press(&mut self, keys: &str) {
        {
            let mut shown = self.screen.0.lock().unwrap();
            let seen = shown.frames.len().saturating_sub(1);
            shown.frames.drain(..seen);
        }
        self.keyboard.write_all(keys.as_bytes()).expect("the terminal takes keys");
        self.keyboard.flush().expect("the terminal takes keys");
    }

    /// Presses and releases the left mouse button on a cell, counted from 1.
    pub fn click(&mut self, column: u16, row: u16) {
        self.press(&format!("\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m"));
    }

    /// Changes the size of the terminal.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.screen.0.lock().unwrap().parser.screen_mut().set_size(cells(rows), cells(columns));
        self.master.resize(PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }).expect("a new size");
    }

    /// The screen as text.
    pub fn text(&self) -> String {
        self.screen.0.lock().unwrap().last_frame().to_owned()
    }

    /// The screen with its colours, once the picture is whole.
    pub fn screen(&self) -> vt100::Screen {
        let (shown, changed) = &*self.screen;
        let mut shown = shown.lock().unwrap();
        while shown.drawing && !shown.closed {
            shown = changed.wait_timeout(shown, PATIENCE).unwrap().0;
        }
        shown.parser.screen().clone()
    }

    /// Where a text stands on the screen: column and row of its first cell, counted from 1.
    pub fn find(&self, text: &str) -> Option<(u16, u16)> {
        let shown = self.screen.0.lock().unwrap();
        let columns = shown.parser.screen().size().1.get();
        shown.parser.screen().rows(0, columns).enumerate().find_map(|(row, line)| {
            let at = line.find(text)?;
            let column = line[..at].chars().count();
            Some((u16::try_from(column).ok()? + 1, u16::try_from(row).ok()? + 1))
        })
    }

    /// Waits until the screen satisfies a condition; panics with the screen when it does not come to that.
    pub fn wait_until(&self, what: &str, condition: impl Fn(&str) -> bool) {
        self.wait_for_frames(what, |frames| frames.last().is_some_and(|frame| condition(frame)));
    }

    /// Waits until the pictures since the last key satisfy a condition.
    fn wait_for_frames(&self, what: &str, condition: impl Fn(&[String]) -> bool) {
        let (shown, changed) = &*self.screen;
        let begin = Instant::now();
        let mut shown = shown.lock().unwrap();
        let missed = loop {
            if condition(&shown.frames) {
                return;
            }
            match PATIENCE.checked_sub(begin.elapsed()) {
                _ if shown.closed => {
                    break format!("the program ended before {what}; the screen:\n{}", shown.last_frame());
                }
                None => break format!("no {what} after {PATIENCE:?}; the screen:\n{}", shown.last_frame()),
                Some(left) => shown = changed.wait_timeout(shown, left).unwrap().0,
            }
        };
        drop(shown);
        panic!("{missed}");
    }

    /// Waits until the program has written these bytes.
    pub fn wait_written(&self, bytes: &str) {
        let (shown, changed) = &*self.screen;
        let shown = shown.lock().unwrap();
        let is_missing = |shown: &mut Shown| !shown.raw.windows(bytes.len()).any(|window| window == bytes.as_bytes());
        let (_shown, waited) = changed.wait_timeout_while(shown, PATIENCE, is_missing).unwrap();
        assert!(!waited.timed_out(), "{bytes:?} was not written");
    }

    /// Waits until a text is on the screen.
    pub fn wait_for(&self, text: &str) {
        self.wait_until(&format!("{text:?} on the screen"), |screen| screen.contains(text));
    }

    /// Waits until an answer that was sent can be taken back: the form itself speaks of undoing.
    pub fn wait_for_undo(&self) {
        self.wait_for_frames("an answer that can be undone", |frames| {
            frames.iter().any(|frame| frame.contains(" u undo") && !frame.contains("u undoes"))
        });
    }

    /// Waits until a text has been on the screen since the last key, and is no longer: one that has not come yet is not
    /// gone.
    pub fn wait_gone(&self, text: &str) {
        self.wait_for_frames(&format!("{text:?} shown and gone from the screen"), |frames| {
            frames.iter().any(|frame| frame.contains(text)) && frames.last().is_some_and(|frame| !frame.contains(text))
        });
    }

    /// Waits for the end of the program and returns its exit code and everything it ever wrote.
    pub fn wait_exit(mut self) -> (u32, Vec<u8>) {
        let (shown, changed) = &*self.screen;
        let begin = Instant::now();
        let mut shown = shown.lock().unwrap();
        while !shown.closed {
            let Some(left) = PATIENCE.checked_sub(begin.elapsed()) else {
                let seen = shown.last_frame().to_owned();
                drop(shown);
                panic!("the program has not ended after {PATIENCE:?}; the screen:\n{seen}");
            };
            shown = changed.wait_timeout(shown, left).unwrap().0;
        }
        let code = self.child.0.wait().expect("an exit status").exit_code();
        (code, std::mem::take(&mut shown.raw))
    }

    /// Closes the terminal under the program, as a window is closed, and waits for the end of that.
    pub fn close(mut self) {
        self.screen.0.lock().unwrap().unwatched = true;
        // Who reads the screen lets go of it at the next picture.
        self.resize(100, 30);
        let Self { master, mut child, keyboard, screen: _ } = self;
        drop((keyboard, master));
        child.0.wait().expect("an exit status");
    }

    /// How many pictures were ever begun.
    pub fn pictures(&self) -> usize {
        let shown = self.screen.0.lock().unwrap();
        shown.raw.windows(BEGIN.len()).filter(|window| *window == BEGIN).count()
    }

    /// The process group that has the terminal.
    pub fn in_foreground(&self) -> u32 {
        let group = self.master.process_group_leader().expect("somebody has the terminal");
        u32::try_from(group).expect("a process number")
    }

    /// The process number of the program.
    pub fn process(&self) -> u32 {
        self.child.0.process_id().expect("a running program")
    }
}
