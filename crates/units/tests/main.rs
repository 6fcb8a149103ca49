//! Integration tests of units.

mod arithmetic;
mod display;
mod parse;
