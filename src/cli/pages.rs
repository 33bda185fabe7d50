//! `avert completions`, `avert man` and `avert help`, made from the clap tree and from the pages of the reference.

use std::{
    fs,
    io::{self, Write as _},
    path::PathBuf,
};

use anyhow::Context as _;
use clap_complete::Shell;
use directories::BaseDirs;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use textwrap::{WordSplitter, WrapAlgorithm};

use super::{
    Cli,
    args::{CompletionsArgs, HelpArgs, ManArgs},
    complete,
    failure::Misused,
    output::print_line,
    process::variable,
    topics::{TOPICS, topic},
};

/// Width of a page.
const WIDTH: usize = 80;

/// Indentation below a heading.
const INDENT: &str = "    ";

pub(super) fn completions(args: &CompletionsArgs) -> anyhow::Result<()> {
    let script = complete::script(args.shell)?;
    if !args.install {
        io::stdout().lock().write_all(&script)?;
        return Ok(());
    }
    let (directory, name, next) = match args.shell {
        Shell::Bash => ("bash-completion/completions", "avert", "New shells read it, by the package bash-completion."),
        Shell::Fish => ("fish/vendor_completions.d", "avert.fish", "New shells read it."),
        Shell::Zsh => ("zsh/site-functions", "_avert", "Add to ~/.zshrc, before compinit: fpath=(DIR $fpath)"),
        other => refuse!("--install is for bash, fish and zsh: without it the script is printed, for {other} to read"),
    };
    let directory = data_home()?.join(directory);
    let file = directory.join(name);
    fs::create_dir_all(&directory)
        .and_then(|()| fs::write(&file, script))
        .with_context(|| format!("{} cannot be written", file.display()))?;
    print_line(&format!("the completions are in {}", file.display()))?;
    print_line(&next.replace("DIR", &directory.display().to_string()))?;
    Ok(())
}

/// Writes the manual pages: without a directory avert's own page, to stdout; else those of every command, into the
/// directory.
pub(super) fn man(args: &ManArgs) -> anyhow::Result<()> {
    let directory = if args.install { Some(data_home()?.join("man/man1")) } else { args.directory.clone() };
    let Some(directory) = directory else {
        clap_mangen::Man::new(Cli::tree()).render(&mut io::stdout().lock())?;
        return Ok(());
    };
    fs::create_dir_all(&directory)
        .and_then(|()| clap_mangen::generate_to(Cli::tree(), &directory))
        .with_context(|| format!("{} cannot be written", directory.display()))?;
    print_line(&format!("the pages are in {}", directory.display()))?;
    if args.install {
        print_line("man finds them where ~/.local/bin is in PATH; else add the directory above man1 to MANPATH.")?;
    }
    Ok(())
}

/// Returns the directory of this user's data, as shells and man look for it.
fn data_home() -> Result<PathBuf, Misused> {
    let named = variable("XDG_DATA_HOME").map(PathBuf::from).filter(|directory| directory.is_absolute());
    let usual = || Some(BaseDirs::new()?.home_dir().join(".local/share"));
    named.or_else(usual).ok_or_else(|| misused!("there is no home directory: name one with HOME"))
}

/// Prints the page of a topic, else the list of topics.
pub(super) fn help(args: &HelpArgs) -> anyhow::Result<()> {
    let page = match &args.topic {
        None => list(),
        Some(name) => match topic(name) {
            Some(topic) => plain_text(topic.page, WIDTH),
            None => refuse!("there is no page {name:?}; pages:\n{}", list()),
        },
    };
    io::stdout().lock().write_all(page.as_bytes())?;
    Ok(())
}

fn list() -> String {
    let widest = TOPICS.iter().map(|topic| topic.name.len()).max().unwrap_or_default();
    let topics: String =
        TOPICS.iter().map(|topic| format!("  avert help {:<widest$}  {}\n", topic.name, topic.about)).collect();
    format!("{topics}\nWhat a command does and its flags: avert COMMAND --help\n")
}

/// Renders a page of the reference, in Markdown, as text of this width.
fn plain_text(page: &str, width: usize) -> String {
    let mut text = PageText { width, ..PageText::default() };
    for event in Parser::new_ext(page, Options::ENABLE_TABLES) {
        text.take(event);
    }
    text.written
}

/// Text of a page as far as it is read.
#[derive(Default)]
struct PageText {
    width: usize,
    written: String,
    /// Text of the open heading, paragraph or cell.
    open: String,
    /// Mark of the open list item, until its text is written.
    mark: String,
    /// Number of the next item of each open list; `None` where its items have no numbers.
    lists: Vec<Option<u64>>,
    /// Target of the open link.
    link: String,
    is_code: bool,
    /// Names of the columns of the open table, and the cells of its open row.
    head: Vec<String>,
    row: Vec<String>,
}

impl PageText {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.begin(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.is_code => {
                self.written.extend(text.lines().map(|line| format!("{INDENT}  {line}\n")));
            }
            Event::Text(text) => self.open.push_str(&text),
            Event::Code(text) => self.open.push_str(&format!("`{text}`")),
            Event::SoftBreak | Event::HardBreak => self.open.push(' '),
            _ => {}
        }
    }

    fn begin(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { .. } | Tag::CodeBlock(_) | Tag::Table(_) => {
                self.is_code = matches!(tag, Tag::CodeBlock(_));
                self.written.push('\n');
            }
            Tag::Paragraph if self.lists.is_empty() => self.written.push('\n'),
            Tag::Link { dest_url, .. } => self.link = dest_url.into_string(),
            Tag::List(first) => {
                self.written.push('\n');
                self.lists.push(first);
            }
            Tag::Item => {
                self.mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "-  ".to_owned(),
                };
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Link => self.end_link(),
            TagEnd::Heading(_) => self.write("", ""),
            TagEnd::Paragraph | TagEnd::Item if self.lists.is_empty() => self.write(INDENT, INDENT),
            TagEnd::Paragraph | TagEnd::Item => {
                let lead = format!("{INDENT}{:3}", std::mem::take(&mut self.mark));
                self.write(&lead, &format!("{INDENT}   "));
            }
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::CodeBlock => self.is_code = false,
            TagEnd::TableCell => self.row.push(std::mem::take(&mut self.open)),
            TagEnd::TableHead => self.head = std::mem::take(&mut self.row),
            TagEnd::TableRow => self.end_row(),
            _ => {}
        }
    }

    /// Writes a row: its first cell, and below it the others, with their columns' names where there are several.
    fn end_row(&mut self) {
        let names = if self.head.len() > 2 { self.head.clone() } else { vec![String::new(); self.head.len()] };
        for (place, (name, cell)) in names.iter().zip(std::mem::take(&mut self.row)).enumerate() {
            let lead = if place == 0 { INDENT.to_owned() } else { INDENT.repeat(2) };
            self.open = if place == 0 || name.is_empty() { cell } else { format!("{name}: {cell}") };
            self.write(&lead, &INDENT.repeat(2));
        }
    }

    /// Adds the target of a link behind its text, where that is not on the same page.
    fn end_link(&mut self) {
        let link = std::mem::take(&mut self.link);
        if link.starts_with("https://") {
            self.open.push_str(&format!(" <{link}>"));
        } else if let Some((name, _)) = link.split_once(".md") {
            self.open.push_str(&format!(" (avert help {})", name.rsplit('/').next().unwrap_or(name)));
        }
    }

    /// Wraps and writes the open text, with one indentation for its first line and another for the others.
    fn write(&mut self, first: &str, others: &str) {
        let text = std::mem::take(&mut self.open);
        if text.is_empty() {
            return;
        }
        let options = textwrap::Options::new(self.width)
            .initial_indent(first)
            .subsequent_indent(others)
            .break_words(false)
            .word_splitter(WordSplitter::NoHyphenation)
            .wrap_algorithm(WrapAlgorithm::FirstFit);
        self.written.push_str(&textwrap::fill(&text, options));
        self.written.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Title\n\nSome `words` that\ngo on in [a page](rules.md#x).\n\n## Part\n\n3. one\n4. two\n\n\
        ```sh\n.avert\n```\n\n| a | b | c |\n| --- | --- | --- |\n| `x\\|y` | what it is | more |\n";

    #[test]
    fn a_page_is_its_headings_paragraphs_items_code_and_tables() {
        let wanted = "\nTitle\n\n    Some `words` that go on in a\n    page (avert help rules).\n\nPart\n\n    \
            3. one\n    4. two\n\n      .avert\n\n    `x|y`\n        b: what it is\n        c: more\n";

        assert_eq!(plain_text(PAGE, 34), wanted);
    }
}
