//! A builder of OpenAPI operations: parameters, bodies, answers, and what every operation answers.

use serde_json::{Map, Value, json};

use super::schemas::{named, uuid};
use crate::{Dialect, query::MAX_VALUES};

/// An OpenAPI operation: one method of one path.
pub(super) struct Operation {
    pub(super) method: &'static str,
    pub(super) path: String,
    pub(super) value: Value,
}

impl Operation {
    pub(super) fn new(method: &'static str, path: impl Into<String>, tag: &str, id: &str, summary: &str) -> Self {
        let value = json!({"operationId": id, "tags": [tag], "summary": summary, "responses": {}});
        // What the guard around all routes answers.
        let operation = Self { method, path: path.into(), value }
            .refused(403, "Not authorized, or asked by a web page of another origin")
            .refused(414, "The path and its query are too long")
            .refused(421, "The Host header names somebody else")
            .refused(431, "The headers are too many or too long")
            .refused(500, "The service made a mistake; its log has it under the request's id")
            .refused(
                503,
                "More is asked than can be worked on, or the database does not answer; try again after \
                Retry-After seconds",
            );
        if operation.path.contains("{id}") {
            operation.refused(400, "The id is not valid, or the request is not")
        } else {
            operation
        }
    }

    /// With a credential, of which there must be one.
    pub(super) fn with_credential(self, security: Value) -> Self {
        let has_refusal = self.value["responses"]["400"].is_object();
        let mut operation = if has_refusal { self } else { self.refused(400, "More than one credential") };
        operation.value["security"] = security;
        operation
    }

    pub(super) fn with_operator_key(self) -> Self {
        self.with_credential(json!([{"operatorKey": []}]))
    }

    /// On the interface's routes, with the credential of a dialect.
    pub(super) fn alerts(dialect: Dialect, method: &'static str, path: &'static str, id: &str, summary: &str) -> Self {
        let credential = match dialect {
            Dialect::Current => json!([{"apiKey": []}]),
            Dialect::Older => json!([{"bearer": []}]),
        };
        Self::new(method, path, "alerts", id, summary).with_credential(credential)
    }

    /// On avert's own routes an operator's key is taken; the path is what follows `/operator/v1`.
    pub(super) fn operator(method: &'static str, path: &str, id: &str, summary: &str) -> Self {
        let operation = Self::new(method, format!("/operator/v1{path}"), "operator", id, summary).with_operator_key();
        if method == "get" { operation } else { operation.by_person() }
    }

    /// Name of the caller may stand beside the credential.
    pub(super) fn by_person(self) -> Self {
        let about = "Who the caller says to be, UTF-8, percent-encoded where it is not plain ASCII: put beside the \
            key in the audit log";
        self.parameter("header", "X-Avert-User", json!({"type": "string"}), about)
    }

    /// For anybody.
    pub(super) fn open(method: &'static str, path: &'static str, id: &str, summary: &str) -> Self {
        let mut operation = Self::new(method, path, "service", id, summary);
        operation.value["security"] = json!([]);
        operation
    }

    pub(super) fn parameter(mut self, place: &str, name: &str, schema: Value, description: &str) -> Self {
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

    pub(super) fn query(self, name: &str, schema: Value, description: &str) -> Self {
        self.parameter("query", name, schema, description)
    }

    /// A parameter of the query that has to be there.
    pub(super) fn required_query(mut self, name: &str, schema: Value, description: &str) -> Self {
        self = self.query(name, schema, description);
        if let Some(parameter) = self.value["parameters"].as_array_mut().and_then(|parameters| parameters.last_mut()) {
            parameter["required"] = true.into();
        }
        self
    }

    pub(super) fn id(self, of: &str) -> Self {
        self.parameter("path", "id", uuid(), of).refused(404, "There is none such, or it is another organization's")
    }

    /// An id that is no UUID.
    pub(super) fn text_id(self, of: &str) -> Self {
        let schema = json!({"type": "string", "minLength": 1});
        self.parameter("path", "id", schema, of).refused(404, "There is none such, or it is another organization's")
    }

    pub(super) fn body(mut self, content: &[(&str, Value)], description: &str) -> Self {
        self.value["requestBody"] = json!({"required": true, "description": description, "content": media(content)});
        self.refused(400, "The request is not valid")
            .refused(408, "The body did not come in time")
            .refused(413, "The body is too large")
            .refused(415, "The body is of another type")
    }

    pub(super) fn json_body(self, schema: Value, description: &str) -> Self {
        self.body(&[("application/json", schema)], description)
    }

    pub(super) fn answers(mut self, status: u16, description: &str, content: &[(&str, Value)]) -> Self {
        let mut response = json!({"description": description, "headers": request_id()});
        if !content.is_empty() {
            response["content"] = media(content);
        }
        self.value["responses"][status.to_string()] = response;
        self
    }

    pub(super) fn json(self, status: u16, schema: Value, description: &str) -> Self {
        self.answers(status, description, &[("application/json", schema)])
    }

    /// An answer that can be asked for again by its entity tag.
    pub(super) fn tagged(mut self, schema: Value, description: &str) -> Self {
        let tags = json!({"type": "string", "examples": ["\"0hyWOOBzTPqSIKWNcS_GpQ\""]});
        self = self.parameter(
            "header",
            "If-None-Match",
            tags,
            "Entity tags of answers that are known; one that still holds is answered with 304",
        );
        self = self.json(200, schema, description).answers(304, "The answer is the one that If-None-Match names", &[]);
        for status in ["200", "304"] {
            let headers = &mut self.value["responses"][status]["headers"];
            headers["ETag"] =
                json!({"description": "The entity tag of these bytes", "required": true, "schema": {"type": "string"}});
            headers["Cache-Control"] = json!({"description": "For this caller alone, and not without \
                asking", "required": true, "schema": {"type": "string", "const": "private, no-cache"}});
        }
        self
    }

    /// Link from an answer: an operation, and its id by a runtime expression.
    pub(super) fn link(mut self, status: u16, operation: &str, id: &str, description: &str) -> Self {
        let link = json!({"operationId": operation, "parameters": {"id": id}, "description": description});
        self.value["responses"][status.to_string()]["links"][operation] = link;
        self
    }

    pub(super) fn refused(mut self, status: u16, description: &str) -> Self {
        self.value["responses"][status.to_string()] = problem(description);
        if matches!(status, 429 | 503) {
            let seconds = json!({"description": "Seconds after which to try again", "required": true,
                "schema": {"type": "integer", "minimum": 1}});
            self.value["responses"][status.to_string()]["headers"]["Retry-After"] = seconds;
        }
        self
    }
}

fn request_id() -> Value {
    json!({"X-Request-Id": {"description": "The request's id, as the log has it", "required": true,
        "schema": {"type": "string", "minLength": 1, "maxLength": 128}}})
}

fn media(content: &[(&str, Value)]) -> Value {
    Value::Object(
        content.iter().map(|(kind, schema)| ((*kind).to_owned(), json!({"schema": schema}))).collect::<Map<_, _>>(),
    )
}

fn problem(description: &str) -> Value {
    json!({"description": description, "headers": request_id(), "content": media(&[("application/problem+json",
        named("Problem"))])})
}

pub(super) fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> Value {
    json!({"type": "array", "items": {"type": "string", "enum": words.into_iter().collect::<Vec<_>>()},
        "minItems": 1, "maxItems": MAX_VALUES})
}

pub(super) fn day() -> Value {
    json!({"type": "string", "format": "date"})
}

pub(super) fn whole(minimum: u64, maximum: u64) -> Value {
    json!({"type": "integer", "minimum": minimum, "maximum": maximum})
}
