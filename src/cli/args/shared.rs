//! Flags that many commands have.

use std::path::PathBuf;

use clap::{
    ArgAction, Args, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};

use crate::{
    config::ThemeSetting,
    wire::import::{Conventions, DateOrder, DecimalMark, FileZone},
};

/// Flags that every command has.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Everywhere {
    /// Home of the local alerts: the database, its key, logs. Default: this user's data directory. The flag sets the
    /// current profile aside
    #[arg(long, global = true, value_name = "DIR", env = "AVERT_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Set by the flag instead of the environment: then this machine's own desk is meant.
    #[arg(skip)]
    pub(crate) data_dir_by_flag: bool,
    /// File with the password of the database, where that is on a server [stronger than one in its address]
    #[arg(long, global = true, value_name = "FILE", env = "AVERT_DATABASE_PASSWORD_FILE")]
    pub(crate) database_password_file: Option<PathBuf>,
    /// Organization of the local alerts. Needed only where there is more than one [env: AVERT_ORGANIZATION]
    #[arg(long, global = true, value_name = "NAME|ID")]
    pub(crate) organization: Option<String>,
    /// Settings file. Default: config.toml in this user's configuration directory, where there is one
    #[arg(long, global = true, value_name = "FILE", env = "AVERT_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Format of the results on stdout
    #[arg(long, global = true, value_enum, value_name = "FORM")]
    pub(crate) output: Option<Format>,
    /// No colours (as with NO_COLOR)
    #[arg(long, global = true)]
    pub(crate) no_color: bool,
    /// Say more; twice: everything
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// Format of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Table,
    /// One JSON document
    Json,
    /// One JSON object a line
    Ndjson,
    /// Comma-separated values with a header line
    Csv,
}

/// Flags of the commands that open the console.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct ConsoleArgs {
    /// Colours of the console. Default: by the terminal's background [env: AVERT_THEME]
    #[arg(long, value_enum)]
    pub(crate) theme: Option<ThemeSetting>,
    /// Words and signs only, without boxes, lines and blocks: for screen readers [env: AVERT_PLAIN]
    #[arg(long)]
    pub(crate) plain: bool,
}

impl ConsoleArgs {
    /// Merges these flags with others, which fill in what these leave out: flags may stand before the command and
    /// behind it.
    pub(crate) fn or(self, other: Self) -> Self {
        Self { theme: self.theme.or(other.theme), plain: self.plain || other.plain }
    }
}

/// Conventions of a CSV's numbers and times, for a column that leaves them open.
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = "Where a CSV leaves it open")]
pub(crate) struct ReadingArgs {
    /// The decimal mark of amounts. Default: what their column shows
    #[arg(long, value_name = "point|comma", hide_possible_values = true,
        value_parser = word_of(DecimalMark::ALL, DecimalMark::as_str))]
    decimal: Option<DecimalMark>,
    /// The order of day, month and year. Default: what the column shows
    #[arg(long, value_name = "day-first|month-first|year-first", hide_possible_values = true,
        value_parser = word_of(DateOrder::ALL, DateOrder::as_str))]
    dates: Option<DateOrder>,
    /// The zone of times without one: UTC, +01:00, or local for this machine's
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true)]
    zone: Option<FileZone>,
}

impl ReadingArgs {
    pub(crate) fn conventions(self) -> Conventions {
        Conventions { decimal: self.decimal, dates: self.dates, zone: self.zone }
    }
}

/// Column and its header in a file; `None` removes a header.
pub(crate) type NamedColumn = (String, Option<String>);

/// Reads `COLUMN=HEADER`, where the column is known.
pub(crate) fn named_column(text: &str, known: impl Fn(&str) -> Result<String, String>) -> Result<NamedColumn, String> {
    let (column, header) = text.split_once('=').ok_or("COLUMN=HEADER is needed")?;
    Ok((known(column.trim())?, Some(header.trim().to_owned()).filter(|header| !header.is_empty())))
}

/// Reads one of a type's words, exactly.
pub(crate) fn word_of<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [T; N],
    word: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let find = move |text: String| all.into_iter().find(|known| word(*known) == text);
    PossibleValuesParser::new(all.map(word)).map(move |text| find(text).expect("a possible value is one of all"))
}
