//! Real noq endpoints over loopback: client and server are both coupled.

use noq::{ClientConfig, Connection, Endpoint, Path, ServerConfig, TransportConfig};
use noq_proto::{PathId, PathStatus};
use pathweave_control::registry;
use pathweave_noq::{Coupled, Shared};
use rustls::pki_types::PrivatePkcs8KeyDer;
use std::{net::SocketAddr, sync::Arc, time::Duration};

/// A coupled server and the clients that it knows.
struct Pair {
    coupled: Coupled,
    server: Endpoint,
    config: ServerConfig,
    client: Endpoint,
    client_config: ClientConfig,
    transport: TransportConfig,
}

/// A connection's two ends, and what couples the paths of each.
struct Connected {
    client: Connection,
    server: Connection,
    client_paths: Arc<Shared>,
    server_paths: Arc<Shared>,
}

impl Pair {
    fn new(name: &str) -> Pair {
        let certificate = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
        let der = certificate.cert.der().clone();
        let key = PrivatePkcs8KeyDer::from(certificate.signing_key.serialize_der());
        let mut transport = TransportConfig::default();
        transport.max_concurrent_multipath_paths(4);
        let mut config = ServerConfig::with_single_cert(vec![der.clone()], key.into()).unwrap();
        config.transport_config(Arc::new(transport.clone()));
        let mut roots = rustls::RootCertStore::empty();
        roots.add(der).unwrap();
        Pair {
            coupled: Coupled::with_defaults(name).unwrap(),
            server: Endpoint::server(config.clone(), "0.0.0.0:0".parse().unwrap()).unwrap(),
            config,
            client: Endpoint::client("0.0.0.0:0".parse().unwrap()).unwrap(),
            client_config: ClientConfig::with_root_certificates(Arc::new(roots)).unwrap(),
            transport,
        }
    }

    fn address(&self, host: [u8; 4]) -> SocketAddr {
        (host, self.server.local_addr().unwrap().port()).into()
    }

    async fn connect(&self) -> Connected {
        let client_paths = self.coupled.connection();
        let mut transport = self.transport.clone();
        transport.congestion_controller_factory(client_paths.clone());
        let mut client_config = self.client_config.clone();
        client_config.transport_config(Arc::new(transport));
        let server_paths = self.coupled.connection();
        let mut transport = self.transport.clone();
        transport.congestion_controller_factory(server_paths.clone());
        let mut server_config = self.config.clone();
        server_config.transport_config(Arc::new(transport));
        let address = self.address([127, 0, 0, 1]);
        let connecting = self
            .client
            .connect_with(client_config, address, "localhost")
            .unwrap();
        let accepted = async {
            let incoming = self.server.accept().await.unwrap();
            incoming
                .accept_with(Arc::new(server_config))
                .unwrap()
                .await
                .unwrap()
        };
        let (client, server) = tokio::join!(connecting, accepted);
        Connected {
            client: client.unwrap(),
            server,
            client_paths,
            server_paths,
        }
    }

    /// A second path, over another address of the server.
    async fn second_path(&self, connection: &Connection) -> Path {
        let address = self.address([127, 0, 0, 2]);
        let opened = async {
            // The peer's connection ids for another path come a little after the handshake, and noq does not tell when.
            loop {
                match connection.open_path(address, PathStatus::Available).await {
                    Ok(path) => break path,
                    Err(_) => tokio::time::sleep(Duration::from_millis(2)).await,
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(5), opened)
            .await
            .expect("a second path opens within 5 s")
    }
}

/// Bytes that repeat after 251, so that a missing or a repeated packet shows.
fn pattern(length: usize) -> Vec<u8> {
    (0..=250).cycle().take(length).collect()
}

async fn send(from: &Connection, data: &[u8]) {
    let mut stream = from.open_uni().await.unwrap();
    stream.write_all(data).await.unwrap();
    stream.finish().unwrap();
    stream.stopped().await.unwrap();
}

async fn receive(at: &Connection) -> Vec<u8> {
    let mut stream = at.accept_uni().await.unwrap();
    stream.read_to_end(100_000_000).await.unwrap()
}

async fn carry(from: &Connection, to: &Connection, length: usize) {
    let data = pattern(length);
    let both = async { tokio::join!(send(from, &data), receive(to)) };
    let ((), received) = tokio::time::timeout(Duration::from_secs(15), both)
        .await
        .expect("the data arrives within 15 s");
    assert!(received == data, "what arrived is not what was sent");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn data_arrives_whole_over_two_paths_in_both_directions() {
    let pair = Pair::new("lia");
    let ends = pair.connect().await;
    let second = pair.second_path(&ends.client).await;
    let first = ends.client.path(PathId::ZERO).unwrap();
    carry(&ends.client, &ends.server, 2_000_000).await;
    // How two loopback paths share the data is a matter of chance. While one is a backup, the other carries all of it.
    for (carrier, other) in [(&first, &second), (&second, &first)] {
        carrier.set_status(PathStatus::Available).unwrap();
        other.set_status(PathStatus::Backup).unwrap();
        let before = carrier.stats().udp_tx.bytes;
        carry(&ends.client, &ends.server, 2_000_000).await;
        let sent = carrier.stats().udp_tx.bytes - before;
        assert!(sent > 1_500_000, "path {} sent {sent} bytes", carrier.id());
    }
    carry(&ends.server, &ends.client, 1_000_000).await;
    assert_eq!(ends.client_paths.windows().len(), 2);
    assert_eq!(ends.server_paths.windows().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_of_one_server_share_no_state() {
    let pair = Pair::new("lia");
    let busy = pair.connect().await;
    let idle = pair.connect().await;
    let _second = pair.second_path(&busy.client).await;
    let before = idle.server_paths.windows();
    carry(&busy.server, &busy.client, 2_000_000).await;
    assert_eq!(busy.server_paths.windows().len(), 2);
    assert_eq!(idle.server_paths.windows().len(), 1);
    assert_eq!(
        idle.server_paths.windows()[0].0,
        before[0].0,
        "the idle connection has the path that it had"
    );
    // Losses may have cut the busy path's window below the idle one's; 2 MB do not leave it as it was.
    assert_ne!(
        busy.server_paths.windows()[0].1,
        idle.server_paths.windows()[0].1
    );
    busy.client.close(0u32.into(), b"");
    carry(&idle.server, &idle.client, 1_000_000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_other_path_goes_on_when_one_is_closed() {
    let pair = Pair::new("xmp");
    let ends = pair.connect().await;
    let second = pair.second_path(&ends.client).await;
    let data = pattern(10_000_000);
    let mut stream = ends.client.open_uni().await.unwrap();
    let (first_half, second_half) = data.split_at(data.len() / 2);
    let sender = async {
        stream.write_all(first_half).await.unwrap();
        second.close().unwrap();
        stream.write_all(second_half).await.unwrap();
        stream.finish().unwrap();
        stream.stopped().await.unwrap();
    };
    let both = async { tokio::join!(sender, receive(&ends.server)) };
    let ((), received) = tokio::time::timeout(Duration::from_secs(15), both)
        .await
        .expect("the data arrives within 15 s");
    assert!(received == data, "what arrived is not what was sent");
    // The closed path leaves its connection when noq drops it, three probe timeouts later.
    let left = async {
        while ends.client_paths.windows().len() > 1 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), left)
        .await
        .expect("the closed path leaves within 5 s");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_controller_that_is_accepted_carries_a_megabyte() {
    let mut carried = 0;
    for entry in registry() {
        if Coupled::with_defaults(entry.name).is_err() {
            continue;
        }
        println!("{}", entry.name);
        let pair = Pair::new(entry.name);
        let ends = pair.connect().await;
        let _second = pair.second_path(&ends.client).await;
        carry(&ends.client, &ends.server, 1_000_000).await;
        assert_eq!(ends.client_paths.windows().len(), 2, "{}", entry.name);
        carried += 1;
    }
    assert!(carried > 5, "{carried} controllers were accepted");
}
