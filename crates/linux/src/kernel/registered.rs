//! What the kernel itself has registered, whatever is pinned, and what keeps it there.

use super::{PREFIX, available};
use crate::Failure;
use libbpf_rs::query::{LinkInfoIter, LinkTypeInfo, MapInfoIter};
use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType};
use serde::Serialize;
use std::fs;
use std::path::Path;

/// A process that holds a controller's link or map open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Holder {
    pub pid: u32,
    /// Its name.
    pub command: String,
}

/// The names of Pathweave's controllers that sockets can choose now, in order.
///
/// # Errors
/// When the kernel's list cannot be read here.
pub fn names() -> Result<Vec<String>, Failure> {
    let mut names = available::controls()?;
    names.retain(|name| name.starts_with(PREFIX));
    names.sort();
    Ok(names)
}

/// Whether sockets can choose a controller now.
///
/// # Errors
/// When the kernel's list cannot be read here.
pub fn has(kernel_name: &str) -> Result<bool, Failure> {
    Ok(names()?.iter().any(|name| name == kernel_name))
}

/// The processes that keep a registered controller without a pin. None are found where its link is pinned in a BPF
/// file system that is not to be seen here, or without the right to look.
pub fn holders(kernel_name: &str) -> Vec<Holder> {
    let maps: Vec<u32> = MapInfoIter::default()
        .filter(|map| map.ty == MapType::StructOps && is_of(map.id, kernel_name))
        .map(|map| map.id)
        .collect();
    // One that has no link, only a map, is an attempt that failed, or is on its way out.
    let linked: Vec<u32> = LinkInfoIter::default()
        .filter_map(|link| match link.info {
            LinkTypeInfo::StructOps(about) => Some(about.map_id),
            _ => None,
        })
        .filter(|map| maps.contains(map))
        .collect();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut holders: Vec<Holder> = processes
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            holds(&entry.path(), &linked).then(|| Holder {
                pid,
                command: fs::read_to_string(entry.path().join("comm"))
                    .unwrap_or_default()
                    .trim()
                    .to_owned(),
            })
        })
        .collect();
    holders.sort_by_key(|holder| holder.pid);
    holders
}

/// Whether a map holds the control of this name: it stands in the value with a zero behind it.
fn is_of(map: u32, kernel_name: &str) -> bool {
    let value =
        MapHandle::from_map_id(map).and_then(|map| map.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY));
    let Ok(Some(value)) = value else { return false };
    let name = [kernel_name.as_bytes(), &[0]].concat();
    value
        .chunks(8)
        .enumerate()
        .any(|(word, _)| value[8 * word..].starts_with(&name))
}

/// Whether a process has a link of one of these maps open.
fn holds(process: &Path, maps: &[u32]) -> bool {
    let files = fs::read_dir(process.join("fdinfo")).into_iter().flatten();
    files.flatten().any(|file| {
        let text = fs::read_to_string(file.path()).unwrap_or_default();
        let field = |key: &str| {
            let mut lines = text.lines();
            lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(":\t"))
        };
        field("link_type") == Some("struct_ops")
            && field("map_id")
                .and_then(|id| id.trim().parse().ok())
                .is_some_and(|id: u32| maps.contains(&id))
    })
}
