//! Integration tests of rounds: the first with loom's threads (`--cfg loom`), the second with the system's.

#[cfg(not(loom))]
mod lockstep;
#[cfg(loom)]
mod orders;
