//! Integration tests of the controllers.

mod driver;
mod every_controller;
mod identities;
mod loads;
mod quic;
