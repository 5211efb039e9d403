//! The contracts that are shipped, by name.

/// Name and text. The text is what a user copies to write a contract of their own.
pub(super) const CONTRACTS: &[(&str, &str)] = &[
    ("generic-hmac", include_str!("../../contracts/generic-hmac.toml")),
    ("stablein", include_str!("../../contracts/stablein.toml")),
    ("standard-webhooks", include_str!("../../contracts/standard-webhooks.toml")),
    ("stbl-pay", include_str!("../../contracts/stbl-pay.toml")),
    ("stripe", include_str!("../../contracts/stripe.toml")),
];
