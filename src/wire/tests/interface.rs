//! The operations of the interface in one dialect, those of the service itself, and the webhooks that it sends.

use serde_json::{Value, json};

use super::{
    operation::{Operation, day, whole, words},
    schemas::{named, uuid},
};
use crate::{
    Dialect,
    domain::{AlertStatus, AlertType, EventKind, Provider, SortField, query::Vocabulary, resolution::OlderWord},
    query::{MAX_PAGE, MAX_TEXT, MAX_VALUES},
};

/// The operations on alerts, as a credential of the dialect finds them.
pub(super) fn alerts(dialect: Dialect) -> Vec<Operation> {
    let resolution = match dialect {
        Dialect::Current => "The answer. A field that is not named here is refused",
        Dialect::Older => {
            "The answer. A field that is not named here is refused, and a stopped amount over the alert's"
        }
    };
    let key = json!({"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"});
    vec![
        list(dialect),
        Operation::alerts(dialect, "get", "/api/v1/alerts/{id}", "getAlert", "One alert")
            .id("The alert's id")
            .tagged(named("Alert"), "The alert")
            .link(200, "resolveAlert", "$response.body#/id", "Its resolution")
            .link(200, "getOutcome", "$response.body#/id", "Its outcome"),
        Operation::alerts(dialect, "get", "/api/v1/alerts/{id}/outcome", "getOutcome", "The outcome of an alert")
            .id("The alert's id")
            .tagged(named("Outcome"), "The outcome")
            .link(200, "getAlert", "$response.body#/alertId", "Its alert"),
        Operation::alerts(
            dialect,
            "put",
            "/api/v1/alerts/{id}/resolution",
            "resolveAlert",
            "Records a resolution, which is final",
        )
        .id("The alert's id")
        .parameter("header", "Idempotency-Key", key, "Makes a repeat of this request safe for 24 hours")
        .by_person()
        .json_body(named("Resolution"), resolution)
        .json(200, named("Alert"), "The alert with its outcome")
        .link(200, "getAlert", "$response.body#/id", "The alert")
        .link(200, "getOutcome", "$response.body#/id", "Its outcome")
        .refused(400, "The answer breaks a rule, or the network did not record it")
        .refused(409, "The alert has an outcome, or another resolution is being sent")
        .refused(422, "The Idempotency-Key was used for another answer"),
    ]
}

fn search() -> Value {
    json!({"type": "string", "maxLength": MAX_TEXT, "pattern": r"^[^\u0000-\u001f\u007f-\u009f\ufffd]*$"})
}

fn list(dialect: Dialect) -> Operation {
    let list = Operation::alerts(dialect, "get", "/api/v1/alerts", "listAlerts", "A page of the organization's alerts")
        .query("page", whole(0, MAX_PAGE), "Which page, from 0")
        .query("size", whole(1, 100), "Alerts a page; 10 where it is not given");
    let mut list = filtered(list, dialect)
        .query(
            "sortField",
            json!({"type": "string", "enum": SortField::ALL.map(SortField::as_str)}),
            "Property to sort by; alertTimeStamp where it is not given",
        )
        .query("sortOrder", json!({"type": "string", "enum": ["ASC", "DESC"]}), "ASC where it is not given")
        .tagged(named("Alerts"), "The page, with the exact total")
        .refused(400, "A parameter is not understood");
    for parameter in
        list.value["parameters"].as_array_mut().into_iter().flatten().filter(|parameter| parameter["in"] == "query")
    {
        // A parameter without a value counts as not given.
        parameter["allowEmptyValue"] = true.into();
    }
    list
}

/// The operation with the parameters of a filter of alerts.
pub(super) fn filtered(operation: Operation, dialect: Dialect) -> Operation {
    let hours = match dialect {
        Dialect::Current => json!({"type": "integer", "minimum": 1}),
        Dialect::Older => whole(1, 24),
    };
    // Stored words are lower case; the older dialect names them as its decisions do.
    let outcome = |word: OlderWord| match dialect {
        Dialect::Current => word.as_str().to_lowercase(),
        Dialect::Older => word.as_str().to_owned(),
    };
    let outcomes = OlderWord::ALL.map(outcome);
    let mut filtered = operation
        .query("startDate", day(), "Alert date on or after this UTC day, which must not be after endDate")
        .query("endDate", day(), "Alert date on or before this UTC day")
        .query(
            "transactionStartDate",
            day(),
            "Transaction date on or after this UTC day, which must not be after transactionEndDate",
        )
        .query("transactionEndDate", day(), "Transaction date on or before this UTC day")
        .query(
            "provider",
            words(Vocabulary::from(dialect).providers().iter().map(Provider::as_str)),
            "In any letter case",
        )
        .query("type", words(AlertType::KNOWN.iter().map(AlertType::as_str)), "In any letter case")
        .query(
            "status",
            words(Vocabulary::from(dialect).statuses().iter().map(AlertStatus::as_str)),
            "In any letter case",
        )
        .query(
            "descriptor",
            search(),
            "The merchant descriptor begins with this, letter case and the blanks around it ignored",
        )
        .query("outcome", words(outcomes.iter().map(String::as_str)), "Stored outcomes, in any letter case")
        .query("expired", json!({"type": "boolean"}), "Whether expiredAt is set")
        .query("expiresIn", hours, "Open, and due within so many hours")
        .query(
            "companyIds",
            json!({"type": "array", "items": uuid(), "minItems": 1, "maxItems": MAX_VALUES}),
            "Companies",
        )
        .query(
            "q",
            search(),
            "Part of a provider id, descriptor, BIN or last four, letter case and the blanks around it ignored",
        );
    for parameter in
        filtered.value["parameters"].as_array_mut().into_iter().flatten().filter(|parameter| parameter["in"] == "query")
    {
        // A parameter without a value counts as not given.
        parameter["allowEmptyValue"] = true.into();
        if parameter["schema"]["type"] == "array" {
            let description = parameter["description"].as_str().unwrap_or_default();
            parameter["description"] =
                format!("{description}; separated by commas, or the parameter given several times").into();
        }
    }
    filtered
}

/// Security schemes of access tokens.
pub(super) fn authentication() -> Vec<Operation> {
    let summary = "An access token for client credentials (RFC 6749, 4.4)";
    let mut token = Operation::new("post", "/auth/token", "authentication", "issueToken", summary)
        .body(
            &[("application/x-www-form-urlencoded", named("TokenRequest"))],
            "The grant; the client here or by Basic authentication",
        )
        .json(200, named("Token"), "The token")
        .json(400, named("TokenError"), "The request is not valid")
        .json(401, named("TokenError"), "The client is not known, or its secret is another one")
        .refused(429, "The client asks too often");
    token.value["security"] = json!([{}, {"client": []}]);
    if let Some(responses) = token.value["responses"].as_object_mut() {
        responses.remove("415");
    }
    let summary = "The keys that access tokens can be checked with";
    let mut keys = Operation::new("get", "/.well-known/jwks.json", "authentication", "getKeySet", summary);
    keys.value["security"] = json!([]);
    vec![token, keys.json(200, named("KeySet"), "The keys (RFC 7517)")]
}

/// Information about the service.
pub(super) fn service() -> Vec<Operation> {
    let description = || json!({"type": "object"});
    let mut event = Operation::open("post", "/inbound/{name}", "receiveEvent", "A webhook of a source")
        .parameter("path", "name", json!({"type": "string", "minLength": 1}), "The source, as the settings name it")
        .json_body(json!({}), "What the source sends, up to 1 MiB")
        .answers(200, "It is stored, whatever became of it", &[("text/plain", json!({"type": "string"}))])
        .refused(404, "No source of this name is set up")
        .refused(429, "The source asks too often; try again after Retry-After seconds");
    event = event.refused(401, "The signature is wrong, or of another time");
    vec![
        event,
        Operation::open("get", "/health", "getHealth", "Whether the service can answer").json(
            200,
            named("Health"),
            "It can",
        ),
        Operation::open(
            "get",
            "/ready",
            "getReadiness",
            "Whether the service is fit for work: reading, writing, sending",
        )
        .json(200, named("Readiness"), "It is")
        .refused(503, "It is not, and why"),
        Operation::new("get", "/metrics", "service", "getMetrics", "Figures for Prometheus")
            .with_operator_key()
            .answers(200, "In the text format", &[("text/plain", json!({"type": "string"}))])
            .refused(404, "No figures are kept here"),
        Operation::open("get", "/openapi.json", "getDescription", "This description").json(
            200,
            description(),
            "OpenAPI 3.1",
        ),
        Operation::open(
            "get",
            "/openapi-older.json",
            "getOlderDescription",
            "The interface as access tokens find it: the older dialect",
        )
        .json(200, description(), "OpenAPI 3.1"),
    ]
}

/// Webhooks of an organization, by event.
pub(super) fn webhooks() -> Value {
    let [created, resolved] = [
        (EventKind::AlertCreated, "alertCreated", "An alert was created"),
        (EventKind::AlertResolved, "alertResolved", "An alert was resolved"),
    ]
    .map(|(kind, id, summary)| (kind.as_str().to_owned(), json!({"post": webhook(id, summary)})));
    Value::Object([created, resolved].into_iter().collect())
}

fn webhook(id: &str, summary: &str) -> Value {
    let header = |name: &str, required: bool, description: &str| {
        json!({"name": name, "in": "header",
        "required": required, "description": description, "schema": {"type": "string"}})
    };
    json!({
        "operationId": id,
        "tags": ["webhooks"],
        "summary": summary,
        "description": "Sent at least once, the same bytes with the same webhook-id on every try. The payload is in \
            the current dialect, with \
            the Ethoca merchant id under both of its spellings.",
        "security": [{"endpointBasic": []}, {"endpointHeader": []}],
        "parameters": [
            header("webhook-id", true, "The same on every try"),
            header("webhook-timestamp", true, "When this try was sent, in seconds since 1970"),
            header("webhook-signature", false, "Where the endpoint has a signing secret (Standard Webhooks)"),
        ],
        "requestBody": {"required": true, "description": "The event",
            "content": {"application/json": {"schema": named("Event")}}},
        "responses": {
            "2XX": {"description": "Delivered, if it comes within 15 s; its body is not read"},
            "410": {"description": "Disables the endpoint"},
            "4XX": {"description": "Not delivered; it is tried again"},
            "5XX": {"description": "Not delivered; it is tried again, after Retry-After where that is given"},
        },
    })
}
