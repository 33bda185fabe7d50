//! `avert completions`, `avert man` and `avert help`, made from the clap tree and from the pages of the reference.

mod markdown;

use std::{
    fs,
    io::{self, IsTerminal as _, Write as _},
    path::Path,
};

use anyhow::Context as _;

use super::{
    Cli,
    args::{CompletionsArgs, Everywhere, HelpArgs, ManArgs},
    output::{Output, print_line},
    topics::{TOPICS, Topic, topic},
};

/// Width of pages where the terminal's is not known, and the largest one that reads well.
const WIDTH: usize = 80;
const WIDEST: usize = 110;
const NARROWEST: usize = 40;

pub(super) fn completions(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::tree(), "avert", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(())
}

/// Writes the manual pages. Without a directory it is avert's own page, to stdout; else those of every command and
/// topic, into the directory.
pub(super) fn man(args: &ManArgs) -> anyhow::Result<()> {
    let Some(directory) = &args.directory else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::tree()).render(&mut page)?;
        io::stdout().lock().write_all(&page)?;
        return Ok(());
    };
    write_pages(directory).with_context(|| format!("{} cannot be written", directory.display()))?;
    print_line(&format!("the pages are in {}", directory.display()))?;
    Ok(())
}

fn write_pages(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    clap_mangen::generate_to(Cli::tree(), directory)?;
    TOPICS.iter().try_for_each(|topic| {
        let page = markdown::roff(topic.name, topic.about, &markdown::blocks(topic.page));
        fs::write(directory.join(format!("avert-{}.7", topic.name)), page)
    })
}

/// Prints the page of a topic, else the help of a command, else the list of topics.
pub(super) fn help(args: &HelpArgs, everywhere: &Everywhere) -> anyhow::Result<()> {
    let page = match args.words.as_slice() {
        [] => list(),
        [name] if topic(name).is_some() => topic(name).map(|topic| shown(topic, everywhere)).unwrap_or_default(),
        words => help_of(words)?,
    };
    let mut stdout = io::stdout().lock();
    stdout.write_all(page.as_bytes())?;
    Ok(stdout.flush()?)
}

fn list() -> String {
    let widest = TOPICS.iter().map(|topic| topic.name.len()).max().unwrap_or_default();
    let topics: String =
        TOPICS.iter().map(|topic| format!("  avert help {:<widest$}  {}\n", topic.name, topic.about)).collect();
    format!("{topics}\nWhat a command does and its flags: avert COMMAND --help, or avert help COMMAND\n")
}

fn shown(topic: &Topic, everywhere: &Everywhere) -> String {
    let stdout = io::stdout();
    let styled = stdout.is_terminal() && Output::new(None, everywhere.no_color, false).color();
    let columns = stdout
        .is_terminal()
        .then(crossterm::terminal::size)
        .and_then(Result::ok)
        .map_or(WIDTH, |(columns, _)| columns.into());
    markdown::text(&markdown::blocks(topic.page), columns.clamp(NARROWEST, WIDEST), styled)
}

/// Returns the help of the command that these words name.
fn help_of(words: &[String]) -> anyhow::Result<String> {
    let mut tree = Cli::tree();
    tree.build();
    let mut command = &mut tree;
    for word in words {
        let Some(below) = command.find_subcommand_mut(word) else {
            let topics = TOPICS.iter().map(|topic| topic.name).collect::<Vec<_>>().join(", ");
            refuse!("there is no page and no command {:?}; pages: {topics}", words.join(" "));
        };
        command = below;
    }
    Ok(command.render_long_help().to_string())
}
