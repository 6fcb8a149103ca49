//! Files that a scenario names: regular ones only, up to a size.
//!
//! A pipe may never end and a device has no size: opening either would hang the command that reads the scenario.

use rustix::fs::OFlags;
use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

const MEBIBYTE: u64 = 1 << 20;

/// Bytes of a scenario.
pub(crate) const SCENARIO: u64 = 64 * MEBIBYTE;
/// Bytes of a size distribution.
pub(crate) const DISTRIBUTION: u64 = 16 * MEBIBYTE;
/// Bytes of recorded flows and schedules.
pub(crate) const RECORDING: u64 = 256 * MEBIBYTE;
/// Bytes of a file with controllers.
pub(crate) const CONTROLLER: u64 = 256 * MEBIBYTE;

/// The content of a file that has `limit` bytes at most, or what is wrong with it, to follow its name.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, String> {
    let unreadable = |error| format!("cannot be read: {error}");
    // Before it is opened, because opening a pipe waits for somebody who writes.
    let found = std::fs::metadata(path).map_err(unreadable)?;
    if found.is_dir() {
        return Err("is a folder, not a file".to_owned());
    }
    if !found.is_file() {
        return Err("is a pipe or a device, not a file".to_owned());
    }
    let mut content = Vec::new();
    // Some files of the kernel call themselves regular, and reading them waits for what it has to say.
    OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path)
        .and_then(|file| file.take(limit + 1).read_to_end(&mut content))
        .map_err(unreadable)?;
    if content.len() as u64 > limit {
        return Err(format!(
            "is too large: it may have {} MiB at most",
            limit / MEBIBYTE
        ));
    }
    Ok(content)
}

/// The text in such a file.
pub(crate) fn read_text(path: &Path, limit: u64) -> Result<String, String> {
    String::from_utf8(read(path, limit)?).map_err(|error| {
        format!(
            "is not a text in UTF-8: byte {} is wrong",
            error.utf8_error().valid_up_to() + 1
        )
    })
}

/// What [`read`] says of a file that a scenario names, with where it was looked for.
pub(crate) fn with_place(problem: String) -> String {
    if problem.starts_with("cannot be read") {
        return format!("{problem}; the path counts from the scenario's folder");
    }
    problem
}
