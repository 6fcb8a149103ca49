//! Links whose packets are not looked at: what they could carry, and what they did.

use crate::measurement::capacity::Capacity;
use crate::measurement::measurement_windows::LinkCounters;
use pathweave_network::LinkStatistics;
use pathweave_scenario::{Change, LinkChange, Plan};
use pathweave_units::{Rate, Time};

pub(super) struct FluidFabric<'p> {
    events: &'p [LinkChange],
    /// Changes already made.
    made: usize,
    /// Of each link when it is up.
    rates: Vec<Rate>,
    /// What each link has now; zero while it is down.
    pub now: Vec<Rate>,
    /// Integrals of the above.
    pub capacities: Vec<Capacity>,
    /// Bits that each link has carried.
    carried: Vec<f64>,
}

impl<'p> FluidFabric<'p> {
    pub fn new(plan: &'p Plan) -> FluidFabric<'p> {
        let rates: Vec<Rate> = plan.fabric.links.iter().map(|link| link.rate).collect();
        let mut now = rates.clone();
        for link in &plan.fabric.down {
            now[link.0 as usize] = Rate::ZERO;
        }
        FluidFabric {
            events: &plan.events,
            made: 0,
            capacities: now.iter().map(|&rate| Capacity::new(rate)).collect(),
            now,
            carried: vec![0.0; rates.len()],
            rates,
        }
    }

    /// When a link next changes.
    pub fn next_change(&self) -> Time {
        self.events
            .get(self.made)
            .map_or(Time::MAX, |event| event.at)
    }

    /// Makes the changes that are due; whether there were any.
    pub fn change(&mut self, now: Time) -> bool {
        let before = self.made;
        while let Some(event) = self.events.get(self.made)
            && event.at <= now
        {
            self.made += 1;
            let link = event.link.0 as usize;
            let up = match event.change {
                Change::Rate(rate) => {
                    self.rates[link] = rate;
                    self.now[link] > Rate::ZERO
                }
                // A fluid loses nothing.
                Change::Loss(_) => self.now[link] > Rate::ZERO,
                Change::Down => false,
                Change::Up => true,
            };
            self.now[link] = if up { self.rates[link] } else { Rate::ZERO };
            self.capacities[link].change(now, self.now[link]);
        }
        self.made > before
    }

    /// A link carries this many bits.
    pub fn carry(&mut self, link: usize, bits: f64) {
        self.carried[link] += bits;
    }

    /// Counters in the form that tables take: only bytes are known.
    pub fn counters(&self) -> impl Iterator<Item = LinkCounters> {
        self.carried.iter().map(|bits| LinkCounters {
            statistics: LinkStatistics {
                delivered_bytes: (bits / 8.0).round() as u64,
                ..LinkStatistics::default()
            },
            sent: (bits * 1e12) as u128,
        })
    }
}
