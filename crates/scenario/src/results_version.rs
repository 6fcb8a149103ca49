//! The version of results, beside the version of the package.

/// The first version of Pathweave whose results these are. The hashes of runs contain it and not the version of the package, so
/// that a release that changes no bit of any result finds the runs of the one before it.
///
/// A change of any result for the same scenario and seed, which CHANGELOG.md lists under "Results", sets it to the version
/// that will be released next.
pub const RESULTS_VERSION: &str = "0.1.0";
