//! What Pathweave has in the kernel.

use libbpf_rs::query::{LinkInfoIter, MapInfoIter, ProgInfoIter};
use std::fs;
use std::path::Path;

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
                .filter(|map| ["control", "connections"].contains(&&*map.name.to_string_lossy()))
                .count(),
            links: LinkInfoIter::default().count(),
            controls: controls.split_whitespace().map(str::to_owned).collect(),
            pins: Path::new("/sys/fs/bpf/pathweave").exists(),
        }
    }

    /// The kernel frees programs and maps after those that might still run them: waits until it is as before.
    pub fn assert_is_again(&self) {
        let begin = std::time::Instant::now();
        loop {
            let now = Inventory::take();
            if now == *self {
                return;
            }
            assert!(
                begin.elapsed().as_secs() < 20,
                "left behind: {now:?}, before: {self:?}"
            );
            std::thread::yield_now();
        }
    }
}
