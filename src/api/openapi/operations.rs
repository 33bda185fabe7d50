//! The OpenAPI operations: parameters, bodies, answers.

use std::num::NonZeroU64;

use serde_json::{Map, Value, json};

use super::derived::Derived;
use super::schemas::{named, uuid};
use crate::domain::{AlertStatus, AlertType, DeliveryState, Provider, SortField};
use crate::wire::operator::{
    AttemptDecisionJson, AttemptJson, AuditEntryJson, ChangeEvent, ClientJson, CompanyJson, CountsJson, CreatedClientJson,
    CreatedEndpointJson, CreatedKeyJson, DeliveryJson, DeliveryLogJson, DeliveryPageJson, EndpointChangeJson, EndpointJson, IndexJson,
    IngestReportJson, KeyJson, ListJson, MOST_HOURS, NewEndpointJson, NewKeyJson, NewSecretJson, PageJson, RedeliveredJson,
};
use crate::wire::query::{MAX_PAGE, MAX_TEXT, MAX_VALUES};

/// An OpenAPI operation: one method of one path.
pub(super) struct Operation {
    pub(super) method: &'static str,
    pub(super) path: String,
    pub(super) value: Value,
}

impl Operation {
    fn new(method: &'static str, path: impl Into<String>, tag: &str, id: &str, summary: &str) -> Self {
        let value = json!({"operationId": id, "tags": [tag], "summary": summary, "responses": {}});
        // What the guard around all routes answers.
        let operation = Self { method, path: path.into(), value }
            .refused(403, "Not authorized, or asked by a web page of another origin")
            .refused(414, "The path and its query are too long")
            .refused(421, "The Host header names somebody else")
            .refused(431, "The headers are too many or too long")
            .refused(500, "The service made a mistake; its log has it under the request's id")
            .refused(503, "More is asked than can be worked on, or the database does not answer; try again after Retry-After seconds");
        if operation.path.contains("{id}") { operation.refused(400, "The id is not valid, or the request is not") } else { operation }
    }

    /// With a credential, of which there must be one.
    fn with_credential(self, security: Value) -> Self {
        let has_refusal = self.value["responses"]["400"].is_object();
        let mut operation = if has_refusal { self } else { self.refused(400, "More than one credential") };
        operation.value["security"] = security;
        operation
    }

    fn with_operator_key(self) -> Self {
        self.with_credential(json!([{"operatorKey": []}]))
    }

    /// On the interface's routes either kind of credential is taken.
    fn alerts(method: &'static str, path: &'static str, id: &str, summary: &str) -> Self {
        Self::new(method, path, "alerts", id, summary).with_credential(json!([{"apiKey": []}, {"bearer": []}]))
    }

    /// On avert's own routes an operator's key is taken; the path is what follows `/operator/v1`.
    fn operator(method: &'static str, path: &str, id: &str, summary: &str) -> Self {
        Self::new(method, format!("/operator/v1{path}"), "operator", id, summary).with_operator_key()
    }

    /// For anybody.
    fn open(method: &'static str, path: &'static str, id: &str, summary: &str) -> Self {
        let mut operation = Self::new(method, path, "service", id, summary);
        operation.value["security"] = json!([]);
        operation
    }

    fn parameter(mut self, place: &str, name: &str, schema: Value, description: &str) -> Self {
        let is_list = schema["type"] == "array";
        let mut parameter = json!({"name": name, "in": place, "description": description});
        parameter["schema"] = schema;
        if place == "path" {
            parameter["required"] = true.into();
        }
        if is_list {
            parameter["style"] = "form".into();
            parameter["explode"] = false.into();
        }
        match self.value["parameters"].as_array_mut() {
            Some(parameters) => parameters.push(parameter),
            None => self.value["parameters"] = json!([parameter]),
        }
        self
    }

    fn query(self, name: &str, schema: Value, description: &str) -> Self {
        self.parameter("query", name, schema, description)
    }

    fn id(self, of: &str) -> Self {
        self.parameter("path", "id", uuid(), of).refused(404, "There is none such, or it is another organization's")
    }

    /// An id that is no UUID.
    fn text_id(self, of: &str) -> Self {
        let schema = json!({"type": "string", "minLength": 1});
        self.parameter("path", "id", schema, of).refused(404, "There is none such, or it is another organization's")
    }

    fn body(mut self, content: &[(&str, Value)], description: &str) -> Self {
        self.value["requestBody"] = json!({"required": true, "description": description, "content": media(content)});
        self.refused(400, "The request is not valid")
            .refused(408, "The body did not come in time")
            .refused(413, "The body is too large")
            .refused(415, "The body is of another type")
    }

    fn json_body(self, schema: Value, description: &str) -> Self {
        self.body(&[("application/json", schema)], description)
    }

    fn answers(mut self, status: u16, description: &str, content: &[(&str, Value)]) -> Self {
        let mut response = json!({"description": description, "headers": request_id()});
        if !content.is_empty() {
            response["content"] = media(content);
        }
        self.value["responses"][status.to_string()] = response;
        self
    }

    fn json(self, status: u16, schema: Value, description: &str) -> Self {
        self.answers(status, description, &[("application/json", schema)])
    }

    /// In the credential's dialect.
    fn dialects(self, name: &str, description: &str) -> Self {
        let schema = json!({"anyOf": [named(name), named(&format!("{name}Older"))]});
        self.answers(200, description, &[("application/json", schema)])
    }

    fn refused(mut self, status: u16, description: &str) -> Self {
        self.value["responses"][status.to_string()] = problem(description);
        if matches!(status, 429 | 503) {
            let seconds =
                json!({"description": "Seconds after which to try again", "required": true, "schema": {"type": "integer", "minimum": 1}});
            self.value["responses"][status.to_string()]["headers"]["Retry-After"] = seconds;
        }
        self
    }
}

fn request_id() -> Value {
    json!({"X-Request-Id": {"description": "The request's id, as the log has it", "required": true, "schema": {"type": "string", "minLength": 1, "maxLength": 128}}})
}

fn media(content: &[(&str, Value)]) -> Value {
    Value::Object(content.iter().map(|(kind, schema)| ((*kind).to_owned(), json!({"schema": schema}))).collect::<Map<_, _>>())
}

fn problem(description: &str) -> Value {
    json!({"description": description, "headers": request_id(), "content": media(&[("application/problem+json", named("Problem"))])})
}

fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> Value {
    json!({"type": "array", "items": {"type": "string", "enum": words.into_iter().collect::<Vec<_>>()}, "minItems": 1, "maxItems": MAX_VALUES})
}

fn day() -> Value {
    json!({"type": "string", "format": "date"})
}

fn whole(minimum: u64, maximum: u64) -> Value {
    json!({"type": "integer", "minimum": minimum, "maximum": maximum})
}

fn search() -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": MAX_TEXT, "pattern": r"^[^\u0000-\u001f\u007f-\u009f\ufffd]*$"})
}

/// Every operation there is.
pub(super) fn all(derived: &mut Derived) -> Vec<Operation> {
    let mut all = vec![list()];
    all.extend(interface());
    all.extend(operators(derived));
    all
}

fn list() -> Operation {
    let mut list = Operation::alerts("get", "/api/v1/alerts", "listAlerts", "A page of the organization's alerts")
        .query("page", whole(0, MAX_PAGE), "Which page, from 0")
        .query("size", whole(1, 100), "Alerts a page; 10 where it is not given")
        .query("startDate", day(), "Alert date on or after this UTC day")
        .query("endDate", day(), "Alert date on or before this UTC day")
        .query("transactionStartDate", day(), "Transaction date on or after this UTC day")
        .query("transactionEndDate", day(), "Transaction date on or before this UTC day")
        .query("provider", words(Provider::KNOWN.iter().map(Provider::as_str)), "In any letter case; the older dialect does not know CDRN")
        .query("type", words(AlertType::KNOWN.iter().map(AlertType::as_str)), "In any letter case")
        .query(
            "status",
            words(AlertStatus::KNOWN.iter().map(AlertStatus::as_str)),
            "In any letter case; NEW, PROCESSING, NOT_FOUND and OTHER in the older dialect only",
        )
        .query("descriptor", search(), "The merchant descriptor begins with this, letter case ignored")
        .query(
            "outcome",
            json!({"type": "array", "items": {"type": "string", "pattern": "^[a-z_]+$"}, "minItems": 1, "maxItems": MAX_VALUES}),
            "Stored outcomes, in any letter case; the older dialect knows its own words only",
        )
        .query("expired", json!({"type": "boolean"}), "Whether expiredAt is set")
        .query(
            "expiresIn",
            json!({"type": "integer", "minimum": 1}),
            "Waits for an answer and lapses within so many hours; 1 to 24 in the older dialect",
        )
        .query("companyIds", json!({"type": "array", "items": uuid(), "minItems": 1, "maxItems": MAX_VALUES}), "Companies")
        .query(
            "sortField",
            json!({"type": "string", "enum": SortField::ALL.map(SortField::as_str)}),
            "Property to sort by; alertTimeStamp where it is not given",
        )
        .query("sortOrder", json!({"type": "string", "enum": ["ASC", "DESC"]}), "ASC where it is not given")
        .query("q", search(), "Part of a provider id, descriptor, BIN or last four, letter case ignored")
        .dialects("Alerts", "The page, with the exact total")
        .refused(400, "A parameter is not understood");
    // A parameter without a value counts as not given.
    for parameter in list.value["parameters"].as_array_mut().into_iter().flatten() {
        parameter["allowEmptyValue"] = true.into();
    }
    list
}

fn interface() -> Vec<Operation> {
    let resolution = json!({"anyOf": [named("Resolution"), named("ResolutionOlder")]});
    let key = json!({"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"});
    vec![
        Operation::alerts("get", "/api/v1/alerts/{id}", "getAlert", "One alert").id("The alert's id").dialects("Alert", "The alert"),
        Operation::alerts("get", "/api/v1/alerts/{id}/outcome", "getOutcome", "The outcome of an alert")
            .id("The alert's id")
            .dialects("Outcome", "The outcome"),
        Operation::alerts("put", "/api/v1/alerts/{id}/resolution", "resolveAlert", "Records a resolution, which is final")
            .id("The alert's id")
            .parameter("header", "Idempotency-Key", key, "Makes a repeat of this request safe for 24 hours")
            .body(&[("application/json", resolution)], "The decision, in the credential's dialect")
            .dialects("Alert", "The alert with its outcome")
            .refused(400, "The decision breaks a rule, or the provider did not take it")
            .refused(409, "The alert has an outcome, or another resolution is on its way")
            .refused(422, "The Idempotency-Key was used for another decision"),
        {
            let mut token = Operation::new(
                "post",
                "/auth/token",
                "authentication",
                "issueToken",
                "An access token for client credentials (RFC 6749, 4.4)",
            )
            .body(&[("application/x-www-form-urlencoded", named("TokenRequest"))], "The grant; the client here or by Basic authentication")
            .json(200, named("Token"), "The token")
            .json(400, named("TokenError"), "The request is not valid")
            .json(401, named("TokenError"), "The client is not known, or its secret is another one")
            .refused(429, "The client asks too often");
            token.value["security"] = json!([{}, {"client": []}]);
            if let Some(responses) = token.value["responses"].as_object_mut() {
                responses.remove("415");
            }
            token
        },
        Operation::open("get", "/.well-known/jwks.json", "getKeySet", "The keys that access tokens can be checked with").json(
            200,
            named("KeySet"),
            "The keys (RFC 7517)",
        ),
        Operation::open("get", "/health", "getHealth", "Whether the service can answer").json(200, named("Health"), "It can"),
        Operation::open("get", "/ready", "getReadiness", "Whether the service is fit for work: reading, writing, sending")
            .json(200, named("Readiness"), "It is")
            .refused(503, "It is not, and why"),
        Operation::new("get", "/metrics", "service", "getMetrics", "Figures for Prometheus")
            .with_operator_key()
            .answers(200, "In the text format", &[("text/plain", json!({"type": "string"}))])
            .refused(404, "No figures are kept here"),
        Operation::open("get", "/openapi.json", "getDescription", "This description").answers(
            200,
            "OpenAPI 3.1",
            &[("application/json", json!({"type": "object"}))],
        ),
    ]
}

fn operators(derived: &mut Derived) -> Vec<Operation> {
    let operator = Operation::operator;
    let states =
        json!({"type": "array", "items": {"type": "string", "enum": DeliveryState::ALL.map(DeliveryState::as_str)}, "minItems": 1});
    vec![
        operator("get", "", "getIndex", "Which routes there are").json(200, derived.of::<IndexJson>(), "The service and its routes"),
        operator("post", "/alerts", "takeAlertsIn", "Takes alerts in: one, an array, a page, or one a line")
            .query("events", json!({"type": "boolean"}), "Whether alert.created is sent for what is new and waits for an answer")
            .body(
                &[("application/json", json!({"type": ["object", "array"]})), ("application/x-ndjson", json!({"type": "string"}))],
                "The alerts, up to 64 MiB",
            )
            .json(200, derived.of::<IngestReportJson>(), "What became of them"),
        operator("get", "/endpoints", "listEndpoints", "The webhook endpoints").json(
            200,
            derived.of::<ListJson<EndpointJson>>(),
            "Oldest first",
        ),
        operator("post", "/endpoints", "addEndpoint", "Adds a webhook endpoint")
            .json_body(derived.of::<NewEndpointJson>(), "Address and credential, and whether deliveries are signed")
            .json(
                201,
                derived.of::<CreatedEndpointJson>(),
                "The endpoint, without its credential; a signing secret that was made is told this once",
            )
            .refused(409, "The organization has as many endpoints as it may"),
        operator("get", "/endpoints/{id}", "getEndpoint", "One endpoint").id("The endpoint's id").json(
            200,
            derived.of::<EndpointJson>(),
            "The endpoint",
        ),
        operator("patch", "/endpoints/{id}", "changeEndpoint", "Changes an endpoint, disables or enables it")
            .id("The endpoint's id")
            .json_body(derived.of::<EndpointChangeJson>(), "What is to change")
            .json(200, derived.of::<EndpointJson>(), "The endpoint as it is now"),
        operator("delete", "/endpoints/{id}", "removeEndpoint", "Removes an endpoint with its credential").id("The endpoint's id").answers(
            204,
            "It is gone",
            &[],
        ),
        operator(
            "post",
            "/endpoints/{id}/redeliver",
            "redeliverExhausted",
            "Sends every delivery of an endpoint again that was given up: exhausted, or cancelled with the endpoint",
        )
        .id("The endpoint's id")
        .json(200, derived.of::<RedeliveredJson>(), "How many")
        .refused(409, "The endpoint is disabled"),
        operator("post", "/endpoints/{id}/test", "testEndpoint", "Sends an alert.created of a made-up alert, at once and once")
            .id("The endpoint's id")
            .json(200, derived.of::<DeliveryLogJson>(), "What came of it, taken or not")
            .refused(409, "So many tests of the organization's endpoints are under way that one has to end first"),
        operator("post", "/endpoints/{id}/secret", "rotateSecret", "Signs deliveries with another secret")
            .id("The endpoint's id")
            .json_body(derived.of::<NewSecretJson>(), "The secret, or nothing where one is to be made")
            .json(200, derived.of::<CreatedEndpointJson>(), "The endpoint; a secret that was made is told this once"),
        operator("delete", "/endpoints/{id}/secret", "removeSecret", "Signs deliveries no more").id("The endpoint's id").json(
            200,
            derived.of::<EndpointJson>(),
            "The endpoint",
        ),
        operator("get", "/deliveries", "listDeliveries", "Deliveries, newest first")
            .query("state", states, "In one of these states")
            .query("endpoint", uuid(), "To this endpoint")
            .query("alert", uuid(), "Of this alert")
            .query(
                "event",
                json!({"anyOf": [{"type": "string", "enum": ["alert.created", "alert.resolved"]}, uuid()]}),
                "Of this event or kind of event",
            )
            .query("after", uuid(), "The next of the page before")
            .query("size", whole(1, 100), "Deliveries a page; 10 where it is not given")
            .json(200, derived.of::<DeliveryPageJson>(), "The page")
            .refused(400, "A parameter is not understood"),
        operator("get", "/deliveries/{id}", "getDelivery", "One delivery with its tries").id("The delivery's id").json(
            200,
            derived.of::<DeliveryLogJson>(),
            "The delivery",
        ),
        operator("post", "/deliveries/{id}/redeliver", "redeliver", "Sends a delivery again")
            .id("The delivery's id")
            .json(200, derived.of::<DeliveryJson>(), "The delivery, due now")
            .refused(409, "The endpoint is disabled"),
        operator("get", "/keys", "listKeys", "The API keys").json(200, derived.of::<ListJson<KeyJson>>(), "Oldest first, revoked ones too"),
        operator("post", "/keys", "createKey", "Creates an API key").json_body(derived.of::<NewKeyJson>(), "What the key may do").json(
            201,
            derived.of::<CreatedKeyJson>(),
            "The key, told this once",
        ),
        operator("delete", "/keys/{id}", "revokeKey", "Revokes an API key at once").text_id("The key's id").json(
            200,
            derived.of::<KeyJson>(),
            "The key",
        ),
        operator("get", "/clients", "listClients", "The client credentials").json(
            200,
            derived.of::<ListJson<ClientJson>>(),
            "Oldest first, revoked ones too",
        ),
        operator("post", "/clients", "createClient", "Creates client credentials").json(
            201,
            derived.of::<CreatedClientJson>(),
            "The credentials, the secret told this once",
        ),
        operator("delete", "/clients/{id}", "revokeClient", "Revokes client credentials and their tokens at once")
            .text_id("The client id")
            .json(200, derived.of::<ClientJson>(), "The client"),
        operator("get", "/companies", "listCompanies", "The companies with their enrollments").json(
            200,
            derived.of::<ListJson<CompanyJson>>(),
            "The companies",
        ),
        operator("get", "/counts", "getCounts", "Alerts by status, provider and day, and money at risk")
            .query("withinHours", whole(1, MOST_HOURS.into()), "How far ahead money counts as at risk; 24 where it is not given")
            .json(200, derived.of::<CountsJson>(), "The counts")
            .refused(400, "A parameter is not understood"),
        operator("get", "/attempts", "listAttempts", "Decisions whose fate is not settled").json(
            200,
            derived.of::<ListJson<AttemptJson>>(),
            "Oldest first",
        ),
        operator("post", "/attempts/{id}/decision", "settleAttempt", "A person's word on a parked decision")
            .id("The attempt's id")
            .json_body(derived.of::<AttemptDecisionJson>(), "Whether the network applied it")
            .json(200, named("Alert"), "The alert as it is then")
            .refused(409, "The attempt does not wait for a person"),
        operator("get", "/changes", "streamChanges", "Server-sent events, whose id is the change's number")
            .parameter("header", "Last-Event-ID", whole(0, u64::MAX), "Where to go on")
            .answers(200, "Events without an end, each of this shape", &[("text/event-stream", derived.of::<ChangeEvent>())])
            .refused(400, "Last-Event-ID is no number"),
        operator("get", "/audit", "listAudit", "Who changed what, when and from where")
            .query("before", whole(0, u64::MAX), "Entries before this number: the next of the page before")
            .query("size", whole(1, 100), "Entries a page; 10 where it is not given")
            .json(200, derived.of::<PageJson<AuditEntryJson, NonZeroU64>>(), "Newest first")
            .refused(400, "A parameter is not understood"),
    ]
}
