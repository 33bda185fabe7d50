//! Makes the OpenAPI 3.1 documents from the types, and holds the files in `assets/` equal to them.

mod derived;
mod interface;
mod operation;
mod operators;
mod schemas;

use std::path::Path;

use serde_json::{Map, Value, json};

use self::derived::Derived;
use super::Dialect;

#[test]
fn the_descriptions_in_the_tree_are_what_the_types_say() {
    for (dialect, name) in [(Dialect::Current, "openapi.json"), (Dialect::Older, "openapi-older.json")] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets").join(name);
        let made = format!("{}\n", serde_json::to_string_pretty(&document(dialect)).unwrap());

        if std::env::var_os("AVERT_WRITE_OPENAPI").is_some() {
            std::fs::write(&file, &made).unwrap();
        }

        let kept = std::fs::read_to_string(&file).unwrap();
        assert!(
            kept == made,
            "assets/{name} is not what the types say: run this test with AVERT_WRITE_OPENAPI=1 and look at the \
                difference"
        );
    }
}

/// The OpenAPI document: the whole API with the interface in the current dialect, or the interface alone in the older
/// one.
fn document(dialect: Dialect) -> Value {
    let is_whole = dialect == Dialect::Current;
    let mut derived = Derived::new();
    let mut operations = interface::alerts(dialect);
    operations.extend(interface::authentication());
    if is_whole {
        operations.extend(interface::service());
        operations.extend(operators::all(&mut derived));
    }
    let mut paths: Map<String, Value> = Map::new();
    for operation in operations {
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        path[operation.method] = operation.value;
    }
    let mut schemas = schemas::of(dialect);
    if is_whole {
        schemas.extend(derived.components());
    }
    let mut document = json!({
        "openapi": "3.1.0",
        "info": info(dialect),
        "servers": [{"url": "/"}],
        "tags": [
            {"name": "alerts", "description": "The interface: list, get, resolve"},
            {"name": "authentication", "description": "Access tokens of the older dialect"},
        ],
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": {
            "client": {"type": "http", "scheme": "basic", "description": "Client id and secret, where they are not in \
                the form"},
        }},
    });
    let schemes = &mut document["components"]["securitySchemes"];
    if !is_whole {
        schemes["bearer"] = json!({"type": "http", "scheme": "bearer", "bearerFormat": "JWT",
            "description": "A token of POST /auth/token"});
        return document;
    }
    let header = |name: &str, description: &str| {
        json!({"type": "apiKey", "in": "header", "name": name,
        "description": description})
    };
    schemes["apiKey"] = header("X-API-KEY", "A key with the scope alerts");
    schemes["operatorKey"] = header("X-API-KEY", "A key with the scope operator");
    schemes["endpointBasic"] =
        json!({"type": "http", "scheme": "basic", "description": "The credential that an endpoint was added with"});
    schemes["endpointHeader"] = header("X-API-KEY", "The header that an endpoint was added with, whatever its name");
    document["webhooks"] = interface::webhooks();
    if let Some(tags) = document["tags"].as_array_mut() {
        tags.extend([
            json!({"name": "operator", "description": "avert's own routes, for API keys with the scope operator"}),
            json!({"name": "service", "description": "The service itself"}),
            json!({"name": "webhooks", "description": "What endpoints are sent"}),
        ]);
    }
    document
}

fn info(dialect: Dialect) -> Value {
    let errors = "Every answer carries X-Request-Id. Errors are problem details (RFC 9457) with a stable code; those \
        of the token endpoint are as \
        RFC 6749 has them. Answers may get further fields.";
    let (title, which) = match dialect {
        Dialect::Current => (
            "avert",
            "The alert interface as API keys find it (the current dialect), the webhooks, and avert's own routes for \
                operators. With an access \
                token the same routes speak the older dialect: /openapi-older.json describes that one.",
        ),
        Dialect::Older => (
            "avert, older dialect",
            "The alert interface as access tokens find it (the older dialect). With an API key the same routes speak \
                the current dialect: \
                /openapi.json describes that one, the webhooks, and avert's own routes.",
        ),
    };
    json!({
        "title": title,
        "version": env!("CARGO_PKG_VERSION"),
        "summary": "Chargeback alerts, answered before they become chargebacks",
        "description": format!("{which} {errors}"),
        "license": {"name": "MIT", "identifier": "MIT"},
    })
}
