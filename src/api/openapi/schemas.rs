//! The schemas of the interface's bodies and answers, and of the service's own. Answers name every field they have; more would be a
//! mistake. The operator's are derived from the types that are written and read (`wire::operator`).

use serde_json::{Map, Value, json};

use crate::api::problem::Code;
use crate::domain::field::{Field, Kind};
use crate::domain::resolution::{InvalidReason, OlderRefunded, OlderWord};
use crate::domain::{Alert, Outcome};

/// A schema that is kept under a name.
pub(super) fn named(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// An object of exactly these fields.
fn object(fields: Vec<(&str, Value)>) -> Value {
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let required = json!(required);
    let properties: Map<String, Value> = fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    json!({"type": "object", "required": required, "properties": properties, "additionalProperties": false})
}

fn text() -> Value {
    json!({"type": "string"})
}

fn one_of(words: impl IntoIterator<Item = impl AsRef<str>>) -> Value {
    json!({"type": "string", "enum": words.into_iter().map(|word| word.as_ref().to_owned()).collect::<Vec<_>>()})
}

pub(super) fn uuid() -> Value {
    json!({"type": "string", "format": "uuid"})
}

fn moment() -> Value {
    json!({"type": "string", "format": "date-time"})
}

fn count() -> Value {
    json!({"type": "integer", "minimum": 0})
}

fn flag() -> Value {
    json!({"type": "boolean"})
}

fn decimal_text() -> Value {
    json!({"type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?$"})
}

fn nullable(mut schema: Value) -> Value {
    let kind = schema["type"].take();
    schema["type"] = json!([kind, "null"]);
    schema
}

fn list_of(schema: Value) -> Value {
    let mut list = json!({"type": "array"});
    list["items"] = schema;
    list
}

/// Every schema of the interface and the service itself.
pub(super) fn all() -> Map<String, Value> {
    let mut all = Map::new();
    let mut add = |name: &str, schema: Value| {
        all.insert(name.to_owned(), schema);
    };
    let error = object(vec![("field", text()), ("message", text())]);
    let mut problem = object(vec![
        ("type", text()),
        ("title", text()),
        ("status", json!({"type": "integer", "minimum": 400, "maximum": 599})),
        ("detail", text()),
        ("code", one_of(Code::ALL.iter().map(|code| code.as_str()))),
        ("requestId", text()),
    ]);
    problem["properties"]["errors"] = list_of(error);
    add("Problem", problem);

    for (older, suffix) in [(false, ""), (true, "Older")] {
        add(&format!("Outcome{suffix}"), object(record(Outcome::FIELDS, older)));
        add(&format!("Alert{suffix}"), alert(older));
        add(
            &format!("Alerts{suffix}"),
            object(vec![
                ("data", list_of(named(&format!("Alert{suffix}")))),
                ("total", count()),
                ("totalPages", count()),
                ("page", count()),
                ("size", json!({"type": "integer", "minimum": 1, "maximum": 100})),
            ]),
        );
    }
    add("Resolution", resolution());
    add("ResolutionOlder", resolution_older());
    add("Token", object(vec![("access_token", text()), ("token_type", one_of(["Bearer"])), ("expires_in", count())]));
    add(
        "TokenError",
        object(vec![
            ("error", one_of(["invalid_request", "invalid_client", "invalid_scope", "unsupported_grant_type"])),
            ("error_description", text()),
        ]),
    );
    add(
        "TokenRequest",
        json!({
            "type": "object",
            "required": ["grant_type"],
            "properties": {
                "grant_type": one_of(["client_credentials"]),
                "client_id": text(),
                "client_secret": text(),
                "scope": one_of(["alerts"]),
            },
        }),
    );
    add("KeySet", object(vec![("keys", list_of(json!({"type": "object", "required": ["kty", "kid"]})))]));
    add("Health", object(vec![("status", one_of(["ok"]))]));
    add("Readiness", object(vec![("status", one_of(["ready"]))]));
    all
}

fn alert(older: bool) -> Value {
    let outcome = if older { "OutcomeOlder" } else { "Outcome" };
    let mut fields = record(Alert::FIELDS, older);
    fields.push(("outcome", json!({"anyOf": [named(outcome), {"type": "null"}]})));
    fields.push(("hoursLeft", count()));
    object(fields)
}

/// The fields of a record as a dialect shows them.
fn record<R: Default>(fields: &'static [Field<R>], older: bool) -> Vec<(&'static str, Value)> {
    let schema = |field: &Field<R>| {
        let plain = match field.kind {
            Kind::Id(_) | Kind::Reference(_) => uuid(),
            Kind::Word(_) | Kind::Text(_) => text(),
            Kind::Moment(_) => moment(),
            Kind::Amount(_) if older => json!({"type": "number"}),
            Kind::Amount(_) => decimal_text(),
            Kind::Flag(_) => flag(),
        };
        if field.is_nullable() { nullable(plain) } else { plain }
    };
    let shown = fields.iter().filter(|field| older || !field.older_only);
    shown.map(|field| (field.name_in(older), schema(field))).collect()
}

/// Comments: at most 250 characters, no control characters but line breaks.
fn comments() -> Value {
    json!({"type": ["string", "null"], "maxLength": 250, "pattern": r"^[^\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f-\u009f]*$"})
}

fn resolution() -> Value {
    let reasons = InvalidReason::ALL.map(InvalidReason::as_str);
    json!({"oneOf": [
        {
            "type": "object",
            "required": ["refunded"],
            "properties": {"refunded": one_of(["REFUNDED", "NOT REFUNDED"]), "resolution": {"type": "null"}, "comments": comments()},
        },
        {
            "type": "object",
            "required": ["refunded", "resolution"],
            "properties": {"refunded": one_of(["INVALID"]), "resolution": one_of(reasons), "comments": comments()},
        },
    ]})
}

fn resolution_older() -> Value {
    let words = |stopped: bool| OlderWord::KNOWN.iter().filter(move |word| (**word == OlderWord::PartiallyStopped) == stopped);
    let refunded = || one_of(OlderRefunded::KNOWN.iter().map(OlderRefunded::as_str));
    json!({"oneOf": [
        {
            "type": "object",
            "required": ["resolution", "refunded"],
            "properties": {
                "resolution": one_of(words(false).map(OlderWord::as_str)),
                "refunded": refunded(),
                "amountStopped": {"type": "null"},
                "comments": comments(),
            },
        },
        {
            "type": "object",
            "required": ["resolution", "refunded", "amountStopped"],
            "properties": {
                "resolution": one_of(words(true).map(OlderWord::as_str)),
                "refunded": refunded(),
                "amountStopped": {"type": "number", "exclusiveMinimum": 0},
                "comments": comments(),
            },
        },
    ]})
}
