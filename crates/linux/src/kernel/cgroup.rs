//! Controllers for the sockets of a control group's processes (bpf/cgroup.bpf.c).
//!
//! Each has a pinned link of its own, named by the controller and the control group's number, so that nothing else has to
//! be remembered.

use super::{PREFIX, object, pins, requirements};
use crate::own_command::own_command;
use crate::{Failure, folders};
use libbpf_rs::{Link, Object, ObjectBuilder, ProgramMut};
use rustix::fs::statfs;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const ROOT: &str = "/sys/fs/bpf/pathweave_cgroups";
const CGROUP2_SUPER_MAGIC: i64 = 0x6367_7270;

/// A control group whose sockets get a controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CgroupUse {
    /// The kernel's name of the controller.
    pub kernel_name: String,
    /// The control group's number, which is its folder's inode number.
    pub cgroup: u64,
}

impl CgroupUse {
    fn pin(&self) -> PathBuf {
        Path::new(ROOT).join(format!("{}@{}", self.kernel_name, self.cgroup))
    }

    /// Where the control group is mounted, or its number where it has gone.
    pub fn place(&self) -> String {
        let path = mounts()
            .into_iter()
            .find_map(|root| below(&root, self.cgroup));
        path.map_or_else(
            || format!("control group {}, which has gone", self.cgroup),
            |path| path.display().to_string(),
        )
    }
}

/// All of them, in the order of controllers and numbers.
///
/// # Errors
/// When the folder of their pins cannot be trusted.
pub fn cgroup_uses() -> Result<Vec<CgroupUse>, Failure> {
    folders::check(Path::new(ROOT))?;
    let entries = fs::read_dir(ROOT).into_iter().flatten().flatten();
    let mut all: Vec<CgroupUse> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let (kernel_name, cgroup) = name.split_once('@')?;
            Some(CgroupUse {
                kernel_name: kernel_name.to_owned(),
                cgroup: cgroup.parse().ok()?,
            })
        })
        .collect();
    all.sort_by(|a, b| (&a.kernel_name, a.cgroup).cmp(&(&b.kernel_name, b.cgroup)));
    Ok(all)
}

/// Gives sockets that processes of a control group open from now on a loaded controller.
///
/// # Errors
/// When the controller is not loaded, the folder is not a control group of version 2, or the kernel refuses.
pub fn use_in_cgroup(
    kernel_name: &str,
    needs_ecn: bool,
    path: &Path,
) -> Result<CgroupUse, Failure> {
    requirements::check_rights()?;
    if !pins::loaded()?.iter().any(|name| name == kernel_name) {
        return Err(
            Failure::refused(format!("{kernel_name} is not loaded")).hint(format!(
                "{} loads it",
                own_command(&format!(
                    "kernel load {}",
                    kernel_name.trim_start_matches(PREFIX)
                ))
            )),
        );
    }
    let (folder, cgroup) = open(path)?;
    let chosen = CgroupUse {
        kernel_name: kernel_name.to_owned(),
        cgroup,
    };
    let before: Vec<CgroupUse> = of(cgroup)?;
    if before.contains(&chosen) {
        return Ok(chosen);
    }
    attach(&chosen, needs_ecn, &folder)?;
    // Only now, so that at no time new sockets get neither.
    for other in before {
        remove(&other)?;
    }
    Ok(chosen)
}

/// Sockets that a control group's processes open from now on get what they would get without this.
///
/// # Errors
/// When no controller is in use there.
pub fn leave_cgroup(path: &Path) -> Result<Vec<CgroupUse>, Failure> {
    requirements::check_rights()?;
    let (_, cgroup) = open(path)?;
    let before = of(cgroup)?;
    if before.is_empty() {
        return Err(
            Failure::refused(format!("{} uses no controller", path.display())).hint(format!(
                "{} shows those that do",
                own_command("kernel use --list")
            )),
        );
    }
    before.iter().try_for_each(remove)?;
    Ok(before)
}

/// Ends one.
///
/// # Errors
/// When its pin cannot be removed.
pub fn remove(one: &CgroupUse) -> Result<(), Failure> {
    let pin = one.pin();
    match fs::remove_file(&pin) {
        // Another process has ended it meanwhile.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        other => other.map_err(|error| folders::cannot("remove", &pin, &error))?,
    }
    // Not while others are left.
    let _ = fs::remove_dir(ROOT);
    Ok(())
}

fn of(cgroup: u64) -> Result<Vec<CgroupUse>, Failure> {
    let mut all = cgroup_uses()?;
    all.retain(|one| one.cgroup == cgroup);
    Ok(all)
}

fn open(path: &Path) -> Result<(File, u64), Failure> {
    let cannot = |error: io::Error| {
        Failure::refused(format!("cannot open {}: {error}", path.display())).hint(hint())
    };
    let folder = File::open(path).map_err(cannot)?;
    let is_cgroup = statfs(path).is_ok_and(|stat| stat.f_type == CGROUP2_SUPER_MAGIC);
    let about = folder.metadata().map_err(cannot)?;
    if !is_cgroup || !about.is_dir() {
        return Err(Failure::refused(format!(
            "{} is not a control group of version 2",
            path.display()
        ))
        .hint(hint()));
    }
    Ok((folder, about.ino()))
}

fn hint() -> String {
    mounts().first().map_or_else(
        || "mount -t cgroup2 none /sys/fs/cgroup mounts them".to_owned(),
        |root| format!("they are below {}", root.display()),
    )
}

fn cannot(chosen: &CgroupUse, what: &str, error: &libbpf_rs::Error) -> Failure {
    Failure::new(format!(
        "the control group cannot use {}: {what}: {error}",
        chosen.kernel_name
    ))
    .hint(format!(
        "{} says what the kernel lacks",
        own_command("kernel check")
    ))
}

/// Tells the control groups that use a controller whether it asks for ECN by now.
///
/// # Errors
/// When the kernel refuses.
pub fn renew(kernel_name: &str, needs_ecn: bool) -> Result<(), Failure> {
    for one in cgroup_uses()? {
        if one.kernel_name != kernel_name {
            continue;
        }
        let object = load_program(&one, needs_ecn)?;
        Link::open(one.pin())
            .and_then(|mut link| {
                let program = program(&object)?;
                link.update_prog(&program)
            })
            .map_err(|error| cannot(&one, "its program cannot be replaced", &error))?;
    }
    Ok(())
}

fn program(object: &Object) -> Result<ProgramMut<'_>, libbpf_rs::Error> {
    let mut programs = object.progs_mut();
    programs
        .find(|program| program.name() == "pathweave_cgroup")
        .ok_or_else(|| io::Error::from(io::ErrorKind::NotFound).into())
}

fn load_program(chosen: &CgroupUse, needs_ecn: bool) -> Result<Object, Failure> {
    let cannot = |what: &str, error: libbpf_rs::Error| cannot(chosen, what, &error);
    super::libbpf::quiet_libbpf();
    let mut open = ObjectBuilder::default()
        .open_memory(object::CGROUP)
        .map_err(|error| cannot("its program cannot be read", error))?;
    let mut settings = [0_u8; 20];
    settings[..chosen.kernel_name.len()].copy_from_slice(chosen.kernel_name.as_bytes());
    settings[16..].copy_from_slice(&u32::from(needs_ecn).to_ne_bytes());
    for mut map in open.maps_mut() {
        if map.name() == ".rodata.settings" {
            map.set_initial_value(&settings)
                .map_err(|error| cannot("its settings do not fit", error))?;
        }
    }
    open.load()
        .map_err(|error| cannot("the verifier refuses its program", error))
}

fn attach(chosen: &CgroupUse, needs_ecn: bool, folder: &File) -> Result<(), Failure> {
    let cannot = |what: &str, error: libbpf_rs::Error| cannot(chosen, what, &error);
    let object = load_program(chosen, needs_ecn)?;
    let mut link: Link = program(&object)
        .map_err(|error| cannot("its program is not there", error))?
        .attach_cgroup(folder.as_raw_fd())
        .map_err(|error| cannot("it cannot be attached", error))?;
    folders::make(Path::new(ROOT))?;
    link.pin(chosen.pin())
        .map_err(|error| cannot("it cannot be pinned", error))
}

/// Where control groups of version 2 are mounted.
pub fn mounts() -> Vec<PathBuf> {
    let text = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mut found = Vec::new();
    for line in text.lines() {
        let mut words = line.split(' ').skip(1);
        if let (Some(place), Some("cgroup2")) = (words.next(), words.next()) {
            found.push(PathBuf::from(place));
        }
    }
    found
}

/// The folder of this number, in or below a folder.
fn below(folder: &Path, cgroup: u64) -> Option<PathBuf> {
    if fs::metadata(folder).ok()?.ino() == cgroup {
        return Some(folder.to_owned());
    }
    fs::read_dir(folder).ok()?.flatten().find_map(|entry| {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        is_folder.then(|| below(&entry.path(), cgroup)).flatten()
    })
}
