//! What an event's word is worth: as much as the signature covers, and no more than the contract admits.
//!
//! It judges the contract, never a request. That a source of a weak contract asks the provider before anything
//! happens is the program's to see to; here is only the answer, with its reason.

use super::format::{Certainty, Format, MacKind, Strength};
use super::mistake::{Mistake, Place};
use super::plan::{IdRule, KindRule, Plan};
use super::signature::{Signature, SignaturePlace};

/// How strong a contract's events are, and why not stronger.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) strength: Strength,
    /// Empty for a full one.
    pub(super) why: String,
}

/// The weakest of what the signature shows, what the reading needs and what the contract says of itself.
pub(super) fn judge(format: &Format, signature: &Signature, plan: &Plan) -> Result<Judged, Mistake> {
    let at = Place::of("strength");
    let shown = shown(format, signature, plan);
    let Some(level) = format.strength.level else {
        if format.strength.why.is_some() {
            return Err(at.key("level").mistake("state full, partial or hint-only"));
        }
        let (strength, why) = shown.unwrap_or((Strength::Full, ""));
        return Ok(Judged { strength, why: why.to_owned() });
    };
    if let Some((strength, why)) = shown
        && rank(level) < rank(strength)
    {
        let message = format!("the contract itself allows no more than {}: {why}", word(strength));
        return Err(at.key("level").mistake(message));
    }
    match (&format.strength.why, level) {
        (None, Strength::Full) => Ok(Judged { strength: level, why: String::new() }),
        (Some(why), Strength::Partial | Strength::HintOnly) if !why.trim().is_empty() => {
            Ok(Judged { strength: level, why: why.clone() })
        }
        _ => {
            Err(at.key("why").mistake("say why, unless the level is full: whoever runs the source reads it"))
        }
    }
}

fn shown(format: &Format, signature: &Signature, plan: &Plan) -> Option<(Strength, &'static str)> {
    let hint = |why| Some((Strength::HintOnly, why));
    match &signature.place {
        SignaturePlace::Nowhere => return hint("nothing is signed, so anybody can send it"),
        SignaturePlace::Code { code, .. } if !code.covers_content() => {
            return hint(
                "the signature does not protect the content: another body can have the same checksum",
            );
        }
        _ => {}
    }
    if signature.schemes.iter().any(|scheme| scheme.mac == MacKind::Static) {
        return hint("the header is a password and no signature, so it proves nothing about the content");
    }
    if matches!(plan.id, IdRule::None) {
        return hint("nothing in it tells one change from another");
    }
    if format.certainty.get("signature") == Some(&Certainty::Unverified) {
        return Some((Strength::Partial, "how its deliveries are signed is not known for certain"));
    }
    if matches!(plan.kind, KindRule::Header(number) if !signature.signs_header(number)) {
        return Some((Strength::Partial, "the event's type stands in a header that is not signed"));
    }
    None
}

fn rank(strength: Strength) -> u8 {
    match strength {
        Strength::Full => 0,
        Strength::Partial => 1,
        Strength::HintOnly => 2,
    }
}

fn word(strength: Strength) -> &'static str {
    match strength {
        Strength::Full => "full",
        Strength::Partial => "partial",
        Strength::HintOnly => "hint-only",
    }
}
