//! Reader of the terminal: bytes become keys, pastes and mouse events. What a terminal answers to a query is never one
//! of these.

use std::{
    collections::VecDeque,
    io,
    os::unix::net::UnixStream,
    sync::{LazyLock, Mutex, PoisonError},
    time::{Duration, Instant},
};

use crossterm::event::{Event, KeyCode};
use terminput::Event as Input;
use terminput_crossterm::to_crossterm;

/// Input from the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    Event(Event),
    /// An answer to somebody's query, or what nobody knows, as it came; of a long string its end alone.
    Answer(Vec<u8>),
}

/// Escape time: an Esc, or Alt with what begins a string, is a key where nothing follows within it.
const ESCAPE_TIME: Duration = Duration::from_millis(50);

/// Rest after which short input no longer belongs to what has begun and not ended.
const REST: Duration = Duration::from_secs(1);

/// Longest sequence of bytes of one key; a longer read is the rest of something, however late it comes.
const LONGEST_KEY: usize = 16;

/// An answer longer than this is kept for nobody.
const LONGEST_ANSWER: usize = 256;

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
/// String terminator as one byte.
const ST: u8 = 0x9c;
const PASTE: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

/// How far a sequence of bytes has come.
#[derive(Debug, PartialEq, Eq)]
enum Progress {
    /// More belongs to it.
    Open,
    /// A key, a paste or a mouse event, or nothing that anybody knows.
    Input,
    Answer,
    /// It was broken off; so many of its last bytes begin another one.
    Anew(usize),
}

fn progress(sequence: &[u8]) -> Progress {
    match sequence {
        [ESC] | [ESC, b'[' | b'O'] => Progress::Open,
        [ESC, ESC] => Progress::Anew(1),
        // The end of a string whose beginning went to somebody else.
        [ESC, b'\\'] => Progress::Answer,
        // OSC, DCS, SOS, PM and APC.
        [ESC, b']' | b'P' | b'X' | b'^' | b'_', text @ ..] => match text {
            [.., BEL] | [.., ESC, b'\\'] => Progress::Answer,
            [.., before, ST] if before.is_ascii() => Progress::Answer,
            [.., ESC, _] => Progress::Anew(2),
            _ => Progress::Open,
        },
        _ if sequence.starts_with(PASTE) => match sequence.ends_with(PASTE_END) {
            true => Progress::Input,
            false => Progress::Open,
        },
        [ESC, b'[' | b'O', .., 0..=0x1f] => Progress::Anew(1),
        // A mouse event of X10 has three bytes behind its letter, a function key of the Linux console one.
        [ESC, b'[', b'M', rest @ ..] if rest.len() < 3 => Progress::Open,
        [ESC, b'[', b'['] => Progress::Open,
        [ESC, b'[', b'M' | b'[', ..] | [ESC, b'O', _] => Progress::Input,
        [ESC, b'[', parameters @ .., last] => match last {
            0x20..=0x3f => Progress::Open,
            0x40..=0x7e if is_input(parameters, *last) => Progress::Input,
            0x40..=0x7e => Progress::Answer,
            _ => Progress::Anew(1),
        },
        [ESC, letter @ ..] | letter => match std::str::from_utf8(letter) {
            Ok(_) => Progress::Input,
            Err(error) if error.error_len().is_none() => Progress::Open,
            Err(_) if letter.len() > 1 => Progress::Anew(1),
            Err(_) => Progress::Answer,
        },
    }
}

/// Returns true where a control sequence can be a key or a mouse event. One with a private mark or an intermediate byte
/// is an answer, but for the mouse event of SGR, and so is the cursor's position (`R`).
fn is_input(parameters: &[u8], last: u8) -> bool {
    let is_mouse = matches!(last, b'M' | b'm');
    let numbers = parameters.strip_prefix(b"<").filter(|_| is_mouse).unwrap_or(parameters);
    // The library takes 1 from the column and the row of a mouse event.
    let is_zero = |number: &[u8]| !number.is_empty() && number.iter().all(|digit| *digit == b'0');
    let is_nowhere = is_mouse && numbers.split(|byte| *byte == b';').skip(1).any(is_zero);
    last != b'R' && !is_nowhere && numbers.iter().all(|byte| matches!(byte, b'0'..=b';'))
}

fn parse(sequence: &[u8]) -> Option<Event> {
    // xterm's modifyOtherKeys; the library knows the same key in its newer form.
    let other_key = sequence.strip_prefix(b"\x1b[27;").and_then(|rest| rest.strip_suffix(b"~")).and_then(|rest| {
        let (modifiers, code) = rest.split_at(rest.iter().position(|byte| *byte == b';')?);
        Some([b"\x1b[", &code[1..], b";", modifiers, b"u"].concat())
    });
    let input = Input::parse_from(other_key.as_deref().unwrap_or(sequence)).ok()??;
    to_crossterm(input).ok()
}

/// Parser of the terminal's bytes, however they are split over reads.
#[derive(Debug)]
struct InputParser {
    /// What has begun and is not whole.
    sequence: Vec<u8>,
    /// True where that was taken for a key already, because its time was over.
    told: bool,
    last_read: Instant,
}

impl InputParser {
    fn new(now: Instant) -> Self {
        Self { sequence: Vec::new(), told: false, last_read: now }
    }

    /// Takes the bytes of one read.
    fn read(&mut self, bytes: &[u8], now: Instant) -> Vec<Received> {
        let mut heard = Vec::new();
        let rested = now.duration_since(self.last_read) >= REST;
        self.last_read = now;
        let told = std::mem::take(&mut self.told);
        let introduces = matches!(bytes, [b'[' | b']' | b'O' | b'P' | b'X' | b'^' | b'_' | b'\\', ..]);
        let goes_on = match self.sequence[..] {
            // Alt and its letter come in one read.
            [ESC] if !introduces => false,
            // So does the rest of an answer that is late; one's own keys do not.
            _ if told => !rested && bytes.len() > 1,
            _ if !rested => true,
            _ => match self.ends() {
                Some(ends) => bytes.len() > LONGEST_KEY || bytes.iter().any(|byte| ends.contains(byte)),
                None => bytes.len() > 1,
            },
        };
        if !goes_on {
            let mut left = std::mem::take(&mut self.sequence);
            if left.starts_with(PASTE) {
                left.extend_from_slice(PASTE_END);
            }
            let is_key = left == [ESC] && !told || left.starts_with(PASTE);
            heard.extend(parse(&left).filter(|_| is_key).map(Received::Event));
        }
        bytes.iter().for_each(|byte| self.step(*byte, &mut heard));
        heard
    }

    /// What ends the string or the paste that is open.
    fn ends(&self) -> Option<&'static [u8]> {
        match self.sequence[..] {
            [ESC, b']' | b'P' | b'X' | b'^' | b'_', ..] => Some(&[BEL, b'\\', ST]),
            _ => self.sequence.starts_with(PASTE).then_some(b"~"),
        }
    }

    fn step(&mut self, byte: u8, heard: &mut Vec<Received>) {
        match byte {
            // An introducer as one byte.
            0x80..=0x9f if self.sequence.is_empty() => self.sequence.extend([ESC, byte - 0x40]),
            _ => self.sequence.push(byte),
        }
        match progress(&self.sequence) {
            Progress::Open => {
                let length = self.sequence.len();
                if length > LONGEST_ANSWER && !self.sequence.starts_with(PASTE) {
                    self.sequence.drain(2..length - 1);
                }
            }
            Progress::Answer => heard.push(Received::Answer(std::mem::take(&mut self.sequence))),
            Progress::Input => {
                let sequence = std::mem::take(&mut self.sequence);
                heard.push(parse(&sequence).map_or(Received::Answer(sequence), Received::Event));
            }
            Progress::Anew(count) => {
                let next = self.sequence.split_off(self.sequence.len() - count);
                if std::mem::take(&mut self.sequence) == [ESC] {
                    heard.push(Received::Event(Event::Key(KeyCode::Esc.into())));
                }
                next.into_iter().for_each(|byte| self.step(byte, heard));
            }
        }
    }

    /// When what has begun is a key by itself.
    fn due(&self) -> Option<Instant> {
        let may_be_key = matches!(self.sequence[..], [ESC] | [ESC, b']' | b'P' | b'X' | b'^' | b'_']) && !self.told;
        may_be_key.then(|| self.last_read + ESCAPE_TIME)
    }

    /// The key that has begun, once its time is over.
    fn expire(&mut self, now: Instant) -> Option<Received> {
        self.due().filter(|due| *due <= now)?;
        self.told = true;
        parse(&self.sequence).map(Received::Event)
    }
}

/// One for the process, as the terminal is: what one reader has heard of half an answer, the next one goes on with.
static PARSER: LazyLock<Mutex<InputParser>> = LazyLock::new(|| Mutex::new(InputParser::new(Instant::now())));

/// Input of this process's terminal.
pub struct TerminalInput {
    heard: VecDeque<Received>,
    resized: UnixStream,
    tell: UnixStream,
    signal: signal_hook::SigId,
}

impl TerminalInput {
    /// Begins to watch for keys and for new sizes of the window.
    ///
    /// # Errors
    /// When the system gives no room for it.
    pub fn open() -> io::Result<Self> {
        let (resized, tell) = UnixStream::pair()?;
        resized.set_nonblocking(true)?;
        let signal = signal_hook::low_level::pipe::register(signal_hook::consts::SIGWINCH, tell.try_clone()?)?;
        Ok(Self { heard: VecDeque::new(), resized, tell, signal })
    }

    /// Ends a wait from another thread.
    ///
    /// # Errors
    /// When the system gives no room for it.
    pub fn waker(&self) -> io::Result<impl Fn() + Send + use<>> {
        let tell = self.tell.try_clone()?;
        Ok(move || drop(io::Write::write(&mut &tell, b" ")))
    }

    /// Waits at most so long for what comes next. A signal ends the wait as well, and what is typed for a shell is left
    /// to it.
    ///
    /// # Errors
    /// When nothing can be read: the terminal is gone.
    pub fn next(&mut self, wait: Duration) -> io::Result<Option<Received>> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        if let Some(heard) = self.heard.pop_front() {
            return Ok(Some(heard));
        }
        let parser = || PARSER.lock().unwrap_or_else(PoisonError::into_inner);
        let due = parser().due().map_or(wait, |due| due.saturating_duration_since(Instant::now()).min(wait));
        let stdin = io::stdin();
        let mut watched = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&self.resized, PollFlags::IN)];
        match poll(&mut watched, Some(&Timespec::try_from(due).map_err(io::Error::other)?)) {
            Ok(0) => return Ok(parser().expire(Instant::now())),
            Err(rustix::io::Errno::INTR) => return Ok(None),
            polled => polled?,
        };
        if !watched[1].revents().is_empty() {
            while io::Read::read(&mut &self.resized, &mut [0; 64]).is_ok_and(|read| read > 0) {}
            let (columns, rows) = crossterm::terminal::size()?;
            return Ok(Some(Received::Event(Event::Resize(columns, rows))));
        }
        let mut bytes = [0; 4096];
        match rustix::io::read(&stdin, &mut bytes) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Err(rustix::io::Errno::INTR) => {}
            read => self.heard.extend(parser().read(&bytes[..read?], Instant::now())),
        }
        Ok(self.heard.pop_front())
    }
}

impl Drop for TerminalInput {
    fn drop(&mut self) {
        signal_hook::low_level::unregister(self.signal);
    }
}

/// Interval of the look whether the terminal is ours.
pub const LOOK: Duration = Duration::from_millis(250);

/// Returns whether the terminal is ours: a shell has it while the console goes on in the background.
pub fn is_in_foreground() -> bool {
    use nix::unistd::{getpgrp, tcgetpgrp};
    // One that does not tell may be gone, which writing to it finds out; a group of another PID namespace has the
    // number 0 here.
    tcgetpgrp(io::stdin()).map_or(true, |group| group == getpgrp() || group.as_raw() == 0)
}

#[cfg(test)]
mod tests {
    use crossterm::event::{KeyEvent, KeyEventKind, KeyModifiers, MouseEventKind};
    use rstest::rstest;

    use super::*;

    /// Answers of xterm, tmux, kitty, iTerm2, Windows Terminal and others.
    const ANSWERS: &[&str] = &[
        // DA1, DA2, DA3.
        "\x1b[?62;4;22;52c",
        "\x1b[?1;2c",
        "\x1b[>0;276;0c",
        "\x1b[>84;0;0c",
        "\x1bP!|7E565445\x1b\\",
        "\x1bP!|00000000\x1b\\",
        // XTVERSION.
        "\x1bP>|tmux 3.4\x1b\\",
        "\x1bP>|XTerm(390)\x1b\\",
        "\x1bP>|kitty(0.40.1)\x1b\\",
        "\x1bP>|iTerm2 3.5.0\x1b\\",
        // DECRQSS, XTGETTCAP, DECRQCRA, DECRQPSR.
        "\x1bP1$r0m\x1b\\",
        "\x1bP1$r1;24r\x1b\\",
        "\x1bP0$r\x1b\\",
        "\x1bP1+r544E=787465726D\x1b\\",
        "\x1bP0+r\x1b\\",
        "\x1bP1!~ABCD\x1b\\",
        "\x1bP2$u9/17/25\x1b\\",
        // OSC 4, 10, 11, 12, 52, 1337, and the title.
        "\x1b]4;1;rgb:cccc/0000/0000\x1b\\",
        "\x1b]10;rgb:ffff/ffff/ffff\x07",
        "\x1b]11;rgba:0000/0000/0000/ffff\x1b\\",
        "\x1b]12;#ff8700\x07",
        "\x1b]52;c;cmVmdW5kZWQgcm4=\x1b\\",
        "\x1b]1337;ReportCellSize=17.0;8.0\x1b\\",
        "\x1b]lr n i: \u{201c}refunded\u{201d}\x1b\\",
        "\x1b]L\x1b\\",
        // Graphics and keyboard of kitty, XTMODKEYS, graphics of xterm.
        "\x1b_Gi=1;OK\x1b\\",
        "\x1b_Gi=31;ENOENT:no such file\x1b\\",
        "\x1b[?0u",
        "\x1b[?31u",
        "\x1b[>4;2m",
        "\x1b[?2;0;800;600S",
        // DSR, DECXCPR, CPR, DECRPM, colour scheme, locator.
        "\x1b[0n",
        "\x1b[?13n",
        "\x1b[?997;1n",
        "\x1b[?12;40;1R",
        "\x1b[24;80R",
        "\x1b[1;5R",
        "\x1b[?2026;2$y",
        "\x1b[4;2$y",
        "\x1b[2;1;1;128;128;1;0x",
        "\x1b[1;1;24;80;1&w",
        // The window: state, place, size, and a size in band.
        "\x1b[1t",
        "\x1b[3;100;200t",
        "\x1b[8;40;120t",
        "\x1b[4;800;600t",
        "\x1b[48;40;120;800;960t",
        // SOS and PM.
        "\x1bXrn\x1b\\",
        "\x1b^rn\x1b\\",
    ];

    /// The same with one byte for its introducer and its end.
    const ANSWERS_OF_8_BITS: &[&[u8]] =
        &[b"\x9b>0;276;0c", b"\x90>|XTerm(390)\x9c", b"\x9d11;rgb:ffff/ffff/ffff\x9c", b"\x9fGi=1;OK\x9c"];

    /// A parser whose clock goes on as it is told.
    struct Typing {
        parser: InputParser,
        now: Instant,
    }

    impl Typing {
        fn begin() -> Self {
            let now = Instant::now();
            Self { parser: InputParser::new(now), now }
        }

        fn after(&mut self, millis: u64) {
            self.now += Duration::from_millis(millis);
        }

        fn read(&mut self, bytes: &[u8]) -> Vec<Event> {
            let heard = self.parser.read(bytes, self.now);
            events(heard)
        }

        fn expire(&mut self) -> Vec<Event> {
            events(self.parser.expire(self.now))
        }
    }

    fn events(heard: impl IntoIterator<Item = Received>) -> Vec<Event> {
        let event = |heard| if let Received::Event(event) = heard { Some(event) } else { None };
        heard.into_iter().filter_map(event).collect()
    }

    fn key(code: KeyCode, modifiers: KeyModifiers) -> Event {
        Event::Key(KeyEvent::new(code, modifiers))
    }

    fn letter(letter: char) -> Event {
        key(KeyCode::Char(letter), KeyModifiers::NONE)
    }

    fn all_answers() -> impl Iterator<Item = &'static [u8]> {
        ANSWERS.iter().map(|answer| answer.as_bytes()).chain(ANSWERS_OF_8_BITS.iter().copied())
    }

    #[test]
    fn no_answer_is_a_key_wherever_it_is_split_and_the_next_key_arrives() {
        for answer in all_answers() {
            for at in 0..answer.len() {
                let mut typing = Typing::begin();
                let (begin, end) = answer.split_at(at);

                let mut keys = typing.read(begin);
                typing.after(20);
                keys.extend(typing.expire());
                keys.extend(typing.read(end));
                keys.extend(typing.read(b"j"));

                assert_eq!(keys, [letter('j')], "{:?} at {at}", answer.escape_ascii().to_string());
            }
        }
    }

    #[test]
    fn no_answer_is_a_key_where_each_byte_comes_alone_and_keys_in_the_same_read_arrive() {
        for answer in all_answers() {
            let mut typing = Typing::begin();
            let (last, before) = answer.split_last().unwrap();

            let mut keys: Vec<Event> = Vec::new();
            for byte in before {
                keys.extend(typing.read(&[*byte]));
                typing.after(40);
                keys.extend(typing.expire());
            }
            keys.extend(typing.read(&[&[*last], "ré".as_bytes(), b"\x1b[A"].concat()));

            let expected = [letter('r'), letter('é'), key(KeyCode::Up, KeyModifiers::NONE)];
            assert_eq!(keys, expected, "{:?}", answer.escape_ascii().to_string());
        }
    }

    #[test]
    fn the_rest_of_an_answer_is_no_key_however_late_it_comes() {
        for answer in ANSWERS.iter().filter(|answer| !answer.starts_with("\x1b[")) {
            for at in 3..answer.len() {
                let mut typing = Typing::begin();

                let mut keys = typing.read(&answer.as_bytes()[..at]);
                typing.after(30_000);
                keys.extend(typing.expire());
                keys.extend(typing.read(&answer.as_bytes()[at..]));
                keys.extend(typing.read(b"j"));

                assert_eq!(keys, [letter('j')], "{answer:?} at {at}");
            }
        }
    }

    #[test]
    fn what_follows_an_escape_that_was_a_key_already_is_no_letter() {
        for answer in ANSWERS {
            for at in 1..3 {
                let mut typing = Typing::begin();

                let begun = typing.read(&answer.as_bytes()[..at]);
                typing.after(300);
                let keys = typing.expire();
                let rest = typing.read(&answer.as_bytes()[at..]);

                assert!(
                    begun.is_empty() && keys.len() <= 1 && rest.is_empty(),
                    "{answer:?} at {at}: {keys:?} {rest:?}"
                );
                assert_eq!(typing.read(b"j"), [letter('j')]);
            }
        }
    }

    #[test]
    fn answers_that_follow_each_other_are_all_dropped() {
        let mut typing = Typing::begin();

        let keys = typing.read(ANSWERS.concat().as_bytes());

        assert_eq!(keys, []);
        assert_eq!(typing.read(b"j"), [letter('j')]);
    }

    #[rstest]
    #[case::escape("\x1b", KeyCode::Esc, KeyModifiers::NONE)]
    #[case::before_a_system_command("\x1b]", KeyCode::Char(']'), KeyModifiers::ALT)]
    #[case::before_a_device_string("\x1bP", KeyCode::Char('P'), KeyModifiers::ALT.union(KeyModifiers::SHIFT))]
    #[case::before_a_program_command("\x1b_", KeyCode::Char('_'), KeyModifiers::ALT)]
    #[case::before_a_private_message("\x1b^", KeyCode::Char('^'), KeyModifiers::ALT)]
    #[case::before_a_string("\x1bX", KeyCode::Char('X'), KeyModifiers::ALT.union(KeyModifiers::SHIFT))]
    fn what_may_begin_an_answer_is_a_key_once_nothing_follows(
        #[case] bytes: &str,
        #[case] code: KeyCode,
        #[case] modifiers: KeyModifiers,
    ) {
        let mut typing = Typing::begin();

        assert_eq!(typing.read(bytes.as_bytes()), []);
        typing.after(49);
        assert_eq!(typing.expire(), []);
        typing.after(1);
        assert_eq!(typing.expire(), [key(code, modifiers)]);

        assert_eq!(typing.parser.due(), None, "it is waited for nothing more");
        assert_eq!(typing.read(b"]"), [letter(']')]);
        assert_eq!(typing.read(b"j"), [letter('j')]);
    }

    #[rstest]
    #[case::a_system_command("\x1b]11;rgb:")]
    #[case::a_device_string("\x1bP>|tmux")]
    #[case::of_graphics("\x1b_G")]
    #[case::a_sequence("\x1b[?25")]
    fn a_string_without_an_end_takes_no_key_after_a_rest(#[case] string: &str) {
        let mut typing = Typing::begin();

        let taken = typing.read(string.as_bytes());
        typing.after(900);
        let soon = typing.read(b"1");
        typing.after(1_000);
        let first = typing.read(b"?");
        let later = typing.read(b"j\x1b[A");

        assert_eq!((taken, soon, first), (vec![], vec![], vec![letter('?')]));
        assert_eq!(later, [letter('j'), key(KeyCode::Up, KeyModifiers::NONE)]);
    }

    #[test]
    fn an_escape_breaks_a_string_off_at_once() {
        let mut typing = Typing::begin();

        typing.read(b"\x1b]11;rgb:");

        assert_eq!(typing.read(b"\x1b[Aj"), [key(KeyCode::Up, KeyModifiers::NONE), letter('j')]);
    }

    #[test]
    fn a_long_string_holds_no_more_than_its_end() {
        let mut typing = Typing::begin();

        typing.read(b"\x1b]52;c;");
        for _ in 0..1_000 {
            typing.after(2_000);
            assert_eq!(typing.read(b"cmVmdW5kZWQgcmVmdW5kZWQgcmVmdW5kZWQg"), []);
        }

        assert!(typing.parser.sequence.len() <= LONGEST_ANSWER);
        assert_eq!(typing.read(b"\x1b\\j"), [letter('j')]);
    }

    #[rstest]
    #[case::of_x10(b"\x1b[M !!", MouseEventKind::Down(crossterm::event::MouseButton::Left))]
    #[case::of_urxvt(b"\x1b[32;1;1M", MouseEventKind::Down(crossterm::event::MouseButton::Left))]
    #[case::of_sgr(b"\x1b[<0;1;1M", MouseEventKind::Down(crossterm::event::MouseButton::Left))]
    #[case::released(b"\x1b[<0;1;1m", MouseEventKind::Up(crossterm::event::MouseButton::Left))]
    #[case::the_wheel(b"\x1b[<65;1;1M", MouseEventKind::ScrollDown)]
    fn a_mouse_event_of_each_form_arrives(#[case] bytes: &[u8], #[case] kind: MouseEventKind) {
        for at in 2..bytes.len() {
            let mut typing = Typing::begin();

            let mut heard = typing.read(&bytes[..at]);
            heard.extend(typing.read(&bytes[at..]));

            let [Event::Mouse(mouse)] = heard[..] else { panic!("{heard:?}") };
            assert_eq!((mouse.kind, mouse.column, mouse.row), (kind, 0, 0));
        }
    }

    #[rstest]
    #[case::of_sgr("\x1b[<0;0;0M")]
    #[case::of_urxvt("\x1b[32;00;5M")]
    #[case::of_an_unknown_button("\x1b[<200;1;1M")]
    fn a_mouse_event_from_nowhere_is_dropped(#[case] bytes: &str) {
        let mut typing = Typing::begin();

        assert_eq!(typing.read(bytes.as_bytes()), []);
        assert_eq!(typing.read(b"j"), [letter('j')]);
    }

    #[rstest]
    #[case::an_arrow("\x1b[A", KeyCode::Up, KeyModifiers::NONE)]
    #[case::of_an_application("\x1bOB", KeyCode::Down, KeyModifiers::NONE)]
    #[case::with_ctrl("\x1b[1;5C", KeyCode::Right, KeyModifiers::CONTROL)]
    #[case::back("\x1b[Z", KeyCode::BackTab, KeyModifiers::SHIFT)]
    #[case::a_page("\x1b[5~", KeyCode::PageUp, KeyModifiers::NONE)]
    #[case::a_function_key("\x1b[15~", KeyCode::F(5), KeyModifiers::NONE)]
    #[case::of_the_linux_console("\x1b[[A", KeyCode::F(1), KeyModifiers::NONE)]
    #[case::of_kitty("\x1b[97;5u", KeyCode::Char('a'), KeyModifiers::CONTROL)]
    #[case::of_a_number_pad("\x1b[57400u", KeyCode::Char('1'), KeyModifiers::NONE)]
    #[case::with_other_keys_modified("\x1b[27;5;115~", KeyCode::Char('s'), KeyModifiers::CONTROL)]
    #[case::a_letter("é", KeyCode::Char('é'), KeyModifiers::NONE)]
    #[case::an_emoji("😀", KeyCode::Char('😀'), KeyModifiers::NONE)]
    #[case::ctrl_c("\x03", KeyCode::Char('c'), KeyModifiers::CONTROL)]
    fn a_key_arrives_wherever_it_is_split(#[case] bytes: &str, #[case] code: KeyCode, #[case] modifiers: KeyModifiers) {
        for at in 0..bytes.len() {
            let mut typing = Typing::begin();

            let mut heard = typing.read(&bytes.as_bytes()[..at]);
            typing.after(30);
            heard.extend(typing.read(&bytes.as_bytes()[at..]));

            let [Event::Key(pressed)] = heard[..] else { panic!("{bytes:?} at {at}: {heard:?}") };
            assert_eq!((pressed.code, pressed.modifiers, pressed.kind), (code, modifiers, KeyEventKind::Press));
            assert_eq!(typing.read(b"j"), [letter('j')]);
        }
    }

    #[rstest]
    #[case::alt_and_a_letter(b"\x1bj", &[key(KeyCode::Char('j'), KeyModifiers::ALT)])]
    #[case::alt_and_enter(b"\x1b\r", &[key(KeyCode::Enter, KeyModifiers::ALT)])]
    #[case::alt_and_backspace(b"\x1b\x7f", &[key(KeyCode::Backspace, KeyModifiers::ALT)])]
    #[case::alt_and_another_script("\x1b\u{434}".as_bytes(), &[key(KeyCode::Char('\u{434}'), KeyModifiers::ALT)])]
    #[case::two_escapes(b"\x1b\x1b[A", &[key(KeyCode::Esc, KeyModifiers::NONE), key(KeyCode::Up, KeyModifiers::NONE)])]
    #[case::an_escape_before_an_answer(b"\x1b\x1b]11;#fff\x07j", &[key(KeyCode::Esc, KeyModifiers::NONE), letter('j')])]
    #[case::a_key_that_was_broken_off(b"\x1b[1;\rj", &[key(KeyCode::Enter, KeyModifiers::NONE), letter('j')])]
    #[case::a_mouse_event_that_was_broken_off(b"\x1b[M!\x1b[A", &[key(KeyCode::Up, KeyModifiers::NONE)])]
    #[case::half_a_letter(b"\xc3j", &[letter('j')])]
    #[case::no_letter(b"\xffj", &[letter('j')])]
    #[case::the_end_of_a_lost_string(b"\x1b\\j", &[letter('j')])]
    #[case::a_release(b"\x1b[97;1:3u", &[Event::Key(KeyEvent::new_with_kind(KeyCode::Char('a'), KeyModifiers::NONE,
        KeyEventKind::Release))])]
    #[case::the_focus(b"\x1b[I\x1b[O", &[Event::FocusGained, Event::FocusLost])]
    #[case::a_paste(b"\x1b[200~r\x1b]11;x\x07n\x1b[201~j", &[Event::Paste("r\x1b]11;x\x07n".to_owned()), letter('j')])]
    fn what_is_no_answer_is_taken_as_it_comes(#[case] bytes: &[u8], #[case] expected: &[Event]) {
        assert_eq!(Typing::begin().read(bytes), expected);
    }

    #[rstest]
    #[case::a_letter(b"j", letter('j'))]
    #[case::an_arrow(b"\x1b[A", key(KeyCode::Up, KeyModifiers::NONE))]
    fn an_escape_and_a_key_of_the_next_read_are_two(#[case] next: &[u8], #[case] pressed: Event) {
        let mut typing = Typing::begin();

        let mut keys = typing.read(b"\x1b");
        keys.extend(typing.read(next));

        assert_eq!(keys, [key(KeyCode::Esc, KeyModifiers::NONE), pressed]);
    }

    #[test]
    fn a_paste_without_an_end_is_given_out_with_the_first_key_after_a_rest() {
        let mut typing = Typing::begin();

        typing.read(b"\x1b[200~refunded");
        typing.after(1_000);

        assert_eq!(typing.read(b"j"), [Event::Paste("refunded".to_owned()), letter('j')]);
    }

    #[test]
    fn a_paste_that_comes_slowly_is_one() {
        let mut typing = Typing::begin();

        typing.read(b"\x1b[200~refunded on the ");
        typing.after(5_000);
        let middle = typing.read(b"28th of November, order ");
        typing.after(5_000);
        let end = typing.read(b"7\x1b[201~");

        assert_eq!(middle, []);
        assert_eq!(end, [Event::Paste("refunded on the 28th of November, order 7".to_owned())]);
    }

    #[test]
    fn the_query_for_the_background_finds_its_answer_among_others() {
        let mut parser = InputParser::new(Instant::now());

        let heard = parser.read(b"\x1bP>|tmux 3.4\x1b\\\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[0n", Instant::now());

        let expected: [&[u8]; 3] = [b"\x1bP>|tmux 3.4\x1b\\", b"\x1b]11;rgb:0000/0000/0000\x1b\\", b"\x1b[0n"];
        assert_eq!(heard, expected.map(|answer| Received::Answer(answer.to_vec())));
    }
}
