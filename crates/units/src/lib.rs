//! Units of the whole project: time, rate and bytes, as integers, with exact parsing and display.
//!
//! Nothing here rounds silently: `"1.5 us"` is 1,500,000 ps, and a text finer than the base unit is
//! an error. The multiples are the field's: powers of ten unless `KiB`, `MiB`, `GiB` is written.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod bytes;
mod parse;
mod rate;
mod time;

pub use bytes::Bytes;
pub use parse::UnitError;
pub use rate::Rate;
pub use time::Time;
