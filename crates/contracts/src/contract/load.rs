//! From text and overlay to a checked contract. Mistakes of the file are told apart from the source's.

use paidonce_ledger::Name;

use super::format::{Format, RedeliveryFormat, Strength, Truth};
use super::mistake::{ContractError, Mistake, Place, line_at};
use super::overlay::merge;
use super::{Acknowledgement, Checked, Redelivery, lookup, plan, recent, signature, strength};

/// The version of the format that this build reads.
const FORMAT: u32 = 1;

/// The status of an answer without a body.
const NO_CONTENT: u16 = 204;

/// What a delivery that is not genuine is answered, unless the contract says otherwise.
const UNAUTHORIZED: u16 = 401;

/// What a source writes where the contract could not say how deliveries are signed.
const SIGNATURE_EXAMPLE: &str = r#"
    [signature]
    header = "X-Signature"
    mac = "hmac-sha256"
    key = "utf8"
    encoding = "hex""#;

/// What it writes where the members of an event are not known.
const READ_EXAMPLE: &str = r#"
    [read]
    id = "id"
    type = "type""#;

pub(super) fn parse(text: &str, file: &str, overlay: Option<&toml::Table>) -> Result<Checked, ContractError> {
    let spoken = |error: &toml::de::Error| {
        let line = error.span().map(|span| line_at(text, span.start));
        ContractError::new(file, line, error.message())
    };
    // The file by itself first: its own mistakes have lines.
    let own: Format = toml::from_str(text).map_err(|error| spoken(&error))?;
    let (format, events) = match overlay {
        None => {
            let events = (0..own.event.len()).map(Some).collect();
            (own, events)
        }
        Some(overlay) => {
            let table = toml::from_str(text).map_err(|error| spoken(&error))?;
            let (merged, events) = merge(table, Some(overlay));
            let format = merged.try_into::<Format>();
            (format.map_err(|error| ContractError::in_overlay(file, error.to_string().trim()))?, events)
        }
    };
    complete(&format, file)?;
    check(format).map_err(|mistake| mistake.located(text, file, overlay, &events))
}

/// Refuses a contract that leaves to the source what the source has not said.
fn complete(format: &Format, file: &str) -> Result<(), ContractError> {
    let signature = signature::missing(&format.signature);
    let read = plan::missing(&format.read);
    if signature.is_empty() && read.is_empty() {
        return Ok(());
    }
    let example = |missing: &[&str], text| if missing.is_empty() { "" } else { text };
    let message = format!(
        "the contract does not say everything that is needed to verify and read a delivery of {}; \
         the source has to state:\n    {}\nfor example, in its own settings for the contract:{}{}",
        format.title,
        [&*signature, &*read].concat().join("\n    "),
        example(&signature, SIGNATURE_EXAMPLE),
        example(&read, READ_EXAMPLE),
    );
    Err(ContractError::new(file, None, message))
}

fn check(format: Format) -> Result<Checked, Mistake> {
    if format.format != FORMAT {
        return Err(Place::of("format").mistake(format!("this program reads format = {FORMAT}")));
    }
    let at = Place::of("provider");
    let provider = Name::new(&format.provider).map_err(|error| at.mistake(error.to_string()))?;
    if !format.provider.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    {
        return Err(at.mistake("lower-case letters, digits and hyphens: it is part of every key"));
    }
    let acknowledgement = acknowledgement(&format)?;
    let signature = signature::compile(&format.signature)?;
    let plan = plan::compile(&format, &signature)?;
    let judged = strength::judge(&format, &signature, &plan)?;
    if format.truth == Truth::Event && judged.strength != Strength::Full {
        let why = &judged.why;
        let message = format!("an event's word cannot count: {why}; write truth = \"fetch\"");
        return Err(Place::of("truth").mistake(message));
    }
    let redelivery = redelivery(&format.redelivery)?;
    let lookup = lookup::compile(&format)?;
    let recent = recent::compile(&format, &plan)?;
    Ok(Checked {
        provider,
        title: format.title,
        docs: format.docs,
        certainty: format.certainty,
        signature,
        plan,
        lookup,
        recent,
        acknowledgement,
        truth: format.truth,
        redelivery,
        judged,
    })
}

fn acknowledgement(format: &Format) -> Result<Acknowledgement, Mistake> {
    let (answer, at) = (&format.acknowledge, Place::of("acknowledge"));
    if !(200..300).contains(&answer.status) {
        return Err(at.key("status").mistake("a status from 200 to 299: it says that the event is stored"));
    }
    if answer.status == NO_CONTENT && !answer.body.is_empty() {
        return Err(at.key("body").mistake("an answer with status 204 has no body"));
    }
    let conflict_status = answer.conflict_status.unwrap_or(answer.status);
    if conflict_status != 409 && !(200..300).contains(&conflict_status) {
        return Err(at.key("conflict_status").mistake("409, or a status from 200 to 299"));
    }
    for status in [answer.status, conflict_status] {
        let taken = answer.accepted.is_empty() || answer.accepted.contains(&status) || status == 409;
        if !taken || answer.avoid.contains(&status) {
            let message = format!("{status} is not one that this contract calls accepted, or one to avoid");
            return Err(at.key("status").mistake(message));
        }
    }
    if answer.avoid.contains(&UNAUTHORIZED) && answer.refused_status.is_none() {
        let message = "what is not genuine is answered 401, which is one to avoid: state another";
        return Err(at.key("refused_status").mistake(message));
    }
    if answer
        .refused_status
        .is_some_and(|status| !(400..500).contains(&status) || answer.avoid.contains(&status))
    {
        return Err(at.key("refused_status").mistake("a status from 400 to 499 that is not one to avoid"));
    }
    Ok(Acknowledgement {
        status: answer.status,
        body: answer.body.clone(),
        conflict_status,
        accepted: answer.accepted.clone(),
        avoid: answer.avoid.clone(),
        refused_status: answer.refused_status,
    })
}

fn redelivery(format: &RedeliveryFormat) -> Result<Redelivery, Mistake> {
    let at = Place::of("redelivery");
    if format.window_h.is_some() && format.window_s.is_some() {
        return Err(at.key("window_s").mistake("state window_h or window_s"));
    }
    let window_s = format.window_s.or(format.window_h.map(|hours| hours.saturating_mul(3_600)));
    let scheduled = format.schedule_s.iter().fold(0_u32, |sum, step| sum.saturating_add(*step));
    if window_s.is_some_and(|window| scheduled > window) {
        return Err(at.key("schedule_s").mistake("the schedule is longer than the window"));
    }
    let (schedule_s, timeout_s) = (format.schedule_s.clone(), format.timeout_s);
    Ok(Redelivery { window_s, schedule_s, timeout_s })
}
