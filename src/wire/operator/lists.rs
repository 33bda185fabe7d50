//! The envelopes of lists and pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most rows of a page.
pub(crate) const MOST_ROWS: u32 = 100;

/// A whole list.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "{T}List")]
pub(crate) struct ListJson<T> {
    pub(crate) data: Vec<T>,
}

impl<T> ListJson<T> {
    pub(crate) fn of<D: Into<T>>(items: Vec<D>) -> Self {
        Self { data: items.into_iter().map(Into::into).collect() }
    }

    pub(crate) fn items<D: From<T>>(self) -> Vec<D> {
        self.data.into_iter().map(D::from).collect()
    }
}

/// A page of a list. The next one is asked for with `next`; null on the last page.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "{T}Page")]
pub(crate) struct PageJson<T, N> {
    pub(crate) data: Vec<T>,
    pub(crate) next: Option<N>,
}
