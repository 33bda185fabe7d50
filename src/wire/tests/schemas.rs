//! The schemas of the interface's bodies and answers in one dialect, and of the service's own. Answers name every field
//! they have, and stay open for further ones; bodies are closed. The operator's are derived from the types that are
//! written and read (`wire::operator`).

use serde_json::{Map, Value, json};

use crate::{
    Dialect,
    domain::{
        Alert, EventKind, Outcome,
        field::{Field, Kind},
        resolution::{InvalidReason, OlderRefunded, OlderWord},
    },
};

/// The codes of the error table, which the API holds.
const CODES: [&str; 28] = [
    "ambiguous_credentials",
    "provider_failed",
    "provider_outcome_unknown",
    "invalid_resolution",
    "invalid_body",
    "invalid_query",
    "invalid_id",
    "invalid_request",
    "not_authorized",
    "invalid_signature",
    "alert_not_found",
    "outcome_not_found",
    "not_found",
    "route_not_found",
    "method_not_allowed",
    "request_timeout",
    "alert_already_resolved",
    "resolution_in_progress",
    "conflict",
    "body_too_large",
    "uri_too_long",
    "head_too_large",
    "unsupported_media_type",
    "wrong_host",
    "idempotency_key_reused",
    "rate_limited",
    "internal_error",
    "overloaded",
];

/// A schema that is kept under a name.
pub(super) fn named(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// An object of at least these fields.
fn object(fields: Vec<(&str, Value)>) -> Value {
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let required = json!(required);
    let properties: Map<String, Value> = fields.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    json!({"type": "object", "required": required, "properties": properties})
}

/// An object of these fields and no other; those that are told may not be left out.
fn body(required: &[&str], properties: &Value) -> Value {
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

pub(super) fn moment() -> Value {
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

/// Every schema of the interface in a dialect; the service's own are with the current one.
pub(super) fn of(dialect: Dialect) -> Map<String, Value> {
    let older = dialect == Dialect::Older;
    let mut all = Map::new();
    let mut add = |name: &str, schema: Value| {
        all.insert(name.to_owned(), schema);
    };
    add("Problem", problem());
    add("Outcome", object(record(Outcome::FIELDS, older)));
    add("Alert", alert(record(Alert::FIELDS, older)));
    add(
        "Alerts",
        object(vec![
            ("data", list_of(named("Alert"))),
            ("total", count()),
            ("totalPages", count()),
            ("page", count()),
            ("size", json!({"type": "integer", "minimum": 1, "maximum": 100})),
        ]),
    );
    for (name, schema) in if older { resolutions_older() } else { resolutions() } {
        add(name, schema);
    }
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
    add(
        "KeySet",
        object(vec![(
            "keys",
            list_of(object(["kty", "crv", "alg", "use", "kid", "x"].map(|name| (name, text())).to_vec())),
        )]),
    );
    if !older {
        add("EventAlert", event_alert());
        let kinds = one_of(EventKind::OF_INTERFACE.map(|kind| kind.as_str().to_owned()));
        add("Event", object(vec![("event", kinds), ("timestamp", moment()), ("payload", named("EventAlert"))]));
        add("Health", object(vec![("status", one_of(["ok"]))]));
        add("Readiness", object(vec![("status", one_of(["ready"]))]));
    }
    all
}

/// Problem details (RFC 9457). There may be more codes one day, so a reader should not break on one.
fn problem() -> Value {
    let mut problem = object(vec![
        ("type", text()),
        ("title", text()),
        ("status", json!({"type": "integer", "minimum": 400, "maximum": 599})),
        ("detail", text()),
        (
            "code",
            json!({"type": "string", "description": "Stable; there may be further ones", "x-extensible-enum": CODES}),
        ),
        ("requestId", text()),
    ]);
    problem["properties"]["errors"] = list_of(object(vec![("field", text()), ("message", text())]));
    problem
}

fn alert(mut fields: Vec<(&'static str, Value)>) -> Value {
    fields.push(("outcome", json!({"anyOf": [named("Outcome"), {"type": "null"}]})));
    fields.push(("hoursLeft", count()));
    object(fields)
}

/// The alert of an event: in the current dialect, with both spellings of what has two.
fn event_alert() -> Value {
    let spelled = record(Alert::FIELDS, true).into_iter().zip(Alert::FIELDS);
    let again = spelled.filter(|(_, field)| field.older_name.is_some()).map(|(older, _)| older);
    alert(record(Alert::FIELDS, false).into_iter().chain(again).collect())
}

/// Returns true where the interface lets a field be null: a text that may be missing, and these.
fn is_nullable<R: Default>(field: &Field<R>) -> bool {
    match &field.kind {
        Kind::Word(text) | Kind::Text(text) => (text.get)(&R::default()).is_none(),
        _ => ["chargebackAmount", "expiredAt", "amountStopped"].contains(&field.name),
    }
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
        if is_nullable(field) { nullable(plain) } else { plain }
    };
    let shown = fields.iter().filter(|field| older || !field.older_only);
    shown.map(|field| (field.name_in(older), schema(field))).collect()
}

/// Comments: at most 250 characters, no control characters but line breaks.
fn comments() -> Value {
    json!({"type": ["string", "null"], "maxLength": 250,
        "pattern": r"^[^\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f-\u009f]*$"})
}

/// Null, and nothing else: generators of clients know no type that is null alone.
fn nothing(kind: &str) -> Value {
    json!({"type": [kind, "null"], "enum": [null]})
}

fn resolutions() -> [(&'static str, Value); 3] {
    let reasons = InvalidReason::ALL.map(InvalidReason::as_str);
    let decided = json!({"refunded": one_of(["REFUNDED", "NOT REFUNDED"]), "resolution": nothing("string"),
        "comments": comments()});
    let invalid = json!({"refunded": one_of(["INVALID"]), "resolution": one_of(reasons), "comments": comments()});
    [
        ("Decided", body(&["refunded"], &decided)),
        ("Invalid", body(&["refunded", "resolution"], &invalid)),
        ("Resolution", json!({"oneOf": [named("Decided"), named("Invalid")]})),
    ]
}

fn resolutions_older() -> [(&'static str, Value); 3] {
    let words = |stopped: bool| {
        OlderWord::ALL.into_iter().filter(move |word| (*word == OlderWord::PartiallyStopped) == stopped)
    };
    let decided = |stopped: bool, amount: Value| {
        let refunded = one_of(OlderRefunded::ALL.map(OlderRefunded::as_str));
        let word = one_of(words(stopped).map(OlderWord::as_str));
        json!({"resolution": word, "refunded": refunded, "amountStopped": amount, "comments": comments()})
    };
    let amount = json!({"type": "number", "exclusiveMinimum": 0, "description": "At most the alert's amount, with at \
        most 6 decimals"});
    [
        ("Decided", body(&["resolution", "refunded"], &decided(false, nothing("number")))),
        ("PartiallyStopped", body(&["resolution", "refunded", "amountStopped"], &decided(true, amount))),
        ("Resolution", json!({"oneOf": [named("Decided"), named("PartiallyStopped")]})),
    ]
}
