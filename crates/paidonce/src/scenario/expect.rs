//! What must be true after a scenario, what was seen, and whether the two agree.

use std::collections::BTreeSet;
use std::fmt;

use paidonce_ledger::{Reason, Word};

/// An answer that was not read, in words.
const UNREAD: &str = "unread";

/// What kind of answer a delivery must get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Success: the provider will not send it again.
    Stored,
    /// Not genuine.
    NotGenuine,
    /// Genuine, and refused so that the provider tries again.
    Refused,
    /// Whatever it was, it was not read.
    Unread,
}

impl Answer {
    /// Whether a status, or none that was read, is such an answer.
    fn fits(self, status: Option<u16>) -> bool {
        match (self, status) {
            (Self::Stored, Some(status)) => (200..300).contains(&status),
            (Self::NotGenuine, Some(status)) => status == 401,
            (Self::Refused, Some(status)) => status == 404 || status == 422,
            (Self::Unread, status) => status.is_none(),
            (_, None) => false,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Stored => "2xx",
            Self::NotGenuine => "401",
            Self::Refused => "422",
            Self::Unread => UNREAD,
        }
    }
}

/// What must be true in the end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected {
    /// Where the order stands; `None` if no order was placed.
    pub(crate) standing: Option<Word>,
    /// How many entitlements there are.
    pub(crate) granted: usize,
    /// How many event rows there are.
    pub(crate) events: usize,
    /// How many more times they came.
    pub(crate) repeats: u32,
    /// The open cases.
    pub(crate) cases: &'static [Reason],
}

/// What was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The status of each answer, in order; `None` if it was not read.
    pub(crate) statuses: Vec<Option<u16>>,
    /// Where the order stands.
    pub(crate) standing: Option<String>,
    /// How many entitlements there are.
    pub(crate) granted: usize,
    /// How many event rows there are.
    pub(crate) events: usize,
    /// How many more times they came.
    pub(crate) repeats: u32,
    /// The reasons of the open cases.
    pub(crate) cases: BTreeSet<String>,
    /// What went wrong on the way, if anything did.
    pub(crate) trouble: Option<String>,
}

impl Expected {
    /// Whether `outcome` is what was expected, with `answers` to the deliveries.
    pub(crate) fn met(&self, answers: &[Answer], outcome: &Outcome) -> bool {
        let fits = answers.len() == outcome.statuses.len()
            && answers.iter().zip(&outcome.statuses).all(|(answer, status)| answer.fits(*status));
        let cases: BTreeSet<_> = self.cases.iter().map(|reason| reason.as_str().to_owned()).collect();
        fits && outcome.trouble.is_none()
            && self.standing.map(Word::as_str) == outcome.standing.as_deref()
            && (self.granted, self.events, self.repeats) == (outcome.granted, outcome.events, outcome.repeats)
            && cases == outcome.cases
    }

    /// In words, in the form of [`Outcome`]'s `Display`.
    pub(crate) fn text(&self, answers: &[Answer]) -> String {
        let standing = self.standing.map(Word::as_str);
        let cases: Vec<_> = self.cases.iter().map(|reason| reason.as_str()).collect();
        let answers = runs(answers.iter().map(|answer| answer.text().to_owned()));
        sentence(&answers, standing, self.granted, (self.events, self.repeats), &cases)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cases: Vec<_> = self.cases.iter().map(String::as_str).collect();
        let status = |status: &Option<u16>| status.map_or(UNREAD.to_owned(), |status| status.to_string());
        let statuses = runs(self.statuses.iter().map(status));
        let seen = (self.events, self.repeats);
        f.write_str(&sentence(&statuses, self.standing.as_deref(), self.granted, seen, &cases))?;
        match &self.trouble {
            Some(trouble) => write!(f, "; {trouble}"),
            None => Ok(()),
        }
    }
}

/// `200 200 401` as `2x 200, 401`.
fn runs(texts: impl Iterator<Item = String>) -> String {
    let mut runs: Vec<(String, usize)> = Vec::new();
    for text in texts {
        match runs.last_mut() {
            Some((last, count)) if *last == text => *count += 1,
            _ => runs.push((text, 1)),
        }
    }
    let run =
        |(text, count): &(String, usize)| if *count == 1 { text.clone() } else { format!("{count}x {text}") };
    runs.iter().map(run).collect::<Vec<_>>().join(", ")
}

fn sentence(
    answers: &str,
    standing: Option<&str>,
    granted: usize,
    (events, repeats): (usize, u32),
    cases: &[&str],
) -> String {
    let mut parts = vec![answers.to_owned()];
    parts.extend(standing.map(str::to_owned));
    parts.push(format!("{granted} granted"));
    parts.push(match (events, repeats) {
        (0, _) => "no event".to_owned(),
        (1, 0) => "1 event".to_owned(),
        (n, 0) => format!("{n} events"),
        (1, repeats) => format!("1 event +{repeats}"),
        (n, repeats) => format!("{n} events +{repeats}"),
    });
    if !cases.is_empty() {
        parts.push(format!("case {}", cases.join(", ")));
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPECTED: Expected =
        Expected { standing: Some(Word::Paid), granted: 1, events: 1, repeats: 1, cases: &[] };
    const ANSWERS: [Answer; 2] = [Answer::Stored, Answer::Stored];

    fn seen() -> Outcome {
        let standing = Some("paid".to_owned());
        Outcome {
            statuses: vec![Some(200); 2],
            standing,
            granted: 1,
            events: 1,
            repeats: 1,
            ..Outcome::default()
        }
    }

    #[test]
    fn what_agrees_reads_alike() {
        assert!(EXPECTED.met(&ANSWERS, &seen()));
        assert_eq!(EXPECTED.text(&ANSWERS), "2x 2xx; paid; 1 granted; 1 event +1");
        assert_eq!(seen().to_string(), "2x 200; paid; 1 granted; 1 event +1");
    }

    #[test]
    fn every_difference_counts() {
        let others = [
            Outcome { statuses: vec![Some(200)], ..seen() },
            Outcome { statuses: vec![Some(200), Some(500)], ..seen() },
            Outcome { statuses: vec![Some(200), None], ..seen() },
            Outcome { standing: Some("unpaid".to_owned()), ..seen() },
            Outcome { granted: 2, ..seen() },
            Outcome { events: 2, ..seen() },
            Outcome { repeats: 0, ..seen() },
            Outcome { cases: ["overpaid".to_owned()].into(), ..seen() },
            Outcome { trouble: Some("no answer".to_owned()), ..seen() },
        ];
        assert!(others.iter().all(|other| !EXPECTED.met(&ANSWERS, other)));
    }
}
