//! The compiled controllers, as `build.rs` left them.

/// The eBPF object of a controller, or none if it has no counterpart in the kernel.
pub fn of(controller: &str) -> Option<&'static [u8]> {
    OBJECTS
        .iter()
        .find(|(name, _)| *name == controller)
        .map(|(_, object)| *object)
}

/// The names of the controllers that can be loaded, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    OBJECTS.iter().map(|(name, _)| *name)
}

/// The walker over sockets.
pub const SOCKETS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sockets.bpf.o"));

/// What gives a control group's sockets a control.
pub const CGROUP: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/cgroup.bpf.o"));

include!(concat!(env!("OUT_DIR"), "/objects.rs"));
