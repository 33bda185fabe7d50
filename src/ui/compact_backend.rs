//! The compact backend, which sends less: crossterm's own says both colours again with every change of one and goes
//! every way by its full address.
//!
//! Only what changes of a cell's ink is sent, cells of one ink after each other, and short ways within a line are gone
//! by a relative move. That is felt on a slow line to another machine.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use ratatui::{
    backend::{Backend, ClearType, CrosstermBackend, WindowSize},
    buffer::Cell,
    layout::{Position, Size},
    style::{Color, Modifier},
};

/// A backend that writes cells with few bytes; everything else is crossterm's.
pub struct CompactBackend<W: Write> {
    inner: CrosstermBackend<W>,
    /// True where the cursor is surely seen, false where it is surely hidden: a frame that changes nothing sends
    /// nothing.
    is_seen: Option<bool>,
    /// Where it surely stands.
    cursor: Option<Position>,
}

/// Modifiers that are seen on a blank too.
const SEEN_ON_BLANK: Modifier = Modifier::UNDERLINED.union(Modifier::REVERSED).union(Modifier::CROSSED_OUT);

impl<W: Write> CompactBackend<W> {
    /// Writes here.
    pub const fn new(writer: W) -> Self {
        Self { inner: CrosstermBackend::new(writer), is_seen: None, cursor: None }
    }

    /// Somebody else had the terminal: nothing is known of its cursor.
    pub const fn forget(&mut self) {
        (self.is_seen, self.cursor) = (None, None);
    }
}

/// Weight: one code takes both kinds away.
const WEIGHT: Modifier = Modifier::BOLD.union(Modifier::DIM);

/// The 16 ANSI colours in the order of their codes.
pub(crate) const ANSI: [Color; 16] = [
    Color::Black,
    Color::Red,
    Color::Green,
    Color::Yellow,
    Color::Blue,
    Color::Magenta,
    Color::Cyan,
    Color::Gray,
    Color::DarkGray,
    Color::LightRed,
    Color::LightGreen,
    Color::LightYellow,
    Color::LightBlue,
    Color::LightMagenta,
    Color::LightCyan,
    Color::White,
];

/// What a terminal writes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ink {
    fg: Color,
    bg: Color,
    modifier: Modifier,
}

impl Ink {
    const NONE: Self = Self { fg: Color::Reset, bg: Color::Reset, modifier: Modifier::empty() };

    fn of(cell: &Cell) -> Self {
        Self { fg: cell.fg, bg: cell.bg, modifier: cell.modifier }
    }

    /// Returns true where a blank looks the same in both.
    fn has_ground_of(self, other: Self) -> bool {
        self.bg == other.bg && !self.modifier.union(other.modifier).intersects(SEEN_ON_BLANK)
    }

    /// The sequence that makes `to` of this; nothing where they are the same.
    fn change(self, to: Self) -> String {
        let mut codes = String::new();
        let mut code = |code: std::fmt::Arguments<'_>| {
            let separator = if codes.is_empty() { "\x1b[" } else { ";" };
            // Writing to a text does not fail.
            let _ = write!(codes, "{separator}{code}");
        };
        let lost = self.modifier.difference(to.modifier);
        let now = if lost.is_empty() {
            self
        } else if WEIGHT.contains(lost) {
            code(format_args!("22"));
            Self { modifier: self.modifier.difference(WEIGHT), ..self }
        } else {
            code(format_args!("0"));
            Self::NONE
        };
        // The code of each is its place among them, from 1.
        for modifier in to.modifier.difference(now.modifier) {
            code(format_args!("{}", modifier.bits().trailing_zeros() + 1));
        }
        for (before, after, base) in [(now.fg, to.fg, 30), (now.bg, to.bg, 40)] {
            if before != after {
                match after {
                    Color::Rgb(r, g, b) => code(format_args!("{};2;{r};{g};{b}", base + 8)),
                    Color::Indexed(index) => code(format_args!("{};5;{index}", base + 8)),
                    named => code(format_args!("{}", base + named_color(named))),
                }
            }
        }
        if !codes.is_empty() {
            codes.push('m');
        }
        codes
    }
}

/// The code of a named colour behind that of black; 9 is the terminal's own.
fn named_color(color: Color) -> usize {
    match ANSI.iter().position(|ansi| *ansi == color) {
        Some(bright @ 8..) => bright + 52,
        Some(place) => place,
        None => 9,
    }
}

/// The way to a cell. `known` says where the terminal's cursor surely is.
fn way(known: Option<Position>, to: Position) -> String {
    match known {
        Some(at) if at == to => String::new(),
        Some(at) if at.y == to.y && at.x < to.x && to.x - at.x == 1 => "\x1b[C".to_owned(),
        Some(at) if at.y == to.y && at.x < to.x => format!("\x1b[{}C", to.x - at.x),
        _ => format!("\x1b[{};{}H", to.y + 1, to.x + 1),
    }
}

/// Cells in their order, each with its symbol.
type Cells<'a> = Vec<(Position, &'a str)>;

/// Groups the cells of a frame by their ink: a way to a cell is shorter than two changes of ink.
fn by_ink<'a>(content: impl Iterator<Item = (u16, u16, &'a Cell)>) -> Vec<(Ink, Cells<'a>)> {
    let mut groups: Vec<(Ink, Cells<'a>)> = Vec::new();
    let mut current = 0;
    for (x, y, cell) in content {
        let wanted = Ink::of(cell);
        // On a blank the ground alone is seen.
        let serves = |ink: Ink| ink == wanted || cell.symbol() == " " && ink.has_ground_of(wanted);
        if !groups.get(current).is_some_and(|(ink, _)| serves(*ink)) {
            current = groups.iter().position(|(ink, _)| serves(*ink)).unwrap_or(groups.len());
            if current == groups.len() {
                groups.push((wanted, Vec::new()));
            }
        }
        groups[current].1.push((Position { x, y }, cell.symbol()));
    }
    groups
}

impl<W: Write> Backend for CompactBackend<W> {
    type Error = io::Error;

    fn draw<'a, I: Iterator<Item = (u16, u16, &'a Cell)>>(&mut self, content: I) -> io::Result<()> {
        let mut ink = Ink::NONE;
        let mut last: Option<Position> = None;
        // Terminals differ in how wide they take some signs: only ASCII tells where the cursor surely is behind it.
        let mut sure = false;
        for (wanted, cells) in by_ink(content) {
            self.inner.write_all(ink.change(wanted).as_bytes())?;
            ink = wanted;
            for (at, symbol) in cells {
                let next = last.map(|last| Position { x: last.x + 1, y: last.y });
                if next != Some(at) {
                    self.inner.write_all(way(next.filter(|_| sure), at).as_bytes())?;
                    sure = true;
                }
                last = Some(at);
                self.inner.write_all(symbol.as_bytes())?;
                sure &= symbol.len() == 1;
            }
        }
        if last.is_some() {
            self.cursor = None;
        }
        if ink == Ink::NONE { Ok(()) } else { self.inner.write_all(b"\x1b[0m") }
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        if self.is_seen.replace(false) == Some(false) {
            return Ok(());
        }
        self.inner.hide_cursor()
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        if self.is_seen.replace(true) == Some(true) {
            return Ok(());
        }
        self.inner.show_cursor()
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        self.inner.get_cursor_position()
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        let position = position.into();
        if self.cursor.replace(position) == Some(position) {
            return Ok(());
        }
        self.inner.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.inner.clear()
    }

    fn clear_region(&mut self, region: ClearType) -> io::Result<()> {
        self.inner.clear_region(region)
    }

    fn size(&self) -> io::Result<Size> {
        self.inner.size()
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        self.inner.window_size()
    }

    fn flush(&mut self) -> io::Result<()> {
        Backend::flush(&mut self.inner)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;

    use super::*;
    use crate::terminal::FrameWriter;

    const AREA: Rect = Rect::new(0, 0, 12, 4);

    fn cell() -> impl Strategy<Value = Cell> {
        let colors = vec![
            Color::Reset,
            Color::Red,
            Color::DarkGray,
            Color::White,
            Color::Indexed(200),
            Color::Rgb(1, 2, 3),
            Color::Rgb(201, 209, 217),
        ];
        let modifiers = [Modifier::BOLD, Modifier::DIM, Modifier::UNDERLINED, Modifier::REVERSED, Modifier::ITALIC];
        let modifiers = proptest::sample::subsequence(modifiers.to_vec(), 0..=3)
            .prop_map(|all| all.into_iter().collect::<Modifier>());
        let signs = select(vec!["a", "b", " ", " ", "·", "▌"]);
        (signs, select(colors.clone()), select(colors), modifiers).prop_map(|(sign, fg, bg, modifier)| {
            let mut cell = Cell::default();
            cell.set_symbol(sign);
            // The terminal that the test looks at knows one weight at a time.
            let modifier = if modifier.contains(WEIGHT) { modifier.difference(Modifier::DIM) } else { modifier };
            (cell.fg, cell.bg, cell.modifier) = (fg, bg, modifier);
            cell
        })
    }

    fn buffer() -> impl Strategy<Value = Buffer> {
        proptest::collection::vec(cell(), AREA.area() as usize).prop_map(|content| Buffer { area: AREA, content })
    }

    /// What a terminal shows after these frames: sign and ink of every cell, of a blank one the ground.
    fn shown(frames: &[Vec<u8>]) -> Vec<String> {
        let mut parser = vt100::Parser::new(4.try_into().unwrap(), 12.try_into().unwrap(), 0);
        frames.iter().for_each(|bytes| parser.process(bytes));
        let screen = parser.screen();
        let cells = (0..AREA.height).flat_map(|y| (0..AREA.width).map(move |x| (x, y)));
        let seen = |cell: &vt100::Cell| {
            let is_blank = cell.contents().trim().is_empty() && !cell.underline() && !cell.inverse();
            if is_blank { format!("{:?}", cell.bgcolor()) } else { format!("{cell:?}") }
        };
        cells.map(|(x, y)| screen.cell(y, x).map(seen).unwrap_or_default()).collect()
    }

    /// What is sent for each of these frames, by avert's backend or by crossterm's own.
    fn sent(lean: bool, frames: &[Buffer]) -> Vec<Vec<u8>> {
        let mut before = Buffer::empty(AREA);
        let mut all = Vec::new();
        for frame in frames {
            let (mut bytes, changes) = (Vec::new(), before.diff(frame));
            if lean {
                CompactBackend::new(&mut bytes).draw(changes.into_iter()).unwrap();
            } else {
                CrosstermBackend::new(&mut bytes).draw(changes.into_iter()).unwrap();
            }
            all.push(bytes);
            before = frame.clone();
        }
        all
    }

    proptest! {
        #[test]
        fn a_terminal_shows_what_crossterms_own_backend_shows_and_gets_fewer_bytes(
            frames in proptest::collection::vec(buffer(), 1..4),
        ) {
            crossterm::style::force_color_output(true);
            let (lean, usual) = (sent(true, &frames), sent(false, &frames));

            prop_assert_eq!(shown(&lean), shown(&usual));
            prop_assert!(lean.concat().len() <= usual.concat().len());
        }
    }

    #[test]
    fn only_what_changes_of_the_ink_is_sent() {
        let ink = |fg, modifier| Ink { fg, bg: Color::Rgb(9, 9, 9), modifier };
        let (plain, strong) = (ink(Color::Rgb(1, 2, 3), Modifier::empty()), ink(Color::Rgb(4, 5, 6), Modifier::BOLD));

        assert_eq!(plain.change(strong), "\x1b[1;38;2;4;5;6m");
        assert_eq!(strong.change(plain), "\x1b[22;38;2;1;2;3m");
        assert_eq!(plain.change(plain), "");
        assert_eq!(
            ink(Color::Red, Modifier::REVERSED).change(ink(Color::LightRed, Modifier::empty())),
            "\x1b[0;91;48;2;9;9;9m"
        );
    }

    #[test]
    fn behind_a_sign_of_doubtful_width_the_way_is_told_in_full() {
        let frame = |text: &str| {
            let mut buffer = Buffer::empty(AREA);
            buffer.set_string(0, 1, text, ratatui::style::Style::new());
            String::from_utf8(sent(true, &[buffer]).concat()).unwrap()
        };

        assert_eq!(frame("a  b"), "\x1b[2;1Ha\x1b[2Cb");
        assert_eq!(frame("⚠  ·"), "\x1b[2;1H⚠\x1b[2;4H·");
    }

    #[test]
    fn cells_of_one_ink_are_sent_after_each_other() {
        let (quiet, strong) =
            (ratatui::style::Style::new().fg(Color::Red), ratatui::style::Style::new().fg(Color::Blue));
        let mut buffer = Buffer::empty(AREA);
        for y in 0..2 {
            buffer.set_string(0, y, "due ", quiet);
            buffer.set_string(4, y, "9.50 ", strong);
            buffer.set_string(9, y, "EUR", quiet);
        }

        let bytes = String::from_utf8(sent(true, &[buffer]).concat()).unwrap();

        let red = "\x1b[31m\x1b[1;1Hdue \x1b[5CEUR\x1b[2;1Hdue \x1b[5CEUR";
        assert_eq!(bytes, format!("{red}\x1b[34m\x1b[1;5H9.50 \x1b[2;5H9.50 \x1b[0m"));
    }

    #[test]
    fn a_cursor_that_stands_where_it_is_wanted_is_sent_nothing_until_something_is_drawn() {
        let writer = FrameWriter::new(Vec::new());
        let mut backend = CompactBackend::new(writer.clone());
        let cell = Cell::new("a");
        let mut present = |drawn: &[(u16, u16, &Cell)], at: (u16, u16)| {
            backend.draw(drawn.iter().copied()).unwrap();
            backend.show_cursor().unwrap();
            backend.set_cursor_position(at).unwrap();
            writer.present().unwrap() > 0
        };

        let sent = [
            present(&[], (3, 1)),
            present(&[], (3, 1)),
            present(&[], (4, 1)),
            present(&[(0, 0, &cell)], (4, 1)),
            present(&[], (4, 1)),
        ];

        assert_eq!(sent, [true, false, true, true, false]);
    }

    #[test]
    fn a_cursor_that_is_hidden_is_not_hidden_again_until_somebody_else_had_the_terminal() {
        let writer = FrameWriter::new(Vec::new());
        let mut backend = CompactBackend::new(writer.clone());
        let hide = |backend: &mut CompactBackend<FrameWriter<Vec<u8>>>| {
            backend.hide_cursor().unwrap();
            writer.present().unwrap() > 0
        };

        let first = [hide(&mut backend), hide(&mut backend)];
        backend.show_cursor().unwrap();
        let shown = hide(&mut backend);
        backend.forget();

        assert_eq!((first, shown, hide(&mut backend)), ([true, false], true, true));
    }
}
