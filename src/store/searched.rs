//! The text that searches look into, as every store keeps it beside an alert.

use crate::domain::Alert;
use crate::domain::filter::{fold, search_fields};

/// Stands between the fields of [`search_text`]. No field has it: see [`searchable`].
const SEPARATOR: char = '\u{1f}';

/// Stands before the descriptor in [`search_text`], so that its beginning can be searched for.
pub(super) const DESCRIPTOR_MARK: char = '\u{1d}';

/// Text as it is searched: lower case, and without what has a meaning of its own or what an index cannot hold.
pub(super) fn searchable(text: &str) -> String {
    let replace = |c: char| match c {
        '\0' | SEPARATOR | DESCRIPTOR_MARK => '\u{1e}',
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        other => other,
    };
    fold(text).chars().map(replace).collect()
}

/// What searches look into: the four fields, so that nothing matches across two of them.
pub(super) fn search_text(alert: &Alert) -> String {
    let [provider_id, descriptor, card_bin, card_last_four] = search_fields(alert).map(searchable);
    format!("{provider_id}{SEPARATOR}{DESCRIPTOR_MARK}{descriptor}{SEPARATOR}{card_bin}{SEPARATOR}{card_last_four}")
}
