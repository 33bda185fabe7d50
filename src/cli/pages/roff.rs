//! A page as roff, for `man`.

use roff::{Inline, Roff, bold, italic, roman};

use super::{
    layout::{TableLayout, layout, said},
    markdown::{Block, Look, Span},
};

/// Width of a table in 80 columns.
const WIDTH: usize = 70;

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
        Block::Table(table) => match layout(table, WIDTH) {
            TableLayout::ListColumns(rows) => lines(page, rows.iter().map(String::as_str)),
            TableLayout::List => {
                for row in &table.rows {
                    page.control("TP", []).text(inlines(row.first().map_or(&[], Vec::as_slice)));
                    for (place, (name, cell)) in said(table, row).enumerate() {
                        if place > 0 {
                            page.control("br", []);
                        }
                        let mut text: Vec<_> = name.map(|name| roman(format!("{name}: "))).into_iter().collect();
                        text.extend(inlines(cell));
                        page.text(text);
                    }
                }
            }
        },
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
    use crate::cli::pages::markdown::blocks;

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

        assert!(page.contains(".TP\n\\fBx\\fR\nw w"), "{page}");
    }
}
