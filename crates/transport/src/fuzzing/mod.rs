//! What fuzz targets call, with the feature `checks`.

mod losses;
mod subflow;

pub use losses::losses;
pub use subflow::subflow;
