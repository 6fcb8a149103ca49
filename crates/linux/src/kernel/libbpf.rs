//! What all that asks libbpf needs.

use super::pins;
use libbpf_rs::Link;
use libbpf_rs::query::LinkTypeInfo;

/// Keeps libbpf from writing to the terminal: what it says comes with errors. `PATHWEAVE_LIBBPF` lets it.
pub(super) fn quiet_libbpf() {
    if std::env::var_os("PATHWEAVE_LIBBPF").is_none() {
        libbpf_rs::set_print(None);
    }
}

/// The map that holds the registered control, if its link was pinned.
pub(super) fn registered_map(kernel_name: &str) -> Option<u32> {
    quiet_libbpf();
    let link = Link::open(pins::folder(kernel_name).join(pins::LINK)).ok()?;
    map_of(&link)
}

/// The map that holds what a link has registered.
pub(super) fn map_of(link: &Link) -> Option<u32> {
    match link.info().ok()?.info {
        LinkTypeInfo::StructOps(about) => Some(about.map_id),
        _ => None,
    }
}
