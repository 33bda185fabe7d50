//! `avert completions` and `avert man`: what a shell and `man` want to know, made from the clap tree itself.

use std::fs;
use std::io::{self, Write as _};

use anyhow::Context as _;
use clap::CommandFactory as _;

use super::Cli;
use super::args::{CompletionsArgs, ManArgs};
use super::output::print_line;

pub(super) fn completions(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "avert", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(())
}

/// Without a directory the one page of avert itself goes to stdout; into a directory go the pages of every command.
pub(super) fn man(args: &ManArgs) -> anyhow::Result<()> {
    let Some(directory) = &args.directory else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page)?;
        io::stdout().lock().write_all(&page)?;
        return Ok(());
    };
    fs::create_dir_all(directory).with_context(|| format!("{} cannot be made", directory.display()))?;
    clap_mangen::generate_to(Cli::command(), directory).with_context(|| format!("{} cannot be written", directory.display()))?;
    print_line(&format!("the pages are in {}", directory.display()))?;
    Ok(())
}
