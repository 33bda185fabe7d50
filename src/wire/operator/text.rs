//! Scalars that JSON holds as text: identifiers, timestamps, days, enumerations, amounts, digests, secrets.

use std::borrow::Cow;

use chrono::NaiveDate;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::domain::{
    AlertId, AlertStatus, AlertType, Amount, AttemptId, CardScheme, CompanyId, Currency, DeliveryId, DeliveryState,
    EndpointId, EnrollmentId, Environment, EventId, EventKind, KeyScope, OrganizationId, Provider, Secret,
    audit::hex,
    time::{Timestamp, from_iso, to_iso},
    url::{EndpointUrl, PlainHttp},
};

/// A scalar of the domain as a JSON string.
#[derive(Debug, Clone)]
pub struct Text<T>(pub T);

/// Text form of a scalar.
pub trait Scalar: Sized {
    /// The text of it.
    fn write(&self) -> Cow<'_, str>;
    /// The scalar of this text, where it is one.
    fn read(text: String) -> Option<Self>;
    /// Constraint of a text.
    fn allowed() -> String {
        "a text of its kind".to_owned()
    }
}

/// Returns the value, where there is one.
pub(super) fn bare<T>(text: Option<Text<T>>) -> Option<T> {
    text.map(|text| text.0)
}

impl<T: Scalar> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.write())
    }
}

impl<'de, T: Scalar> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // No error repeats the text: it may be a secret.
        let text = String::deserialize(deserializer)?;
        T::read(text).map(Self).ok_or_else(|| D::Error::custom(format!("another text, expected {}", T::allowed())))
    }
}

macro_rules! scalars {
    ($($scalar:ty),+ => $write:ident, |$text:ident| $read:expr) => {$(
        impl Scalar for $scalar {
            fn write(&self) -> Cow<'_, str> {
                self.$write().into()
            }

            fn read($text: String) -> Option<Self> {
                $read
            }
        }
    )+};
}

scalars!(AlertId, AttemptId, CompanyId, DeliveryId, EndpointId => to_string, |text| text.parse().ok());
scalars!(EnrollmentId, EventId, OrganizationId, NaiveDate, Amount => to_string, |text| text.parse().ok());
scalars!(EndpointUrl => to_string, |text| Self::parse(&text, PlainHttp::Allowed).ok());
scalars!(AlertStatus, AlertType, EventKind, Provider => as_str, |text| Some(Self::parse(&text)));
scalars!(Currency => as_str, |text| Some(Self::new(text)));
scalars!(Secret => reveal, |text| Some(Self::new(text)));

macro_rules! words {
    ($($word:ty),+) => {$(
        impl Scalar for $word {
            fn write(&self) -> Cow<'_, str> {
                self.as_str().into()
            }

            fn read(text: String) -> Option<Self> {
                Self::parse(&text)
            }

            fn allowed() -> String {
                format!("one of {}", Self::ALL.map(Self::as_str).join(", "))
            }
        }
    )+};
}

words!(CardScheme, DeliveryState, Environment, KeyScope);

impl Scalar for Timestamp {
    fn write(&self) -> Cow<'_, str> {
        to_iso(*self).into()
    }

    fn read(text: String) -> Option<Self> {
        from_iso(&text)
    }
}

/// SHA-256, in hexadecimal.
impl Scalar for [u8; 32] {
    fn write(&self) -> Cow<'_, str> {
        hex(self).into()
    }

    fn read(text: String) -> Option<Self> {
        let digits = Some(text).filter(|text| text.len() == 64)?;
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(digits.get(at * 2..at * 2 + 2)?, 16).ok()?;
        }
        Some(bytes)
    }
}
