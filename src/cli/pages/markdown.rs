//! Markdown of the pages of the reference: read as blocks, and rendered as text for a terminal or for a pipe, and as
//! roff for `man`.

use std::borrow::Cow;

use comfy_table::{ContentArrangement, Table as Grid, presets::NOTHING};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use roff::{Inline, Roff, bold, italic, roman};
use textwrap::{WordSplitter, WrapAlgorithm};

/// Block of a page.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Block {
    /// Heading with its level; 1 is the page's own title.
    Heading(u8, String),
    Paragraph(Spans),
    /// Paragraph of a list item, with its mark, which is empty in a further paragraph.
    Item(String, Spans),
    /// Lines as they are.
    Code(String),
    Table(PageTable),
}

/// Table: the names of the columns, and rows of as many cells.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PageTable {
    pub(super) head: Vec<Spans>,
    pub(super) rows: Vec<Vec<Spans>>,
}

/// Text of one paragraph or cell.
pub(super) type Spans = Vec<Span>;

/// Span of text that looks the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) text: String,
    pub(super) look: Look,
}

/// Look of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Plain,
    Strong,
    Emphasis,
    Code,
    /// Name of another page, behind the text of its link.
    Page,
}

/// Reads a page.
pub(super) fn blocks(page: &str) -> Vec<Block> {
    let mut reader = Reader::default();
    for event in Parser::new_ext(page, Options::ENABLE_TABLES) {
        reader.take(event);
    }
    reader.blocks
}

#[derive(Default)]
struct Reader {
    blocks: Vec<Block>,
    text: Spans,
    looks: Vec<Look>,
    /// Targets of the open links.
    links: Vec<String>,
    /// Number of the next item of each open list; `None` where its items have no numbers.
    lists: Vec<Option<u64>>,
    /// Mark before the next paragraph of the item.
    mark: String,
    code: Option<String>,
    table: PageTable,
    row: Vec<Spans>,
}

impl Reader {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.begin(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.add(&text, self.looks.last().copied().unwrap_or(Look::Plain)),
            },
            Event::Code(text) => self.add(&text, Look::Code),
            Event::SoftBreak | Event::HardBreak => self.add(" ", Look::Plain),
            _ => {}
        }
    }

    fn begin(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Strong => self.looks.push(Look::Strong),
            Tag::Emphasis => self.looks.push(Look::Emphasis),
            Tag::Link { dest_url, .. } => self.links.push(dest_url.into_string()),
            Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => self.code = Some(String::new()),
            Tag::List(first) => {
                self.flush();
                self.lists.push(first);
            }
            Tag::Item => {
                self.mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}.", *number - 1)
                    }
                    _ => "-".to_owned(),
                };
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Strong | TagEnd::Emphasis => {
                self.looks.pop();
            }
            TagEnd::Link => self.end_link(),
            TagEnd::Heading(level) => {
                let text = std::mem::take(&mut self.text).into_iter().map(|span| span.text).collect();
                self.blocks.push(Block::Heading(depth(level), text));
            }
            TagEnd::Paragraph | TagEnd::Item => self.flush(),
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::CodeBlock => self.blocks.extend(self.code.take().map(Block::Code)),
            TagEnd::TableCell => self.row.push(std::mem::take(&mut self.text)),
            TagEnd::TableHead => self.table.head = std::mem::take(&mut self.row),
            TagEnd::TableRow => self.table.rows.push(std::mem::take(&mut self.row)),
            TagEnd::Table => self.blocks.push(Block::Table(std::mem::take(&mut self.table))),
            _ => {}
        }
    }

    fn add(&mut self, text: &str, look: Look) {
        match self.text.last_mut() {
            Some(last) if last.look == look && look != Look::Code => last.text.push_str(text),
            _ => self.text.push(Span { text: text.to_owned(), look }),
        }
    }

    /// Ends a link: adds its target behind its text, where that is not on the same page.
    fn end_link(&mut self) {
        let Some(link) = self.links.pop() else { return };
        if link.starts_with("https://") {
            self.add(&format!(" <{link}>"), Look::Plain);
        } else if let Some((name, _)) = link.split_once(".md") {
            let name = name.rsplit('/').next().unwrap_or(name);
            self.add(" (", Look::Plain);
            self.add(name, Look::Page);
            self.add(")", Look::Plain);
        }
    }

    fn flush(&mut self) {
        if self.text.is_empty() {
            return;
        }
        let text = std::mem::take(&mut self.text);
        self.blocks.push(match self.lists.is_empty() {
            true => Block::Paragraph(text),
            false => Block::Item(std::mem::take(&mut self.mark), text),
        });
    }
}

fn depth(level: HeadingLevel) -> u8 {
    level as u8
}

const BOLD: &str = "\x1b[1m";
const END: &str = "\x1b[0m";
/// Indentation below a heading.
const INDENT: &str = "    ";

/// Renders blocks as text of this width. Headings and code are bold where `styled`; else code is in backticks.
pub(super) fn text(blocks: &[Block], width: usize, styled: bool) -> String {
    let writer = Writer { width, styled };
    let mut page = String::new();
    for (place, block) in blocks.iter().enumerate() {
        let follows_an_item = place > 0 && matches!((&blocks[place - 1], block), (Block::Item(..), Block::Item(..)));
        if place > 0 && !follows_an_item {
            page.push('\n');
        }
        page.push_str(&writer.block(block));
    }
    page
}

struct Writer {
    width: usize,
    styled: bool,
}

impl Writer {
    fn block(&self, block: &Block) -> String {
        match block {
            Block::Heading(level, text) => {
                format!("{}{}\n", "  ".repeat(usize::from(level.saturating_sub(2))), self.strong(text))
            }
            Block::Paragraph(text) => self.filled(text, INDENT, INDENT),
            Block::Item(mark, text) => self.filled(text, &format!("{INDENT}{mark:<2} "), &format!("{INDENT}   ")),
            Block::Code(code) => {
                code.lines().map(|line| format!("{INDENT}  {line}").trim_end().to_owned() + "\n").collect()
            }
            Block::Table(table) => match columns(table, self.width - INDENT.len()) {
                Some(lines) => lines.iter().map(|line| format!("{INDENT}{line}\n")).collect(),
                None => table.rows.iter().map(|row| self.row(table, row)).collect(),
            },
        }
    }

    /// Renders a row of a wide table: its first cell, then the others, with their columns' names where there are
    /// several.
    fn row(&self, table: &PageTable, row: &[Vec<Span>]) -> String {
        let mut lines =
            row.first().map_or_else(String::new, |first| self.filled(first, INDENT, &format!("{INDENT}  ")));
        let indent = format!("{INDENT}    ");
        let several = table.head.len() > 2;
        for (head, cell) in table.head.iter().zip(row).skip(1).filter(|(_, cell)| !cell.is_empty()) {
            let name = Some(plain(head)).filter(|name| several && !name.is_empty());
            let lead = name.map_or_else(|| indent.clone(), |name| format!("{indent}{name}: "));
            lines.push_str(&self.filled(cell, &lead, &indent));
        }
        lines
    }

    /// Wraps a paragraph, with one indentation for its first line and another for the others.
    fn filled(&self, text: &[Span], first: &str, others: &str) -> String {
        let text: String = text.iter().map(|span| self.span(span)).collect();
        let options = textwrap::Options::new(self.width)
            .initial_indent(first)
            .subsequent_indent(others)
            .break_words(false)
            .word_splitter(WordSplitter::NoHyphenation)
            .wrap_algorithm(WrapAlgorithm::FirstFit);
        textwrap::fill(&text, options) + "\n"
    }

    fn span<'a>(&self, Span { text, look }: &'a Span) -> Cow<'a, str> {
        match look {
            Look::Plain | Look::Emphasis => text.into(),
            Look::Strong => self.strong(text),
            Look::Code if self.styled => self.strong(text),
            Look::Code => format!("`{text}`").into(),
            Look::Page => self.strong(&format!("avert help {text}")).into_owned().into(),
        }
    }

    fn strong<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.styled {
            true => format!("{BOLD}{text}{END}").into(),
            false => text.into(),
        }
    }
}

/// Lays a table out in columns, the names of which are the first line; `None` where it is too wide.
fn columns(table: &PageTable, width: usize) -> Option<Vec<String>> {
    let mut grid = Grid::new();
    grid.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let cells = |row: &[Vec<Span>]| row.iter().map(|cell| plain(cell)).collect::<Vec<_>>();
    grid.set_header(cells(&table.head));
    for row in &table.rows {
        grid.add_row(cells(row));
    }
    // Every cell has a blank on either side, which the first ones have no use for.
    let lines: Vec<String> =
        grid.to_string().lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned()).collect();
    lines.iter().all(|line| textwrap::core::display_width(line) <= width).then_some(lines)
}

/// Returns text without its looks; a link to a page becomes its command.
fn plain(text: &[Span]) -> String {
    text.iter()
        .map(|Span { text, look }| if *look == Look::Page { format!("avert help {text}") } else { text.clone() })
        .collect()
}

/// Width of a table in 80 columns.
const MAN_WIDTH: usize = 70;

/// Renders blocks as a page of section 7, called `avert-NAME`.
pub(super) fn roff(name: &str, about: &str, blocks: &[Block]) -> String {
    let title = format!("avert-{name}");
    let mut page = Roff::new();
    // Without a date: the version tells its age.
    page.control("TH", [title.as_str(), "7", "\"\"", concat!("avert ", env!("CARGO_PKG_VERSION"))]);
    page.control("SH", ["NAME"]).text([roman(format!("{title} - {about}"))]);
    page.control("SH", ["DESCRIPTION"]);
    for block in blocks {
        add(&mut page, block);
    }
    page.render()
}

fn add(page: &mut Roff, block: &Block) {
    match block {
        // The title of the page is in its head already.
        Block::Heading(1, _) => {}
        Block::Heading(2, text) => {
            page.control("SH", [text.to_uppercase().as_str()]);
        }
        Block::Heading(_, text) => {
            page.control("SS", [text.as_str()]);
        }
        Block::Paragraph(text) => {
            page.control("PP", []).text(inlines(text));
        }
        Block::Item(mark, text) => {
            page.control("IP", [mark.as_str(), "4"]).text(inlines(text));
        }
        Block::Code(code) => lines(page, code.lines()),
        Block::Table(_) => {
            let table = Writer { width: MAN_WIDTH + INDENT.len(), styled: false }.block(block);
            lines(page, table.lines().map(|line| line.strip_prefix(INDENT).unwrap_or(line)));
        }
    }
}

/// Adds lines as they are.
fn lines<'a>(page: &mut Roff, lines: impl Iterator<Item = &'a str>) {
    page.control("PP", []).control("RS", ["2"]).control("nf", []);
    for line in lines {
        page.text([roman(line)]);
    }
    page.control("fi", []).control("RE", []);
}

fn inlines(text: &[Span]) -> Vec<Inline> {
    let inline = |Span { text, look }: &Span| match look {
        Look::Plain => roman(text),
        Look::Strong | Look::Code => bold(text),
        Look::Emphasis => italic(text),
        Look::Page => bold(format!("avert-{text}(7)")),
    };
    text.iter().map(inline).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(text: &str, look: Look) -> Span {
        Span { text: text.to_owned(), look }
    }

    #[test]
    fn a_page_is_its_headings_paragraphs_items_code_and_tables() {
        let page = "# Title\n\nOne\ntwo **three** `f o`.\n\n3. third\n4. fourth\n\n```sh\navert\n  serve\n```\n\n| a \
            | b |\n| --- | --- |\n| `x\\|y` | |\n";

        let read = blocks(page);

        let plain = |text: &str| vec![span(text, Look::Plain)];
        let first = vec![
            span("One two ", Look::Plain),
            span("three", Look::Strong),
            span(" ", Look::Plain),
            span("f o", Look::Code),
            span(".", Look::Plain),
        ];
        let table =
            PageTable { head: vec![plain("a"), plain("b")], rows: vec![vec![vec![span("x|y", Look::Code)], vec![]]] };
        let wanted = [
            Block::Heading(1, "Title".to_owned()),
            Block::Paragraph(first),
            Block::Item("3.".to_owned(), plain("third")),
            Block::Item("4.".to_owned(), plain("fourth")),
            Block::Code("avert\n  serve\n".to_owned()),
            Block::Table(table),
        ];
        assert_eq!(read, wanted);
    }

    #[test]
    fn a_link_says_which_page_it_leads_to_and_a_mark_that_nobody_sees_is_left_out() {
        let page = "See [there](rules.md#x), [here](#y) and [W](https://w.example).\n\n<!-- keys: begin -->\n";

        let read = blocks(page);

        let text = vec![
            span("See there (", Look::Plain),
            span("rules", Look::Page),
            span("), here and W <https://w.example>.", Look::Plain),
        ];
        assert_eq!(read, [Block::Paragraph(text)]);
    }

    const PAGE: &str = "# Title\n\nSome `words` that go on.\n\n## Part\n\n- one\n- two\n\n| a | b | c |\n| --- | --- \
        | --- |\n| `x` | what it is | more |\n";

    #[test]
    fn text_is_wrapped_and_moved_in_below_its_headings_and_code_stands_in_backticks() {
        let page = text(&blocks(PAGE), 60, false);

        let wanted = "Title\n\n    Some `words` that go on.\n\nPart\n\n    -  one\n    -  two\n\n    a  b           \
            c\n    x  what it is  more\n";
        assert_eq!(page, wanted);
    }

    #[test]
    fn a_table_that_is_too_wide_is_a_list_that_names_its_columns() {
        let page = text(&blocks(PAGE), 22, false);

        assert!(page.contains("    Some `words` that\n    go on.\n"), "{page}");
        assert!(page.ends_with("\n    `x`\n        b: what it is\n        c: more\n"), "{page}");
    }

    #[test]
    fn on_a_terminal_headings_and_code_stand_out_by_weight() {
        let page = text(&blocks(PAGE), 60, true);

        assert!(page.contains("\x1b[1mTitle\x1b[0m\n") && page.contains("Some \x1b[1mwords\x1b[0m that"), "{page:?}");
    }

    #[test]
    fn a_page_has_its_name_its_sections_and_no_line_that_would_be_a_command() {
        let page = "# Title\n\nSome `words`\n.not a command.\n\n## Part\n\n1. one\n\n```\n.dot\n'quote\n```\n\nSee \
            [x](rules.md).\n";

        let page = roff("name", "about it", &blocks(page));

        assert!(page.contains(".TH avert-name 7 \"\" \"avert "), "{page}");
        assert!(page.contains(".SH NAME\navert\\-name \\- about it\n"), "{page}");
        assert!(page.contains("Some \\fBwords\\fR .not a command.\n.SH PART\n.IP 1. 4\none\n"), "{page}");
        assert!(page.contains(".nf\n\\&.dot\n\\*(Aqquote\n.fi\n"), "{page}");
        assert!(page.ends_with("See x (\\fBavert\\-rules(7)\\fR).\n"), "{page}");
    }

    #[test]
    fn a_table_that_is_too_wide_is_a_list() {
        let wide = "w ".repeat(50);
        let page = roff("name", "about it", &blocks(&format!("| a | b |\n| --- | --- |\n| `x` | {wide} |\n")));

        assert!(page.contains(".nf\n`x`\n    w w"), "{page}");
    }
}
