//! A request's body: capped while it streams, within one time limit for all of it, as the bytes that came.

use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, EXPECT};
use axum::http::{HeaderMap, StatusCode};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;

use super::problem::Refusal;

/// How much of a body that is too large is read and thrown away, so that its sender gets to read the answer
/// instead of a reset connection.
const DRAIN_BYTES_MAX: usize = 4 * 1024 * 1024;
const DRAIN_TIME_MAX: Duration = Duration::from_secs(1);

/// Reads it all.
pub(super) async fn read(
    headers: &HeaderMap,
    body: Body,
    max: usize,
    within: Duration,
) -> Result<Bytes, Refusal> {
    refuse_encoding(headers)?;
    let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > max as u64) {
        // A client that waits for leave to send has not sent anything, and gets none.
        if !headers.contains_key(EXPECT) {
            drain(body).await;
        }
        return Err(too_large(max));
    }
    match tokio::time::timeout(within, collect(body, max)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(Cut::TooLarge(rest))) => {
            drain(rest).await;
            Err(too_large(max))
        }
        Ok(Err(Cut::Broken)) => {
            let detail = "the body ended before its announced end, or its chunks are malformed";
            Err(Refusal::new(StatusCode::BAD_REQUEST, "incomplete_body", detail).header(CONNECTION, "close"))
        }
        Err(_) => {
            let detail = format!("the whole body must arrive within {} s", within.as_secs());
            Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "body_timeout", detail).header(CONNECTION, "close"))
        }
    }
}

fn refuse_encoding(headers: &HeaderMap) -> Result<(), Refusal> {
    let plain = headers.get_all(CONTENT_ENCODING).iter().all(|value| value == "identity");
    if plain {
        return Ok(());
    }
    let detail = "send the body as it is: no Content-Encoding is accepted";
    Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content_encoding", detail)
        .header(CONNECTION, "close"))
}

fn too_large(max: usize) -> Refusal {
    let detail = format!("a body has at most {max} bytes");
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", detail).header(CONNECTION, "close")
}

enum Cut {
    TooLarge(Body),
    Broken,
}

/// The usual body is one frame, which is taken as it is.
async fn collect(mut body: Body, max: usize) -> Result<Bytes, Cut> {
    let mut first = Bytes::new();
    let mut all: Option<BytesMut> = None;
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        // Trailers are nobody's word: they are not signed.
        let Ok(data) = frame.map_err(|_| Cut::Broken)?.into_data() else { continue };
        length += data.len();
        if length > max {
            return Err(Cut::TooLarge(body));
        }
        match &mut all {
            None if first.is_empty() => first = data,
            None => {
                let mut joined = BytesMut::with_capacity(length * 2);
                joined.extend_from_slice(&first);
                joined.extend_from_slice(&data);
                all = Some(joined);
            }
            Some(joined) => joined.extend_from_slice(&data),
        }
    }
    Ok(all.map_or(first, BytesMut::freeze))
}

async fn drain(mut body: Body) {
    let all = async {
        let mut drained = 0;
        while let Some(Ok(frame)) = body.frame().await {
            drained += frame.data_ref().map_or(0, Bytes::len);
            if drained > DRAIN_BYTES_MAX {
                return;
            }
        }
    };
    // Whether it came to its end does not matter: the connection is closed.
    let _ = tokio::time::timeout(DRAIN_TIME_MAX, all).await;
}
