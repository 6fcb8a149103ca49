//! The fuzz targets with random bytes, and with the corpora that searches have left.

use pathweave_fuzz::TARGETS;
use pathweave_random::Stream;
use std::path::{Path, PathBuf};

/// The kept inputs of a target, in the order of their names.
fn corpus(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(target);
    let entries = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{} cannot be read: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("the folder can be read").path())
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    files
}

fn read(file: &Path) -> Vec<u8> {
    std::fs::read(file).unwrap_or_else(|error| panic!("{} cannot be read: {error}", file.display()))
}

#[test]
fn the_corpora_break_nothing() {
    for (name, target) in TARGETS {
        for file in corpus(name) {
            let input = read(&file);
            let played = std::panic::catch_unwind(|| target(&input));
            assert!(played.is_ok(), "{} breaks {name}", file.display());
        }
    }
}

/// Bytes at random, and kept inputs in which some bytes are others, are missing or come twice.
#[test]
fn random_bytes_break_nothing() {
    for (name, target) in TARGETS {
        let kept: Vec<Vec<u8>> = corpus(name).iter().map(|file| read(file)).collect();
        for number in 0..2_000 {
            let mut stream = Stream::new(number, name, 0);
            let mut input = if number % 2 == 0 {
                let length = stream.below(400);
                (0..length).map(|_| stream.bits() as u8).collect()
            } else {
                kept[stream.below(kept.len() as u64) as usize].clone()
            };
            for _ in 0..stream.below(6) {
                if input.is_empty() {
                    break;
                }
                let place = stream.below(input.len() as u64) as usize;
                match stream.below(3) {
                    0 => input[place] = stream.bits() as u8,
                    1 => {
                        input.remove(place);
                    }
                    _ => input.insert(place, input[place]),
                }
            }
            let played = std::panic::catch_unwind(|| target(&input));
            assert!(
                played.is_ok(),
                "{name}, number {number}, is broken by {input:?}"
            );
        }
    }
}
