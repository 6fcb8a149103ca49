//! Round-trip and completion times of an empty fabric, against figures worked out by hand.

use pathweave_fabric::ideal::ideal_fct_of_packets;
use pathweave_fabric::path::pinned_path;
use pathweave_fabric::routing::{PathRequest, Router, RoutingKind};
use pathweave_fabric::topology::{Delay, FatTree, ParallelPaths, PerLayer};
use pathweave_fabric::{Fabric, LinkId, PacketSizes, base_rtt, ideal_fct};
use pathweave_units::{Bytes, Rate, Time};

fn micros(micros: u64) -> Delay {
    Delay::Fixed(Time::from_micros(micros))
}

fn published_fat_tree() -> Fabric {
    let options = FatTree {
        k: 8,
        hosts_per_edge: None,
        rate: PerLayer::same(Rate::from_gbps(1)),
        delay: PerLayer {
            rack: micros(20),
            aggregation: micros(30),
            core: micros(40),
        },
    };
    options.build(1).unwrap()
}

fn paths(fabric: &Fabric, destination: u32) -> (Vec<LinkId>, Vec<LinkId>) {
    let router = Router::new(fabric, RoutingKind::TwoLevel, 1).unwrap();
    let request = PathRequest {
        source: 0,
        destination,
        connection: 0,
        subflow: 0,
        pinned: None,
    };
    let (mut data, mut ack) = (Vec::new(), Vec::new());
    router.data_path(&request, &mut data);
    router.ack_path(&request, &data, &mut ack);
    (data, ack)
}

#[test]
fn round_trips_of_the_published_fat_tree() {
    // Published: 105 to 435 us.
    let fabric = published_fat_tree();
    let rtt = |destination| {
        let (data, ack) = paths(&fabric, destination);
        base_rtt(&fabric, &data, &ack, Bytes::new(1500), Bytes::new(40))
    };
    // 2 hops: 4 x 20 us, 2 x 12 us, 2 x 0.32 us.
    assert_eq!(rtt(1), Time::from_nanos(104_640));
    // 4 hops: 2 x 2 x (20 + 30) us, 4 x 12.32 us.
    assert_eq!(rtt(4), Time::from_nanos(249_280));
    // 6 hops: 2 x 2 x (20 + 30 + 40) us, 6 x 12.32 us.
    assert_eq!(rtt(127), Time::from_nanos(433_920));
}

#[test]
fn completion_on_one_path() {
    let fabric = published_fat_tree();
    let (data, _) = paths(&fabric, 1);
    let packets = PacketSizes {
        payload: 1460,
        header: 40,
    };
    let fct = |size| ideal_fct(&fabric, &[&data], 1, Bytes::new(size), packets);
    // One packet of 1040 B over two links: 2 x (20 us + 8.32 us).
    assert_eq!(fct(1000), Time::from_nanos(56_640));
    // A hundred full packets: 100 x 12 us on the first link, the last one's 12 us on the second.
    assert_eq!(fct(146_000), Time::from_micros(1_200 + 12 + 40));
}

#[test]
fn completion_on_several_paths() {
    let options = ParallelPaths {
        pairs: 1,
        rates: vec![Rate::from_mbps(250), Rate::from_mbps(500)],
        delays: vec![micros(10), micros(30)],
        host_rate: Rate::from_gbps(1),
        host_delay: micros(1),
    };
    let fabric = options.build(1).unwrap();
    let first = pinned_path(&fabric, 0, 1, &["A1", "B1"]).unwrap();
    let second = pinned_path(&fabric, 0, 1, &["A2", "B2"]).unwrap();
    let packets = PacketSizes {
        payload: 1460,
        header: 40,
    };
    let size = Bytes::new(1_460_000);
    let fct = |paths: &[&[LinkId]]| ideal_fct(&fabric, paths, paths.len(), size, packets);
    // 1,500,000 B on the wire: 48 ms at 250 Mbps, 16 ms at both together. The nearer path adds
    // 12 us of delay and a packet's 12 us on each of the two fast links.
    assert_eq!(fct(&[&first]), Time::from_micros(48_000 + 36));
    assert_eq!(fct(&[&first, &second]), Time::from_micros(16_000 + 36));
    // Two subflows on one path share its bottleneck.
    assert_eq!(fct(&[&first, &first]), fct(&[&first]));
}

#[test]
fn completion_of_packets_that_differ() {
    let options = ParallelPaths {
        pairs: 1,
        rates: vec![Rate::from_mbps(500), Rate::from_mbps(500)],
        delays: vec![micros(10), micros(30)],
        host_rate: Rate::from_gbps(1),
        host_delay: micros(1),
    };
    let fabric = options.build(1).unwrap();
    let first = pinned_path(&fabric, 0, 1, &["A1", "B1"]).unwrap();
    let second = pinned_path(&fabric, 0, 1, &["A2", "B2"]).unwrap();
    let fct = |paths: &[&[LinkId]], sizes: &[u64]| {
        ideal_fct_of_packets(
            &fabric,
            paths,
            paths.len(),
            sizes.iter().copied().map(Bytes::new),
        )
    };
    // 1000, 125 and 500 B: 8, 1 and 4 us on the fast links, 16, 2 and 8 us on the slow one, which sends
    // from 9 us on without a break, until 35 us. The last one leaves it 10 us later at its other end,
    // long after those before it, and takes 4 us and 1 us more.
    assert_eq!(
        fct(&[&first], &[1000, 125, 500]),
        Time::from_micros(35 + 10 + 4 + 1)
    );
    // A small one behind a large one waits for it on the last link too, until 43 us.
    assert_eq!(
        fct(&[&first], &[1000, 125]),
        Time::from_micros(9 + 16 + 10 + 8 + 1 + 1)
    );
    // On two paths: 1125 B at 1 Gbps, then 125 B on the nearer path but for its 2 us at the slow link.
    assert_eq!(
        fct(&[&first, &second], &[1000, 125]),
        Time::from_micros(9 + 12 + 2)
    );
    for count in [1, 2, 50] {
        let packets = PacketSizes {
            payload: 1460,
            header: 40,
        };
        let size = Bytes::new(1460 * count);
        for paths in [&[&first[..]][..], &[&first[..], &second[..]][..]] {
            let alike = fct(paths, &vec![1500; count as usize]);
            assert_eq!(alike, ideal_fct(&fabric, paths, paths.len(), size, packets));
        }
    }
}

#[test]
fn a_flow_that_takes_one_of_several_paths_takes_the_best_for_its_size() {
    let options = ParallelPaths {
        pairs: 1,
        rates: [100, 1000, 500].map(Rate::from_mbps).to_vec(),
        delays: vec![micros(10), micros(500), micros(400)],
        host_rate: Rate::from_gbps(10),
        host_delay: micros(1),
    };
    let fabric = options.build(1).unwrap();
    let path = |names: &[&str]| pinned_path(&fabric, 0, 1, names).unwrap();
    let paths = [["A1", "B1"], ["A2", "B2"], ["A3", "B3"]].map(|names| path(&names));
    let packets = PacketSizes {
        payload: 1460,
        header: 40,
    };
    // Sizes from a packet to a thousand: the nearest path is best for few packets, the fastest for many.
    for (count, best) in [(1, 0), (4, 0), (5, 2), (1000, 1)] {
        let size = Bytes::new(1460 * count);
        let fct = |paths: &[Vec<LinkId>], at_once| {
            let alike = (0..count).map(|_| Bytes::new(1500));
            let one_by_one = ideal_fct_of_packets(&fabric, paths, at_once, alike);
            assert_eq!(
                one_by_one,
                ideal_fct(&fabric, paths, at_once, size, packets)
            );
            one_by_one
        };
        let each = [0, 1, 2].map(|which| fct(&paths[which..=which], 1));
        assert_eq!(fct(&paths, 1), each[best], "{count}: {each:?}");
        assert_eq!(fct(&paths, 1), *each.iter().min().unwrap());
        // With two at a time the bytes go at 1 + 0.5 Gbps, with all at 1.6. The last packet takes 12 us less on the
        // nearest path than it would there alone: two fast links of 1.2 us and 12 us of delay are left.
        let rest = Time::from_nanos(2 * 1_200 + 12_000);
        for (at_once, mbps) in [(2, 1500), (3, 1600), (4, 1600)] {
            if count == 1 {
                assert_eq!(fct(&paths, at_once), each[0], "a packet takes one path");
                continue;
            }
            let wire = Rate::from_mbps(mbps).time_for(Bytes::new(1500 * count));
            assert_eq!(fct(&paths, at_once), wire + rest, "{count} on {at_once}");
        }
    }
}

#[test]
fn several_subflows_share_the_hosts_port() {
    let fabric = published_fat_tree();
    let router = Router::new(&fabric, RoutingKind::TwoLevel, 1).unwrap();
    let mut paths = Vec::new();
    for subflow in 0..4 {
        let request = PathRequest {
            source: 0,
            destination: 127,
            connection: 0,
            subflow,
            pinned: None,
        };
        let mut path = Vec::new();
        router.data_path(&request, &mut path);
        paths.push(path);
    }
    let packets = PacketSizes {
        payload: 1460,
        header: 40,
    };
    let size = Bytes::new(64_000_000);
    // Four subflows through one host port are no quicker than one, but for the bound's last packet,
    // which is taken as alone on its path.
    let one = ideal_fct(&fabric, &paths[..1], 1, size, packets);
    let four = ideal_fct(&fabric, &paths, 4, size, packets);
    let full_packet_over_the_path = Time::from_micros(6 * 12);
    assert!(four <= one && one - four < full_packet_over_the_path);
}
