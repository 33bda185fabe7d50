//! Schemas derived from the types of the operator's JSON (JSON Schema 2020-12, as OpenAPI 3.1 has it).

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

/// The schemas that were asked for, with those that they refer to.
pub(super) struct Derived {
    answers: SchemaGenerator,
    bodies: SchemaGenerator,
}

impl Derived {
    pub(super) fn new() -> Self {
        let settings = || {
            SchemaSettings::draft2020_12().for_serialize().with(|it| it.definitions_path = "/components/schemas".into())
        };
        Self {
            answers: settings().with_transform(RecursiveTransform(plain)).into_generator(),
            bodies: settings()
                .with_transform(RecursiveTransform(plain))
                .with_transform(RecursiveTransform(closed))
                .into_generator(),
        }
    }

    /// A reference to the schema of an answer, which may get further fields.
    pub(super) fn answer<T: JsonSchema>(&mut self) -> Value {
        self.answers.subschema_for::<T>().to_value()
    }

    /// A reference to the schema of a body, which has the fields that are named and no other.
    pub(super) fn body<T: JsonSchema>(&mut self) -> Value {
        self.bodies.subschema_for::<T>().to_value()
    }

    /// All of them, by name.
    pub(super) fn components(mut self) -> Map<String, Value> {
        let mut all = self.answers.take_definitions(true);
        all.extend(self.bodies.take_definitions(true));
        all
    }
}

fn is_object(schema: &Map<String, Value>) -> bool {
    let is_object = |kind: &Value| {
        kind == "object" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "object"))
    };
    schema.get("type").is_some_and(is_object)
}

/// What can be left out is never null; how wide an integer is here is nobody's business.
fn plain(schema: &mut Schema) {
    let Some(members) = schema.as_object_mut() else { return };
    if members
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(|format| format.starts_with("uint") || format.starts_with("int"))
    {
        members.remove("format");
    }
    if !is_object(members) {
        return;
    }
    let required = members.get("required").cloned().unwrap_or_default();
    let is_required = |name: &str| required.as_array().is_some_and(|names| names.iter().any(|known| known == name));
    let Some(properties) = members.get_mut("properties").and_then(Value::as_object_mut) else { return };
    properties.iter_mut().filter(|(name, _)| !is_required(name)).for_each(|(_, property)| not_null(property));
}

/// Objects have the fields that are named and no other.
fn closed(schema: &mut Schema) {
    let Some(members) = schema.as_object_mut() else { return };
    if is_object(members) && members.contains_key("properties") {
        members.entry("additionalProperties").or_insert(Value::Bool(false));
    }
}

fn not_null(property: &mut Value) {
    if let Some(types) = property.get_mut("type")
        && let Some([one, _]) = types.as_array().map(Vec::as_slice)
    {
        *types = one.clone();
    }
    if let Some(words) = property.get_mut("enum").and_then(Value::as_array_mut) {
        words.retain(|word| !word.is_null());
    }
    if let Some(one) = property.get("anyOf").and_then(|any| any.get(0)).cloned() {
        *property = one;
    }
}
