//! The envelopes of lists and pages.

use serde::{Deserialize, Serialize};

/// Most rows of a page.
pub const MOST_ROWS: u32 = 100;

/// A whole list.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "{T}List"))]
pub struct ListJson<T> {
    pub data: Vec<T>,
}

impl<T> ListJson<T> {
    /// A list of these, in their order.
    pub fn of<D: Into<T>>(items: Vec<D>) -> Self {
        Self { data: items.into_iter().map(Into::into).collect() }
    }

    /// Its items in the terms of the domain.
    pub fn items<D: From<T>>(self) -> Vec<D> {
        self.data.into_iter().map(D::from).collect()
    }
}

/// A page of a list. The next one is asked for with `next`; null on the last page.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "{T}Page"))]
pub struct PageJson<T, N> {
    pub data: Vec<T>,
    pub next: Option<N>,
}
