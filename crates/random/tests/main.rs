//! Integration tests of random streams.

mod known_answers;
mod moments;
