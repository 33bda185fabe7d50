//! The formats that files of alerts are in.

/// The format of a file of alerts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileFormat {
    /// A page, an array, an object, or several of them one after the other.
    Json,
    /// One object a line.
    Ndjson,
    /// A table: its first row names the fields, `outcome.*` those of the outcome; separated by comma, semicolon or tab.
    Csv,
}

impl FileFormat {
    /// Every format.
    pub const ALL: [Self; 3] = [Self::Json, Self::Ndjson, Self::Csv];

    /// The spelling in flags.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Ndjson => "ndjson",
            Self::Csv => "csv",
        }
    }
}
