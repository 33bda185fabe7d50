//! The environment of a deployment: sandbox or production (interface, Versioning).

/// The environment of a deployment (interface, Versioning).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Environment {
    /// For trying out; decisions reach no network.
    #[default]
    Sandbox,
    /// The real one: decisions are final and cost money.
    Production,
}

impl Environment {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Sandbox, Self::Production];

    /// The word in settings and on the screen.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::Production => "production",
        }
    }
}
