//! The network namespaces of this machine.

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::thread;

/// A network namespace, by a file that leads to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// What people call it: the name that `ip netns` shows, or a process in it; none for the caller's own.
    pub name: Option<String>,
    /// Its inode number.
    pub inode: u64,
    file: PathBuf,
}

impl Namespace {
    /// Moves the calling thread there.
    ///
    /// # Errors
    /// When it has ended, or without CAP_SYS_ADMIN.
    pub fn enter(&self) -> io::Result<()> {
        let file = File::open(&self.file)?;
        Ok(move_into_link_name_space(
            file.as_fd(),
            Some(LinkNameSpaceType::Network),
        )?)
    }
}

/// Runs `look` in the network namespace of the machine's first process, or in the caller's where that may not be entered.
pub fn in_first<T: Send>(look: impl FnOnce() -> T + Send) -> thread::Result<T> {
    let first = File::open("/proc/1/ns/net");
    let enter = || {
        let first = first.ok()?;
        move_into_link_name_space(first.as_fd(), Some(LinkNameSpaceType::Network)).ok()
    };
    // The thread changes its namespace, and ends.
    let on_a_thread = || {
        let _ = enter();
        look()
    };
    thread::scope(|scope| scope.spawn(on_a_thread).join())
}

/// All that have a name or a process, each once, the caller's own first.
pub fn all() -> Vec<Namespace> {
    let mut found: BTreeMap<u64, Namespace> = BTreeMap::new();
    let mut add = |name: Option<String>, file: PathBuf| {
        if let Ok(about) = fs::metadata(&file) {
            let inode = about.ino();
            found
                .entry(inode)
                .or_insert(Namespace { name, inode, file });
        }
    };
    let own = PathBuf::from("/proc/self/ns/net");
    let own_inode = fs::metadata(&own).map_or(0, |about| about.ino());
    add(None, own);
    for entry in fs::read_dir("/run/netns").into_iter().flatten().flatten() {
        add(
            Some(entry.file_name().to_string_lossy().into_owned()),
            entry.path(),
        );
    }
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_string_lossy().into_owned();
        if pid.bytes().all(|byte| byte.is_ascii_digit()) {
            add(Some(format!("process {pid}")), entry.path().join("ns/net"));
        }
    }
    let mut all: Vec<Namespace> = found.into_values().collect();
    all.sort_by_key(|namespace| (namespace.inode != own_inode, namespace.name.clone()));
    all
}
