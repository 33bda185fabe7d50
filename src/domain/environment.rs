//! The environment of a deployment: sandbox or production (interface, Versioning).

use super::closed_enum::closed_enum;

closed_enum! {
    /// The environment of a deployment (interface, Versioning).
    #[derive(Default)]
    pub enum Environment {
        /// For trying out; decisions reach no network.
        #[default]
        Sandbox = "sandbox",
        /// The real one: decisions are final and cost money.
        Production = "production",
    }
}
