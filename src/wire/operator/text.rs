//! Scalars that JSON holds as text, and the mapping between the members of JSON and the fields of the domain.

use std::borrow::Cow;

use chrono::NaiveDate;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::domain::{
    AlertId, AlertStatus, AlertType, Amount, AnswerKind, Answers, AttemptId, CardScheme, CompanyId, ContradictionKind,
    Currency, DeliveryId, DeliveryState, EndpointId, EnrollmentId, Environment, EventId, EventKind, EventTemplate,
    KeyScope, OrganizationId, Provider, RefundState, Resolution, SalesMonth, Secret, TruthKind,
    audit::hex,
    rule::automatic::{RuleState, StopReason},
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
scalars!(SalesMonth => to_string, |text| text.parse().ok());
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

words!(
    AnswerKind,
    Answers,
    CardScheme,
    ContradictionKind,
    DeliveryState,
    Environment,
    EventTemplate,
    KeyScope,
    RefundState,
    RuleState,
    StopReason,
    TruthKind
);

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
        let byte = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..text.len()).step_by(2).map(byte).collect();
        bytes?.try_into().ok()
    }
}

/// A member that stands for a field.
pub(super) trait Member<F> {
    fn of(field: F) -> Self;
    fn field(self) -> F;
}

impl<T> Member<T> for Text<T> {
    fn of(field: T) -> Self {
        Self(field)
    }

    fn field(self) -> T {
        self.0
    }
}

impl<M: Member<F>, F> Member<Option<F>> for Option<M> {
    fn of(field: Option<F>) -> Self {
        field.map(M::of)
    }

    fn field(self) -> Option<F> {
        self.map(M::field)
    }
}

impl<M: Member<F>, F> Member<Vec<F>> for Vec<M> {
    fn of(field: Vec<F>) -> Self {
        field.into_iter().map(M::of).collect()
    }

    fn field(self) -> Vec<F> {
        self.into_iter().map(M::field).collect()
    }
}

/// A day as days since 1970-01-01.
impl Member<i64> for Text<NaiveDate> {
    fn of(field: i64) -> Self {
        Self(i32::try_from(field).ok().and_then(NaiveDate::from_epoch_days).unwrap_or_default())
    }

    fn field(self) -> i64 {
        self.0.to_epoch_days().into()
    }
}

macro_rules! as_they_are {
    ($($kind:ty),+) => {$(
        impl Member<$kind> for $kind {
            fn of(field: $kind) -> Self {
                field
            }

            fn field(self) -> $kind {
                self
            }
        }
    )+};
}

as_they_are!(bool, u16, u32, i64, u64, String, Resolution);

/// Declares the type of a JSON object, its members in camel case. `for` names the type of the domain that it stands
/// for, and `member = field` a field of another name; an `optional` member may be left out, and is not null.
macro_rules! json_type {
    ($(#[$meta:meta])* $vis:vis struct $json:ident $(for $domain:ident)? { $($members:tt)* }) => {
        json_type!(@ ($(#[$meta])* $vis $json $($domain)?) () $($members)*);
    };
    (@ $type:tt ($($known:tt)*)
        $(#[$meta:meta])* optional $vis:vis $member:ident: $kind:ty, $($rest:tt)*
    ) => {
        json_type!(@ $type ($($known)* {
            $(#[$meta])*
            #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
            $vis $member: Option<$kind>; $member
        }) $($rest)*);
    };
    (@ $type:tt ($($known:tt)*) $(#[$meta:meta])* $vis:vis $member:ident: $kind:ty, $($rest:tt)*) => {
        json_type!(@ $type ($($known)* { $(#[$meta])* $vis $member: $kind; $member }) $($rest)*);
    };
    (@ $type:tt ($($known:tt)*) $(#[$meta:meta])* $vis:vis $member:ident = $field:ident: $kind:ty, $($rest:tt)*) => {
        json_type!(@ $type ($($known)* { $(#[$meta])* $vis $member: $kind; $field }) $($rest)*);
    };
    (@ ($(#[$meta:meta])* $vis:vis $json:ident $($domain:ident)?) ($({
        $(#[$doc:meta])* $open:vis $member:ident: $kind:ty; $field:ident
    })*)) => {
        #[derive(Debug, Serialize, Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(rename_all = "camelCase")]
        $(#[$meta])*
        $vis struct $json { $($(#[$doc])* $open $member: $kind,)* }

        stands_for!($json $($domain)? { $($member: $field),* });
    };
}

/// Says what of the domain a type is, member by member.
macro_rules! stands_for {
    ($json:ident { $($members:tt)* }) => {};
    ($json:ident $domain:ident { $($member:ident: $field:ident),* }) => {
        impl Member<$domain> for $json {
            fn of(field: $domain) -> Self {
                let $domain { $($field: $member),* } = field;
                Self { $($member: Member::of($member)),* }
            }

            fn field(self) -> $domain {
                let Self { $($member),* } = self;
                $domain { $($field: Member::field($member)),* }
            }
        }

        impl From<$domain> for $json {
            fn from(field: $domain) -> Self {
                Member::of(field)
            }
        }

        impl From<$json> for $domain {
            fn from(json: $json) -> Self {
                json.field()
            }
        }
    };
}

pub(super) use json_type;
pub(super) use stands_for;
