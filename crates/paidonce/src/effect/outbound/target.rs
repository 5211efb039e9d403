//! Where a request goes, as the configuration states it.

use std::fmt;

use hyper::Uri;
use hyper::http::uri::Scheme;

/// A checked address: https, or http where private networks are allowed; no user, no fragment, a port for programs.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    /// Whether TLS is spoken.
    pub(super) secure: bool,
    /// The host's name, or an address without brackets.
    pub(super) host: String,
    /// The port.
    pub(super) port: u16,
    /// Whether addresses that are not globally routable may be reached.
    pub(super) private: bool,
    authority: String,
    path: String,
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The path may hold a token.
        write!(f, "Target({})", self.authority)
    }
}

impl Target {
    /// Reads a URL. `private` allows http and addresses that are not globally routable.
    ///
    /// # Errors
    /// What is wrong with it, without repeating it.
    pub fn parse(url: &str, private: bool) -> Result<Self, String> {
        if url.contains('#') {
            return Err("leave out the #fragment: it is never sent".to_owned());
        }
        let uri: Uri = url.parse().map_err(|_| "write a whole URL: \"https://host/path\"".to_owned())?;
        let secure = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP && private => false,
            Some(scheme) if *scheme == Scheme::HTTP => {
                return Err(
                    "write https: (http is for private networks, with allow_private = true)".to_owned()
                );
            }
            _ => return Err("write a whole URL: \"https://host/path\"".to_owned()),
        };
        let authority = uri.authority().ok_or("write a whole URL: \"https://host/path\"")?;
        if authority.as_str().contains('@') {
            return Err(
                "leave out user and password: what is sent is signed, and can carry authorization".to_owned()
            );
        }
        let port = authority.port_u16().unwrap_or(if secure { 443 } else { 80 });
        if !matches!(port, 80 | 443 | 1024..) {
            return Err("use port 443, 80, or one from 1024: the others belong to other services".to_owned());
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err("write a whole URL: \"https://host/path\"".to_owned());
        }
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        Ok(Self { secure, host, port, private, authority: authority.as_str().to_owned(), path })
    }

    /// What stands in the `Host` header.
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// What stands in the request line.
    #[must_use]
    pub fn path(&self) -> &str {
        if self.path.is_empty() { "/" } else { &self.path }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_addresses_for_programs_are_targets() {
        for url in ["https://shop.example/hook", "https://shop.example:8443/?a=b", "https://[2606:4700::1]/x"]
        {
            assert!(Target::parse(url, false).is_ok(), "{url}");
        }
        for (url, said) in [
            ("http://shop.example/", "write https:"),
            ("ftp://shop.example/", "write a whole URL"),
            ("/hook", "write a whole URL"),
            ("shop.example", "write a whole URL"),
            ("https://user:canary@shop.example/", "leave out user"),
            ("https://shop.example/#x", "leave out the #fragment"),
            ("https://shop.example:22/", "use port 443"),
            ("https://shop.example:0/", "use port 443"),
            ("https://", "write a whole URL"),
        ] {
            let error = Target::parse(url, false).unwrap_err();
            assert!(error.contains(said) && !error.contains("canary"), "{url}: {error}");
        }
        assert!(Target::parse("http://intranet/", true).is_ok());
    }

    #[test]
    fn what_is_sent_is_what_was_written() {
        let target = Target::parse("https://shop.example:8443/a%2Fb?c=d", false).unwrap();
        assert_eq!((target.authority(), target.path()), ("shop.example:8443", "/a%2Fb?c=d"));
        assert_eq!(Target::parse("https://shop.example", false).unwrap().path(), "/");
    }
}
