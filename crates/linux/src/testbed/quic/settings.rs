//! What QUIC's endpoints of a run have in common, and what a traffic group's connections are like.

use super::groups::HEADERS;
use crate::Failure;
use noq_proto::rustls::RootCertStore;
use noq_proto::rustls::pki_types::PrivatePkcs8KeyDer;
use noq_proto::{
    AckFrequencyConfig, ClientConfig, EndpointConfig, ServerConfig, TransportConfig, VarInt,
};
use pathweave_noq::Coupled;
use pathweave_transport::Config;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// The server's name in the certificate.
pub const SERVER_NAME: &str = "pathweave";

/// Bytes that a receiver takes: it limits nobody.
const RECEIVE_BUFFER: u32 = 256 << 20;
/// A path on which nothing has come for this many RTTs is given up.
const SILENT_RTTS: u32 = 10;
/// And for so long at least: probe timeouts need their time.
const SILENT_AT_LEAST: Duration = Duration::from_millis(300);
/// Paths that a flow may have at a time for each of its subflows.
const PATHS: u32 = 4;
/// Pings that would come on a path in that time.
const PINGS: u32 = 3;

/// What all connections of a run have in common: a certificate above all.
pub struct QuicSettings {
    pub endpoint: Arc<EndpointConfig>,
    client: ClientConfig,
    server: ServerConfig,
}

/// How often a sender pings each of its paths, so that the other end hears of those that carry no data.
pub fn ping_every(silence: Duration) -> Duration {
    silence / PINGS
}

/// After how long without a packet a path is given up, where its RTT without queues is this by the machine's clock.
pub fn silence(rtt: Duration) -> Duration {
    (rtt * SILENT_RTTS).max(SILENT_AT_LEAST)
}

impl QuicSettings {
    /// Makes a certificate that is used for one run.
    ///
    /// # Errors
    /// When the cryptographic library has no random numbers.
    pub fn new() -> Result<QuicSettings, Failure> {
        let made = || -> Result<_, Box<dyn Error>> {
            let certificate = rcgen::generate_simple_self_signed(vec![SERVER_NAME.to_owned()])?;
            let shown = certificate.cert.der().clone();
            let key = PrivatePkcs8KeyDer::from(certificate.signing_key.serialize_der());
            let server = ServerConfig::with_single_cert(vec![shown.clone()], key.into())?;
            let mut roots = RootCertStore::empty();
            roots.add(shown)?;
            Ok((
                ClientConfig::with_root_certificates(Arc::new(roots))?,
                server,
            ))
        };
        let (client, server) = made().map_err(|error| {
            Failure::new(format!("cannot make a certificate for QUIC: {error}"))
        })?;
        Ok(QuicSettings {
            endpoint: Arc::new(EndpointConfig::default()),
            client,
            server,
        })
    }

    /// The configurations of a connection's two ends. The receiver of data gives a path up on which nothing has come for
    /// `silence`. The sender cannot tell: noq acknowledges what came on one path on any other, and a path that only takes
    /// data would look dead to it.
    pub fn connection(
        &self,
        config: &Config,
        subflows: u32,
        silence: Duration,
        coupled: &Coupled,
    ) -> (ClientConfig, Arc<ServerConfig>) {
        let mut transport = transport(config, subflows);
        let mut client = self.client.clone();
        client.transport_config(coupled.transport(&transport));
        if subflows > 1 {
            transport.default_path_max_idle_timeout(Some(silence));
        }
        let mut server = self.server.clone();
        server.transport_config(Arc::new(transport));
        (client, coupled.server(&server))
    }
}

fn transport(config: &Config, subflows: u32) -> TransportConfig {
    let payload = config.data_packet - HEADERS;
    let mut transport = TransportConfig::default();
    transport
        .initial_mtu(payload)
        .min_mtu(payload)
        .mtu_discovery_config(None)
        .max_idle_timeout(None)
        .receive_window(VarInt::from_u32(RECEIVE_BUFFER))
        .stream_receive_window(VarInt::from_u32(RECEIVE_BUFFER))
        // The device takes one packet at a time.
        .enable_segmentation_offload(false);
    if subflows > 1 {
        // Beside each path a spare, and two that were given up: those count until their last packets may have come.
        transport.max_concurrent_multipath_paths(PATHS * subflows);
    }
    if config.ack_every == 1 {
        let mut frequency = AckFrequencyConfig::default();
        frequency.ack_eliciting_threshold(VarInt::from_u32(0));
        transport.ack_frequency_config(Some(frequency));
    }
    transport
}
