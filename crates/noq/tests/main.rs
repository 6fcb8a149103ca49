//! Integration tests of the controllers in a QUIC stack.

mod controller;
mod end_to_end;
