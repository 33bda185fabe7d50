//! Extractors: a request's credential, the id in its path, the type of its body, its body.

use std::{str::FromStr, time::Duration};

use axum::{
    RequestPartsExt,
    extract::{FromRef, FromRequest, FromRequestParts, Path, Request},
    http::{
        HeaderMap, HeaderName,
        header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE},
        request::Parts,
    },
};

use super::{
    concurrency_limit::{Asker, enter, reading},
    problem::{Code, Problem},
    state::{Api, MAX_BODY},
};
use crate::{
    domain::{FieldError, KeyScope, attempt::check_idempotency_key},
    engine::ActingEngine,
    inbound::framing::{announced, discard, read},
    wire::Dialect,
};

const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// An authenticated request: the services bound to its caller, and the dialect of its credential.
pub(super) struct Acting {
    pub(super) alerts: ActingEngine,
    pub(super) dialect: Dialect,
}

impl FromRequestParts<Api> for Acting {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, Problem> {
        let (caller, dialect) = match RequestCredential::of(&parts.headers)? {
            RequestCredential::ApiKey(key) => (api.engine.authenticate(key, KeyScope::Alerts).await?, Dialect::Current),
            RequestCredential::Bearer(token) => (api.engine.authenticate_token(token).await?, Dialect::Older),
        };
        enter(&parts.extensions, Asker::Member(caller.organization.organization.id)).await?;
        Ok(Self { alerts: api.acting_for(caller, parts), dialect })
    }
}

pub(super) enum RequestCredential<'a> {
    /// `X-API-KEY`.
    ApiKey(&'a str),
    /// `Authorization: Bearer`.
    Bearer(&'a str),
}

impl<'a> RequestCredential<'a> {
    pub(super) fn of(headers: &'a HeaderMap) -> Result<Self, Problem> {
        let not_authorized = |detail: &str| Problem::new(Code::NotAuthorized, format!("not authorized: {detail}"));
        let mut keys = headers.get_all(X_API_KEY).iter();
        let mut authorizations = headers.get_all(AUTHORIZATION).iter();
        match (keys.next(), authorizations.next(), keys.next().is_some() || authorizations.next().is_some()) {
            (_, _, true) | (Some(_), Some(_), _) => Err(Problem::new(
                Code::AmbiguousCredentials,
                "send one credential: X-API-KEY or Authorization, and that once",
            )),
            (Some(key), None, false) => {
                let key = key.to_str().map_err(|_| not_authorized("the API key is mistyped or cut off"))?;
                Ok(Self::ApiKey(key.trim()))
            }
            (None, Some(authorization), false) => {
                let token = authorization.to_str().ok().and_then(|text| scheme(text, "Bearer"));
                token
                    .map(Self::Bearer)
                    .ok_or_else(|| not_authorized("the header Authorization must hold Bearer and an access token"))
            }
            (None, None, false) => Err(not_authorized(
                "send an API key in the header X-API-KEY, or an access token in the header Authorization",
            )),
        }
    }
}

/// Returns the part of an `Authorization` header behind this scheme (any letter case); `None` for another scheme.
pub(super) fn scheme<'a>(authorization: &'a str, scheme: &str) -> Option<&'a str> {
    let (name, rest) = authorization.trim().split_once(' ')?;
    name.eq_ignore_ascii_case(scheme).then(|| rest.trim())
}

/// The id in the path, of any kind.
pub(super) struct PathId<T>(pub(super) T);

impl<T: FromStr, S: Send + Sync> FromRequestParts<S> for PathId<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        // Text that is not UTF-8 once it is decoded is no id of any kind.
        let text = parts
            .extract::<Path<String>>()
            .await
            .map_or_else(|_| char::REPLACEMENT_CHARACTER.to_string(), |Path(text)| text);
        text.parse().map(Self).map_err(|_| {
            let given: String = text.chars().take(60).collect();
            Problem::of_fields(
                Code::InvalidId,
                vec![FieldError::new("id", format!("{given:?} is not allowed: a UUID"))],
            )
        })
    }
}

/// Proof that the content type is JSON.
pub(super) struct JsonContent;

impl<S: Send + Sync> FromRequestParts<S> for JsonContent {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        if !is_json(&parts.headers) {
            return Err(Problem::new(Code::UnsupportedMediaType, "the header Content-Type must be application/json"));
        }
        not_encoded(&parts.headers).map(|()| Self)
    }
}

/// Refuses a body that is compressed, or encoded otherwise.
pub(super) fn not_encoded(headers: &HeaderMap) -> Result<(), Problem> {
    let mut encodings = headers.get_all(CONTENT_ENCODING).iter();
    if encodings.any(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Err(Problem::new(Code::UnsupportedMediaType, "the body must come without a Content-Encoding"));
    }
    Ok(())
}

/// Checks that there is one content type, `application/json`, with a UTF-8 charset or none.
fn is_json(headers: &HeaderMap) -> bool {
    let mut given = headers.get_all(CONTENT_TYPE).iter();
    let (Some(Ok(text)), None) = (given.next().map(|value| value.to_str()), given.next()) else { return false };
    let mut parts = text.split(';').map(str::trim);
    let json = parts.next().is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"));
    let charset_fits = |parameter: &str| match parameter.split_once('=') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
            let value = value.trim().trim_matches('"');
            value.eq_ignore_ascii_case("utf-8")
                || value.eq_ignore_ascii_case("utf8")
                || value.eq_ignore_ascii_case("us-ascii")
        }
        _ => true,
    };
    json && parts.all(charset_fits)
}

/// The Idempotency-Key of the request, where it has one.
pub(super) struct IdempotencyKey(pub(super) Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let mut given = parts.headers.get_all(IDEMPOTENCY_KEY).iter();
        let wrong = |error: FieldError| Problem::of_fields(Code::InvalidResolution, vec![error]);
        let Some(key) = given.next() else { return Ok(Self(None)) };
        if given.next().is_some() {
            return Err(wrong(FieldError::new("Idempotency-Key", "is given twice: once is allowed")));
        }
        let key = key.to_str().unwrap_or_default();
        check_idempotency_key(key).map_err(wrong)?;
        Ok(Self(Some(key.to_owned())))
    }
}

/// The whole body, within its limits of size and time.
pub(super) struct WholeBody(pub(super) Vec<u8>);

impl<S> FromRequest<S> for WholeBody
where
    S: Send + Sync,
    Api: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let api = Api::from_ref(state);
        whole_body(request, api.body_timeout, MAX_BODY).await.map(Self).map_err(|fault| match fault {
            BodyFault::Problem(problem) => problem,
            BodyFault::Broken(words) => {
                Problem::of_fields(Code::InvalidResolution, vec![FieldError::new("body", words)])
            }
        })
    }
}

/// Reason of a body that was not read.
pub(super) enum BodyFault {
    /// Too large, or too slow.
    Problem(Problem),
    /// Broken off; in words that follow the name of what broke off.
    Broken(&'static str),
}

/// Reads a body within its limits of size and time. The request holds no place while it comes.
pub(super) async fn whole_body(request: Request, timeout: Duration, most: usize) -> Result<Vec<u8>, BodyFault> {
    let too_large =
        || BodyFault::Problem(Problem::new(Code::BodyTooLarge, format!("at most {most} bytes are allowed")));
    if announced(request.headers()).is_some_and(|length| length > most as u64) {
        discard(request, timeout);
        return Err(too_large());
    }
    let (parts, body) = request.into_parts();
    match reading(&parts.extensions, tokio::time::timeout(timeout, read(body, most)))
        .await
        .map_err(BodyFault::Problem)?
    {
        Ok(Ok(Some(body))) => Ok(body),
        Ok(Ok(None)) => Err(too_large()),
        Ok(Err(_)) => Err(BodyFault::Broken("broke off before its end, or is not well framed")),
        Err(_) => {
            let detail = format!("the body did not come within {} s", timeout.as_secs_f32());
            Err(BodyFault::Problem(Problem::new(Code::RequestTimeout, detail)))
        }
    }
}
