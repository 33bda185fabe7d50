//! The chain of causes of a failed call: its innermost words, and a cause of a certain type.

use std::error::Error;
use std::io;

/// The innermost cause of a failure. reqwest's own words hold the address with its query, which may be a secret; the cause does not.
pub fn cause(error: &reqwest::Error) -> String {
    let innermost = sources(error).last();
    innermost.map_or_else(|| "no reason given".to_owned(), ToString::to_string)
}

/// A cause of this type, where the failure has one.
pub fn find<T: Error + 'static>(error: &reqwest::Error) -> Option<&T> {
    sources(error).find_map(|source| source.downcast_ref().or_else(|| wrapped(source)))
}

/// What an error of input and output wraps, which is none of its sources.
fn wrapped<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let inner = error.downcast_ref::<io::Error>()?.get_ref()?;
    inner.downcast_ref().or_else(|| wrapped(inner))
}

fn sources(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |error| (*error).source())
}
