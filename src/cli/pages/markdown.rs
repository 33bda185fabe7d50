//! Markdown as blocks, of which the pages of the reference are made: read once for every output.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

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
}
