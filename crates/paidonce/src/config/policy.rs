//! `[policy]`: what refunds, disputes and late money do, and how long what is kept is kept. The meaning is the ledger's; this is only its spelling.

use std::fmt::Write as _;

use paidonce_ledger::{AfterGrant, AfterGrants, Disputes, Late, RefundBlocks};

use super::section::Section;
use super::word_of;

/// The `[policy]` section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PolicyConfig {
    /// How much of a refund prevents a grant.
    pub refund_blocks: RefundBlocks,
    /// Whether an open dispute prevents a grant.
    pub disputes: Disputes,
    /// What money for a closed order does.
    pub late: Late,
    /// Whether a refund puts an order's pieces up for sale again.
    pub refund_restocks: bool,
    /// What a reversal after the grant does, by its cause.
    pub after_grant: AfterGrants,
    /// After so many seconds a payment that named something of ours and found no order is a case.
    pub unbound_after_s: u64,
    /// After so many seconds a lookup that keeps failing is a case.
    pub lookup_patience_s: u64,
    /// Grant only on an answer of the provider that is not older than this; 0 to grant on what is known.
    pub grant_check_s: u64,
    /// After so many days a notification's bytes are dropped; 0 to keep them for ever.
    pub body_retention_days: u64,
}

/// From a minute to a year.
const UNBOUND_AFTER_S: std::ops::RangeInclusive<u64> = 60..=31_536_000;

const REFUND_BLOCKS: &[(&str, RefundBlocks)] = &[("full", RefundBlocks::Full), ("any", RefundBlocks::Any)];
const DISPUTES: &[(&str, Disputes)] = &[("hold", Disputes::Hold), ("ignore", Disputes::Ignore)];
const LATE: &[(&str, Late)] = &[("hold", Late::Hold), ("revive", Late::Revive)];
const RESTOCKS: &[(&str, bool)] = &[("off", false), ("on", true)];
const AFTER_GRANT: &[(&str, AfterGrant)] =
    &[("keep", AfterGrant::Keep), ("revoke", AfterGrant::Revoke), ("review", AfterGrant::Review)];

impl PolicyConfig {
    pub(super) fn read(section: Section<'_>) -> Self {
        let after = |key| section.choice(key, AfterGrant::default(), AFTER_GRANT);
        let config = Self {
            refund_blocks: section.choice("refund_blocks", RefundBlocks::default(), REFUND_BLOCKS),
            disputes: section.choice("disputes", Disputes::default(), DISPUTES),
            late: section.choice("late", Late::default(), LATE),
            refund_restocks: section.choice("refund_restocks", false, RESTOCKS),
            after_grant: AfterGrants {
                refund: after("after_refund"),
                dispute: after("after_dispute"),
                reversal: after("after_reversal"),
            },
            unbound_after_s: section.number("unbound_after_s", 86_400, UNBOUND_AFTER_S),
            lookup_patience_s: section.number("lookup_patience_s", 900, 1..=31_536_000),
            grant_check_s: section.number("grant_check_s", 0, 0..=86_400),
            body_retention_days: section.number("body_retention_days", 0, 0..=36_500),
        };
        section.finish();
        config
    }

    pub(super) fn show(&self, out: &mut String) {
        let AfterGrants { refund, dispute, reversal } = self.after_grant;
        let after = |value| word_of(AFTER_GRANT, &value);
        let settings = [
            ("refund_blocks", word_of(REFUND_BLOCKS, &self.refund_blocks)),
            ("disputes", word_of(DISPUTES, &self.disputes)),
            ("late", word_of(LATE, &self.late)),
            ("refund_restocks", word_of(RESTOCKS, &self.refund_restocks)),
            ("after_refund", after(refund)),
            ("after_dispute", after(dispute)),
            ("after_reversal", after(reversal)),
        ];
        out.push_str("\n[policy]\n");
        for (key, word) in settings {
            let _ = writeln!(out, "{key} = \"{word}\"");
        }
        let _ = writeln!(out, "unbound_after_s = {}", self.unbound_after_s);
        let _ = writeln!(out, "lookup_patience_s = {}", self.lookup_patience_s);
        let _ = writeln!(out, "grant_check_s = {}", self.grant_check_s);
        let _ = writeln!(out, "body_retention_days = {}", self.body_retention_days);
    }
}
