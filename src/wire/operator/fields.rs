//! Reads the JSON body of a request into its type; what is wrong is told with the path of its field.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error, MapAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::{Number, Value};
use serde_path_to_error::{Deserializer as Traced, Path, Segment, Track};

use crate::domain::FieldError;

/// Reads a body, or tells the first field that is wrong with it and what is allowed there.
pub fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, FieldError> {
    let json: Value =
        serde_json::from_slice(body).map_err(|error| FieldError::new("body", format!("is not JSON: {error}")))?;
    let mut track = Track::new();
    let read = object(Traced::new(&json, &mut track));
    read.map_err(|error| wrong(&json, &track.path(), &error.to_string()))
}

/// Makes the refusal of a field out of serde's words, which may repeat a secret: only what they allow is kept of them.
fn wrong(json: &Value, path: &Path, message: &str) -> FieldError {
    let (mut field, mut given) = (Vec::new(), json);
    for segment in path {
        if let Segment::Map { key: name } | Segment::Enum { variant: name } = segment
            && let Some(inner) = given.get(name)
        {
            field.push(name.chars().take(60).collect());
            given = inner;
        }
    }
    let (fault, allowed) = message.rsplit_once(", expected ").unwrap_or((message, ""));
    let missing = fault.strip_prefix("missing field `");
    field.extend(missing.map(|name| name.trim_end_matches('`').to_owned()));
    let fault = match missing {
        Some(_) => "is required",
        None if fault.starts_with("unknown ") => "is not known here",
        None => kind(given),
    };
    let message = match allowed {
        "" => fault.to_owned(),
        allowed => format!("{fault}: {} is allowed", allowed.replace('`', "")),
    };
    FieldError::new(if field.is_empty() { "body".to_owned() } else { field.join(".") }, message)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "is null",
        Value::Bool(_) => "is true or false",
        Value::Number(_) => "is a number",
        Value::String(_) => "is a text",
        Value::Array(_) => "is an array",
        Value::Object(_) => "is an object",
    }
}

/// Reads what can be left out; null is something that is given.
pub(super) fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// Reads a struct from an object and from nothing else; serde would take an array for one too.
pub(super) fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    struct Members<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map))
        }
    }

    from.deserialize_map(Members(PhantomData))
}

/// Reads a whole number as JSON may write it, `7` and `7.0` too, where it is given.
pub(super) fn whole<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    let digits = Number::deserialize(from)?.to_string();
    let (whole, rest) = digits.split_once('.').unwrap_or((&digits, "0"));
    match whole.parse() {
        Ok(whole) if rest.bytes().all(|digit| digit == b'0') => Ok(Some(whole)),
        _ => Err(D::Error::custom("another number, expected a whole number")),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::super::requests::{NewEndpointJson, NewSecretJson};
    use super::*;

    fn refused(body: &str) -> (String, String) {
        let error = read::<NewEndpointJson>(body.as_bytes()).unwrap_err();
        (error.field, error.message)
    }

    #[rstest]
    #[case(json!({}), "url", "is required")]
    #[case(json!({"url": "x"}), "auth", "is required")]
    #[case(json!({"url": 7}), "url", "is a number: a string is allowed")]
    #[case(json!({"sign": null}), "sign", "is null: a boolean is allowed")]
    #[case(json!({"insecureHttp": null}), "insecureHttp", "is null: a boolean is allowed")]
    #[case(json!({"sign": "hunter22"}), "sign", "is a text: a boolean is allowed")]
    #[case(json!({"auth": "hunter22"}), "auth", "is not known here: basic or header is allowed")]
    #[case(json!({"auth": {"token": "hunter22"}}), "auth", "is not known here: basic or header is allowed")]
    #[case(json!({"auth": {"basic": {"username": "x"}}}), "auth.basic.password", "is required")]
    #[case(json!({"auth": {"basic": ["x", "hunter22"]}}), "auth.basic", "is an array: an object is allowed")]
    #[case(
        json!({"auth": {"basic": {"username": "x", "more": "hunter22"}}}),
        "auth.basic.more",
        "is not known here: username or password is allowed"
    )]
    fn what_is_wrong_is_told_with_its_path_and_what_is_allowed(
        #[case] body: Value,
        #[case] field: &str,
        #[case] message: &str,
    ) {
        assert_eq!(refused(&body.to_string()), (field.to_owned(), message.to_owned()));
    }

    #[test]
    fn a_whole_number_is_one_in_either_of_its_spellings() {
        let read = |hours: &str| read::<NewSecretJson>(format!("{{\"overlapHours\": {hours}}}").as_bytes());

        for (hours, is_whole) in
            [("7", true), ("-7.00", true), ("7.5", false), ("\"7\"", false), ("99999999999999999999", false)]
        {
            assert_eq!(read(hours).map_err(|error| error.field).err(), (!is_whole).then(|| "overlapHours".to_owned()));
        }
    }

    #[test]
    fn what_is_no_object_is_refused_as_a_whole() {
        for body in ["", "[]", "7", "{", "\u{fffd}"] {
            assert_eq!(refused(body).0, "body", "{body}");
        }
    }
}
