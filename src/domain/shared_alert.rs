//! A shared alert: as it was read once, for all who read it, with what was written of it.

use std::{
    fmt,
    ops::Deref,
    sync::{Arc, OnceLock},
};

use crate::{Alert, Dialect};

/// An alert behind a counted reference: cheap to clone, never changed.
#[derive(Clone)]
pub struct SharedAlert(Arc<Shared>);

struct Shared {
    alert: Alert,
    /// Serialized forms, by dialect.
    written: [OnceLock<Written>; Dialect::ALL.len()],
}

/// Serialized form of an alert, with its digest.
pub struct Written {
    pub bytes: Box<[u8]>,
    pub digest: [u8; 32],
}

impl SharedAlert {
    /// Returns the alert, which is copied where others read it too.
    pub fn into_alert(self) -> Alert {
        Arc::try_unwrap(self.0).map_or_else(|shared| shared.alert.clone(), |shared| shared.alert)
    }

    /// Returns the alert's serialized form in a dialect, which does not depend on the time. It is written on first use.
    pub fn written(&self, dialect: Dialect, write: impl FnOnce(&Alert) -> Written) -> &Written {
        self.0.written[dialect as usize].get_or_init(|| write(&self.0.alert))
    }
}

impl From<Alert> for SharedAlert {
    fn from(alert: Alert) -> Self {
        Self(Arc::new(Shared { alert, written: Default::default() }))
    }
}

impl Deref for SharedAlert {
    type Target = Alert;

    fn deref(&self) -> &Alert {
        &self.0.alert
    }
}

impl fmt::Debug for SharedAlert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.alert.fmt(f)
    }
}
