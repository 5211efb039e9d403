//! `[policy]`: what reversals do. The meaning is the ledger's; this is only its spelling.

use std::fmt::Write as _;

use paidonce_ledger::{AfterGrant, RefundBlocks};

use super::section::Section;

/// The `[policy]` section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PolicyConfig {
    /// How much of a refund prevents a grant.
    pub refund_blocks: RefundBlocks,
    /// What a reversal after the grant does.
    pub after_grant: AfterGrant,
}

const REFUND_BLOCKS: &[(&str, RefundBlocks)] = &[("full", RefundBlocks::Full), ("any", RefundBlocks::Any)];
const AFTER_GRANT: &[(&str, AfterGrant)] = &[("keep", AfterGrant::Keep), ("review", AfterGrant::Review)];

impl PolicyConfig {
    pub(super) fn read(section: Section<'_>) -> Self {
        let config = Self {
            refund_blocks: section.choice("refund_blocks", RefundBlocks::default(), REFUND_BLOCKS),
            after_grant: section.choice("after_grant", AfterGrant::default(), AFTER_GRANT),
        };
        section.finish();
        config
    }

    pub(super) fn show(&self, out: &mut String) {
        let blocks = super::word_of(REFUND_BLOCKS, &self.refund_blocks);
        let after = super::word_of(AFTER_GRANT, &self.after_grant);
        let _ = writeln!(out, "\n[policy]\nrefund_blocks = \"{blocks}\"\nafter_grant = \"{after}\"");
    }
}
