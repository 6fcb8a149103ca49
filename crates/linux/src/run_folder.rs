//! Where what ends with the machine is kept.

use crate::{Failure, folders};
use std::path::Path;

/// The folder.
pub const PATH: &str = "/run/pathweave";

/// Makes it, or checks the one that is there.
///
/// # Errors
/// When it cannot be made, or somebody else could have put something into it.
pub fn make() -> Result<&'static Path, Failure> {
    let path = Path::new(PATH);
    folders::make(path)?;
    Ok(path)
}
