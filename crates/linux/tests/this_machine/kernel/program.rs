//! The binary, run as an administrator runs it.

use std::process::{Command, Output};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_pathweave-linux");

/// What came of it.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub said: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Ended {
        Ended {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            said: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Ended {
    /// What `status --json` has printed.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// `pathweave-linux kernel ...`, by words.
pub fn kernel(arguments: &str) -> Ended {
    let words = arguments.split_whitespace();
    let output = Command::new(PROGRAM).arg("kernel").args(words).output();
    output.expect("it was built").into()
}

/// A shell's commands, in which `$P` is the binary.
pub fn shell(prefix: &[&str], script: &str) -> Ended {
    let (first, others) = prefix.split_first().unwrap_or((&"env", &[]));
    let output = Command::new(first)
        .args(others)
        .args(["sh", "-euc", script])
        .env("P", PROGRAM)
        .output();
    output.expect("util-linux is installed").into()
}
