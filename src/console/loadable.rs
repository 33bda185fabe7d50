//! Loading data as a state machine.

use crate::service::ServiceError;

/// The state of data that a service was asked for.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Loadable<T> {
    /// Nobody has asked yet.
    #[default]
    NotAsked,
    /// Asked, no answer yet.
    Loading,
    /// The answer.
    Loaded(T),
    /// No answer, and why.
    Failed(ServiceError),
}

impl<T> Loadable<T> {
    /// The answer, where there is one.
    pub fn loaded(&self) -> Option<&T> {
        match self {
            Self::Loaded(value) => Some(value),
            Self::NotAsked | Self::Loading | Self::Failed(_) => None,
        }
    }

    /// Notes that it was asked for. What is known stays until the answer comes.
    pub fn ask(&mut self) {
        if !matches!(self, Self::Loaded(_)) {
            *self = Self::Loading;
        }
    }

    /// Takes an answer in. What was known stays when the new answer is a failure.
    pub fn answer(&mut self, result: Result<T, ServiceError>) {
        match result {
            Ok(value) => *self = Self::Loaded(value),
            Err(_) if matches!(self, Self::Loaded(_)) => {}
            Err(error) => *self = Self::Failed(error),
        }
    }
}
