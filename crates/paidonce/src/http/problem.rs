//! Refusals on their way out: RFC 9457, each kind with one stable code and one status.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;

use super::dto::{Mistake, Mistakes, Problem};

/// A refusal with the headers it needs. Boxed, because it is the rare half of every handler's result.
#[derive(Debug)]
pub(super) struct Refusal(Box<Parts>);

#[derive(Debug)]
struct Parts {
    problem: Problem,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, code: &str, detail: impl Into<String>) -> Self {
        let problem = Problem {
            kind: format!("urn:paidonce:problem:{code}"),
            title: title(code),
            status: status.as_u16(),
            detail: detail.into(),
            code: code.to_owned(),
            mistakes: Vec::new(),
        };
        Self(Box::new(Parts { problem, headers: Vec::new() }))
    }

    pub(super) fn header(mut self, name: HeaderName, value: &'static str) -> Self {
        self.0.headers.push((name, HeaderValue::from_static(value)));
        self
    }

    pub(super) fn code(&self) -> &str {
        &self.0.problem.code
    }

    /// Members of a request that are wrong.
    pub(super) fn mistakes(mistakes: Mistakes) -> Self {
        let detail = mistakes.to_string();
        let mut refusal = Self::new(StatusCode::BAD_REQUEST, "invalid_request", detail);
        refusal.0.problem.mistakes = mistakes.0;
        refusal
    }

    /// One member of a request that is wrong.
    pub(super) fn mistake(member: &str, problem: impl ToString) -> Self {
        let mistake = Mistake { member: member.to_owned(), problem: problem.to_string() };
        Self::mistakes(Mistakes(vec![mistake]))
    }

    pub(super) fn not_found(code: &str, detail: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, detail)
    }

    /// Nothing was stored, or it is safe to send it again.
    pub(super) fn unavailable(detail: &str) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail)
            .header(axum::http::header::RETRY_AFTER, "1")
    }
}

/// A code's words: the general title of its kind.
fn title(code: &str) -> String {
    let text = code.replace('_', " ");
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response<Body> {
        let Parts { problem, headers: own } = *self.0;
        let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&problem).expect("texts and numbers are JSON");
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.extend(own);
        response
    }
}
