//! The kit that the console is built of. It knows nothing of alerts: of the domain it uses the sanitizer and the way
//! numbers of things are written.
//!
//! ```text
//! terminal   raw mode, keys, frames: terminal, terminal_input, compact_backend
//! text       columns, cuts and wraps; pen writes it along a line
//! areas      areas within areas
//! theme      every colour by the name of its meaning
//! fit        lines of segments that give way by rank
//! table      columns as data; one cursor, one scroll window
//! sheet      titles, sentences, facts and tables below each other
//! form       fields as data: focus, keys, scrolling, errors, buttons
//! widgets    input, buttons, panel, scrollbar, click targets
//! ```

use avert_domain as domain;

pub mod areas;
pub mod compact_backend;
pub mod fit;
pub mod form;
pub mod pen;
pub mod sheet;
pub mod table;
pub mod terminal;
pub mod terminal_input;
pub mod text;
pub mod theme;
pub mod widgets;

pub use pen::Pen;
pub use theme::Theme;
pub use widgets::{ClickTargets, text_input::TextInput};
