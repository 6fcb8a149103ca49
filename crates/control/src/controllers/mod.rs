//! The controllers of the registry as types, for programs that choose one when they are written.
//!
//! Each type has a field for every parameter, and its `Default` is the registry's. What is built is what the registry builds
//! by name, and is checked against the same ranges.
//!
//! ```
//! use pathweave_control::controllers::{Settings, Xmp};
//!
//! let xmp = Xmp { beta: 6, ..Xmp::default() };
//! let controller = xmp.build()?;
//! assert!(Xmp { beta: 1, ..xmp }.build().is_err(), "beta is at least 2");
//! # drop(controller);
//! # Ok::<(), pathweave_control::ParameterError>(())
//! ```

mod settings;
mod values;

pub use settings::*;
pub use values::{
    Arithmetic, BestPath, BosVariant, LiaVariant, Pace, SinglePath, SlowStart, Step, Timeouts,
    Weight, XcpVariant,
};

use crate::{ClonableController, Ecn, Entry, ParameterError, Parameters, Value};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// A controller of the registry with a value for each of its parameters.
pub trait Settings: Default {
    /// The controller's entry in the registry.
    fn entry() -> &'static Entry;

    /// The values by name, as a scenario gives them.
    fn given(&self) -> Vec<(String, Value)>;

    /// The values, checked.
    ///
    /// # Errors
    /// For a value that is out of its range.
    fn parameters(&self) -> Result<Parameters, ParameterError> {
        Self::entry().parameters(&self.given())
    }

    /// What the controller does with marks.
    ///
    /// # Errors
    /// For a value that is out of its range.
    fn ecn(&self) -> Result<Ecn, ParameterError> {
        Ok((Self::entry().ecn)(&self.parameters()?))
    }

    /// A controller for a new connection.
    ///
    /// # Errors
    /// For a value that is out of its range.
    fn build(&self) -> Result<Box<dyn ClonableController>, ParameterError> {
        Ok((Self::entry().build)(&self.parameters()?))
    }
}
