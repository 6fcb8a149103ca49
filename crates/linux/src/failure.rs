//! Why a command did not do what it was asked for.

use std::fmt;
use std::process::ExitCode;

/// What went wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    message: String,
    hint: Option<String>,
    code: u8,
}

impl Failure {
    /// Something did not work.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure {
            message: message.into(),
            hint: None,
            code: 1,
        }
    }

    /// The input or the machine was not what it must be; nothing was tried.
    pub fn refused(message: impl Into<String>) -> Failure {
        Failure {
            code: 2,
            ..Failure::new(message)
        }
    }

    /// What was asked for cannot be known here.
    pub fn unknown(message: impl Into<String>) -> Failure {
        Failure {
            code: 3,
            ..Failure::new(message)
        }
    }

    /// The user ended it.
    pub fn interrupted() -> Failure {
        Failure {
            code: 130,
            ..Failure::new("interrupted")
        }
    }

    /// The same, with what would be right.
    pub fn hint(self, hint: impl Into<String>) -> Failure {
        Failure {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// Prints it and gives the exit status: 1 for what failed, 2 for what was refused, 3 for what cannot be known, 130 for what was
    /// interrupted.
    pub fn report(self) -> ExitCode {
        eprintln!("{self}");
        ExitCode::from(self.code)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}
