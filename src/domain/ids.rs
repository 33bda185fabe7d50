//! Identifiers: one type for each kind of thing, so that they cannot be mixed up.

use std::{fmt, str::FromStr};

use uuid::Uuid;

use super::field::Holds;

macro_rules! uuid_id {
    ($($(#[$meta:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$meta])*
        ///
        /// The default is the nil id, which names nothing.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub Uuid);

        impl $name {
            /// Returns a new identifier, UUID version 7: later ones sort after earlier ones.
            pub fn generate() -> Self {
                Self(Uuid::now_v7())
            }
        }

        impl Holds<Uuid> for $name {
            fn held(&self) -> Option<Uuid> {
                Some(self.0)
            }

            fn hold(&mut self, id: Uuid) {
                self.0 = id;
            }
        }

        impl Holds<Uuid> for Option<$name> {
            fn held(&self) -> Option<Uuid> {
                self.map(|id| id.0)
            }

            fn hold(&mut self, id: Uuid) {
                *self = Some($name(id));
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                // Only the hyphenated form is an id of the interface; `Uuid` alone would take braces and URNs too.
                if text.len() != 36 {
                    return Err(Uuid::parse_str("").unwrap_err());
                }
                Uuid::parse_str(text).map(Self)
            }
        }
    )+};
}

uuid_id! {
    /// An alert in the service.
    AlertId,
    /// A stored outcome.
    OutcomeId,
    /// The merchant organization that alerts, keys and endpoints belong to.
    OrganizationId,
    /// A company of an organization.
    CompanyId,
    /// An enrollment of an organization at a provider.
    EnrollmentId,
    /// A webhook endpoint.
    EndpointId,
    /// Event that was recorded with its change.
    EventId,
    /// Delivery of one event to one endpoint.
    DeliveryId,
    /// Attempt to record a decision with a provider; also the provider's idempotency key.
    AttemptId,
    /// A database; a copy of it is the same one.
    DatabaseId,
    /// Running process of avert on one database.
    InstanceId,
    /// The boot of a machine, since which its monotonic clock counts.
    ClockEpoch,
}

impl InstanceId {
    /// Generates the id of a process that serves: UUID version 8. Another process that sees it alive also sees that it
    /// serves.
    pub fn serving() -> Self {
        Self(uuid::Builder::from_custom_bytes(Uuid::now_v7().into_bytes()).into_uuid())
    }

    /// Returns true where that process serves, and so delivers webhooks and polls networks for all others on its data.
    pub fn is_serving(self) -> bool {
        self.0.get_version_num() == 8
    }
}
