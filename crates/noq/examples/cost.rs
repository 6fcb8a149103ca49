//! What an acknowledgement costs: `cargo run -p pathweave-noq --example cost`.
//!
//! noq does not let others make an `RttEstimator`, which its `Controller::on_ack` takes and pathweave-noq ignores. So the calls
//! are the ones that pathweave-noq makes of `pathweave_control::Connection`, each under a lock of its own, as there.

use pathweave_control::{Acknowledged, Connection, PathId, Start, registry};
use pathweave_noq::Coupled;
use pathweave_units::{Bytes, Time};
use std::error::Error;
use std::hint::black_box;
use std::sync::{Arc, Mutex};
use std::time::Instant;

const ACKNOWLEDGEMENTS: u64 = 1_000_000;
const PATHS: u64 = 2;
const PACKET: Bytes = Bytes::new(1200);
/// Each path sends a packet this often, in nanoseconds, and has it acknowledged 10 packets later.
const INTERVAL: u64 = 10_000;
const IN_FLIGHT: u64 = 10 * PATHS;

fn nanoseconds_each(name: &str) -> Result<f64, Box<dyn Error>> {
    let mut connection = Connection::named(name, &[], Start::default())?;
    for path in 0..PATHS {
        connection
            .open(PathId(path), PACKET, Time::ZERO)
            .expect("the number of a path is new");
    }
    let shared = Arc::new(Mutex::new(connection));
    let lock = || shared.lock().expect("nothing panics under it");
    // The packet of this number is sent on one path after another.
    let path = |number| PathId(number % PATHS);
    let sent = |number| Time::from_nanos(number / PATHS * INTERVAL);
    for number in 0..IN_FLIGHT {
        lock().on_packet_sent(path(number), PACKET, sent(number));
    }
    let begin = Instant::now();
    for number in 0..ACKNOWLEDGEMENTS {
        let next = number + IN_FLIGHT;
        lock().on_packet_acked(path(number), PACKET, sent(number));
        let acknowledged = Acknowledged {
            now: sent(next),
            rtt: Some(Time::from_nanos(IN_FLIGHT / PATHS * INTERVAL)),
            ..Acknowledged::default()
        };
        lock().on_ack(path(number), &acknowledged);
        lock().on_window_limited(path(number));
        black_box(lock().window(path(number)));
        lock().on_packet_sent(path(next), PACKET, sent(next));
    }
    Ok(begin.elapsed().as_secs_f64() * 1e9 / ACKNOWLEDGEMENTS as f64)
}

fn main() -> Result<(), Box<dyn Error>> {
    for entry in registry() {
        if Coupled::with_defaults(entry.name).is_ok() {
            let nanoseconds = nanoseconds_each(entry.name)?;
            println!("{:<12} {nanoseconds:6.0} ns", entry.name);
        }
    }
    Ok(())
}
