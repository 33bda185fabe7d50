//! Tables of answers: the fields of a row.

use std::borrow::Cow;

use super::table::{CellKind, ColumnField};
use crate::domain::closed_enum;

closed_enum! {
    /// A field of an answer in a file of many.
    pub enum AnswerField {
        Id = "id",
        Provider = "provider",
        ProviderId = "providerId",
        Refunded = "refunded",
        Resolution = "resolution",
        Comments = "comments",
        AmountStopped = "amountStopped",
    }
}

impl ColumnField for AnswerField {
    fn named(name: &str) -> Option<Self> {
        Self::known(name)
    }

    fn name(self) -> Cow<'static, str> {
        self.as_str().into()
    }

    fn kind(self) -> CellKind<Self> {
        match self {
            Self::Id | Self::Provider | Self::Refunded | Self::Resolution => CellKind::Plain,
            Self::ProviderId | Self::Comments => CellKind::Text,
            Self::AmountStopped => CellKind::Amount(None),
        }
    }
}
