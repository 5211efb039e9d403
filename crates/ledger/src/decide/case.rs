//! Opening cases, once, and ending those that later facts settled.

use crate::case::{Case, CaseKey, Resolution, Subject};
use crate::digest::Body;
use crate::id::OrderId;
use crate::key::Need;
use crate::ledger::Ledger;
use crate::standing::Finding;

use super::{Context, effect};

/// Opens the case of a finding, unless it stands or a person has ended it.
pub(super) fn open(
    ledger: &mut Ledger,
    finding: Finding,
    order: Option<&OrderId>,
    body: Option<Body>,
    context: Context<'_>,
) -> Result<(), Need> {
    let Finding { subject, reason, evidence, detail } = finding;
    let key = CaseKey { subject, reason, evidence };
    let known = ledger.case(&key)?.cloned();
    if known.is_none() {
        effect::case_opened(ledger, &key, order, context)?;
    }
    let case = match known {
        None => Case { opened_at: context.now, detail, order: order.cloned(), body, resolution: None },
        // What later facts had settled has come back.
        Some(case) if case.resolution.as_ref().is_some_and(|r| r.by.is_none()) => {
            Case { resolution: None, ..case }
        }
        Some(_) => return Ok(()),
    };
    ledger.cases.put(key, case);
    Ok(())
}

/// Ends every open case about `subject` that `over` says is over.
pub(super) fn settle(
    ledger: &mut Ledger,
    subject: &Subject,
    over: impl Fn(&CaseKey) -> bool,
    context: Context<'_>,
) {
    let ended: Vec<_> = ledger
        .cases_of(subject)
        .filter(|(key, case)| case.resolution.is_none() && over(key))
        .map(|(key, case)| (key.clone(), case.clone()))
        .collect();
    for (key, case) in ended {
        let note = "settled by later facts".to_owned();
        let resolution = Some(Resolution { at: context.now, by: None, note });
        ledger.cases.put(key, Case { resolution, ..case });
    }
}
