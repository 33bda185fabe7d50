//! The schemas of scalars that JSON holds as text.

use std::borrow::Cow;

use chrono::NaiveDate;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::{
    domain::{
        AlertId, AlertStatus, AlertType, Amount, AttemptId, CardScheme, CompanyId, Currency, DeliveryId, DeliveryState,
        EndpointId, EnrollmentId, Environment, EventId, EventKind, KeyScope, OrganizationId, Provider, Secret,
        time::Timestamp, url::EndpointUrl,
    },
    operator::Text,
};

/// Description of a scalar.
trait Described {
    fn describe() -> Schema;
}

impl<T: Described> JsonSchema for Text<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Text".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        T::describe()
    }
}

macro_rules! described {
    ($schema:tt: $($scalar:ty),+) => {$(
        impl Described for $scalar {
            fn describe() -> Schema {
                json_schema!($schema)
            }
        }
    )+};
}

described!(
    {"type": "string", "format": "uuid"}: AlertId, AttemptId, CompanyId, DeliveryId, EndpointId, EnrollmentId,
        EventId, OrganizationId
);
described!({"type": "string", "format": "date"}: NaiveDate);
described!({"type": "string", "format": "date-time"}: Timestamp);
described!({"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?$"}: Amount);
described!({"type": "string", "pattern": "^[0-9a-f]{64}$"}: [u8; 32]);
described!({"type": "string"}: AlertStatus, AlertType, Currency, EventKind, Provider, EndpointUrl, Secret);
described!({"type": "string", "enum": Self::ALL.map(Self::as_str)}: CardScheme, DeliveryState, Environment, KeyScope);
