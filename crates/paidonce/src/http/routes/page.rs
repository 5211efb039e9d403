//! How lists are paged: `limit` and `after`, alike everywhere.

use paidonce_store::{PAGE_MAX, Page};

use crate::http::problem::Refusal;

/// Rows in a page, if the request does not say.
const LIMIT: usize = 50;

/// The page that a query asks for.
pub(super) fn page(limit: Option<usize>, after: Option<String>) -> Result<Page, Refusal> {
    let limit = limit.unwrap_or(LIMIT);
    if !(1..=PAGE_MAX).contains(&limit) {
        return Err(Refusal::mistake("limit", format!("it must be between 1 and {PAGE_MAX}")));
    }
    Ok(Page { limit, after })
}

/// A filter's text as the identifier it must be.
pub(super) fn filter<T, E: ToString>(
    member: &str,
    text: Option<String>,
    parse: impl FnOnce(String) -> Result<T, E>,
) -> Result<Option<T>, Refusal> {
    text.map(parse).transpose().map_err(|error| Refusal::mistake(member, error))
}
