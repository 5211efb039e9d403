//! `ca_file`: certificates in PEM that are trusted besides the system's.

use std::path::Path;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

/// The file's text, in which there is a certificate.
///
/// # Errors
/// The file cannot be read, or holds none.
pub(super) fn read(file: &Path) -> Result<String, String> {
    let pem = std::fs::read_to_string(file)
        .map_err(|error| format!("the ca_file {} cannot be read: {error}", file.display()))?;
    match CertificateDer::from_pem_slice(pem.as_bytes()) {
        Ok(_) => Ok(pem),
        Err(_) => Err(format!("the ca_file {} holds no certificate in PEM", file.display())),
    }
}
