//! Folders that root alone writes: what lies in them can be trusted.

use crate::Failure;
use std::fs::{self, DirBuilder, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

const OTHERS_WRITE: u32 = 0o022;
const STICKY: u32 = 0o1000;

/// Makes one with mode 0755, whatever the umask, or checks the one that is there.
///
/// # Errors
/// When it cannot be made, or is not to be trusted.
pub fn make(path: &Path) -> Result<(), Failure> {
    match DirBuilder::new().mode(0o755).create(path) {
        Ok(()) => fs::set_permissions(path, Permissions::from_mode(0o755))
            .map_err(|error| cannot("make", path, &error))?,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(cannot("make", path, &error)),
    }
    check(path).map(drop)
}

/// Whether it is there.
///
/// # Errors
/// When it cannot be looked at, or somebody else could have put something into it.
pub fn check(path: &Path) -> Result<bool, Failure> {
    let about = match fs::symlink_metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(cannot("look at", path, &error)),
    };
    match distrust(&about, rustix::process::geteuid().as_raw()) {
        None => {}
        Some(reason) => {
            return Err(Failure::refused(format!("{} {reason}", path.display())).hint(format!(
                "it must be a folder of root's with mode 755: see who made it, and remove it with what is in it (rm -r {}) if it was not you",
                path.display()
            )));
        }
    }
    let parent = path.parent().and_then(|parent| fs::metadata(parent).ok());
    let replaced =
        parent.is_some_and(|about| about.mode() & OTHERS_WRITE != 0 && about.mode() & STICKY == 0);
    if replaced {
        return Err(Failure::refused(format!(
            "{} can be replaced by others: the folder above it is theirs to write",
            path.display()
        ))
        .hint("chmod +t on the folder above it"));
    }
    Ok(true)
}

/// Why what lies in a folder cannot be trusted.
fn distrust(about: &Metadata, caller: u32) -> Option<String> {
    let (kind, mode) = (about.file_type(), about.mode());
    if kind.is_symlink() {
        Some("is a symbolic link".to_owned())
    } else if !kind.is_dir() {
        Some("is not a folder".to_owned())
    } else if ![0, caller].contains(&about.uid()) {
        Some(format!("belongs to user {}", about.uid()))
    } else if mode & OTHERS_WRITE != 0 {
        Some(format!(
            "can be written by others (mode {:o})",
            mode & 0o7777
        ))
    } else {
        None
    }
}

/// What a process may not do takes a capability.
pub fn cannot(what: &str, path: &Path, error: &io::Error) -> Failure {
    let failure = Failure::new(format!("cannot {what} {}: {error}", path.display()));
    if error.kind() == io::ErrorKind::PermissionDenied {
        failure.hint("run it as root, or with CAP_DAC_OVERRIDE")
    } else {
        failure
    }
}
