//! Pictures of a terminal as SVG: one screen, or several one after the other.

use std::{collections::BTreeMap, fmt::Write as _};

use vt100::{Cell, Color, Screen};

/// The size of a cell.
const WIDTH: f32 = 8.4;
const HEIGHT: f32 = 18.0;
/// Where the feet of letters stand in a cell, from its top.
const BASE: f32 = 13.5;
const MARGIN: f32 = 8.0;
const FONT: &str = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace";
/// What a terminal shows where a program asks for no colour.
const PAGE: &str = "#16181b";
const TEXT: &str = "#c9d1d9";

/// A screen, how many milliseconds it stands in a film, and what is told below it.
pub struct Frame {
    pub screen: Screen,
    pub stands: u32,
    pub caption: String,
}

/// Draws one screen.
pub fn picture(screen: &Screen) -> String {
    let mut pen = Pen::default();
    let (rows, columns) = size(screen);
    let lines: String = (0..rows).map(|row| pen.line(screen, row, f32::from(row) * HEIGHT)).collect();
    document(columns, f32::from(rows) * HEIGHT, &pen.styles(""), &lines)
}

/// Draws screens one after the other, without an end. Each different line of them is written once.
pub fn film(frames: &[Frame]) -> String {
    let mut pen = Pen::default();
    let mut known = BTreeMap::new();
    let (mut lines, mut shown, mut times) = (String::new(), String::new(), String::new());
    let (rows, columns) = size(&frames[0].screen);
    let height = f32::from(rows + 2) * HEIGHT;
    let whole: u32 = frames.iter().map(|frame| frame.stands).sum();
    let mut since = 0;
    for (number, Frame { screen, stands, caption }) in frames.iter().enumerate() {
        let top = height * f32::from(u16::try_from(number).unwrap());
        for row in 0..rows {
            let line = pen.line(screen, row, 0.0);
            if line.is_empty() {
                continue;
            }
            let next = known.len();
            let name = *known.entry(line).or_insert_with_key(|line| {
                writeln!(lines, "<g id=\"l{next}\">{line}</g>").unwrap();
                next
            });
            write!(shown, "<use href=\"#l{name}\" y=\"{}\"/>", short(top + f32::from(row) * HEIGHT)).unwrap();
        }
        let foot = top + height - 6.0;
        writeln!(
            shown,
            "<text class=\"t\" x=\"{}\" y=\"{}\">{}</text>",
            short(2.0 * WIDTH),
            short(foot),
            escaped(caption)
        )
        .unwrap();
        let part = f64::from(since) * 100.0 / f64::from(whole);
        writeln!(times, "{part:.3}%{{transform:translateY(-{}px)}}", short(top)).unwrap();
        since += stands;
    }
    let seconds = f64::from(whole) / 1_000.0;
    let styles = format!(
        ".t{{fill:#f0f6fc;font-weight:bold}}.film{{animation:film {seconds:.2}s step-end infinite}}\n@keyframes \
            film{{\n{times}}}\n\
         @media (prefers-reduced-motion:reduce){{.film{{animation:none}}}}"
    );
    let body = format!("<defs>\n{lines}</defs>\n<g class=\"film\">\n{shown}</g>\n");
    document(columns, height, &pen.styles(&styles), &body)
}

fn document(columns: u16, height: f32, styles: &str, body: &str) -> String {
    let (width, whole) = (short(f32::from(columns) * WIDTH + 2.0 * MARGIN), short(height + 2.0 * MARGIN));
    let clip = format!(
        "<clipPath id=\"c\"><rect width=\"{}\" height=\"{}\"/></clipPath>",
        short(f32::from(columns) * WIDTH),
        short(height)
    );
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {whole}\" width=\"{width}\" \
            height=\"{whole}\">\n\
         <style>text{{font:14px {FONT};fill:{TEXT};white-space:pre}}rect{{shape-rendering:crispEdges}}\n\
         {styles}</style>\n\
         {clip}<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"{PAGE}\"/>\n\
         <g transform=\"translate({MARGIN} {MARGIN})\"><g clip-path=\"url(#c)\">\n{body}</g></g>\n</svg>\n"
    )
}

/// How a run of cells looks.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Look {
    fill: String,
    back: Option<String>,
    bold: bool,
    italic: bool,
    underlined: bool,
}

/// What was drawn so far: a class for each look of text.
#[derive(Default)]
struct Pen {
    classes: BTreeMap<String, usize>,
}

impl Pen {
    /// The rules of the classes, behind others.
    fn styles(&self, others: &str) -> String {
        let mut named: Vec<_> = self.classes.iter().collect();
        named.sort_by_key(|(_, number)| **number);
        let rules: String = named.iter().map(|(rule, number)| format!(".s{number}{{{rule}}}\n")).collect();
        format!("{rules}{others}")
    }

    fn class(&mut self, look: &Look) -> String {
        let mut rule = format!("fill:{}", look.fill);
        for (is_so, word) in [
            (look.bold, ";font-weight:bold"),
            (look.italic, ";font-style:italic"),
            (look.underlined, ";text-decoration:underline"),
        ] {
            if is_so {
                rule.push_str(word);
            }
        }
        let next = self.classes.len();
        format!("s{}", self.classes.entry(rule).or_insert(next))
    }

    /// One line of a screen at this height; nothing where it is empty.
    fn line(&mut self, screen: &Screen, row: u16, top: f32) -> String {
        let (_, columns) = size(screen);
        let cells: Vec<&Cell> = (0..columns).map(|column| screen.cell(row, column).expect("a cell")).collect();
        let (mut backs, mut texts) = (String::new(), String::new());
        let mut begin = 0;
        while begin < cells.len() {
            let look = look(cells[begin]);
            let mut end = begin + 1;
            while end < cells.len() && self::look(cells[end]).back == look.back {
                end += 1;
            }
            if let Some(back) = &look.back {
                rectangle(&mut backs, (begin as f32 * WIDTH, top), ((end - begin) as f32 * WIDTH, HEIGHT), back);
            }
            begin = end;
        }
        let mut begin = 0;
        while begin < cells.len() {
            let look = look(cells[begin]);
            let mut end = begin + 1;
            if is_plain(cells[begin]) {
                while end < cells.len()
                    && is_plain(cells[end])
                    && self::look(cells[end]) == look
                    && !is_gap(&cells[end - 1..])
                {
                    end += 1;
                }
            } else if cells[begin].is_wide() {
                end += 1;
            } else {
                // Blocks of a bar are one.
                while end < cells.len()
                    && cells[end].contents() == cells[begin].contents()
                    && self::look(cells[end]) == look
                {
                    end += 1;
                }
            }
            self.run(&mut texts, &cells[begin..end.min(cells.len())], &look, (begin as f32 * WIDTH, top));
            begin = end;
        }
        backs + &texts
    }

    /// Cells of one look.
    fn run(&mut self, texts: &mut String, cells: &[&Cell], look: &Look, at: (f32, f32)) {
        let text: String =
            cells.iter().map(|cell| if cell.contents().is_empty() { " " } else { cell.contents() }).collect();
        let sign = text.chars().next().unwrap_or(' ');
        if let Some(parts) = drawn(sign) {
            let joins = parts.iter().all(|(_, _, width, _)| *width == 1.0);
            let (pieces, length) = if joins { (1, cells.len() as f32) } else { (cells.len(), 1.0) };
            for piece in 0..pieces {
                for (x, y, width, height) in &parts {
                    let corner = (at.0 + (piece as f32 + x) * WIDTH, at.1 + y * HEIGHT);
                    rectangle(texts, corner, (width * length * WIDTH, height * HEIGHT), &look.fill);
                }
            }
            return;
        }
        if text.trim().is_empty() {
            return;
        }
        let behind = text.trim_end();
        let begins = behind.len() - behind.trim_start().len();
        let (x, width) = (at.0 + begins as f32 * WIDTH, cells.len() - begins - (text.len() - behind.len()));
        let class = self.class(look);
        let (x, y, length) = (short(x), short(at.1 + BASE), short(width as f32 * WIDTH));
        let text = escaped(behind.trim_start());
        write!(
            texts,
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" textLength=\"{length}\" \
                lengthAdjust=\"spacingAndGlyphs\">{text}</text>"
        )
        .unwrap();
    }
}

/// Parts of a cell that a sign fills, each as left, top, width and height: lines and blocks would have gaps between
/// them as letters.
fn drawn(sign: char) -> Option<Vec<(f32, f32, f32, f32)>> {
    let line = 1.0 / WIDTH;
    let thin = 1.0 / HEIGHT;
    Some(match sign {
        '│' => vec![(0.45, 0.0, line, 1.0)],
        '┃' => vec![(0.4, 0.0, 2.0 * line, 1.0)],
        '─' => vec![(0.0, 0.5, 1.0, thin)],
        '━' => vec![(0.0, 0.5, 1.0, 2.0 * thin)],
        '╭' => vec![(0.45, 0.5, 0.55, thin), (0.45, 0.5, line, 0.5)],
        '╮' => vec![(0.0, 0.5, 0.45 + line, thin), (0.45, 0.5, line, 0.5)],
        '╰' => vec![(0.45, 0.5, 0.55, thin), (0.45, 0.0, line, 0.5)],
        '╯' => vec![(0.0, 0.5, 0.45 + line, thin), (0.45, 0.0, line, 0.5)],
        '▉'..='▏' => vec![(0.0, 0.0, (0x2590 - u32::from(sign)) as f32 / 8.0, 1.0)],
        '▁'..='█' => {
            let height = (u32::from(sign) - 0x2580) as f32 / 8.0;
            vec![(0.0, 1.0 - height, 1.0, height)]
        }
        _ => return None,
    })
}

fn rectangle(into: &mut String, (x, y): (f32, f32), (width, height): (f32, f32), fill: &str) {
    let (x, y, width, height) = (short(x), short(y), short(width), short(height));
    write!(into, "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"/>").unwrap();
}

fn look(cell: &Cell) -> Look {
    let (mut fill, mut back) = (color(cell.fgcolor()), color(cell.bgcolor()));
    if cell.inverse() {
        (fill, back) = (back.or(Some(PAGE.to_owned())), fill.or(Some(TEXT.to_owned())));
    }
    Look {
        fill: fill.unwrap_or_else(|| TEXT.to_owned()),
        back: back.filter(|back| back != PAGE),
        bold: cell.bold(),
        italic: cell.italic(),
        underlined: cell.underline(),
    }
}

/// A colour as it is; the demo is pictured with truecolor, so no other kind comes.
fn color(color: Color) -> Option<String> {
    match color {
        Color::Default => None,
        Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
        Color::Idx(number) => panic!("colour {number} depends on the terminal"),
    }
}

/// Whether a cell is a letter of the usual width that every font has.
fn is_plain(cell: &Cell) -> bool {
    cell.contents().is_ascii()
}

fn size(screen: &Screen) -> (u16, u16) {
    let (rows, columns) = screen.size();
    (rows.get(), columns.get())
}

/// Whether two blanks come next: what stands behind them is a run of its own, because blanks in a row are shown as one
/// here and there.
fn is_gap(cells: &[&Cell]) -> bool {
    let is_blank = |cell: &&&Cell| cell.contents().trim().is_empty();
    cells.iter().take(2).filter(is_blank).count() == 2
}

/// A number with one decimal at most.
fn short(number: f32) -> String {
    format!("{number:.1}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
