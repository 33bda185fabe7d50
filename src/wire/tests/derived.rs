//! Schemas derived from the types of the operator's JSON (JSON Schema 2020-12, as OpenAPI 3.1 has it).

use std::borrow::Cow;

use chrono::NaiveDate;
use schemars::{
    JsonSchema, Schema,
    generate::{SchemaGenerator, SchemaSettings},
    json_schema,
    transform::RecursiveTransform,
};
use serde_json::{Map, Value, json};

use crate::{
    domain::{
        AlertId, AlertStatus, AlertType, Amount, AnswerKind, Answers, AttemptId, CardScheme, CompanyId,
        ContradictionKind, Currency, DeliveryId, DeliveryState, EndpointId, EnrollmentId, Environment, EventId,
        EventKind, EventTemplate, KeyScope, OrganizationId, Provider, RefundState, SalesMonth, Secret, TruthKind,
        rule::automatic::{RuleState, StopReason},
        signing::{LONGEST_OVERLAP, OVERLAP},
        time::Timestamp,
        url::EndpointUrl,
        webhook::subscription::MAX_MINUTES,
    },
    operator::Text,
};

/// The schemas that were asked for, with those that they refer to.
pub(super) struct Derived {
    answers: SchemaGenerator,
    bodies: SchemaGenerator,
}

impl Derived {
    pub(super) fn new() -> Self {
        let settings = || {
            SchemaSettings::draft2020_12().for_serialize().with(|it| it.definitions_path = "/components/schemas".into())
        };
        Self {
            answers: settings().with_transform(RecursiveTransform(plain)).into_generator(),
            bodies: settings()
                .with_transform(RecursiveTransform(plain))
                .with_transform(RecursiveTransform(closed))
                .into_generator(),
        }
    }

    /// A reference to the schema of an answer, which may get further fields.
    pub(super) fn answer<T: JsonSchema>(&mut self) -> Value {
        unsuffixed(self.answers.subschema_for::<T>().to_value())
    }

    /// A reference to the schema of a body, which has the fields that are named and no other.
    pub(super) fn body<T: JsonSchema>(&mut self) -> Value {
        unsuffixed(self.bodies.subschema_for::<T>().to_value())
    }

    /// All of them, by name.
    pub(super) fn components(mut self) -> Map<String, Value> {
        let mut all = self.answers.take_definitions(true);
        all.extend(self.bodies.take_definitions(true));
        let mut all = Value::Object(all.into_iter().map(|(name, schema)| (name.replace("Json", ""), schema)).collect());
        for (place, more) in refinements() {
            let schema = all.pointer_mut(place).and_then(Value::as_object_mut).unwrap_or_else(|| panic!("{place}"));
            schema.extend(more.as_object().cloned().unwrap());
        }
        let Value::Object(all) = unsuffixed(all) else { unreachable!("an object") };
        all
    }
}

/// The references of a schema, with the names of types that end with `Json` without that.
fn unsuffixed(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(members) => {
            for (name, member) in members {
                *member = match member.take() {
                    Value::String(text) if name == "$ref" => text.replace("Json", "").into(),
                    other => unsuffixed(other),
                };
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = unsuffixed(item.take())),
        _ => {}
    }
    schema
}

/// `whsec_` and 24 to 64 bytes in base64, with its padding.
const SIGNING_SECRET: &str = "^whsec_(([A-Za-z0-9+/]{4}){8,20}([A-Za-z0-9+/][AQgw]==|\
    [A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?\
    |([A-Za-z0-9+/]{4}){21}([A-Za-z0-9+/][AQgw]==)?)$";

/// URLs to which credential and alerts do not go in clear beyond this machine.
const SAFE_URL: &str = "^(https:|http://(([^/?#@:]+\\.)?localhost\\.?|127\\.[0-9.]+|\\[::1\\])([:/?]|$))";

/// Additions that the types do not carry, by their place in the schemas.
fn refinements() -> Vec<(&'static str, Value)> {
    let from_one = json!({"minimum": 1});
    let url = json!({"format": "uri", "pattern": "^https?://[^@#]+$", "maxLength": 2048});
    let off = json!({"default": false});
    let events: Vec<&str> = EventKind::KNOWN.iter().map(EventKind::as_str).collect();
    let certificates = json!({"pattern": r"^\s*$|-----BEGIN CERTIFICATE-----"});
    let secret = json!({"pattern": SIGNING_SECRET});
    // Either the address is safe, or plain http is allowed.
    let safe_or_allowed = json!([{"anyOf": [
        {"properties": {"url": {"pattern": SAFE_URL}}},
        {"required": ["insecureHttp"], "properties": {"insecureHttp": {"const": true}}},
    ]}]);
    // A secret of one's own is for signing with.
    let unsigned = json!({"properties": {"sign": {"const": false}, "secret": {}}, "required": ["sign", "secret"]});
    let overlap = (LONGEST_OVERLAP.num_hours(), OVERLAP.num_hours());
    vec![
        ("/Attempt/properties/state", json!({"enum": ["INFLIGHT", "UNKNOWN", "PARKED"]})),
        ("/AuditEntry/properties/number", from_one.clone()),
        ("/Change/properties/id", json!({"pattern": "^[0-9]+$"})),
        ("/Change/properties/event", json!({"enum": ["change"]})),
        ("/DeliveryAttempt/properties/number", from_one.clone()),
        ("/RejectedRow/properties/line", from_one),
        ("/Index/properties/service", json!({"enum": ["avert"]})),
        ("/CreatedEndpoint/properties/secret", secret.clone()),
        ("/NewEndpoint", json!({"allOf": safe_or_allowed, "not": unsigned})),
        ("/NewEndpoint/properties/url", url.clone()),
        ("/NewEndpoint/properties/insecureHttp", off.clone()),
        ("/NewEndpoint/properties/secret", secret.clone()),
        ("/NewEndpoint/properties/caCertificate", certificates.clone()),
        ("/NewRefund", json!({"required": ["reference", "state"]})),
        ("/NewReport", json!({"required": ["kind", "id"]})),
        ("/NewEndpoint/properties/events", json!({"minItems": 1, "items": {"type": "string", "enum": events}})),
        ("/NewEndpoint/properties/minutes", json!({"minimum": 1, "maximum": MAX_MINUTES, "default": 30})),
        ("/EndpointChange", json!({"allOf": safe_or_allowed})),
        ("/EndpointChange/properties/url", url),
        ("/EndpointChange/properties/insecureHttp", off),
        ("/EndpointChange/properties/caCertificate", certificates),
        ("/NewSecret/properties/secret", secret),
        ("/NewSecret/properties/overlapHours", json!({"minimum": 0, "maximum": overlap.0, "default": overlap.1})),
        (
            "/EndpointAuth/oneOf/0/properties/basic",
            json!({"not": {"properties": {"username": {"const": ""}, "password": {"const": ""}}}}),
        ),
        (
            "/EndpointAuth/oneOf/0/properties/basic/properties/username",
            json!({"pattern": r"^[^:\u0000-\u001f\u007f-\u009f]*$", "maxLength": 4096}),
        ),
        (
            "/EndpointAuth/oneOf/0/properties/basic/properties/password",
            json!({"pattern": r"^[^\u0000-\u001f\u007f-\u009f]*$", "maxLength": 4096}),
        ),
        (
            "/EndpointAuth/oneOf/1/properties/header/properties/name",
            json!({"pattern": r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", "maxLength": 128}),
        ),
        (
            "/EndpointAuth/oneOf/1/properties/header/properties/value",
            json!({"pattern": "^[!-~]([ -~]*[!-~])?$", "maxLength": 4096}),
        ),
    ]
}

fn is_object(schema: &Map<String, Value>) -> bool {
    let is_object = |kind: &Value| {
        kind == "object" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "object"))
    };
    schema.get("type").is_some_and(is_object)
}

/// A description is one line; what can be left out is never null; how wide an integer is here is nobody's business.
fn plain(schema: &mut Schema) {
    let Some(members) = schema.as_object_mut() else { return };
    if let Some(Value::String(text)) = members.get_mut("description") {
        *text = text.replace('\n', " ");
    }
    if members
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(|format| format.starts_with("uint") || format.starts_with("int"))
    {
        members.remove("format");
    }
    if !is_object(members) {
        return;
    }
    let required = members.get("required").cloned().unwrap_or_default();
    let is_required = |name: &str| required.as_array().is_some_and(|names| names.iter().any(|known| known == name));
    let Some(properties) = members.get_mut("properties").and_then(Value::as_object_mut) else { return };
    properties.iter_mut().filter(|(name, _)| !is_required(name)).for_each(|(_, property)| not_null(property));
}

/// Objects have the fields that are named and no other.
fn closed(schema: &mut Schema) {
    let Some(members) = schema.as_object_mut() else { return };
    if is_object(members) && members.contains_key("properties") {
        members.entry("additionalProperties").or_insert(Value::Bool(false));
    }
}

fn not_null(property: &mut Value) {
    if let Some(types) = property.get_mut("type")
        && let Some([one, _]) = types.as_array().map(Vec::as_slice)
    {
        *types = one.clone();
    }
    if let Some(words) = property.get_mut("enum").and_then(Value::as_array_mut) {
        words.retain(|word| !word.is_null());
    }
    if let Some(one) = property.get("anyOf").and_then(|any| any.get(0)).cloned() {
        *property = one;
    }
}

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
described!({"type": "string", "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])$"}: SalesMonth);
described!({"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?$"}: Amount);
described!({"type": "string", "pattern": "^[0-9a-f]{64}$"}: [u8; 32]);
described!({"type": "string"}: AlertStatus, AlertType, Currency, EventKind, Provider, EndpointUrl, Secret);
described!(
    {"type": "string", "enum": Self::ALL.map(Self::as_str)}: AnswerKind, Answers, CardScheme, ContradictionKind,
        DeliveryState, Environment, EventTemplate, KeyScope, RefundState, RuleState,
        StopReason, TruthKind
);
