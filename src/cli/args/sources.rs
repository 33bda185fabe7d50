//! The flags of `avert sources`.

use std::path::PathBuf;

use clap::Subcommand;

/// `avert sources`.
#[derive(Debug, Subcommand)]
pub(crate) enum SourcesCommand {
    /// The sources with their counts
    List,
    /// Map a body without storing it. Exit code 1 where it cannot be mapped
    Test {
        /// The source, as the settings name it
        name: String,
        /// The body: a JSON file, or - for stdin
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// What a source sent: what waits for a map, then the others, newest first in each; card numbers are masked
    Events {
        /// The source, as the settings name it
        name: String,
        /// Most events, 1 to 100
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100))]
        size: u32,
    },
    /// Map the events again that are no alerts yet, by the settings as they are now
    Remap {
        /// The source, as the settings name it
        name: String,
    },
}
