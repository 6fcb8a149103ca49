//! How often controllers were loaded and unloaded since the machine started, and how often that failed.
//!
//! Loading is done by short commands, so the counts are kept in a file that ends with the machine.

use crate::run_folder;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use std::fs::{self, File};
use std::io::{Read, Seek, Write};
use std::path::Path;

pub(super) const LOAD: usize = 0;
pub(super) const UNLOAD: usize = 1;
const FILE: &str = "operations";

/// Loads and unloads, done and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// Controllers loaded.
    pub loads: u64,
    /// Loads that failed or were refused.
    pub load_failures: u64,
    /// Controllers unloaded.
    pub unloads: u64,
    /// Unloads that failed or were refused.
    pub unload_failures: u64,
}

impl Operations {
    /// Since the machine started; all zero where nobody has loaded anything.
    pub fn read() -> Operations {
        parse(&fs::read_to_string(Path::new(run_folder::PATH).join(FILE)).unwrap_or_default())
    }
}

fn parse(text: &str) -> Operations {
    let mut numbers = text
        .split_whitespace()
        .map(|word| word.parse().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    Operations {
        loads: next(),
        load_failures: next(),
        unloads: next(),
        unload_failures: next(),
    }
}

/// Counts one, where this process may: whoever cannot write to /run does not fail because of it.
pub(super) fn record(operation: usize, done: bool) {
    if let Ok(folder) = run_folder::make() {
        let _ = add(folder, operation, done);
    }
}

fn add(folder: &Path, operation: usize, done: bool) -> std::io::Result<()> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(open(folder.join(FILE), flags, Mode::from_raw_mode(0o644))?);
    flock(&file, FlockOperation::LockExclusive)?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let mut counts = parse(&text);
    *match (operation, done) {
        (LOAD, true) => &mut counts.loads,
        (LOAD, false) => &mut counts.load_failures,
        (_, true) => &mut counts.unloads,
        (_, false) => &mut counts.unload_failures,
    } += 1;
    // Numbers only become longer, so that a reader meanwhile sees whole ones.
    file.rewind()?;
    let Operations {
        loads,
        load_failures,
        unloads,
        unload_failures,
    } = counts;
    writeln!(
        file,
        "{loads:20} {load_failures:20} {unloads:20} {unload_failures:20}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_many_threads_add_up() {
        let folder =
            std::env::temp_dir().join(format!("pathweave-operations-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        add(&folder, LOAD, true).unwrap();
                        add(&folder, UNLOAD, false).unwrap();
                    }
                });
            }
        });
        let seen = parse(&fs::read_to_string(folder.join(FILE)).unwrap());
        fs::remove_dir_all(&folder).unwrap();
        let expected = Operations {
            loads: 100,
            unload_failures: 100,
            ..Operations::default()
        };
        assert_eq!(seen, expected);
    }
}
