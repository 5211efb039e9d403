//! Connections: a name is resolved, each address is checked, and the checked address itself is dialled, so that a name
//! that changes its mind between check and use changes nothing.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::address::is_global;
use super::{Failed, Target};

/// The addresses of a name.
pub type Resolving<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'a>>;

/// A connection being made.
pub type Dialling<'a> = Pin<Box<dyn Future<Output = io::Result<TcpStream>> + Send + 'a>>;

/// Where names come from.
pub trait Resolve: Send + Sync {
    /// All addresses of a host.
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Resolving<'a>;
}

/// What opens connections.
pub trait Dial: Send + Sync {
    /// Connects to an address that was checked.
    fn dial(&self, to: SocketAddr) -> Dialling<'_>;
}

/// The operating system's names and sockets.
struct System;

impl Resolve for System {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Resolving<'a> {
        Box::pin(async move { Ok(tokio::net::lookup_host((host, port)).await?.collect()) })
    }
}

impl Dial for System {
    fn dial(&self, to: SocketAddr) -> Dialling<'_> {
        Box::pin(async move {
            let stream = TcpStream::connect(to).await?;
            stream.set_nodelay(true)?;
            Ok(stream)
        })
    }
}

/// Connects to targets.
pub struct Connector {
    resolve: Box<dyn Resolve>,
    dial: Box<dyn Dial>,
    tls: TlsConnector,
}

impl Connector {
    /// With the system's names, sockets and root certificates, and one more root in PEM if there is one.
    ///
    /// # Errors
    /// The certificate cannot be used, or there is none at all.
    pub fn new(ca_pem: Option<&[u8]>) -> Result<Self, String> {
        Self::with(Box::new(System), Box::new(System), ca_pem)
    }

    /// With other names and sockets.
    ///
    /// # Errors
    /// As [`Connector::new`].
    pub fn with(
        resolve: Box<dyn Resolve>,
        dial: Box<dyn Dial>,
        ca_pem: Option<&[u8]>,
    ) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        // Damaged ones among the system's are passed over, as everybody does.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if let Some(pem) = ca_pem {
            let read = CertificateDer::from_pem_slice(pem);
            let certificate = read.map_err(|_| "the ca file holds no certificate in PEM".to_owned())?;
            let added = roots.add(certificate);
            added.map_err(|_| "the ca file's certificate cannot be used".to_owned())?;
        }
        if roots.is_empty() {
            return Err(
                "the system has no root certificates: install ca-certificates, or set ca_file".to_owned()
            );
        }
        let ring = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(ring).with_safe_default_protocol_versions();
        let config = config.map_err(|error| format!("TLS: {error}"))?;
        let mut config = config.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { resolve, dial, tls: TlsConnector::from(Arc::new(config)) })
    }

    /// A connection to one of the target's addresses that may be reached; over TLS, where the target says https.
    pub(super) async fn connect(&self, target: &Target) -> Result<Stream, Failed> {
        let plain = self.dial_any(target).await?;
        if !target.secure {
            return Ok(Stream::Plain(plain));
        }
        let unsent = |error: String| Failed::Unsent(format!("TLS with the destination failed: {error}"));
        let name = ServerName::try_from(target.host.clone()).map_err(|error| unsent(error.to_string()))?;
        let stream = self.tls.connect(name, plain).await.map_err(|error| unsent(error.to_string()))?;
        Ok(Stream::Tls(Box::new(stream)))
    }

    async fn dial_any(&self, target: &Target) -> Result<TcpStream, Failed> {
        let addresses = self.addresses(target).await?;
        let (all, mut last) = (addresses.len(), None);
        let allowed = addresses.into_iter().filter(|to| target.private || is_global(to.ip()));
        for to in allowed {
            match self.dial.dial(to).await {
                Ok(stream) => return Ok(stream),
                Err(error) => last = Some(error),
            }
        }
        Err(match last {
            Some(error) => Failed::Unsent(format!("no connection: {error}")),
            None if all == 0 => Failed::Unsent("the host has no address".to_owned()),
            None => Failed::Blocked(
                "the host's address is not on the public internet; allow_private = true would reach it"
                    .to_owned(),
            ),
        })
    }

    async fn addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, Failed> {
        if let Ok(address) = target.host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, target.port)]);
        }
        let resolved = self.resolve.resolve(&target.host, target.port).await;
        resolved.map_err(|error| Failed::Unsent(format!("the host's name has no address: {error}")))
    }
}

/// A connection.
pub(super) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, into),
            Self::Tls(stream) => Pin::new(stream).poll_read(context, into),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, from),
            Self::Tls(stream) => Pin::new(stream).poll_write(context, from),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
