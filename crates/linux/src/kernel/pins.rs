//! The folders in which loaded controllers outlive the command that loaded them.
//!
//! Each has a folder of its name in the BPF file system, with pins of its link and its maps. Whatever of
//! these is there belongs to Pathweave, complete or not: a crash half-way leaves no more than `unload` removes.

use crate::Failure;
use rustix::fs::{StatFs, statfs};
use rustix::mount::{MountFlags, mount};
use std::path::{Path, PathBuf};
use std::{fs, io};

const BPF_FILE_SYSTEM: &str = "/sys/fs/bpf";
const ROOT: &str = "/sys/fs/bpf/pathweave";
/// The pin that keeps the controller registered.
pub const LINK: &str = "link";
/// The pin of the map of its connections.
pub const CONNECTIONS: &str = "connections";
/// What the pin of a map that says what a program was loaded with begins with.
const ABOUT: &str = "about-";
/// The pin of the map of what it has done since it was loaded.
pub const TOTALS: &str = "totals";

/// The pin of the map that says what a program was loaded with, by the number of the map that holds its hooks. What the
/// link holds says which one counts, so that a program is replaced in one step.
pub fn about(control: u32) -> String {
    format!("{ABOUT}{control}")
}

/// The numbers of all that have such a pin. More than one: a program is being replaced, or that was interrupted.
pub fn abouts(kernel_name: &str) -> Vec<u32> {
    let entries = fs::read_dir(folder(kernel_name)).into_iter().flatten();
    entries
        .filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            name.strip_prefix(ABOUT)?.parse().ok()
        })
        .collect()
}

/// The folder of a loaded controller.
pub fn folder(kernel_name: &str) -> PathBuf {
    Path::new(ROOT).join(kernel_name)
}

/// Makes the folder of a controller that is about to be pinned.
///
/// # Errors
/// When there is one already, or none can be made.
pub fn make_folder(kernel_name: &str) -> Result<PathBuf, Failure> {
    mount_bpf_file_system()?;
    let folder = folder(kernel_name);
    let cannot =
        |error: io::Error| Failure::new(format!("cannot make {}: {error}", folder.display()));
    fs::create_dir_all(ROOT).map_err(cannot)?;
    match fs::create_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(already_loaded(kernel_name))
        }
        other => other.map(|()| folder.clone()).map_err(cannot),
    }
}

/// That a controller of this name is there.
pub fn already_loaded(kernel_name: &str) -> Failure {
    Failure::refused(format!("{kernel_name} is loaded already")).hint(format!(
        "`pathweave kernel unload {kernel_name}` removes it"
    ))
}

/// The names of all that are loaded, in order.
pub fn loaded() -> Vec<String> {
    let entries = fs::read_dir(ROOT).into_iter().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

/// Removes a controller's pins, and the folder of all when it was the last.
///
/// # Errors
/// When the file system does not let go of them.
pub fn remove(kernel_name: &str) -> Result<(), Failure> {
    let folder = folder(kernel_name);
    let cannot =
        |error: io::Error| Failure::new(format!("cannot remove {}: {error}", folder.display()));
    remove_link(kernel_name)?;
    // A command that replaces the program may add a pin meanwhile.
    for turn in 0.. {
        for entry in fs::read_dir(&folder).map_err(cannot)?.flatten() {
            match fs::remove_file(entry.path()) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(cannot(error)),
                _ => {}
            }
        }
        match fs::remove_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty && turn < 100 => {}
            other => {
                other.map_err(cannot)?;
                break;
            }
        }
    }
    let others = fs::read_dir(ROOT).is_ok_and(|mut left| left.next().is_some());
    if others {
        Ok(())
    } else {
        fs::remove_dir(ROOT).map_err(cannot)
    }
}

/// Removes the pin that keeps a controller registered, if it is there.
///
/// # Errors
/// When the file system does not let go of it.
pub fn remove_link(kernel_name: &str) -> Result<(), Failure> {
    let pin = folder(kernel_name).join(LINK);
    match fs::remove_file(&pin) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Failure::new(format!(
            "cannot remove {}: {error}",
            pin.display()
        ))),
        _ => Ok(()),
    }
}

/// Whether what this process mounts is not there for the machine's first process.
fn has_own_mounts() -> bool {
    let of = |process: &str| fs::read_link(format!("/proc/{process}/ns/mnt"));
    // One that cannot be read counts as another one.
    !matches!((of("self"), of("1")), (Ok(own), Ok(first)) if own == first)
}

/// Mounts the BPF file system where systems have it, if it is not there.
fn mount_bpf_file_system() -> Result<(), Failure> {
    const BPF_FS_MAGIC: i64 = 0xcafe_4a11;
    let is_there = |stat: StatFs| stat.f_type == BPF_FS_MAGIC;
    if statfs(BPF_FILE_SYSTEM).is_ok_and(is_there) {
        return Ok(());
    }
    if has_own_mounts() {
        return Err(Failure::refused(format!(
            "there is no BPF file system at {BPF_FILE_SYSTEM} in this mount namespace; in one of its own a controller would go when its last process ends"
        ))
        .hint("load it outside of `ip netns exec`: it serves all network namespaces"));
    }
    mount(c"bpf", BPF_FILE_SYSTEM, c"bpf", MountFlags::empty(), None).map_err(|error| {
        Failure::refused(format!(
            "there is no BPF file system at {BPF_FILE_SYSTEM}, and none can be mounted: {error}"
        ))
        .hint("mount -t bpf bpf /sys/fs/bpf")
    })
}
