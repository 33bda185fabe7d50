//! What has become of a database's schema beside the steps that this avert knows.

/// Schema version of a database. A newer one is an error ([`StoreError::Newer`](super::StoreError::Newer)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaState {
    /// Nothing is there yet: all these steps wait.
    Empty(Vec<&'static str>),
    /// These steps wait to be applied.
    Waiting(Vec<&'static str>),
    /// All have been applied.
    Current,
}

impl SchemaState {
    /// The state of a database to which so many of these steps have been applied.
    pub(super) fn after(applied: usize, steps: impl Iterator<Item = &'static str>) -> Self {
        let waiting: Vec<_> = steps.skip(applied).collect();
        match applied {
            0 => Self::Empty(waiting),
            _ if waiting.is_empty() => Self::Current,
            _ => Self::Waiting(waiting),
        }
    }

    /// The steps that wait to be applied.
    pub fn waiting(&self) -> &[&'static str] {
        match self {
            Self::Empty(steps) | Self::Waiting(steps) => steps,
            Self::Current => &[],
        }
    }
}
