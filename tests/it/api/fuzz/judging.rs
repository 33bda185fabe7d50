//! What every answer has to be, whatever was asked.

use std::{collections::BTreeMap, sync::Mutex};

use avert::api::Code;
use jsonschema::Validator;
use serde_json::Value;

use super::making::{Descriptions, Made};

/// An answer as it came.
#[derive(Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let body = String::from_utf8_lossy(&self.body[..self.body.len().min(2_000)]).into_owned();
        write!(f, "{} {:?}\n{body}", self.status, self.headers)
    }
}

impl Answer {
    /// The first answer in what came back on a connection; `None` where nothing whole did.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        // "Go on" comes before the answer.
        let bytes = bytes.strip_prefix(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap_or(bytes);
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
        let head = std::str::from_utf8(&bytes[..end]).expect("a head of text");
        let mut lines = head.split("\r\n");
        let first = lines.next()?;
        let status = first.strip_prefix("HTTP/1.1 ").or_else(|| first.strip_prefix("HTTP/1.0 ")).expect("an answer")
            [..3]
            .parse()
            .unwrap();
        let pair =
            |line: &str| line.split_once(": ").map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()));
        let headers: Vec<_> = lines.map(|line| pair(line).expect("a header")).collect();
        let length =
            headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, length)| length.parse().unwrap());
        let body = bytes[end + 4..].iter().copied().take(length).collect();
        Some(Self { status, headers, body })
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }
}

/// Holds answers to the description and to what every answer carries.
pub struct Judge {
    descriptions: Descriptions,
    validators: Mutex<BTreeMap<String, std::sync::Arc<Validator>>>,
}

impl Judge {
    pub fn by(descriptions: Descriptions) -> Self {
        Self { descriptions, validators: Mutex::default() }
    }

    pub fn descriptions(&self) -> &Descriptions {
        &self.descriptions
    }

    /// Whether an answer may be the one to a request.
    pub fn judge(&self, made: &Made, answer: &Answer, secrets: &[&str]) -> Result<(), String> {
        self.judge_any(answer, secrets)?;
        let code = serde_json::from_slice::<Value>(&answer.body)
            .ok()
            .and_then(|body| Some(body.get("code")?.as_str()?.to_owned()));
        match (answer.status, code.as_deref()) {
            // An id that is spoilt may make another path of it.
            (404, Some("route_not_found")) if made.spoilt || made.target.starts_with("/metrics") => return Ok(()),
            (405, _) if made.spoilt => return Ok(()),
            _ => {}
        }
        let Some((method, path)) = made.route else { return Ok(()) };
        let document = self.descriptions.of(path, &made.headers);
        let Some(described) = document["paths"][path][method]["responses"].get(answer.status.to_string()) else {
            return Err(format!("{} is not described for {method} {path}", answer.status));
        };
        if made.method == "HEAD" {
            return Ok(());
        }
        let Some(kind) = answer.header("content-type") else {
            return if described.get("content").is_none() { Ok(()) } else { Err("there is no content".to_owned()) };
        };
        let essence = kind.split(';').next().unwrap_or_default();
        let Some(media) = described["content"].get(essence) else { return Err(format!("{kind} is not described")) };
        if essence != "application/json" && essence != "application/problem+json" {
            return Ok(());
        }
        let body: Value =
            serde_json::from_slice(&answer.body).map_err(|error| format!("the body is not JSON: {error}"))?;
        let validator = self.validator(document, &media["schema"]);
        let faults: Vec<String> =
            validator.iter_errors(&body).map(|error| format!("{}: {error}", error.instance_path())).collect();
        if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
    }

    fn validator(&self, document: &Value, schema: &Value) -> std::sync::Arc<Validator> {
        let mut validators = self.validators.lock().unwrap();
        let known = validators.entry(format!("{} {schema}", document["info"]["title"])).or_insert_with(|| {
            let mut schema = schema.clone();
            schema["components"] = document["components"].clone();
            jsonschema::options().should_validate_formats(true).build(&schema).unwrap().into()
        });
        known.clone()
    }

    /// What holds of every answer to anything.
    pub fn judge_any(&self, answer: &Answer, secrets: &[&str]) -> Result<(), String> {
        let wrong = |what: &str| Err(what.to_owned());
        let id = answer.header("x-request-id").unwrap_or_default();
        if !(1..=128).contains(&id.len())
            || answer.headers.iter().filter(|(name, _)| name == "x-request-id").count() != 1
        {
            return wrong("there is no X-Request-Id, or more than one");
        }
        let kept = if answer.header("etag").is_some() { "private, no-cache" } else { "no-store" };
        if answer.header("cache-control") != Some(kept) || answer.header("x-content-type-options") != Some("nosniff") {
            return wrong("it may be kept or taken for something else");
        }
        let text = String::from_utf8_lossy(&answer.body);
        if secrets.iter().any(|secret| text.contains(secret)) {
            return wrong("it tells a secret");
        }
        if matches!(answer.status, 429 | 503)
            && answer.header("retry-after").is_none_or(|seconds| seconds.parse::<u64>().is_err())
        {
            return wrong("it does not say when to try again");
        }
        if answer.status == 405 && answer.header("allow").is_none() {
            return wrong("it does not say which methods there are");
        }
        match answer.status {
            200..=299 | 304 => Ok(()),
            400..=499 | 503 => Self::judge_refusal(answer, id),
            _ => wrong("this is no status to answer with"),
        }
    }

    fn judge_refusal(answer: &Answer, id: &str) -> Result<(), String> {
        // The answer to HEAD is its head.
        if answer.body.is_empty() && answer.header("content-type") == Some("application/problem+json") {
            return Ok(());
        }
        let body: Value =
            serde_json::from_slice(&answer.body).map_err(|error| format!("the refusal is not JSON: {error}"))?;
        if body.get("error").is_some() {
            let described = body["error_description"].as_str().is_some_and(|text| !text.is_empty());
            let challenged = answer.status != 401 || answer.header("www-authenticate").is_some();
            let fits = matches!(answer.status, 400 | 401) && answer.header("content-type") == Some("application/json");
            return if described && challenged && fits {
                Ok(())
            } else {
                Err("this is not as RFC 6749, 5.2 has it".to_owned())
            };
        }
        let text = |name: &str| {
            body[name].as_str().filter(|text| !text.is_empty()).ok_or_else(|| format!("{name} is missing"))
        };
        for name in ["type", "title", "detail"] {
            text(name)?;
        }
        let code = text("code")?;
        let row =
            Code::ALL.iter().find(|known| known.as_str() == code).ok_or_else(|| format!("{code} is no known code"))?;
        if answer.header("content-type") != Some("application/problem+json") {
            return Err("it is not said to be a problem document".to_owned());
        }
        if row.status().as_u16() != answer.status || body["status"] != answer.status {
            return Err(format!("{code} does not go with {}", answer.status));
        }
        if text("requestId")? != id {
            return Err("requestId is not X-Request-Id".to_owned());
        }
        if answer.status == 503 && code != Code::Overloaded.as_str() {
            return Err("503 is for work that is turned away".to_owned());
        }
        Ok(())
    }
}
