//! Integration tests of rounds: the first with loom's threads (`--cfg loom`), the second with the system's.

#[cfg(loom)]
mod orders;
#[cfg(not(loom))]
mod rounds;
