//! The console's layout, restored at the next start: columns, divider, latest choices.

use serde::{Deserialize, Serialize};

/// The console's layout when it was last left. Names are the console's own; one it no longer knows is passed over.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Layout {
    /// Share of the width that the list has beside the detail, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divider: Option<u8>,
    /// Names of choices in the palette, the last first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recent: Vec<String>,
    /// The columns of the list in their order; empty means the usual ones.
    #[serde(rename = "column", skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<ColumnLayout>,
}

/// A column of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnLayout {
    /// Name of the column.
    pub name: String,
}

#[cfg(test)]
mod tests {
    use super::super::Desk;
    use super::*;

    #[test]
    fn the_screen_looks_at_the_next_start_as_it_was_left() {
        let directory = tempfile::tempdir().unwrap();
        let left = Layout {
            divider: Some(64),
            recent: vec!["view:Due".to_owned(), "undo".to_owned()],
            columns: vec![ColumnLayout { name: "left".to_owned() }, ColumnLayout { name: "amount".to_owned() }],
        };

        Desk::open(directory.path()).unwrap().keep_layout(&left).unwrap();

        assert_eq!(Desk::open(directory.path()).unwrap().layout(), Ok(left));
    }

    #[test]
    fn the_first_start_has_the_usual_look() {
        let directory = tempfile::tempdir().unwrap();

        assert_eq!(Desk::open(directory.path().join("new")).unwrap().layout(), Ok(Layout::default()));
    }

    #[test]
    fn a_layout_of_another_version_is_read_as_far_as_it_is_known() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("layout.toml"), "view = \"Open\"\ndivider = 40\n").unwrap();

        let layout = Desk::open(directory.path()).unwrap().layout().unwrap();

        assert_eq!(layout.divider, Some(40));
    }

    #[test]
    fn a_broken_layout_is_reported_and_kept() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("layout.toml");
        std::fs::write(&path, "view = \"Open\"\ndivider = 300\n").unwrap();
        let desk = Desk::open(directory.path()).unwrap();

        assert_eq!(desk.layout().unwrap_err().line, Some(2));
        assert!(desk.keep_layout(&Layout::default()).is_err());
        assert!(std::fs::read_to_string(&path).unwrap().contains("300"));
    }
}
