//! Lines that fit: segments give way by rank, the highest first, until all of them have room.

use std::borrow::Cow;

use ratatui::{
    buffer::Buffer,
    layout::{Constraint, Layout, Rect},
    style::Style,
};

use crate::{
    Pen, Theme,
    text::{columns, cut},
};

/// A segment of a line.
#[derive(Debug, Clone)]
pub struct Segment<T> {
    /// Blank columns before it.
    gap: u16,
    text: String,
    style: Style,
    /// Shorter texts, each with the rank at which it takes over; empty for none.
    shorter: Vec<(u8, String)>,
    target: Option<T>,
    is_right: bool,
    /// The rank at which it is cut, and the fewest columns that it may be cut to.
    least: Option<(u8, u16)>,
}

impl<T: Copy> Segment<T> {
    /// A segment that never gives way, after so many blank columns.
    pub fn new(gap: u16, text: impl Into<String>, style: Style) -> Self {
        let (shorter, target) = (Vec::new(), None);
        Self { gap, text: text.into(), style, shorter, target, is_right: false, least: None }
    }

    /// The same with a shorter text for when this rank gives way; of several the last one holds.
    #[must_use]
    pub fn or(mut self, rank: u8, text: impl Into<String>) -> Self {
        self.shorter.push((rank, text.into()));
        self
    }

    /// The same left out when this rank gives way.
    #[must_use]
    pub fn or_none(self, rank: u8) -> Self {
        self.or(rank, "")
    }

    /// The same with the meaning of a click on it.
    #[must_use]
    pub fn target(self, target: T) -> Self {
        Self { target: Some(target), ..self }
    }

    /// The same at the right end of the line.
    #[must_use]
    pub fn right(self) -> Self {
        Self { is_right: true, ..self }
    }

    /// The same cut to as few columns when this rank gives way.
    #[must_use]
    pub fn cut_to(self, rank: u8, least: u16) -> Self {
        Self { least: Some((rank, least)), ..self }
    }

    /// Its text once these ranks have given way.
    fn shown(&self, given: &[u8]) -> &str {
        let shorter = self.shorter.iter().rev().find(|(rank, _)| given.contains(rank));
        shorter.map_or(self.text.as_str(), |(_, text)| text)
    }

    /// Fewest columns of its text, where it is cut once these ranks have given way.
    fn cut(&self, given: &[u8]) -> Option<u16> {
        self.least.filter(|(rank, _)| given.contains(rank)).map(|(_, least)| least)
    }

    /// Its text; what is cut takes of what is left over, too.
    fn fitted(&self, given: &[u8], spare: &mut u16) -> Cow<'_, str> {
        let text = self.shown(given);
        let Some(least) = self.cut(given) else { return Cow::Borrowed(text) };
        let text = cut(text, least + *spare);
        *spare -= columns(&text).max(least) - least;
        text
    }

    fn width(&self, given: &[u8]) -> u16 {
        let text = columns(self.shown(given));
        match text.min(self.cut(given).unwrap_or(u16::MAX)) {
            0 => 0,
            width => self.gap + width,
        }
    }
}

fn needed<T: Copy>(segments: &[Segment<T>], given: &[u8]) -> u16 {
    segments.iter().map(|segment| segment.width(given)).sum()
}

/// The ranks that give way in so many columns.
fn solve<T: Copy>(segments: &[Segment<T>], width: u16) -> Vec<u8> {
    let mut ranks: Vec<u8> = segments
        .iter()
        .flat_map(|segment| segment.shorter.iter().map(|(rank, _)| *rank).chain(segment.least.map(|(rank, _)| rank)))
        .collect();
    ranks.sort_unstable_by(|one, other| other.cmp(one));
    ranks.dedup();
    let mut given = Vec::new();
    for rank in ranks {
        if needed(segments, &given) <= width {
            break;
        }
        given.push(rank);
    }
    // A rank that has room beside those that gave way after it comes back, the most valued first. What is cut has the
    // room before what is worth less.
    let is_cut = |rank: u8| segments.iter().any(|segment| segment.least.is_some_and(|(of, _)| of == rank));
    for rank in given.clone().into_iter().rev() {
        let without: Vec<u8> = given.iter().copied().filter(|other| *other != rank).collect();
        if needed(segments, &without) <= width {
            given = without;
        } else if is_cut(rank) {
            break;
        }
    }
    given
}

/// Draws a line; `note` is told where each segment with a target stands. Returns what is left of those at the right.
pub fn draw<T: Copy>(segments: &[Segment<T>], buffer: &mut Buffer, line: Rect, mut note: impl FnMut(Rect, T)) -> Rect {
    let given = solve(segments, line.width);
    let mut spare = line.width - needed(segments, &given).min(line.width);
    let texts: Vec<_> = segments.iter().map(|segment| (segment, segment.fitted(&given, &mut spare))).collect();
    let shown = || texts.iter().filter(|(_, text)| !text.is_empty());
    let at_right = shown().filter(|(segment, _)| segment.is_right);
    let right: u16 = at_right.map(|(segment, text)| segment.gap + columns(text)).sum();
    let [left, right] = Layout::horizontal([Constraint::Fill(1), Constraint::Length(right)]).areas(line);
    for (is_right, area) in [(false, left), (true, right)] {
        let mut pen = Pen::new(buffer, area);
        for (segment, text) in shown().filter(|(segment, _)| segment.is_right == is_right) {
            pen.skip(segment.gap);
            let area = pen.put(text, segment.style);
            if let Some(target) = segment.target {
                note(area, target);
            }
        }
    }
    left
}

/// A key and what it does, as a footer tells it.
#[derive(Debug, Clone)]
pub struct KeyHint<T> {
    pub key: String,
    pub words: String,
    pub target: T,
    /// True where it stays, however narrow the line gets.
    pub stays: bool,
}

impl<T: Copy> KeyHint<T> {
    /// A key that gives way.
    pub fn new(key: impl Into<String>, words: impl Into<String>, target: T) -> Self {
        Self { key: key.into(), words: words.into(), target, stays: false }
    }

    /// The key and its words after so many blank columns, which are one target.
    pub fn segments(self, gap: u16, theme: &Theme) -> [Segment<T>; 2] {
        // The blank between key and words is clicked as well.
        let words = Segment::new(0, format!(" {}", self.words), theme.quiet);
        [Segment::new(gap, self.key, theme.key), words].map(|part| part.target(self.target))
    }
}

/// Blank columns between two keys, and the rank of the first one.
const BETWEEN_KEYS: u16 = 3;
const FIRST_KEY: u8 = 10;

/// Keys beside each other, the last of which gives way first.
pub fn keys<T: Copy>(keys: impl IntoIterator<Item = KeyHint<T>>, theme: &Theme) -> Vec<Segment<T>> {
    let ranked = (FIRST_KEY..).step_by(2).zip(keys).flat_map(|(rank, key)| {
        let stays = key.stays;
        let gap = if rank == FIRST_KEY { 0 } else { BETWEEN_KEYS };
        key.segments(gap, theme).map(|part| if stays { part } else { part.or_none(rank) })
    });
    ranked.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line() -> Vec<Segment<char>> {
        let style = Style::new();
        vec![
            Segment::new(0, "place", style).cut_to(1, 3),
            Segment::new(2, "Queue", style).or(2, "Que").target('q'),
            Segment::new(1, "program", style).or_none(4),
            Segment::new(2, "live since 14:03", style).or(3, "live").right(),
        ]
    }

    fn shown(width: u16) -> (String, Vec<(Rect, char)>) {
        let area = Rect::new(0, 0, width, 1);
        let (mut buffer, mut noted) = (Buffer::empty(area), Vec::new());
        draw(&line(), &mut buffer, area, |area, target| noted.push((area, target)));
        ((0..width).map(|x| buffer[(x, 0)].symbol()).collect(), noted)
    }

    #[test]
    fn the_highest_rank_gives_way_first_and_comes_back_where_it_has_room() {
        assert_eq!(shown(40).0, "place  Queue program    live since 14:03");
        assert_eq!(shown(32).0, "place  Queue    live since 14:03");
        assert_eq!(shown(26).0, "place  Queue program  live");
        assert_eq!(shown(18).0, "place  Queue  live");
        assert_eq!(shown(16).0, "place  Que  live");
        assert_eq!(shown(14).0, "pl…  Que  live");
    }

    #[test]
    fn a_click_is_noted_where_the_segment_stands() {
        assert_eq!(shown(40).1, [(Rect::new(7, 0, 5, 1), 'q')]);
    }

    proptest! {
        #[test]
        fn what_fits_is_as_wide_as_the_line_at_most(width in 14u16..60) {
            let given = solve(&line(), width);

            prop_assert!(needed(&line(), &given) <= width.max(16));
        }
    }
}
