//! The formats that files of alerts are in.

use crate::domain::closed_enum;

closed_enum! {
    /// The format of a file of alerts.
    pub enum FileFormat {
        /// A page, an array, an object, or several of them one after the other.
        Json = "json",
        /// One object a line.
        Ndjson = "ndjson",
        /// A table: its first row names the fields, `outcome.*` those of the outcome; separated by comma, semicolon or
        /// tab.
        Csv = "csv",
    }
}
