//! The HTTP API of the engine: routes, credentials, errors, protection.

mod audited;
mod capabilities;
mod crowded;
mod errors;
mod fields;
mod fuzz;
mod hostile;
mod lists;
mod matrix;
mod older;
mod openapi;
mod operator;
mod operator_matrix;
mod polling;
mod queries;
mod resolving;
mod served;
mod tokens;
