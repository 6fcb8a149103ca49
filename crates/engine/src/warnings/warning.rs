//! A warning.

/// A setting that is likely not meant so. The run goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The scenario's key: "fabric.queue.mark.k".
    pub key: String,
    /// What follows from its value, with the numbers that it follows from.
    pub text: String,
    /// A value to try, or another way out.
    pub advice: String,
}
