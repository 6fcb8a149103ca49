//! What a run measures while it goes on.

pub(crate) mod capacity;
pub(crate) mod capture;
pub(crate) mod extent;
pub(crate) mod map;
pub(crate) mod measurement_windows;
pub(crate) mod rates;
pub(crate) mod recovery;
pub(crate) mod series;
pub(crate) mod straddling;
