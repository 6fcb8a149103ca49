//! Integration tests of links, ports and switches.

mod conservation;
mod ports_agree;
