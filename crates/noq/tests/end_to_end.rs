//! Real noq endpoints over loopback: client and server are both coupled.

use noq::{
    ClientConfig, Connection, Endpoint, Path, PathError, PathEvent, PathEvents, PathId, PathStatus,
    ServerConfig, TransportConfig,
};

use pathweave_control::registry;
use pathweave_noq::{Coupled, PathHandle, Shared};
use rustls::pki_types::PrivatePkcs8KeyDer;
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::sync::watch;
use tokio_stream::StreamExt;

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
    /// Changes when an end has passed on what noq told of its paths.
    told: watch::Sender<()>,
}

/// Gives a path this status in noq and in the coupling.
fn set_status(connection: &Connection, path: PathId, status: PathStatus) {
    if let Some(path) = connection.path(path) {
        // A path that is being given up needs no status.
        let _ = path.set_status(status);
    }
    if let Some(path) = handle(connection, path) {
        path.set_status(status);
    }
}

fn handle(connection: &Connection, path: PathId) -> Option<PathHandle> {
    PathHandle::of(&*connection.congestion_state(path)?)
}

/// What a user of noq does with what it tells of paths.
async fn follow(connection: Connection, mut events: PathEvents, told: watch::Sender<()>) {
    while let Some(event) = events.next().await {
        match event.expect("no event is left out") {
            PathEvent::Abandoned { id, .. } => {
                if let Some(path) = handle(&connection, id) {
                    path.abandon();
                }
            }
            // The server follows the client. If each end followed the other, they could chase each other's last choice.
            PathEvent::RemoteStatus { id, status, .. } if connection.side().is_server() => {
                set_status(&connection, id, status);
            }
            _ => {}
        }
        told.send_replace(());
    }
}

impl Connected {
    /// Waits until what noq tells of paths has made it so.
    async fn told_until(&self, what: &str, is_so: impl Fn() -> bool) {
        let mut told = self.told.subscribe();
        let waiting = told.wait_for(|()| is_so());
        match tokio::time::timeout(PATIENCE, waiting).await {
            Ok(done) => drop(done.expect("the ends are there")),
            Err(_) => panic!("not within {PATIENCE:?}: {what}"),
        }
    }

    /// Exchanges a byte again and again until it is so: acknowledgements and connection ids come with it.
    async fn exchange_until(&self, what: &str, is_so: impl Fn() -> bool) {
        let exchanging = async {
            while !is_so() {
                carry(&self.client, &self.server, 1).await;
            }
        };
        let done = tokio::time::timeout(PATIENCE, exchanging).await;
        assert!(done.is_ok(), "not within {PATIENCE:?}: {what}");
    }

    /// Is done when noq has dropped a path of the client.
    fn discarded(&self, path: PathId) -> impl Future<Output = ()> + use<> {
        let mut events = self.client.path_events();
        async move {
            let gone = async {
                while let Some(event) = events.next().await {
                    let event = event.expect("no event is left out");
                    if matches!(event, PathEvent::Discarded { id, .. } if id == path) {
                        return;
                    }
                }
                panic!("the connection has ended");
            };
            let done = tokio::time::timeout(PATIENCE, gone).await;
            assert!(done.is_ok(), "noq still has path {path} after {PATIENCE:?}");
        }
    }
}

/// How long anything that is waited for may take.
const PATIENCE: Duration = Duration::from_secs(15);

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
        let client = client.unwrap();
        let (told, _) = watch::channel(());
        for end in [&client, &server] {
            tokio::spawn(follow(end.clone(), end.path_events(), told.clone()));
        }
        Connected {
            client,
            server,
            client_paths,
            server_paths,
            told,
        }
    }

    /// A second path, over another address of the server. It is coupled.
    async fn second_path(&self, ends: &Connected) -> Path {
        let address = self.address([127, 0, 0, 2]);
        let opened = async {
            // The peer's connection ids for another path come a little after the handshake, and noq does not tell when.
            loop {
                match ends.client.open_path(address, PathStatus::Available).await {
                    Ok(path) => break path,
                    Err(PathError::RemoteCidsExhausted | PathError::MaxPathIdReached) => {
                        carry(&ends.client, &ends.server, 1).await;
                    }
                    Err(error) => panic!("a second path: {error}"),
                }
            }
        };
        let path = tokio::time::timeout(PATIENCE, opened)
            .await
            .expect("a second path opens in time");
        ends.exchange_until("both paths are acknowledged at both ends", || {
            [&ends.client_paths, &ends.server_paths].map(|paths| paths.coupled().len()) == [2, 2]
        })
        .await;
        path
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
    let ((), received) = tokio::time::timeout(PATIENCE, both)
        .await
        .expect("the data arrives in time");
    assert!(received == data, "what arrived is not what was sent");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn data_arrives_whole_over_two_paths_in_both_directions() {
    let pair = Pair::new("lia");
    let ends = pair.connect().await;
    let second = pair.second_path(&ends).await;
    let first = ends.client.path(PathId::ZERO).unwrap();
    carry(&ends.client, &ends.server, 2_000_000).await;
    // How two loopback paths share the data is a matter of chance. While one is a backup, the other carries all of it.
    for (carrier, other) in [(&first, &second), (&second, &first)] {
        set_status(&ends.client, carrier.id(), PathStatus::Available);
        set_status(&ends.client, other.id(), PathStatus::Backup);
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
    let _second = pair.second_path(&busy).await;
    let before = idle.server_paths.windows();
    carry(&busy.server, &busy.client, 2_000_000).await;
    assert_eq!(busy.server_paths.windows().len(), 2);
    assert_eq!(idle.server_paths.windows().len(), 1);
    assert_eq!(
        idle.server_paths.windows()[0].0,
        before[0].0,
        "the idle connection has the path that it had"
    );
    // How two loopback paths share the data is a matter of chance, but 2 MB do not leave both windows as they were.
    let [(_, idle_window)] = idle.server_paths.windows()[..] else {
        panic!("the idle connection has one path");
    };
    let busy_windows = busy.server_paths.windows();
    assert!(
        busy_windows
            .iter()
            .any(|&(_, window)| window != idle_window),
        "{busy_windows:?} and {idle_window:?}"
    );
    busy.client.close(0u32.into(), b"");
    carry(&idle.server, &idle.client, 1_000_000).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_other_path_goes_on_when_one_is_closed() {
    let pair = Pair::new("xmp");
    let ends = pair.connect().await;
    let second = pair.second_path(&ends).await;
    let data = pattern(10_000_000);
    let discarded = ends.discarded(second.id());
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
    let ((), received) = tokio::time::timeout(PATIENCE, both)
        .await
        .expect("the data arrives in time");
    assert!(received == data, "what arrived is not what was sent");
    discarded.await;
    assert_eq!(ends.client_paths.windows().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_stands_by_at_both_ends_until_there_is_nothing_else() {
    let pair = Pair::new("lia");
    let ends = pair.connect().await;
    let second = pair.second_path(&ends).await;
    let [first_alone, second_alone] = {
        let numbers = [PathId::ZERO, second.id()];
        let at = |end| numbers.map(|path| handle(end, path).expect("the path is there").id());
        let (client, server) = (at(&ends.client), at(&ends.server));
        [0, 1].map(|path| [vec![client[path]], vec![server[path]]])
    };
    let coupled = || [ends.client_paths.coupled(), ends.server_paths.coupled()];
    set_status(&ends.client, second.id(), PathStatus::Backup);
    ends.told_until("the second path stands by", || coupled() == first_alone)
        .await;
    carry(&ends.client, &ends.server, 1_000_000).await;
    carry(&ends.server, &ends.client, 1_000_000).await;
    assert_eq!(coupled(), first_alone, "data changes nothing about it");
    set_status(&ends.client, second.id(), PathStatus::Available);
    let has_both = || coupled().iter().all(|paths| paths.len() == 2);
    ends.told_until("both paths are coupled", has_both).await;
    set_status(&ends.client, second.id(), PathStatus::Backup);
    ends.told_until("it stands by again", || coupled() == first_alone)
        .await;
    // With the only other path gone the backup is all there is.
    let first = ends.client.path(PathId::ZERO).unwrap();
    first.close().unwrap();
    ends.told_until("the backup takes over", || coupled() == second_alone)
        .await;
    carry(&ends.client, &ends.server, 1_000_000).await;
    assert_eq!(coupled(), second_alone);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_path_that_is_given_up_does_not_count_while_noq_keeps_it() {
    let pair = Pair::new("lia");
    let ends = pair.connect().await;
    let second = pair.second_path(&ends).await;
    let mut stream = ends.client.open_uni().await.unwrap();
    stream.write_all(&pattern(500_000)).await.unwrap();
    // noq keeps the controller for three probe timeouts, and this test for as long as it needs.
    let kept = ends.client.congestion_state(second.id());
    assert!(kept.is_some());
    second.close().unwrap();
    let other = handle(&ends.client, PathId::ZERO).unwrap().id();
    ends.told_until("only the other path is coupled", || {
        ends.client_paths.coupled() == [other]
    })
    .await;
    drop(kept);
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
        let _second = pair.second_path(&ends).await;
        carry(&ends.client, &ends.server, 1_000_000).await;
        assert_eq!(ends.client_paths.windows().len(), 2, "{}", entry.name);
        carried += 1;
    }
    assert!(carried > 5, "{carried} controllers were accepted");
}
