//! How the members of JSON stand for the fields of the domain, both ways.

use chrono::{NaiveDate, TimeDelta};

use super::text::Text;

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
        Self(
            TimeDelta::try_days(field)
                .and_then(|days| NaiveDate::default().checked_add_signed(days))
                .unwrap_or_default(),
        )
    }

    fn field(self) -> i64 {
        self.0.signed_duration_since(NaiveDate::default()).num_days()
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

as_they_are!(bool, u16, u32, u64, String);

/// Says what of the domain a type is: by members of the fields' own names, and members of other names.
macro_rules! stands_for {
    ($json:ident, $domain:ident, { $($same:ident),* } { $($member:ident: $field:ident),* }) => {
        impl Member<$domain> for $json {
            fn of(field: $domain) -> Self {
                let $domain { $($same,)* $($field,)* } = field;
                Self { $($same: Member::of($same),)* $($member: Member::of($field),)* }
            }

            fn field(self) -> $domain {
                let Self { $($same,)* $($member,)* } = self;
                $domain { $($same: Member::field($same),)* $($field: Member::field($member),)* }
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

pub(super) use stands_for;
