//! What a backend runs: one variant of a scenario with everything resolved.

use pathweave_control::{Algorithm, Parameters, Value};
use pathweave_fabric::routing::RoutingKind;
use pathweave_fabric::{Fabric, LinkId};
use pathweave_network::{Limit, QueueConfig, SharedBufferConfig};
use pathweave_traffic::{Pattern, size::Size};
use pathweave_transport::{Config, HostPort};
use pathweave_units::{Bytes, Rate, Time};

/// One variant of a scenario, for one seed.
pub struct Plan {
    /// The scenario's title.
    pub title: String,
    /// Seed of every random stream of the run.
    pub seed: u64,
    /// Nodes and links.
    pub fabric: Fabric,
    /// The queue of each link's port, by link.
    pub queues: Vec<QueueConfig>,
    /// How the ports of a switch share its memory, if they do; each port's limit holds as well.
    pub shared_buffer: Option<SharedBufferConfig>,
    /// How paths are chosen.
    pub routing: RoutingKind,
    /// The traffic groups, in the file's order.
    pub groups: Vec<GroupPlan>,
    /// Changes of links, in the order of their times.
    pub events: Vec<LinkChange>,
    /// When the run ends.
    pub stop: Stop,
    /// What tables measure.
    pub measure: Measure,
    /// What series are recorded.
    pub record: Record,
    /// Whether flow starts get a seeded delay within one base RTT.
    pub jitter: bool,
    /// Whether the scenario chose its smallest timeout: it gives one, or names a preset of published experiments. Only what is
    /// said before a run depends on it.
    pub timeouts_are_chosen: bool,
    /// Initial windows that `burst_of` gives single paths in the scenario. Only what is said before a run depends on it.
    pub matched_bursts: Vec<f64>,
}

impl Plan {
    /// Whether a port of each host has a limit, by the hosts' indices; empty if no group's hosts hold packets back.
    pub fn hosts_that_hold_packets(&self) -> Vec<bool> {
        let hold_back = |group: &GroupPlan| group.transport.host_port == HostPort::HoldsBack;
        if !self.groups.iter().any(hold_back) {
            return Vec::new();
        }
        let mut limited = vec![false; self.fabric.hosts.len()];
        for (link, queue) in self.fabric.links.iter().zip(&self.queues) {
            if let Some(host) = self.fabric.node(link.from).host_index() {
                limited[host as usize] |= queue.limit != Limit::None;
            }
        }
        limited
    }

    /// The rate of each host's fastest port, by the hosts' indices.
    pub fn host_rates(&self) -> Vec<Rate> {
        let mut rates = vec![Rate::ZERO; self.fabric.hosts.len()];
        for (id, link) in (0u32..).map(LinkId).zip(&self.fabric.links) {
            if let Some(host) = self.fabric.node(link.from).host_index()
                && !self.fabric.is_down(id)
            {
                let rate = &mut rates[host as usize];
                *rate = link.rate.max(*rate);
            }
        }
        rates
    }
}

/// A traffic group.
#[derive(Clone, Debug)]
pub struct GroupPlan {
    /// Its name.
    pub name: String,
    /// Which hosts talk to which, and when.
    pub pattern: Pattern,
    /// How much flows send. Incast jobs and listed flows with sizes of their own do not use it.
    pub size: Size,
    /// When the pattern begins.
    pub start: Time,
    /// From when on nothing new starts and flows under way stop sending.
    pub stop: Option<Time>,
    /// Its transport; [`GroupPlan::transport_of`] is that of a flow.
    pub transport: Config,
    /// Its controller.
    pub controller: Algorithm,
    /// The controller's parameters.
    pub parameters: Parameters,
    /// Subflows of a connection.
    pub subflows: u32,
    /// For explicitly listed flows: what the list says beyond source, destination, size and times.
    pub listed: Vec<ListedFlow>,
}

impl GroupPlan {
    /// Whether anything follows from the end of one of its flows.
    pub fn heeds_ends(&self) -> bool {
        self.pattern.heeds_ends(&self.size)
    }

    /// The controller of a flow: a listed one may have its own.
    pub fn controller_of(&self, listed: Option<u32>) -> (&Algorithm, &Parameters) {
        let own = listed.and_then(|entry| self.listed[entry as usize].controller.as_ref());
        match own {
            Some((controller, parameters)) => (controller, parameters),
            None => (&self.controller, &self.parameters),
        }
    }

    /// The transport of a flow, which may depend on its controller.
    pub fn transport_of(&self, listed: Option<u32>) -> Config {
        let (algorithm, parameters) = self.controller_of(listed);
        self.transport
            .of_controller(on_each_subflow(algorithm, parameters))
    }

    /// The group's controller, then those of listed flows that have their own.
    pub fn controllers(&self) -> impl Iterator<Item = (&Algorithm, &Parameters)> {
        let own = self
            .listed
            .iter()
            .filter_map(|flow| flow.controller.as_ref());
        let own = own.map(|(controller, parameters)| (controller, parameters));
        std::iter::once((&self.controller, &self.parameters)).chain(own)
    }
}

/// The name of the controller that acts on the subflows: `uncoupled` runs another one on each.
pub(crate) fn on_each_subflow<'a>(algorithm: &'a Algorithm, parameters: &'a Parameters) -> &'a str {
    match parameters.value("of") {
        Some(Value::Text(of)) => of,
        _ => algorithm.name(),
    }
}

/// An explicitly listed flow's own settings.
#[derive(Clone, Debug, Default)]
pub struct ListedFlow {
    /// Its name.
    pub name: String,
    /// Its number of subflows, if not the group's.
    pub subflows: Option<u32>,
    /// When each subflow opens, from the start of the run; empty: as the transport says.
    pub subflow_starts: Vec<Time>,
    /// Each subflow's path; empty: as the routing says.
    pub paths: Vec<Vec<LinkId>>,
    /// Each subflow's path of acknowledgements, from the destination to the source; empty: the reverse
    /// of `paths`.
    pub ack_paths: Vec<Vec<LinkId>>,
    /// Its controller, if not the group's.
    pub controller: Option<(Algorithm, Parameters)>,
}

/// A change of one link at a given time. A cable's two directions are two changes.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkChange {
    /// When.
    pub at: Time,
    /// Which directed link.
    pub link: LinkId,
    /// What happens.
    pub change: Change,
}

/// What happens to a link.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// It takes another rate.
    Rate(Rate),
    /// It goes down.
    Down,
    /// It comes back.
    Up,
    /// It loses packets with this probability, silently: no routing hears of it.
    Loss(f64),
}

/// When a run ends. The first condition that holds ends it; with none, it ends when every flow
/// has finished and none will start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stop {
    /// At this time.
    pub at: Option<Time>,
    /// From this time on no flow starts: the run ends with the last one that is under way.
    pub last_start: Option<Time>,
    /// When this much has happened in a group, or no flow is left in it that could finish and none will come.
    pub traffic: Option<TrafficStop>,
}

impl Stop {
    /// Whether the run ends at a time that is known, and nothing that traffic does can end it before.
    pub fn is_at_a_time(&self) -> bool {
        self.at.is_some() && self.traffic.is_none() && self.last_start.is_none()
    }
}

/// A condition on a traffic group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrafficStop {
    /// Index of the group.
    pub group: usize,
    /// What is counted.
    pub amount: Amount,
    /// Whether the flows under way are waited for: no new ones start, and the run ends with the
    /// last one. Otherwise it ends at once.
    pub drain: bool,
}

/// How much of a group's traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// This many finished flows; with `drain`, this many started.
    Flows(u64),
    /// This many bytes in finished flows; with `drain`, in started ones.
    Bytes(Bytes),
    /// This many finished jobs; with `drain`, this many started.
    Jobs(u64),
}

/// The windows of time that tables cover.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measure {
    /// Tables count from here.
    pub from: Time,
    /// Tables count to here, or to the end of the run.
    pub to: Option<Time>,
    /// Further named windows.
    pub phases: Vec<Phase>,
}

impl Measure {
    /// Whether the main window covers this moment.
    pub fn covers(&self, time: Time) -> bool {
        time >= self.from && self.to.is_none_or(|to| time < to)
    }
}

/// A named window of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// Its start.
    pub from: Time,
    /// Its end.
    pub to: Time,
}

/// How a series is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// At this interval.
    Every(Time),
    /// Whenever it changes.
    OnChange,
}

/// The series to record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Windows, ssthresh and smoothed RTTs of subflows.
    pub windows: Option<Sampling>,
    /// Round-trip times of subflows; on change, every sample.
    pub rtts: Option<Sampling>,
    /// Delivery rates of subflows, averaged over each interval.
    pub rates: Option<Time>,
    /// Waiting packets at the ports of `queue_links`.
    pub queues: Option<Time>,
    /// Links whose queues are recorded.
    pub queue_links: Vec<LinkId>,
    /// Whether to record when controllers suspend and resume subflows.
    pub suspensions: bool,
    /// Utilisation, queue, marks and losses of all links, over each interval.
    pub map: Option<Time>,
    /// Flows whose packets are captured at their source hosts.
    pub packets: Vec<CapturedFlow>,
    /// The number of a flow whose events are told while the run goes on. No scenario asks for them; who debugs a
    /// controller does.
    pub events: Option<u32>,
}

/// A flow whose packets are captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedFlow {
    /// What its capture is called: the listed flow's name, or "group-number".
    pub name: String,
    /// Index of the group.
    pub group: usize,
    /// Its number in the group, from 0, in the order in which the group asks for its flows.
    pub number: u64,
}
