//! What handlers take from a request, with refusals that say which member is wrong and why.

use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::app::App;
use super::body;
use super::problem::Refusal;

/// A JSON body. Unknown members and duplicate ones are refused by the types themselves.
pub(super) struct Json<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Json<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Refusal> {
        let (parts, body) = request.into_parts();
        let bytes = body::read(&parts.headers, body, app.body_max, app.body_timeout).await?;
        let kind = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let essence = kind.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/json") {
            let detail = "send JSON, with Content-Type: application/json";
            return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "wrong_content_type", detail));
        }
        parse(&bytes).map(Self)
    }
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refusal> {
    let malformed = |detail: String| Refusal::new(StatusCode::BAD_REQUEST, "malformed_json", detail);
    let text = std::str::from_utf8(bytes)
        .map_err(|error| malformed(format!("byte {} is not UTF-8", error.valid_up_to())))?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let (member, error) = (error.path().to_string(), error.into_inner());
        if error.is_data() { Refusal::mistake(&member, error) } else { malformed(error.to_string()) }
    })?;
    reader.end().map_err(|error| malformed(error.to_string()))?;
    Ok(value)
}

/// The query, typed.
pub(super) struct Asked<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequestParts<Arc<App>> for Asked<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, Refusal> {
        let query =
            Query::try_from_uri(&parts.uri).map_err(|error| Refusal::mistake("query", error.body_text()))?;
        Ok(Self(query.0))
    }
}

/// The variable parts of the path.
pub(super) struct Named<T>(pub(super) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Arc<App>> for Named<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refusal> {
        let path = Path::from_request_parts(parts, app).await;
        path.map(|Path(names)| Self(names)).map_err(|error| Refusal::mistake("path", error.body_text()))
    }
}

/// Nothing is here.
pub(super) async fn not_found() -> Refusal {
    Refusal::not_found("no_such_route", "there is nothing at this address; /openapi.json lists what there is")
}

/// Something is here, for other methods. The router adds which.
pub(super) async fn wrong_method() -> Refusal {
    let detail = "this address takes other methods; see the Allow header";
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "wrong_method", detail)
}
