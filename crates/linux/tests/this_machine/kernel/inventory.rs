//! What Pathweave has in the kernel.

use libbpf_rs::query::{LinkInfoIter, MapInfoIter, ProgInfoIter};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(20);

/// Programs and maps of controllers, struct_ops links, and pins.
#[derive(Debug, PartialEq, Eq)]
pub struct Inventory {
    programs: usize,
    maps: usize,
    links: usize,
    controls: Vec<String>,
    pins: bool,
}

impl Inventory {
    pub fn take() -> Inventory {
        let ours = |name: &str| name.starts_with("pathweave_") || name == "find_sockets";
        let programs = ProgInfoIter::default();
        let controls = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        let controls = controls.expect("the kernel lists its controls");
        Inventory {
            programs: programs
                .filter(|program| ours(&program.name.to_string_lossy()))
                .count(),
            maps: MapInfoIter::default()
                .filter(|map| {
                    ["control", "connections", "totals"].contains(&&*map.name.to_string_lossy())
                })
                .count(),
            links: LinkInfoIter::default().count(),
            controls: controls.split_whitespace().map(str::to_owned).collect(),
            pins: ["pathweave", "pathweave_cgroups"]
                .iter()
                .any(|folder| Path::new("/sys/fs/bpf").join(folder).exists()),
        }
    }

    /// What is there before a test. Where nothing is pinned that is nothing, once the kernel has freed what ran before.
    pub fn before() -> Inventory {
        wait_for(|| {
            let now = Inventory::take();
            let is_settled = now.pins || (now.programs, now.maps) == (0, 0);
            is_settled.then_some(now).ok_or(())
        })
        .expect("nobody else loads controllers meanwhile")
    }

    /// Waits until it is so again.
    pub fn assert_is_again(&self) {
        let again = wait_for(|| {
            let now = Inventory::take();
            if now == *self { Ok(()) } else { Err(now) }
        });
        if let Err(now) = again {
            panic!("left behind: {now:?}, before: {self:?}");
        }
    }
}

/// The kernel frees programs and maps after those that might still run them, and has no event for it.
fn wait_for<T, E>(look: impl Fn() -> Result<T, E>) -> Result<T, E> {
    let begin = Instant::now();
    loop {
        let seen = look();
        if seen.is_ok() || begin.elapsed() > PATIENCE {
            return seen;
        }
        std::thread::yield_now();
    }
}
