//! The folders in which loaded controllers outlive the command that loaded them.
//!
//! Each has a folder of its name in the BPF file system, with pins of its link and its maps. Whatever of
//! these is there belongs to Pathweave, complete or not: a crash half-way leaves no more than `unload` removes.

use crate::own_command::own_command;
use crate::{Failure, folders};
use rustix::fs::{FlockOperation, StatFs, flock, statfs};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};
use std::fs::{self, DirBuilder, File, Metadata};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{io, thread};

const BPF_FILE_SYSTEM: &str = "/sys/fs/bpf";
const BPF_FS_MAGIC: i64 = 0xcafe_4a11;
/// How long another process may take to load, replace or unload a controller.
const PATIENCE: Duration = Duration::from_secs(20);
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);
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

/// Makes the folder of a controller that is about to be pinned, and claims it.
///
/// # Errors
/// When there is one already, or none can be made.
pub fn make_folder(kernel_name: &str) -> Result<(PathBuf, Claim), Failure> {
    mount_bpf_file_system()?;
    let folder = folder(kernel_name);
    let cannot =
        |error: io::Error| Failure::new(format!("cannot make {}: {error}", folder.display()));
    loop {
        folders::make(Path::new(ROOT))?;
        match DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(already_loaded(kernel_name));
            }
            // Who unloads the last controller removes the folder of all.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(cannot(error)),
        }
        // Somebody who unloads it may have been quicker, and has removed it.
        if let Some(claim) = claim(kernel_name)? {
            return Ok((folder, claim));
        }
    }
}

/// The right of one process to change a controller's pins, until it goes.
pub struct Claim {
    _folder: File,
}

/// Claims a controller's folder, once no other process does; none if it is not there then.
///
/// # Errors
/// When another process keeps it, or it may not be looked at.
pub fn claim(kernel_name: &str) -> Result<Option<Claim>, Failure> {
    if !folders::check(Path::new(ROOT))? {
        return Ok(None);
    }
    let path = folder(kernel_name);
    let begin = Instant::now();
    loop {
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(folders::cannot("open", &path, &error)),
        };
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            if is_at(&path, &file) {
                return Ok(Some(Claim { _folder: file }));
            }
        } else if begin.elapsed() > PATIENCE {
            return Err(Failure::new(format!(
                "another process has been changing {kernel_name} for {} s",
                PATIENCE.as_secs()
            )));
        } else {
            thread::sleep(BETWEEN_LOOKS);
        }
    }
}

/// Whether a file that was opened is still what the path leads to: whoever unloads a controller removes its folder.
fn is_at(path: &Path, file: &File) -> bool {
    let same = |a: &Metadata, b: &Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    let both = fs::metadata(path).ok().zip(file.metadata().ok());
    both.is_some_and(|(path, file)| same(&path, &file))
}

/// What a look at a controller's pins can rely on.
pub enum Stillness {
    /// Nobody changes them while this lives.
    Kept { _folder: File },
    /// Another process is loading, replacing or unloading the controller.
    Changing,
    /// There are none.
    NoPins,
}

/// Keeps a controller's pins as they are, unless another process is changing them.
///
/// # Errors
/// When its folder may not be opened.
pub fn keep_still(kernel_name: &str) -> Result<Stillness, Failure> {
    let path = folder(kernel_name);
    loop {
        let folder = match File::open(&path) {
            Ok(folder) => folder,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Stillness::NoPins),
            Err(error) => return Err(folders::cannot("open", &path, &error)),
        };
        match flock(&folder, FlockOperation::NonBlockingLockShared) {
            Err(Errno::WOULDBLOCK) => return Ok(Stillness::Changing),
            _ if is_at(&path, &folder) => return Ok(Stillness::Kept { _folder: folder }),
            // It was unloaded between the two, and may be loaded again.
            _ => {}
        }
    }
}

/// That a controller of this name is there.
pub fn already_loaded(kernel_name: &str) -> Failure {
    Failure::refused(format!("{kernel_name} is loaded already")).hint(format!(
        "{} removes it",
        own_command(&format!("kernel unload {kernel_name}"))
    ))
}

/// The names of all that have pins, in order.
///
/// # Errors
/// When they may not be looked at, or the folder cannot be trusted.
pub fn loaded() -> Result<Vec<String>, Failure> {
    let root = Path::new(ROOT);
    if !folders::check(root)? {
        return Ok(Vec::new());
    }
    let entries = match fs::read_dir(root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(|error| folders::cannot("look into", root, &error))?,
    };
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    Ok(names)
}

/// Whether the BPF file system is where systems have it, as this process sees it.
pub fn has_file_system() -> bool {
    statfs(BPF_FILE_SYSTEM).is_ok_and(|stat: StatFs| stat.f_type == BPF_FS_MAGIC)
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
    for entry in fs::read_dir(&folder).map_err(cannot)?.flatten() {
        match fs::remove_file(entry.path()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(cannot(error)),
            _ => {}
        }
    }
    fs::remove_dir(&folder).map_err(cannot)?;
    // Not while others are left, or another process is quicker.
    let _ = fs::remove_dir(ROOT);
    Ok(())
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

/// The machine's first mount namespace, in kernels that give it a fixed number (`MNT_NS_INIT_INO`). All others have higher
/// numbers, from 0xf0000000 on.
const FIRST_MOUNT_NAMESPACE: &str = "mnt:[4026531832]";

/// Whether what this process mounts is not there for the machine's first process.
fn has_own_mounts() -> bool {
    let of = |process: &str| fs::read_link(format!("/proc/{process}/ns/mnt"));
    let own = of("self");
    // A root with fewer capabilities than the first process may not look at it.
    if own
        .as_ref()
        .is_ok_and(|own| own.as_os_str() == FIRST_MOUNT_NAMESPACE)
    {
        return false;
    }
    // One that cannot be read counts as another one.
    !matches!((own, of("1")), (Ok(own), Ok(first)) if own == first)
}

/// Mounts the BPF file system where systems have it, if it is not there.
fn mount_bpf_file_system() -> Result<(), Failure> {
    if has_file_system() {
        return Ok(());
    }
    if has_own_mounts() {
        return Err(Failure::refused(format!(
            "there is no BPF file system at {BPF_FILE_SYSTEM} in this mount namespace; in one of its own a controller would go when its last process ends"
        ))
        .hint(format!(
            "load it outside of `ip netns exec`: it serves all network namespaces; if you are outside already, mount the file system first: `mount -t bpf -o mode=0755 bpf {BPF_FILE_SYSTEM}`"
        )));
    }
    // Without a mode it would be 1777, and anybody could make folders in it.
    mount(
        c"bpf",
        BPF_FILE_SYSTEM,
        c"bpf",
        MountFlags::empty(),
        Some(c"mode=0755"),
    )
    .map_err(|error| {
        Failure::refused(format!(
            "there is no BPF file system at {BPF_FILE_SYSTEM}, and none can be mounted: {error}"
        ))
        .hint("mount -t bpf bpf /sys/fs/bpf")
    })
}
