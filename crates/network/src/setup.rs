//! What a network is set up with, as a scenario says it.

use crate::queue::QueueConfig;
use pathweave_control::{Parameters, Scheme};
use pathweave_units::{Bytes, Rate, Time};
use std::sync::Arc;

/// What a link is when the run begins.
#[derive(Clone, Debug)]
pub struct LinkSetup {
    /// The number of the node where it begins: its port is there.
    pub from: u32,
    /// The number of the node where it ends.
    pub to: u32,
    /// Its rate.
    pub rate: Rate,
    /// Its propagation delay.
    pub delay: Time,
    /// The queue of its port.
    pub queue: QueueConfig,
    /// The agent of that port, if it has one.
    pub agent: Option<Arc<AgentSetup>>,
    /// The memory that its port shares with the others of the node, if it does; the same for all of them.
    pub buffer: Option<SharedBufferConfig>,
}

impl LinkSetup {
    /// A link whose port has the default queue, no agent, and memory of its own.
    pub fn plain((from, to): (u32, u32), rate: Rate, delay: Time) -> LinkSetup {
        LinkSetup {
            from,
            to,
            rate,
            delay,
            queue: QueueConfig::default(),
            agent: None,
            buffer: None,
        }
    }
}

/// The scheme that a fabric's switches take part in, with the parameters of its controller.
#[derive(Clone, Debug)]
pub struct AgentSetup {
    /// The scheme.
    pub scheme: Scheme,
    /// The controller's parameters; the agent finds its own among them.
    pub parameters: Parameters,
    /// The longest RTT without queues between hosts.
    pub base_rtt: Time,
}

/// How a switch's ports share its memory: with a dynamic threshold. (Choudhury and Hahne, "Dynamic queue
/// length thresholds for shared-memory packet switches", 1998.)
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedBufferConfig {
    /// The memory of a switch.
    pub size: Bytes,
    /// A port may hold less than this many times the free memory.
    pub alpha: f64,
}

/// Which packets, of those that arrive at ports, are counted by the queue that they find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueuesCounted {
    /// All of them.
    All,
    /// About one in eight, drawn by the time of arrival. Of n arrivals that find independent queues, the standard
    /// error of the p-th quantile's rank is the root of 8 p (1 - p) / n: at 10,000 arrivals the 99th percentile lies
    /// between the 98.4th and the 99.6th, nineteen times in twenty.
    Sampled,
    /// The sample, and beside it all of them for [`Network::complete_histogram`](crate::Network::complete_histogram).
    SampledAndAll,
}
