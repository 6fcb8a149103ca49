//! The scenario files that the tests read.

use std::path::{Path, PathBuf};

/// The scenario files of a folder of tests, by name.
pub fn scenarios(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(folder);
    let files = std::fs::read_dir(folder).expect("the folder exists");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("readable").path()).collect();
    files.retain(|file| {
        file.extension()
            .is_some_and(|extension| extension == "toml")
    });
    files.sort();
    files
}
