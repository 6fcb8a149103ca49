//! 20 MB over two loopback paths under one controller: `cargo run --example two_paths -- xmp`.

use noq::{ClientConfig, Endpoint, ServerConfig, TransportConfig};
use noq_proto::{PathId, PathStatus};
use pathweave_noq::Coupled;
use rustls::pki_types::PrivatePkcs8KeyDer;
use std::{error::Error, net::SocketAddr, sync::Arc, time::Duration};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).unwrap_or("xmp".into());
    let coupled = Coupled::with_defaults(&name)?;
    let certificate = rcgen::generate_simple_self_signed(vec!["localhost".into()])?;
    let der = certificate.cert.der().clone();
    let key = PrivatePkcs8KeyDer::from(certificate.signing_key.serialize_der());
    let mut transport = TransportConfig::default();
    transport.max_concurrent_multipath_paths(4);
    let mut server = ServerConfig::with_single_cert(vec![der.clone()], key.into())?;
    server.transport_config(Arc::new(transport.clone()));
    let for_connections = coupled.clone();
    let endpoint = Endpoint::server(server.clone(), "0.0.0.0:0".parse()?)?;
    let port = endpoint.local_addr()?.port();
    let receiver = tokio::spawn(async move {
        let incoming = endpoint.accept().await.expect("a connection comes");
        let config = for_connections.server(&server);
        let connection = incoming
            .accept_with(config)
            .expect("accepted")
            .await
            .expect("connected");
        let mut stream = connection.accept_uni().await.expect("a stream");
        let received = stream.read_to_end(100_000_000).await.expect("data").len();
        connection.closed().await;
        received
    });
    let mut roots = rustls::RootCertStore::empty();
    roots.add(der)?;
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots))?;
    let shared = coupled.connection();
    transport.congestion_controller_factory(shared.clone());
    config.transport_config(Arc::new(transport));
    let client = Endpoint::client("0.0.0.0:0".parse()?)?;
    let first: SocketAddr = format!("127.0.0.1:{port}").parse()?;
    let connection = client.connect_with(config, first, "localhost")?.await?;
    let second: SocketAddr = format!("127.0.0.2:{port}").parse()?;
    // The peer's connection ids for another path come a little after the handshake.
    let mut tries = 0;
    let path = loop {
        match connection.open_path(second, PathStatus::Available).await {
            Ok(path) => break path,
            Err(error) if tries == 500 => return Err(error.into()),
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
        tries += 1;
    };
    let mut stream = connection.open_uni().await?;
    stream.write_all(&vec![7; 20_000_000]).await?;
    stream.finish()?;
    stream.stopped().await?;
    for id in [PathId::ZERO, path.id()] {
        let stats = connection.path_stats(id).ok_or("the path has gone")?;
        println!(
            "path {id}: sent {} bytes, lost {} packets, window {} bytes",
            stats.udp_tx.bytes, stats.lost_packets, stats.cwnd
        );
    }
    connection.close(0u32.into(), b"");
    client.wait_idle().await;
    println!(
        "{name}: received {} bytes over {} paths",
        receiver.await?,
        shared.windows().len()
    );
    Ok(())
}
