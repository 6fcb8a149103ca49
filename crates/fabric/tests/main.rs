//! Integration tests of fabrics and routings.

mod ideal;
mod longest;
mod routing;
mod topologies;
