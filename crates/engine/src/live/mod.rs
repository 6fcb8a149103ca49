//! A run whose clock is real: the network of a simulation between hosts that somebody else plays.
//!
//! Two parts that can live on two threads. [`Fabric`] moves packets through ports, queues and links as
//! a simulation does, and makes the changes of links that the plan wants, all at times that it is told. It counts what
//! arrives for the first time, in the plan's windows and intervals.
//! [`Run`] knows the traffic: it says which flows start and stop when and which links they use, is told
//! which have finished, and looks at the hosts' counters when tables and series need them. Both keep the
//! plan's time: how fast that passes is for whoever plays the hosts to say.

mod fabric;
mod hosts;
mod lifetimes;
mod run;
mod sampling;

pub use fabric::{Fabric, FabricRecord, FirstArrival, Heading, Taken};
pub use hosts::{FlowOrder, FlowView, Hosts, SenderLimits, SubflowView};
pub use run::Run;
