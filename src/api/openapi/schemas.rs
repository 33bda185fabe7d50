//! The shapes of bodies and answers. Answers name every field they have; more would be a mistake.

use serde_json::{Map, Value, json};

use crate::api::problem::Code;
use crate::domain::field::{Field, Kind};
use crate::domain::resolution::{InvalidReason, OlderRefunded, OlderWord};
use crate::domain::signing::{LONGEST_OVERLAP, OVERLAP};
use crate::domain::{Alert, DeliveryState, Outcome};

/// `whsec_` and 24 to 64 bytes in base64, with its padding.
const SIGNING_SECRET: &str = "^whsec_(([A-Za-z0-9+/]{4}){8,20}([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?\
    |([A-Za-z0-9+/]{4}){21}([A-Za-z0-9+/][AQgw]==)?)$";

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

/// A list in an envelope, with what the next page is asked with where there is one.
fn data_of(name: &str, next: Option<Value>) -> Value {
    let mut fields = vec![("data", list_of(named(name)))];
    fields.extend(next.map(|next| ("next", next)));
    object(fields)
}

/// Every schema there is.
pub(super) fn all() -> Value {
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
    operators(&mut add);
    Value::Object(all)
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

fn operators(add: &mut impl FnMut(&str, Value)) {
    let rejected = object(vec![("line", json!({"type": "integer", "minimum": 1})), ("field", text()), ("message", text())]);
    add(
        "Index",
        object(vec![
            ("service", one_of(["avert"])),
            ("version", text()),
            ("environment", one_of(["sandbox", "production"])),
            ("organization", object(vec![("id", uuid()), ("name", text())])),
            ("routes", list_of(object(vec![("method", text()), ("path", text())]))),
        ]),
    );
    add(
        "IngestReport",
        object(vec![
            ("created", count()),
            ("updated", count()),
            ("unchanged", count()),
            ("rejectedCount", count()),
            ("rejected", list_of(rejected)),
            ("unknownFields", list_of(text())),
        ]),
    );
    let endpoint = || {
        vec![
            ("id", uuid()),
            ("url", text()),
            ("auth", text()),
            ("enabled", flag()),
            ("createdAt", moment()),
            ("disabledAt", nullable(moment())),
            ("disabledReason", nullable(text())),
            ("failingSince", nullable(moment())),
            ("signed", flag()),
            ("oldSecretUntil", nullable(moment())),
        ]
    };
    let secret = || json!({"type": "string", "pattern": SIGNING_SECRET});
    add("Endpoint", object(endpoint()));
    let mut created = object(endpoint().into_iter().chain([("secret", secret())]).collect());
    if let Some(required) = created["required"].as_array_mut() {
        required.retain(|name| name != "secret");
    }
    add("CreatedEndpoint", created);
    add("Endpoints", data_of("Endpoint", None));
    let written = |pattern: &str, longest: u64| json!({"type": "string", "pattern": pattern, "maxLength": longest});
    let mut basic = object(vec![
        ("username", written(r"^[^:\u0000-\u001f\u007f-\u009f]*$", 4_096)),
        ("password", written(r"^[^\u0000-\u001f\u007f-\u009f]*$", 4_096)),
    ]);
    let not_empty = |name: &str| json!({"properties": {name: {"minLength": 1}}});
    basic["anyOf"] = json!([not_empty("username"), not_empty("password")]);
    let header = object(vec![("name", written(r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", 128)), ("value", written("^[!-~]([ -~]*[!-~])?$", 4_096))]);
    add("EndpointAuth", json!({"oneOf": [object(vec![("basic", basic)]), object(vec![("header", header)])]}));
    let url = json!({"type": "string", "format": "uri", "pattern": "^https?://[^@#]+$", "maxLength": 2048});
    let insecure = || json!({"type": "boolean", "default": false, "description": "Allows plain http beyond this machine"});
    // Without that, http is for this machine alone.
    let safe = json!("^(https:|http://(localhost|127\\.[0-9.]+|\\[::1\\])([:/?]|$))");
    let url_allowed = json!({"anyOf": [
        {"properties": {"url": {"pattern": safe}}},
        {"required": ["insecureHttp"], "properties": {"insecureHttp": {"const": true}}},
    ]});
    let mut new = object(vec![
        ("url", url.clone()),
        ("insecureHttp", insecure()),
        ("auth", named("EndpointAuth")),
        ("sign", flag()),
        ("secret", secret()),
    ]);
    new["allOf"] = json!([url_allowed]);
    new["required"] = json!(["url", "auth"]);
    // A secret of one's own is for signing with.
    new["anyOf"] = json!([{"properties": {"sign": {"const": true}}}, {"not": {"required": ["secret"]}}]);
    add("NewEndpoint", new);
    let hours = json!({"type": "integer", "minimum": 0, "maximum": LONGEST_OVERLAP.num_hours(), "default": OVERLAP.num_hours()});
    let mut new = object(vec![("secret", secret()), ("overlapHours", hours)]);
    new["required"] = json!([]);
    add("NewSecret", new);
    let mut change = object(vec![("url", url), ("insecureHttp", insecure()), ("auth", named("EndpointAuth")), ("enabled", flag())]);
    change["allOf"] = json!([url_allowed]);
    change["required"] = json!([]);
    add("EndpointChange", change);
    add("Redelivered", object(vec![("redelivered", count())]));

    let delivery = || {
        vec![
            ("id", uuid()),
            ("eventId", uuid()),
            ("event", text()),
            ("alertId", uuid()),
            ("test", flag()),
            ("endpointId", uuid()),
            ("url", text()),
            ("state", one_of(DeliveryState::ALL.map(DeliveryState::as_str))),
            ("attempts", count()),
            ("dueAt", nullable(moment())),
            ("lastResult", nullable(text())),
            ("deliveredAt", nullable(moment())),
        ]
    };
    add("Delivery", object(delivery()));
    add("Deliveries", data_of("Delivery", Some(nullable(uuid()))));
    let header = object(vec![("name", text()), ("value", text())]);
    let sent = object(vec![("url", text()), ("headers", list_of(header))]);
    let one = object(vec![
        ("number", json!({"type": "integer", "minimum": 1})),
        ("startedAt", moment()),
        ("durationMs", count()),
        ("status", nullable(json!({"type": "integer"}))),
        ("error", nullable(text())),
        ("answer", text()),
        ("sent", nullable(sent)),
    ]);
    add("DeliveryLog", object(delivery().into_iter().chain([("body", text()), ("tries", list_of(one))]).collect()));

    let times = || vec![("createdAt", moment()), ("lastUsedAt", nullable(moment())), ("revokedAt", nullable(moment()))];
    let key = || [("id", text()), ("scope", one_of(["alerts", "operator"]))].into_iter().chain(times()).collect::<Vec<_>>();
    let client = || [("id", text())].into_iter().chain(times()).collect::<Vec<_>>();
    add("Key", object(key()));
    add("Keys", data_of("Key", None));
    add("CreatedKey", object(key().into_iter().chain([("key", text())]).collect()));
    add(
        "NewKey",
        json!({
            "type": "object",
            "properties": {"scope": one_of(["alerts", "operator"])},
            "additionalProperties": false,
        }),
    );
    add("Client", object(client()));
    add("Clients", data_of("Client", None));
    add("CreatedClient", object(client().into_iter().chain([("secret", text())]).collect()));
    add("Company", object(vec![("id", uuid()), ("enrollmentIds", list_of(uuid()))]));
    add("Companies", data_of("Company", None));

    let sums = || json!({"type": "object", "additionalProperties": count()});
    let day = object(vec![
        ("day", nullable(json!({"type": "string", "format": "date"}))),
        ("provider", text()),
        ("type", text()),
        ("status", text()),
        ("outcome", nullable(text())),
        ("expired", flag()),
        ("alerts", count()),
    ]);
    let at_risk = object(vec![("currency", text()), ("amount", decimal_text()), ("alerts", count())]);
    add(
        "Counts",
        object(vec![
            ("total", count()),
            ("byStatus", sums()),
            ("byProvider", sums()),
            ("days", list_of(day)),
            ("atRisk", list_of(at_risk)),
        ]),
    );
    add(
        "Attempt",
        object(vec![
            ("id", uuid()),
            ("alertId", uuid()),
            ("state", one_of(["INFLIGHT", "UNKNOWN", "PARKED"])),
            (
                "resolution",
                json!({
                    "type": "object",
                    "required": ["refunded", "resolution", "comments"],
                    "properties": {
                        "refunded": text(),
                        "resolution": nullable(text()),
                        "amountStopped": nullable(decimal_text()),
                        "comments": text(),
                    },
                    "additionalProperties": false,
                }),
            ),
            ("actor", text()),
            ("startedAt", moment()),
            ("nextCheckAt", nullable(moment())),
            ("checks", count()),
            ("detail", text()),
        ]),
    );
    add("Attempts", data_of("Attempt", None));
    let change = vec![("id", json!({"type": "string", "pattern": "^[0-9]+$"})), ("event", one_of(["change"])), ("data", text())];
    add("Change", object(change));
    add("AttemptDecision", object(vec![("applied", flag())]));
    let hash = || json!({"type": "string", "pattern": "^[0-9a-f]{64}$"});
    add(
        "AuditEntry",
        object(vec![
            ("number", json!({"type": "integer", "minimum": 1})),
            ("at", moment()),
            ("actor", text()),
            ("origin", text()),
            ("action", text()),
            ("subject", text()),
            ("detail", text()),
            ("previous", hash()),
            ("hash", hash()),
        ]),
    );
    add("Audit", data_of("AuditEntry", Some(nullable(json!({"type": "integer", "minimum": 1})))));
}
