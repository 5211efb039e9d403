//! PayPal: RSA over `transmission id|transmission time|webhook id|CRC-32 of the body`, under a named certificate.
//!
//! The certificate's address comes with the request, so it is held to the contract's hosts and one path before it is
//! anything but text. CRC-32 is no digest: whoever has one genuine request can pad any body to it, which is why a
//! contract with this code may only say `truth = "fetch"`. There is no limit on the age: PayPal signs every attempt anew.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Request, Scheme, header};
use crate::secret::{Secret, SecretError};
use crate::verify::Refused;

/// Where PayPal keeps the certificates of its notifications.
const PATH: &str = "/v1/notifications/certs/";

/// The longest name of a certificate that is asked for.
const NAME_BYTES_MAX: usize = 128;

/// What the certificate has to be issued for.
const NAME_ENDING: &str = ".paypal.com";

#[derive(Debug)]
pub(super) struct PayPal {
    webhook_id: String,
    hosts: Vec<String>,
}

impl PayPal {
    pub(super) fn new(
        webhook_id: String,
        hosts: Vec<String>,
        secrets: &[Secret],
    ) -> Result<Self, SecretError> {
        if secrets.is_empty() {
            return Ok(Self { webhook_id, hosts });
        }
        Err(SecretError::Malformed {
            position: 1,
            problem: "is not needed: PayPal signs with its own certificate",
            expected: "no secret".to_owned(),
        })
    }
}

impl Scheme for PayPal {
    fn verify(&self, request: &Request<'_>) -> Result<usize, Refused> {
        let signature = match header(request.headers, "paypal-transmission-sig") {
            Err(Refused::MissingHeader) => return Err(Refused::MissingSignature),
            other => other?,
        };
        let id = header(request.headers, "paypal-transmission-id")?;
        let time = header(request.headers, "paypal-transmission-time")?;
        if header(request.headers, "paypal-auth-algo")? != "SHA256withRSA" {
            return Err(Refused::Algorithm);
        }
        // A separator inside would let one signature stand for two splits of the same text.
        if [id, time].iter().any(|text| text.contains('|')) {
            return Err(Refused::MalformedHeader);
        }
        let url = self.url(request.headers)?;
        let signature = STANDARD.decode(signature).map_err(|_| Refused::SignatureMismatch)?;
        let certificate = request.certificates.get(url).ok_or(Refused::NeedsCertificate)?;
        let crc = crc32fast::hash(request.body);
        let signed = format!("{id}|{time}|{}|{crc}", self.webhook_id);
        let anchors = request.certificates.anchors();
        certificate.check(anchors, NAME_ENDING, request.now_unix_s).map_err(|_| Refused::Certificate)?;
        certificate.verify(signed.as_bytes(), &signature).map_err(|_| Refused::SignatureMismatch)?;
        Ok(0)
    }

    fn certificate_url<'h>(&self, headers: &[(&'h str, &'h [u8])]) -> Result<Option<&'h str>, Refused> {
        self.url(headers).map(Some)
    }
}

impl PayPal {
    fn url<'h>(&self, headers: &[(&'h str, &'h [u8])]) -> Result<&'h str, Refused> {
        let url = header(headers, "paypal-cert-url")?;
        if permitted(url, &self.hosts) { Ok(url) } else { Err(Refused::CertificateUrlNotAllowed) }
    }
}

/// Exactly `https://`, one of the hosts, the path, a plain name. No port, user, query, escape or dot segment fits.
fn permitted(url: &str, hosts: &[String]) -> bool {
    let Some(rest) = url.strip_prefix("https://") else { return false };
    hosts.iter().any(|host| {
        let name = rest.strip_prefix(host.as_str()).and_then(|rest| rest.strip_prefix(PATH));
        name.is_some_and(|name| {
            let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
            plain && (1..=NAME_BYTES_MAX).contains(&name.len())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_certificate_of_the_contracts_hosts_is_named() {
        let hosts = ["api.paypal.com".to_owned()];
        assert!(permitted("https://api.paypal.com/v1/notifications/certs/CERT-360", &hosts));
        for url in [
            "http://api.paypal.com/v1/notifications/certs/C",
            "https://api.paypal.com.evil.example/v1/notifications/certs/C",
            "https://api.paypal.com@evil.example/v1/notifications/certs/C",
            "https://evil.example/https://api.paypal.com/v1/notifications/certs/C",
            "https://api.paypal.com:444/v1/notifications/certs/C",
            "https://api.paypal.com/v1/notifications/certs/../../x",
            "https://api.paypal.com/v1/notifications/certs/C?x",
            "https://api.paypal.com/v1/notifications/certs/C%2e",
            "https://api.paypal.com/v1/notifications/certs/",
            "https://API.paypal.com/v1/notifications/certs/C",
        ] {
            assert!(!permitted(url, &hosts), "{url}");
        }
    }
}
