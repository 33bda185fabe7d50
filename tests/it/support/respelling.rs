//! A deployment that means what our engine means and spells it in its own way: every answer of an engine, written anew
//! on its way out.

use std::net::SocketAddr;

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use serde_json::{Map, Number, Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

/// Which of its own ways it has; together they spell everything in every way that the decisions page names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// Fields in capitals, words in small letters, the decimals of the other dialect, the other spelling of the
    /// merchant at Ethoca, numbers as text, times with an offset, a byte order mark, refusals as other frameworks write
    /// them.
    Loud,
    /// Fields and words as they should be, and what is null left out, what nobody knows added, times with a blank,
    /// refusals as plain JSON of the old kind.
    Sparse,
}

/// The deployment, in front of an engine's API; it ends when dropped.
pub struct Respelling {
    address: SocketAddr,
    serving: JoinHandle<()>,
}

#[derive(Clone)]
struct Ahead {
    url: String,
    spelling: Spelling,
    client: reqwest::Client,
}

impl Respelling {
    /// In front of the API at this address.
    pub async fn of(url: String, spelling: Spelling) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let ahead = Ahead { url, spelling, client: reqwest::Client::builder().no_proxy().build().unwrap() };
        let routes = Router::new().fallback(pass_on).with_state(ahead);
        let serving = tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Self { address, serving }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Respelling {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn pass_on(State(ahead): State<Ahead>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let url = format!("{}{}", ahead.url, head.uri);
    let mut headers = head.headers;
    headers.remove(header::HOST);
    headers.remove(header::ACCEPT_ENCODING);
    let body = to_bytes(body, 1 << 20).await.unwrap();
    let answer = ahead.client.request(head.method, url).headers(headers).body(body).send().await.unwrap();
    let status = StatusCode::from_u16(answer.status().as_u16()).unwrap();
    let tokens = head.uri.path() == "/auth/token";
    let bytes = answer.bytes().await.unwrap();
    let respelled = match serde_json::from_slice::<Value>(&bytes) {
        Ok(value) if !tokens => ahead.spelling.respell(value, status).into_bytes(),
        _ => bytes.to_vec(),
    };
    let mut response = Response::new(Body::from(respelled));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    response
}

impl Spelling {
    fn respell(self, answer: Value, status: StatusCode) -> String {
        if !status.is_success() {
            return self.refusal(&answer).to_string();
        }
        match self {
            Self::Loud => format!("\u{FEFF}{}", self.value("", answer)),
            Self::Sparse => self.value("", answer).to_string(),
        }
    }

    fn refusal(self, problem: &Value) -> Value {
        let (code, detail, errors) = (&problem["code"], &problem["detail"], &problem["errors"]);
        match self {
            Self::Loud => json!({"error": {"code": code, "message": detail}, "errors": errors}),
            Self::Sparse => {
                json!({"code": code, "statusCode": problem["status"], "message": [detail], "errors": errors})
            }
        }
    }

    fn value(self, name: &str, value: Value) -> Value {
        match value {
            Value::Object(members) => Value::Object(self.members(members)),
            Value::Array(items) => Value::Array(items.into_iter().map(|item| self.value(name, item)).collect()),
            value => self.plain(name, value),
        }
    }

    fn members(self, members: Map<String, Value>) -> Map<String, Value> {
        let mut spelled = Map::new();
        for (name, value) in members {
            if self == Self::Sparse && value.is_null() {
                continue;
            }
            let value = self.value(&name, value);
            spelled.insert(self.name(&name), value);
        }
        if self == Self::Sparse {
            spelled.insert("brandNew".to_owned(), json!({"deep": [1, null, "x"]}));
        }
        spelled
    }

    fn name(self, name: &str) -> String {
        let other = match name {
            "ethocaMerchantId" => "ethocaMergantId",
            "ethocaMergantId" => "ethocaMerchantId",
            name => name,
        };
        match self {
            Self::Loud if !matches!(name, "data" | "total" | "totalPages" | "page" | "size") => other.to_uppercase(),
            Self::Loud => name.to_owned(),
            Self::Sparse => other.to_owned(),
        }
    }

    fn plain(self, name: &str, value: Value) -> Value {
        match (self, name, value) {
            (Self::Loud, "provider" | "type" | "status" | "refunded" | "disputeReasonCode", Value::String(word)) => {
                json!(word.to_lowercase())
            }
            (_, "amount" | "chargebackAmount" | "amountStopped", Value::String(digits)) => {
                digits.parse::<Number>().map_or(json!(digits), Value::Number)
            }
            (_, "amount" | "chargebackAmount" | "amountStopped", Value::Number(digits)) => json!(digits.to_string()),
            (Self::Loud, "hoursLeft", Value::Number(hours)) => json!(hours.to_string()),
            (Self::Loud, name, Value::String(time)) if is_time(name) => json!(time.replace('Z', "+00:00")),
            (Self::Sparse, name, Value::String(time)) if is_time(name) => {
                json!(time.replace('T', " ").replace('Z', ""))
            }
            (_, _, value) => value,
        }
    }
}

fn is_time(name: &str) -> bool {
    name.ends_with("TimeStamp") || name.ends_with("At") || name == "actionTimestamp"
}
