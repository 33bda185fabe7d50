//! The environment of a deployment: sandbox or production (interface, Versioning).

use crate::closed_enum;

closed_enum! {
    /// The environment of a deployment (interface, Versioning).
    #[derive(Default)]
    pub enum Environment {
        /// Test environment; decisions reach no network.
        #[default]
        Sandbox = "sandbox",
        /// The real one: decisions are final and cost money.
        Production = "production",
    }
}

impl Environment {
    /// Returns the word in keys and clients that were made for it.
    pub const fn in_credentials(self) -> &'static str {
        match self {
            Self::Sandbox => "test",
            Self::Production => "live",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_world_has_its_word_in_credentials() {
        assert_eq!(Environment::ALL.map(Environment::in_credentials), ["test", "live"]);
    }
}
