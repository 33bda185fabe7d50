//! A page as text, for a terminal or for a pipe.

use std::borrow::Cow;

use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Table};
use textwrap::core::display_width;
use textwrap::{Options, WordSplitter, WrapAlgorithm};

use super::markdown::{Block, Look, PageTable, Span};

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
            Block::Table(table) => self.columns(table).unwrap_or_else(|| self.list(table)),
        }
    }

    /// Returns a table in columns; `None` where it is too wide.
    fn columns(&self, table: &PageTable) -> Option<String> {
        let mut grid = Table::new();
        grid.load_style(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        let cells = |row: &[Vec<Span>]| row.iter().map(|cell| plain(cell)).collect::<Vec<_>>();
        grid.set_header(cells(&table.head));
        grid.add_rows(table.rows.iter().map(|row| cells(row)));
        let text = grid.to_string();
        // Every cell has a blank on either side, which the first ones have no use for.
        let lines = || text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end());
        let fits = lines().all(|line| display_width(line) <= self.width - INDENT.len());
        fits.then(|| lines().map(|line| format!("{INDENT}{line}\n")).collect())
    }

    /// Returns a table as a list of its rows: the first cell, then the others, with their columns' names where there
    /// are several.
    fn list(&self, table: &PageTable) -> String {
        let mut list = String::new();
        let indent = format!("{INDENT}    ");
        for row in &table.rows {
            let cells =
                table.head.iter().zip(row).enumerate().filter(|(place, (_, cell))| *place == 0 || !cell.is_empty());
            for (place, (head, cell)) in cells {
                let text = match place {
                    0 => self.filled(cell, INDENT, &format!("{INDENT}  ")),
                    _ if table.head.len() > 2 => self.filled(cell, &format!("{indent}{}: ", plain(head)), &indent),
                    _ => self.filled(cell, &indent, &indent),
                };
                list.push_str(&text);
            }
        }
        list
    }

    /// Wraps a paragraph, with one indentation for its first line and another for the others.
    fn filled(&self, text: &[Span], first: &str, others: &str) -> String {
        let text: String = text.iter().map(|span| self.span(span)).collect();
        let options = Options::new(self.width)
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

/// Returns text without its looks; a link to a page becomes its command.
fn plain(text: &[Span]) -> String {
    text.iter()
        .map(|Span { text, look }| if *look == Look::Page { format!("avert help {text}") } else { text.clone() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::pages::markdown::blocks;

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
}
