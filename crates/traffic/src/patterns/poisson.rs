//! Flows between random pairs that arrive by a Poisson process.

use super::pairs::Pairs;
use super::{PermutationPart, Running, check_limit};
use crate::launcher::Launcher;
use crate::{Event, FlowStart, Hosts, Size, TrafficError};
use pathweave_random::Stream;
use pathweave_units::{Rate, Time};

/// How often flows arrive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// Flows per second from all sources together.
    PerSecond(f64),
    /// Flows per second from each source.
    PerSourcePerSecond(f64),
    /// As many as offer this load: flows per second x mean size = load x capacity.
    Load {
        /// Share of the capacity; above 1 offers more than fits.
        load: f64,
        /// Capacity that the load is a share of, for example all up-links of the leaves together,
        /// divided by [`Poisson::inter_rack_share`] when only those flows cross them.
        capacity: Rate,
    },
}

impl Arrivals {
    /// Arrivals per second on average, from this number of sources, each of this many bytes on average; `None` for a number
    /// without end.
    ///
    /// # Errors
    /// When a rate is impossible, or a load is asked of what never ends.
    pub(super) fn per_second(&self, sources: u32, bytes: Option<f64>) -> Result<f64, TrafficError> {
        let above_zero = |option: &str, value: f64| {
            if value.is_finite() && value > 0.0 {
                Ok(value)
            } else {
                Err(TrafficError(format!(
                    "{option} is {value}; it must be a number above zero"
                )))
            }
        };
        let rate = match *self {
            Arrivals::PerSecond(rate) => above_zero("the arrival rate", rate)?,
            Arrivals::PerSourcePerSecond(rate) => {
                above_zero("the arrival rate of a source", rate)? * f64::from(sources)
            }
            Arrivals::Load { load, capacity } => {
                above_zero("load", load)?;
                if capacity == Rate::ZERO {
                    return Err(TrafficError(
                        "the capacity that load is a share of is zero".to_owned(),
                    ));
                }
                let Some(mean) = bytes else {
                    return Err(TrafficError(
                        "a load cannot be offered with flows of unlimited size; give an arrival rate or another size".to_owned(),
                    ));
                };
                above_zero(
                    "the arrival rate that load needs",
                    load * capacity.as_bps() as f64 / (8.0 * mean),
                )?
            }
        };
        Ok(rate)
    }
}

/// When the next arrival of a Poisson process comes.
pub(super) fn next_arrival(stream: &mut Stream, mean_gap: f64, from: Time) -> Time {
    let gap = stream.exponential(mean_gap);
    from.saturating_add(Time::from_secs_f64(gap))
}

/// Refuses arrivals that no clock can keep apart.
pub(super) fn check_rate(rate: f64, what: &str) -> Result<(), TrafficError> {
    if rate > 1e12 {
        return Err(TrafficError(format!(
            "{rate} {what} per second are more than one per picosecond"
        )));
    }
    Ok(())
}

/// Flows between random pairs of hosts that arrive by a Poisson process (open loop).
#[derive(Clone, Debug, PartialEq)]
pub struct Poisson {
    /// How often flows arrive.
    pub arrivals: Arrivals,
    /// The hosts that send. Not with `pairs`.
    pub sources: Option<Vec<u32>>,
    /// The hosts that receive. Not with `pairs`.
    pub destinations: Option<Vec<u32>>,
    /// Whether source and destination must stand in different racks. Not with `pairs`.
    pub different_racks: bool,
    /// Number of flows; `None` goes on for ever.
    pub count: Option<u64>,
    /// Each flow is between one of these pairs, drawn with equal probability.
    pub pairs: Option<PermutationPart>,
}

#[derive(Debug)]
struct Process {
    between: Between,
    stream: Stream,
    /// Mean time between arrivals, seconds.
    mean_gap: f64,
    next: Option<Time>,
    left: Option<u64>,
}

/// Where the pair of a flow comes from.
#[derive(Debug)]
enum Between {
    Sets(Pairs),
    Fixed(Vec<(u32, u32)>),
}

impl Between {
    fn pick(&self, stream: &mut Stream) -> (u32, u32) {
        match self {
            Between::Sets(pairs) => {
                let source = pairs.pick_source(stream);
                let picked = pairs.pick_destination(source, stream, |_| true);
                (
                    source,
                    picked.expect("every source was checked to have one"),
                )
            }
            Between::Fixed(pairs) => pairs[stream.below(pairs.len() as u64) as usize],
        }
    }
}

impl Poisson {
    /// The hosts that may send and those that may receive; `None` for all.
    pub fn sides(&self) -> (&Option<Vec<u32>>, &Option<Vec<u32>>) {
        match &self.pairs {
            Some(part) => (&part.hosts, &part.hosts),
            None => (&self.sources, &self.destinations),
        }
    }

    /// Number of senders on a fabric with `all` hosts.
    pub fn senders(&self, all: u32) -> u32 {
        match (&self.pairs, &self.sources) {
            (Some(PermutationPart { part, .. }), _) => part.end.saturating_sub(part.start),
            (None, Some(sources)) => sources.len() as u32,
            (None, None) => all,
        }
    }

    /// The flows that this process starts in a second, on average, given the hosts and the sizes.
    ///
    /// # Errors
    /// When the options are impossible, or a load is asked of flows that never end.
    pub fn flows_per_second(&self, hosts: &Hosts, size: &Size) -> Result<f64, TrafficError> {
        if self.pairs.is_none() {
            hosts.select("sources", self.sources.as_deref())?;
        }
        let sources = self.senders(hosts.count);
        self.arrivals.per_second(sources, size.mean())
    }

    /// Probability that a flow crosses from one rack to another. A load of links that only such flows
    /// cross is offered by `capacity / share`.
    pub fn inter_rack_share(&self, hosts: &Hosts) -> Result<f64, TrafficError> {
        Ok(self.pairs(hosts)?.inter_rack_share())
    }

    fn pairs(&self, hosts: &Hosts) -> Result<Pairs, TrafficError> {
        let (sources, destinations) = self.sides();
        let (sources, destinations) = (sources.as_deref(), destinations.as_deref());
        Pairs::new(hosts, sources, destinations, self.different_racks)
    }

    pub(super) fn start(
        self,
        hosts: &Hosts,
        seed: u64,
        stream: Stream,
        size: &Size,
    ) -> Result<Box<dyn Running>, TrafficError> {
        check_limit("count", self.count)?;
        let rate = self.flows_per_second(hosts, size)?;
        check_rate(rate, "flows")?;
        let between = match &self.pairs {
            Some(part) => Between::Fixed(part.draw(hosts, seed)?),
            None => Between::Sets(self.pairs(hosts)?),
        };
        Ok(Box::new(Process {
            between,
            stream,
            mean_gap: 1.0 / rate,
            next: None,
            left: self.count,
        }))
    }
}

impl Process {
    fn draw_next(&mut self, from: Time) {
        self.next =
            (self.left != Some(0)).then(|| next_arrival(&mut self.stream, self.mean_gap, from));
    }
}

impl Running for Process {
    fn on(
        &mut self,
        event: Event,
        now: Time,
        launcher: &mut Launcher,
        starts: &mut Vec<FlowStart>,
    ) {
        match event {
            Event::Begin => self.draw_next(now),
            Event::Wake => {
                if launcher.draining() {
                    return;
                }
                while let Some(arrival) = self.next.filter(|&arrival| arrival <= now) {
                    let (source, destination) = self.between.pick(&mut self.stream);
                    // A late wake must not make a start lie in the past.
                    launcher.start_at(source, destination, arrival.max(now), starts);
                    if let Some(left) = &mut self.left {
                        *left -= 1;
                    }
                    self.draw_next(arrival);
                }
            }
            Event::Finished { .. } => {}
        }
    }

    fn next_wake(&self) -> Option<Time> {
        self.next
    }

    fn to_come(&self) -> Option<u64> {
        self.left
    }
}
