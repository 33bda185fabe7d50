//! `POST /auth/token`: access tokens for client credentials (RFC 6749, 4.4), and the keys that tokens can be checked
//! with.
//!
//! Checked in this order: the form, the grant type, the client and its secret, and where these are wrong, how often
//! that was so. A right secret always gets its token. Refusals of the endpoint itself are those of RFC 6749, 5.2;
//! limits of size, time and number are told as everywhere.

use std::{
    borrow::Cow,
    net::{IpAddr, Ipv4Addr},
};

use axum::{
    extract::{Extension, Request, State},
    http::{
        HeaderMap, HeaderValue, StatusCode,
        header::{AUTHORIZATION, CONTENT_TYPE, PRAGMA, WWW_AUTHENTICATE},
    },
    response::{IntoResponse, Response},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Serialize;
use url::form_urlencoded;

use super::{
    access::{BodyFault, scheme, whole_body},
    concurrency_limit::{Asker, StrangersPlace, enter},
    problem::{Problem, json},
    state::{Api, MAX_BODY, Peer},
};
use crate::{
    domain::{KeyScope, Secret},
    service::ServiceError,
};

/// POST /auth/token
pub(super) async fn issue(
    State(api): State<Api>,
    peer: Option<Extension<Peer>>,
    headers: HeaderMap,
    request: Request,
) -> Result<Response, TokenRefusal> {
    if !is_form(&headers) {
        return Err(invalid_request("the header Content-Type must be application/x-www-form-urlencoded"));
    }
    let extensions = request.extensions().clone();
    let body = whole_body(request, api.body_timeout, MAX_BODY).await.map_err(|fault| match fault {
        BodyFault::Problem(problem) => TokenRefusal::Problem(problem),
        BodyFault::Broken(_) => invalid_request("the body broke off before its end, or is not well framed"),
    })?;
    let form = Form::read(&body)?;
    form.check_grant()?;
    let credentials = credentials(&headers, form)?;

    enter(&extensions, Asker::Stranger).await.map_err(TokenRefusal::Problem)?;
    let client = api.engine.client(&credentials.id).await?;
    let known = client.as_ref().map(|client| client.id().to_owned());
    let token = match api.engine.issue_token(client, credentials.secret.reveal()).await {
        Err(ServiceError::NotAuthorized(why)) => {
            let from = peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |Extension(Peer(address))| address);
            let limited = api.token_limit.count(known.as_deref(), from);
            let too_often =
                |seconds| Problem::too_many("this client asks for tokens with wrong credentials too often", seconds);
            limited.map_err(|seconds| TokenRefusal::Problem(too_often(seconds)))?;
            return Err(invalid_client(why));
        }
        issued => issued?,
    };
    let answer = TokenJson { access_token: token.token.reveal(), token_type: "Bearer", expires_in: token.expires_in };
    Ok(not_kept(json(serde_json::to_vec(&answer).unwrap_or_default())))
}

/// GET /.well-known/jwks.json
pub(super) async fn keys(_: StrangersPlace, State(api): State<Api>) -> Result<Response, Problem> {
    let keys = api.engine.public_keys().await?;
    Ok(json(serde_json::to_vec(&keys).unwrap_or_default()))
}

#[derive(Serialize)]
struct TokenJson<'a> {
    access_token: &'a str,
    token_type: &'a str,
    expires_in: i64,
}

/// An error of the token endpoint.
pub(super) enum TokenRefusal {
    /// Error of RFC 6749, 5.2.
    OAuth {
        /// 400 or 401.
        status: StatusCode,
        /// The stable word.
        error: &'static str,
        /// Description of the fault; no quotation marks, no backslash.
        description: Cow<'static, str>,
    },
    /// Problem document, as everywhere else.
    Problem(Problem),
}

fn invalid_request(description: &'static str) -> TokenRefusal {
    TokenRefusal::OAuth { status: StatusCode::BAD_REQUEST, error: "invalid_request", description: description.into() }
}

fn invalid_client(description: impl Into<Cow<'static, str>>) -> TokenRefusal {
    TokenRefusal::OAuth { status: StatusCode::UNAUTHORIZED, error: "invalid_client", description: description.into() }
}

impl From<ServiceError> for TokenRefusal {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::NotAuthorized(why) => invalid_client(why),
            other => Self::Problem(other.into()),
        }
    }
}

impl IntoResponse for TokenRefusal {
    fn into_response(self) -> Response {
        #[derive(Serialize)]
        struct ErrorJson {
            error: &'static str,
            error_description: Cow<'static, str>,
        }
        match self {
            Self::Problem(problem) => problem.into_response(),
            Self::OAuth { status, error, description } => {
                let body = serde_json::to_vec(&ErrorJson { error, error_description: description }).unwrap_or_default();
                let mut response = not_kept(json(body));
                *response.status_mut() = status;
                if status == StatusCode::UNAUTHORIZED {
                    let challenge = HeaderValue::from_static("Basic realm=\"avert\", charset=\"UTF-8\"");
                    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
                }
                response
            }
        }
    }
}

/// Caches of HTTP/1.0 keep nothing either; the guard adds `Cache-Control: no-store`.
fn not_kept(mut response: Response) -> Response {
    response.headers_mut().insert(PRAGMA, HeaderValue::from_static("no-cache"));
    response
}

fn is_form(headers: &HeaderMap) -> bool {
    let mut given = headers.get_all(CONTENT_TYPE).iter();
    let (Some(Ok(text)), None) = (given.next().map(HeaderValue::to_str), given.next()) else { return false };
    let essence = text.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/x-www-form-urlencoded")
}

/// The parameters that are known. One without a value counts as not given (RFC 6749, 3.2).
#[derive(Default)]
struct Form {
    grant_type: Option<String>,
    client_id: Option<String>,
    client_secret: Option<Secret>,
    scope: Option<String>,
}

impl Form {
    fn read(body: &[u8]) -> Result<Self, TokenRefusal> {
        let (mut form, mut seen) = (Self::default(), Vec::new());
        for (name, value) in form_urlencoded::parse(body) {
            let known = ["grant_type", "client_id", "client_secret", "scope"].into_iter().find(|known| *known == name);
            let Some(name) = known else { continue };
            if seen.contains(&name) {
                return Err(invalid_request("a parameter is given twice: once is allowed"));
            }
            seen.push(name);
            let value = Some(value.into_owned()).filter(|value| !value.is_empty());
            match name {
                "grant_type" => form.grant_type = value,
                "client_id" => form.client_id = value,
                "client_secret" => form.client_secret = value.map(Secret::new),
                _ => form.scope = value,
            }
        }
        Ok(form)
    }

    fn check_grant(&self) -> Result<(), TokenRefusal> {
        let refused = |error, description: &'static str| {
            Err(TokenRefusal::OAuth { status: StatusCode::BAD_REQUEST, error, description: description.into() })
        };
        match (self.grant_type.as_deref(), self.scope.as_deref()) {
            (None, _) => Err(invalid_request("grant_type is missing: it must be client_credentials")),
            (Some("client_credentials"), None) => Ok(()),
            (Some("client_credentials"), Some(scope)) if scope == KeyScope::Alerts.as_str() => Ok(()),
            (Some("client_credentials"), Some(_)) => {
                refused("invalid_scope", "the one scope there is for clients is alerts")
            }
            (Some(_), _) => refused("unsupported_grant_type", "grant_type must be client_credentials"),
        }
    }
}

/// Credentials that a client presents.
#[derive(Debug)]
struct Credentials {
    id: String,
    secret: Secret,
}

/// The client's credentials: in the form, or in the header `Authorization` (Basic), and not in both.
fn credentials(headers: &HeaderMap, form: Form) -> Result<Credentials, TokenRefusal> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    match (given.next(), given.next()) {
        (_, Some(_)) => Err(invalid_request("the header Authorization is given twice: once is allowed")),
        (None, None) => match (form.client_id, form.client_secret) {
            (Some(id), Some(secret)) => Ok(Credentials { id, secret }),
            _ => Err(invalid_client("client_id and client_secret are needed, in the form or as Basic credentials")),
        },
        (Some(_), None) if form.client_secret.is_some() => {
            Err(invalid_request("the client shows itself in the form and in the header Authorization: one is allowed"))
        }
        (Some(header), None) => {
            let shown = header.to_str().ok().and_then(basic);
            let shown = shown.ok_or_else(|| invalid_client("the header Authorization must hold Basic credentials"))?;
            if form.client_id.is_some_and(|id| id != shown.id) {
                return Err(invalid_request("client_id names another client than the header Authorization"));
            }
            Ok(shown)
        }
    }
}

/// Basic credentials; both halves are form-encoded (RFC 6749, 2.3.1).
fn basic(authorization: &str) -> Option<Credentials> {
    let decoded = STANDARD.decode(scheme(authorization, "Basic")?).ok()?;
    let text = String::from_utf8(decoded).ok()?;
    let (id, secret) = text.split_once(':')?;
    Some(Credentials { id: form_decoded(id), secret: Secret::new(form_decoded(secret)) })
}

fn form_decoded(text: &str) -> String {
    // As a name without a value, because the text itself may hold an equals sign only in its encoded form.
    form_urlencoded::parse(text.as_bytes()).next().map(|(name, _)| name.into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn header(value: &str) -> HeaderMap {
        HeaderMap::from_iter([(AUTHORIZATION, value.parse().unwrap())])
    }

    fn form(text: &str) -> Form {
        Form::read(text.as_bytes()).ok().unwrap()
    }

    #[rstest]
    #[case("Basic YTpi", "a", "b")]
    #[case("basic  YTpi", "a", "b")]
    #[case("Basic YTpiOmM=", "a", "b:c")]
    #[case("Basic YSUzQWI6YyUyMGQ=", "a:b", "c d")]
    fn basic_credentials_are_two_form_encoded_halves(#[case] value: &str, #[case] id: &str, #[case] secret: &str) {
        let read = basic(value).unwrap();

        assert_eq!((read.id.as_str(), read.secret.reveal()), (id, secret));
    }

    #[rstest]
    #[case("Basic")]
    #[case("Basic YQ==")]
    #[case("Basic !!")]
    #[case("Basic /w==")]
    #[case("Bearer YTpi")]
    fn what_is_no_basic_credential_is_invalid_client(#[case] value: &str) {
        let refused = credentials(&header(value), form(""));

        assert!(matches!(refused, Err(TokenRefusal::OAuth { error: "invalid_client", .. })));
    }

    #[test]
    fn one_credential_is_shown_in_one_way() {
        let both = credentials(&header("Basic YTpi"), form("client_id=a&client_secret=b"));
        let named = credentials(&header("Basic YTpi"), form("client_id=a"));
        let other = credentials(&header("Basic YTpi"), form("client_id=c"));

        assert!(matches!(both, Err(TokenRefusal::OAuth { error: "invalid_request", .. })));
        assert!(named.is_ok());
        assert!(matches!(other, Err(TokenRefusal::OAuth { error: "invalid_request", .. })));
    }

    #[test]
    fn a_parameter_without_a_value_counts_as_not_given() {
        let form = form("scope=&client_id=&grant_type=client_credentials&unknown=1");

        assert!(form.check_grant().is_ok() && form.client_id.is_none());
    }
}
