//! Requests made out of the description: sound ones, and sound ones with something wrong in one place or several.

use avert::{api::ROUTES, wire::Dialect};
use rand::{RngExt, rngs::StdRng, seq::IndexedRandom as _};
use serde_json::{Map, Value, json};
use url::form_urlencoded;
use uuid::Uuid;

use super::{
    super::openapi::document,
    spoiling::{NASTY, body_bytes, nasty, spoil},
};

/// What there is to ask for, and with what.
#[derive(Debug)]
pub struct World {
    pub alerts: Vec<String>,
    pub endpoints: Vec<String>,
    pub deliveries: Vec<String>,
    pub attempts: Vec<String>,
    pub keys: Vec<String>,
    pub clients: Vec<String>,
    pub client: (String, String),
    pub key: String,
    pub operator_key: String,
    pub token: String,
    /// Keys and tokens of others, and such as were revoked on the way.
    pub others: Vec<String>,
}

impl World {
    /// What must never be told again.
    pub fn secrets(&self) -> Vec<&str> {
        [&self.client.1, &self.key, &self.operator_key, &self.token]
            .into_iter()
            .chain(&self.others)
            .map(String::as_str)
            .collect()
    }

    fn ids_of(&self, path: &str) -> &[String] {
        match path.split('/').nth(3) {
            Some("endpoints") => &self.endpoints,
            Some("deliveries") => &self.deliveries,
            Some("attempts") => &self.attempts,
            Some("keys") => &self.keys,
            Some("clients") => &self.clients,
            _ => &self.alerts,
        }
    }
}

/// The descriptions of both dialects.
pub struct Descriptions {
    current: Value,
    older: Value,
}

impl Descriptions {
    pub fn read() -> Self {
        Self { current: document(Dialect::Current), older: document(Dialect::Older) }
    }

    /// The one that a request goes by: its credential says so.
    pub fn of(&self, path: &str, headers: &[(String, Vec<u8>)]) -> &Value {
        let has_token = headers.iter().any(|(name, _)| name == "Authorization");
        if has_token && path.starts_with("/api/") { &self.older } else { &self.current }
    }
}

/// A request, whole.
pub struct Made {
    pub method: String,
    /// Path and query.
    pub target: String,
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: Vec<u8>,
    /// Which operation of the description it calls, if it still calls any.
    pub route: Option<(&'static str, &'static str)>,
    /// Whether it may come to nothing: its path or its method was spoilt.
    pub spoilt: bool,
}

impl std::fmt::Debug for Made {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{} {}", self.method, self.target.chars().take(500).collect::<String>())?;
        for (name, value) in &self.headers {
            writeln!(f, "{name}: {}", String::from_utf8_lossy(&value[..value.len().min(300)]))?;
        }
        write!(f, "{}", String::from_utf8_lossy(&self.body[..self.body.len().min(2_000)]))
    }
}

/// A request of any route.
pub fn request(descriptions: &Descriptions, world: &World, random: &mut StdRng) -> Made {
    let (method, path) = *ROUTES.choose(random).unwrap();
    let mut made = Made {
        method: method.to_uppercase(),
        target: String::new(),
        headers: vec![("Host".to_owned(), b"localhost".to_vec())],
        body: Vec::new(),
        route: Some((method, path)),
        spoilt: false,
    };
    credentials(&mut made, world, path, random);
    let document = descriptions.of(path, &made.headers);
    let operation = &document["paths"][path][method];
    let id = id(world, path, &mut made.spoilt, random);
    made.target = path.replace("{id}", &id).replace("{name}", "shop") + &query(document, operation, world, random);
    for parameter in
        operation["parameters"].as_array().into_iter().flatten().filter(|parameter| parameter["in"] == "header")
    {
        if random.random_bool(0.3) {
            let sound = text_of(&sample(document, &parameter["schema"], world, random));
            let value = if random.random_bool(0.7) { sound } else { nasty(random) };
            made.headers.push((parameter["name"].as_str().unwrap().to_owned(), value.into_bytes()));
        }
    }
    body(&mut made, document, operation, world, random);
    oddities(&mut made, random);
    made.headers.retain(|(_, value)| axum::http::HeaderValue::from_bytes(value).is_ok());
    made
}

fn id(world: &World, path: &str, spoilt: &mut bool, random: &mut StdRng) -> String {
    match random.random_range(0..20) {
        0 => {
            *spoilt = true;
            // What a URL can hold, encoded or not.
            let text = nasty(random);
            match random.random_bool(0.5) {
                true => percent(&text),
                false => text
                    .chars()
                    .filter(|c| c.is_ascii_alphanumeric() || "-_.~!$&'()*+,;=:@/".contains(*c))
                    .take(200)
                    .collect(),
            }
        }
        1 => {
            *spoilt = true;
            (*["%ff", "%00", "%", "%2e%2e", "%2F", "..", "a%2fb", "7"].choose(random).unwrap()).to_owned()
        }
        2 => Uuid::from_u128(random.random()).to_string(),
        3 => world.ids_of(path).choose(random).unwrap().to_uppercase(),
        _ => world.ids_of(path).choose(random).unwrap().clone(),
    }
    .replace('%', if *spoilt && !path.is_empty() { "%" } else { "%25" })
}

fn percent(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

fn query(document: &Value, operation: &Value, world: &World, random: &mut StdRng) -> String {
    let mut pairs: Vec<String> = Vec::new();
    for parameter in
        operation["parameters"].as_array().into_iter().flatten().filter(|parameter| parameter["in"] == "query")
    {
        if !random.random_bool(0.2) {
            continue;
        }
        let name = parameter["name"].as_str().unwrap();
        let value = match random.random_bool(0.75) {
            true => text_of(&sample(document, &parameter["schema"], world, random)),
            false => nasty(random),
        };
        pairs.push(format!("{name}={}", percent(&value)));
        if random.random_bool(0.03) {
            pairs.push(format!("{}={}", percent(name), percent(&value)));
        }
    }
    if random.random_bool(0.1) {
        pairs.push(format!("{}={}", percent(&nasty(random)), percent(&nasty(random))));
    }
    if random.random_bool(0.03) {
        pairs
            .push((*["%", "%zz=%ff", "=", "&&&", "q", "q=%ff%fe", "size", "a=b=c"].choose(random).unwrap()).to_owned());
    }
    if random.random_bool(0.01) {
        pairs.push(format!("x={}", "y".repeat(random.random_range(1..50_000))));
    }
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

fn credentials(made: &mut Made, world: &World, path: &str, random: &mut StdRng) {
    let key = |key: &str| ("X-API-KEY".to_owned(), key.as_bytes().to_vec());
    let bearer = |token: &str| ("Authorization".to_owned(), format!("Bearer {token}").into_bytes());
    let right = match path.starts_with("/operator") || path == "/metrics" {
        true => key(&world.operator_key),
        false if random.random_bool(0.5) => key(&world.key),
        false => bearer(&world.token),
    };
    let headers = match random.random_range(0..40) {
        0 => vec![],
        1 => vec![key(&world.key)],
        2 => vec![key(&world.operator_key)],
        3 => vec![bearer(&world.token)],
        4 => vec![key(world.others.choose(random).unwrap())],
        5 => vec![bearer(world.others.choose(random).unwrap())],
        6 => vec![key(&nasty(random))],
        7 => vec![bearer(&nasty(random)), right],
        8 => vec![("Authorization".to_owned(), nasty(random).into_bytes())],
        _ if path == "/auth/token" => vec![],
        _ => vec![right],
    };
    made.headers.extend(headers);
}

fn body(made: &mut Made, document: &Value, operation: &Value, world: &World, random: &mut StdRng) {
    let Some(content) = operation["requestBody"]["content"].as_object() else {
        if random.random_bool(0.05) {
            made.body = nasty(random).into_bytes();
        }
        return;
    };
    let kinds: Vec<&String> = content.keys().collect();
    let kind = kinds.choose(random).unwrap().as_str();
    let mut value = match operation["operationId"].as_str() {
        Some("takeAlertsIn") => alerts(document, world, random),
        Some("issueToken") => token_request(world, random),
        _ => sample(document, &content[kind]["schema"], world, random),
    };
    if random.random_bool(0.35) {
        for _ in 0..random.random_range(1..=3) {
            spoil(&mut value, random);
        }
    }
    made.body = match kind {
        "application/x-www-form-urlencoded" => form(&value),
        "application/x-ndjson" => {
            let lines = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
            lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes()
        }
        _ => value.to_string().into_bytes(),
    };
    if random.random_bool(0.1) {
        body_bytes(&mut made.body, random);
    }
    let said = match random.random_range(0..30) {
        0 => return,
        1 => nasty(random),
        2 => "application/json; charset=latin1".to_owned(),
        3 => "text/plain".to_owned(),
        4 => format!("{kind}; charset=utf-8"),
        _ => kind.to_owned(),
    };
    made.headers.push(("Content-Type".to_owned(), said.into_bytes()));
}

fn form(value: &Value) -> Vec<u8> {
    let mut form = form_urlencoded::Serializer::new(String::new());
    for (name, value) in value.as_object().into_iter().flatten() {
        form.append_pair(name, &text_of(value));
    }
    form.finish().into_bytes()
}

fn token_request(world: &World, random: &mut StdRng) -> Value {
    let (id, secret) = &world.client;
    let wrong = if random.random_bool(0.2) { nasty(random) } else { secret.clone() };
    json!({"grant_type": "client_credentials", "client_id": id, "client_secret": wrong})
}

/// Alerts on their way in: of the shape in which the API itself tells alerts, with some of the fields left out.
fn alerts(document: &Value, world: &World, random: &mut StdRng) -> Value {
    let one = |random: &mut StdRng| {
        let mut alert = sample(document, &document["components"]["schemas"]["Alert"], world, random);
        let members = alert.as_object_mut().unwrap();
        members.remove("outcome");
        members.retain(|_, _| random.random_bool(0.4));
        members.insert("providerId".to_owned(), format!("F-{}", random.random::<u32>()).into());
        for (name, words) in
            [("provider", ["ETHOCA", "VERIFI", "CDRN"]), ("type", ["VERIFI_CANCEL", "ETHOCA_CONFIRMED_FRAUD", "X"])]
        {
            members.insert(name.to_owned(), (*words.choose(random).unwrap()).into());
        }
        members.insert("amount".to_owned(), "12.50".into());
        members.insert("currency".to_owned(), "EUR".into());
        alert
    };
    match random.random_range(0..4) {
        0 => (0..random.random_range(0..20)).map(|_| one(random)).collect(),
        1 => json!({"data": [one(random)], "total": 1}),
        _ => one(random),
    }
}

fn oddities(made: &mut Made, random: &mut StdRng) {
    if random.random_bool(0.03) {
        let methods = ["HEAD", "OPTIONS", "GET", "PUT", "POST", "DELETE", "PATCH", "TRACE", "FROB", "get"];
        let method = *methods.choose(random).unwrap();
        let (own, path) = made.route.unwrap();
        let called = if method == "HEAD" { "get" } else { &method.to_lowercase() };
        made.spoilt |= !method.eq_ignore_ascii_case(own);
        made.route = ROUTES.iter().copied().find(|(known, at)| *known == called && *at == path && method != "get");
        made.method = method.to_owned();
    }
    let mut header = |chance: f64, name: &str, values: &[&str], random: &mut StdRng| {
        if random.random_bool(chance) {
            let value =
                if random.random_bool(0.5) { nasty(random) } else { (*values.choose(random).unwrap()).to_owned() };
            made.headers.push((name.to_owned(), value.into_bytes()));
        }
    };
    header(0.1, "X-Request-Id", &["r-1", "order-7/retry:2"], random);
    header(0.02, "Origin", &["http://localhost", "https://evil.example", "null"], random);
    header(0.02, "Content-Encoding", &["gzip", "identity", "br"], random);
    header(0.02, "Content-Type", &["application/json", "text/plain"], random);
    header(0.02, "Host", &["evil.example", "127.0.0.1", "localhost"], random);
    header(0.05, "Accept", &["text/html", "*/*", "application/xml"], random);
    header(0.02, "X-Forwarded-For", &["10.0.0.1", "::1"], random);
    header(0.02, NASTY_NAME, &["x"], random);
    if random.random_bool(0.01) {
        made.headers[0].1 = nasty(random).into_bytes();
    }
    // As hyper refuses it before any of ours sees it.
    if made
        .headers
        .first()
        .is_none_or(|(name, value)| name != "Host" || axum::http::HeaderValue::from_bytes(value).is_err())
    {
        made.spoilt = true;
    }
}

const NASTY_NAME: &str = "x-!#$%&'*+.^_`|~";

/// A value as a query, a form or a header has it.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text_of).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// A value that a schema allows, mostly.
fn sample(document: &Value, schema: &Value, world: &World, random: &mut StdRng) -> Value {
    if let Some(reference) = schema["$ref"].as_str() {
        return sample(
            document,
            &document["components"]["schemas"][reference.rsplit('/').next().unwrap()],
            world,
            random,
        );
    }
    if let Some(words) = schema["enum"].as_array() {
        return words.choose(random).unwrap().clone();
    }
    if let Some(properties) = schema["properties"].as_object() {
        return object(document, schema, properties, world, random);
    }
    for choice in ["oneOf", "anyOf"] {
        if let Some(choices) = schema[choice].as_array() {
            return sample(document, choices.choose(random).unwrap(), world, random);
        }
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.choose(random).unwrap().as_str().unwrap(),
        kind => kind.as_str().unwrap_or("string"),
    };
    let between = |random: &mut StdRng| {
        let (low, high) = (schema["minimum"].as_i64().unwrap_or(0), schema["maximum"].as_i64().unwrap_or(1_000_000));
        *[low, high, random.random_range(low..=high.min(low + 50)), random.random_range(low..=high)]
            .choose(random)
            .unwrap()
    };
    match kind {
        "integer" => between(random).into(),
        "number" => json!(random.random_range(1..100_000)),
        "boolean" => random.random_bool(0.5).into(),
        "null" => Value::Null,
        "array" => (0..random.random_range(0..4)).map(|_| sample(document, &schema["items"], world, random)).collect(),
        "object" => json!({}),
        _ => text(schema, world, random).into(),
    }
}

fn object(
    document: &Value,
    schema: &Value,
    properties: &Map<String, Value>,
    world: &World,
    random: &mut StdRng,
) -> Value {
    let required =
        |name: &str| schema["required"].as_array().is_some_and(|names| names.iter().any(|known| known == name));
    let mut made = Map::new();
    for (name, schema) in properties {
        if required(name) || random.random_bool(0.5) {
            made.insert(name.clone(), sample(document, schema, world, random));
        }
    }
    Value::Object(made)
}

fn text(schema: &Value, world: &World, random: &mut StdRng) -> String {
    match (schema["format"].as_str(), schema["pattern"].as_str()) {
        (Some("uuid"), _) => [&world.alerts, &world.endpoints].choose(random).unwrap().choose(random).unwrap().clone(),
        (Some("date"), _) => format!("2026-03-{:02}", random.random_range(1..=31)),
        (Some("date-time"), _) => {
            format!("2026-03-{:02}T{:02}:00:00.000Z", random.random_range(1..=28), random.random_range(0..24))
        }
        (Some("uri"), _) => format!("https://example.com/{}", random.random::<u16>()),
        (_, Some(pattern)) if pattern.contains("whsec") => {
            format!("whsec_{}", "MfKQ".repeat(random.random_range(8..=20)))
        }
        (_, Some(pattern)) if pattern.contains("(0[1-9]|1[0-2])") => format!("2026-{:02}", random.random_range(1..=12)),
        (_, Some(pattern)) if pattern.contains("[0-9]") => random.random_range(0..10_000).to_string(),
        (_, Some("^[a-z_]+$")) => (*["resolved", "refunded", "other", "not_found"].choose(random).unwrap()).to_owned(),
        _ => {
            let plain = ["a", "ACME", "P-1", "k-7", "411111", "1234", "ACME*SHOP"];
            let text = (*plain.choose(random).unwrap()).to_owned();
            if random.random_bool(0.2) { text + NASTY[0] } else { text }
        }
    }
}
