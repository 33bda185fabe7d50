//! A page as text, for a terminal or for a pipe.

use std::borrow::Cow;

use textwrap::{Options, WordSplitter, WrapAlgorithm};

use super::{
    layout::{TableLayout, layout, said},
    markdown::{Block, Look, Span},
};

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
            Block::Table(table) => match layout(table, self.width - INDENT.len()) {
                TableLayout::ListColumns(lines) => lines.iter().map(|line| format!("{INDENT}{line}\n")).collect(),
                TableLayout::List => table.rows.iter().map(|row| self.row(row, said(table, row))).collect(),
            },
        }
    }

    fn row<'a>(&self, row: &[Vec<Span>], said: impl Iterator<Item = (Option<String>, &'a [Span])>) -> String {
        let mut lines =
            row.first().map_or_else(String::new, |first| self.filled(first, INDENT, &format!("{INDENT}  ")));
        let indent = format!("{INDENT}    ");
        for (name, cell) in said {
            let lead = name.map_or_else(|| indent.clone(), |name| format!("{indent}{name}: "));
            lines.push_str(&self.filled(cell, &lead, &indent));
        }
        lines
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
