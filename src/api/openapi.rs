//! The OpenAPI 3.1 documents: `assets/openapi.json` is the whole API with the current dialect,
//! `assets/openapi-older.json` the interface in the older one. What a credential may ask and is answered differs by its
//! dialect, and a description can say that of no operation, so each dialect has its own.

use axum::response::Response;

use super::places::StrangersPlace;
use super::problem;

/// GET /openapi.json
pub(super) async fn serve(_: StrangersPlace) -> Response {
    problem::json(include_str!("../../assets/openapi.json"))
}

/// GET /openapi-older.json
pub(super) async fn serve_older(_: StrangersPlace) -> Response {
    problem::json(include_str!("../../assets/openapi-older.json"))
}
