//! `scheme://host/path?name=value`, taken apart. What stands before an `@` is never shown.

use crate::{Result, StoreError, StoreErrorKind};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) scheme: String,
    /// `user:password` or `token`.
    pub(super) login: Option<String>,
    /// With its port.
    pub(super) host: String,
    /// Without slashes at its ends.
    pub(super) path: String,
    options: Vec<(String, String)>,
}

fn usage(what: impl Into<String>) -> StoreError {
    StoreError::new(StoreErrorKind::Usage, what)
}

impl Address {
    pub(super) fn parse(url: &str) -> Result<Self> {
        let whole = || usage("a store's address is scheme://host/name");
        let (scheme, rest) = url.split_once("://").ok_or_else(whole)?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (login, host) = match authority.rsplit_once('@') {
            Some((login, host)) => (Some(login.to_owned()), host),
            None => (None, authority),
        };
        if host.is_empty() {
            return Err(whole());
        }
        // Half a password would pass for a host, and be shown.
        if path.contains('@') {
            return Err(usage("a password in a store's address must not hold a /"));
        }
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let option = |pair: &str| {
            let pair = pair.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
            pair.ok_or_else(|| usage("after the ? of a store's address come name=value, joined by &"))
        };
        Ok(Self {
            scheme: scheme.to_owned(),
            login,
            host: host.to_owned(),
            path: path.trim_matches('/').to_owned(),
            options: pairs.map(option).collect::<Result<_>>()?,
        })
    }

    pub(super) fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Refuses options that are not among these, by name: their values may be secrets.
    pub(super) fn only(&self, known: &[&str]) -> Result<()> {
        match self.options.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some((name, _)) if known.is_empty() => {
                Err(usage(format!("{}:// takes no options, {name} is none", self.scheme)))
            }
            Some((name, _)) => Err(usage(format!(
                "{}:// has no option {name}: it has {}; credentials come from the environment",
                self.scheme,
                known.join(", ")
            ))),
        }
    }

    /// For people: without login and options.
    pub(super) fn shown(&self) -> String {
        format!("{}://{}/{}", self.scheme, self.host, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p14_half_a_password_does_not_pass_for_a_host() {
        let error = Address::parse("nats://me:can/ary@host/bucket").unwrap_err().to_string();
        assert!(!error.contains("can/") && !error.contains("ary"), "{error}");
    }

    #[test]
    fn p14_what_may_be_a_secret_is_never_shown() {
        let address = Address::parse("nats://me:pass@host:4222/bucket/key?tls=true").unwrap();
        assert_eq!(address.login.as_deref(), Some("me:pass"));
        assert_eq!(address.shown(), "nats://host:4222/bucket/key");
        assert_eq!(address.option("tls"), Some("true"));
        let error = address.only(&["other"]).unwrap_err().to_string();
        assert!(error.contains("tls") && !error.contains("pass"), "{error}");
    }
}
