//! The OpenAPI 3.1 document of the whole API. `assets/openapi.json` is what this makes; a test compares the two, and holds the description
//! against the router and against real answers.

mod derived;
mod operations;
mod schemas;

use std::sync::LazyLock;

use axum::response::Response;
use serde_json::{Map, Value, json};

use self::derived::Derived;
use super::places::StrangersPlace;
use super::problem;

static DOCUMENT: LazyLock<Vec<u8>> = LazyLock::new(|| serde_json::to_vec(&document()).unwrap_or_default());

/// GET /openapi.json
pub(super) async fn serve(_: StrangersPlace) -> Response {
    problem::json(DOCUMENT.clone())
}

/// The whole description.
pub fn document() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    let mut derived = Derived::new();
    for operation in operations::all(&mut derived) {
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        path[operation.method] = operation.value;
    }
    let mut schemas = schemas::all();
    schemas.extend(derived.components());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "avert",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Chargeback alerts, answered before they become chargebacks",
            "description": "The alert interface in both dialects, and avert's own routes for operators. Every answer carries X-Request-Id. \
                Errors are problem details (RFC 9457) with a stable code; those of the token endpoint are as RFC 6749 has them.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "tags": [
            {"name": "alerts", "description": "The interface: list, get, resolve"},
            {"name": "authentication", "description": "Access tokens of the older dialect"},
            {"name": "operator", "description": "avert's own routes, for API keys with the scope operator"},
            {"name": "service", "description": "The service itself"},
        ],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "apiKey": {"type": "apiKey", "in": "header", "name": "X-API-KEY", "description": "A key with the scope alerts; answers are in the current dialect"},
                "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": "A token of POST /auth/token; answers are in the older dialect"},
                "operatorKey": {"type": "apiKey", "in": "header", "name": "X-API-KEY", "description": "A key with the scope operator"},
                "client": {"type": "http", "scheme": "basic", "description": "Client id and secret, where they are not in the form"},
            },
        },
    })
}
