//! Secret text: redacted in `Debug`, zeroized when dropped.

use zeroize::Zeroize;

/// Secret text: `Debug` prints `****`, there is no `Display`, and it is wiped from memory when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl Secret {
    /// Wraps a secret text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text itself, for the one place that needs it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("****")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_revealed_where_it_is_asked_for_and_shown_nowhere() {
        let secret = Secret::new("s3cret");

        assert_eq!((secret.reveal(), format!("{secret:?}")), ("s3cret", "****".to_owned()));
    }
}
